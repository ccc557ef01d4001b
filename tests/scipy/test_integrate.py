"""`fg.scipy.integrate`: values are SciPy's, derivatives those of differences of SciPy's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
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
from funcgrad.errors import (
    ConcretizationError,
    FuncgradError,
    NotDifferentiableError,
    ShapeError,
    UnsupportedFunctionError,
)
from funcgrad.scipy import integrate as ours

POINT = np.array([0.7, 1.3])
TIGHT = {"epsabs": 1e-13, "epsrel": 1e-13}
EXACT = {"rtol": 1e-10, "atol": 1e-10}
X = np.array([0.0, 0.3, 0.5, 1.1, 1.2, 2.0])


def quad(f: Any, a: Any, b: Any, **options: Any) -> Any:
    def found(o: Any, p: Any) -> Any:
        return o.quad(
            lambda x: f(x, p), a(p) if callable(a) else a, b(p) if callable(b) else b, **TIGHT, **options
        )[0]

    return found


def smooth(x: Any, p: Any) -> Any:
    return np.exp(-p[0] * x**2) * np.cos(p[1] * x)


def jumping(o: Any, p: Any) -> Any:
    """An integrand that jumps at a place that moves."""
    return o.quad(
        lambda x: np.where(x < p[0], p[1], np.exp(-p[1] * x)), 0.0, 2.0, points=[1.5, p[0]], **TIGHT
    )[0]


def vector_quad(o: Any, p: Any) -> Any:
    return o.quad_vec(lambda x: np.stack([smooth(x, p), x * smooth(x, p)]), 0.0, p[0], epsabs=1e-13)[0]


def double_quad(o: Any, p: Any) -> Any:
    r = o.dblquad(
        lambda y, x: np.exp(p[0] * x * y), 0.0, p[1], lambda x: 0.1 * x, lambda x: x**2 + 0.2, epsabs=1e-11
    )
    return r[0]


def triple_quad(o: Any, p: Any) -> Any:
    r = o.tplquad(
        lambda z, y, x: p[0] * z + x * y, 0.0, p[1], 0.0, lambda x: x, 0.0, lambda x, y: x + y, epsabs=1e-9
    )
    return r[0]


def of_samples(name: str, **options: Any) -> Any:
    def found(o: Any, p: Any) -> Any:
        y = np.sin(np.outer(p, X))
        return getattr(o, name)(y, **options)

    return found


def by_nodes(o: Any, p: Any) -> Any:
    return o.fixed_quad(lambda x: smooth(x, p), 0.0, p[1], n=9)[0]


def of_positions(name: str) -> Any:
    def found(o: Any, p: Any) -> Any:
        return getattr(o, name)(np.sin(X), x=X * p[0] + p[1] * X**2)

    return found


def predators(t: Any, y: Any, p: Any) -> Any:
    return np.stack([p[0] * y[0] - y[0] * y[1], -p[1] * y[1] + 0.5 * y[0] * y[1] + 0.1 * np.sin(t)])


TIMES = np.array([0.0, 0.4, 1.0, 1.5])


def solved(method: str, tolerance: float = 1e-10, **options: Any) -> Any:
    def found(o: Any, p: Any) -> Any:
        extra = {"rtol": tolerance, "atol": tolerance} | ({} if o is scipy.integrate else options)
        chosen = "Radau" if o is scipy.integrate and method == "Rodas4" else method
        return o.solve_ivp(predators, (0.0, 1.5), [1.0, p[0]], chosen, TIMES, args=(p,), **extra).y

    return found


def of_ends(o: Any, p: Any) -> Any:
    return o.solve_ivp(
        lambda t, y: -y * t,
        (0.1 * p[0], 1.0 + p[1]),
        [1.0],
        t_eval=np.stack([0.5 + p[0], 1.0 + p[1]]),
        **EXACT,
    ).y


def backwards_in_time(o: Any, p: Any) -> Any:
    return o.solve_ivp(predators, (1.0, 0.0), [1.0, 0.5], t_eval=[0.8, 0.0], args=(p,), **EXACT).y


def dense(o: Any, p: Any) -> Any:
    sol = o.solve_ivp(
        predators, (0.0, 1.5), [1.0, p[0]], "DOP853", [1.5], True, args=(p,), rtol=1e-12, atol=1e-12
    ).sol
    return np.stack([sol(0.2 + 0.3 * p[1])[0], sol(np.stack([0.1, p[0]]))[1, 1]])


def older(o: Any, p: Any) -> Any:
    return o.odeint(lambda y, t: predators(t, y, p), np.stack([1.0, p[0]]), TIMES, rtol=1e-11, atol=1e-11)


def kinetics(t: Any, y: Any, p: Any) -> Any:
    a, b, c = 0.04 * p[0] * y[0], 1e4 * y[1] * y[2], 3e7 * p[1] * y[1] ** 2
    return np.stack([-a + b, a - b - c, c])


def stiff(method: str) -> Any:
    def found(o: Any, p: Any) -> Any:
        options = {"rtol": 1e-8, "atol": 1e-11}
        y = o.solve_ivp(kinetics, (0.0, 4.0), [1.0, 0.0, 0.0], method, [0.4, 4.0], args=(p,), **options).y
        return y * np.array([[1.0], [1e4], [1.0]])

    return found


CASES = [
    Case("quad", quad(smooth, 0.0, 1.0), POINT),
    Case("quad-limits", quad(smooth, lambda p: p[0] ** 2, lambda p: p[1]), POINT),
    Case("quad-infinite", quad(smooth, 0.0, np.inf), POINT),
    Case("quad-both-infinite", quad(smooth, -np.inf, np.inf), POINT),
    Case("quad-singular-end", quad(lambda x, p: np.exp(-p[0] * x) / np.sqrt(x), 0.0, lambda p: p[1]), POINT),
    Case("quad-moving-points", jumping, POINT),
    Case("quad-points", quad(lambda x, p: np.exp(-p[0] * abs(x - 0.3)), 0.0, 1.0, points=(0.3,)), POINT),
    Case("quad-weight", quad(lambda x, p: np.exp(-p[0] * x), 0.0, 1.0, weight="cos", wvar=3.0), POINT),
    Case("quad_vec", vector_quad, POINT),
    Case("dblquad", double_quad, POINT, tolerance=1e-5, step=1e-3),
    Case("tplquad", triple_quad, POINT, tolerance=1e-5, step=1e-3),
    Case("fixed_quad", by_nodes, POINT),
    Case("trapezoid", of_samples("trapezoid", dx=0.3), POINT),
    Case("trapezoid-axis", of_samples("trapezoid", axis=0), POINT),
    Case("trapezoid-x", of_positions("trapezoid"), POINT),
    Case("cumulative_trapezoid", of_samples("cumulative_trapezoid", x=X, initial=0), POINT),
    Case("cumulative_trapezoid-x", of_positions("cumulative_trapezoid"), POINT),
    Case("simpson", of_samples("simpson", x=X), POINT),
    Case("simpson-dx", of_samples("simpson", dx=0.2), POINT),
    Case("simpson-x", of_positions("simpson"), POINT),
    Case("cumulative_simpson", of_samples("cumulative_simpson", x=X, initial=0), POINT),
    Case("cumulative_simpson-x", of_positions("cumulative_simpson"), POINT),
    *[
        Case(f"solve_ivp-{m}", solved(m), POINT, tolerance=1e-5, step=1e-2)
        for m in ("RK45", "RK23", "DOP853")
    ],
    *[Case(f"solve_ivp-{m}", solved(m), POINT, tolerance=1e-4, step=1e-2) for m in ("Radau", "BDF", "LSODA")],
    Case("solve_ivp-adjoint", solved("RK45", adjoint=True), POINT, tolerance=1e-5, step=1e-2),
    Case("solve_ivp-native", solved("RK45", native=True), POINT, tolerance=1e-5, step=1e-2),
    Case("solve_ivp-native-stiff", solved("Rodas4", 1e-7, native=True), POINT, tolerance=1e-4, step=1e-2),
    Case("solve_ivp-times", of_ends, POINT, tolerance=1e-5, step=1e-2),
    Case("solve_ivp-backwards", backwards_in_time, POINT, tolerance=1e-5, step=1e-2),
    Case("solve_ivp-dense", dense, POINT, tolerance=1e-5, step=1e-2),
    Case("solve_ivp-stiff", stiff("BDF"), np.ones(2), tolerance=1e-3, step=1e-2),
    Case("odeint", older, POINT, tolerance=1e-5, step=1e-2),
]
each = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@each
def test_values_are_those_of_scipy(case: Case) -> None:
    check_value(case, scipy.integrate, ours)


@each
@pytest.mark.at_length
def test_first_derivatives(case: Case) -> None:
    check_first(case, scipy.integrate, ours)


@each
@pytest.mark.at_length
def test_second_derivatives(case: Case) -> None:
    check_second(case, ours)


@each
@pytest.mark.at_length
def test_batches_are_loops(case: Case) -> None:
    check_batches(case, ours)


@each
@pytest.mark.at_length
def test_compiled_is_evaluated(case: Case) -> None:
    check_compiled(case, ours)


# -- beyond the table ----------------------------------------------------------------------------------------


def bounce(o: Any, p: Any, terminal: bool, t_eval: Any = None) -> Any:
    def hits(t: Any, y: Any) -> Any:
        return y[0] - 0.1 * p[1]

    hits.terminal = terminal  # type: ignore[attr-defined]
    hits.direction = -1.0  # type: ignore[attr-defined]
    fly = lambda t, y: np.stack([y[1], -9.81 + 0.0 * y[0]])  # noqa: E731
    start, options = np.stack([0.5, 3.0 * p[0]]), {"rtol": 1e-12, "atol": 1e-12}
    return o.solve_ivp(fly, (0.0, 1.2), start, "DOP853", t_eval, events=[hits], **options)


@pytest.mark.parametrize("terminal", [True, False])
def test_times_of_events(terminal: bool) -> None:
    def of(o: Any, p: Any) -> Any:
        s = bounce(o, p, terminal)
        return (
            s.t_events[0][0] + 0.1 * s.y_events[0][0][1] + (s.t[-1] * s.y[1, -1] if terminal else s.y[0, -1])
        )

    point = np.array([1.0, 1.3])
    np.testing.assert_allclose(of(ours, point), of(scipy.integrate, point), rtol=1e-9)
    expected = differences(lambda p: of(scipy.integrate, p), point, 1e-3)
    np.testing.assert_allclose(fg.grad(lambda p: of(ours, p))(point), expected, rtol=1e-6)
    np.testing.assert_allclose(fg.jacfwd(lambda p: of(ours, p))(point), expected, rtol=1e-6)
    second = differences(fg.grad(lambda p: of(ours, p)), point, 1e-3)
    np.testing.assert_allclose(fg.hessian(lambda p: of(ours, p))(point), second, rtol=1e-4, atol=1e-5)


def test_events_with_times_given() -> None:
    point = np.array([1.0, 1.3])
    s, plain = (bounce(o, point, True, [0.1, 0.2, 1.1]) for o in (ours, scipy.integrate))
    np.testing.assert_allclose(s.y, plain.y)
    slope = fg.grad(lambda p: bounce(ours, p, True, [0.1, 0.2, 1.1]).y[0, -1])(point)
    np.testing.assert_allclose(slope, [0.6, 0.0], atol=1e-8)


def test_the_solvers_own_steps() -> None:
    def last(o: Any, p: Any) -> Any:
        s = o.solve_ivp(predators, (0.0, p[1]), [1.0, 0.5], args=(p,), **EXACT)
        return s.t[-1] + s.y[0, -1]

    np.testing.assert_allclose(last(ours, POINT), last(scipy.integrate, POINT))
    expected = differences(lambda p: last(scipy.integrate, p), POINT, 1e-3)
    np.testing.assert_allclose(fg.grad(lambda p: last(ours, p))(POINT), expected, rtol=1e-6)


def test_steps_need_values() -> None:
    with pytest.raises(ConcretizationError, match="take y\\[:, -1\\]"):
        fg.jit(lambda p: ours.solve_ivp(predators, (0.0, 1.0), [1.0, 0.5], args=(p,)).y)(POINT)


def falling(o: Any, p: Any, floor: float = 0.0, **options: Any) -> Any:
    """A ball thrown up with speed p, until it is at the floor."""

    def floor_is_hit(t: Any, y: Any) -> Any:
        return y[0] - floor

    floor_is_hit.terminal, floor_is_hit.direction = True, -1.0  # type: ignore[attr-defined]
    top = lambda t, y: y[1]  # noqa: E731
    fly = lambda t, y: [y[1], -9.81 - 0.1 * y[1]]  # noqa: E731
    return o.solve_ivp(fly, (0.0, 2.0), [1.0, p], events=[top, floor_is_hit], **options)


def first_and_last(o: Any, p: Any) -> Any:
    s = falling(o, p, dense_output=True)
    top, floor = s.t_events[0][0], s.y_events[1][-1]
    _, speed = s.y
    return np.stack([top, *floor, s.t[-1], *s.y[:, -1], speed[-1], s.y.T[0, 1], *s.sol(0.2), s.status * 1.0])


def test_ends_and_events_where_there_are_no_values() -> None:
    expected = first_and_last(scipy.integrate, 3.0)
    np.testing.assert_allclose(
        fg.jit(lambda p: first_and_last(ours, p))(3.0), expected, rtol=1e-12, atol=1e-12
    )
    found = fg.vmap(lambda p: first_and_last(ours, p))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(found[1], expected, rtol=1e-12, atol=1e-12)
    exact = {"rtol": 1e-10, "atol": 1e-10}
    end = differences(lambda p: falling(scipy.integrate, p[0], **exact).t[-1], np.array([3.0]), 1e-3)[0]
    (again,) = fg.vmap(fg.grad(lambda p: falling(ours, p, **exact).t[-1]))(np.array([3.0]))
    np.testing.assert_allclose(again, end, rtol=1e-7)


def test_events_that_do_not_happen() -> None:
    def end(p: Any) -> Any:
        s = falling(ours, p, floor=-100.0)
        return s.t[-1] + 0.0 * s.y[0, -1]

    assert fg.jit(end)(3.0) == 2.0
    assert fg.vmap(fg.grad(end))(np.array([3.0]))[0] == 0.0
    with pytest.raises(IndexError, match="event 1 happened 0 times"):
        fg.jit(lambda p: falling(ours, p, floor=-100.0).t_events[1][0])(3.0)


@pytest.mark.parametrize(
    "use", [np.sum, len, np.asarray, lambda x: x * 2.0, lambda x: x[3], lambda x: x.size, bool, list]
)
def test_what_needs_every_step_is_refused(use: Any) -> None:
    with pytest.raises(ConcretizationError, match="give t_eval"):
        fg.vmap(lambda p: use(falling(ours, p).t))(np.ones(2))


def test_many_parameters_take_the_adjoint() -> None:
    rng = np.random.default_rng(0)
    w = 0.3 * rng.standard_normal((10, 10))

    def loss(w: Any, **options: Any) -> Any:
        s = ours.solve_ivp(
            lambda t, y: np.tanh(w @ y), (0.0, 1.0), np.ones(10), t_eval=[0.5, 1.0], **EXACT, **options
        )
        return np.sum(s.y**2)

    found = fg.grad(loss)(w)
    np.testing.assert_allclose(found, fg.grad(lambda w: loss(w, adjoint=False))(w), atol=1e-6)
    e = np.zeros((10, 10))
    e[2, 3] = 1e-4
    np.testing.assert_allclose(found[2, 3], (loss(w + e) - loss(w - e)) / 2e-4, rtol=1e-5)


def test_adjoints_of_loose_tolerances() -> None:
    w = 0.3 * np.random.default_rng(0).standard_normal((10, 10))

    def loss(w: Any, **options: Any) -> Any:
        s = ours.solve_ivp(lambda t, y: np.tanh(w @ y), (0.0, 1.0), np.ones(10), t_eval=[0.5, 1.0], **options)
        return np.sum(s.y**2)

    exact = fg.grad(lambda w: loss(w, adjoint=False, **EXACT))(w)
    np.testing.assert_allclose(fg.grad(loss)(w), exact, atol=0.02 * np.max(abs(exact)))


def test_an_adjoint_that_cannot_retrace_says_so() -> None:
    def loss(p: Any) -> Any:
        return ours.solve_ivp(lambda t, y: -60.0 * p * y, (0.0, 2.0), [1.0], t_eval=[2.0], adjoint=True).y[
            0, 0
        ]

    with pytest.raises(NotDifferentiableError, match="cannot retrace the trajectory"):
        fg.grad(loss)(1.0)


def test_closures_over_outer_traces() -> None:
    def area(a: Any) -> Any:
        return fg.grad(lambda b: ours.quad(lambda x: np.exp(-a * b * x), 0.0, 1.0)[0])(1.0)

    a = 0.7
    expected = differences(
        lambda p: fg.grad(lambda b: ours.quad(lambda x: np.exp(-p[0] * b * x), 0.0, 1.0)[0])(1.0),
        np.array([a]),
        1e-3,
    )
    np.testing.assert_allclose(fg.grad(area)(a), expected[0], rtol=1e-8)


def test_complex_values_closed_over() -> None:
    def characteristic(o: Any, p: Any) -> Any:
        log = 1j * np.log(p[0])
        return o.quad_vec(lambda u: (np.exp(log * u - p[1] * u**2) * X).real, 0.0, 3.0, epsabs=1e-12)[0]

    expected = differences(lambda p: characteristic(scipy.integrate, p), POINT, 1e-3)
    for slopes in (fg.jacfwd, fg.jacrev):
        found = slopes(lambda p: characteristic(ours, p))(POINT).T
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_romb() -> None:
    y = np.sin(np.arange(9.0))
    np.testing.assert_allclose(fg.jit(lambda y: ours.romb(y, 0.3))(y), scipy.integrate.romb(y, 0.3))
    weights = fg.grad(lambda y: ours.romb(y, 0.3))(y)
    np.testing.assert_allclose(weights @ y, scipy.integrate.romb(y, 0.3))
    with pytest.raises(ValueError, match="power of 2"):
        fg.grad(ours.romb)(np.ones(6))


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ShapeError, match="returned 1"):
        fg.grad(
            lambda a: ours.solve_ivp(lambda t, y: [a * y[0]], (0.0, 1.0), [1.0, 2.0], t_eval=[1.0]).y[0, 0]
        )(1.0)
    with pytest.raises(UnsupportedFunctionError, match="no dense_output"):
        ours.solve_ivp(lambda t, y: y, (0.0, 1.0), [1.0], native=True, dense_output=True)
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")  # where its calls are not seen
    with pytest.raises(FuncgradError, match=r"Use fg\.scipy\.integrate\.solve_ivp"):
        fg.grad(lambda a: scipy.integrate.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), [1.0]).y[0, -1])(1.0)


def ending(terminal: Any) -> Any:
    """An event with that attribute."""
    event: Any = lambda t, y, *args: y[0]  # noqa: E731
    event.terminal = terminal
    return event


@pytest.mark.parametrize(
    "given",
    [
        {"method": "Euler"},
        {"t_span": (0.0,)},
        {"t_eval": [0.5, 2.0]},
        {"t_eval": [0.5, 0.5]},
        {"t_eval": [[0.5]]},
        {"y0": [[1.0]]},
        {"y0": 1.0},
        {"first_step": 2.0},
        {"first_step": 0.0},
        {"max_step": -1.0},
        {"atol": -1.0},
        {"atol": [1e-3, 1e-3]},
        {"args": 2.0},
        {"events": 3},
        {"y0": [1j], "method": "LSODA"},
        {"events": ending(-1)},
    ],
)
def test_errors_of_solve_ivp_are_those_of_scipy(given: dict[str, Any]) -> None:
    def run(o: Any, a: Any) -> Any:
        options = {"t_span": (0.0, 1.0), "y0": [1.0], **given}
        return o.solve_ivp(lambda t, y: -a * y, **options)

    with pytest.raises((ValueError, TypeError)) as theirs:
        run(scipy.integrate, 1.0)
    with pytest.raises(theirs.type) as found:
        fg.jit(lambda a: run(ours, a).y[0, -1])(1.0)
    assert str(theirs.value) in str(found.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda o, y: o.simpson(y, x=np.arange(2.0)),
        lambda o, y: o.cumulative_simpson(y, x=[0.0, 0.0, 1.0]),
        lambda o, y: o.cumulative_simpson(y[:0]),
        lambda o, y: o.cumulative_simpson(y, dx=np.ones(3)),
        lambda o, y: o.cumulative_simpson(y, initial=np.ones(3)),
        lambda o, y: o.fixed_quad(lambda x: x * y[0], 0.0, np.inf),
        lambda o, y: o.odeint(lambda y, t: -y, y[None], [0.0, 1.0]),
    ],
)
def test_errors_of_others_are_those_of_scipy(call: Any) -> None:
    with pytest.raises(ValueError) as theirs:  # noqa: PT011
        call(scipy.integrate, np.ones(3))
    with pytest.raises(ValueError) as found:  # noqa: PT011
        fg.jit(lambda y: call(ours, y))(np.ones(3))
    assert str(theirs.value) in str(found.value)


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_complex_states(method: str) -> None:
    def of(o: Any, p: Any) -> Any:
        turning = lambda t, y: [1j * p[0] * y[0] - 0.1 * y[1], 1j * y[0] - 0.3 * y[1]]  # noqa: E731
        upright = lambda t, y: np.real(y[0])  # noqa: E731
        s = o.solve_ivp(
            turning,
            (0.0, 3.0),
            np.stack([1.0 + 0.5j, 1j * p[1]]),
            method,
            events=upright,
            rtol=1e-7,
            atol=[1e-8] * 2,
        )
        return s.t_events[0][0] + np.abs(s.y_events[0][0][1]) + np.abs(s.y[0, -1]) ** 2 * s.y[1, -1].imag

    expected = of(scipy.integrate, POINT)
    np.testing.assert_allclose(fg.jit(lambda p: of(ours, p))(POINT), expected, rtol=1e-12)
    slopes = differences(lambda p: of(scipy.integrate, p), POINT, 1e-2)
    np.testing.assert_allclose(fg.grad(lambda p: of(ours, p))(POINT), slopes, rtol=1e-4)


def test_what_is_given_to_solve_ivp() -> None:
    """A method by its class, states in columns, traced tolerances, and methods of our own by name."""

    def last(a: Any, fun: Any = lambda t, y, a: -a * y, **options: Any) -> Any:
        return ours.solve_ivp(fun, (0.0, 1.0), [1.0], args=[a], **options).y[0, -1]

    expected = fg.grad(last)(0.7)
    assert fg.grad(lambda a: last(a, method=scipy.integrate.RK45))(0.7) == expected
    columns = lambda t, y, a: -a * y[:, :] * np.ones(y.shape[1])  # noqa: E731
    np.testing.assert_allclose(fg.grad(lambda a: last(a, columns, vectorized=True))(0.7), expected)
    with pytest.raises(ConcretizationError, match="rtol of solve_ivp"):
        fg.grad(lambda a: last(a, rtol=1e-3 * a))(0.7)
    with pytest.raises(ValueError, match=r"must be 'RK45' .* or 'Rodas4'"):
        fg.jit(lambda a: last(a, method="BDF", native=True))(0.7)


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_results_hold_what_those_of_scipy_hold(method: str) -> None:
    def run(o: Any, p: Any, **options: Any) -> Any:
        return o.solve_ivp(predators, (0.0, 1.5), [1.0, 0.5], method, args=(p,), **options)

    plain = run(scipy.integrate, POINT, events=ending(0))
    seen = []
    fg.grad(lambda p: (seen.append(run(ours, p, events=ending(0))), p[0])[1])(POINT)
    assert set(seen[0]) == set(plain)
    names = ["status", "message", "success", "njev", "nlu", *(["nfev"] if method == "RK45" else [])]
    assert [seen[0][name] for name in names] == [plain[name] for name in names]
    counted = fg.jit(lambda p: [run(ours, p, t_eval=[1.5])[name] for name in ("status", "njev", "nlu")])(
        POINT
    )
    assert counted == [plain[name] for name in ("status", "njev", "nlu")]


def test_what_did_not_arrive_is_no_number() -> None:
    def last(a: Any) -> Any:
        return ours.solve_ivp(
            lambda t, y: a * y**2, (0.0, 2.0), [1.0], t_eval=[0.5, 2.0], native=True, max_steps=300
        )

    assert not last(1.0).success
    assert np.isnan(last(1.0).y[0, 1])
    np.testing.assert_allclose(last(1.0).y[0, 0], 2.0, rtol=1e-2)


@pytest.mark.parametrize("method", ["RK45", "Rodas4"])
def test_native_trajectories_step_for_themselves(method: str) -> None:
    rates = np.array([0.1, 1.0, 30.0])

    def last(rate: Any) -> Any:
        s = ours.solve_ivp(
            lambda t, y: -rate * (y - np.cos(t)), (0.0, 3.0), [0.0], method, native=True, **EXACT
        )
        return s.y[0, -1]

    found = fg.jit(fg.vmap(fg.value_and_grad(last)))(rates)
    for k, rate in enumerate(rates):
        s = scipy.integrate.solve_ivp(lambda t, y, r=rate: -r * (y - np.cos(t)), (0.0, 3.0), [0.0], **EXACT)
        np.testing.assert_allclose(found[0][k], s.y[0, -1], rtol=1e-7)
        np.testing.assert_allclose(found[1][k], fg.grad(last)(rate), rtol=1e-8)


@pytest.mark.parametrize(("method", "order"), [("RK45", 5), ("Rodas4", 4)])
def test_native_orders(method: str, order: int) -> None:
    """Halving the steps divides the error by two to the power of the order."""

    def error(h: float) -> float:
        options = {"first_step": h, "max_step": h, "rtol": 1.0, "atol": 1e3}
        y = ours.solve_ivp(
            predators, (0.0, 1.0), [1.0, 0.5], method, args=(POINT,), native=True, **options
        ).y[:, -1]
        exact = scipy.integrate.solve_ivp(
            predators, (0.0, 1.0), [1.0, 0.5], "DOP853", args=(POINT,), rtol=1e-13, atol=1e-13
        )
        return float(np.max(abs(y - exact.y[:, -1])))

    assert np.log2(error(1 / 8) / error(1 / 16)) > order - 0.5
