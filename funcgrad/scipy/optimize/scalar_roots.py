"""Roots of functions of one number: `root_scalar` and the methods behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError, UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.derived import tangent
from funcgrad.scipy.optimize.brackets import Tolerances, brent_loop, brent_many
from funcgrad.scipy.optimize.options import Options, found, frozen, report, scipys, thawed
from funcgrad.scipy.recorded import FLOAT, as_args, is_plain, known, real_scalar, real_vector, scalar_function
from funcgrad.source import Source, user_location
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import recorder_of
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.solved.implicit import Implicit
from funcgrad.transforms.solved.method import Programs
from funcgrad.types import Array, ArrayLike, ExtraArguments, Option, ScipyResult

__all__ = ["bisect", "brenth", "brentq", "newton", "ridder", "root_scalar", "toms748"]

Function = Callable[..., Any]

RTOL = 4 * float(np.finfo(float).eps)
NUMBER = Aval((), FLOAT)


@dataclass(frozen=True)
class Bracketed(Implicit):
    """A method that narrows a bracket: ``a, b, parameters``."""

    solver: str
    options: Options
    disp: bool = True
    """Whether a search that does not converge raises."""

    n_hints = 2

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        a, b, *parameters = values
        (program,) = programs

        def function(x: float) -> float:
            return float(program.evaluate(np.float64(x), *parameters)[0])

        options = thawed(self.options)
        x, found = scipys(self.solver)(
            function, float(a), float(b), full_output=True, disp=self.disp, **options
        )
        return x, *report(found.converged, found.converged, 0, found.iterations, found.function_calls)

    def solve_many(
        self, programs: Programs, values: Sequence[Any], size: int, flags: Flags
    ) -> Sequence[Any] | None:
        if self.solver != "brentq":
            return None
        (program,) = programs
        together = batched(program, size, (True, *flags[2:]))
        parameters = values[2:]

        def function(x: Array) -> Array:
            return together.evaluate(x, *parameters)[0]

        a, b = (np.broadcast_to(np.asarray(x, FLOAT), size) for x in values[:2])
        return brent_many(function, a, b, self.tolerances)

    def written_out(
        self, programs: Programs, avals: Sequence[Aval], size: int, flags: Flags
    ) -> Program | None:
        if self.solver != "brentq":
            return None
        (program,) = programs
        together = batched(program, size, (True, *flags[2:]))
        return brent_loop(together, avals, size, self.tolerances)

    @property
    def tolerances(self) -> Tolerances:
        """The options of Brent's method."""
        return Tolerances(**thawed(self.options), disp=self.disp)


def batched(program: Program, size: int, flags: Flags) -> Program:
    """The Program over a batch of examples, made once."""
    key = (program, size, flags)
    made = _BATCHED.get(key)
    if made is None:
        if len(_BATCHED) > 64:
            _BATCHED.clear()
        made = _BATCHED[key] = batch_program(program, size, flags)
    return made


_BATCHED: dict[Any, Program] = {}


def bracketed(
    solver: str,
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments,
    full_output: bool,
    disp: bool,
    options: dict[str, Any],
) -> ScipyResult:
    """What the functions of this module that take a bracket do."""
    if is_plain(a, b, args):
        return scipys(solver)(f, a, b, as_args(args), full_output=full_output, disp=disp, **options)
    traced = [name for name, value in options.items() if recorder_of([value]) is not None]
    if traced:
        raise UnsupportedFunctionError(
            f"{solver} takes no traced {traced[0]}: it decides how long the search goes on",
            source=Source(*user_location()),
            remedy=f"Give {traced[0]} as a number, or name it in static_argnames of fg.jit.",
        )
    # What SciPy refuses of them is refused here, at the user's line and for batches too.
    scipys(solver)(lambda x: x, -1.0, 1.0, disp=False, **options)
    ends = [real_scalar(x, solver) for x in (a, b)]
    function = scalar_function(f, [NUMBER], solver, as_args(args))
    chosen = Bracketed(solver, solver, frozen(options), bool(disp))
    root, _, ok, _, nit, nfev = found(chosen, (function.program,), [*ends, *function.constants])
    return (root, results(root, nit, nfev, ok, solver)) if full_output else root


def results(
    root: Array, iterations: Array, function_calls: Array, converged: Array, method: str
) -> ScipyResult:
    """SciPy's object for what is known of a root."""
    outcome = scipys("RootResults")(root, iterations, function_calls, 0, method)
    outcome.converged, outcome.flag = converged, "found inside a trace; converged says how the search ended"
    return outcome


def brentq(
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments = (),
    xtol: float = 2e-12,
    rtol: float = RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> ScipyResult:
    """A root of `f` between `a` and `b` by Brent's method, differentiable in all that `f` depends on.

    Under `vmap` all brackets are narrowed together. Raises SciPy's errors for a bracket without a change of
    sign, and NotDifferentiableError where the slope at the root is zero.

    >>> def root(a):
    ...     return fg.scipy.optimize.brentq(lambda x: x**3 - a, 0.0, 10.0)
    >>> print(round(root(8.0), 6), round(fg.grad(root)(8.0), 6), round(fg.grad(fg.grad(root))(8.0), 6))
    2.0 0.083333 -0.006944
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    return bracketed("brentq", f, a, b, args, full_output, disp, options)


def brenth(
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments = (),
    xtol: float = 2e-12,
    rtol: float = RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> ScipyResult:
    """As `brentq`, with hyperbolic extrapolation.

    >>> print(round(fg.grad(lambda a: fg.scipy.optimize.brenth(lambda x: x**3 - a, 0.0, 10.0))(8.0), 6))
    0.083333
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    return bracketed("brenth", f, a, b, args, full_output, disp, options)


def bisect(
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments = (),
    xtol: float = 2e-12,
    rtol: float = RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> ScipyResult:
    """As `brentq`, by halving the bracket.

    >>> print(round(fg.grad(lambda a: fg.scipy.optimize.bisect(lambda x: x**3 - a, 0.0, 10.0))(8.0), 6))
    0.083333
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    return bracketed("bisect", f, a, b, args, full_output, disp, options)


def ridder(
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments = (),
    xtol: float = 2e-12,
    rtol: float = RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> ScipyResult:
    """As `brentq`, by Ridder's method.

    >>> print(round(fg.grad(lambda a: fg.scipy.optimize.ridder(lambda x: x**3 - a, 0.0, 10.0))(8.0), 6))
    0.083333
    """
    options = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    return bracketed("ridder", f, a, b, args, full_output, disp, options)


def toms748(
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments = (),
    k: int = 1,
    xtol: float = 2e-12,
    rtol: float = RTOL,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> ScipyResult:
    """As `brentq`, by algorithm 748 of ACM's Transactions on Mathematical Software.

    >>> print(round(fg.grad(lambda a: fg.scipy.optimize.toms748(lambda x: x**3 - a, 0.0, 10.0))(8.0), 6))
    0.083333
    """
    options = {"k": k, "xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    return bracketed("toms748", f, a, b, args, full_output, disp, options)


@dataclass(frozen=True)
class Newton(Implicit):
    """`scipy.optimize.newton` on one number or on every element of an array: ``x0, parameters``."""

    options: Options
    order: int
    """How many exact derivatives the search uses: 0 for the secant method, 2 for Halley's."""

    elementwise = True

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        start, *parameters = values
        program, slope, curvature = programs
        one = np.ones(np.shape(start)) if np.ndim(start) else np.float64(1.0)

        def function(x: Array) -> Array:
            return program.evaluate(np.float64(x), *parameters)[0]

        def first(x: Array) -> Array:
            return slope.evaluate(np.float64(x), *parameters, one)[0]

        def second(x: Array) -> Array:
            return curvature.evaluate(np.float64(x), *parameters, one, one)[0]

        outcome = scipys("newton")(
            function,
            start,
            fprime=first if self.order else None,
            fprime2=second if self.order == 2 else None,
            full_output=True,
            **thawed(self.options),
        )
        if np.ndim(start):
            return outcome[0], *report(np.all(outcome[1]), np.all(outcome[1]))
        x, told = outcome
        return x, *report(told.converged, told.converged, 0, told.iterations, told.function_calls)


def newton(
    func: Function,
    x0: ArrayLike,
    fprime: Callable[..., Any] | bool | None = None,
    args: ExtraArguments = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Callable[..., Any] | bool | None = None,
    x1: ArrayLike = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> ScipyResult:
    """A root of `func` near `x0`, of every element of an array, by the secant, Newton's or Halley's method.

    Which of them says whether `fprime` and `fprime2` are given, as in SciPy; inside a trace their exact
    values stand for them, and the function may also be ``fprime=True``, ``fprime2=True``.

    >>> def roots(a):
    ...     return fg.scipy.optimize.newton(lambda x: x**2 - a, np.ones(2), fprime=True)
    >>> print(roots(np.array([4.0, 9.0])).round(6))
    [2. 3.]
    """
    given = {"tol": tol, "maxiter": maxiter, "x1": x1, "rtol": rtol, "disp": disp}
    order = 0 if fprime is None else 1 if fprime2 is None else 2
    plain = is_plain(x0, args, x1)
    if plain and fprime is not True and fprime2 is not True:
        return scipys("newton")(
            func, x0, fprime, as_args(args), fprime2=fprime2, full_output=full_output, **given
        )
    shape = aval_of(np.asarray(x0) if isinstance(x0, list | tuple) else x0).shape
    start = real_vector(x0, "newton").reshape(shape)
    seen = aval_of(start).strong
    function = known(lambda x: func(x, *as_args(args)) + 0.0 * x, [seen], "newton", "function")
    if function.program.out_avals[0].shape != shape:
        raise ShapeError(f"newton looks for roots of each of {shape}, and the function returns others")
    slope = tangent(function.program)
    programs = (function.program, slope, tangent(slope))
    chosen = Newton("newton", frozen(given), order)
    x, _, ok, _, nit, nfev = found(chosen, programs, [start, *function.constants])
    if not full_output:
        return x
    return (x, results(x, nit, nfev, ok, "newton")) if not shape else (x, ok, np.zeros(shape, bool))


BRACKETING: dict[str, Function] = {
    "bisect": bisect,
    "brentq": brentq,
    "brenth": brenth,
    "ridder": ridder,
    "toms748": toms748,
}


def root_scalar(
    f: Function,
    args: ExtraArguments = (),
    method: str | None = None,
    bracket: Option = None,
    fprime: Callable[..., Any] | bool | None = None,
    fprime2: Callable[..., Any] | bool | None = None,
    x0: ArrayLike = None,
    x1: ArrayLike = None,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
    options: dict[str, Any] | None = None,
) -> ScipyResult:
    """A root of a function of one number, by any of SciPy's methods; returns SciPy's ``RootResults``.

    >>> def root(a):
    ...     return fg.scipy.optimize.root_scalar(lambda x: np.exp(x) - a, bracket=(-5.0, 5.0)).root
    >>> print(round(root(2.0), 6), round(fg.grad(root)(2.0), 6))
    0.693147 0.5
    """
    if is_plain(args, bracket, x0, x1):
        limits_given = (xtol, rtol, maxiter, options)
        return scipys("root_scalar")(
            f, as_args(args), method, bracket, fprime, fprime2, x0, x1, *limits_given
        )
    given = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    limits = {key: value for key, value in given.items() if value is not None} | (options or {})
    chosen = (method or default_method(bracket, fprime, fprime2, x0, x1)).lower()
    if chosen in BRACKETING:
        if bracket is None:
            raise ValueError(f"Bracket needed for {chosen}")
        return BRACKETING[chosen](f, *bracket, args, full_output=True, disp=False, **limits)[1]
    if chosen not in ("newton", "secant", "halley"):
        raise ValueError(f"Unknown solver {chosen}")
    if x0 is None:
        raise ValueError(f"x0 must not be None for {chosen}")
    if "xtol" in limits:
        limits["tol"] = limits.pop("xtol")
    values = (lambda *a: f(*a)[0]) if fprime is True else f
    first = None if chosen == "secant" else True
    second = True if chosen == "halley" else None
    return newton(values, x0, first, args, fprime2=second, x1=x1, full_output=True, disp=False, **limits)[1]


def default_method(
    bracket: Option,
    fprime: Callable[..., Any] | bool | None,
    fprime2: Callable[..., Any] | bool | None,
    x0: ArrayLike,
    x1: ArrayLike,
) -> str:
    """The method that SciPy takes for what is given."""
    if bracket is not None:
        return "brentq"
    if x0 is None:
        raise ValueError("Unable to select a solver as neither bracket nor starting point provided.")
    if fprime is not None:
        return "halley" if fprime2 is not None else "newton"
    return "secant" if x1 is not None else "newton"
