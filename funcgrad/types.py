"""Words for what signatures take and give, where no narrower type would be true of both ways to run.

A function is called with numbers and arrays, and with tracers while it is traced; a tracer has the attributes
of an array and is none. So these are names for a reader; for a checker they are as wide as `typing.Any`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = [
    "Array",
    "ArrayLike",
    "Arrays",
    "AxisLike",
    "DTypeLike",
    "Device",
    "Index",
    "Number",
    "ShapeLike",
    "Tree",
    "UfuncOption",
]

Array: TypeAlias = Any
"""An array of NumPy's, one of its scalars, or a tracer of one of them."""

ArrayLike: TypeAlias = Any
"""What `numpy.asarray` takes: arrays, numbers, sequences of them, nested; and tracers anywhere among them."""

Arrays: TypeAlias = Any
"""An array, or a tuple of them: as the arguments ask, or as many as there are results."""

AxisLike: TypeAlias = Any
"""An axis, several, or None for all of them."""

DTypeLike: TypeAlias = Any
"""What `numpy.dtype` takes, or a dtype of `funcgrad.torch`; None where something else decides."""

Device: TypeAlias = Any
"""What says where an array or a tensor is: a device or its name; None is where it would be anyway."""

Index: TypeAlias = Any
"""What stands in brackets: integers, slices, ``...``, None, arrays, tracers, and tuples of these."""

Number: TypeAlias = Any
"""A number of Python's or of NumPy's, or a tracer of one; None where that is the default."""

ShapeLike: TypeAlias = Any
"""A size, or several: a tuple, a list, or an array of integers."""

Tree: TypeAlias = Any
"""Any nesting of containers; everything else is a leaf."""

UfuncOption: TypeAlias = Any
"""What the options that ufuncs share are given: `where`, `casting`, `order`, `dtype`, `subok`."""
