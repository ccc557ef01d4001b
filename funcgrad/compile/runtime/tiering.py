"""When un-jitted Programs are compiled: once they have been evaluated for as long as compiling would take.

This is the rule for renting or buying skis: whatever comes, at most twice the time of the better choice is
spent. Nobody waits long for what they have not asked for: what would take LLVM more than a second, as is seen
once equal parts have become functions, is left to the evaluator, unless its machine code is on disk already.
What is on disk costs a millisecond or two, and is taken at the first question.
"""

from __future__ import annotations

import sys
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

from funcgrad.collector import CollectorPaused
from funcgrad.config import engine_name
from funcgrad.ir.evaluate.handing_up import PROMOTION, Run
from funcgrad.ir.program import Program
from funcgrad.later import Later

if TYPE_CHECKING:
    from funcgrad.compile.runtime.executable import Executable

executables = Later("funcgrad.compile.runtime.executable")
known_kernels = Later("funcgrad.compile.runtime.known_kernels")

NEVER = float("inf")
LONGEST = 2000
"""Equations above which a Program stays with the evaluator, unless it is jitted."""

PATIENCE = 1.0
"""Seconds of compilation that nobody who has not asked for it is made to wait for."""

START = 0.15
"""Seconds to load what compiles, the first time in a process."""

EACH_KERNEL, EACH_EQUATION = 0.03, 0.0015

PARTS = tuple(
    f"funcgrad.compile.{name}"
    for name in ("passes.pipeline", "runtime.executable", "engines.direct.translate", "passes.kernel")
)
"""What compiles. Each part is imported at a call of its own, before the one that compiles."""

REST = 1.0
"""Seconds without compiling for each second of it, so that what is waited for does not come all at once."""

START_NUMBA, NUMBA = 0.7, 3.0
"""The same by Numba: seconds to load it, and how many times as long it takes."""


def price(program: Program) -> float:
    """Roughly how many seconds it takes to compile a Program."""
    if engine_name() == "numba":
        start = 0.0 if "numba" in sys.modules else START_NUMBA
        return start + NUMBA * (EACH_KERNEL + EACH_EQUATION * len(program))
    start = 0.0 if "funcgrad.compile.engines.direct.translate" in sys.modules else START
    return start + EACH_KERNEL + min(EACH_EQUATION * len(program), PATIENCE)


def compiler(program: Program, spent: float) -> tuple[Run | None, float]:
    """The native form of a Program that has been evaluated for that long; or when to ask again."""
    if not 0 < len(program) <= LONGEST:
        return None, NEVER
    cost = price(program)
    if spent < cost and not (pays_to_load(spent) and on_disk(program)):
        return None, min(cost, 2 * spent)
    start = perf_counter()
    if start < Rest.until:
        return None, spent + (Rest.until - start) / 10
    try:
        if spent >= cost and load_part():
            return None, spent
        made = executables.compiled_soon(program, PATIENCE)
    finally:
        Rest.until = perf_counter() + REST * (perf_counter() - start)
    if made is not None and made.kernel_count and worthwhile(made):
        return made.run, NEVER
    return None, NEVER


def load_part() -> bool:
    """Import a part of what compiles, if one is missing: nobody waits for all of it at once."""
    for part in PARTS if engine_name() != "numba" else ():
        if part not in sys.modules:
            with CollectorPaused():
                import_module(part)
            return True
    return False


class Rest:
    """When something may be compiled again: of a training step's many Programs one at a time."""

    until = 0.0


class Waiting:
    """The seconds after which Programs have asked in vain, all together: many wait no longer than one."""

    seconds = 0.0


def pays_to_load(spent: float) -> bool:
    """Whether what calls machine code is there, or all Programs have waited for as long as loading takes."""
    if "funcgrad.compile.runtime.executable" in sys.modules:
        return True
    Waiting.seconds += spent / 2  # a Program asks at twice the seconds of its last time
    return Waiting.seconds >= START


def on_disk(program: Program) -> bool:
    """Whether an earlier process has left the machine code of a Program, a millisecond or two away."""
    return known_kernels.known_facts(program)[1] is not None


def worthwhile(made: Executable) -> bool:
    """Whether native code does most of the work: not where most equations are left to the evaluator."""
    return 2 * len(made.reasons) <= len(made.program.equations)


def register() -> None:
    """Let Programs that are evaluated often be compiled."""
    PROMOTION.compiler = compiler
