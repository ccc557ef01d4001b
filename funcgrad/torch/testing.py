"""``torch.testing``: comparisons that say where two values differ, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.torch.core.dtypes import numpy_dtype, torch_dtype
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, DTypeLike

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# Relative and absolute; what is not here is compared exactly.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}


class _Rules(NamedTuple):
    """What counts as close."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_dtype: bool
    check_stride: bool


def assert_close(
    actual: object,
    expected: object,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere.

    Tensors, arrays, numbers, and sequences and mappings of them. Tolerances depend on the dtype unless both
    are given; shapes and dtypes have to agree.

    >>> fg.torch.testing.assert_close(fg.torch.ones(2), fg.torch.tensor([1.0, 1.5]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)
    """
    if (rtol is None) != (atol is None):
        absent = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {absent}.")
    if not allow_subclasses and type(actual) is not type(expected):
        _no_pair(actual, expected)
    text, where = _difference(actual, expected, _Rules(rtol, atol, equal_nan, check_dtype, check_stride), "")
    if not text:
        return
    if where:
        text += f"\n\nThe failure occurred for item {where}"
    if msg is not None:
        text = msg(text) if callable(msg) else msg
    raise AssertionError(text)


def _no_pair(actual: Anything, expected: Anything) -> None:
    raise TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )


def _difference(actual: Anything, expected: Anything, rules: _Rules, where: str) -> tuple[str, str]:
    """What differs first, and at which item; empty where nothing does."""
    both = (actual, expected)
    if actual is None and expected is None:
        return "", ""
    if all(isinstance(x, bool | np.bool_) for x in both):
        return ("" if actual == expected else f"Booleans mismatch: {actual} is not {expected}"), where
    if all(isinstance(x, int | float | complex | np.number) for x in both):
        return _difference_of_numbers(actual, expected, rules), where
    if all(isinstance(x, Tensor) for x in both) or all(isinstance(x, np.ndarray) for x in both):
        return _difference_of_arrays(_array(actual), _array(expected), rules), where
    if any(isinstance(x, str | bytes) for x in both):
        _no_pair(actual, expected)
    return _difference_of_containers(actual, expected, rules, where)


def _array(x: Anything) -> Array:
    return x.detach().numpy() if isinstance(x, Tensor) else x


def _difference_of_containers(
    actual: Anything, expected: Anything, rules: _Rules, where: str
) -> tuple[str, str]:
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        absent, added = set(expected) - set(actual), set(actual) - set(expected)
        if absent or added:
            text = "The keys of the mappings do not match:"
            text += f"\nMissing keys in the actual mapping: {sorted(absent)}" if absent else ""
            text += f"\nAdditional keys in the actual mapping: {sorted(added)}"
            return text, where
        keys: Any = list(actual)
    elif isinstance(actual, Sequence) and isinstance(expected, Sequence):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where
        keys = range(len(actual))
    else:
        _no_pair(actual, expected)
    for key in keys:
        text, inner = _difference(actual[key], expected[key], rules, f"{where}[{key!r}]")
        if text:
            return text, inner
    return "", ""


def _tolerances(rules: _Rules, *dtypes: DTypeLike) -> tuple[float, float]:
    if rules.rtol is not None and rules.atol is not None:
        return rules.rtol, rules.atol
    found = [_TOLERANCES.get(dtype.name, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


def _difference_of_numbers(actual: Anything, expected: Anything, rules: _Rules) -> str:
    if rules.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = _tolerances(rules, np.asarray(actual).dtype, np.asarray(expected).dtype)
    if _close(np.asarray(actual), np.asarray(expected), rtol, atol, rules.equal_nan).all():
        return ""
    return _words_for_numbers(actual, expected, rtol, atol)


def _words_for_numbers(actual: Anything, expected: Anything, rtol: float, atol: float) -> str:
    absolute = abs(actual - expected)
    relative = absolute / abs(expected) if expected != 0 else float("inf")
    exact = rtol == atol == 0
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {absolute}{_allowed(atol, exact)}\n"
        f"Relative difference: {relative}{_allowed(rtol, exact)}"
    )


def _allowed(tolerance: float, exact: bool) -> str:
    return "" if exact else f" (up to {tolerance} allowed)"


def _close(actual: Anything, expected: Anything, rtol: float, atol: float, equal_nan: bool) -> Array:
    with np.errstate(all="ignore"):
        found = np.isclose(actual, expected, rtol, atol, equal_nan) if atol or rtol else actual == expected
        if equal_nan and actual.dtype.kind in "fc" and expected.dtype.kind in "fc":
            found |= np.isnan(actual) & np.isnan(expected)
    return np.asarray(found)


def _difference_of_arrays(actual: Anything, expected: Anything, rules: _Rules) -> str:
    if actual.shape != expected.shape:
        shapes = f"{Size(actual.shape)} != {Size(expected.shape)}"
        return f"The values for attribute 'shape' do not match: {shapes}."
    if rules.check_dtype and actual.dtype != expected.dtype:
        dtypes = f"{torch_dtype(actual.dtype)} != {torch_dtype(expected.dtype)}"
        return f"The values for attribute 'dtype' do not match: {dtypes}."
    if rules.check_stride and actual.strides != expected.strides:
        strides = [tuple([step // x.itemsize for step in x.strides]) for x in (actual, expected)]
        return f"The values for attribute 'stride()' do not match: {strides[0]} != {strides[1]}."
    rtol, atol = _tolerances(rules, actual.dtype, expected.dtype)
    if actual.dtype != expected.dtype:
        common = np.result_type(actual, expected)
        actual, expected = actual.astype(common), expected.astype(common)
    close = _close(actual, expected, rtol, atol, rules.equal_nan)
    if close.all():
        return ""
    if not close.shape:
        return _words_for_numbers(actual.item(), expected.item(), rtol, atol)
    return _words_for_arrays(actual, expected, close, rtol, atol)


def _words_for_arrays(actual: Anything, expected: Anything, close: Anything, rtol: float, atol: float) -> str:
    exact = rtol == atol == 0
    if actual.dtype.kind in "bu" or actual.dtype.itemsize < 4:
        actual, expected = (_widened(x) for x in (actual, expected))
    with np.errstate(all="ignore"):
        absolute = np.where(close, 0, np.abs(actual - expected))
        relative = np.where(close, 0, absolute / np.abs(expected))
    if actual.dtype.kind == "i":
        relative = relative.astype(np.float32)
    wrong = int(close.size - close.sum())
    lines = [f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})"]
    for word, values, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        at = tuple(int(k) for k in np.unravel_index(int(np.argmax(values)), values.shape))
        most = values[at].item()
        lines.append(f"Greatest {word} difference: {most} at index {at}{_allowed(tolerance, exact)}")
    return f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n" + "\n".join(lines)


def _widened(x: Anything) -> Array:
    """Values whose differences are representable."""
    return x.astype(np.float32 if x.dtype.kind == "f" else np.int64)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` under its old name: of numbers alone, with wider tolerances.

    >>> fg.torch.testing.assert_allclose(fg.torch.ones(2), fg.torch.ones(2))
    """
    if rtol is None and atol is None:
        name = str(getattr(actual, "dtype", "torch.float32"))[6:]
        rtol, atol = _OLD_TOLERANCES.get(name, (0.0, 0.0))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )


_OLD_TOLERANCES = {
    "float16": (1e-3, 1e-3),
    "float32": (1e-4, 1e-5),
    "float64": (1e-5, 1e-8),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-5, 1e-8),
}


def make_tensor(
    *shape: Anything,
    dtype: DTypeLike,
    device: object = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: object = None,
) -> Tensor:
    """Random elements from `low` to below `high`: those that PyTorch draws after the same seed.

    Between -9 and 9 if no bounds are given (from 0 to 9 without signs, False and True for truth values).
    ValueError where bounds do not fit, or where the dtype has no gradients and they are asked for.

    >>> _ = fg.torch.manual_seed(0)
    >>> fg.torch.testing.make_tensor(2, dtype=fg.torch.float32, device="cpu")
    tensor([-0.0674,  4.8280])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    wanted = numpy_dtype(dtype)
    kind = wanted.kind
    if requires_grad and kind not in "fc":
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )
    if noncontiguous and sizes:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    first = (0 if kind in "bu" else -9) if low is None else low
    last = (2 if kind == "b" else 10 if kind in "iu" else 9) if high is None else high
    if first > last:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    found = _drawn(sizes, dtype, kind, first, last)
    if noncontiguous and sizes:
        found = found[..., ::2]
    if exclude_zero:
        found[found == 0] = 1 if kind in "biu" else float(np.finfo(wanted).tiny)
    return found.requires_grad_() if requires_grad else found


def _drawn(sizes: tuple[int, ...], dtype: DTypeLike, kind: str, low: float, high: float) -> Tensor:
    if kind in "biu":
        bounds = int(np.floor(low)), int(np.ceil(high))
        return FUNCTIONS["randint"](*bounds, sizes, dtype=dtype)  # type: ignore[no-any-return]
    made = FUNCTIONS["empty"](sizes, dtype=dtype)
    if kind == "c":
        FUNCTIONS["view_as_real"](made).uniform_(low, high)
        return made  # type: ignore[no-any-return]
    return made.uniform_(low, high)  # type: ignore[no-any-return]
