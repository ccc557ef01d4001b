"""The body of an exported function of flat inputs, with the arrays that it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from funcgrad.compile.export.array_text import array_body
from funcgrad.compile.export.module_text import recognised
from funcgrad.compile.export.portable import portable_text
from funcgrad.compile.export.threads import Division
from funcgrad.ir.program import Program


@dataclass(frozen=True)
class Body:
    """Lines up to the return of results, and what they refer to."""

    lines: list[str]
    inputs: list[tuple[str, bool]]
    """The name of each input, empty where nothing reads it, and whether it is read as a flat array."""
    results: list[str]
    constants: dict[str, Any]
    """Arrays of the module, by name."""
    holds_arrays: bool
    """Whether there are any, also among those that follow a rule."""


def body_of(program: Program, name: str, engine: str, division: Division | None = None) -> Body:
    """The body for a Program; raises NotLowered for what has no form outside of funcgrad."""
    if engine == "numpy":
        arrays = array_body(program)
        lines, captured = arrays.lines, arrays.captured
        inputs, results = [(x, False) for x in arrays.inputs], arrays.results
    else:
        portable = portable_text(program, division)
        lines, captured = list(portable.lines), portable.captured
        inputs, results = portable.inputs, list(portable.results)
        if portable.may_fail:
            words = f"{name}: an index is out of bounds, or a matrix is singular"
            lines += ["    if failed[0] != 0:", f'        raise IndexError("{words}")']
    constants: dict[str, Any] = {}
    held = []
    for local, (array, flat) in captured.items():
        rule = recognised(array)
        if rule is None:
            rule = f"{name.upper()}_{local.upper()}"
            constants[rule] = array
        form = "[()]" if not array.ndim else ".ravel()" if flat and array.ndim > 1 else ""
        held.append(f"    {local} = {rule}{form}")
    holds_arrays = any(array.size > 1 for array, _ in captured.values())
    return Body([*held, *lines], inputs, results, constants, holds_arrays)
