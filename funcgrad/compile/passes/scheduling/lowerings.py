"""How primitives become steps: functions by class, which the modules of `funcgrad.compile.lower` register."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from funcgrad.errors import FuncgradError
from funcgrad.ir.program import Equation
from funcgrad.ops.arrays.structure import Reduction
from funcgrad.ops.random.draws import InOrder
from funcgrad.ops.random.random_words import RandomUniform
from funcgrad.ops.reducing.cumulative import Cumulative
from funcgrad.ops.reducing.reductions import ArgExtreme
from funcgrad.tracing.primitive import Primitive
from funcgrad.types import AnyPrimitive

if TYPE_CHECKING:
    from funcgrad.compile.passes.scheduling.schedule import Scheduler


class NotLowered(FuncgradError):
    """An equation that has no native form; it is left to the evaluator. The words say why."""


Lowering = Callable[["Scheduler", Equation], None]

LOWERINGS: dict[type, Lowering] = {}
"""How primitives are scheduled that are neither movements nor written as one expression."""

FAMILIES: dict[type, str] = {
    Reduction: "fold",
    Cumulative: "fold",
    ArgExtreme: "better",
    RandomUniform: "by_loops",
    InOrder: "numpys_loop",
    Primitive: "passes_on",
}
"""Families, and the field of a row that says that its lowering is its family's."""


def lowering_of(primitive: AnyPrimitive) -> Lowering | None:
    """The lowering of a primitive's class, or of its family where its row says what that needs."""
    cls: type = type(primitive)
    found = LOWERINGS.get(cls)
    if found is not None:
        return found
    for family, field in families_of(cls):
        if getattr(primitive, field):
            return LOWERINGS[family]
    return None


@cache
def families_of(cls: type) -> tuple[tuple[type, str], ...]:
    """The families of a class of primitives, and the fields that say whether their lowerings are its."""
    return tuple([(family, field) for family, field in FAMILIES.items() if issubclass(cls, family)])


def lowers(*primitives: type) -> Callable[[Lowering], Lowering]:
    """Register the lowering of primitives."""

    def register(function: Lowering) -> Lowering:
        for primitive in primitives:
            LOWERINGS[primitive] = function
        return function

    return register
