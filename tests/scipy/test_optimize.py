"""`fg.scipy.optimize`: values are SciPy's, derivatives those of differences of SciPy's values."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from solver_cases import (
    Case,
    check_batches,
    check_compiled,
    check_first,
    check_second,
    check_value,
    differences,
)

import funcgrad as fg
from funcgrad.errors import FuncgradError, NotDifferentiableError, ShapeError
from funcgrad.scipy import optimize as ours

DATA = np.array([2.05, 1.24, 0.83, 0.44, 0.31])
TIMES = np.arange(5.0) / 2
TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def system(o: Any, p: Any) -> Any:
    def equations(x: Any) -> Any:
        return np.stack([x[0] ** 2 + p[0] * x[1] - 2.0, x[1] ** 3 - p[1] * x[0]])

    return o.root(equations, [1.0, 1.0], tol=1e-14).x


def system_lm(o: Any, p: Any) -> Any:
    return o.root(lambda x, a: x**3 + a[0] * x - a[1], np.ones(1), args=(p,), method="lm", tol=1e-14).x


def fsolved(o: Any, p: Any) -> Any:
    return o.fsolve(lambda x: np.stack([np.exp(x[0]) - p[0], x[1] * x[0] - p[1]]), [1.0, 1.0], xtol=1e-14)


def settled(o: Any, p: Any) -> Any:
    return o.fixed_point(lambda x: np.cos(p[0] * x) * p[1], np.array([0.5, 0.6]), xtol=1e-14)


def between(name: str) -> Any:
    def solved(o: Any, p: Any) -> Any:
        return getattr(o, name)(lambda x, b: x**3 + p[0] * x - b, 0.0, 4.0, args=(p[1],), xtol=1e-14)

    return solved


def scalar_by(**options: Any) -> Any:
    def solved(o: Any, p: Any) -> Any:
        return o.root_scalar(lambda x: x**3 + p[0] * x - p[1], xtol=1e-14, **options).root

    return solved


def newton_all(o: Any, p: Any) -> Any:
    return o.newton(lambda x: x**2 - p, np.ones(2), tol=1e-14, maxiter=100)


def smooth(x: Any, p: Any) -> Any:
    return np.sum((x - p) ** 2 + 0.1 * x**4) + 0.3 * x[0] * x[1]


def minimum_by(method: Any = None, **options: Any) -> Any:
    def found(o: Any, p: Any) -> Any:
        r = o.minimize(smooth, np.zeros(2), (p,), method=method, tol=1e-13, options=options or None)
        return r.x

    return found


def bounded(o: Any, p: Any) -> Any:
    return o.minimize(
        smooth, [0.5, 0.5], (p,), method="L-BFGS-B", bounds=[(None, 0.8), (0.1, None)], tol=1e-14
    ).x


def at_bounds_of(o: Any, p: Any) -> Any:
    return o.minimize(smooth, [0.5, 0.5], (np.array([9.0, 0.4]),), bounds=o_bounds(o, p), tol=1e-14).x


def o_bounds(o: Any, p: Any) -> Any:
    return [(0.0, p[0]), (None, p[1] + 10.0)]


def on_a_circle(o: Any, p: Any) -> Any:
    circle = {"type": "eq", "fun": lambda x: np.sum(x**2) - p[1]}
    return o.minimize(lambda x: x[0] + p[0] * x[1], [-1.0, -1.0], constraints=circle, tol=1e-14).x


def with_inequalities(o: Any, p: Any) -> Any:
    rules = (
        {"type": "ineq", "fun": lambda x: np.stack([p[0] - x[0] - x[1], x[0] + 30.0])},
        {"type": "ineq", "fun": lambda x: x[1] - 0.1},
    )
    return o.minimize(
        lambda x: np.sum((x - np.array([2.0, p[1]])) ** 2), [0.0, 0.2], constraints=rules, tol=1e-14
    ).x


def trust_region(o: Any, p: Any) -> Any:
    rule = scipy.optimize.NonlinearConstraint(lambda x: x[0] ** 2 + p[0] * x[1] ** 2, -np.inf, 1.0)
    options = {"gtol": 1e-12, "xtol": 1e-14, "barrier_tol": 1e-12}
    return o.minimize(
        lambda x: np.sum((x - 2.0 * p[1]) ** 2),
        [0.1, 0.1],
        method="trust-constr",
        constraints=rule,
        options=options,
    ).x


def lowest(o: Any, p: Any) -> Any:
    return o.minimize_scalar(lambda x: np.exp(p[0] * x) - p[1] * x, bracket=(0.0, 1.0), tol=1e-12).x


def lowest_between(o: Any, p: Any) -> Any:
    r = o.minimize_scalar(lambda x: np.exp(p[0] * x) - p[1] * x, bounds=(-1.0, 3.0), options={"xatol": 1e-10})
    return r.x


def decay(p: Any) -> Any:
    return p[0] * np.exp(-p[1] * TIMES)


def fitted(loss: str, **options: Any) -> Any:
    def found(o: Any, y: Any) -> Any:
        return o.least_squares(lambda p: decay(p) - y, np.ones(2), loss=loss, **TIGHT, **options).x

    return found


def fitted_between(o: Any, y: Any) -> Any:
    return o.least_squares(lambda p: decay(p) - y, [1.0, 0.5], bounds=([0.0, 0.0], [5.0, 0.7]), **TIGHT).x


def fitted_the_old_way(o: Any, y: Any) -> Any:
    return o.leastsq(lambda p: decay(p) - y, [1.0, 1.0], ftol=1e-15, xtol=1e-15)[0]


def curve(o: Any, y: Any) -> Any:
    x, covariance = o.curve_fit(
        lambda t, a, b: a * np.exp(-b * t), TIMES, y, ftol=1e-15, xtol=1e-15, gtol=1e-15
    )
    return np.concatenate([x, 100.0 * covariance.reshape(4)])


def weighted_curve(o: Any, s: Any) -> Any:
    x, covariance = o.curve_fit(
        lambda t, a, b: a * np.exp(-b * t),
        TIMES,
        DATA,
        [1.0, 1.0],
        s,
        True,
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
    )
    return np.concatenate([x, covariance.reshape(4)])


MATRIX = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]])


def program(o: Any, p: Any) -> Any:
    r = o.linprog(
        np.stack([-1.0 - p[0], -2.0]),
        A_ub=np.stack([np.stack([1.0 + p[1], 1.0]), np.array([1.0, 3.0])]),
        b_ub=[4.0, 6.0],
    )
    return np.append(r.x, r.fun)


def program_of_sides(o: Any, p: Any) -> Any:
    return o.linprog(
        [1.0, 2.0, 0.5], A_eq=[[1.0, 1.0, 1.0]], b_eq=p[:1], bounds=[(0.0, 1.0), (0.1, 2.0), (0.0, 0.2)]
    ).x


def linear_fit(o: Any, p: Any) -> Any:
    return o.lsq_linear(MATRIX * p[0], np.stack([1.0, p[1], 2.0]), bounds=(-5.0, 5.0)).x


def positive_fit(o: Any, p: Any) -> Any:
    return o.nnls(MATRIX * p[0], np.stack([1.0, 5.0 * p[1], 2.0]))[0]


def assigned(o: Any, p: Any) -> Any:
    cost = np.outer(p, np.arange(3.0)) + np.sin(np.arange(6.0)).reshape(2, 3)
    return np.stack([cost[i, j] ** 2 for i, j in zip(*o.linear_sum_assignment(cost), strict=True)])


POINT = np.array([0.7, 1.3])
QUIET = pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
CASES = [
    Case("root", system, POINT),
    Case("root-lm", system_lm, POINT),
    Case("fsolve", fsolved, np.array([2.5, 1.3])),
    Case("fixed_point", settled, np.array([0.9, 1.1])),
    *[Case(name, between(name), POINT) for name in ("brentq", "brenth", "bisect", "ridder", "toms748")],
    Case("root_scalar-bracket", scalar_by(bracket=(0.0, 4.0)), POINT),
    Case("root_scalar-secant", scalar_by(x0=0.5, x1=1.5), POINT),
    Case("root_scalar-newton", scalar_by(x0=0.5, fprime=None, method="secant", x1=0.6), POINT),
    Case("newton", newton_all, POINT),
    Case("minimize", minimum_by("BFGS", gtol=1e-10), POINT, tolerance=1e-5, step=1e-2),
    Case("minimize-l-bfgs-b", minimum_by("L-BFGS-B"), POINT, tolerance=1e-5, step=1e-2),
    Case("minimize-slsqp", minimum_by("SLSQP"), POINT, tolerance=1e-5, step=1e-2),
    Case("minimize-bounds", bounded, np.array([1.6, 1.3]), tolerance=1e-5, step=1e-2),
    Case("minimize-at-bounds", at_bounds_of, POINT, tolerance=1e-5, step=1e-2),
    Case("minimize-equality", on_a_circle, POINT),
    Case("minimize-inequality", with_inequalities, POINT),
    Case("minimize-trust-constr", trust_region, POINT, tolerance=1e-4, step=1e-2),
    Case("minimize_scalar", lowest, POINT, tolerance=1e-5, step=1e-2),
    Case("minimize_scalar-bounded", lowest_between, POINT, tolerance=1e-5, step=1e-2),
    Case("least_squares", fitted("linear"), DATA),
    Case("least_squares-lm", fitted("linear", method="lm"), DATA),
    *[
        Case(f"least_squares-{name}", fitted(name, f_scale=0.3), DATA, tolerance=1e-5)
        for name in ("soft_l1", "cauchy", "arctan")
    ],
    Case("least_squares-bounds", fitted_between, DATA, tolerance=1e-5),
    Case("leastsq", fitted_the_old_way, DATA),
    Case("curve_fit", curve, DATA),
    Case("curve_fit-sigma", weighted_curve, np.array([0.1, 0.12, 0.09, 0.2, 0.11])),
    Case("linprog", program, POINT),
    Case("linprog-equality", program_of_sides, np.array([1.0])),
    Case("lsq_linear", linear_fit, POINT),
    Case("nnls", positive_fit, POINT),
    Case("linear_sum_assignment", assigned, POINT),
]
each = pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.name, marks=QUIET if "trust" in c.name else ()) for c in CASES]
)


@each
def test_values_are_those_of_scipy(case: Case) -> None:
    check_value(case, scipy.optimize, ours)


@each
def test_first_derivatives(case: Case) -> None:
    check_first(case, scipy.optimize, ours)


@each
@pytest.mark.at_length
def test_second_derivatives(case: Case) -> None:
    check_second(case, ours)


@each
def test_batches_are_loops(case: Case) -> None:
    check_batches(case, ours)


@each
@pytest.mark.at_length
def test_compiled_is_evaluated(case: Case) -> None:
    check_compiled(case, ours)


# -- beyond the table ----------------------------------------------------------------------------------------


def test_closures_over_outer_traces() -> None:
    def inner(a: Any) -> Any:
        return ours.brentq(lambda x: x**3 - a, 0.0, 10.0)

    both = fg.grad(lambda a: fg.grad(lambda b: inner(a * b))(a) * a)(1.2)
    # root of x**3 = a * b: d/db = (a b)**(1/3) / (3 b), at b = a times a is a**(2/3) / 3
    np.testing.assert_allclose(both, 2.0 / 9.0 * 1.2 ** (-1 / 3), rtol=1e-9)


def test_searches_that_do_not_converge() -> None:
    def root(a: Any, **options: Any) -> Any:
        return ours.root_scalar(lambda x: x**3 - a, bracket=(0.0, 10.0), maxiter=2, **options)

    assert not scipy.optimize.root_scalar(lambda x: x**3 - 2.0, bracket=(0.0, 10.0), maxiter=2).converged
    assert not fg.jit(lambda a: root(a).converged)(2.0)
    assert not np.any(fg.vmap(lambda a: root(a).converged)(np.array([2.0, 3.0])))
    with pytest.raises(NotDifferentiableError, match="has not found a solution"):
        fg.grad(lambda a: root(a).root)(2.0)
    with pytest.raises(NotDifferentiableError, match="has not found a solution"):
        fg.grad(lambda a: ours.root_scalar(lambda x: x**3 - a, x0=9.0, x1=8.0, maxiter=2).root)(2.0)
    with pytest.raises(RuntimeError, match="Failed to converge after 2 iterations"):
        fg.vmap(lambda a: ours.brentq(lambda x: x**3 - a, 0.0, 10.0, maxiter=2))(np.array([2.0, 3.0]))


def test_third_derivative() -> None:
    root = lambda a: ours.brentq(lambda x: x**2 - a, 0.0, 10.0, xtol=1e-15)  # noqa: E731
    third = fg.grad(fg.grad(fg.grad(root)))(2.0)
    np.testing.assert_allclose(third, 0.375 * 2.0**-2.5, rtol=1e-9)


def test_a_singular_jacobian_is_an_error_that_says_so() -> None:
    with pytest.raises(NotDifferentiableError, match="Jacobian of the equations behind root is singular"):
        fg.jacobian(lambda a: ours.root(lambda x: [x[0] + x[1] - a, 2.0 * (x[0] + x[1] - a)], [1.0, 1.0]).x)(
            2.0
        )


def test_a_double_root_has_no_derivative() -> None:
    with pytest.raises(NotDifferentiableError, match="singular"):
        fg.grad(lambda a: ours.bisect(lambda x: (x - a) ** 3, 0.0, 2.0))(1.0)


@pytest.mark.parametrize("a", [1.0, 1.3])
def test_where_a_search_that_ends_early_began_matters(a: float) -> None:
    """Its result moves with the start; by the implicit function theorem it would not."""

    def cut_short(method: str) -> dict[str, Any]:
        return {"minimize": {"options": {"maxiter": 1}}, "root": {"options": {"maxfev": 2}}}.get(method, {})

    searches = (
        lambda a: (
            ours.minimize(lambda x: np.sum((x - 1.0) ** 4 + x**2), [a, 2.0 * a], **cut_short("minimize")).x
        ),
        lambda a: ours.root(lambda x: x**3 + x - 7.0, np.array([a]), **cut_short("root")).x,
        lambda a: ours.newton(lambda x: x**3 + x - 7.0, a, maxiter=1, disp=False),
        lambda a: ours.brentq(lambda x: x**3 + x - 7.0, 0.0, 5.0 * a, maxiter=2, disp=False),
        lambda a: ours.least_squares(lambda x: (x - 7.0) ** 3 + x, np.ones(1) * a, max_nfev=1).x,
    )
    for search in searches:
        for derivative in (fg.grad, lambda f: fg.jit(fg.grad(f))):
            with pytest.raises(NotDifferentiableError, match="has not found a solution"):
                derivative(lambda a, search=search: np.sum(search(a)))(a)


def test_a_solution_does_not_move_with_its_start() -> None:
    def solution(a: Any) -> Any:
        found = ours.root(lambda x: x**3 + x - 7.0, np.array([a, 2.0])).x[0]
        return found + ours.brentq(lambda x: x**3 + x - 7.0, 0.0, 5.0 * a)

    assert fg.grad(solution)(1.3) == 0.0
    assert fg.jit(fg.grad(solution))(1.3) == 0.0
    np.testing.assert_array_equal(fg.vmap(fg.grad(solution))(np.array([1.3, 1.5])), np.zeros(2))
    assert fg.grad(fg.grad(solution))(1.3) == 0.0


def test_a_start_may_be_a_list_of_traced_numbers() -> None:
    found = fg.grad(lambda a: ours.fixed_point(lambda x: np.cos(x * a), [a, 0.2])[0])(1.3)
    whole = fg.grad(lambda a: ours.fixed_point(lambda x: np.cos(x * a), 0.2))(1.3)
    np.testing.assert_allclose(found, whole, rtol=1e-7)


def test_what_was_not_found_has_no_derivative() -> None:
    def nothing(a: Any) -> Any:
        return ours.root(lambda x: x**2 + a, [1.0]).x[0]

    assert not fg.jit(lambda a: ours.root(lambda x: x**2 + a, [1.0]).success)(1.0)
    with pytest.raises(NotDifferentiableError, match="has not found a solution"):
        fg.grad(nothing)(1.0)


def test_a_solution_that_is_not_the_only_one_is_refused() -> None:
    with pytest.raises(NotDifferentiableError, match="singular"):
        fg.grad(lambda b: ours.linprog([1.0, 1.0], A_eq=[[1.0, 1.0]], b_eq=[b]).x[0])(1.0)


def test_scipys_errors_come_through() -> None:
    for o in (scipy.optimize, ours):
        with pytest.raises(ValueError, match="different signs"):
            o.brentq(lambda x: x**2 + 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="different signs"):
        fg.vmap(lambda a: ours.brentq(lambda x: x**2 + a, 0.0, 1.0))(np.ones(2))
    with pytest.raises(ShapeError, match="must return a real number"):
        fg.grad(lambda a: ours.minimize(lambda x: x * a, np.ones(2)).fun)(1.0)


def test_minimize_needs_no_gradient_and_takes_trees() -> None:
    target = {"w": np.array([1.0, 2.0]), "b": np.array(3.0)}

    def loss(p: Any, scale: Any) -> Any:
        return np.sum((p["w"] - scale * target["w"]) ** 2) + (p["b"] - target["b"]) ** 2

    start = {"w": np.zeros(2), "b": 0.0}
    found = ours.minimize(loss, start, args=(2.0,))
    assert found.success
    np.testing.assert_allclose(found.x["w"], [2.0, 4.0], atol=1e-6)
    slope = fg.jacfwd(lambda s: ours.minimize(loss, start, args=(s,)).x["w"])(2.0)
    np.testing.assert_allclose(slope, [1.0, 2.0], atol=1e-5)


def test_objectives_that_branch_on_values_are_minimised_outside_of_a_trace() -> None:
    def loss(x: Any) -> Any:
        return np.sum(x**2) if x[0] > 0 else np.sum(x**2) - x[0]

    assert ours.minimize(loss, [1.0, 2.0]).success


def test_gradient_given_with_the_value() -> None:
    both = ours.minimize(lambda x: (np.sum((x - 1.0) ** 2), 2.0 * (x - 1.0)), np.zeros(2), jac=True)
    np.testing.assert_allclose(both.x, 1.0, atol=1e-6)
    slope = fg.grad(
        lambda a: ours.minimize(lambda x: (np.sum((x - a) ** 2), None), np.zeros(2), jac=True).x[0]
    )
    np.testing.assert_allclose(slope(2.0), 1.0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:invalid value")  # SciPy's own, of trust-krylov
@pytest.mark.parametrize(
    "method", ["Newton-CG", "trust-ncg", "trust-krylov", "dogleg", "trust-exact", "CG", "TNC"]
)
def test_methods_with_second_derivatives(method: str) -> None:
    def found(a: Any) -> Any:
        return ours.minimize(
            lambda x: np.sum((x - a) ** 2 + 0.1 * x**4), np.zeros(2), method=method, tol=1e-9
        ).x[0]

    np.testing.assert_allclose(fg.grad(found)(1.0), 1.0 / (1.0 + 0.6 * found(1.0) ** 2), rtol=1e-4)


def test_scipys_minimize_names_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")  # where its calls are not seen
    with pytest.raises(FuncgradError, match=r"Use fg\.scipy\.optimize\.minimize"):
        fg.grad(lambda a: scipy.optimize.minimize(lambda x: np.sum((x - a) ** 2), np.zeros(2)).fun)(1.0)


def test_problems_in_scipys_objects() -> None:
    def nearest(p: Any) -> Any:
        bounds = ours.Bounds(np.zeros(2), np.stack([p[0], 9.0]))
        rule = ours.LinearConstraint(np.stack([np.stack([1.0, p[1]])]), -np.inf, 2.0)
        return ours.minimize(lambda x: np.sum((x - 3.0) ** 2), [0.1, 0.1], bounds=bounds, constraints=rule).x

    # The first is at its bound, the second on the line: p[0] + p[1] * x = 2.
    np.testing.assert_allclose(
        fg.jacobian(nearest)(np.array([0.5, 2.0])), [[1.0, 0.0], [-0.5, -0.375]], atol=1e-6
    )


def test_explain_says_what_is_left_to_scipy() -> None:
    text = str(fg.explain(lambda a: ours.brentq(lambda x: x**3 - a, 0.0, 10.0))(8.0))
    assert "solved has no native form" in text


def test_programs_with_solvers_are_read_and_pickled() -> None:
    program = fg.make_program(
        fg.grad(lambda a: ours.minimize(lambda x: np.sum((x - a) ** 2), np.zeros(2)).fun)
    )(1.0)
    assert fg.parse(program.text()) == program
    assert pickle.loads(pickle.dumps(program)) == program


def test_single_precision_parameters() -> None:
    slope = fg.grad(lambda a: ours.brentq(lambda x: x**3 - a, 0.0, 10.0))(np.float32(8.0))
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, 1.0 / 12.0, rtol=1e-6)


# -- many unknowns -------------------------------------------------------------------------------------------


def chain(x: Any, a: Any) -> Any:
    """A nonlinear chain: every unknown is bound to its neighbours."""
    left = np.concatenate([np.zeros(1), x[:-1]])
    right = np.concatenate([x[1:], np.zeros(1)])
    return 3.0 * x + 0.2 * x**3 - left - 0.5 * right - a[0] * np.cos(a[1] * np.sin(np.arange(x.size)))


@pytest.mark.parametrize("size", [60, 1100])
def test_large_systems_are_solved_by_products(size: int) -> None:
    weights = np.sin(np.arange(float(size)))

    def loss(a: Any) -> Any:
        return weights @ ours.root(lambda x: chain(x, a), np.zeros(size), method="krylov", tol=1e-12).x

    point = np.array([0.7, 0.3])
    program = fg.make_program(fg.grad(loss))(point)
    largest = max(v.aval.size for e in program.equations for v in e.outputs)
    assert (largest >= size**2) == (size < 1000)

    def value(a: Any) -> Any:
        x = np.zeros(size)
        for _ in range(60):  # a contraction
            x = x - 0.25 * chain(x, a)
        return weights @ x

    expected = differences(value, point, 1e-3)
    np.testing.assert_allclose(fg.grad(loss)(point), expected, rtol=1e-6)
    np.testing.assert_allclose(fg.jacfwd(loss)(point), expected, rtol=1e-6)
    second = differences(fg.grad(loss), point, 1e-3)
    np.testing.assert_allclose(fg.hessian(loss)(point), second, rtol=1e-3, atol=1e-4)


def test_large_singular_systems_are_refused() -> None:
    def loss(a: Any) -> Any:
        # Only the sum is determined: of 1200 equations 1199 say nothing.
        return ours.root(lambda x: np.ones(1200) * (np.sum(x) - a), np.zeros(1200), method="df-sane").x[0]

    with pytest.raises(NotDifferentiableError, match="root"):
        fg.grad(lambda a: loss(a) + 0.0)(1.0)
