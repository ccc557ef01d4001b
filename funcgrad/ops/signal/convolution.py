"""Convolutions over any number of axes, and the same with strong zeros.

Owns the primitive, which is closed under transposition: the derivatives by the input and by the kernel are
convolutions again, with dilation for strides, so that every order of derivative is one. How NumPy computes it
stands in `convolution_plan`; what users call, in `funcgrad.nn`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.movement import flip
from funcgrad.ops.arrays.structure import aval, permute, real_products, reshape, shape_of
from funcgrad.ops.contraction import finite
from funcgrad.ops.elementwise.arithmetic import is_selected
from funcgrad.ops.families import added
from funcgrad.ops.signal.convolution_plan import Geometry, Ints, Pairs, convolved, dilated
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, fixed, normal
from funcgrad.types import AnyPrimitive, Array


class Convolution(Primitive):
    """Sums of products of a kernel with the windows of an input, over channels and window.

    The input has axes (group, example, channel, ...), the kernel (group, channel out, channel, ...), the
    result (group, example, channel out, ...). Element ``p`` of the result reads the elements
    ``p * stride + k * kernel_dilation`` of the input with ``input_dilation - 1`` zeros between its elements
    and ``padding`` zeros around them (fewer than none crops it). The kernel is not flipped.
    """

    name = "convolution"
    of_nothing = "0.0"
    parameters: ClassVar[tuple[str, ...]] = ("strides", "padding", "input_dilation", "kernel_dilation")
    kinds: ClassVar[str] = "fc"
    strides: Ints
    padding: Pairs
    input_dilation: Ints
    kernel_dilation: Ints

    @property
    def geometry(self) -> Geometry:
        """The parameters together."""
        return Geometry(self.strides, self.padding, self.input_dilation, self.kernel_dilation)

    # -- values ------------------------------------------------------------------------------------------

    def infer(self, *avals: Aval) -> Aval:
        x, w = avals
        if x.dtype != w.dtype or x.dtype.kind == "b":
            raise DtypeError(
                f"{self.name} of {x} and {w}: operands must be cast to one dtype of numbers first"
            )
        axes = {len(entry) for entry in self.geometry}
        if x.ndim != w.ndim or axes != {x.ndim - 3}:
            raise ShapeError(f"{self.name} of {x} and {w}: both need three axes and one for each stride")
        if x.shape[0] != w.shape[0] or x.shape[2] != w.shape[2]:
            raise ShapeError(f"{self.name} of {x} and {w}: groups and channels must agree")
        steps = (*self.strides, *self.input_dilation, *self.kernel_dilation)
        if any(step < 1 for step in steps):
            raise ShapeError(f"{self.name} of {x} and {w}: strides and dilations must be at least 1")
        return Aval((*x.shape[:2], w.shape[1], *self.geometry.positions(x.shape[3:], w.shape[3:])), x.dtype)

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return 2.0 * outputs[0].size * math.prod(inputs[1].shape[2:]) * real_products(outputs[0])

    def evaluate(self, *values: Array) -> Array:
        return convolved(self.geometry, *values)

    # -- rules -------------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, w = primals
        x_dot, w_dot = tangents
        out = self.bind(x, w)
        if not out.aval.inexact:
            return out, None
        first = None if x_dot is None else self.bind(x_dot, w)
        return out, added(first, None if w_dot is None else self.bind(x, w_dot))

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, w = inputs
        selected = is_selected(cotangent)
        if isinstance(x, Linear):
            return self.input_bar(cotangent, w, x.aval.shape[3:], 0 if selected else None), None
        return None, self.kernel_bar(cotangent, x, w.aval.shape[3:], 1 if selected else None)

    def input_bar(self, cotangent: Array, w: Array, sizes: Shape, strong: int | None) -> Array:
        """The cotangent of an input of these spatial sizes: a convolution with the kernel turned round."""
        kernel, positions = shape_of(w)[3:], shape_of(cotangent)[3:]
        padding = []
        for n, k, p, (low, _), (s, e, d) in zip(
            sizes, kernel, positions, self.padding, self._steps(), strict=True
        ):
            before = (k - 1) * d - low
            padding.append((before, (n - 1) * e + dilated(k, d) - dilated(p, s) - before))
        spatial = tuple(range(3, len(shape_of(w))))
        turned = flip(permute(w, (0, 2, 1, *spatial)), spatial)
        geometry = Geometry(self.input_dilation, tuple(padding), self.strides, self.kernel_dilation)
        return convolution(geometry, strong).bind(cotangent, turned)

    def kernel_bar(self, cotangent: Array, x: Array, kernel: Shape, strong: int | None) -> Array:
        """The cotangent of a kernel of these spatial sizes: the input convolved with the cotangent.

        What are channels there are examples here, and the other way round.
        """
        sizes, positions = shape_of(x)[3:], shape_of(cotangent)[3:]
        padding = []
        for n, k, p, (low, _), (s, e, d) in zip(
            sizes, kernel, positions, self.padding, self._steps(), strict=True
        ):
            padding.append((low, (k - 1) * d + dilated(p, s) - dilated(n, e) - low))
        spatial = tuple(range(3, len(shape_of(x))))
        order = (0, 2, 1, *spatial)
        geometry = Geometry(self.kernel_dilation, tuple(padding), self.input_dilation, self.strides)
        found = convolution(geometry, strong).bind(permute(x, order), permute(cotangent, order))
        return permute(found, order)

    def _steps(self) -> list[tuple[int, int, int]]:
        """Stride, input dilation and kernel dilation of each axis."""
        return list(zip(self.strides, self.input_dilation, self.kernel_dilation, strict=True))

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, w = inputs
        if all(batched):
            out = self.bind(merged(x), merged(w))
            return reshape(out, (size, shape_of(x)[1], *shape_of(out)[1:])), True
        axis = 1 if batched[0] else 2
        folded = merged(batch_axis_second(inputs[not batched[0]]), 1)
        out = self.bind(folded, w) if batched[0] else self.bind(x, folded)
        shape = shape_of(out)
        count = shape_of(inputs[not batched[0]])[2]
        out = reshape(out, (*shape[:axis], size, count, *shape[axis + 1 :]))
        others = tuple([a for a in range(len(shape) + 1) if a != axis])
        return permute(out, (axis, *others)), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(normal(*x), normal(*w), params=dict(geometry)) for x, w, geometry in _SAMPLES])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = _params(1)
        x = normal(1, 2, 3, 5)
        return (
            ErrorSample(x, normal(1, 2, 4, 3), params=params, words="channels must agree", error=ShapeError),
            ErrorSample(x, normal(1, 2, 3), params=params, words="three axes", error=ShapeError),
            ErrorSample(
                x,
                fixed(np.ones((1, 2, 3, 2), np.float32)),
                params=params,
                words="one dtype",
                error=DtypeError,
            ),
            ErrorSample(
                x, normal(1, 2, 3, 2), params=params | {"strides": (0,)}, words="at least 1", error=ShapeError
            ),
        )


class StrongZeroConvolution(Convolution):
    """A convolution in which zeros of one operand count for nothing, even against infinity or NaN.

    ``strong`` says which operand, 0 or 1: the cotangent that a selection set to zero in places. See
    `funcgrad.ops.contraction.StrongZeroDot`.
    """

    name = "strong_zero_convolution"
    parameters = (*Convolution.parameters, "strong")
    strong: int

    def evaluate(self, *values: Array) -> Array:
        x, w = values
        geometry = self.geometry
        out = convolved(geometry, x, w)
        # A zero that met infinity or NaN leaves NaN behind, so finite numbers need no second look.
        if np.isfinite(np.add.reduce(out, axis=None)):
            return out
        if self.strong:
            met = convolved(geometry, ones_where(~np.isfinite(x)), ones_where(w != 0))
            return np.where(met > 0, out, convolved(geometry, finite(x), w))
        met = convolved(geometry, ones_where(x != 0), ones_where(~np.isfinite(w)))
        return np.where(met > 0, out, convolved(geometry, x, finite(w)))

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        # The strong operand stays so, as the cotangent that flows and as the constant beside it.
        x, w = inputs
        if isinstance(x, Linear):
            return self.input_bar(cotangent, w, x.aval.shape[3:], self.strong), None
        return None, self.kernel_bar(cotangent, x, w.aval.shape[3:], self.strong)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        holes = fixed(np.array([0.0, 1.0, 0.0, 0.0, 2.0]).reshape(1, 1, 1, 5))
        bad = fixed(np.array([1.0, np.nan, np.inf]).reshape(1, 1, 1, 3))
        return (
            *[
                Sample(normal(*x), normal(*w), params=geometry | {"strong": k % 2})
                for k, (x, w, geometry) in enumerate(_SAMPLES[:6])
            ],
            Sample(holes, bad, params=_params(1) | {"strong": 0}, differentiable=False),
            Sample(bad, holes, params=_params(1, padding=(4, 4)) | {"strong": 1}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = _params(1) | {"strong": 0}
        return (
            ErrorSample(
                normal(1, 2, 3, 5),
                normal(1, 2, 4, 3),
                params=params,
                words="channels must agree",
                error=ShapeError,
            ),
        )


def ones_where(mask: Array) -> Array:
    """Ones and zeros that can be counted."""
    return mask.astype(np.float32)


def convolution(geometry: Geometry, strong: int | None = None) -> AnyPrimitive:
    """The primitive of this geometry; `strong` is the operand whose zeros are strong, or None."""
    return Convolution(*geometry) if strong is None else StrongZeroConvolution(*geometry, strong)


def batch_axis_second(x: Array) -> Array:
    """``x[batch, group, ...]`` as ``x[group, batch, ...]``."""
    return permute(x, (1, 0, *range(2, aval(x).ndim)))


def merged(x: Array, axis: int = 0) -> Array:
    """`x` with an axis and the next one made one."""
    shape = shape_of(x)
    return reshape(x, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def _params(
    ndim: int,
    strides: int = 1,
    padding: tuple[int, int] = (0, 0),
    input_dilation: int = 1,
    kernel_dilation: int = 1,
) -> dict[str, Any]:
    return {
        "strides": (strides,) * ndim,
        "padding": (padding,) * ndim,
        "input_dilation": (input_dilation,) * ndim,
        "kernel_dilation": (kernel_dilation,) * ndim,
    }


_SAMPLES: tuple[tuple[Shape, Shape, dict[str, Any]], ...] = (
    ((1, 2, 2, 6), (1, 3, 2, 3), _params(1)),
    ((1, 2, 1, 5), (1, 2, 1, 2), _params(1, strides=2, padding=(1, 2))),
    ((1, 1, 2, 4), (1, 2, 2, 3), _params(1, padding=(-1, 3), input_dilation=2)),
    ((2, 1, 2, 7), (2, 1, 2, 2), _params(1, strides=2, kernel_dilation=3)),
    ((1, 2, 1, 4, 6), (1, 2, 1, 3, 3), _params(2, padding=(1, 1))),
    ((1, 1, 2, 3, 4), (1, 1, 2, 2, 3), _params(2, strides=2, padding=(2, 1), input_dilation=3)),
    ((1, 1, 1, 2, 3, 2), (1, 2, 1, 2, 1, 2), _params(3, padding=(0, 1))),
    ((1, 2, 3), (1, 2, 3), _params(0)),
    ((1, 1, 2, 2), (1, 1, 2, 4), _params(1)),
    ((1, 0, 2, 3), (1, 1, 2, 2), _params(1)),
)
