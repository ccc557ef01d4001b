"""The distributions of ``fg.scipy.stats``, all by one table: their declarations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.stats.expectations import NOT_SUMMED
from funcgrad.scipy.stats.law import LAWS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

POINTS = ("cdf", "sf", "logcdf", "logsf")
MOMENTS = ("mean", "var", "std", "entropy")
LOC, SCALE = 0.3, 1.7


def methods_at_points(name: str) -> tuple[str, ...]:
    density = ("pmf", "logpmf") if LAWS[name].discrete else ("pdf", "logpdf")
    return (*density, *POINTS)


def placed(name: str) -> tuple[list[float], list[int]]:
    """A point and all parameters, location and scale among them, and which of them are differentiated."""
    law = LAWS[name]
    x, *shapes = law.example
    if law.discrete:
        moving = [1 + i for i, s in enumerate(law.shapes) if s not in law.counts]
        return [x + 1.0, *shapes, 1.0], moving
    values = [LOC + SCALE * x, *shapes, LOC, SCALE]
    return values, list(range(len(values)))


def differences(f: Callable[..., Any], at: list[float], i: int, order: int) -> float:
    """A derivative by the argument `i`, from five values."""
    h = (2e-3 if order == 1 else 8e-3) * max(abs(at[i]), 0.3)
    values = [float(f(*[v + k * h * (j == i) for j, v in enumerate(at)])) for k in (-2, -1, 0, 1, 2)]
    weights = {1: (1 / 12, -2 / 3, 0, 2 / 3, -1 / 12), 2: (-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12)}[order]
    return float(np.dot(weights, values)) / h**order


def close(got: Any, want: Any, rtol: float, scale: float = 1.0) -> None:
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * max(scale, 1e-12))


@pytest.mark.parametrize("name", LAWS)
def test_values_are_scipys_into_the_tails(name: str) -> None:
    law, ours, theirs = LAWS[name], getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    _, *shapes = law.example
    q = np.array([1e-9, 1e-3, 0.2, 0.6, 0.999])
    x = np.unique(np.concatenate([theirs.ppf(q, *shapes), theirs.isf([1e-8], *shapes)]))
    for method in methods_at_points(name):
        got = fg.jvp(lambda x, m=method: getattr(ours, m)(x, *shapes), (x,), (np.ones_like(x),))[0]
        # Where SciPy subtracts from 1, its digits beyond 1e-9 / 1e-16 are noise.
        close(got, getattr(theirs, method)(x, *shapes), 5e-6, 0.0)
    got = [fg.jvp(lambda q, m=m: getattr(ours, m)(q, *shapes), (q,), (q,))[0] for m in ("ppf", "isf")]
    close(got, [theirs.ppf(q, *shapes), theirs.isf(q, *shapes)], 1e-6)


@pytest.mark.at_length
@pytest.mark.parametrize("name", LAWS)
def test_moments_are_scipys(name: str) -> None:
    law, ours, theirs = LAWS[name], getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    _, *shapes = law.example
    want = np.nan
    for method in MOMENTS:
        if (name, method) in NOT_SUMMED:
            with pytest.raises(UnsupportedFunctionError, match=f"fg.scipy.stats.{name}.{method}"):
                fg.grad(lambda loc, m=method: getattr(ours, m)(*shapes, loc=loc))(1.0)
            continue
        got = fg.jvp(lambda loc, m=method: getattr(ours, m)(*shapes, loc=loc), (1.0,), (1.0,))[0]
        # For the standard deviation SciPy would integrate for the variance again.
        want = np.sqrt(want) if method == "std" else getattr(theirs, method)(*shapes, loc=1.0)
        np.testing.assert_allclose(float(got), float(want), rtol=1e-7)


@pytest.mark.at_length
@pytest.mark.parametrize(
    ("name", "method"),
    [
        *(("poisson", "entropy"), ("binom", "entropy"), ("nbinom", "entropy"), ("levy", "entropy")),
        *(("skellam", "entropy"), ("burr12", "var"), ("genhalflogistic", "mean"), ("truncpareto", "entropy")),
    ],
)
def test_moments_without_a_formula_move_as_scipys(name: str, method: str) -> None:
    """Supports that move among them; of arrays of parameters, and compiled, as of one."""
    law = LAWS[name]
    _, *shapes = law.example
    ours, theirs = [getattr(getattr(s, name), method) for s in (fg.scipy.stats, scipy.stats)]
    moving = tuple([i for i, shape in enumerate(law.shapes) if shape not in law.counts])
    if not moving:
        np.testing.assert_allclose(fg.grad(lambda s: ours(scale=s))(2.0), 0.5)
        return
    slopes = fg.grad(ours, argnums=moving)
    found = slopes(*shapes)
    for slope, i in zip(found, moving, strict=True):
        close(slope, differences(theirs, shapes, i, 1), 1e-6)
    close(
        fg.grad(fg.grad(ours, moving[0]), moving[0])(*shapes), differences(theirs, shapes, moving[0], 2), 1e-4
    )
    close(fg.jit(slopes)(*shapes), found, 1e-9)
    several = [np.array([s, s]) for s in shapes]
    close(fg.grad(lambda *a: ours(*a).sum(), moving)(*several), [np.full(2, x) for x in found], 1e-9)


@pytest.mark.at_length
@pytest.mark.parametrize("name", LAWS)
def test_first_and_second_derivatives_by_every_parameter(name: str) -> None:
    values, moving = placed(name)
    ours, theirs = getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    log_density, density = methods_at_points(name)[1], methods_at_points(name)[0]
    for method in [m for m in (log_density, density, "cdf", "sf") if m in methods_at_points(name)]:
        f, g = getattr(ours, method), getattr(theirs, method)
        if not moving:
            continue
        first = fg.grad(f, argnums=tuple(moving))(*values)
        second = fg.jacfwd(fg.grad(f, argnums=tuple(moving)), argnums=tuple(moving))(*values)
        for n, i in enumerate(moving):
            close(first[n], differences(g, values, i, 1), 2e-6)
            close(second[n][n], differences(g, values, i, 2), 2e-5)


@pytest.mark.parametrize("name", [n for n in LAWS if not LAWS[n].discrete])
def test_quantiles_move_as_the_distribution_function_says(name: str) -> None:
    values, moving = placed(name)
    ours, theirs = getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    for method in ("ppf", "isf"):
        at = [0.3, *values[1:]]
        first = fg.grad(getattr(ours, method), argnums=tuple(moving))(*at)
        for n, i in enumerate(moving):
            close(first[n], differences(getattr(theirs, method), at, i, 1), 3e-5)
        twice = fg.grad(fg.grad(getattr(ours, method)))(*at)
        close(twice, differences(getattr(theirs, method), at, 0, 2), 2e-3)


@pytest.mark.at_length
@pytest.mark.parametrize("name", LAWS)
def test_every_way_gives_the_same(name: str) -> None:
    """Forward as reverse, vmap as a loop, compiled as evaluated."""
    values, moving = placed(name)
    methods = methods_at_points(name)
    ours, theirs = [[getattr(getattr(p, name), m) for m in methods] for p in (fg.scipy.stats, scipy.stats)]
    slopes = fg.grad(ours[1], argnums=tuple(moving)) if moving else lambda *_: ()
    reverse = slopes(*values)
    if moving:
        close(fg.jacfwd(ours[1], argnums=tuple(moving))(*values), reverse, 1e-10)
    x = np.array([values[0] - 6.0, values[0], values[0] + 1.0, np.nan])

    def everything(x: Any, *values: Any) -> Any:
        return slopes(*values), [f(x, *values[1:]) for f in ours]

    compiled, found = fg.jit(everything)(x, *values)
    close(compiled, reverse, 1e-10)
    for f, g, of_rows in zip(ours, theirs, found, strict=True):
        close(fg.vmap(lambda x, f=f: f(x, *values[1:]))(x), [f(xi, *values[1:]) for xi in x], 1e-8)
        close(of_rows, [g(xi, *values[1:]) for xi in x], 1e-8)


OTHER_ENDS = (
    *(("gengamma", (4.4, -3.1)), ("powerlaw", (0.66,)), ("gamma", (1.0,)), ("genpareto", (-0.3,))),
    *(("genpareto", (-1.0,)), ("genextreme", (1.0,)), ("genextreme", (1.6,)), ("genhalflogistic", (1.0,))),
    *(("powernorm", (1.0,)), ("betaprime", (1.0, 2.0))),
)
"""Parameters beside the examples, for which the ends of the support are of another kind."""


@pytest.mark.parametrize("end", [-np.pi / 4, np.pi / 4])
def test_a_density_that_is_rounded_to_nearly_zero_at_an_end(end: float) -> None:
    """By its logarithm's derivatives it would be a small difference of reciprocals of rounding errors."""
    f = lambda x, scale: fg.scipy.stats.anglit.pdf(x, scale=scale)  # noqa: E731
    side = -np.sign(end)
    for outer in (fg.jacfwd, fg.jacrev):
        for inner in (fg.jacfwd, fg.jacrev):
            found = np.array(outer(inner(f, (0, 1)), (0, 1))(end, 1.0))
            # cos(2 x / s) / s: its slope is 2 inwards, and its curvature 0.
            close(found[0], [0.0, -4.0 * side], 1e-12)
            close(found[1], [-4.0 * side, -2.0 * np.pi], 1e-12)


@pytest.mark.parametrize(
    ("name", "shapes"), [*((n, law.example[1:]) for n, law in LAWS.items()), *OTHER_ENDS]
)
def test_densities_and_slopes_at_the_ends_of_the_support(name: str, shapes: tuple[float, ...]) -> None:
    """And beyond them: SciPy's values where it has them, no NaN among slopes of finite densities."""
    law, ours, theirs = LAWS[name], getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    low, high = theirs.support(*shapes)
    x = np.unique([low, high, low - 1.0, high + 1.0, -np.inf, np.inf])
    if name.startswith("vonmises"):
        x = x[np.isfinite(x)]  # Periodic: there is no limit.
    at = [np.full_like(x, a) for a in shapes] + [np.full_like(x, 1.0)] * (not law.discrete)
    for method in methods_at_points(name)[:2]:
        density = getattr(theirs, method)

        def f(x: Any, *p: Any, method: str = method) -> Any:
            *given, scale = p if not law.discrete else (*p, None)
            return getattr(ours, method)(x, *given, **({} if scale is None else {"scale": scale}))

        value, pullback = fg.vjp(f, x, *at)
        want = density(x, *shapes)
        known = ~np.isnan(want)  # SciPy has inf - inf at some infinite points.
        close(value[known], want[known], 1e-12)
        slopes = np.array(pullback(np.ones_like(x)))
        assert not np.isnan(value).any()
        settled = (value != np.inf) if law.open_start is None else np.full(x.shape, True)
        assert not np.isnan(slopes[:, settled]).any(), (method, x, slopes)
        if method.startswith("log"):
            by_scale = 0 if law.discrete else 1  # At the ends themselves that of log(scale) remains.
            assert not slopes[: len(slopes) - by_scale, value == -np.inf].any()


@pytest.mark.parametrize("name", LAWS)
def test_inadmissible_parameters_are_nan(name: str) -> None:
    law, ours = LAWS[name], getattr(fg.scipy.stats, name)
    method = methods_at_points(name)[1]
    shapes = law.example[1:]
    inside = law.example[0]
    if not law.discrete:
        assert np.isnan(fg.jit(getattr(ours, method))(inside, *shapes, scale=-1.0))
    for i in range(len(shapes)):
        bad = [np.nan if j == i else s for j, s in enumerate(shapes)]
        for x in (inside, -1e9):
            got = fg.jvp(lambda x, b=tuple(bad): getattr(ours, method)(x, *b), (x,), (1.0,))[0]
            assert np.isnan(got), (x, i)


def test_single_precision_becomes_double_as_in_scipy() -> None:
    x = np.float32([0.3, 0.7])
    got = fg.jit(fg.scipy.stats.norm.logpdf)(x)
    assert got.dtype == scipy.stats.norm.logpdf(x).dtype == np.float64


def test_frozen_distributions_hold_traced_parameters() -> None:
    def likelihood(loc: Any, scale: Any) -> Any:
        law = fg.scipy.stats.norm(loc, scale=scale)
        return law.logpdf(np.array([0.1, 0.9])).sum() + law.mean() + law.std()

    first = fg.grad(likelihood)(0.3, 1.2)
    close(first, (0.1 + 0.9 - 0.6) / 1.2**2 + 1.0, 1e-12)


def test_distributions_of_scipy_keep_the_gradient_as_they_stand() -> None:
    close(fg.grad(scipy.stats.norm.logpdf)(0.3), -0.3, 1e-12)


def test_refusals_name_the_way() -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"norm\.fit of traced values"):
        fg.grad(lambda x: fg.scipy.stats.norm.fit(x)[0])(np.array([0.3, 0.5]))
    with pytest.raises(TypeError, match="missing its shape parameters: a"):
        fg.scipy.stats.gamma.pdf(0.3)
    with pytest.raises(TypeError, match="unexpected parameter 'sigma'"):
        fg.scipy.stats.norm.pdf(0.3, sigma=2.0)


@pytest.mark.parametrize("name", LAWS)
def test_samples_follow_the_distribution(name: str) -> None:
    law, ours, theirs = LAWS[name], getattr(fg.scipy.stats, name), getattr(scipy.stats, name)
    _, *shapes = law.example
    size = 40 if name == "norminvgauss" else 400  # SciPy finds each of its numbers by many quadratures.
    x = ours.rvs(*shapes, size=size, random_state=fg.random.key(1))
    assert x.shape == (size,)
    if law.discrete:
        assert abs(np.mean(x <= law.example[0]) - theirs.cdf(law.example[0], *shapes)) < 0.1
        return
    assert scipy.stats.kstest(x, lambda x: theirs.cdf(x, *shapes)).pvalue > 1e-3
    scale = fg.grad(lambda s: ours.rvs(*shapes, scale=s, size=3, random_state=fg.random.key(1)).sum())(2.0)
    close(scale, ours.rvs(*shapes, size=3, random_state=fg.random.key(1)).sum(), 1e-9)


HOT = {
    "norm": (),
    "t": (3.5,),
    "gamma": (2.1,),
    "beta": (2.1, 3.3),
    "poisson": (2.5,),
    "binom": (9.0, 0.3),
    "nbinom": (2.5, 0.3),
    "lognorm": (0.5,),
    "logistic": (),
    "laplace": (),
    "expon": (),
    "uniform": (),
}


@pytest.mark.parametrize("name", HOT)
def test_hot_likelihoods_are_one_kernel(name: str) -> None:
    law = getattr(fg.scipy.stats, name)
    x = np.array([1.0, 2.0, 3.0]) if LAWS[name].discrete else np.array([0.2, 0.4, 0.7])

    def likelihood(loc: Any, *shapes: Any) -> Any:
        method = law.logpmf if LAWS[name].discrete else law.logpdf
        return method(x - loc, *shapes).sum()

    by = tuple(range(1, 1 + len(HOT[name]))) or (0,)
    text = str(fg.explain(fg.value_and_grad(likelihood, argnums=by))(0.0, *HOT[name]))
    assert text.count("\nkernel ") == 1
    assert "left to NumPy" not in text


@pytest.mark.parametrize("name", ["t", "nbinom"])
def test_slopes_by_shapes_are_called_from_compiled_code(name: str) -> None:
    """Of distribution functions and entropies; of `nbinom` by the probability as well."""
    law = getattr(fg.scipy.stats, name)
    shapes = HOT[name]
    x = np.array([1.0, 2.0]) if LAWS[name].discrete else np.array([0.2, 0.7])

    def objective(*shapes: Any) -> Any:
        return law.cdf(x, *shapes).sum() + (0.0 if LAWS[name].discrete else law.entropy(*shapes))

    slopes = fg.grad(objective, argnums=tuple(range(len(shapes))))
    text = str(fg.explain(slopes)(*shapes))
    assert "left to NumPy" not in text
    np.testing.assert_allclose(fg.jit(slopes)(*shapes), slopes(*shapes), rtol=1e-11)


def test_the_logarithm_of_the_beta_function_keeps_its_digits_in_kernels() -> None:
    import mpmath as mp

    values = np.array([1e-5, 0.5, 3.3, 9.99, 10.0, 25.0, 1e3, 1e6, 1e15])
    a, b = np.meshgrid(values, values)
    found = fg.jit(fg.scipy.special.betaln)(a, b)
    with mp.workdps(60):
        exact = [
            float(mp.loggamma(mp.mpf(x)) + mp.loggamma(mp.mpf(y)) - mp.loggamma(mp.mpf(x) + mp.mpf(y)))
            for x, y in zip(a.flat, b.flat, strict=True)
        ]
    np.testing.assert_allclose(found.ravel(), exact, rtol=2e-15, atol=2e-15)
    odd = np.array([-0.5, -1.5, 0.0, 0.0, np.nan, np.inf]), np.array([20.0, 3.0, 3.0, 0.0, 1.0, 2.0])
    np.testing.assert_allclose(fg.jit(fg.scipy.special.betaln)(*odd), scipy.special.betaln(*odd), rtol=1e-12)


NATIVE = ("norm", "t", "gamma", "beta", "lognorm", "logistic", "laplace", "expon", "uniform")
COUNTS = ("poisson", "binom", "nbinom")


def test_what_people_loop_over_is_native() -> None:
    """Densities, distribution functions and quantiles in kernels alone; quantiles of counts are SciPy's."""

    def total(x: Any, k: Any) -> Any:
        found = 0.0
        for name in (*NATIVE, *COUNTS):
            law, (_, *shapes) = getattr(fg.scipy.stats, name), LAWS[name].example
            if name in COUNTS:
                found = found + law.logpmf(k, *shapes) + law.cdf(k, *shapes)
            else:
                found = found + law.logpdf(x, *shapes) + law.cdf(x, *shapes) + law.ppf(x, *shapes)
        return found

    assert not fg.explain(total)(np.array([0.2, 0.7]), np.array([1.0, 3.0])).reasons
