"""Discrete Fourier transforms: complex over axes, real to half a spectrum, half a spectrum to real.

All three are linear, and their transposes are among them. A spectrum ``S`` of n real numbers is Hermitian,
``S[n - k] = conj(S[k])``, so its first half, ``n // 2 + 1`` coefficients, says everything; the inner ones
stand for two. Transposes pair by the real part of a product without conjugation (see `docs/conventions.md`),
so they keep the sign in the exponent, and count the inner coefficients once where the transform counts them
twice: `doubled` says which.

Small transforms are NumPy's, large ones SciPy's, which are faster but take time to import, on several threads
where that pays; long lines are split between threads (`funcgrad.ops.signal.long_fft`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.structure import LinearUnary, lines_text
from funcgrad.ops.elementwise.complexes import complex_dtype, real, real_dtype
from funcgrad.ops.signal import long_fft
from funcgrad.processors import thread_count
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import ErrorSample, Sample, integers, normal
from funcgrad.types import Array

SMALL = 8192
"""Arrays of fewer elements are transformed by NumPy: below, SciPy gains nothing."""


SHARED = 1 << 18
"""Arrays of fewer elements are not worth a second thread."""

FEW = 4
"""More long lines than these are divided whole: splitting each costs a further pass."""


def library(size: int) -> ModuleType:
    """``numpy.fft`` or ``scipy.fft``, by the number of elements alone, so that results do not vary."""
    return np.fft if size < SMALL else import_module("scipy.fft")


def workers(size: int) -> dict[str, int]:
    """SciPy's argument for the number of threads that transform `size` elements."""
    return {"workers": thread_count()} if size >= SHARED else {}


def is_long(size: int, axis: int, shape: Sequence[int]) -> bool:
    """Whether the lines of `size` elements along an axis are so long and few that they are split."""
    return long_fft.splits(size) and math.prod(shape[:axis]) * math.prod(shape[axis + 1 :]) <= FEW


def by_lines(transform: Callable[..., Any], x: Array, axis: int, *options: object) -> Array:
    """A transform of lines, applied to each line of `x` along an axis.

    >>> by_lines(np.cumsum, np.ones((2, 3)), 0)
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    lines = np.moveaxis(x, axis, -1)
    found = [transform(line, *options) for line in lines.reshape(-1, x.shape[axis])]
    if len(found) == 1:
        return found[0].reshape(replaced(x.shape, axis, len(found[0])))
    return np.moveaxis(np.stack(found).reshape(*lines.shape[:-1], -1), -1, axis)


def scaled(x: Array, factor: float) -> Array:
    """`x`, which nobody else holds, times a factor."""
    if factor != 1.0:
        x *= factor
    return x


class Transform(LinearUnary):
    """What the three share: a sign in the exponent, a norm, and what they refuse.

    ``inverse`` says that the exponent is positive, and ``norm`` where NumPy divides by the size: at the
    inverse (``backward``), half at both (``ortho``), or at the other (``forward``).
    """

    kinds: ClassVar[str] = "fc"
    of_nothing = "0.0"
    inverse: bool
    norm: str

    def lines_call(self, function: str, shape: Shape, axis: int, rest: str = "") -> tuple[str, str]:
        """A call along an axis of arrays of this shape: the sign in the exponent, a factor, and the rest."""
        n, sign, factor = shape[axis], "1" if self.inverse else "-1", "1.0"
        if self.norm == "ortho":
            factor = f"1.0 / math.sqrt({n})"
        elif (self.norm == "backward") == self.inverse:
            factor = f"1.0 / {n}"
        return function, f"{lines_text(shape, axis)}, {sign}, {factor}{rest}"

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        axes = self.params["axes"] if "axes" in self.params else (self.params["axis"],)
        larger = inputs[0] if inputs[0].size > outputs[0].size else outputs[0]
        return 5.0 * larger.size * math.log2(max(math.prod([larger.shape[a] for a in axes]), 2))

    def factor(self, size: int) -> float:
        """What the sum is multiplied with."""
        if self.norm == "ortho":
            return float(1 / np.sqrt(size))
        return 1 / size if (self.norm == "backward") == self.inverse else 1.0

    def check(self, x: Aval, axes: Sequence[int], kinds: str, what: str) -> None:
        """Raise unless `x` has the axes, not empty, and a dtype of these kinds."""
        if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes):
            raise ShapeError(f"{self.name}: axes {tuple(axes)} are not distinct axes of {x}")
        if any(x.shape[a] < 1 for a in axes):
            raise ShapeError(f"{self.name} of {x}: an axis without elements has no transform")
        if x.dtype.kind not in kinds or x.dtype == np.float16:
            raise DtypeError(f"{self.name} of {x}: must be cast to {what} numbers first")


class FFT(Transform):
    """The discrete Fourier transform over ``axes``, of complex numbers, or of real ones as complex ones."""

    name = "fft"
    parameters = ("axes", "inverse", "norm")
    axes: tuple[int, ...]

    def infer(self, *avals: Aval) -> Aval:
        self.check(avals[0], self.axes, "fc", "floating-point")
        return Aval(avals[0].shape, complex_dtype(avals[0].dtype))

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        if len(self.axes) == 1 and is_long(x.shape[self.axes[0]], self.axes[0], x.shape):
            found = by_lines(long_fft.fft, x, self.axes[0], self.inverse)
            return scaled(found, self.factor(x.shape[self.axes[0]]))
        fft = library(x.size)
        transform = fft.ifftn if self.inverse else fft.fftn
        return transform(x, axes=self.axes, norm=self.norm, **workers(x.size))

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if avals[0].size >= SMALL:
            return None
        function = "ifftn" if self.inverse else "fftn"
        return f"np.fft.{function}({names[0]}, axes={self.axes}, norm={self.norm!r})"

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        # The last axis first.
        return [self.lines_call("fourier_lines", out.shape, a) for a in self.axes[::-1]]

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        found = self.bind(cotangent)
        return (found if inputs[0].aval.dtype.kind == "c" else real(found),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return FFT(tuple([a + 1 for a in self.axes]), self.inverse, self.norm).bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), params={"axes": (0,), "inverse": False, "norm": "backward"}),
            Sample(normal(2, 3, 2), params={"axes": (0, 2), "inverse": True, "norm": "backward"}),
            Sample(normal(4), params={"axes": (0,), "inverse": True, "norm": "forward"}),
            Sample(normal(3, 2), params={"axes": (1, 0), "inverse": False, "norm": "ortho"}),
            Sample(normal(0, 3), params={"axes": (1,), "inverse": False, "norm": "forward"}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        plain = {"inverse": False, "norm": "backward"}
        return (
            ErrorSample(normal(3), params={"axes": (1,), **plain}, words="not distinct", error=ShapeError),
            ErrorSample(normal(0), params={"axes": (0,), **plain}, words="no transform", error=ShapeError),
            ErrorSample(
                integers(0, 3, 3), params={"axes": (0,), **plain}, words="must be cast", error=DtypeError
            ),
        )


class RealFFT(Transform):
    """The first half of the spectrum of real numbers along an axis.

    Where ``doubled``, times 2 for the inner coefficients: the transpose of `HermitianFFT` as it is used.
    """

    name = "real_fft"
    parameters = ("axis", "inverse", "doubled", "norm")
    kinds = "f"
    axis: int
    doubled: bool

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        self.check(x, (self.axis,), "f", "real")
        return Aval(replaced(x.shape, self.axis, x.shape[self.axis] // 2 + 1), complex_dtype(x.dtype))

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        if is_long(x.shape[self.axis], self.axis, x.shape):
            out = by_lines(long_fft.real_fft, x, self.axis, self.inverse)
            out = scaled(out, self.factor(x.shape[self.axis]))
        else:
            fft = library(x.size)
            transform = fft.ihfft if self.inverse else fft.rfft
            out = transform(x, axis=self.axis, norm=self.norm, **workers(x.size))
        if self.doubled:
            inner = np.moveaxis(out, self.axis, -1)[..., 1 : (x.shape[self.axis] + 1) // 2]
            inner += inner
        return out

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if self.doubled or avals[0].size >= SMALL:
            return None
        function = "ihfft" if self.inverse else "rfft"
        return f"np.fft.{function}({names[0]}, axis={self.axis}, norm={self.norm!r})"

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        return (self.lines_call("real_fourier_lines", given[0].shape, self.axis, f", {self.doubled}"),)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        size = inputs[0].aval.shape[self.axis]
        return (HermitianFFT(size, self.axis, self.inverse, self.doubled, self.norm).bind(cotangent),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return RealFFT(self.axis + 1, self.inverse, self.doubled, self.norm).bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        plain = {"axis": 0, "inverse": False, "doubled": False, "norm": "backward"}
        return (
            Sample(normal(6), params=plain),
            Sample(normal(2, 5), params={**plain, "axis": 1, "inverse": True}),
            Sample(normal(5, 2), params={**plain, "doubled": True, "norm": "ortho"}),
            Sample(normal(2, 4), params={**plain, "axis": 1, "inverse": True, "doubled": True}),
            Sample(normal(1), params={**plain, "doubled": True, "norm": "forward"}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        plain = {"axis": 0, "inverse": False, "doubled": False, "norm": "backward"}
        return (
            ErrorSample(normal(3), params={**plain, "axis": 1}, words="not distinct axes", error=ShapeError),
            ErrorSample(integers(0, 3, 3), params=plain, words="must be cast", error=DtypeError),
        )


class HermitianFFT(Transform):
    """The ``size`` real numbers along an axis that have the given half of a spectrum.

    Where not ``doubled``, the inner coefficients count once: the transpose of `RealFFT` as it is used.
    """

    name = "hermitian_fft"
    parameters = ("size", "axis", "inverse", "doubled", "norm")
    kinds = "c"
    size: int
    axis: int
    doubled: bool

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        self.check(x, (self.axis,), "c", "complex")
        half = self.size // 2 + 1
        if x.shape[self.axis] != half:
            raise ShapeError(
                f"{self.name} of {x} along axis {self.axis}: size {self.size} has {half} coefficients"
            )
        return Aval(replaced(x.shape, self.axis, self.size), real_dtype(x.dtype))

    def evaluate(self, *values: Array) -> Array:
        x, n, axis = values[0], self.size, self.axis
        if is_long(n, axis, x.shape):
            out = scaled(by_lines(long_fft.hermitian_fft, x, axis, n, self.inverse), self.factor(n))
        else:
            fft = library(x.size)
            transform = fft.irfft if self.inverse else fft.hfft
            out = transform(x, n, axis=axis, norm=self.norm, **workers(x.size))
        if not self.doubled:
            ends, scale = np.moveaxis(x.real, axis, -1), x.real.dtype.type(0.5 * self.factor(n))
            first = ends[..., :1] * scale
            last = ends[..., -1:] * scale if n % 2 == 0 else 0 * first
            average_with(np.moveaxis(out, axis, -1), first + last, first - last)
        return out

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if not self.doubled or avals[0].size >= SMALL:
            return None
        function = "irfft" if self.inverse else "hfft"
        return f"np.fft.{function}({names[0]}, {self.size}, axis={self.axis}, norm={self.norm!r})"

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        return (self.lines_call("hermitian_fourier_lines", out.shape, self.axis, f", {self.doubled}"),)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (RealFFT(self.axis, self.inverse, self.doubled, self.norm).bind(cotangent),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        moved = HermitianFFT(self.size, self.axis + 1, self.inverse, self.doubled, self.norm)
        return moved.bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        plain = {"axis": 0, "inverse": True, "doubled": True, "norm": "backward"}
        return (
            Sample(normal(4), params={"size": 6, **plain}),
            Sample(normal(2, 3), params={"size": 5, **plain, "axis": 1, "inverse": False}),
            Sample(normal(3, 2), params={"size": 5, **plain, "doubled": False, "norm": "ortho"}),
            Sample(normal(2, 3), params={"size": 4, **plain, "axis": 1, "doubled": False}),
            Sample(normal(1), params={"size": 1, **plain, "doubled": False, "inverse": False}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        plain = {"size": 4, "axis": 0, "inverse": True, "doubled": True, "norm": "backward"}
        return (ErrorSample(normal(3), params=plain, words="must be cast", error=DtypeError),)


def average_with(out: Array, even: Array, odd: Array) -> None:
    """Halve `out`, and add one number to its even and another to its odd elements along the last axis.

    >>> x = np.array([2.0, 4.0, 6.0])
    >>> average_with(x, np.array([10.0]), np.array([20.0]))
    >>> print(x)
    [11. 22. 13.]
    """
    if out.flags.c_contiguous and out.shape[-1] % 2 == 0:
        # Pairs of neighbours as complex numbers: twice as fast as two passes with a stride.
        pairs = out.view(complex_dtype(out.dtype))
        pairs *= 0.5
        pairs += even + 1j * odd
        return
    out *= 0.5
    out[..., 0::2] += even
    out[..., 1::2] += odd


def replaced(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    """`shape` with another size along one axis.

    >>> replaced((2, 3), 1, 5)
    (2, 5)
    """
    return (*shape[:axis], size, *shape[axis + 1 :])
