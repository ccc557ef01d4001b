"""A failing program in its smallest form, by taking blocks away as long as it fails in the same way.

A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input" (2002).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.soak.programs import Program


def reduced(program: Program, failure: Callable[[Program], str | None]) -> Program:
    """The program with as few blocks as still give the same `failure`."""
    kind = failure(program)
    size = max(len(program.blocks) // 2, 1)
    while True:
        smaller = next(
            (
                candidate
                for start in range(0, len(program.blocks), size)
                if (candidate := without(program, start, size)) is not None and failure(candidate) == kind
            ),
            None,
        )
        if smaller is not None:
            program = smaller
        elif size > 1:
            size //= 2
        else:
            return program


def without(program: Program, start: int, size: int) -> Program | None:
    """The program without some blocks and what reads them."""
    dropped = frozenset([block.out for block in program.blocks[start : start + size]])
    found = program.without(dropped)
    return found if found is not None and len(found.blocks) < len(program.blocks) else None
