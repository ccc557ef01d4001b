"""Less usual constructors: the old ones, by a type's name, by strides, on a buffer, of powers, of ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.dtypes import TYPE_NAMES, numpy_dtype
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, method, own
from funcgrad.torch.operations.creating.data import array_from, device_like, finished, made_on, shape_of
from funcgrad.torch.operations.registry import FUNCTIONS, published
from funcgrad.types import Anything, Array, Device, DTypeLike, Number, ShapeLike


def made_of(args: tuple[object, ...], dtype: np.dtype[Any]) -> Array:
    """The array that the old constructors make: of numbers as sizes, of a `Size`, or of data."""
    if not args:
        return np.zeros(0, dtype)
    if len(args) == 1 and isinstance(args[0], Size):
        return np.zeros(args[0], dtype)
    if len(args) == 1 and not isinstance(args[0], int | np.integer):
        if isinstance(args[0], float | complex | np.generic):
            raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
        return array_from(args[0], dtype)
    return np.zeros(shape_of(args), dtype)


def legacy_tensor(cls: type, *args: Anything, **kwargs: Anything) -> Operand:
    """``torch.Tensor(2, 3)`` and ``torch.Tensor([1, 2])``: always of the default dtype."""
    t: Any = object.__new__(cls)
    dtype = SETTINGS.default_dtype
    if len(args) == 1 and isinstance(args[0], Tensor):
        (data,) = args
        if data._rg and cls is Tensor:
            return data[...]
        t._value = own(data)
        t._version_box = data._version_box
        return t
    size = kwargs.get("size")
    t._value = made_of(args if size is None else (Size(size),), dtype)
    t._version_box = [0]
    return t


method("__new__")(staticmethod(legacy_tensor))


@method()
def new(self: Tensor, *args: object, size: ShapeLike | None = None, device: Device = None) -> Tensor:
    """A new tensor of this tensor's dtype, of a size or of data."""
    made = made_of(args if size is None else (Size(size),), self._value.dtype)
    return finished(made, device=device_like(self, {"device": device}))


class TypedMeta(type):
    """Lets ``isinstance(t, torch.FloatTensor)`` ask for the dtype."""

    numpy: Any

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x._value.dtype == cls.numpy


def typed_constructor(name: str, word: str) -> TypedMeta:
    """``torch.FloatTensor`` and its like."""

    def make(cls: Anything, *args: Operand, size: ShapeLike | None = None) -> Tensor:
        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].to(cls.numpy)[...]
        return finished(made_of(args if size is None else (Size(size),), cls.numpy), device="cpu")

    return TypedMeta(f"{word}Tensor", (), {"__new__": make, "numpy": np.dtype(name), "__module__": "torch"})


for _name, _word in TYPE_NAMES.items():
    if not _word.startswith(("UInt", "Complex")):
        FUNCTIONS[f"{_word}Tensor"] = typed_constructor(_name, _word)


@published()
def scalar_tensor(value: Number, *, dtype: DTypeLike = None, **options: Anything) -> Tensor:
    """A tensor of rank 0."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.asarray(value, wanted), called="scalar_tensor", **options)


@published()
def empty_strided(
    size: ShapeLike, stride: ShapeLike, *, dtype: DTypeLike = None, **options: Anything
) -> Tensor:
    """A new tensor; the order of its elements in memory is always the usual one."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    made = made_on(options.get("device"), np.zeros, tuple(size), wanted)
    return finished(made, called="empty_strided", **options)


@published()
def frombuffer(
    buffer: Anything, *, dtype: DTypeLike, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor on the memory of a buffer."""
    return finished(np.frombuffer(buffer, numpy_dtype(dtype), count, offset), requires_grad)


@published()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Operand:
    """The powers of elements, a column each."""
    count = x._value.shape[0] if N is None else N
    powers = range(count) if increasing else range(count - 1, -1, -1)
    return FUNCTIONS["stack"]([x**k for k in powers], 1)


@published("range")
def arange_including(start: Number, end: Number = None, step: Number = 1, **options: Anything) -> Tensor:
    """``torch.range``: as `arange`, with the end."""
    if end is None:
        start, end = 0, start
    wanted = numpy_dtype(options.pop("dtype")) if "dtype" in options else SETTINGS.default_dtype
    count = int(np.floor((end - start) / step)) + 1
    return finished((start + np.arange(count) * step).astype(wanted), called="range", **options)
