"""Abstract values: the shape, dtype and weakness of an array, without its data.

Owns interning (two equal avals are one object, so identity is equality and hashing is free) and the
text form ``f64[3,4]``. Knows nothing about promotion rules or operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.types import ArrayLike, DTypeLike

Shape = tuple[int, ...]

_KIND_LETTERS = {"f": "f", "c": "c", "i": "i", "u": "u"}
_NAMES_OF_WEAK = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}
_NAMES_OF_WEAK[complex] = np.dtype(np.complex128)

_ARRAYS = (np.ndarray, np.generic)
INTERNED: dict[tuple[Shape, np.dtype[Any], bool], Aval] = {}
"""The avals there are, by shape, dtype and weakness."""


class Aval:
    """The type of an array in a Program: ``shape``, ``dtype``, and whether it came from a Python scalar.

    A *weak* aval takes the dtype of what it meets, as a Python scalar does in NumPy 2.

    >>> Aval((3, 4), np.float64)
    f64[3,4]
    >>> Aval((3, 4), np.float64) is Aval((3, 4), "float64")
    True
    """

    __slots__ = ("dtype", "inexact", "ndim", "scalar", "shape", "size", "weak")

    shape: Shape
    dtype: np.dtype[Any]
    weak: bool
    ndim: int
    size: int
    inexact: bool
    scalar: Aval
    """The aval of a Python scalar that met this dtype: weak and of rank 0."""

    def __new__(cls, shape: Shape, dtype: DTypeLike, weak: bool = False) -> Aval:
        key = (shape, dtype, weak)
        try:
            return INTERNED[key]
        except (KeyError, TypeError):
            return cls._intern(tuple(int(n) for n in shape), np.dtype(dtype), bool(weak))

    @classmethod
    def _intern(cls, shape: Shape, dtype: np.dtype[Any], weak: bool) -> Aval:
        # NumPy's one object of a type, so that equal dtypes are mostly identical and `is` decides at once.
        dtype = np.dtype(dtype.type) if dtype.kind in "biufc" else dtype.newbyteorder("=")
        key = (shape, dtype, weak)
        if key not in INTERNED:
            self = object.__new__(cls)
            set_slot = object.__setattr__
            set_slot(self, "shape", shape)
            set_slot(self, "dtype", dtype)
            set_slot(self, "weak", weak)
            set_slot(self, "ndim", len(shape))
            set_slot(self, "size", math.prod(shape))
            set_slot(self, "inexact", dtype.kind in "fc")
            is_scalar = weak and not shape
            set_slot(self, "scalar", self if is_scalar else cls((), dtype, True))
            # setdefault: two threads may get here at once, and identity must still mean equality.
            INTERNED.setdefault(key, self)
        return INTERNED[key]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Aval is immutable: cannot set {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Aval, (self.shape, self.dtype, self.weak)

    def __copy__(self) -> Aval:
        return self

    def __deepcopy__(self, memo: object) -> Aval:
        return self

    def __repr__(self) -> str:
        star = "*" if self.weak else ""
        return f"{dtype_name(self.dtype)}{star}[{','.join(map(str, self.shape))}]"

    def with_shape(self, shape: Shape) -> Aval:
        """The same dtype in another shape.

        >>> Aval((3,), np.float32).with_shape((2, 3))
        f32[2,3]
        """
        return Aval(shape, self.dtype, self.weak)

    def with_dtype(self, dtype: DTypeLike) -> Aval:
        """The same shape in another dtype, no longer weak.

        >>> Aval((3,), np.float32).with_dtype(np.int64)
        i64[3]
        """
        return Aval(self.shape, np.dtype(dtype), False)

    @property
    def strong(self) -> Aval:
        """The same aval without weakness.

        >>> aval_of(1.0), aval_of(1.0).strong
        (f64*[], f64[])
        """
        return Aval(self.shape, self.dtype, False)

    @property
    def nbytes(self) -> int:
        """Bytes of a contiguous array of this aval.

        >>> Aval((3,), np.float32).nbytes
        12
        """
        return self.size * self.dtype.itemsize


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The short name of a dtype: kind letter and bits.

    >>> dtype_name(np.dtype(np.complex64)), dtype_name(np.dtype(np.bool_))
    ('c64', 'bool')
    """
    letter = _KIND_LETTERS.get(dtype.kind)
    if letter is None:
        return dtype.name
    return f"{letter}{dtype.itemsize * 8}"


def dtype_from_name(name: str) -> np.dtype[Any]:
    """The inverse of `dtype_name`.

    >>> dtype_from_name("f32")
    dtype('float32')
    """
    if name[:1] in _KIND_LETTERS and name[1:].isdigit():
        return np.dtype(f"{name[0]}{int(name[1:]) // 8}")
    return np.dtype(name)


def aval_of(value: ArrayLike) -> Aval:
    """The aval of a NumPy array or scalar, or of a Python scalar (then it is weak).

    Raises ``TypeError`` for anything else, and for dtypes that are not numbers or booleans.

    >>> aval_of(np.ones((2, 3), np.float32)), aval_of(2)
    (f32[2,3], i64*[])
    """
    if isinstance(value, _ARRAYS):
        if type(value) is not np.ndarray and isinstance(value, np.ndarray):
            refuse_other_arithmetic(value)
        dtype = value.dtype
        if dtype.kind not in "fciub":
            raise TypeError(f"arrays of dtype {dtype} are not supported: only numbers and booleans are")
        return INTERNED.get((value.shape, dtype, False)) or Aval(value.shape, dtype, False)
    weak = _NAMES_OF_WEAK.get(type(value))
    if weak is not None:
        return Aval((), weak, True)
    raise TypeError(f"a {type(value).__name__} is not an array or a number")


def refuse_other_arithmetic(value: np.ndarray[Any, Any]) -> None:
    """Raise TypeError for subclasses of arrays whose operators mean something else.

    >>> refuse_other_arithmetic(np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    TypeError: a MaskedArray computes otherwise than arrays do: pass its data and its mask, and use np.where
    """
    if isinstance(value, np.matrix):
        raise TypeError("a matrix multiplies otherwise than arrays do: pass np.asarray of it, and use @")
    if hasattr(value, "mask") and hasattr(value, "fill_value"):
        raise TypeError(
            f"a {type(value).__name__} computes otherwise than arrays do: pass its data and its mask, "
            "and use np.where"
        )
