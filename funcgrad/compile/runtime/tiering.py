"""When un-jitted Programs are compiled: once they have been evaluated for as long as compiling would take.

This is the rule for renting or buying skis: whatever comes, at most twice the time of the better choice is
spent. Whether the machine code is on disk already is not known before the Program is scheduled, so the price
is that of compiling.
"""

from __future__ import annotations

import sys
from typing import Any

from funcgrad.ir.evaluate.handing_up import PROMOTION, Run
from funcgrad.ir.program import Program

NEVER = float("inf")
LONGEST = 4000
"""Equations above which a Program stays with the evaluator, unless it is jitted."""

START = 0.15
"""Seconds to load what compiles, the first time in a process."""

EACH_KERNEL, EACH_EQUATION = 0.03, 0.0015


def price(program: Program) -> float:
    """Roughly how many seconds it takes to compile a Program."""
    start = 0.0 if "funcgrad.compile.engines.direct.translate" in sys.modules else START
    return start + EACH_KERNEL + EACH_EQUATION * len(program)


def compiler(program: Program, spent: float) -> tuple[Run | None, float]:
    """The native form of a Program that has been evaluated for that long; or when to ask again."""
    if not 0 < len(program) <= LONGEST:
        return None, NEVER
    cost = price(program)
    if spent < cost:
        return None, cost
    from funcgrad.compile.runtime.executable import compiled  # noqa: PLC0415 - when first needed

    made = compiled(program)
    if made.kernels and worthwhile(made):
        return made.run, NEVER
    return None, NEVER


def worthwhile(made: Any) -> bool:
    """Whether native code does most of the work: not where most equations are left to the evaluator."""
    return 2 * len(made.reasons) <= len(made.program.equations)


def register() -> None:
    """Let Programs that are evaluated often be compiled."""
    PROMOTION.compiler = compiler
