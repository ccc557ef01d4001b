"""What the Array API standard asks of a namespace beside functions: what it has, and where arrays live.

https://data-apis.org/array-api/latest
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.arrays.copies import check_device, copied, entered
from funcgrad.numpy.reducing.axes import given
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Device, DTypeLike

__array_api_version__ = "2025.12"

KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
GROUPS: dict[str, tuple[str, ...]] = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


class NamespaceInfo:
    """What the namespace can do, which dtypes it has, and where its arrays live."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and shapes that depend on data, where values exist, and how many axes.

        >>> fg.numpy.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The only device there is.

        >>> fg.numpy.__array_namespace_info__().default_device()
        'cpu'
        """
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All devices.

        >>> fg.numpy.__array_namespace_info__().devices()
        ('cpu',)
        """
        return ("cpu",)

    def default_dtypes(self, *, device: Device = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of arrays that are made without one.

        >>> fg.numpy.__array_namespace_info__().default_dtypes()["real floating"]
        dtype('float64')
        """
        check_device(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.intp),
            "indexing": np.dtype(np.intp),
        }

    def dtypes(self, *, device: Device = None, kind: object = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of a kind, of several, or all, by name.

        >>> sorted(fg.numpy.__array_namespace_info__().dtypes(kind="real floating"))
        ['float32', 'float64']
        """
        check_device(device)
        wanted = tuple(KINDS) if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in wanted if k not in KINDS and k not in GROUPS]
        if unknown:
            raise ValueError(f"unsupported kind: {unknown[0]!r}")
        kinds = [part for k in wanted for part in GROUPS.get(k, (k,))]
        return {name: np.dtype(name) for k in kinds for name in KINDS[k]}


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace can do, as the Array API standard asks.

    >>> fg.numpy.__array_namespace_info__().default_device()
    'cpu'
    """
    return NamespaceInfo()


def from_dlpack(x: ArrayLike, /, *, device: Device = None, copy: bool | None = None) -> Array:
    """An array of another library, without copying where that is possible; traced arrays as they are.

    >>> print(fg.numpy.from_dlpack(np.array([1.0, 2.0])))
    [1. 2.]
    """
    check_device(device)
    if type(x) is Tracer:
        return copied(x) if copy else x
    # NumPy 2.0 does not know the options.
    return entered(np.from_dlpack(x, **given(device=device, copy=copy)))


def finfo(type: object, /) -> np.finfo[Any]:
    """The limits of a floating-point dtype, or of that of an array.

    >>> fg.numpy.finfo(np.float32).bits
    32
    """
    return np.finfo(dtype_of(type))


def iinfo(type: object, /) -> np.iinfo[Any]:
    """The limits of an integer dtype, or of that of an array.

    >>> fg.numpy.iinfo(np.int8).max
    127
    """
    return np.iinfo(dtype_of(type))


def dtype_of(x: ArrayLike) -> DTypeLike:
    """The dtype of an array; anything else as it is."""
    return x.dtype if isinstance(x, Tracer | np.ndarray | np.generic) else x
