"""The functions whose modules are imported when they are first asked for, and the names that are NumPy's own.

Importing this package costs little more than importing NumPy; what few programs use is not part of that.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from funcgrad.numpy.dispatch import implemented_in
from funcgrad.types import Anything

MODULES: dict[str, tuple[str, ...]] = {
    "algebra.convolution": ("convolve", "correlate"),
    "algebra.einsum": ("einsum", "einsum_path"),
    "arrays.padding": ("pad",),
    "elementwise.bessel": ("i0", "kaiser"),
    "elementwise.bits": ("packbits", "unpackbits"),
    "reducing.quantiles": ("median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"),
    "reducing.tabulated": ("ediff1d", "gradient", "interp", "unwrap"),
    "reducing.without_nan": (
        *("nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod"),
        *("nanstd", "nansum", "nanvar"),
    ),
    "reducing.histograms": ("histogram", "histogram2d", "histogram_bin_edges", "histogramdd"),
    "arrays.layouts": (
        "asarray_chkfinite",
        "asfortranarray",
        "isfortran",
        "min_scalar_type",
        "require",
        "trim_zeros",
    ),
    "polynomials": (
        "poly",
        "polyadd",
        "polyder",
        "polydiv",
        "polyfit",
        "polyint",
        "polymul",
        "polysub",
        "polyval",
        "roots",
    ),
    "picking.sets": (
        "intersect1d",
        "isin",
        "setdiff1d",
        "setxor1d",
        "union1d",
        "unique_all",
        "unique_counts",
        "unique_inverse",
        "unique_values",
    ),
}
"""Names of NumPy's functions by the module, of this package, that has them."""

SUBMODULES = ("fft", "linalg")
"""Modules of this package that are public under their own names."""

STANDARD = ("__array_api_version__", "__array_namespace_info__", "finfo", "from_dlpack", "iinfo")
"""Names of the Array API standard that stand in no other module here."""

OWN = frozenset(
    {
        *("ScalarType", "byte", "bytes_", "half", "intc", "long", "longdouble", "clongdouble", "longlong"),
        *("short", "ubyte", "uintc", "uintp", "ulong", "ulonglong", "ushort", "typecodes", "little_endian"),
        *("True_", "False_", "ndenumerate", "broadcast", "ufunc", "object_", "str_", "datetime64"),
        *("array2string", "array_repr", "array_str", "base_repr", "binary_repr", "may_share_memory"),
        *("format_float_positional", "format_float_scientific", "typename", "mintypecode"),
        *("frombuffer", "fromfile", "fromiter", "fromstring", "genfromtxt", "load", "loadtxt"),
        *("save", "savetxt", "savez", "savez_compressed"),
        *("geterr", "seterr", "bartlett", "blackman", "hamming", "hanning", "mgrid", "ogrid"),
        *("exceptions", "random", "testing"),
    }
)
"""What is NumPy's own here: types, printing, files, settings, windows of a given length."""

OTHERS = {
    "frompyfunc": "funcgrad.numpy.elementwise.python_ufuncs",
    "vectorize": "funcgrad.numpy.elementwise.vectorized",
}
"""What is no function of NumPy's."""

HOMES = {
    **{name: f"funcgrad.numpy.{module}" for module, names in MODULES.items() for name in names},
    **dict.fromkeys(STANDARD, "funcgrad.numpy.standard"),
    **OTHERS,
}
"""The module of each name that is imported later."""

PUBLIC = [*SUBMODULES, *(name for name in HOMES if not name.startswith("_"))]
"""Of these, what a star imports too."""

for _module, _names in MODULES.items():
    implemented_in(f"funcgrad.numpy.{_module}", *_names)


def later(name: str) -> Anything:
    """A name of ``funcgrad.numpy`` that is imported now; raises AttributeError where there is none."""
    if name in SUBMODULES:
        return import_module(f"funcgrad.numpy.{name}")
    home = HOMES.get(name)
    if home is not None:
        return getattr(import_module(home), name)
    if name in OWN:
        return getattr(np, name)
    raise AttributeError(f"module 'funcgrad.numpy' has no attribute {name!r}")
