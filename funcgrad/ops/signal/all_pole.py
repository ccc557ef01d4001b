"""The recursive half of a linear filter: ``y[t] = x[t] - a[0] y[t-1] - a[1] y[t-2] - ...``.

Linear in `x`, and its transpose is the same recursion run backwards. By the coefficients the derivative is
again a filtered signal: ``y_dot`` obeys the recursion with ``x_dot[t] - a_dot[0] y[t-1] - ...`` for `x`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import stack
from funcgrad.ops.arrays.slicing import Pad, Slice
from funcgrad.ops.arrays.structure import broadcast_to, shape_of
from funcgrad.ops.elementwise.arithmetic import mul, neg
from funcgrad.ops.families import added
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array


class AllPole(Primitive):
    """The recursion along the last axis of the second input, with the first as coefficients.

    With ``reverse`` it runs from the last element to the first.
    """

    name = "all_pole"
    parameters = ("reverse",)
    kinds: ClassVar[str] = "fc"
    reverse: bool

    def infer(self, *avals: Aval) -> Aval:
        a, x = avals
        if a.ndim != 1 or not x.ndim:
            raise ShapeError(f"{self.name} of {a} and {x}: it needs a vector of coefficients, and signals")
        if a.dtype != x.dtype or not x.inexact:
            raise DtypeError(f"{self.name} of {a} and {x}: both must be floats of one dtype")
        return x.strong

    def evaluate(self, *values: Array) -> Array:
        a, x = values
        if not x.size:
            return x.copy()
        one = np.ones(1, a.dtype)
        turned = x[..., ::-1] if self.reverse else x
        found = import_module("scipy.signal").lfilter(one, np.concatenate([one, a]), turned)
        return found[..., ::-1] if self.reverse else found

    def delayed(self, y: Array, k: int) -> Array:
        """The signal as it was k steps before, and zeros before it began."""
        *outer, n = shape_of(y)
        whole = [(0, size, 1) for size in outer]
        early, late = (0, n - k, 1), (k, n - k, 1)
        source, target = (late, early) if self.reverse else (early, late)
        return Pad((*outer, n), (*whole, target)).bind(Slice((*whole, source)).bind(y))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a, x), (a_dot, x_dot) = primals, tangents
        out = self.bind(a, x)
        if a_dot is not None:
            shape = shape_of(out)
            for k in range(min(shape_of(a)[0], shape[-1] - 1)):
                moved = mul(broadcast_to(Slice((k,)).bind(a_dot), shape), self.delayed(out, k + 1))
                x_dot = added(x_dot, neg(moved))
        return out, None if x_dot is None else self.bind(a, x_dot)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        if not isinstance(inputs[1], Linear):
            return super().transpose(cotangent, *inputs)
        return None, AllPole(not self.reverse).bind(inputs[0], cotangent)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        a, x = inputs
        if not batched[0]:
            return self.bind(a, x), True
        return stack([self.bind(a[k], x[k] if batched[1] else x) for k in range(size)], 0), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(2), normal(6), params={"reverse": False}),
            Sample(normal(3), normal(2, 5), params={"reverse": True}),
            Sample(normal(4), normal(2, 3), params={"reverse": False}),
            Sample(normal(0), normal(3), params={"reverse": False}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"reverse": False}
        return (
            ErrorSample(normal(2, 2), normal(3), params=params, words="vector of coeff", error=ShapeError),
        )
