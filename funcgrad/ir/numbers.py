"""Numbers of a known dtype as text, and back, without losing a bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import dtype_from_name
from funcgrad.types import Array


def scalar_text(value: object, dtype: np.dtype[Any]) -> str:
    """A number of a known dtype, exactly.

    >>> scalar_text(0.1, np.dtype(np.float32)), scalar_text(1 - 2j, np.dtype(np.complex128))
    ('0.1', 'complex(1.0, -2.0)')
    """
    scalar = np.asarray(value, dtype)[()]
    if dtype.kind == "b":
        return str(bool(scalar))
    if dtype.kind in "iu":
        return str(int(scalar))
    if dtype.kind == "c":
        return f"complex({float_text(scalar.real)}, {float_text(scalar.imag)})"
    return float_text(scalar)


def float_text(x: Array) -> str:
    """The shortest decimal that reads back as this NumPy float; its bits for an unusual NaN."""
    if np.isnan(x):
        return "nan" if x.tobytes() == x.dtype.type(np.nan).tobytes() else f"nan(0x{bits_of(x)})"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x.dtype == np.float64:
        return repr(float(x))
    if x == 0 or 1e-4 <= abs(float(x)) < 1e16:
        text = np.format_float_positional(x, unique=True, trim="0")
    else:
        text = np.format_float_scientific(x, unique=True, trim="-")
    # Text is read through double precision, which in rare cases is not the same as rounding once.
    return text if x.dtype.type(text) == x else repr(float(x))


def bits_of(x: Array) -> str:
    """The bytes of a NumPy scalar in hexadecimal, the most significant first."""
    return np.asarray(x).astype(x.dtype.newbyteorder(">")).tobytes().hex()


class Number(NamedTuple):
    """A number as it is written, before its dtype is known."""

    parts: tuple[str, ...]
    """One text, or two for a complex number."""

    def __str__(self) -> str:
        return self.parts[0] if len(self.parts) == 1 else f"complex({', '.join(self.parts)})"

    def of_dtype(self, dtype: np.dtype[Any]) -> Array:
        """The NumPy scalar; raises ValueError or OverflowError where this dtype does not have the number.

        >>> Number(("0.1",)).of_dtype(np.dtype(np.float32))
        np.float32(0.1)
        """
        if dtype.kind == "c":
            real = np.empty((), dtype).real.dtype
            parts = [float_of(text, real) for text in (*self.parts, "0.0")]
            return np.array(parts[:2], real).view(dtype)[0]
        if len(self.parts) == 2:
            raise ValueError("a complex number")
        text = self.parts[0]
        if dtype.kind == "b":
            return np.bool_(("False", "True").index(text))
        return dtype.type(int(text)) if dtype.kind in "iu" else float_of(text, dtype)

    def plain(self) -> bool | complex | float | int:
        """The Python number.

        >>> Number(("2",)).plain(), Number(("2.0",)).plain(), Number(("1.0", "inf")).plain()
        (2, 2.0, (1+infj))
        """
        if len(self.parts) == 2:
            return complex(float(self.parts[0]), float(self.parts[1]))
        text = self.parts[0]
        if text in ("True", "False"):
            return text == "True"
        return int(text) if text.lstrip("-").isdigit() else float(text)


def float_of(text: str, dtype: np.dtype[Any]) -> Array:
    """A float of this dtype; ``nan(0x...)`` gives the bits."""
    if not text.startswith("nan("):
        return dtype.type(text)
    bits = bytes.fromhex(text[len("nan(0x") : -1])
    return np.frombuffer(bits, dtype.newbyteorder(">")).astype(dtype)[0]


def named_dtype(name: str) -> np.dtype[Any] | None:
    """The dtype of a short name such as ``f64``; None if it is none.

    >>> named_dtype("u8"), named_dtype("f7")
    (dtype('uint8'), None)
    """
    if name != "bool" and not (name[0] in "fciu" and name[1:].isdigit()):
        return None
    try:
        found = dtype_from_name(name)
    except TypeError:
        return None
    return found if name == "bool" or found.itemsize * 8 == int(name[1:]) else None
