"""Less usual constructors: by a type's name, by strides, on a buffer, of powers, ranges with their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.dtypes import TYPE_NAMES, numpy_dtype
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.creating.creation import array_from, finished
from funcgrad.torch.operations.registry import FUNCTIONS, published
from funcgrad.types import Anything, DTypeLike, Number, ShapeLike

__all__: list[str] = []


class TypedMeta(type):
    """Lets ``isinstance(t, torch.FloatTensor)`` ask for the dtype."""

    numpy: Any

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x._value.dtype == cls.numpy


def typed_constructor(name: str, word: str) -> TypedMeta:
    """``torch.FloatTensor`` and its like."""

    def make(cls: Any, *args: Any) -> Tensor:
        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].to(cls.numpy)[...]  # type: ignore[no-any-return]
        if len(args) == 1 and not isinstance(args[0], int):
            return finished(array_from(args[0], cls.numpy))
        return finished(np.zeros(args, cls.numpy))

    return TypedMeta(f"{word}Tensor", (), {"__new__": make, "numpy": np.dtype(name), "__module__": "torch"})


for _name, _word in TYPE_NAMES.items():
    if not _word.startswith(("UInt", "Complex")):
        FUNCTIONS[f"{_word}Tensor"] = typed_constructor(_name, _word)


@published()
def scalar_tensor(value: Number, *, dtype: DTypeLike = None, **options: Anything) -> Tensor:
    """A tensor of rank 0."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.asarray(value, wanted), **options)


@published()
def empty_strided(
    size: ShapeLike, stride: ShapeLike, *, dtype: DTypeLike = None, **options: Anything
) -> Tensor:
    """A new tensor; the order of its elements in memory is always the usual one."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.zeros(tuple(size), wanted), **options)


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
    return finished((start + np.arange(count) * step).astype(wanted), **options)
