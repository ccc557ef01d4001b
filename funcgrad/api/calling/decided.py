"""Results that follow from the arguments by branches alone: their gradient is zero, and seldom what is meant.

A root that bisection finds is a midpoint of bounds that comparisons choose. No derivative flows through a
comparison, so the gradient is 0 for every library that differentiates programs; this one says so.
"""

from __future__ import annotations

import warnings

import numpy as np

from funcgrad.errors import ZeroGradientWarning
from funcgrad.ir.program import Program
from funcgrad.ir.steps import as_source, needed_steps
from funcgrad.source import Source, label_of, user_stacklevel
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import MANY_DECISIONS
from funcgrad.types import Result


def warn_if_decided(recorder: Recorder, output: int, gradients: Program, n_gradients: int) -> None:
    """Warn if the gradients are zeros, and a branch by what is traced has led to the output.

    A derivative of a function in pieces may well be flat: nothing is said of derivatives of derivatives.
    """
    if recorder.differentiated:
        return
    if not gradients.ends_with_zeros(n_gradients):
        return
    where = deciding(recorder, output)
    if where is not None:
        warnings.warn(
            f"the result of {recorder.name} depends on what it is differentiated by only through comparisons "
            f"({label_of(where.file)}:{where.line}), so its gradient is zero wherever it has one. "
            "What a search finds has a derivative by fg.scipy.optimize: bisect, brentq, root_scalar, "
            "minimize_scalar. fg.stop_gradient(result) says that it is meant.",
            ZeroGradientWarning,
            stacklevel=user_stacklevel(),
        )


def deciding(recorder: Recorder, output: int) -> Source | None:
    """Where what is traced has decided on the way to the output; None if nothing has, or something severs.

    One branch that Python took may be the flat piece of a function in pieces; a search takes many. What is
    recorded with all of its branches is flat in each of them.
    """
    steps = recorder.steps
    needed = needed_steps(steps, [output])
    if any(steps[i][0].severs for i in needed):
        return None
    for i in needed:
        if steps[i][0].decides:
            return as_source(recorder.sources[i])
    searches = len(recorder.decided) >= MANY_DECISIONS and not is_whole(recorder.values.get(output))
    return as_source(recorder.decided[0]) if searches else None


def is_whole(value: Result) -> bool:
    """Whether a result is none, or a whole number, as sums of flat pieces are."""
    return value is None or np.shape(value) != () or float(np.real(value)).is_integer()
