"""Branches of a nest: the branch that was taken forwards is the one that is taken backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.transforms.control.branches import union
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.undoing.blocks import Block
from funcgrad.transforms.control.undoing.children import (
    COUNT,
    Child,
    State,
    forward_block,
    from_logs,
    given_or_zeros,
)
from funcgrad.transforms.control.undoing.pulling import Label, Pullback, Surroundings, active_outputs, pulled
from funcgrad.transforms.linearize import zeros_like
from funcgrad.transforms.replay import inline, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Anything


class Branches(Child):
    """A conditional, whose branches write arrays or hold loops."""

    def __init__(self, equation: Equation, blocks: Sequence[Block]) -> None:
        super().__init__(equation, blocks)
        places = set.intersection(*[{p.place for p in block.paths} for block in blocks])
        for block in blocks:
            block.paths = [p for p in block.paths if p.place in places and self._same_result(p.place)]
            changed = {p.place for p in block.paths}
            block.givens = set(range(len(block.program.inputs))) - changed
            block.sums = [k not in changed for k in range(len(block.program.inputs))]

    def _same_result(self, place: int) -> bool:
        results = {p.result for block in self.blocks for p in block.paths if p.place == place}
        return len(results) == 1

    def activity(self, active: Flags) -> Flags:
        found = self._pulled.get(active)
        if found is None:
            found = self._pulled[active] = union([active_outputs(block, active[1:]) for block in self.blocks])
        return found

    # -- arrays --------------------------------------------------------------------------------------------

    def _place(self, block: Block, after: Var) -> int | None:
        result = self.equation.outputs.index(after)
        return next((p.place for p in block.paths if p.result == result), None)

    def undoes(self, before: Var, after: Var) -> bool:
        places = [self._place(block, after) for block in self.blocks]
        return all(
            place is not None and place in block.restorable()
            for block, place in zip(self.blocks, places, strict=True)
        )

    def restore(self, after: Var) -> None:
        for block in self.blocks:
            place = self._place(block, after)
            assert place is not None, "an array on a path is changed by every branch"
            block.restore({place})

    # -- forwards ------------------------------------------------------------------------------------------

    def forward(self, recorder: Recorder, inputs: Sequence[Any], state: State, t: Anything) -> list[Any]:
        keys = self.state_avals()
        index, *operands = inputs
        runs = [] if t is None else [t]
        made = tuple([self._forward_branch(block, counted=bool(runs)) for block in self.blocks])
        given = [*operands, *runs, *[state[label] for label, _ in keys]]
        found = recorder.record(Cond(made), [index, *given])
        n = len(self.equation.outputs)
        state.update(zip([label for label, _ in keys], found[n:], strict=True))
        return list(found[:n])

    def _forward_branch(self, block: Block, *, counted: bool) -> Program:
        keys = self.state_avals()
        with transforming(block.program, "linearize") as recorder:
            inputs = [recorder.input(v.aval) for v in block.program.inputs]
            run = [recorder.input(COUNT)] if counted else []
            state: State = {label: recorder.input(a) for label, a in keys}
            heads = [x._index for x in [*inputs, *run, *state.values()]]
            outs = forward_block(recorder, block, inputs, state, run[0] if run else None)
            results = [*outs, *[state[label] for label, _ in keys]]
            return simplify_program(recorder.program(heads, [recorder.index_of(x) for x in results]))

    # -- backwards -----------------------------------------------------------------------------------------

    def backwards(
        self, pulling: Surroundings, active: Flags, totals: Sequence[Any], bars: Sequence[Any]
    ) -> list[Any]:
        recorder = pulling.recorder
        pulls = [pulled(block, active[1:]) for block in self.blocks]
        inputs = self._inputs(pulling, pulls, totals[1:], bars)
        outputs = self._outputs(active[1:])
        branches = tuple(
            [
                self._backward_branch(block, pullback, inputs, outputs)
                for block, pullback in zip(self.blocks, pulls, strict=True)
            ]
        )
        index = pulling.value(self.equation.inputs[0])
        found = recorder.record(Cond(branches), [index, *inputs.values()])
        after: list[Any] = list(totals)
        summed = self.blocks[0].sums
        for label, x in zip(outputs, found, strict=True):
            name, k = label
            if name == "array":
                source = self.equation.inputs[1 + k]
                if isinstance(source, Var):
                    pulling.back[source] = recorder.index_of(x)
            elif name == "count":
                pulling.outputs[label] = recorder.index_of(x)
            else:
                place: Any = k
                before = after[1 + place]
                after[1 + place] = x if summed[place] or before is None else before + x
        return after

    def _inputs(
        self, pulling: Surroundings, pulls: Sequence[Pullback], totals: Sequence[Any], bars: Sequence[Any]
    ) -> dict[Label, Any]:
        """What the branches backwards are given; values of the way forward go by the place of the operand."""
        labels: dict[Label, None] = {}
        for block, pullback in zip(self.blocks, pulls, strict=True):
            labels.update(dict.fromkeys(self._labels(block, pullback)))
        labels.update(dict.fromkeys([label for label, _ in self.state_avals() if label[0] == "count"]))
        sums = self.blocks[0].sums
        labels.update({("total", k): None for k, x in enumerate(totals) if sums[k] and x is not None})
        first = self.blocks[0]
        labels.update({("array", p.result): None for p in first.paths if p.place in first.restored})
        avals = dict(self.state_avals())
        return {label: self._input(pulling, label, avals, totals, bars) for label in labels}

    def _labels(self, block: Block, pullback: Pullback) -> list[Label]:
        """What one branch backwards is given."""
        kept = {log.v for log in block.logs}
        found: list[Label] = [("log", log) for log in block.logs]
        if block.logs:
            found.append(("run", block.body))
        for label in pullback.inputs:
            if label[0] != "value":
                found.append(label)
            elif label[1] not in kept:
                found.append(("operand", block.program.inputs.index(label[1])))
        return found

    def _input(
        self,
        pulling: Surroundings,
        label: Label,
        avals: dict[Label, Aval],
        totals: Sequence[Any],
        bars: Sequence[Any],
    ) -> Anything:
        name, place = label
        if name == "operand":
            return pulling.value(self.equation.inputs[1 + place])
        if name == "array":
            return pulling.value(self.equation.outputs[place])
        if name == "bar":
            return given_or_zeros(pulling.recorder, bars[place], self.equation.outputs[place].aval)
        if name == "total":
            return given_or_zeros(pulling.recorder, totals[place], self.equation.inputs[1 + place].aval)
        if name == "run":
            return pulling.label(label, COUNT)
        return pulling.label(label, avals[label])

    def _outputs(self, active: Flags) -> list[Label]:
        """What the branches backwards leave."""
        first = self.blocks[0]
        found: list[Label] = [("array", k) for k in sorted(first.restored)]
        found += [("bar", k) for k, flag in enumerate(active) if flag]
        return found + [label for label, _ in self.state_avals() if label[0] == "count"]

    def _backward_branch(
        self, block: Block, pullback: Pullback, inputs: dict[Label, Any], outputs: Sequence[Label]
    ) -> Program:
        with transforming(block.program, "transpose") as recorder:
            state: dict[Label, Any] = {
                label: recorder.input(x.aval if hasattr(x, "aval") else COUNT) for label, x in inputs.items()
            }
            heads = [x._index for x in state.values()]
            for k, v in enumerate(block.program.inputs):
                if ("operand", k) in state:
                    state["value", v] = state["operand", k]
            state.update(from_logs(block, state, state.get(("run", block.body))))
            ins = [state[label] for label in pullback.inputs]
            outs = dict(zip(pullback.outputs, inline(recorder, pullback.program, ins), strict=True))
            results = []
            for label in outputs:
                x = outs.get(label)
                if x is None and label[0] == "count":
                    x = state[label]
                if x is None:
                    place: Any = label[1]
                    x = state.get(("total", place))
                    x = zeros_like(recorder, block.program.inputs[place].aval.strong) if x is None else x
                results.append(recorder.index_of(x))
            return simplify_program(recorder.program(heads, results))
