"""What a solver takes for granted: where it does not hold a flag is raised, and NumPy raises the error."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.lower.indexing import note
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.nests import Let, Store, squeezed
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Atom, Equation
from funcgrad.transforms.solved.regular import Regular
from funcgrad.transforms.solved.upheld import Upheld


@lowers(Upheld)
def lower_upheld(scheduler: Scheduler, equation: Equation) -> None:
    """The array itself; what holds is looked at once."""
    x, holds = equation.inputs
    if holds.aval.shape:
        raise NotLowered("a condition for each example has no native form")
    flag, wrong = View.whole(scheduler.local.failure_flag(), ()), scheduler.local.fresh("wrong")
    nest = scheduler.nest_for((), scheduler.bound(holds, ()))
    denied = Let(wrong, "not {0}", (scheduler.operand(holds, nest),), np.dtype(np.bool_), 1, equation.source)
    nest.body.append(denied)
    nest.body.append(Store(flag, "1", equation.source, wrong))
    scheduler.alias(equation.outputs[0], x)


@lowers(Regular)
def lower_regular(scheduler: Scheduler, equation: Equation) -> None:
    """Matrices of one number, which are singular where that is zero or not finite; as they are."""
    matrix, solved = equation.inputs
    if matrix.aval.shape[-2:] != (1, 1) or matrix.aval.dtype not in (np.float32, np.float64):
        raise NotLowered(f"regular of {matrix.aval} has no native form")
    flag_where(scheduler, matrix, "not ((fabs({0}) < INF) & ({0} != 0))", equation)
    flag_where(scheduler, solved, "not {0}", equation)
    scheduler.alias(equation.outputs[0], matrix)


def flag_where(scheduler: Scheduler, atom: Atom, template: str, equation: Equation) -> None:
    """Raise the flag where the text is true of any element."""
    shape = squeezed(atom.aval.shape)
    nest = scheduler.nest_for(shape, scheduler.bound(atom, shape))
    wrong = scheduler.local.fresh("wrong")
    operand = scheduler.operand(atom, nest)
    nest.body.append(Let(wrong, template, (operand,), np.dtype(np.bool_), 1, equation.source))
    note(scheduler, nest, wrong, equation.source)
