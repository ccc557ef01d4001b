"""The body of an exported function of flat inputs, with the arrays that it holds, and Programs as modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from funcgrad.compile.export.module_text import Door, Leaf, module_text, recognised
from funcgrad.compile.export.portable import PortableText, portable_text
from funcgrad.ir.program import Program


@dataclass(frozen=True)
class Body:
    """Lines up to the return of results, and what they refer to."""

    lines: list[str]
    results: list[str]
    constants: dict[str, Any]
    """Arrays of the module, by name."""
    portable: PortableText


def body_of(program: Program, name: str) -> Body:
    """The body for a Program; raises NotLowered for what has no form outside of funcgrad."""
    portable = portable_text(program)
    constants: dict[str, Any] = {}
    lines = []
    for local, (array, flat) in portable.captured.items():
        rule = recognised(array)
        if rule is None:
            rule = f"{name.upper()}_{local.upper()}"
            constants[rule] = array
        form = "[()]" if not array.ndim else ".ravel()" if flat and array.ndim > 1 else ""
        lines.append(f"    {local} = {rule}{form}")
    lines += portable.lines
    if portable.may_fail:
        words = f"{name}: an index is out of bounds, or a matrix is singular"
        lines += ["    if failed[0] != 0:", f'        raise IndexError("{words}")']
    return Body(lines, list(portable.results), constants, portable)


def program_module(program: Program, name: str, engine: str = "numba") -> str:
    """A Program as a module with a function of its flat inputs, for its own sizes, that returns a tuple."""
    body = body_of(program, name)
    parameters = [local or f"unused{k}" for k, (local, _) in enumerate(body.portable.inputs)]
    leaves = [
        Leaf(local, parameter, v.aval, flat)
        for parameter, (local, flat), v in zip(parameters, body.portable.inputs, program.inputs, strict=True)
        if local
    ]
    returned = f"({', '.join(body.results)}{',' if len(body.results) == 1 else ''})"
    door = Door(name, parameters, returned, [f"{name}.", "A Program for its own sizes."], True, {})
    return module_text(door, leaves, ["", *body.lines, f"    return {returned}"], body.constants, engine)
