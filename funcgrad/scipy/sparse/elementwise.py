"""Methods of sparse arrays that leave zeros zero, element by element: powers, roots, sines and their kin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.scipy.sparse.arrays import SparseArray, deduplicated
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, Array, DTypeLike

__all__ = ["NAMES"]

NAMES = (
    *("arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "conjugate", "deg2rad", "expm1", "floor"),
    *("log1p", "rad2deg", "rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
"""Functions of `funcgrad.numpy` that are methods of sparse arrays."""


def method_of(name: str) -> Callable[[SparseArray], SparseArray]:
    """The method of that name."""
    function = getattr(fnp, name)

    def apply(self: SparseArray, copy: bool = True) -> SparseArray:
        a = deduplicated(self)
        return type(a)(function(a.data), a.structure)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`{name}` of every element."
    return apply


def absolute(self: SparseArray) -> SparseArray:
    """The absolute values."""
    a = deduplicated(self)
    return type(a)(abs(a.data), a.structure)


def power(self: SparseArray, n: Anything, dtype: DTypeLike = None) -> SparseArray:
    """The elements to a power, a positive number; raises NotImplementedError for others, as SciPy."""
    if np.ndim(n) or not n > 0:
        raise NotImplementedError("input is not scalar, or zero power is not supported as it would densify")
    a = deduplicated(self if dtype is None else self.astype(dtype))
    return type(a)(a.data ** asoperand(n), a.structure)


def part_named(name: str) -> property:
    """The real or the imaginary part."""
    function = getattr(fnp, name)

    def part(self: SparseArray) -> SparseArray:
        return type(self)(function(self.data), self.structure)

    part.__doc__ = f"The {name} part of every element."
    return property(part)


def extreme(name: str) -> Callable[..., Array]:
    """The largest or smallest element, zeros included."""
    function = getattr(fnp, name)

    def find(self: SparseArray, axis: int | None = None, out: None = None) -> Array:
        if axis is not None or out is not None:
            raise self.unsupported(f"{name}(axis)")
        a = deduplicated(self)
        if not a.shape[0] * a.shape[1]:
            raise ValueError("zero-size array to reduction operation")
        is_full = a.nnz == a.shape[0] * a.shape[1]
        return function(a.data if is_full else fnp.concatenate([a.data, np.zeros(1, a.dtype)]))

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"The {name} of the elements, zeros included."
    return find


for _name in NAMES:
    setattr(SparseArray, _name, method_of(_name))
for _name in ("real", "imag"):
    setattr(SparseArray, _name, part_named(_name))
for _name in ("max", "min"):
    setattr(SparseArray, _name, extreme(_name))
for _name, _method in (("__abs__", absolute), ("power", power), ("__pow__", power)):
    setattr(SparseArray, _name, _method)
