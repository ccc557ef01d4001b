"""Words for what signatures take and give, where no narrower type would be true of both ways to run.

A function is called with numbers and arrays, and with tracers while it is traced; a tracer has the attributes
of an array and is none. So these are names for a reader; for a checker they are as wide as `typing.Any`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = [
    "AnyPrimitive",
    "Anything",
    "Array",
    "ArrayLike",
    "Arrays",
    "AxisLike",
    "DTypeLike",
    "Device",
    "ExtraArguments",
    "Foreign",
    "Index",
    "NormOrder",
    "NumbaFunction",
    "Number",
    "Option",
    "Padding",
    "Result",
    "ScipyResult",
    "ShapeLike",
    "Tree",
    "UfuncLike",
    "UfuncOption",
]

AnyPrimitive: TypeAlias = Any
"""A primitive whose class is known from elsewhere: its parameters are attributes that only that class has."""

Anything: TypeAlias = Any
"""An object of any class, asked for what its class turns out to have. Where nothing is, it is an `object`."""

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

ExtraArguments: TypeAlias = Any
"""SciPy's `args`: a tuple of further arguments for the user's function, or the only one."""

Foreign: TypeAlias = Any
"""An object of a package that has no types: Numba's, llvmlite's, SciPy's, Dask's."""

Index: TypeAlias = Any
"""What stands in brackets: integers, slices, ``...``, None, arrays, tracers, and tuples of these."""

NormOrder: TypeAlias = Any
"""Which norm: a number, infinite ones too, a name such as "fro", or None."""

Number: TypeAlias = Any
"""A number of Python's or of NumPy's, or a tracer of one; None where that is the default."""

NumbaFunction: TypeAlias = Any
"""A function that Numba compiles: of ``njit``, ``vectorize`` or ``guvectorize``."""

Option: TypeAlias = Any
"""An option as NumPy, SciPy or PyTorch takes it: one of several names, and often something else."""

Padding: TypeAlias = Any
"""What surrounds an array: "valid", "same", a number for all axes, one for each, or a pair for each."""

Result: TypeAlias = Any
"""What a function of the user's returns: any nesting of containers, or anything else."""

ScipyResult: TypeAlias = Any
"""SciPy's object for results, or the tuple or array that the same function gives in its place."""

ShapeLike: TypeAlias = Any
"""A size, or several: a tuple, a list, or an array of integers."""

Tree: TypeAlias = Any
"""Any nesting of containers; everything else is a leaf."""

UfuncLike: TypeAlias = Any
"""A ufunc of NumPy's or of another package, or what is called as one is."""

UfuncOption: TypeAlias = Any
"""What the options that ufuncs share are given: `where`, `casting`, `order`, `dtype`, `subok`."""
