"""`host_call`: a function of the user's that is called with values, and of which nothing else is known.

What it returns is checked against the types that were announced. A batch is a loop over its examples. A
function with a method ``host_jvp(values, results, tangents)`` knows the tangents of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arrays.structure import broadcast_to
from funcgrad.ops.families import aval
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.recorder import RULE, Recorder, recorder_of
from funcgrad.tracing.samples import Sample
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.replay import inline
from funcgrad.types import AnyPrimitive, Anything, Array, Arrays


class HostCall(Primitive):
    """``function(*values)``, a sequence of arrays of the types in `results`."""

    name = "host_call"
    parameters = ("function", "results")
    multiple = True
    function: Callable[..., Sequence[Any]]
    results: tuple[Aval, ...]

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        return self.results

    def evaluate(self, *values: Array) -> tuple[Any, ...]:
        found = tuple(self.function(*values))
        if len(found) != len(self.results):
            raise ShapeError(
                f"{name_of(self.function)} returned {len(found)} results where "
                f"{len(self.results)} were announced"
            )
        return tuple([checked(x, a, self.function) for x, a in zip(found, self.results, strict=True)])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        rule = getattr(self.function, "host_jvp", None)
        if rule is not None:
            outs = self.bind(*primals)
            return outs, tuple(rule(primals, outs, tangents))
        if not any(a.inexact for a in self.results):
            return self.bind(*primals), (None,) * len(self.results)
        raise NotDifferentiableError(
            f"{name_of(self.function)} is called with values, and nothing is known of its derivative",
            remedy="Give it one with custom_jvp or custom_vjp, or take stop_gradient of its arguments.",
        )

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        raise NotDifferentiableError(
            f"{name_of(self.function)} is called with the tangents, and reverse mode cannot turn that around",
            remedy="Give the function around it a derivative with custom_vjp.",
        )

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        if hasattr(self.function, "machine_code"):
            return self._loop_over_examples(size, inputs, batched)
        wide = EachExample(self.function, size, tuple(batched), self.results)
        results = tuple([a.with_shape((size, *a.shape)) for a in self.results])
        return HostCall(wide, results).bind(*inputs), (True,) * len(results)

    def _loop_over_examples(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        """A scan, which stays native where the function is."""
        avals = [aval(x) for x in inputs]
        rows = [a.with_shape(a.shape[1:]) if flag else a for a, flag in zip(avals, batched, strict=True)]
        given = [Var(a) for a in rows]
        outs = tuple([Var(a) for a in self.results])
        order = sorted(range(len(given)), key=lambda k: not batched[k])
        heads = tuple([given[k] for k in order])
        equation = Equation(self, tuple(given), outs)
        body = Program(heads, (), (equation,), outs, name_of(self.function))
        found = Scan(body, 0, sum(batched), size, False).bind(*[inputs[k] for k in order])
        return tuple(found), (True,) * len(outs)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        params = {"function": Doubling(), "results": (Aval((3,), np.float64),)}
        return (Sample(real_doubles, params=params, through=first_result),)


class EachExample:
    """The function for every example of a batch."""

    __slots__ = ("_flags", "_function", "_results", "_size")

    def __init__(
        self, function: Callable[..., Sequence[Any]], size: int, flags: Flags, results: tuple[Aval, ...]
    ) -> None:
        self._function = function
        self._size = size
        self._flags = flags
        self._results = results

    @property
    def _key(self) -> tuple[Any, ...]:
        return self._function, self._size, self._flags, self._results

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EachExample) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def __name__(self) -> str:
        return name_of(self._function)

    def __getattr__(self, name: str) -> Anything:
        if name == "host_jvp" and hasattr(self._function, name):
            return self._tangents
        raise AttributeError(name)

    def _tangents(self, primals: Sequence[Any], outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """The tangents of all examples: the function's own rule, recorded for one, and batched."""
        avals = [aval(x) for x in primals]
        examples = [a.with_shape(a.shape[1:]) if f else a for a, f in zip(avals, self._flags, strict=True)]
        active = [t is not None for t in tangents]
        with Recorder(self.__name__, RULE) as recorder:
            heads = [recorder.input(a) for a in (*examples, *self._results)]
            dots = [recorder.input(a.strong) if f else None for a, f in zip(examples, active, strict=True)]
            found = self._function.host_jvp(heads[: len(primals)], heads[len(primals) :], dots)  # type: ignore[attr-defined]
            exits = [recorder.index_of(asoperand(t)) for t in found if t is not None]
            count = len(heads) + sum(active)
            program = recorder.program(range(count), exits)
        of_dots = [True for flag in active if flag]
        program = batch_program(program, self._size, (*self._flags, *[True] * len(outs), *of_dots))
        outer = recorder_of([*primals, *tangents])
        assert outer is not None, "a jvp rule runs on tracers"
        given = [
            t if f else broadcast_to(t, (self._size, *aval(t).shape))
            for t, f in zip(tangents, self._flags, strict=True)
            if t is not None
        ]
        results = iter(inline(outer, program, [*primals, *outs, *given]))
        return [None if t is None else next(results) for t in found]

    def __call__(self, *values: Anything) -> list[Any]:
        rows = [
            self._function(*[x[k] if flag else x for x, flag in zip(values, self._flags, strict=True)])
            for k in range(self._size)
        ]
        return [
            np.stack([np.asarray(row[n], a.dtype) for row in rows])
            if rows
            else np.zeros((0, *a.shape), a.dtype)
            for n, a in enumerate(self._results)
        ]


def checked(x: object, aval: Aval, function: Callable[..., Any]) -> Array:
    """A result, which must be what was announced."""
    array = np.asarray(x)
    if array.shape != aval.shape or not np.can_cast(array.dtype, aval.dtype, "same_kind"):
        seen = Aval(array.shape, array.dtype) if array.dtype.kind != "O" else type(x).__name__
        raise ShapeError(f"{name_of(function)} returned {seen} where {aval} was announced")
    found = np.array(array, aval.dtype)
    return found if aval.shape else found[()]


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called in messages."""
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True)
class Doubling:
    """What the samples call: twice a vector."""

    def __call__(self, x: Array) -> list[Any]:
        return [2.0 * x]

    def host_jvp(self, values: Sequence[Any], results: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """The tangent of the result."""
        (t,) = tangents
        return [t + t]


def real_doubles(rng: np.random.Generator, _: object) -> Array:
    """A draw in double precision: the announced type is one only."""
    return rng.standard_normal(3)


def first_result(primitive: AnyPrimitive, *inputs: Array) -> Array:
    """The only result."""
    return primitive.bind(*inputs)[0]
