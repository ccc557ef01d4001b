"""The dtypes of PyTorch, each standing for one of NumPy's, and how they are promoted.

Promotion is PyTorch's: tensors with axes before tensors without before Python numbers, and a lower
category never widens a higher one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.unsupported import UNSUPPORTED
from funcgrad.types import Anything, ArrayLike


class dtype:
    """A data type: ``torch.float32`` and its like.

    >>> fg.torch.float32, fg.torch.float32.is_floating_point, fg.torch.complex64.itemsize
    (torch.float32, True, 8)
    """

    __slots__ = ("name", "numpy")
    __module__ = "funcgrad.torch"

    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(name)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Anything:
        return _dtype_named, (self.name,)

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self

    @property
    def is_floating_point(self) -> bool:
        """Whether values are real floating-point numbers."""
        return self.numpy.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether values are complex numbers."""
        return self.numpy.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether values may be negative."""
        return self.numpy.kind not in "ub"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.numpy.itemsize

    def to_complex(self) -> dtype:
        """The complex dtype of the same precision."""
        return torch_dtype(complex_of(self.numpy))

    def to_real(self) -> dtype:
        """The real dtype of the same precision."""
        return torch_dtype(real_of(self.numpy))


class NamedOnly(dtype):
    """A dtype that programs may name and compare; no tensor has it, as NumPy has none like it.

    >>> fg.torch.bfloat16, fg.torch.bfloat16.is_floating_point
    (torch.bfloat16, True)
    """

    __slots__ = ()
    is_floating_point = is_signed = True
    is_complex = False
    itemsize = 2

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def numpy(self) -> np.dtype[Any]:  # type: ignore[override]
        """Refused: whoever asks is about to make numbers of it."""
        reason = UNSUPPORTED[self.name]
        raise RuntimeError(f"funcgrad.torch does not support dtype=torch.{self.name}: {reason}")


_NAMES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ALL_DTYPES = {name: dtype(name) for name in _NAMES}
NAMED_ONLY = {"bfloat16": NamedOnly("bfloat16")}
ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
_OF_NUMPY = {d.numpy: d for d in ALL_DTYPES.values()}
TYPE_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
"""The words for dtypes in PyTorch's messages."""

LONG_NAMES = {
    "float32": "float",
    "float64": "double",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}
"""Those of C++, which other messages have."""


def _dtype_named(name: str) -> dtype:
    return ALL_DTYPES.get(name) or NAMED_ONLY[name]


def torch_dtype(given: ArrayLike) -> dtype:
    """The dtype that stands for one of NumPy's; raises TypeError where PyTorch has none."""
    found = _OF_NUMPY.get(given)
    if found is None:
        raise TypeError(
            "can't convert np.ndarray of type "
            f"{np.dtype(given).type.__module__}.{np.dtype(given).type.__name__}. The only supported types "
            "are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
            "uint32, uint16, uint8, and bool."
        )
    return found


_OF_PYTHON = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}


def numpy_dtype(given: object) -> np.dtype[Any]:
    """NumPy's dtype for a `dtype` (or one of the Python types PyTorch takes for one)."""
    if isinstance(given, dtype):
        return given.numpy
    if given in _OF_PYTHON:
        return ALL_DTYPES[_OF_PYTHON[given]].numpy
    raise TypeError(f"dtype must be a torch dtype, got {type(given).__name__}: {given!r}")


_COMPLEX_OF = {"e": "complex64", "f": "complex64", "d": "complex128"}
_REAL_OF = {"F": "float32", "D": "float64"}


def complex_of(given: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype of this precision."""
    return np.dtype(_COMPLEX_OF[given.char]) if given.char in _COMPLEX_OF else given


def real_of(given: np.dtype[Any]) -> np.dtype[Any]:
    """The real dtype of this precision."""
    return np.dtype(_REAL_OF[given.char]) if given.char in _REAL_OF else given


def default_complex() -> np.dtype[Any]:
    """The dtype of a Python complex number."""
    return complex_of(SETTINGS.default_dtype)


_BOOL = np.dtype(np.bool_)
_INT64 = np.dtype(np.int64)


def without_its_dtype(x: Operand) -> Operand:
    """A NumPy scalar as the Python number that PyTorch takes it for; anything else as it is."""
    if isinstance(x, np.generic):
        number = x.item()
        return float(number) if isinstance(number, np.longdouble) else number
    return x


def without_their_dtypes(params: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parameters of an operation, with Python numbers for NumPy scalars."""
    for x in params:
        if isinstance(x, np.generic):
            return tuple([without_its_dtype(x) for x in params])
    return params


def weak_dtype(number: object) -> np.dtype[Any]:
    """The dtype a Python number (or a NumPy scalar) has where nothing else decides."""
    number = without_its_dtype(number)
    if isinstance(number, bool):
        return _BOOL
    if isinstance(number, int):
        return _INT64
    if isinstance(number, float):
        return SETTINGS.default_dtype
    return default_complex()


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """``torch.promote_types``: as NumPy's, but integers never widen floating-point dtypes."""
    if a is b:
        return a
    if a.kind in "fc" and b.kind in "iub":
        return a
    if b.kind in "fc" and a.kind in "iub":
        return b
    return np.promote_types(a, b)


def _with_lower(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """The result of a higher category of operands that meets a lower one."""
    if higher is None or lower is None:
        return higher if lower is None else lower
    if higher.kind == "c":
        return higher
    if higher.kind == "f":
        return complex_of(higher) if lower.kind == "c" else higher
    if higher.kind == "b" or lower.kind in "fc":
        return promote(higher, lower)
    return higher


def promote_all(
    with_axes: list[np.dtype[Any]], without: list[np.dtype[Any]], weak: list[np.dtype[Any]]
) -> np.dtype[Any]:
    """The dtype of an operation on tensors with axes, tensors without, and Python numbers."""
    found: np.dtype[Any] | None = None
    for group in (with_axes, without, weak):
        together: np.dtype[Any] | None = None
        for each in group:
            together = each if together is None else promote(together, each)
        found = _with_lower(found, together)
    assert found is not None
    return found


_C_NAMES = {
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "float16": "at::Half",
    "float32": "float",
    "float64": "double",
}


def number_in(value: ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """A number as an array of rank 0; RuntimeError, as in PyTorch, where the dtype cannot hold it at all.

    Fractions are cut off, and negative numbers wrap in dtypes without a sign; arrays are simply cast.
    """
    if not isinstance(value, int | float | complex) or isinstance(value, bool):
        return np.asarray(value).astype(dtype)
    kind = dtype.kind
    if isinstance(value, complex) and kind != "c":
        if value.imag:
            raise _no_room(dtype)
        value = value.real
    if kind in "iu":
        limits = np.iinfo(dtype)
        lowest = -int(limits.max) if kind == "u" else int(limits.min)
        if math.isnan(value) or not lowest <= value <= int(limits.max):
            raise _no_room(dtype)
        return np.asarray(int(value)).astype(dtype)
    if kind == "f" and abs(value) > np.finfo(dtype).max and not np.isinf(float(value)):
        raise _no_room(dtype)
    return np.asarray(value).astype(dtype)


def _no_room(dtype: np.dtype[Any]) -> RuntimeError:
    word = _C_NAMES.get(dtype.name, dtype.name)
    return RuntimeError(f"value cannot be converted to type {word} without overflow")
