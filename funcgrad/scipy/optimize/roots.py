"""Roots of systems of equations: `root`, `fsolve`, `fixed_point`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, TracedBranchError
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.derived import displacement, jacobian
from funcgrad.scipy.optimize.options import Options, found, frozen, report, result, scipys, thawed
from funcgrad.scipy.recorded import Known, as_args, is_plain, known, real_vector, vector_function
from funcgrad.tracing.lists import asoperand
from funcgrad.transforms.solved.implicit import Implicit
from funcgrad.transforms.solved.method import Programs
from funcgrad.types import Array, ArrayLike, ExtraArguments, Number, Option, ScipyResult

Function = Callable[..., Any]

ROUNDING = 1e-12
"""Residuals as small as this, relative to their terms, are zero."""

WITH_JACOBIAN = ("hybr", "lm")
"""Methods of `root` that take a Jacobian."""


@dataclass(frozen=True)
class Root(Implicit):
    """`scipy.optimize.root`: ``start, parameters``; the Programs are the equations and their Jacobian."""

    method: str
    tol: float | None
    options: Options

    def run(self, programs: Programs, values: Sequence[Any]) -> ScipyResult:
        """SciPy's result."""
        equations, derivative = programs
        start, *parameters = values

        def residuals(x: Array) -> Array:
            return equations.evaluate(x, *parameters)[0]

        def slopes(x: Array) -> Array:
            return derivative.evaluate(x, *parameters)[0]

        return scipys("root")(
            residuals,
            start,
            method=self.method,
            jac=slopes if self.method in WITH_JACOBIAN else None,
            tol=self.tol,
            options=thawed(self.options) or None,
        )

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        outcome = self.run(programs, values)
        nit = outcome.get("nit", 0)
        solved = outcome.success or self.is_root(programs, outcome.x, values[1:])
        return outcome.x, *report(
            solved, outcome.success, outcome.get("status", 0), nit, outcome.get("nfev", nit)
        )

    @staticmethod
    def is_root(programs: Programs, x: Array, parameters: Sequence[Any]) -> bool:
        """Whether the residuals are rounding errors: MINPACK can call that no progress."""
        residual, slopes = (p.evaluate(x, *parameters)[0] for p in programs)
        return bool(np.all(abs(residual) <= ROUNDING * (1.0 + abs(slopes) @ abs(x))))


def recorded_root(
    what: str, fun: Function, x0: ArrayLike, args: ExtraArguments, method: Root
) -> tuple[Known, Any]:
    """The equations, and what is found."""
    start = real_vector(x0, what)
    equations = vector_function(fun, [aval_of(start).strong], what, as_args(args))
    programs = (equations.program, jacobian(equations.program))
    return equations, found(method, programs, [start, *equations.constants])


def root(
    fun: Function,
    x0: ArrayLike,
    args: ExtraArguments = (),
    method: str = "hybr",
    jac: Option = None,
    tol: float | None = None,
    callback: Function | None = None,
    options: dict[str, Any] | None = None,
) -> ScipyResult:
    """A root of a system of equations, by `scipy.optimize.root`, differentiable in all that `fun` depends on.

    Without `jac` the Jacobian is that of `fun`, exactly; ``jac=False`` asks for SciPy's differences. With
    ``jac=True`` the function returns values and Jacobian.

    Raises NotDifferentiableError, when a derivative is computed, where the Jacobian at the root is singular
    or no root was found.

    >>> def solved(a):
    ...     return fg.scipy.optimize.root(lambda x: [x[0] ** 2 - a, x[1] - x[0]], [1.0, 1.0]).x
    >>> print(solved(4.0).round(6), fg.jacobian(solved)(4.0).round(6))
    [2. 2.] [0.25 0.25]
    """
    if is_plain(x0, args):
        own = jac if jac is not None else jacobian_or_none(fun, x0, args, method)
        return scipys("root")(fun, x0, as_args(args), method, own, tol, callback, options)
    values = (lambda *given: fun(*given)[0]) if jac is True else fun
    chosen = Root("root", method.lower(), tol, frozen(options))
    equations, (x, _, success, status, nit, nfev) = recorded_root("root", values, x0, args, chosen)
    return result(x=x, success=success, status=status, nit=nit, nfev=nfev, fun=equations(x), method=method)


def jacobian_or_none(fun: Function, x0: ArrayLike, args: ExtraArguments, method: str) -> Function | None:
    """The exact Jacobian of a function that can be recorded, for a method that takes one."""
    if method.lower() not in WITH_JACOBIAN:
        return None
    try:
        start = real_vector(x0, "root")
        equations = vector_function(fun, [aval_of(start)], "root", as_args(args))
    except (ConcretizationError, TracedBranchError):
        return None
    derivative = jacobian(equations.program)

    def slopes(x: Array, *_: object) -> Array:
        return derivative.evaluate(np.asarray(x, float), *equations.constants)[0]

    return slopes


def fsolve(
    func: Function,
    x0: ArrayLike,
    args: ExtraArguments = (),
    fprime: Callable[..., Any] | None = None,
    full_output: bool = False,
    col_deriv: bool = False,
    xtol: float = 1.49012e-8,
    maxfev: int = 0,
    band: Option = None,
    epsfcn: Number = None,
    factor: float = 100,
    diag: ArrayLike = None,
) -> ScipyResult:
    """A root of a system of equations by MINPACK's hybrd and hybrj; see `root`.

    With `full_output` returns ``(x, infodict, ier, mesg)``.

    >>> print(fg.grad(lambda a: fg.scipy.optimize.fsolve(lambda x: x**3 - a, 1.0)[0])(8.0).round(6))
    0.083333
    """
    if is_plain(x0, args):
        own = fprime if fprime is not None else jacobian_or_none(func, x0, args, "hybr")
        columns = bool(col_deriv) if fprime is not None else False
        return scipys("fsolve")(
            func, x0, args, own, full_output, columns, xtol, maxfev, band, epsfcn, factor, diag
        )
    options = {"xtol": xtol, "maxfev": maxfev, "factor": factor, "diag": diag}
    chosen = Root("fsolve", "hybr", None, frozen({k: v for k, v in options.items() if v is not None}))
    equations, (x, _, _, status, _, nfev) = recorded_root("fsolve", func, x0, args, chosen)
    if not full_output:
        return x
    return x, {"nfev": nfev, "fvec": equations(x)}, status, result().message


@dataclass(frozen=True)
class FixedPoint(Implicit):
    """`scipy.optimize.fixed_point`: the Programs are ``func(x) - x`` and the function itself."""

    xtol: float
    maxiter: int
    method: str

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        start, *parameters = values

        def function(x: Array) -> Array:
            return programs[1].evaluate(np.asarray(x, float), *parameters)[0]

        x = scipys("fixed_point")(function, start, (), self.xtol, self.maxiter, self.method)
        return x, *report(True)


def fixed_point(
    func: Function,
    x0: ArrayLike,
    args: ExtraArguments = (),
    xtol: float = 1e-8,
    maxiter: int = 500,
    method: str = "del2",
) -> ScipyResult:
    """``x`` with ``func(x) == x``, by `scipy.optimize.fixed_point`, differentiable in what `func` depends on.

    >>> def settled(a):
    ...     return fg.scipy.optimize.fixed_point(lambda x: np.cos(a * x), 0.5)
    >>> print(round(float(settled(1.0)), 6), round(float(fg.grad(settled)(1.0)), 6))
    0.739085 -0.297474
    """
    if is_plain(x0, args):
        return scipys("fixed_point")(func, x0, as_args(args), xtol, maxiter, method)
    shape = aval_of(asoperand(x0)).shape
    start = real_vector(x0, "fixed_point").reshape(shape)
    seen = aval_of(start).strong
    function = known(func, [seen], "fixed_point", "function", as_args(args))
    programs = (displacement(function.program), function.program)
    chosen = FixedPoint("fixed_point", xtol, maxiter, method)
    return found(chosen, programs, [start, *function.constants])[0]
