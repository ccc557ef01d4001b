"""Loops of a nest: trip after trip forwards, and the same trips backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.step import Step, counters_of, either, with_inputs
from funcgrad.transforms.control.undoing.blocks import Block
from funcgrad.transforms.control.undoing.children import COUNT, Child, State, forward_block
from funcgrad.transforms.control.undoing.loops_backward import backwards
from funcgrad.transforms.control.undoing.pulling import Surroundings, active_outputs
from funcgrad.transforms.control.undoing.trips import Deciding
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.transforms.replay import transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Anything

ONE = np.int64(1)


class Loop(Child):
    """A scan, or a while loop that ends when a counter reaches a bound."""

    def __init__(self, equation: Equation, step: Step, block: Block, ends: Deciding | None) -> None:
        super().__init__(equation, [block])
        self.step = step
        self.block = block
        self.ends = ends
        self.counters = counters_of(step)
        n = step.n_carry
        block.partners = self._closed
        block.givens = {*self.counters, *range(n, len(step.program.inputs))}
        block.sums = [k >= n + step.n_xs for k in range(len(step.program.inputs))]
        if ends is not None and not ends.alone:
            self.count = Var(COUNT, "trips")

    # -- parts of the equation -----------------------------------------------------------------------------

    def parts(self, items: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Something for each input, as carry, xs, constants of the condition, constants of the body."""
        n, m = self.step.n_carry, self.step.n_xs
        n_cond = len(items) - len(self.step.program.inputs)
        return (
            list(items[:n]),
            list(items[n : n + m]),
            list(items[n + m : n + m + n_cond]),
            list(items[n + m + n_cond :]),
        )

    def inner(self, items: Sequence[Any]) -> list[Any]:
        """Something for each input of the body."""
        carry, xs, _, consts = self.parts(items)
        return [*carry, *xs, *consts]

    # -- activity ------------------------------------------------------------------------------------------

    def grown(self, active: Flags) -> Flags:
        """The inputs of the body that have tangents on any trip."""
        flags = tuple(self.inner(active))
        n = self.step.n_carry
        while True:
            carry = either(flags[:n], active_outputs(self.block, flags)[:n])
            if carry == flags[:n]:
                return flags
            flags = (*carry, *flags[n:])

    def activity(self, active: Flags) -> Flags:
        found = self._pulled.get(active)
        if found is None:
            flags = self.grown(active)
            n = self.step.n_carry
            outs = active_outputs(self.block, flags)
            found = self._pulled[active] = (*flags[:n], *outs[n:])
        return found

    # -- arrays --------------------------------------------------------------------------------------------

    def undoes(self, before: Var, after: Var) -> bool:
        place = self.equation.outputs.index(after)
        if place >= self.step.n_carry:
            return False
        return self._closed({place}) is not None

    def restore(self, after: Var) -> None:
        self.block.restore({self.equation.outputs.index(after)})

    def _closed(self, places: set[int]) -> set[int] | None:
        """The places, and those that their arrays come to; None where one cannot be put back."""
        able, found = self.block.restorable(), set(places)
        while True:
            if not found <= able:
                return None
            results = {p.result for p in self.block.paths if p.place in found}
            if any(r >= self.step.n_carry for r in results):
                return None
            if results <= found:
                return found
            found |= results

    # -- forwards ------------------------------------------------------------------------------------------

    def forward(self, recorder: Recorder, inputs: Sequence[Any], state: State, t: Anything) -> list[Any]:
        carry, xs, cond, consts = self.parts(inputs)
        keys = self.state_avals()
        n, n_ys = self.step.n_carry, self.step.n_ys
        counting = self.count is not None
        with transforming(self.step.program, "linearize") as inner:
            heads = [inner.input(v.aval) for v in self.step.program.inputs[:n]]
            number = [inner.input(COUNT)] if counting else []
            stated = {label: inner.input(a) for label, a in keys}
            rest = [inner.input(v.aval) for v in self.step.program.inputs[n:]]
            held: State = dict(stated)
            turn = held.get(("count", self.block))
            outs = forward_block(inner, self.block, [*heads, *rest], held, turn)
            if turn is not None:
                held["count", self.block] = add(turn, ONE)
            results = [
                *outs[:n],
                *[add(x, ONE) for x in number],
                *[held[label] for label, _ in keys],
                *outs[n:],
            ]
            ins = [x._index for x in [*heads, *number, *stated.values(), *rest]]
            program = simplify_program(inner.program(ins, [inner.index_of(x) for x in results]))
        starts = [*carry, *[np.int64(0)] * counting, *[state[label] for label, _ in keys]]
        n_carry = len(starts)
        made = self._forward_primitive(program, n_carry)
        found = recorder.record(made, [*starts, *xs, *cond, *consts])
        state.update(zip([label for label, _ in keys], found[n + counting : n_carry], strict=True))
        outs = [*found[:n], *found[n_carry : n_carry + n_ys]]
        return [*outs, *([found[n]] if counting else [])]

    def _forward_primitive(self, program: Program, n_carry: int) -> Anything:
        primitive = self.equation.primitive
        if isinstance(primitive, Scan):
            return Scan.of(
                Step(program, n_carry, self.step.n_xs), primitive.length, reverse=primitive.reverse
            )
        n = self.step.n_carry
        extra = program.in_avals[n:n_carry]
        cond = with_inputs(primitive.cond, [*range(n), *extra, *range(n, len(primitive.cond.inputs))])
        return WhileLoop(cond, program)

    # -- backwards -----------------------------------------------------------------------------------------

    def backwards(
        self, pulling: Surroundings, active: Flags, totals: Sequence[Any], bars: Sequence[Any]
    ) -> list[Any]:
        return backwards(self, pulling, active, totals, bars)
