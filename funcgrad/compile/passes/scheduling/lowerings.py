"""How primitives become steps: functions by class, which the modules of `funcgrad.compile.lower` register."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from funcgrad.errors import FuncgradError
from funcgrad.ir.program import Equation
from funcgrad.ops.arrays.structure import Reduction
from funcgrad.ops.reducing.cumulative import Cumulative
from funcgrad.types import AnyPrimitive

if TYPE_CHECKING:
    from funcgrad.compile.passes.scheduling.schedule import Scheduler


class NotLowered(FuncgradError):
    """An equation that has no native form; it is left to the evaluator. The words say why."""


Lowering = Callable[["Scheduler", Equation], None]

LOWERINGS: dict[type, Lowering] = {}
"""How primitives are scheduled that are neither movements nor written as one expression."""

FOLDING = (Reduction, Cumulative)
"""Families whose lowering is that of all members that have a `fold`."""


def lowering_of(primitive: AnyPrimitive) -> Lowering | None:
    """The lowering of a primitive's class, or of its family where its row says how elements are combined."""
    found = LOWERINGS.get(type(primitive))
    if found is None and primitive.fold is not None:
        found = next((LOWERINGS[family] for family in FOLDING if isinstance(primitive, family)), None)
    return found


def lowers(*primitives: type) -> Callable[[Lowering], Lowering]:
    """Register the lowering of primitives."""

    def register(function: Lowering) -> Lowering:
        for primitive in primitives:
            LOWERINGS[primitive] = function
        return function

    return register
