"""What the laws measure with: comparison by dtype, random directions, numerical derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Values = Sequence[Any]
Function = Callable[..., Sequence[Any]]

TOLERANCES = {2: 1e-2, 4: 2e-5, 8: 1e-11}
"""Relative error allowed between two ways to compute one value, by bytes of a real number."""

FIRST_ORDER = 1e-7
"""Relative error of the five-point difference quotient below, with room for steep samples."""

SECOND_ORDER = 1e-5

STEP = 2.0**-10


def real_bytes(dtype: np.dtype[Any]) -> int:
    """Bytes of the real numbers that a dtype is made of; 8 for what is exact."""
    if dtype.kind not in "fc":
        return 8
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)


def assert_same_type(actual: Any, expected: Any, what: str = "value") -> None:
    """Both have one shape and one dtype."""
    seen, wanted = describe(actual), describe(expected)
    assert seen == wanted, f"{what} is {seen} and should be {wanted}"


def describe(x: Any) -> str:
    """Shape and dtype, for messages."""
    x = np.asarray(x)
    return f"{x.dtype.name}{list(x.shape)}"


def assert_close(actual: Any, expected: Any, tolerance: float | None = None, what: str = "value") -> None:
    """Equal in shape, dtype and, up to rounding, value; the error is relative to the largest element."""
    assert_same_type(actual, expected, what)
    assert_near(actual, expected, tolerance, what)


def assert_near(actual: Any, expected: Any, tolerance: float | None = None, what: str = "value") -> None:
    """As `assert_close`, whatever the dtypes."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what} has shape {actual.shape} and should have {expected.shape}"
    if tolerance is None:
        coarse = min((actual.dtype, expected.dtype), key=real_bytes)
        tolerance = TOLERANCES[real_bytes(coarse)]
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    np.testing.assert_allclose(
        actual, expected, rtol=tolerance, atol=tolerance * max(scale, 1.0), err_msg=what
    )


def direction_like(rng: np.random.Generator, x: Any) -> Any:
    """A random tangent of `x`: same shape and dtype, complex where `x` is."""
    x = np.asarray(x)
    t = rng.uniform(-1.0, 1.0, x.shape)
    if x.dtype.kind == "c":
        t = t + 1j * rng.uniform(-1.0, 1.0, x.shape)
    return as_dtype(t, x.dtype)


def as_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    """A value in another dtype; rank 0 gives a NumPy scalar."""
    return np.asarray(x).astype(dtype)[()]


def is_inexact(x: Any) -> bool:
    """Whether a value may have a tangent."""
    return np.asarray(x).dtype.kind in "fc"


def moved(values: Values, tangents: Values, step: float) -> list[Any]:
    """``values + step * tangents``, where a tangent of None moves nothing."""
    with np.errstate(all="ignore"):
        return [
            x if t is None else as_dtype(x + step * t, np.asarray(x).dtype)
            for x, t in zip(values, tangents, strict=True)
        ]


def numerical_derivative(
    function: Function, values: Values, tangents: Values, step: float = STEP
) -> list[Any]:
    """The derivative along `tangents` by a fourth-order central difference; None for exact outputs."""
    far, near = 2.0 * step, step
    with np.errstate(all="ignore"):
        samples = [function(*moved(values, tangents, h)) for h in (-far, -near, near, far)]
        return [
            (f1 - f4 + 8.0 * (f3 - f2)) / (12.0 * step) if is_inexact(f1) else None
            for f1, f2, f3, f4 in zip(*samples, strict=True)
        ]


def pairing(covectors: Values, vectors: Values) -> float:
    """The real part of the sum of products, without conjugation: what a transpose must keep."""
    total = 0.0
    for c, v in zip(covectors, vectors, strict=True):
        if c is not None and v is not None:
            total += float(np.sum(np.asarray(c, np.complex128) * v).real)
    return total


def snapshot(values: Values) -> list[bytes]:
    """The bytes of every value, to notice a write."""
    return [np.asarray(x).tobytes() for x in values]
