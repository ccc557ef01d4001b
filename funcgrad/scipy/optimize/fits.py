"""Least squares: `least_squares`, `curve_fit`, `lsq_linear`, `nnls`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from funcgrad.api.calling.calls import run
from funcgrad.errors import ConcretizationError, TracedBranchError
from funcgrad.ir.program import Program
from funcgrad.numpy.algebra.contraction import dot
from funcgrad.numpy.algebra.decompositions import cholesky, qr
from funcgrad.numpy.algebra.norms import norm
from funcgrad.numpy.arrays.views import broadcast_to
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.derived import KEPT, applied, composed, gradient, jacobian
from funcgrad.scipy.linalg.systems import solve_triangular
from funcgrad.scipy.optimize.constraints import bounds_of
from funcgrad.scipy.optimize.losses import LOSSES
from funcgrad.scipy.optimize.minimum import Found, Minimum, Problem, minimum
from funcgrad.scipy.optimize.options import Options, frozen, result, scipys, thawed
from funcgrad.scipy.recorded import Known, as_args, is_plain, real_vector, vector_function
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, Array, ArrayLike, ExtraArguments, Number, Option, ScipyResult

Function = Callable[..., Any]

SMALLEST = 2.3e-16
"""The least tolerance that `scipy.optimize.least_squares` takes."""


@dataclass(frozen=True)
class LeastSquares(Minimum):
    """`scipy.optimize.least_squares`; the objective's Program is the cost of the residuals."""

    residuals: Program
    """The vector, of the same parameters as the cost."""
    options: Options

    def minimized(self, problem: Problem, start: Array) -> ScipyResult:
        vector, derivative = self.residuals, jacobian(self.residuals)
        return scipys("least_squares")(
            lambda x: vector.evaluate(np.asarray(x, float), *problem.constants)[0],
            start,
            jac=lambda x: derivative.evaluate(np.asarray(x, float), *problem.constants)[0],
            bounds=(problem.lower, problem.upper),
            **thawed(self.options),
        )


@lru_cache(KEPT)
def cost_of(residuals: Program, loss: str, f_scale: float) -> Program:
    """Half the sum of the losses of squared residuals."""
    rho = LOSSES[loss]

    def cost(*inputs: Array) -> list[Any]:
        r = applied(residuals, inputs)[0]
        return [0.5 * f_scale**2 * rho((r / f_scale) ** 2).sum()]

    return composed(cost, residuals.in_avals, "cost")


class Cost(NamedTuple):
    """The cost as an objective: its Program, and the constants of the residuals."""

    program: Program
    constants: list[Any]


def fitted(
    what: str,
    residuals: Known,
    start: Array,
    bounds: Option,
    loss: str,
    f_scale: float,
    options: dict[str, Any],
) -> tuple[Found, Program]:
    """The parameters of the smallest cost, and the cost."""
    cost = cost_of(residuals.program, loss, float(f_scale))
    given = {**options, "loss": loss, "f_scale": float(f_scale)}
    chosen = LeastSquares(what, residuals.program, frozen(given))
    return minimum(chosen, start, Cost(cost, residuals.constants), bounds), cost


def least_squares(
    fun: Function,
    x0: ArrayLike,
    jac: Option = None,
    bounds: Option = (-np.inf, np.inf),
    method: str = "trf",
    ftol: float | None = 1e-8,
    xtol: float | None = 1e-8,
    gtol: float | None = 1e-8,
    x_scale: Option = None,
    loss: Option = "linear",
    f_scale: float = 1.0,
    diff_step: ArrayLike = None,
    tr_solver: str | None = None,
    tr_options: Mapping[str, Any] | None = None,
    jac_sparsity: ArrayLike = None,
    max_nfev: int | None = None,
    verbose: int = 0,
    args: ExtraArguments = (),
    kwargs: dict[str, Any] | None = None,
    callback: Function | None = None,
    workers: Option = None,
) -> ScipyResult:
    """The parameters with the smallest sum of squares (or of a loss of squares) of residuals.

    By `scipy.optimize.least_squares`, with the exact Jacobian where `jac` is not given. Differentiable in all
    that residuals and bounds depend on, at any residual: the Hessian has its second term. `workers` map
    over differences, and the exact Jacobian has none.

    >>> t, y = np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.2, 0.8])
    >>> def decay(y):
    ...     return fg.scipy.optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * t) - y, np.ones(2)).x
    >>> print(decay(y).round(4), fg.jacobian(decay)(y).round(3)[1])
    [1.9884 0.4743] [ 0.336 -0.259 -0.453]
    """
    options = {"method": method, "ftol": ftol, "xtol": xtol, "gtol": gtol, "max_nfev": max_nfev}
    chosen = {"tr_solver": tr_solver, "tr_options": tr_options, "verbose": verbose, "x_scale": x_scale}
    chosen["callback"] = callback
    options.update({key: value for key, value in chosen.items() if value is not None})
    args, kwargs = as_args(args), kwargs or {}
    if is_plain(x0, args, kwargs, bounds):
        own = jac if jac is not None else jacobian_or_differences(fun, x0, args, kwargs)
        if workers is not None:
            options["workers"] = workers
        given = {"loss": loss, "f_scale": f_scale, "diff_step": diff_step, "jac_sparsity": jac_sparsity}
        return scipys("least_squares")(fun, x0, own, bounds, args=args, kwargs=kwargs, **given, **options)
    return traced_squares(lambda x: fun(x, *args, **kwargs), x0, bounds, loss, f_scale, options)


def traced_squares(
    fun: Function, x0: ArrayLike, bounds: Option, loss: Option, f_scale: float, options: dict[str, Any]
) -> ScipyResult:
    """What `least_squares` returns inside a trace."""
    if loss not in LOSSES:
        raise ValueError(f"`loss` must be one of {list(LOSSES)} or a callable, outside of a trace.")
    start = real_vector(x0, "least_squares")
    seen = aval_of(start).strong
    residuals = vector_function(fun, [seen], "least_squares")
    between = bounds_of(as_pairs(bounds, seen.size), seen.size)
    found, cost = fitted("least_squares", residuals, start, between, loss, f_scale, options)
    point = [found.x, *residuals.constants]
    derivative = run(jacobian(residuals.program), point)[0]
    return result(
        x=found.x,
        cost=run(cost, point)[0],
        fun=residuals(found.x),
        jac=derivative,
        grad=run(gradient(cost), point)[0],
        success=found.success,
        status=found.status,
        nfev=found.nfev,
    )


def leastsq(
    func: Function,
    x0: ArrayLike,
    args: ExtraArguments = (),
    Dfun: Callable[..., Any] | None = None,
    full_output: bool = False,
    col_deriv: bool = False,
    ftol: float = 1.49012e-8,
    xtol: float = 1.49012e-8,
    gtol: float = 0.0,
    maxfev: int = 0,
    epsfcn: Number = None,
    factor: float = 100,
    diag: ArrayLike = None,
) -> ScipyResult:
    """The parameters with the smallest sum of squares by MINPACK's lmdif and lmder; see `least_squares`.

    >>> def nearest(y):
    ...     return fg.scipy.optimize.leastsq(lambda p: p[0] * np.arange(1.0, 4.0) - y, [1.0])[0][0]
    >>> print(fg.grad(nearest)(np.array([1.0, 2.0, 4.0])).round(6))
    [0.071429 0.142857 0.214286]
    """
    if is_plain(x0, args):
        return scipys("leastsq")(
            func,
            x0,
            as_args(args),
            Dfun,
            full_output,
            col_deriv,
            ftol,
            xtol,
            gtol,
            maxfev,
            epsfcn,
            factor,
            diag,
        )
    if full_output:
        raise NotImplementedError(
            "leastsq with full_output inside a trace: use fg.scipy.optimize.least_squares"
        )
    most = maxfev or None
    found = least_squares(
        func, x0, None, (-np.inf, np.inf), "lm", ftol, xtol, max(gtol, SMALLEST), args=args, max_nfev=most
    )
    return found.x, found.status


def as_pairs(bounds: Option, size: int) -> Option:
    """Bounds in the order ``lower, upper`` as SciPy's object, or pairs for each variable."""
    if isinstance(bounds, scipys("Bounds")):
        return bounds
    low, high = (broadcast_to(asoperand(x), (size,)) for x in bounds)
    return [(low[k], high[k]) for k in range(size)]


def jacobian_or_differences(
    fun: Function, x0: ArrayLike, args: ExtraArguments, kwargs: Anything
) -> Callable[..., Any] | str:
    """The exact Jacobian of a function that can be recorded; SciPy's differences for others."""
    start = real_vector(x0, "least_squares")
    try:
        residuals = vector_function(lambda x: fun(x, *args, **kwargs), [aval_of(start)], "least_squares")
    except (ConcretizationError, TracedBranchError):
        return "2-point"
    derivative = jacobian(residuals.program)

    def slopes(x: Array, *_: object, **__: object) -> Array:
        return derivative.evaluate(np.asarray(x, float), *residuals.constants)[0]

    return slopes


# -- curves --------------------------------------------------------------------------------------------------


def curve_fit(
    f: Function,
    xdata: ArrayLike,
    ydata: ArrayLike,
    p0: ArrayLike = None,
    sigma: ArrayLike = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Option = (-np.inf, np.inf),
    method: str | None = None,
    jac: Option = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    **kwargs: object,
) -> ScipyResult:
    """The parameters of a curve through data, and their covariance, by `scipy.optimize.curve_fit`.

    The Jacobian is exact where `jac` is not given. Parameters and covariance are differentiable in the data,
    in `sigma`, and in all that `f` depends on.

    >>> x, y = np.arange(4.0), np.array([1.0, 2.9, 5.2, 6.8])
    >>> def slope(y):
    ...     return fg.scipy.optimize.curve_fit(lambda x, a, b: a * x + b, x, y)[0][0]
    >>> print(round(float(slope(y)), 6), fg.grad(slope)(y).round(6))
    1.97 [-0.3 -0.1  0.1  0.3]
    """
    if is_plain(xdata, ydata, p0, sigma, bounds):
        kept = without_nan(xdata, ydata) if nan_policy == "omit" else xdata
        own = jac if jac is not None else curve_slopes(f, kept, p0, kwargs)
        return scipys("curve_fit")(
            f,
            xdata,
            ydata,
            p0,
            sigma,
            absolute_sigma,
            check_finite,
            bounds,
            method,
            own,
            full_output=full_output,
            nan_policy=nan_policy,
            **kwargs,
        )
    check_traced_curve(full_output, nan_policy)
    return traced_curve(f, xdata, ydata, p0, sigma, absolute_sigma, bounds, {"method": method, **kwargs})


def traced_curve(
    f: Function,
    xdata: ArrayLike,
    ydata: ArrayLike,
    p0: ArrayLike,
    sigma: ArrayLike,
    absolute_sigma: bool,
    bounds: Option,
    options: dict[str, Any],
) -> tuple[Array, Array]:
    """What `curve_fit` returns inside a trace: parameters and their covariance."""
    start = (
        np.ones(parameter_count(f)) if p0 is None else real_vector(np.atleast_1d(asoperand(p0)), "curve_fit")
    )
    seen = aval_of(start).strong
    xs = asoperand(xdata) if isinstance(xdata, list | tuple) else xdata
    ys = real_vector(ydata, "curve_fit")

    def misfit(p: Array) -> Array:
        return in_units_of(sigma, f(xs, *[p[k] for k in range(seen.size)]) - ys)

    residuals = vector_function(misfit, [seen], "curve_fit")
    between = bounds_of(as_pairs(bounds, seen.size), seen.size)
    bounded = not isinstance(bounds, tuple) or any(np.any(np.isfinite(x)) for x in bounds)
    options["method"] = options["method"] or ("trf" if bounded else "lm")
    if "maxfev" in options:
        options["max_nfev"] = options.pop("maxfev")
    found, cost = fitted("curve_fit", residuals, start, between, "linear", 1.0, options)
    return found.x, covariance_at(found.x, residuals, None if absolute_sigma else cost)


def check_traced_curve(full_output: bool, nan_policy: str | None) -> None:
    """Raise for what `curve_fit` does not do inside a trace."""
    if nan_policy not in (None, "raise", "omit"):
        raise ValueError(f"nan_policy must be one of None, 'raise' and 'omit', not {nan_policy!r}")
    if full_output or nan_policy == "omit":
        raise NotImplementedError(
            "curve_fit with nan_policy='omit' inside a trace: leave the points out before, by an index"
            if nan_policy == "omit"
            else "curve_fit with full_output inside a trace: use fg.scipy.optimize.least_squares"
        )


def in_units_of(sigma: ArrayLike, off: Array) -> Array:
    """Distances in units of their deviations, or by the factor of their covariances."""
    if sigma is None:
        return off
    spread = asoperand(sigma)
    if aval_of(spread).ndim == 2:
        return solve_triangular(cholesky(spread), off, lower=True)
    return off / spread


def covariance_at(x: Array, residuals: Known, cost: Program | None) -> Array:
    """The covariance of fitted parameters, scaled by what is left of the `cost` where there is one."""
    point = [x, *residuals.constants]
    triangle = qr(run(jacobian(residuals.program), point)[0])[1]
    size = residuals.program.in_avals[0].size
    inverse = solve_triangular(triangle, np.eye(size))
    covariance = dot(inverse, inverse.T)
    if cost is None:
        return covariance
    freedom = residuals.program.out_avals[0].size - size
    return covariance * (2.0 * run(cost, point)[0] / freedom if freedom > 0 else np.inf)


def parameter_count(f: Function) -> int:
    """The number of parameters of a curve, from its signature."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [p for p in inspect.signature(f).parameters.values() if p.kind in kinds]
    if len(named) < 2:
        raise ValueError("Unable to determine number of fit parameters.")
    return len(named) - 1


def without_nan(xdata: ArrayLike, ydata: ArrayLike) -> Array:
    """The points that `scipy.optimize.curve_fit` keeps with ``nan_policy="omit"``."""
    xs, ys = np.asarray(xdata, float), np.asarray(ydata, float)
    missing = np.isnan(ys) | np.isnan(xs).any(axis=tuple(range(xs.ndim - 1)))
    return xs[..., ~missing]


def curve_slopes(
    f: Function, xdata: ArrayLike, p0: ArrayLike, kwargs: Mapping[str, Any]
) -> Callable[..., Any] | None:
    """The exact Jacobian of a curve by its parameters, None where it cannot be recorded."""
    try:
        count = parameter_count(f) if p0 is None else np.atleast_1d(p0).size
        xs = np.asarray(xdata, float) if isinstance(xdata, list | tuple) else xdata
        seen = aval_of(np.zeros(count))
        curve = vector_function(lambda p: f(xs, *[p[k] for k in range(count)]), [seen], "curve_fit")
    except (ConcretizationError, TracedBranchError, ValueError):
        return None
    derivative = jacobian(curve.program)

    def slopes(_: object, *p: Array) -> Array:
        return derivative.evaluate(np.array(p, float), *curve.constants)[0]

    return slopes


# -- linear ones ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LsqLinear(Minimum):
    """`scipy.optimize.lsq_linear`; the Program is the vector ``A @ x - b``."""

    residuals: Program
    options: Options

    def minimized(self, problem: Problem, start: Array) -> ScipyResult:
        zero = np.zeros(len(start))
        matrix = jacobian(self.residuals).evaluate(zero, *problem.constants)[0]
        right = -self.residuals.evaluate(zero, *problem.constants)[0]
        return scipys("lsq_linear")(matrix, right, (problem.lower, problem.upper), **thawed(self.options))


def linear_fit(
    what: str, A: ArrayLike, b: ArrayLike, bounds: Option, options: dict[str, Any]
) -> tuple[Found, Known, Program]:
    """What minimises ``|A @ x - b|`` between bounds."""
    matrix, right = asoperand(A), real_vector(b, what)
    size = aval_of(matrix).shape[1]
    start = np.zeros(size)
    residuals = vector_function(lambda x: dot(matrix, x) - right, [aval_of(start)], what)
    cost = cost_of(residuals.program, "linear", 1.0)
    chosen = LsqLinear(what, residuals.program, frozen(options))
    between = bounds_of(as_pairs(bounds, size), size)
    return minimum(chosen, start, Cost(cost, residuals.constants), between), residuals, cost


def lsq_linear(
    A: ArrayLike,
    b: ArrayLike,
    bounds: Option = (-np.inf, np.inf),
    method: str = "trf",
    tol: float = 1e-10,
    lsq_solver: str | None = None,
    lsmr_tol: Option = None,
    max_iter: int | None = None,
    verbose: int = 0,
    *,
    lsmr_maxiter: int | None = None,
) -> ScipyResult:
    """``x`` between bounds with the smallest ``|A @ x - b|``, by `scipy.optimize.lsq_linear`.

    >>> a = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> def best(b):
    ...     return fg.scipy.optimize.lsq_linear(a, b, bounds=(0.0, 1.0)).x
    >>> print(fg.jacobian(best)(np.array([3.0, 1.0, 1.0])).round(3) + 0.0)
    [[0.  0.  0. ]
     [0.  0.2 0.4]]
    """
    options = {"method": method, "tol": tol, "max_iter": max_iter, "verbose": verbose}
    if lsq_solver is not None:
        options["lsq_solver"] = lsq_solver
    if is_plain(A, b, bounds):
        return scipys("lsq_linear")(A, b, bounds, lsmr_tol=lsmr_tol, lsmr_maxiter=lsmr_maxiter, **options)
    found, residuals, cost = linear_fit("lsq_linear", A, b, bounds, options)
    point = [found.x, *residuals.constants]
    return result(
        x=found.x,
        fun=residuals(found.x),
        cost=run(cost, point)[0],
        success=found.success,
        status=found.status,
        nit=found.nit,
    )


def nnls(A: ArrayLike, b: ArrayLike, *, maxiter: int | None = None, atol: float | None = None) -> ScipyResult:
    """``x >= 0`` with the smallest ``|A @ x - b|``, and that norm, by `scipy.optimize.nnls`.

    SciPy no longer reads `atol`.


    >>> a = np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> print(fg.jacobian(lambda b: fg.scipy.optimize.nnls(a, b)[0])(np.array([2.0, -1.0])).round(6) + 0.0)
    [[1. 0.]
     [0. 0.]]
    """
    if is_plain(A, b):
        return scipys("nnls")(A, b, maxiter=maxiter, **({} if atol is None else {"atol": atol}))
    if np.ndim(A) != 2:
        raise ValueError(f"nnls needs a matrix A, and was given an array of shape {np.shape(A)}")
    found, residuals, _ = linear_fit("nnls", A, b, (0.0, np.inf), {"method": "bvls", "max_iter": maxiter})
    return found.x, norm(residuals(found.x))
