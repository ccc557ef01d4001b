"""What exported modules have no form for, with the reason, and operations on no elements, which need none."""

from __future__ import annotations

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.ir.program import Equation
from funcgrad.ops.interpolation.splines import SplineFilter
from funcgrad.ops.linalg.failing import HasNoFactor
from funcgrad.ops.linalg.general import LargestFirst
from funcgrad.ops.linalg.schur import Schur, SchurTurn
from funcgrad.ops.random.draws import SampledProduct
from funcgrad.ops.random.values_of_laws import LawValue
from funcgrad.ops.reducing.softmax import Exponential, LogSumExp
from funcgrad.ops.signal.convolution import Convolution
from funcgrad.ops.signal.fft import Transform
from funcgrad.ops.sparse.found import SparseFound
from funcgrad.ops.sparse.systems import SparseSolve
from funcgrad.ops.specials.incomplete import ByParameters
from funcgrad.tracing.primitive import Primitive
from funcgrad.transforms.solved.regular import Regular
from funcgrad.transforms.solved.retraced import Retraced
from funcgrad.transforms.solved.solving import Solved

REASONS: dict[type[Primitive], str] = {
    ByParameters: "higher orders by parameters need zeta functions inside of a quadrature",
    HasNoFactor: "whether a factor exists is told by NumPy's error, which compiled code does not raise",
    LawValue: "it is computed by scipy.stats, which modules do not import",
    Regular: "its error belongs to a solver, and solvers have no form outside of funcgrad",
    Retraced: "its error belongs to solve_ivp, and solvers have no form outside of funcgrad",
    Schur: "neither NumPy nor Numba has a Schur form of real matrices",
    SchurTurn: "neither NumPy nor Numba has a Schur form of real matrices",
    Solved: "its steps are SciPy's, which calls functions of Python with values",
    SparseFound: "the solver is SciPy's, and neither NumPy nor Numba has it",
    SparseSolve: "sparse factors are SciPy's, and neither NumPy nor Numba has them",
    SplineFilter: "the filter is SciPy's, and neither NumPy nor Numba has it",
}
"""Why there is no form, where the scheduler knows that there is none and not why."""

OF_NOTHING = (Convolution, Exponential, LargestFirst, SampledProduct, Transform)
"""Operations whose results of no elements are known."""


def reason_of(equation: Equation, error: NotLowered) -> str:
    """Why an equation has no form."""
    reasons = [reason for kind, reason in REASONS.items() if isinstance(equation.primitive, kind)]
    return reasons[0] if reasons else str(error)


def is_of_nothing(equation: Equation) -> bool:
    """Whether operands or results have no elements, and the results are known without any."""
    avals = [a.aval for a in (*equation.inputs, *equation.outputs)]
    return isinstance(equation.primitive, OF_NOTHING) and any(not aval.size for aval in avals)


def lower_nothing(scheduler: Scheduler, equation: Equation) -> None:
    """The result of no elements: empty, or what a sum of none is."""
    (out,) = equation.outputs
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    value = "-np.inf" if isinstance(equation.primitive, LogSumExp) else "0.0"

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        if out.aval.size:
            writer.line(f"{target.buffer.name}[...] = {value}")

    scheduler.define_view(out, target, scheduler.special(equation.primitive.name, emit, [], [target]))
