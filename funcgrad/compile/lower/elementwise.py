"""Numbers, conversions and the native forms of element-wise primitives, as kernels write them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, TypeGuard

import numpy as np

from funcgrad.compile.language.rows import NAMES
from funcgrad.compile.runtime.addresses.scipy_functions import function_of_numbers
from funcgrad.errors import ProgramError, did_you_mean
from funcgrad.ir.avals import dtype_name
from funcgrad.ir.program import Equation, Literal
from funcgrad.ir.text.numpy_source import number_source
from funcgrad.later import Later
from funcgrad.tracing.primitive import Compiled, Native
from funcgrad.types import AnyPrimitive

# Numba is behind it.
njit_calls = Later("funcgrad.compile.runtime.addresses.njit_calls")


def cast_name(dtype: np.dtype[Any]) -> str:
    """The name by which kernels convert a number to a dtype."""
    return "boolean" if dtype.kind == "b" else dtype_name(dtype)


SIMPLE = (0, 0.5, -0.5, 1, -1, 2, -2, np.inf, -np.inf)


def simple_text(atom: Literal) -> str:
    """One of the few numbers that sources spell out, as kernels write it; empty for others."""
    return text_of_number(atom.value.tobytes(), atom.value.dtype, atom.aval.dtype)


@lru_cache(maxsize=1024)
def text_of_number(raw: bytes, given: np.dtype[Any], dtype: np.dtype[Any]) -> str:
    """The same for the number that these bytes are, typed where Python's number would have another type."""
    value = np.frombuffer(raw, given)[0]
    if dtype.kind == "b":
        return str(bool(value))
    if not np.isnan(value) and value not in SIMPLE:
        return ""
    text = number_source(value, dtype).replace("np.nan", "NAN").replace("np.inf", "INF")
    if dtype.char in "dD":
        return f"({text})" if text.startswith("-") else text
    return f"{cast_name(dtype)}({text})"


def wrapped(text: str, dtype: np.dtype[Any]) -> str:
    """An expression of integers, brought back to their width."""
    return f"{cast_name(dtype)}({text})" if dtype.kind in "iu" else text


def scalar_template(equation: Equation) -> str | None:
    """The expression for one element of an element-wise equation; None where there is none."""
    # The last operand: the first one of `where` is a condition.
    inputs = equation.inputs
    return text_of(equation.primitive, len(inputs), inputs[-1].aval.dtype, equation.outputs[0].aval.dtype)


@lru_cache(maxsize=1024)
def text_of(primitive: AnyPrimitive, operands: int, dtype: np.dtype[Any], out: np.dtype[Any]) -> str | None:
    """The native form of a primitive, where it is text, for operands and results of these dtypes."""
    form = primitive.native_form()
    if not is_text(form):
        return None
    text = spelled(form, dtype, out)
    check_text(primitive.name, text, operands)
    return text or None


def call_template(equation: Equation, constant: Callable[[str, int], str]) -> str | None:
    """The call of the function that Numba has compiled for one element; None where there is none.

    `constant` gives an address its name.
    """
    form = equation.primitive.native_form()
    if is_text(form) or not {*[a.aval.dtype for a in (*equation.inputs, *equation.outputs)]} <= FLOATS:
        return None
    # A function among the members of a class comes out as a method.
    address = njit_calls.number_function(getattr(form, "__func__", form), len(equation.inputs))
    name = constant(equation.primitive.name, address)
    return number_call(name, len(equation.inputs), equation.outputs[0].aval.dtype)


def address_template(equation: Equation, constant: Callable[[str, int], str]) -> str | None:
    """The call of SciPy's function of doubles for one element; None where there is none."""
    name: str = getattr(equation.primitive, "at_address", "")
    out = equation.outputs[0].aval.dtype
    if not name or not {*[a.aval.dtype for a in equation.inputs], out} <= FLOATS:
        return None
    address = function_of_numbers(name, len(equation.inputs))
    if address is None:
        return None
    return number_call(constant(f"scipy_{name}", address), len(equation.inputs), out)


def number_call(address: str, operands: int, out: np.dtype[Any]) -> str:
    """The call of a function of doubles at an address, rounded to the dtype of the result."""
    given = ", ".join([f"f64({{{k}}})" for k in range(operands)])
    call = f"call_number({address}, {given})"
    return call if out == np.float64 else f"{cast_name(out)}({call})"


FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}
"""The numbers of which functions of the user's are called; they compute in double precision."""


@cache
def check_text(name: str, text: str, operands: int) -> None:
    """Raise ProgramError for a native form that kernels could not be compiled with."""
    try:
        tree = ast.parse(text.format(*["NAN"] * operands) or "0", mode="eval")
    except (SyntaxError, LookupError) as error:
        raise ProgramError(
            f"the native form of {name} is no expression of {operands} operands: {text}",
            remedy="Write it with {0} for the first operand, as in '{0} / (1.0 + fabs({0}))'.",
        ) from error
    unknown = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in NAMES]
    if unknown:
        raise ProgramError(
            f"the native form of {name} has a word that kernels do not know, {unknown[0]}: {text}",
            remedy=did_you_mean(unknown[0], NAMES)
            or "The words are those of funcgrad.compile.language; leave the form out to have NumPy called.",
        )


def spelled(native: Native, dtype: np.dtype[Any], out: np.dtype[Any]) -> str:
    """A native form for operands and results of these dtypes; empty where it has none for them."""
    if dtype.char in "egG" or out.char == "e":
        return ""
    kind, text = dtype.kind, ""
    if isinstance(native, str):
        text = native if kind == "f" else ""
    else:
        for kinds, form in native.items():
            if kind in kinds:
                text = form
                break
    if "{operand}" in text or "{result}" in text:
        return text.replace("{operand}", cast_name(dtype)).replace("{result}", cast_name(out))
    return text


def is_text(form: Native | Compiled) -> TypeGuard[Native]:
    """Whether a native form is text, by kinds of numbers or for all of them, and not a function."""
    return isinstance(form, (str, Mapping))
