"""Numbers, conversions and the native forms of element-wise primitives, as kernels write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.ir.avals import dtype_name
from funcgrad.ir.program import Equation, Literal
from funcgrad.ir.text.numpy_source import number_source
from funcgrad.tracing.primitive import Native


def cast_name(dtype: np.dtype[Any]) -> str:
    """The name by which kernels convert a number to a dtype."""
    return "boolean" if dtype.kind == "b" else dtype_name(dtype)


def literal_text(atom: Literal) -> str:
    """A number as kernels write it, typed where Python's number would have another type."""
    dtype = atom.aval.dtype
    if dtype.kind == "b":
        return str(bool(atom.value))
    text = number_source(atom.value, dtype).replace("np.nan", "NAN").replace("np.inf", "INF")
    if dtype.char in "dD":
        return f"({text})" if text.startswith("-") else text
    return f"{cast_name(dtype)}({text})"


def is_simple(atom: Literal) -> bool:
    """Whether a number is one of the few that sources spell out."""
    value = atom.value
    return atom.aval.dtype.kind == "b" or bool(np.isnan(value) or abs(value) in (0, 0.5, 1, 2, np.inf))


def wrapped(text: str, dtype: np.dtype[Any]) -> str:
    """An expression of integers, brought back to their width."""
    return f"{cast_name(dtype)}({text})" if dtype.kind in "iu" else text


def scalar_template(equation: Equation) -> str | None:
    """The expression for one element of an element-wise equation; None where there is none."""
    # The last operand: the first one of `where` is a condition.
    dtype = equation.inputs[-1].aval.dtype
    out = equation.outputs[0].aval.dtype
    return spelled(equation.primitive.native_form(), dtype, out) or None


def spelled(native: Native, dtype: np.dtype[Any], out: np.dtype[Any]) -> str:
    """A native form for operands and results of these dtypes; empty where it has none for them."""
    if np.float16 in (dtype, out) or dtype.char in "gG":
        return ""
    forms = {"f": native} if isinstance(native, str) else native
    text = next((text for kinds, text in forms.items() if dtype.kind in kinds), "")
    return text.replace("{operand}", cast_name(dtype)).replace("{result}", cast_name(out))
