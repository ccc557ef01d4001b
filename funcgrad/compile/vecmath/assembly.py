"""Functions as modules of LLVM's assembly, to be linked into the module of a caller and inlined there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from funcgrad.compile.vecmath.body import Body, Value
from funcgrad.compile.vecmath.formats import Format

Function = Callable[..., Value]


def symbol(name: str, format: Format) -> str:
    """The name of a function in LLVM's assembly."""
    return f"funcgrad.{name}.{format.name}"


def written(function: Function, arity: int, format: Format) -> tuple[Body, Value]:
    """The instructions of a function, and its result."""
    body = Body(format)
    return body, function(*body.parameters(arity))


@cache
def assembly(name: str, function: Function, arity: int, format: Format) -> str:
    """A function as a module of LLVM's assembly."""
    body, result = written(function, arity, format)
    parameters = body.parameters(arity)
    arguments = ", ".join(f"{p.kind} {p.name}" for p in parameters)
    return "\n".join(
        [
            *sorted(body.declarations),
            *sorted(body.globals),
            *body.helpers.values(),
            kept(list(body.helpers)),
            f"define linkonce_odr {format.real} @{symbol(name, format)}({arguments}) alwaysinline {{",
            *body.lines,
            f"  ret {result.kind} {result.name}",
            "}",
        ]
    )


def kept(helpers: list[str]) -> str:
    """Keeps functions that nothing calls yet: the vectoriser will."""
    if not helpers:
        return ""
    pointers = ", ".join(f"ptr @{name}" for name in helpers)
    return (
        f'@llvm.compiler.used = appending global [{len(helpers)} x ptr] [{pointers}], section "llvm.metadata"'
    )
