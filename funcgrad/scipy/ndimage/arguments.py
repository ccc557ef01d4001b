"""What filters and interpolations share: who answers, dtypes, modes and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.reducing.axes import normalized_axis
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike, Number

PADDING = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}
"""How NumPy calls the modes of filters."""


scipys = originals_of("ndimage")
"""SciPy's functions and classes by name."""


def is_traced(*arguments: object) -> bool:
    """Whether an argument, or an element of a list, is traced."""
    return (
        recorder_of([asoperand(x) for x in arguments if x is not None and not isinstance(x, str)]) is not None
    )


def image(name: str, x: ArrayLike, output: DTypeLike) -> tuple[Any, np.dtype[Any]]:
    """The image in double precision, and the dtype of the result; raises for arrays to write into."""
    x = asoperand(x)
    dtype = aval(x).dtype
    if isinstance(output, np.ndarray):
        raise refused(f"{name} with an array for output=", "Take the array that it returns.")
    wanted = dtype if output is None else np.dtype(output)
    if wanted.kind not in "fc":
        raise refused(f"{name} of {aval(x)} with integer results", "Convert the image to float64 first.")
    double = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
    return cast(x, double), np.result_type(wanted, np.complex64) if dtype.kind == "c" else np.dtype(wanted)


def with_weights(dtype: np.dtype[Any], weights: ArrayLike) -> np.dtype[Any]:
    """The dtype of the result, complex where the weights are, as SciPy promotes it."""
    return np.result_type(dtype, np.complex64) if aval(weights).dtype.kind == "c" else dtype


def refused(what: str, remedy: str) -> UnsupportedFunctionError:
    """The error for a way of calling that has no derivative here."""
    return UnsupportedFunctionError(
        f"scipy.ndimage.{what} is not supported on traced values",
        source=Source(*user_location()),
        remedy=remedy,
    )


def for_each(value: ArrayLike, count: int) -> list[Any]:
    """One value for each axis."""
    if isinstance(value, str) or value is None or not hasattr(value, "__len__") or not shape_or_length(value):
        return [value] * count
    if len(value) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return [value[k] for k in range(count)]


def shape_or_length(value: ArrayLike) -> bool:
    """Whether there are several values."""
    return shape_of(value) != () if hasattr(value, "shape") else True


def axes_of(axes: AxisLike, ndim: int) -> list[int]:
    """The axes that are meant."""
    if axes is None:
        return list(range(ndim))
    found = [normalized_axis(a, ndim) for a in (axes if isinstance(axes, Sequence) else [axes])]
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return found


def padded(x: ArrayLike, widths: Sequence[tuple[int, int]], mode: str, cval: Number) -> Array:
    """An array continued as the mode says."""
    if mode not in PADDING:
        raise RuntimeError("boundary mode not supported")
    if not any(before or after for before, after in widths):
        return x
    if PADDING[mode] == "constant":
        return fnp.pad(x, widths, constant_values=cval)
    return fnp.pad(x, widths, PADDING[mode])
