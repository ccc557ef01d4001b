"""From tensors to numbers, lists, arrays and other dtypes, and copies of tensors."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import apply, apply_linear
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.dtypes import ALIASES, ALL_DTYPES, TYPE_NAMES, dtype, numpy_dtype
from funcgrad.torch.core.layout import copied
from funcgrad.torch.core.meta import NO_DATA, is_meta, on_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SETTINGS
from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.torch.core.views import lying
from funcgrad.torch.operations.creating.data import device_of
from funcgrad.torch.operations.registry import operation, published, tensor_of
from funcgrad.types import Anything, Array, DTypeLike, Number


@published()
class device:
    """Where a tensor lives: on the CPU, or on `meta`, which has shapes and no numbers.

    >>> with fg.torch.device("meta"):
    ...     layer = fg.torch.nn.Linear(100_000, 100_000)
    >>> layer(fg.torch.empty(8, 100_000, device="meta")).shape
    torch.Size([8, 100000])
    """

    __module__ = "funcgrad.torch"
    __slots__ = ("_before", "index", "type")

    def __init__(self, type: Anything = "cpu", index: int | None = None) -> None:
        name, _, number = str(type).partition(":")
        self.type = device_of(name)
        self.index = int(number) if number else index
        self._before: list[str] = []

    def __enter__(self) -> device:
        """Make tensors there that are not told where."""
        self._before.append(MODES.device)
        MODES.device = self.type
        return self

    def __exit__(self, *error: object) -> None:
        MODES.device = self._before.pop()

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


CPU = device("cpu")
META = device("meta")


_NO_ITEM = "Tensor.item() cannot be called on meta tensors"

# -- numbers ----------------------------------------------------------------------------------------------


@method()
def item(self: Tensor) -> Number:
    """The only element as a Python number."""
    value = self._value
    if is_meta(self) and value.size == 1:
        raise RuntimeError(_NO_ITEM)
    if not is_meta(self) and type(value) is Tracer and not value.has_value():
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
            ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
            "is occurring somewhere inside PyTorch internals, please file a bug report."
        )
    if value.size != 1:
        raise RuntimeError(f"a Tensor with {value.size} elements cannot be converted to Scalar")
    return value.item()


@method()
def tolist(self: Tensor) -> Anything:
    """The elements as nested lists of Python numbers."""
    return self._value.tolist()


def _scalar(self: Tensor, to: Anything) -> Number:
    if self._rg and to is not int and SETTINGS.may_warn("scalar"):
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first.",
            UserWarning,
            stacklevel=3,
        )
    if self._value.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return item(self)


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
    if is_meta(self):
        raise RuntimeError(_NO_ITEM)
    return bool(self._value.reshape(()))


@method("__index__")
def _index(self: Tensor) -> int:
    if self._value.size != 1 or self._value.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


@method("__contains__")
def _contains(self: Tensor, x: Operand) -> bool:
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
def numpy_array(self: Tensor, *, force: bool = False) -> Array:
    """The array on the tensor's memory; with `force` also of a tensor that requires grad."""
    if is_meta(self) and not force:
        raise TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )
    if self._rg and not force and MODES.grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if is_meta(self):
        raise NotImplementedError(NO_DATA)
    return own(self)


@method("__array__")
def _array(self: Tensor, dtype: DTypeLike = None, copy: bool | None = None) -> Operand:
    value = self.numpy()
    if type(value) is Tracer:
        value = np.asarray(value)
    if dtype is not None and value.dtype != dtype:
        return value.astype(dtype)
    return np.array(value) if copy else value


_REFLECTED = {
    np.add: "__radd__",
    np.subtract: "__rsub__",
    np.multiply: "__rmul__",
    np.true_divide: "__rtruediv__",
    np.floor_divide: "__rfloordiv__",
    np.remainder: "__rmod__",
    np.power: "__rpow__",
    np.less: "__gt__",
    np.less_equal: "__ge__",
    np.greater: "__lt__",
    np.greater_equal: "__le__",
    np.equal: "__eq__",
    np.not_equal: "__ne__",
    np.bitwise_and: "__rand__",
    np.bitwise_or: "__ror__",
    np.bitwise_xor: "__rxor__",
    np.left_shift: "__rlshift__",
    np.right_shift: "__rrshift__",
}
"""What a tensor does where a NumPy scalar stands before it: NumPy's scalars call their ufunc."""

_COMPARED = ("__gt__", "__ge__", "__lt__", "__le__", "__eq__", "__ne__")


def _is_number(x: Operand, reflected: str) -> bool:
    # Comparisons of NumPy's scalars have made arrays of them already.
    return isinstance(x, np.generic) or (isinstance(x, np.ndarray) and not x.shape and reflected in _COMPARED)


@method("__array_ufunc__")
def _array_ufunc(self: Tensor, ufunc: Anything, how: str, *inputs: Array, **options: Anything) -> Operand:
    """NumPy's ufuncs on tensors return tensors, and are not remembered.

    A NumPy scalar before a tensor is an operand as any number is: ``np.float64(2.0) * x`` is ``2.0 * x``.
    """
    first = inputs[0]
    if how == "__call__" and not options and ufunc in _REFLECTED and _is_number(first, _REFLECTED[ufunc]):
        return getattr(inputs[1], _REFLECTED[ufunc])(first.item())
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
def _array_wrap(self: Tensor, array: Array, context: Anything = None, return_scalar: bool = False) -> Tensor:
    return wrap(np.asarray(array))


@method("__dlpack__")
def _dlpack(self: Tensor, *, stream: Anything = None, **options: Anything) -> Anything:
    if self._rg:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    options.pop("dl_device", None)
    return own(self).__dlpack__(**{k: v for k, v in options.items() if v is not None and k == "copy"})


@method("__dlpack_device__")
def _dlpack_device(self: Tensor) -> Anything:
    return own(self).__dlpack_device__()


@published()
def from_dlpack(source: Operand, **options: object) -> Tensor:
    """A tensor on the memory of another library's array."""
    array = np.from_dlpack(source)
    if not array.flags.writeable:
        # NumPy imports read-only; the memory is the producer's, and PyTorch would write to it.
        array = np.lib.stride_tricks.as_strided(array, array.shape, array.strides)
        array = _writeable_view(array, source)
    return wrap(array)


def _writeable_view(array: Array, source: Array) -> Array:
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

    def __init__(self, interface: dict[str, Any], owner: Anything) -> None:
        self.__array_interface__ = interface
        self.owner = owner


# -- dtypes -----------------------------------------------------------------------------------------------


@op("ToCopyBackward0")
def _to_copy(x: Array, wanted: Anything) -> Array:
    return x.astype(wanted)


def _converted(self: Tensor, wanted: np.dtype[Any], copy: bool = False) -> Operand:
    if self._value.dtype == wanted:
        return self.clone() if copy else self
    if self._value.dtype.kind == "c" and wanted.kind not in "cb":
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=3)
        return _converted(self.real.clone(), wanted)
    return apply(_to_copy, (self,), (wanted,))


@method()
def to(self: Tensor, *args: Anything, **kwargs: Anything) -> Operand:
    """The tensor in another dtype (or that of another tensor); itself where nothing changes."""
    for word in kwargs:
        if word not in _TO_WORDS:
            raise TypeError(f"to() got an unexpected keyword argument '{word}'")
    flags = [x for x in args if isinstance(x, bool)]
    wanted, place, copy = None, "", bool(kwargs.pop("copy", len(flags) > 1 and flags[1]))
    for x in (*args, *[kwargs.get(k) for k in ("dtype", "device", "other")]):
        if isinstance(x, np.dtype):
            wanted = x
        elif isinstance(x, dtype) or any(x is kind for kind in (float, int, bool, complex)):
            wanted = numpy_dtype(x)
        elif isinstance(x, Tensor):
            wanted, place = x._value.dtype, "meta" if is_meta(x) else "cpu"
        elif isinstance(x, str | device):
            place = device_of(x)
    if place == "cpu":
        self = cpu(self)
    elif place == "meta" and not is_meta(self):
        self = to_meta(self)
    if wanted is None:
        return self.clone() if copy else self
    return _converted(self, wanted, copy)


def to_meta(t: Tensor) -> Tensor:
    """A tensor of the same shape and dtype without memory; a backward pass that comes to it is refused."""
    found = wrap(on_meta(t._value))
    return underived(found, t, "to('meta')") if t._rg else found


_TO_WORDS = frozenset({"device", "dtype", "other", "non_blocking", "copy", "memory_format", "tensor"})


@method("type")
def type_of(self: Tensor, dtype: DTypeLike = None, non_blocking: bool = False) -> Anything:
    """The name of the tensor's type, or the tensor in another dtype."""
    if dtype is None:
        place = "meta." if is_meta(self) else ""
        return f"torch.{place}{TYPE_NAMES[self._value.dtype.name]}Tensor"
    if isinstance(dtype, str):
        names = {f"torch.{word}Tensor": name for name, word in TYPE_NAMES.items()}
        if dtype not in names:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = ALL_DTYPES[names[dtype]]
    elif isinstance(dtype, type) and isinstance(getattr(dtype, "numpy", None), np.dtype):
        # A class of tensors of one dtype, such as torch.DoubleTensor.
        kind: Any = dtype
        return _converted(self, kind.numpy)
    return _converted(self, numpy_dtype(dtype))


@method()
def type_as(self: Tensor, other: Tensor) -> Operand:
    """The tensor in the dtype of another."""
    return _converted(self, other._value.dtype)


def _conversion(name: str, wanted: np.dtype[Any]) -> None:
    def convert(self: Tensor, memory_format: Anything = None) -> Operand:
        return _converted(self, wanted)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {wanted}."
    setattr(Tensor, name, convert)


for _name, _full in (*ALIASES.items(), ("bool", "bool"), ("byte", "uint8"), ("char", "int8")):
    _conversion(_name, np.dtype(_full))


@method()
def cpu(self: Tensor) -> Tensor:
    """The tensor itself; NotImplementedError for one on `meta`, which has no numbers to copy."""
    if is_meta(self):
        raise NotImplementedError(NO_DATA)
    return self


# -- copies -----------------------------------------------------------------------------------------------


_clone = op("CloneBackward0")(copied)


@op("CloneBackward0", in_rows=True)
def _clone_in_rows(x: Array) -> Array:
    return x.copy()


@operation()
def clone(input: Tensor, *, memory_format: object = None) -> Tensor:
    """A copy, through which gradients flow; it lies in memory as the tensor does, unless told otherwise."""
    in_rows = getattr(memory_format, "name", None) == "contiguous_format"
    return apply_linear(_clone_in_rows if in_rows else _clone, input)


@method()
def contiguous(self: Tensor, memory_format: object = None) -> Operand:
    """The tensor, copied unless its elements lie in order."""
    value = lying(self)
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        return apply(_contiguous, (self,))
    return self


@op("CloneBackward0")
def _contiguous(x: Array) -> Array:
    return np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x.copy()


@method()
def is_contiguous(self: Tensor, memory_format: object = None) -> bool:
    """Whether the elements lie in memory in order."""
    value = lying(self)
    return bool(value.flags.c_contiguous) if isinstance(value, np.ndarray) else True


def _cuda(self: Tensor, *args: Operand, **kwargs: Anything) -> NoReturn:
    """Not supported: there is no CUDA here."""
    raise AssertionError("Torch not compiled with CUDA enabled")


setattr(Tensor, "cuda", _cuda)  # noqa: B010 - given like every operation


@published()
def to_dlpack(tensor: Tensor) -> object:
    """The capsule that other libraries import."""
    return tensor_of(tensor).__dlpack__()
