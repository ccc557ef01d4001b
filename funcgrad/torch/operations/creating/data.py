"""Making tensors of data: numbers, lists, arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.dtypes import numpy_dtype, promote, torch_dtype, weak_dtype
from funcgrad.torch.core.meta import is_meta, meta_array, on_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SETTINGS
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.core.unsupported import UNSUPPORTED
from funcgrad.torch.operations.registry import published
from funcgrad.types import Anything, Array, ArrayLike, Device, DTypeLike, ShapeLike

_KINDS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, "
    "hpu, mtia, privateuseone"
)
"""The devices that PyTorch has names for."""


def device_of(device: Device = None) -> str:
    """The kind of a device, "cpu" or "meta": the default one for None, RuntimeError for what is not here."""
    if device is None:
        return MODES.device
    name = str(device).split(":")[0]
    if name not in _KINDS.split(", "):
        raise RuntimeError(
            f"Expected one of {_KINDS} device type at start of device string: {name} (here: cpu or meta)"
        )
    if name not in ("cpu", "meta"):
        reason = UNSUPPORTED.get(name, "only the CPU is supported; leave the argument out")
        raise RuntimeError(f"funcgrad.torch does not support device={str(device)!r}: {reason}")
    return name


def made_on(device: Device, make: Callable[..., Any], shape: ShapeLike, dtype: np.dtype[Any]) -> Array:
    """``make(shape, dtype)``, or an array without memory where the device is `meta`."""
    return meta_array(shape, dtype) if device_of(device) == "meta" else make(shape, dtype)


def device_like(t: Tensor, options: Mapping[str, Any]) -> str:
    """The kind of the device that these options name, else that of the tensor."""
    device = options.get("device")
    return device_of(device) if device is not None else "meta" if is_meta(t) else "cpu"


_IGNORED = frozenset({"layout", "pin_memory", "memory_format", "names", "generator"})


def finished(
    value: ArrayLike, requires_grad: bool = False, device: Device = None, called: str = "", **ignored: object
) -> Tensor:
    """A new leaf; RuntimeError where it cannot require grad, TypeError for words that no one knows."""
    for word in ignored:
        if word not in _IGNORED:
            raise TypeError(f"{called}() got an unexpected keyword argument '{word}'")
    if device_of(device) == "meta":
        value = on_meta(value)
    layout = ignored.get("layout")
    if layout is not None and "strided" not in str(layout):
        raise RuntimeError(f"funcgrad.torch does not support layout={layout}: {UNSUPPORTED['to_sparse']}")
    t = wrap(value)
    if requires_grad:
        if value.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._rg = True
    return t


def _refuse_data(data: Anything) -> None:
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if data is None or not isinstance(data, Sequence | np.generic | bool | int | float | complex):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def _scan(data: Anything, found: list[Any]) -> None:
    """Collect the dtypes of the numbers in nested sequences."""
    if isinstance(data, Tensor):
        if data._value.size != 1:
            _refuse_part(data)
        found.append(data._value.dtype)
    elif isinstance(data, np.ndarray | np.generic):
        found.append(data.dtype)
    elif isinstance(data, bool | int | float | complex):
        found.append(weak_dtype(data))
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        for x in data:
            _scan(x, found)
    else:
        _refuse_data(data)


def _refuse_part(t: Tensor) -> None:
    if t._value.dtype.kind in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    raise ValueError("only one element tensors can be converted to Python scalars")


def _plain(data: Anything) -> Anything:
    """Nested sequences with tensors replaced by their values."""
    if isinstance(data, Tensor):
        return data.item() if is_meta(data) else data._value
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [_plain(x) for x in data]
    return data


def _depths(data: Anything, at: int = 0) -> None:
    """Raise ValueError, as PyTorch does, for ragged sequences."""
    if not isinstance(data, Sequence) or isinstance(data, str) or not len(data):
        return
    sizes = [len(x) if isinstance(x, Sequence) else None for x in data]
    if sizes[0] is not None:
        for size in sizes:
            if size is None:
                raise TypeError(f"not a sequence")  # noqa: F541
            if size != sizes[0]:
                raise ValueError(f"expected sequence of length {sizes[0]} at dim {at + 1} (got {size})")
        for x in data:
            _depths(x, at + 1)
    elif any(size is not None for size in sizes):
        culprit = next(x for x in data if isinstance(x, Sequence))
        kind = type(culprit).__name__
        if isinstance(data[0], int):
            raise TypeError(f"'{kind}' object cannot be interpreted as an integer")
        raise TypeError(f"must be real number, not {kind}")


def array_from(data: ArrayLike, dtype: DTypeLike) -> Array:  # noqa: PLR0911, C901 - one for each kind of data
    """A new array of the data, in a NumPy dtype or the one PyTorch infers."""
    if isinstance(data, Tensor):
        value: Any = data._value
        if not isinstance(value, np.ndarray | np.generic):
            return value.copy() if dtype is None else value.astype(dtype)
        return np.array(value, dtype)
    if isinstance(data, np.ndarray):
        torch_dtype(data.dtype)
        return np.array(data, dtype)
    if isinstance(data, np.generic):
        return np.array(data, dtype)
    if isinstance(data, Tracer):
        traced: Any = data
        return traced if dtype is None else traced.astype(dtype)
    if dtype is None:
        dtype = inferred_dtype(data)
    elif not isinstance(data, bool | int | float | complex):
        _scan(data, [])
    _depths(data)
    if isinstance(data, float) and dtype.kind in "iu" and np.isnan(data):
        raise ValueError("cannot convert float NaN to integer")
    plain = _plain(data)
    if _has_tracers(plain):
        return np.asarray(plain).astype(dtype)
    with np.errstate(all="ignore"):
        try:
            return np.array(plain, dtype)
        except OverflowError:
            if dtype.kind in "iu" and dtype.itemsize < 8:
                return _wrapped(plain, dtype)
            raise ValueError("Overflow when unpacking long long") from None
        except TypeError:
            return _in_kind(np.array(plain), dtype)


def _in_kind(found: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Array:
    if found.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError("must be real number, not complex")
    return found.astype(dtype)


def _wrapped(plain: Anything, dtype: np.dtype[Any]) -> Array:
    """Negative numbers in unsigned dtypes wrap; RuntimeError for what does not fit at all."""
    wide = np.array(plain)
    most = np.iinfo(dtype).max
    if wide.dtype.kind not in "iu" or (wide > most).any() or (wide < -most - 1).any():
        raise RuntimeError(f"value cannot be converted to type {_c_name(dtype)} without overflow")
    return wide.astype(dtype)


def _c_name(dtype: np.dtype[Any]) -> str:
    return {"int8": "int8_t", "int16": "int16_t", "int32": "int"}.get(dtype.name, dtype.name)


def _has_tracers(data: Anything) -> bool:
    if isinstance(data, list):
        return any(_has_tracers(x) for x in data)
    return type(data) is Tracer


def inferred_dtype(data: ArrayLike) -> np.dtype[Any]:
    """The dtype PyTorch gives nested sequences of numbers."""
    found: list[Any] = []
    _scan(data, found)
    if not found:
        return SETTINGS.default_dtype
    dtype = found[0]
    for other in found[1:]:
        dtype = promote(dtype, other)
    return dtype  # type: ignore[no-any-return]


def _given(dtype: DTypeLike) -> Anything:
    return None if dtype is None else numpy_dtype(dtype)


@published()
def tensor(
    data: ArrayLike,
    *,
    dtype: DTypeLike = None,
    device: Device = None,
    requires_grad: object = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of the data: numbers, nested sequences, an array or a tensor.

    >>> fg.torch.tensor([[1, 2], [3, 4]]) * 0.5
    tensor([[0.5000, 1.0000],
            [1.5000, 2.0000]])
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    if not isinstance(requires_grad, bool):
        kind = type(requires_grad).__name__
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {kind}")
    return finished(array_from(data, _given(dtype)), requires_grad, device)


@published("as_tensor")
def _as_tensor(data: Anything, dtype: DTypeLike = None, device: Device = None) -> Tensor:
    """A tensor of the data: the tensor itself or one on the array's memory where that is possible."""
    if isinstance(data, Tensor):
        wanted = data.dtype if dtype is None else dtype
        return data.to(wanted if device is None else device, wanted)
    if (
        device_of(device) == "cpu"
        and isinstance(data, np.ndarray)
        and (dtype is None or data.dtype == numpy_dtype(dtype))
    ):
        return from_numpy(data)
    return finished(array_from(data, _given(dtype)), device=device)


@published("asarray")
def _asarray(
    obj: Anything,
    *,
    dtype: DTypeLike = None,
    device: Device = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of an object, copied only where that is needed or asked for."""
    found = (
        tensor(obj, dtype=dtype, device=device)
        if copy and not isinstance(obj, Tensor)
        else _as_tensor(obj, dtype, device)
    )
    if copy and isinstance(obj, Tensor):
        found = found.clone()
    return found.requires_grad_() if requires_grad else found


@published()
def from_numpy(array: Operand) -> Tensor:
    """A tensor on the memory of an array: a change of either shows in both."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    torch_dtype(array.dtype)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides "
            "are not currently supported. (You can probably work around this by making a copy of your array "
            " with array.copy().) "
        )
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This "
            "means writing to this tensor will result in undefined behavior. You may want to copy the array "
            "to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program.",
            UserWarning,
            stacklevel=3,
        )
    return wrap(array)


def shape_of(sizes: ShapeLike, name: str = "") -> tuple[int, ...]:
    """A shape given as several ints or one sequence."""
    if len(sizes) == 1 and not isinstance(sizes[0], int | np.integer | Tensor):
        sizes = sizes[0]
    if isinstance(sizes, str) or not hasattr(sizes, "__iter__"):
        kind = type(sizes).__name__
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
    for k, n in enumerate(sizes):
        if isinstance(n, str | float | tuple | list | None):
            raise TypeError(
                f"{name}(): argument 'size' failed to unpack the object at pos {k + 1} with error \"type "
                f'must be tuple of ints,but got {type(n).__name__}"'
            )
    shape = tuple([int(n) for n in sizes])
    for n in shape:
        if n < 0 and name in ("zeros", "full"):
            raise RuntimeError(f"{name}: Dimension size must be non-negative.")
        if n < 0:
            sizes = ", ".join(map(str, shape))
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{sizes}]")
    return shape
