"""Programs as the source of Python functions over NumPy.

Owns one line per equation; the evaluator compiles the same lines that a reader sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.program import Equation, Literal, Program


def literal_source(atom: Literal, *, bare: bool) -> str:
    """A scalar constant; `bare` leaves out the dtype where promotion supplies it."""
    value, dtype = atom.value, atom.aval.dtype
    if bare or dtype.name in ("float64", "int64", "complex128", "bool"):
        text = repr(np.asarray(value).item()) if dtype.kind != "f" else repr(float(value))
        text = text.replace("inf", "np.inf").replace("nan", "np.nan")
        typed = text if bare else f"np.{dtype.name.replace('bool', 'bool_')}({text})"
        return f"({typed})" if typed.startswith("-") else typed
    return f"np.{dtype.name}({np.asarray(value).item()!r})".replace("(inf", "(np.inf").replace("(nan", "(np.nan")


def equation_source(equation: Equation, names: dict[Any, str], helpers: dict[str, Any]) -> str:
    """The right-hand side for one equation; primitives without an expression become helpers."""
    others = [a for a in equation.inputs if type(a) is not Literal]
    bare = any(a.aval.dtype == b.aval.dtype for a in others for b in equation.inputs if type(b) is Literal)
    atoms = [
        literal_source(a, bare=bare and bool(others) and a.aval.dtype == others[0].aval.dtype)
        if type(a) is Literal
        else names[a]
        for a in equation.inputs
    ]
    text: str | None = equation.primitive.expression(atoms, [a.aval for a in equation.inputs])
    if text is not None:
        return text
    name = f"{equation.primitive.name}_{len(helpers)}"
    for known, primitive in helpers.items():
        if primitive is equation.primitive:
            name = known
    helpers[name] = equation.primitive
    return f"{name}({', '.join(atoms)})"


def targets(equation: Equation, names: dict[Any, str]) -> str:
    """The left-hand side of an equation's line."""
    text = ", ".join(names[v] for v in equation.outputs)
    return text + "," if equation.primitive.multiple and len(equation.outputs) == 1 else text


def tuple_source(items: Sequence[str]) -> str:
    """A tuple display."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def numpy_source(program: Program) -> str:
    """The whole Program as a runnable function."""
    raise NotImplementedError
