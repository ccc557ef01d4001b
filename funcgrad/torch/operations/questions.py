"""What a tensor knows about itself: sizes, strides, dtype, and which of them meet how."""

from __future__ import annotations

import numpy as np

from funcgrad.torch.core.dtypes import dtype, numpy_dtype, promote, torch_dtype
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.meta import is_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, method, own
from funcgrad.torch.core.views import lying, lying_in_base
from funcgrad.torch.operations.creating.conversion import CPU, META
from funcgrad.torch.operations.pointwise.arithmetic import result_dtype
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published
from funcgrad.types import Anything, Array, ShapeLike

# -- questions --------------------------------------------------------------------------------------------


@method()
def size(self: Tensor, dim: int | None = None) -> ShapeLike:
    """The shape, or the size of one dimension."""
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
def stride(self: Tensor, dim: int | None = None) -> int | tuple[int, ...]:
    """How far apart in memory neighbours along each dimension lie, in elements."""
    value = lying(self)
    size = value.dtype.itemsize
    if isinstance(value, np.ndarray):
        found = _torch_strides(value, size)
    else:
        found = tuple([int(np.prod(value.shape[k + 1 :])) for k in range(value.ndim)])
    return found if dim is None else found[dim]


def _torch_strides(value: Array, size: int) -> tuple[int, ...]:
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
    base, value = lying_in_base(self)
    return int((value.ctypes.data - base.ctypes.data) // value.dtype.itemsize)


@method()
def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return 0 if is_meta(self) else int(own(self).ctypes.data)


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


def _base(self: Tensor) -> Tensor | None:
    return None if self._view is None else self._view.base


def _device(self: Tensor) -> Anything:
    return META if is_meta(self) else CPU


def _itemsize(self: Tensor) -> int:
    return int(self._value.dtype.itemsize)


def _nbytes(self: Tensor) -> int:
    return int(self._value.nbytes)


@published()
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
    ("is_meta", is_meta),
    ("itemsize", _itemsize),
    ("nbytes", _nbytes),
    ("layout", _layout),
):
    setattr(Tensor, _title, property(_getter))


@published()
def is_tensor(x: object) -> bool:
    """Whether `x` is a tensor."""
    return isinstance(x, Tensor)


@published()
def result_type(a: Operand, b: Operand) -> dtype:
    """The dtype of an operation on both."""
    return torch_dtype(result_dtype(a, b))


@published()
def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both fit in, in PyTorch's order."""
    return torch_dtype(promote(numpy_dtype(a), numpy_dtype(b)))


@published()
def can_cast(a: dtype, b: dtype) -> bool:
    """Whether PyTorch lets a result of dtype `a` be stored in one of `b`."""
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    x, y = numpy_dtype(a), numpy_dtype(b)
    return rank[x.kind] <= rank[y.kind]


@published()
def set_default_dtype(wanted: object) -> None:
    """Choose the dtype of Python floats; a floating-point one."""
    if not isinstance(wanted, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    found = numpy_dtype(wanted)
    if found.kind != "f":
        raise TypeError("only floating-point types are supported as the default type")
    SETTINGS.default_dtype = found


@published()
def get_default_dtype() -> dtype:
    """The dtype of Python floats."""
    return torch_dtype(SETTINGS.default_dtype)


@published()
def typename(x: Operand) -> str:
    """The name of a tensor's type."""
    return x.type() if isinstance(x, Tensor) else f"{type(x).__module__}.{type(x).__qualname__}"


@published()
class memory_format:
    """How elements lie in memory; accepted and not used."""

    __module__ = "torch"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


for _name in ("contiguous_format", "preserve_format", "channels_last"):
    FUNCTIONS[_name] = memory_format(_name)  # type: ignore[assignment]
FUNCTIONS["strided"] = STRIDED  # type: ignore[assignment]


@published()
def is_storage(x: object) -> bool:
    """False: there are no storages here; `numpy()` is the memory."""
    return False
