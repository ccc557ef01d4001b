"""Minima: `minimize`, on vectors and pytrees, with bounds and constraints, and `minimize_scalar`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.api.derivatives.gradients import value_and_grad
from funcgrad.api.flat import ravel_pytree
from funcgrad.errors import ConcretizationError, TracedBranchError
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.derived import hessian_of, hessian_product
from funcgrad.scipy.optimize.constraints import bounds_of, limits_of
from funcgrad.scipy.optimize.minimum import Minimum, Problem, inputs_and_programs, minimum
from funcgrad.scipy.optimize.options import Options, frozen, result, scipys, thawed
from funcgrad.scipy.recorded import as_args, is_plain, real_scalar, real_vector, scalar_function
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ExtraArguments, Number, Option, ScipyResult, Tree

Function = Callable[..., Any]

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_PRODUCT = ("newton-cg", "trust-ncg", "trust-krylov")
WITH_HESSIAN = ("dogleg", "trust-exact")
INEXACT = 1e-4
"""How near to an active limit the interior methods end up."""


@dataclass(frozen=True)
class Minimize(Minimum):
    """`scipy.optimize.minimize` with exact derivatives."""

    method: str | None
    tol: float | None
    options: Options
    callback: Any = None

    @property
    def near(self) -> float:  # type: ignore[override]
        """How near to a limit what is active ends up."""
        return INEXACT if self.method in ("trust-constr", "cobyla", "cobyqa") else Minimum.near

    def minimized(self, problem: Problem, start: Array) -> ScipyResult:
        method = self.method
        exact = method not in WITHOUT_GRADIENT
        bounded = bool(np.any(np.isfinite(problem.lower)) or np.any(np.isfinite(problem.upper)))
        return scipys("minimize")(
            problem.value_and_gradient if exact else problem.value,
            start,
            method=method,
            jac=exact or None,
            bounds=scipys("Bounds")(problem.lower, problem.upper) if bounded else None,
            constraints=self.constraints(problem),
            tol=self.tol,
            callback=self.callback,
            options=thawed(self.options) or None,
            **self.curvature(problem),
        )

    def curvature(self, problem: Problem) -> dict[str, Function]:
        """The Hessian, or its product with a vector, for the methods that take it."""
        if self.method in WITH_PRODUCT:
            product = hessian_product(problem.objective)
            return {"hessp": lambda x, v: product.evaluate(x, *problem.constants, np.asarray(v, float))[0]}
        if self.method in WITH_HESSIAN:
            second = hessian_of(problem.objective)
            return {"hess": lambda x: second.evaluate(x, *problem.constants)[0]}
        return {}

    def constraints(self, problem: Problem) -> ScipyResult:
        """The constraints as the method takes them: equations first, then what is at least zero."""
        if self.method in ("trust-constr", "cobyqa"):
            made = scipys("NonlinearConstraint")
            return [made(b.values, b.lower, b.upper, jac=b.jacobian) for b in problem.blocks]
        found: list[Any] = []
        for b in problem.blocks:
            equal = b.lower == b.upper
            for kind, rows, limit, sign in (
                ("eq", equal, b.lower, 1.0),
                ("ineq", ~equal & np.isfinite(b.lower), b.lower, 1.0),
                ("ineq", ~equal & np.isfinite(b.upper), b.upper, -1.0),
            ):
                if rows.any():
                    found.append(one_sided(b, kind, rows, limit, sign))
        return found or ()


def one_sided(block: Anything, kind: str, rows: Array, limit: Array, sign: float) -> dict[str, Any]:
    """Some rows of a block in the notation of dictionaries."""
    return {
        "type": kind,
        "fun": lambda x: sign * (block.values(x)[rows] - limit[rows]),
        "jac": lambda x: sign * block.jacobian(x)[rows],
    }


def minimize(
    fun: Function,
    x0: Tree,
    args: ExtraArguments = (),
    method: str | None = None,
    jac: Option = None,
    hess: Option = None,
    hessp: Callable[..., Any] | None = None,
    bounds: Option = None,
    constraints: Option = (),
    tol: float | None = None,
    callback: Function | None = None,
    options: dict[str, Any] | None = None,
) -> ScipyResult:
    """A minimum of a function, by `scipy.optimize.minimize`, with exact derivatives by default.

    `x0` may be a vector, or a pytree of arrays: then `fun` is given such a tree, and ``result.x`` is one.
    With ``jac=True`` the function returns value and gradient, of which a trace uses the value;
    ``jac="2-point"`` asks for SciPy's differences, where nothing is traced.

    The function is recorded once, as by `fg.jit`, unless it branches on values: what it prints or draws, it
    does once. What is found is differentiable, in every order, in all that objective, bounds and constraints
    depend on: through the Hessian, and through the Karush-Kuhn-Tucker system of the constraints that are
    active. Raises NotDifferentiableError, when a derivative is computed, where that system is singular or the
    search failed.

    >>> def fit(a):
    ...     return fg.scipy.optimize.minimize(lambda x: np.sum((x - a) ** 2 + x**4), np.zeros(2)).x
    >>> print(fit(np.array([1.0, 3.0])).round(4), fg.jacobian(fit)(np.array([1.0, 3.0])).diagonal().round(4))
    [0.5898 1.    ] [0.324  0.1429]

    With a constraint:

    >>> def nearest(r):
    ...     circle = {"type": "eq", "fun": lambda x: x @ x - r**2}
    ...     return fg.scipy.optimize.minimize(lambda x: x[0] + x[1], [-1.0, -2.0], constraints=circle).fun
    >>> print(round(float(fg.grad(nearest)(1.0)), 4))
    -1.4142
    """
    if is_a_tree(x0):
        return minimized_tree(fun, x0, args, method, jac, bounds, constraints, tol, callback, options)
    constraints = () if constraints is None else constraints
    plain = is_plain(x0, args, bounds)
    as_given = callable(jac) or isinstance(jac, str) or jac is False or hess is not None or hessp is not None
    if plain and (as_given or jac is True or has_own_derivatives(constraints)):
        combined, slopes = (value_and_grad(fun), True) if jac is None else (fun, jac)
        return scipys("minimize")(
            combined, x0, as_args(args), method, slopes, hess, hessp, bounds, constraints, tol, callback,
            options,
        )  # fmt: skip
    start = real_vector(x0, "minimize")
    seen = aval_of(start).strong
    value = (lambda *given: fun(*given)[0]) if jac is True else fun
    name = method.lower() if isinstance(method, str) else method
    try:
        objective = scalar_function(value, [seen], "minimize", as_args(args))
        blocks = limits_of(constraints, seen, "minimize")
    except (ConcretizationError, TracedBranchError):
        if not plain:
            raise
        return scipys("minimize")(
            value_and_grad(value), x0, as_args(args), method, True, None, None, bounds, constraints, tol,
            callback, options,
        )  # fmt: skip
    chosen = Minimize("minimize", name, tol, frozen(options), callback)
    between = bounds_of(bounds, seen.size)
    if plain:
        inputs, programs = inputs_and_programs(start, objective, between, blocks)
        return chosen.run(programs, inputs)
    found = minimum(chosen, start, objective, between, blocks)
    names = ("success", "status", "nit", "nfev", "multipliers")
    return result(x=found.x, fun=objective(found.x), **{name: getattr(found, name) for name in names})


def has_own_derivatives(constraints: Option) -> bool:
    """Whether the user has given derivatives of constraints, which are then used as they stand."""
    listed = constraints if isinstance(constraints, list | tuple) else [constraints]
    return any(callable(c.get("jac") if isinstance(c, dict) else getattr(c, "jac", None)) for c in listed)


def is_a_tree(x0: Tree) -> bool:
    """Whether a start is a container of arrays, and not an array or a list of numbers."""
    if isinstance(x0, Tracer | np.ndarray | np.generic | int | float):
        return False
    leaves, treedef = tree.flatten(x0)
    if isinstance(x0, list | tuple):
        return any(aval_of(np.asarray(x) if isinstance(x, list) else x).shape for x in leaves)
    return treedef != tree.structure(0)


def minimized_tree(
    fun: Function,
    x0: Tree,
    args: ExtraArguments,
    method: Option,
    jac: Option,
    bounds: Option,
    constraints: Option,
    tol: Number,
    callback: Callable[..., Any] | None,
    options: Option,
) -> ScipyResult:
    """`minimize` on the vector of a tree's elements; bounds and constraints are those of the vector."""
    start, unravel = ravel_pytree(x0)

    def of_vector(vector: Array, *rest: Array) -> Array:
        value = fun(unravel(vector), *rest)
        return value[0] if jac is True else value

    of_vector.__name__ = getattr(fun, "__name__", "objective")
    found = minimize(
        of_vector, start, args, method, None, None, None, bounds, constraints, tol, callback, options
    )
    found.x = unravel(found.x)
    return found


# -- one number ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MinimizeScalar(Minimum):
    """`scipy.optimize.minimize_scalar`: the start is the bracket's first end, or a bound."""

    method: str | None
    bracket: tuple[float, ...] | None
    tol: float | None
    options: Options

    near = 1e-4
    """The bounded method stops this far from a bound, at most."""

    def minimized(self, problem: Problem, start: Array) -> ScipyResult:
        bounded = self.method == "bounded"
        found = scipys("minimize_scalar")(
            lambda x: problem.value(np.array([x])),
            bracket=self.bracket,
            bounds=(float(problem.lower[0]), float(problem.upper[0])) if bounded else None,
            method=self.method,
            tol=self.tol,
            options=thawed(self.options) or None,
        )
        found.x = np.array([found.x])
        return found


def minimize_scalar(
    fun: Function,
    bracket: Option = None,
    bounds: Option = None,
    args: ExtraArguments = (),
    method: str | None = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> ScipyResult:
    """A minimum of a function of one number, differentiable in all that it and its bounds depend on.

    >>> def lowest(a):
    ...     return fg.scipy.optimize.minimize_scalar(lambda x: np.exp(x) - a * x).x
    >>> print(round(lowest(2.0), 5), round(fg.grad(lowest)(2.0), 5))
    0.69315 0.5
    """
    if is_plain(bracket, bounds, args):
        return scipys("minimize_scalar")(fun, bracket, bounds, as_args(args), method, tol, options)
    name = (method or ("bounded" if bounds is not None else "brent")).lower()
    if name == "bounded" and bounds is None:
        raise ValueError("The `bounds` parameter is mandatory for method `bounded`.")
    if name != "bounded" and bounds is not None:
        raise ValueError(f"minimize_scalar: bounds do not go with method={name!r}, which has none")
    ends = None if bracket is None else tuple([float(x) for x in bracket])

    def of_vector(x: Array) -> Array:
        return fun(x[0], *as_args(args))

    of_vector.__name__ = getattr(fun, "__name__", "objective")
    start = np.zeros(1)
    objective = scalar_function(of_vector, [aval_of(start)], "minimize_scalar")
    between = bounds_of(None, 1)
    if name == "bounded":
        low, high = (real_scalar(x, "minimize_scalar").reshape((1,)) for x in bounds)
        between = (low, high)
    chosen = MinimizeScalar("minimize_scalar", name, ends, tol, frozen(options))
    found = minimum(chosen, start, objective, between)
    return result(x=found.x[0], fun=objective(found.x), success=found.success, nit=found.nit, nfev=found.nfev)
