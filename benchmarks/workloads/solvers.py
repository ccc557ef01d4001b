"""SciPy's solvers under derivatives: trajectories, roots, minima, splines, beside SciPy and jax's family."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.compiled import with_second_thread
from benchmarks.model import Builder, Call, Contender, Versus, Workload

Inputs = tuple[Any, ...]
Fields = Callable[[Any], Callable[[Any, Any, Any], Any]]

STEP = 1e-6
"""Of SciPy's differences."""


def differences(np: Any, value: Callable[[Any], Any], p: Any) -> tuple[Any, Any]:
    """Value and gradient as SciPy's users have them: by forward differences."""
    start = value(p)
    steps = [np.where(np.arange(p.size) == k, STEP * max(1.0, abs(p[k])), 0.0) for k in range(p.size)]
    return start, np.array([(value(p + e) - start) / e[k] for k, e in enumerate(steps)])


# -- trajectories --------------------------------------------------------------------------------------------


def predators(np: Any) -> Callable[[Any, Any, Any], Any]:
    """Lotka's and Volterra's equations."""

    def slope(t: Any, y: Any, p: Any) -> Any:
        return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]])

    return slope


def kinetics(np: Any) -> Callable[[Any, Any, Any], Any]:
    """Robertson's reaction, in units of its usual rates."""

    def slope(t: Any, y: Any, p: Any) -> Any:
        a, b, c = 0.04 * p[0] * y[0], 1e4 * p[1] * y[1] * y[2], 3e7 * p[2] * y[1] ** 2
        return np.stack([b - a, a - b - c, c])

    return slope


def diffusion(np: Any) -> Callable[[Any, Any, Any], Any]:
    """A bistable reaction of 100 states that diffuse."""

    def slope(t: Any, y: Any, p: Any) -> Any:
        ends = y[1:2] - y[0:1], y[-2:-1] - y[-1:]
        spread = np.concatenate([ends[0], y[2:] - 2.0 * y[1:-1] + y[:-2], ends[1]])
        return 1e3 * p[0] * spread + p[1] * y * (1.0 - y) * (y - p[2])

    return slope


def lotka_volterra(np: Any) -> Inputs:
    """Parameters, start and times."""
    return np.array([1.5, 1.0, 3.0, 1.0]), np.array([1.0, 1.0]), np.linspace(0.0, 10.0, 21)


def robertson(np: Any) -> Inputs:
    """Parameters, start and times."""
    return np.ones(3), np.array([1.0, 0.0, 0.0]), np.array([0.4, 4.0, 40.0, 400.0])


def bistable(np: Any) -> Inputs:
    """Parameters, start and times."""
    start = np.exp(-(((np.arange(100) - 30.0) / 10.0) ** 2))
    return np.array([1.0, 5.0, 0.3]), start, np.array([0.5, 1.0, 2.0])


def by_funcgrad(field: Fields, method: str, rtol: float, atol: float, native: bool) -> Builder:
    """`fg.scipy.integrate.solve_ivp`; compiled where it is native."""

    def build(fg: Any, np: Any, inputs: Inputs) -> Call:
        p, start, times = inputs
        solve = import_module("funcgrad.scipy.integrate").solve_ivp
        options = {"rtol": rtol, "atol": atol, "native": native}

        def loss(p: Any) -> Any:
            y = solve(field(np), (0.0, times[-1]), start, method, times, args=(p,), **options).y
            return np.sum(y**2)

        both = fg.value_and_grad(loss)
        both = fg.jit(both) if native else both
        return lambda: both(p)

    return build


def by_scipy(field: Fields, method: str, rtol: float, atol: float) -> Builder:
    """`scipy.integrate.solve_ivp` and differences."""

    def build(scipy: Any, np: Any, inputs: Inputs) -> Call:
        p, start, times = inputs
        solve = import_module("scipy.integrate").solve_ivp
        slope = field(np)

        def loss(p: Any) -> Any:
            y = solve(slope, (0.0, times[-1]), start, method, times, args=(p,), rtol=rtol, atol=atol).y
            return np.sum(y**2)

        return lambda: differences(np, loss, p)

    return build


def by_diffrax(field: Fields, solver: str, rtol: float, atol: float) -> Builder:
    """diffrax, compiled, with its default adjoint."""

    def build(diffrax: Any, np: Any, inputs: Inputs) -> Call:
        jax = import_module("jax")
        jnp = import_module("jax.numpy")
        p, start, times = (jnp.asarray(x) for x in inputs)
        terms = diffrax.ODETerm(field(jnp))
        control = diffrax.PIDController(rtol=rtol, atol=atol)

        def loss(p: Any) -> Any:
            found = diffrax.diffeqsolve(
                terms,
                getattr(diffrax, solver)(),
                0.0,
                float(inputs[2][-1]),
                None,
                start,
                args=p,
                saveat=diffrax.SaveAt(ts=times),
                stepsize_controller=control,
                max_steps=100_000,
            )
            return jnp.sum(found.ys**2)

        both = jax.jit(jax.value_and_grad(loss))
        return lambda: jax.block_until_ready(both(p))

    return build


def by_odeint_of_jax(field: Fields, rtol: float, atol: float) -> Builder:
    """``jax.experimental.ode.odeint``, compiled."""

    def build(jax: Any, np: Any, inputs: Inputs) -> Call:
        jnp = import_module("jax.numpy")
        odeint = import_module("jax.experimental.ode").odeint
        p, start, times = (jnp.asarray(x) for x in inputs)
        slope = field(jnp)

        def loss(p: Any) -> Any:
            return jnp.sum(odeint(lambda y, t, p: slope(t, y, p), start, times, p, rtol=rtol, atol=atol) ** 2)

        both = jax.jit(jax.value_and_grad(loss))
        return lambda: jax.block_until_ready(both(p))

    return build


LOTKA_VOLTERRA = Workload(
    name="solve-ivp",
    title="Lotka-Volterra by `solve_ivp` (RK45, rtol 1e-8), value and gradient by 4 parameters, un-jitted",
    contenders=(
        Contender("funcgrad", "funcgrad", by_funcgrad(predators, "RK45", 1e-8, 1e-8, False)),
        Contender("scipy", "scipy", by_scipy(predators, "RK45", 1e-8, 1e-8)),
        Contender("jax.odeint", "jax", by_odeint_of_jax(predators, 1e-8, 1e-8)),
        Contender("diffrax", "diffrax", by_diffrax(predators, "Tsit5", 1e-8, 1e-8)),
    ),
    targets=(Versus(("scipy",), 5.0),),
    information=frozenset({"jax.odeint", "diffrax"}),
    inputs=lotka_volterra,
    rtol=1e-3,
)

NATIVE = Workload(
    name="solve-ivp-native",
    title="the same by `solve_ivp(native=True)`, compiled",
    contenders=(
        Contender("funcgrad", "funcgrad", by_funcgrad(predators, "RK45", 1e-8, 1e-8, True)),
        Contender("jax.odeint", "jax", by_odeint_of_jax(predators, 1e-8, 1e-8)),
        Contender("diffrax", "diffrax", by_diffrax(predators, "Tsit5", 1e-8, 1e-8)),
    ),
    targets=(Versus(("diffrax",), 1.5),),
    inputs=lotka_volterra,
    rtol=1e-3,
)

ROBERTSON = Workload(
    name="solve-ivp-stiff",
    title="stiff Robertson, native (Rodas4), value and gradient by 3 rates",
    contenders=(
        Contender("funcgrad", "funcgrad", by_funcgrad(kinetics, "Rodas4", 1e-6, 1e-9, True)),
        Contender("diffrax", "diffrax", by_diffrax(kinetics, "Kvaerno5", 1e-6, 1e-9)),
    ),
    targets=(Versus(("diffrax",), 1.0),),
    inputs=robertson,
    rtol=1e-3,
    in_quick=False,
)

DIFFUSION = Workload(
    name="solve-ivp-diffusion",
    title="a reaction and diffusion of 100 states, native (Rodas4), value and gradient by 3 parameters",
    contenders=(
        Contender("funcgrad", "funcgrad", by_funcgrad(diffusion, "Rodas4", 1e-6, 1e-8, True)),
        Contender("diffrax", "diffrax", by_diffrax(diffusion, "Kvaerno5", 1e-6, 1e-8)),
    ),
    targets=(Versus(("diffrax",), 1.0),),
    inputs=bistable,
    rtol=1e-3,
    in_quick=False,
)


# -- roots ---------------------------------------------------------------------------------------------------


def heights(np: Any) -> Inputs:
    """A parameter for each of 10,000 problems."""
    return (np.linspace(1.0, 5.0, 10_000),)


def roots_by_funcgrad(fg: Any, np: Any, inputs: Inputs) -> Call:
    """`fg.vmap` of `brentq` and its derivative."""
    brentq = import_module("funcgrad.scipy.optimize").brentq

    def root(a: Any) -> Any:
        return brentq(lambda x: x**3 - a * np.cos(x), 0.0, 10.0)

    both = fg.jit(fg.vmap(fg.value_and_grad(root)))
    return lambda: both(inputs[0])


def roots_by_scipy(scipy: Any, np: Any, inputs: Inputs) -> Call:
    """A loop over SciPy's function, with the implicit rule by hand."""
    brentq = import_module("scipy.optimize").brentq

    def every() -> Any:
        found = np.array([brentq(lambda x, a: x**3 - a * np.cos(x), 0.0, 10.0, args=(a,)) for a in inputs[0]])
        return found, np.cos(found) / (3.0 * found**2 + inputs[0] * np.sin(found))

    return every


def roots_by_optimistix(optimistix: Any, np: Any, inputs: Inputs) -> Call:
    """optimistix' method that keeps a bracket, compiled."""
    jax = import_module("jax")
    jnp = import_module("jax.numpy")
    solver = optimistix.Bisection(rtol=1e-12, atol=1e-12)

    def root(a: Any) -> Any:
        options = {"lower": 0.0, "upper": 10.0}
        return optimistix.root_find(
            lambda x, a: x**3 - a * jnp.cos(x), solver, 5.0, args=a, options=options, max_steps=500
        ).value

    both = jax.jit(jax.vmap(jax.value_and_grad(root)))
    a = jnp.asarray(inputs[0])
    return lambda: jax.block_until_ready(both(a))


ROOTS = with_second_thread(
    Workload(
        name="brentq-vmap",
        title="`brentq` over 10,000 problems by `vmap`, roots and their derivatives",
        contenders=(
            Contender("funcgrad", "funcgrad", roots_by_funcgrad),
            Contender("scipy", "scipy", roots_by_scipy),
            Contender("optimistix", "optimistix", roots_by_optimistix),
        ),
        targets=(Versus(("scipy",), 5.0), Versus(("optimistix",), 1.5)),
        inputs=heights,
    )
)


# -- splines and minima --------------------------------------------------------------------------------------


def samples(np: Any) -> Inputs:
    """Knots, values there, and a million positions."""
    knots = np.linspace(0.0, 10.0, 1000)
    return knots, np.sin(knots), np.random.default_rng(0).uniform(0.0, 10.0, 1_000_000)


def spline_by_funcgrad(fg: Any, np: Any, inputs: Inputs) -> Call:
    """Value and gradient by the values and the positions."""
    knots, values, positions = inputs
    spline = import_module("funcgrad.scipy.interpolate").CubicSpline
    both = fg.jit(fg.value_and_grad(lambda y, t: np.sum(spline(knots, y)(t) ** 2), argnums=(0, 1)))
    return lambda: both(values, positions)


def spline_by_scipy(scipy: Any, np: Any, inputs: Inputs) -> Call:
    """The value alone."""
    knots, values, positions = inputs
    spline = import_module("scipy.interpolate").CubicSpline
    return lambda: np.sum(spline(knots, values)(positions) ** 2)


SPLINE = Workload(
    name="cubic-spline",
    title="`CubicSpline` at 10⁶ points, value and gradient by values and positions (SciPy: value alone)",
    contenders=(
        Contender("funcgrad", "funcgrad", spline_by_funcgrad),
        Contender("scipy", "scipy", spline_by_scipy, compared=False),
    ),
    targets=(Versus(("scipy",), 0.25),),
    inputs=samples,
    in_quick=False,
)


def measurements(np: Any) -> Inputs:
    """Features, signs, and a start."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 20))
    return x, np.sign(x @ rng.normal(size=20) + 0.5 * rng.normal(size=500)), np.zeros(20)


def logistic(np: Any, inputs: Inputs) -> Callable[[Any], Any]:
    """A logistic regression."""
    x, y, _ = inputs
    return lambda w: np.mean(np.logaddexp(0.0, -y * (x @ w))) + 1e-3 * np.sum(w**2)


def fit_by_funcgrad(fg: Any, np: Any, inputs: Inputs) -> Call:
    """`fg.scipy.optimize.minimize`, without a gradient."""
    minimize = import_module("funcgrad.scipy.optimize").minimize
    loss = logistic(np, inputs)
    return lambda: np.float64(minimize(loss, inputs[2]).fun)


def fit_by_scipy(scipy: Any, np: Any, inputs: Inputs) -> Call:
    """`scipy.optimize.minimize`, without a gradient."""
    minimize = import_module("scipy.optimize").minimize
    loss = logistic(np, inputs)
    return lambda: np.float64(minimize(loss, inputs[2]).fun)


MINIMUM = Workload(
    name="minimize",
    title="`minimize(loss, x0)` of a logistic regression with 20 weights, without writing a gradient",
    contenders=(
        Contender("funcgrad", "funcgrad", fit_by_funcgrad),
        Contender("scipy", "scipy", fit_by_scipy),
    ),
    targets=(Versus(("scipy",), 5.0),),
    inputs=measurements,
    rtol=1e-5,
)

WORKLOADS = (LOTKA_VOLTERRA, NATIVE, ROBERTSON, DIFFUSION, ROOTS, SPLINE, MINIMUM)
