"""The special functions of SciPy as one primitive, and the table of their derivatives.

A function is one entry: what evaluates it and, for each argument, a function of the result and the arguments
that gives the derivative, or the words for an argument by which there is none. Derivatives are written with
other functions of the table, so they are differentiable again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval
from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.comparison import isfinite, isinf
from funcgrad.ops.elementwise.identity import departure
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Pointwise, ufunc_dtypes
from funcgrad.tracing.primitive import Native
from funcgrad.tracing.samples import Sample, edge, integers, positive, uniform
from funcgrad.types import Anything, Array, ArrayLike, UfuncLike

Partial = Callable[..., Any]
"""``partial(out, *arguments)``: the derivative by one argument."""

Composition = Callable[..., Any]
"""``expansion(*arguments)``: the result by other operations; None for dtypes that it does not suit."""


@dataclass(frozen=True, slots=True)
class Function:
    """One special function."""

    ufunc: Any
    partials: tuple[Partial | str | None, ...]
    """For each argument its derivative, None for zero, or the argument's name where there is none."""
    holomorphic: bool
    native: Native
    """Where the vector mathematics has it too."""
    expansion: Composition | None
    """Where other operations give it."""
    flat: bool
    """Whether it stays as it is, in every derivative, where it is finite and an argument infinite."""
    addressed: bool
    """Whether kernels may call SciPy's own function of doubles, where there is no other native form."""


TABLE: dict[str, Function] = {}
"""The functions by name."""


def define(
    name: str,
    *partials: Partial | str | None,
    ufunc: UfuncLike = None,
    holomorphic: bool = True,
    native: Native = "",
    expansion: Composition | None = None,
    flat: bool = False,
    addressed: bool = True,
) -> Special:
    """Enter a function of ``scipy.special``, or one that `ufunc` evaluates, and return its primitive."""
    if ufunc is None:
        ufunc = LazyUfunc("scipy.special", name, len(partials))
    TABLE[name] = Function(ufunc, partials, holomorphic, native, expansion, flat, addressed)
    special: Special = Special(name)
    return special


class LazyResult(LazyUfunc):
    """One of several results of a ufunc.

    >>> sine_integral = LazyResult("scipy.special", "sici", 0)
    >>> print(sine_integral(0.0), sine_integral.resolve_dtypes((np.dtype(np.float32), None)))
    0.0 (dtype('float32'), dtype('float32'))
    """

    def __init__(self, module: str, name: str, result: int, nin: int = 1) -> None:
        super().__init__(module, name, nin)
        self.result = result

    def __call__(self, *args: ArrayLike, **options: Anything) -> Array:
        return self.resolved(*args, **options)[self.result]

    def resolve_dtypes(self, dtypes: tuple[Any, ...], **options: object) -> tuple[np.dtype[Any], ...]:
        """The dtypes of the operands and of this result."""
        ufunc = self.resolved
        found = ufunc.resolve_dtypes((*dtypes[: ufunc.nin], *[None] * ufunc.nout), **options)
        return (*found[: ufunc.nin], found[ufunc.nin + self.result])


class Evaluated:
    """A NumPy function that promotes as a ufunc of SciPy's does."""

    def __init__(self, name: str, function: Callable[..., Any], like: Anything) -> None:
        self.__name__ = name
        self.nin = like.nin
        self.function = function
        self.resolve_dtypes = like.resolve_dtypes

    def __call__(self, *args: ArrayLike) -> Array:
        asked = tuple([type(x) if type(x) in (int, float) else np.asarray(x).dtype for x in args])
        dtypes = self.resolve_dtypes((*asked, None))
        return self.function(*[np.asarray(x, d) for x, d in zip(args, dtypes, strict=False)])


class Special(Pointwise):
    """The special function named ``function``, evaluated by SciPy."""

    name = "special"
    cost = 40
    parameters = ("function",)
    kinds = "f"
    function: str

    def __call__(self, *args: ArrayLike) -> Array:
        return self.apply(*args)

    @property
    def ufunc(self) -> UfuncLike:
        """What evaluates it."""
        return TABLE[self.function].ufunc

    def native_form(self) -> Native:
        return TABLE[self.function].native

    @property
    def at_address(self) -> str:
        """The function of ``scipy.special`` that kernels call; empty where they call none."""
        entry = TABLE[self.function]
        own = type(entry.ufunc) is LazyUfunc and repr(entry.ufunc) == f"scipy.special.{self.function}"
        return self.function if own and entry.addressed else ""

    def expansion(self, *inputs: Array) -> Array | None:
        composed = TABLE[self.function].expansion
        return None if composed is None else composed(*inputs)

    def _loop_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        return ufunc_dtypes(self.function, self.ufunc, avals)

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        entry = TABLE[self.function]
        rule = entry.partials[i]
        if isinstance(rule, str):
            raise NotDifferentiableError(
                f"{self.function} has no derivative by its {ORDINALS[i]} argument, {rule}",
                remedy=f"Keep {rule} out of what is differentiated, if need be with fg.stop_gradient, "
                "or give the function a rule with fg.custom_jvp.",
            )
        if not entry.holomorphic and aval(out).dtype.kind == "c":
            raise NotDifferentiableError(f"{self.function} of complex numbers is not holomorphic")
        if rule is None or not entry.flat or aval(out).dtype.kind == "c":
            return None if rule is None else rule(out, *primals)
        return level_far_away(rule, out, primals)

    def along(self, tangent: Array, factor: Array) -> Array:
        # At the edge of a domain the derivative by one operand may be infinite: it must not spoil those by
        # the others, along which this operand stands still.
        several = len(TABLE[self.function].partials) > 1
        return strong_zero_mul(tangent, factor) if several else super().along(tangent, factor)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(uniform(0.6, 3.0, 3, 2), params={"function": "gamma"}),
            Sample(positive(3), positive(), params={"function": "beta"}),
            Sample(integers(0, 3, 3), positive(3), params={"function": "spherical_jn"}),
            Sample(uniform(0.1, 0.9, 3), params={"function": "sici_si"}),
            Sample(positive(3), positive(3), uniform(0.2, 0.8, 3), params={"function": "betainc"}),
            Sample(edge(0.0, -1.0, np.inf, np.nan), params={"function": "gamma"}, differentiable=False),
        )


def level_far_away(rule: Partial, out: Array, primals: Sequence[Any]) -> Array:
    """A derivative that is 0 where the function is finite and an argument infinite.

    There its formula is a product of zero and infinity; it is computed at 1 instead, and left out.
    """
    far: Any = False
    for x in primals:
        if aval(x).inexact:
            far = logical_or(far, isinf(x))
    far = logical_and(far, isfinite(out))
    inside = [where(far, 1.0, x) if aval(x).inexact else x for x in primals]
    return where(far, 0.0, rule(where(far, 1.0, out), *inside))


def undefined(x: Array) -> Array:
    """0, with the derivative NaN by `x`, where one depends on more than the point."""
    return strong_zero_mul(departure(x), math.nan)


def infinitely(x: Array) -> Array:
    """0, with an infinite derivative by `x`, which is 0 where x stands still."""
    return strong_zero_mul(departure(x), math.inf)


def nowhere(*arguments: Array) -> Array:
    """NaN, with all derivatives NaN: outside of a function's domain."""
    found: Any = math.nan
    for x in arguments:
        found = found + undefined(x)
    return found


ORDINALS = ("first", "second", "third", "fourth")
