"""From tensors to numbers, lists, arrays and other dtypes, and copies of tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.dtypes import (
    ALIASES,
    ALL_DTYPES,
    TYPE_NAMES,
    dtype,
    numpy_dtype,
    promote,
    torch_dtype,
)
from funcgrad.torch.core.history import op
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.torch.operations.creation import require_cpu
from funcgrad.torch.operations.registry import FUNCTIONS, operation

__all__ = ["device"]


class device:
    """Where a tensor lives: here always the CPU."""

    __module__ = "funcgrad.torch"
    __slots__ = ("index", "type")

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name, _, number = str(type).partition(":")
        require_cpu(name)
        self.type = name
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')"
            if self.index is None
            else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


_CPU = device("cpu")


# -- numbers ----------------------------------------------------------------------------------------------


@method()
def item(self: Tensor) -> Any:
    """The only element as a Python number."""
    value = self._value
    if type(value) is Tracer and not value.has_value():
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
            "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
            "internals, please file a bug report."
        )
    if value.size != 1:
        raise RuntimeError(f"a Tensor with {value.size} elements cannot be converted to Scalar")
    return value.item()


@method()
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return self._value.tolist()


def _scalar(self: Tensor, to: Any) -> Any:
    if self._rg and to is not int:
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first.",
            UserWarning,
            stacklevel=3,
        )
    if self._value.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return self._value.item()


@method("__float__")
def _float(self: Tensor) -> float:
    return float(_scalar(self, float))


@method("__int__")
def _int(self: Tensor) -> int:
    return int(_scalar(self, int))


@method("__complex__")
def _complex(self: Tensor) -> complex:
    return complex(_scalar(self, complex))


@method("__bool__")
def _bool(self: Tensor) -> bool:
    if self._value.size != 1:
        if not self._value.size:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(self._value.reshape(()))


@method("__index__")
def _index(self: Tensor) -> int:
    if self._value.size != 1 or self._value.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self._value.item())


@method("__contains__")
def _contains(self: Tensor, x: Any) -> bool:
    if isinstance(x, Tensor | int | float | complex):
        return bool((self == x).any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(x)}.")


@method("__format__")
def _format(self: Tensor, spec: str) -> str:
    if not self._value.shape and isinstance(self._value, np.ndarray | np.generic):
        return format(self._value.item(), spec)
    if spec:
        raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
    return repr(self)


# -- arrays -----------------------------------------------------------------------------------------------


@method("numpy")
def numpy_array(self: Tensor, *, force: bool = False) -> Any:
    """The array on the tensor's memory; with `force` also of a tensor that requires grad."""
    if self._rg and not force:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return own(self)


@method("__array__")
def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    value = self.numpy()
    if type(value) is Tracer:
        value = np.asarray(value)
    if dtype is not None and value.dtype != dtype:
        return value.astype(dtype)
    return np.array(value) if copy else value


@method("__array_ufunc__")
def _array_ufunc(self: Tensor, ufunc: Any, how: str, *inputs: Any, **options: Any) -> Any:
    """NumPy's ufuncs on tensors return tensors, and are not remembered."""
    arrays = [x.numpy() if isinstance(x, Tensor) else x for x in inputs]
    outs = options.get("out")
    if outs is not None:
        options["out"] = tuple([own(x) if isinstance(x, Tensor) else x for x in outs])
    found = getattr(ufunc, how)(*arrays, **options)
    if outs is not None:
        return outs[0] if len(outs) == 1 else outs
    if isinstance(found, tuple):
        return tuple([wrap(np.asarray(x)) for x in found])
    return wrap(np.asarray(found))


@method("__array_wrap__")
def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    return wrap(np.asarray(array))


@method("__dlpack__")
def _dlpack(self: Tensor, *, stream: Any = None, **options: Any) -> Any:
    if self._rg:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    options.pop("dl_device", None)
    return own(self).__dlpack__(**{k: v for k, v in options.items() if v is not None and k == "copy"})


@method("__dlpack_device__")
def _dlpack_device(self: Tensor) -> Any:
    return own(self).__dlpack_device__()


def from_dlpack(source: Any, **options: Any) -> Tensor:
    """A tensor on the memory of another library's array."""
    array = np.from_dlpack(source)
    if not array.flags.writeable:
        # NumPy imports read-only; the memory is the producer's, and PyTorch would write to it.
        array = np.lib.stride_tricks.as_strided(array, array.shape, array.strides)
        array = _writeable_view(array, source)
    return wrap(array)


def _writeable_view(array: Any, source: Any) -> Any:
    try:
        array.flags.writeable = True
    except ValueError:
        # The address is all that is needed; `source` stays alive with the view.
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        holder = _Holder(interface, source)
        array = np.asarray(holder)
    return array


class _Holder:
    """Keeps the owner of borrowed memory alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = interface
        self.owner = owner


FUNCTIONS["from_dlpack"] = from_dlpack


# -- dtypes -----------------------------------------------------------------------------------------------


@op("ToCopyBackward0")
def _to_copy(x: Any, wanted: Any) -> Any:
    return x.astype(wanted)


def _converted(self: Tensor, wanted: np.dtype[Any], copy: bool = False) -> Any:
    if self._value.dtype == wanted:
        return self.clone() if copy else self
    if self._value.dtype.kind == "c" and wanted.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            UserWarning,
            stacklevel=3,
        )
        return _converted(self.real, wanted)
    return apply(_to_copy, (self,), (wanted,))


@method()
def to(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The tensor in another dtype (or that of another tensor); itself where nothing changes."""
    wanted, copy = None, bool(kwargs.pop("copy", False))
    for x in (*args, *[kwargs.get(k) for k in ("dtype", "device", "other")]):
        if isinstance(x, dtype) or (x in (float, int, bool, complex) and not isinstance(x, bool)):
            wanted = numpy_dtype(x)
        elif isinstance(x, np.dtype):
            wanted = x
        elif isinstance(x, Tensor):
            wanted = x._value.dtype
        elif isinstance(x, str | device):
            require_cpu(x)
    if wanted is None:
        return self.clone() if copy else self
    return _converted(self, wanted, copy)


@method("type")
def type_of(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, or the tensor in another dtype."""
    if dtype is None:
        return f"torch.{TYPE_NAMES[self._value.dtype.name]}Tensor"
    if isinstance(dtype, str):
        names = {f"torch.{word}Tensor": name for name, word in TYPE_NAMES.items()}
        if dtype not in names:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = ALL_DTYPES[names[dtype]]
    return _converted(self, numpy_dtype(dtype))


@method()
def type_as(self: Tensor, other: Tensor) -> Any:
    """The tensor in the dtype of another."""
    return _converted(self, other._value.dtype)


def _conversion(name: str, wanted: np.dtype[Any]) -> None:
    def convert(self: Tensor, memory_format: Any = None) -> Any:
        return _converted(self, wanted)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {wanted}."
    setattr(Tensor, name, convert)


for _name, _full in (*ALIASES.items(), ("bool", "bool"), ("byte", "uint8"), ("char", "int8")):
    _conversion(_name, np.dtype(_full))


@method()
def cpu(self: Tensor) -> Tensor:
    """The tensor itself: all are on the CPU."""
    return self


# -- copies -----------------------------------------------------------------------------------------------


@op("CloneBackward0")
def _clone(x: Any) -> Any:
    return x.copy()


@operation()
def clone(input: Tensor, *, memory_format: Any = None) -> Any:
    """A copy, through which gradients flow."""
    return apply(_clone, (input,))


@method()
def contiguous(self: Tensor, memory_format: Any = None) -> Any:
    """The tensor, copied unless its elements lie in order."""
    value = self._value
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        return apply(_contiguous, (self,))
    return self


@op("CloneBackward0")
def _contiguous(x: Any) -> Any:
    return np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x.copy()


@method()
def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in order."""
    return bool(own(self).flags.c_contiguous) if isinstance(self._value, np.ndarray) else True


# -- questions --------------------------------------------------------------------------------------------


@method()
def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    from funcgrad.torch.core.errors import dim_of  # noqa: PLC0415 - beside this module

    shape = self._value.shape
    if dim is None:
        return Size(shape)
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[dim_of(dim, len(shape))]


@method("dim", "ndimension")
def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return len(self._value.shape)


@operation("numel")
def numel(input: Tensor) -> int:
    """The number of elements."""
    return int(input._value.size)


setattr(Tensor, "nelement", numel)  # noqa: B010 - a name among many


@method()
def element_size(self: Tensor) -> int:
    """Bytes of one element."""
    return int(self._value.dtype.itemsize)


@method()
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How far apart in memory neighbours along each dimension lie, in elements."""
    value = own(self)
    size = value.dtype.itemsize
    if isinstance(value, np.ndarray):
        found = _torch_strides(value, size)
    else:
        found = tuple([int(np.prod(value.shape[k + 1 :])) for k in range(value.ndim)])
    return found if dim is None else found[dim]


def _torch_strides(value: Any, size: int) -> tuple[int, ...]:
    strides = [s // size for s in value.strides]
    if value.flags.c_contiguous:
        # Where a size is 1 or 0 NumPy's strides are arbitrary.
        step = 1
        for k in range(value.ndim - 1, -1, -1):
            strides[k] = step
            step *= max(value.shape[k], 1)
    return tuple(strides)


@method()
def storage_offset(self: Tensor) -> int:
    """Where the first element lies in the memory of the base, in elements."""
    value = own(self)
    base = self._view.base._value if self._view is not None else value
    return int((value.ctypes.data - base.ctypes.data) // value.dtype.itemsize)


@method()
def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return int(own(self).ctypes.data)


@operation()
def is_floating_point(input: Tensor) -> bool:
    """Whether elements are real floating-point numbers."""
    return bool(input._value.dtype.kind == "f")


@operation()
def is_complex(input: Tensor) -> bool:
    """Whether elements are complex."""
    return bool(input._value.dtype.kind == "c")


@operation()
def is_signed(input: Tensor) -> bool:
    """Whether elements may be negative."""
    return bool(input._value.dtype.kind not in "ub")


@operation()
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    return bool(input)


@operation()
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input._inference


@operation()
def is_conj(input: Tensor) -> bool:
    """False: conjugates are computed at once here."""
    return False


@operation()
def is_neg(input: Tensor) -> bool:
    """False: negatives are computed at once here."""
    return False


@operation("resolve_conj", "resolve_neg")
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself."""
    return input


@method()
def get_device(self: Tensor) -> int:
    """-1: the CPU."""
    return -1


@method()
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return bool(self._value.shape == other._value.shape)


@method("_is_view")
def _is_view(self: Tensor) -> bool:
    return self._view is not None


def _base(self: Tensor) -> Any:
    return None if self._view is None else self._view.base


def _device(self: Tensor) -> device:
    return _CPU


def _itemsize(self: Tensor) -> int:
    return int(self._value.dtype.itemsize)


def _nbytes(self: Tensor) -> int:
    return int(self._value.nbytes)


class layout:
    """How a tensor is stored; here always strided."""

    __module__ = "funcgrad.torch"

    def __repr__(self) -> str:
        return "torch.strided"


STRIDED = layout()


def _layout(self: Tensor) -> layout:
    return STRIDED


for _title, _getter in (
    ("_base", _base),
    ("device", _device),
    ("itemsize", _itemsize),
    ("nbytes", _nbytes),
    ("layout", _layout),
):
    setattr(Tensor, _title, property(_getter))


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor."""
    return isinstance(x, Tensor)


def result_type(a: Any, b: Any) -> dtype:
    """The dtype of an operation on both."""
    from funcgrad.torch.operations.arithmetic import result_dtype  # noqa: PLC0415 - beside this module

    return torch_dtype(result_dtype(a, b))


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both fit in, in PyTorch's order."""
    return torch_dtype(promote(numpy_dtype(a), numpy_dtype(b)))


def can_cast(a: dtype, b: dtype) -> bool:
    """Whether PyTorch lets a result of dtype `a` be stored in one of `b`."""
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    x, y = numpy_dtype(a), numpy_dtype(b)
    return rank[x.kind] <= rank[y.kind]


def set_default_dtype(wanted: Any) -> None:
    """Choose the dtype of Python floats; a floating-point one."""
    if not isinstance(wanted, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    found = numpy_dtype(wanted)
    if found.kind != "f":
        raise TypeError("only floating-point types are supported as the default type")
    SETTINGS.default_dtype = found


def get_default_dtype() -> dtype:
    """The dtype of Python floats."""
    return torch_dtype(SETTINGS.default_dtype)


for _function in (is_tensor, result_type, promote_types, can_cast, set_default_dtype, get_default_dtype):
    FUNCTIONS[_function.__name__] = _function
