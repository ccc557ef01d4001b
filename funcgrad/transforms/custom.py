"""Calls whose derivative the user wrote: `custom_jvp` and `custom_vjp` as equations.

The user's rules are kept as Python functions of flat lists, wrapped in a `FlatRule`, and recorded into
Programs where a transform needs them; a batched call has a rule that batches that Program. So every
transform of a custom call is again a Program, and nothing here knows pytrees.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import mul
from funcgrad.ops.families import aval
from funcgrad.shared import once
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import RULE, Recorder, recorder_of
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.transforms.call import Call, batched_program, with_batch_axis
from funcgrad.transforms.dependence import parted
from funcgrad.transforms.linearize import record_jvp, zeros_like
from funcgrad.transforms.replay import inline
from funcgrad.transforms.transpose import transpose_program
from funcgrad.types import Anything, Array, Arrays

FlatFunction = Callable[[Sequence[Any]], Sequence[Any]]


class FlatRule:
    """A user's rule as a function from flat inputs to flat outputs, recorded on demand.

    Rules of equal `key` are one rule, so that a custom function called again has the same fingerprint.
    """

    __slots__ = ("_function", "_key", "name")

    def __init__(self, function: FlatFunction, name: str, key: Hashable) -> None:
        self._function = function
        self._key = key
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FlatRule) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def program(self, avals: Sequence[Aval]) -> Program:
        """The rule as a Program at these input avals."""
        with Recorder(self.name, RULE) as recorder:
            tracers = [recorder.input(a) for a in avals]
            outputs = [recorder.index_of(asoperand(x)) for x in self._function(tracers)]
            return recorder.program(range(len(avals)), outputs)

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


class RecordedRule:
    """A rule that has been recorded already."""

    __slots__ = ("_program", "name")

    def __init__(self, program: Program) -> None:
        self._program = program
        self.name = program.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedRule) and self._program == other._program

    def __hash__(self) -> int:
        return hash(self._program)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedRule, (self._program,)

    def program(self, avals: Sequence[Aval]) -> Program:
        """The recorded Program."""
        return self._program


class BatchedRule:
    """A rule over a batch axis 0 of its flagged inputs."""

    __slots__ = ("_batched", "_rule", "_size", "name")

    name: str

    def __init__(self, rule: Rule, size: int, batched: Flags) -> None:
        self._rule = rule
        self._size = size
        self._batched = batched
        self.name = rule.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BatchedRule):
            return NotImplemented
        return (self._rule, self._size, self._batched) == (other._rule, other._size, other._batched)

    def __hash__(self) -> int:
        return hash((self._rule, self._size, self._batched))

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchedRule, (self._rule, self._size, self._batched)

    def program(self, avals: Sequence[Aval]) -> Program:
        """The inner rule's Program at one example, batched."""
        examples = [a.with_shape(a.shape[1:]) if b else a for a, b in zip(avals, self._batched, strict=True)]
        return batched_program(self._rule.program(examples), self._size, self._batched)


Rule = FlatRule | RecordedRule | BatchedRule


class CustomJvp(Call):
    """A call with a rule ``(inputs, tangents) -> (outputs, tangents of the outputs)``.

    Its inputs are the arguments, the constants of the Program, and the constants of the rule.
    """

    name = "custom_jvp"
    parameters = ("program", "rule", "n_inputs")
    rule: Rule
    n_inputs: int
    """Inputs that have tangents; those after them are constants the function closed over."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        n = self.n_inputs
        refuse_closed_over(self.name, self.program, tangents[n:])
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        avals = [v.aval for v in self.program.inputs[:n]]
        dots = [
            zeros_like(recorder, a.strong) if t is None else t
            for t, a in zip(tangents[:n], avals, strict=True)
            if a.inexact
        ]
        constants = primals[len(self.program.inputs) :]
        rule_avals = [*avals, *[a.strong for a in avals if a.inexact], *map(aval, constants)]
        moving = (*[False] * n, *[True] * len(dots), *[False] * len(constants))
        # A branch of the rule may compute value and tangent together: reverse mode wants them apart.
        program = parted(self.rule.program(rule_avals), moving)
        results = inline(recorder, program, [*primals[:n], *dots, *constants])
        n_outs = len(self.program.outputs)
        found = iter(results[n_outs:])
        return results[:n_outs], tuple(
            [next(found) if inexact else None for inexact in self.inexact_outputs()]
        )

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        n = self.n_inputs
        inexact = [v.aval.inexact for v in self.program.inputs[:n]]
        # Tangents may differ between examples wherever a value does, so all inputs get the axis.
        full = [*with_batch_axis(size, inputs[:n], batched[:n]), *inputs[n:]]
        last = len(self.program.inputs)
        flags = (*[True] * n, *batched[n:last])
        rule = BatchedRule(self.rule, size, (*[True] * (n + sum(inexact)), *batched[last:]))
        call = CustomJvp(batched_program(self.program, size, flags), rule, n)
        return call.bind(*full), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        rule = FlatRule(_square_jvp, "square_jvp", _square_jvp)
        return (Sample(fixed(_POINT), params={"program": _SQUARE, "rule": rule, "n_inputs": 1}),)


class CustomVjp(Call):
    """A call with a rule for each direction.

    ``forward: inputs -> outputs, residuals`` and ``backward: residuals, cotangents -> cotangents``.

    Its inputs are the arguments, the constants of the Program, and the constants of the forward rule.
    """

    name = "custom_vjp"
    parameters = ("program", "forward", "backward", "n_inputs")
    forward: Rule
    backward: Any
    n_inputs: int

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        n = self.n_inputs
        refuse_closed_over(self.name, self.program, tangents[n:])
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        avals = tuple([v.aval for v in self.program.inputs[:n]])
        constants = primals[len(self.program.inputs) :]
        forward = self.forward.program([*avals, *map(aval, constants)])
        results = inline(recorder, forward, [*primals[:n], *constants])
        n_outs = len(self.program.outputs)
        outs, residuals = results[:n_outs], results[n_outs:]
        linear = tuple([a.strong for a in avals if a.inexact])
        dots = [
            zeros_like(recorder, a.strong) if t is None else t
            for t, a in zip(tangents[:n], avals, strict=True)
            if a.inexact
        ]
        out_avals = tuple([a.strong for a in self.program.out_avals if a.inexact])
        tangent_call = CustomVjpTangents(self.backward, len(residuals), linear, out_avals)
        found = iter(tangent_call.bind(*residuals, *dots))
        return outs, tuple([next(found) if inexact else None for inexact in self.inexact_outputs()])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        n = self.n_inputs
        full = [*with_batch_axis(size, inputs[:n], batched[:n]), *inputs[n:]]
        last = len(self.program.inputs)
        flags = (*[True] * n, *batched[n:])
        forward = BatchedRule(self.forward, size, (*[True] * n, *batched[last:]))
        backward = AllBatched(self.backward, size)
        call = CustomVjp(batched_program(self.program, size, flags[:last]), forward, backward, n)
        return call.bind(*full), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        forward = FlatRule(_square_forward, "square_forward", _square_forward)
        backward = FlatRule(_square_backward, "square_backward", _square_backward)
        params = {"program": _SQUARE, "forward": forward, "backward": backward, "n_inputs": 1}
        return (Sample(fixed(_POINT), params=params),)


class AllBatched:
    """A rule over a batch axis 0 of every input, however many there are."""

    __slots__ = ("_rule", "_size", "name")

    def __init__(self, rule: Anything, size: int) -> None:
        self._rule = rule
        self._size = size
        self.name = rule.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AllBatched) and (self._rule, self._size) == (other._rule, other._size)

    def __hash__(self) -> int:
        return hash((self._rule, self._size))

    def __reduce__(self) -> tuple[Any, ...]:
        return AllBatched, (self._rule, self._size)

    def program(self, avals: Sequence[Aval]) -> Program:
        """The inner rule's Program at one example, batched."""
        return BatchedRule(self._rule, self._size, (True,) * len(avals)).program(avals)


class CustomVjpTangents(Primitive):
    """The linear map whose transpose is a user's backward rule: residuals, tangents -> tangents.

    Reverse mode transposes it into the rule. Forward mode runs the transpose of the rule's own Program,
    which exists when the rule is linear in its cotangents, as the transpose of a derivative must be.
    """

    name = "custom_vjp_tangents"
    parameters = ("backward", "n_residuals", "linear_avals", "tangent_avals")
    multiple = True
    backward: Any
    n_residuals: int
    linear_avals: tuple[Aval, ...]
    tangent_avals: tuple[Aval, ...]

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        return self.tangent_avals

    @once
    def _forward_programs(self) -> dict[tuple[Aval, ...], Program]:
        return {}

    def _forward_program(self, residual_avals: Sequence[Aval]) -> Program:
        made, key = self._forward_programs, tuple(residual_avals)
        if key not in made:
            made[key] = self._transposed_rule(key)
        return made[key]

    def _transposed_rule(self, residual_avals: Sequence[Aval]) -> Program:
        rule = self.backward.program([*residual_avals, *self.tangent_avals])
        try:
            return transpose_program(rule, self.n_residuals)
        except NotDifferentiableError as error:
            raise NotDifferentiableError(
                "forward mode through a custom_vjp needs a backward rule that is linear in its cotangent: "
                f"{error}",
                remedy="Use reverse mode (grad, vjp, jacrev), or define the function with custom_jvp.",
            ) from None

    def evaluate(self, *values: Array) -> Arrays:
        n = self.n_residuals
        avals = [Aval(np.shape(x), np.asarray(x).dtype) for x in values[:n]]
        return self._forward_program(avals).evaluate(*values)

    def held_program(self, avals: Sequence[Aval]) -> Program | None:
        return self._forward_program(avals[: self.n_residuals])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        avals = [recorder.avals[recorder.index_of(x)] for x in primals[: self.n_residuals]]
        outs, dots = record_jvp(recorder, self._forward_program(avals), primals, tangents)
        return tuple(outs), tuple(dots)

    def linear_in(self, flags: Flags) -> bool:
        return not any(flags[: self.n_residuals]) and all(flags[self.n_residuals :])

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        n = self.n_residuals
        if any(isinstance(x, Linear) for x in inputs[:n]):
            raise NotDifferentiableError("a residual of a custom_vjp cannot be linear")
        present = [bar for bar in cotangent if bar is not None]
        recorder = recorder_of(present)
        assert recorder is not None, "a transpose rule runs on tracers"
        bars = [
            zeros_like(recorder, a) if c is None else c
            for c, a in zip(cotangent, self.tangent_avals, strict=True)
        ]
        residuals = [recorder.index_of(x) for x in inputs[:n]]
        program = self.backward.program([*[recorder.avals[i] for i in residuals], *self.tangent_avals])
        found = inline(recorder, program, [*inputs[:n], *bars])
        return (*[None] * n, *found)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        wide = CustomVjpTangents(
            AllBatched(self.backward, size),
            self.n_residuals,
            tuple([a.with_shape((size, *a.shape)) for a in self.linear_avals]),
            tuple([a.with_shape((size, *a.shape)) for a in self.tangent_avals]),
        )
        return wide.bind(*with_batch_axis(size, inputs, batched)), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        params = {
            "backward": FlatRule(_square_backward, "square_backward", _square_backward),
            "n_residuals": 1,
            "linear_avals": (_VECTOR,),
            "tangent_avals": (_VECTOR,),
        }
        return (Sample(fixed(_POINT), fixed(_POINT), params=params),)


def refuse_closed_over(name: str, program: Program, tangents: Sequence[Any]) -> None:
    """Raise where a custom function closed over a value that is being differentiated."""
    if any(t is not None for t in tangents):
        raise NotDifferentiableError(
            f"the {name} function {program.name} uses a traced value that is not one of its arguments, and a "
            "derivative by it is asked for",
            remedy="Pass the value as an argument, so that the rule can say its derivative.",
        )


_POINT = np.array([0.5, -1.0, 2.0])
_VECTOR = Aval((3,), np.float64)


def _square_program() -> Program:
    x, y = Var(_VECTOR), Var(_VECTOR)
    return Program((x,), (), (Equation(mul, (x, x), (y,)),), (y,), "square")


_SQUARE = _square_program()


def _square_jvp(flat: Sequence[Any]) -> Sequence[Any]:
    x, x_dot = flat
    return [mul(x, x), mul(mul(x, 2.0), x_dot)]


def _square_forward(flat: Sequence[Any]) -> Sequence[Any]:
    return [mul(flat[0], flat[0]), flat[0]]


def _square_backward(flat: Sequence[Any]) -> Sequence[Any]:
    x, bar = flat
    return [mul(mul(x, 2.0), bar)]
