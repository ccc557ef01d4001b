"""What a solver takes for granted: where it does not hold a flag is raised, and NumPy raises the error."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.nests import Let, Store
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
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
