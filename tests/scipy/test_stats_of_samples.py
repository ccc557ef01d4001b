"""Functions of samples of `scipy.stats`: SciPy's values, and derivatives that are those of differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg
from funcgrad.scipy.stats.of_samples import FUNCTIONS

RNG = np.random.default_rng(1729)
X = RNG.gamma(2.0, size=(9, 2))
Y = RNG.gamma(3.0, size=(9, 2))
LINE = np.arange(9.0) ** 1.5
Z = RNG.normal(size=7)
P = np.array([0.1, 0.04, 0.3, 0.7])
stats = scipy.stats

CALLS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "pearsonr": (lambda x: tuple(stats.pearsonr(x, Y)), X),
    "pearsonr, one-sided": (lambda x: tuple(stats.pearsonr(Y[:, 0], x, alternative="less")), X[:, 0]),
    "pearsonr of all": (lambda x: stats.pearsonr(x, Y, axis=None).correlation, X),
    "pearsonr, interval": (lambda x: tuple(stats.pearsonr(x, LINE).confidence_interval(0.9)), X[:, 0]),
    "pearsonr, one-sided interval": (
        lambda x: stats.pearsonr(x, LINE, alternative="greater").confidence_interval().low,
        X[:, 0],
    ),
    "pointbiserialr": (lambda x: tuple(stats.pointbiserialr(np.arange(9) % 2, x)), X[:, 0]),
    "linregress": (lambda x: tuple(stats.linregress(LINE, x)), X[:, 0]),
    "linregress by positions": (lambda x: tuple(stats.linregress(x, LINE, "greater")), X[:, 0]),
    "linregress, error of the intercept": (lambda x: stats.linregress(x, LINE).intercept_stderr, X[:, 1]),
    "linregress of lines": (lambda x: stats.linregress(x, Y).slope, X),
    "tmean": (lambda x: stats.tmean(x, (0.5, 3.0)), X),
    "tmean along an axis": (lambda x: stats.tmean(x, axis=1, keepdims=True), X),
    "tvar": (lambda x: stats.tvar(x, (None, 3.0), (True, False)), X),
    "tstd": (lambda x: stats.tstd(x, (0.5, None), axis=None, ddof=0), X),
    "tsem": (lambda x: stats.tsem(x, (0.5, 3.0)), X),
    "tmin": (lambda x: stats.tmin(x, 0.7), X),
    "tmax": (lambda x: stats.tmax(x, 3.0, axis=None), X),
    "iqr": (stats.iqr, X),
    "iqr, normal": (lambda x: stats.iqr(x, 0, (10, 80), "normal", keepdims=True), X),
    "iqr of lower ones": (lambda x: stats.iqr(x, 0, interpolation="lower"), X),
    "trim_mean": (lambda x: stats.trim_mean(x, 0.2), X),
    "trim_mean of all": (lambda x: stats.trim_mean(x, 0.2, axis=None), X),
    "trimboth": (lambda x: np.sort(stats.trimboth(x, 0.2), 0), X),
    "trim1": (lambda x: np.sort(stats.trim1(x, 0.2, "left", axis=None)), X),
    "quantile": (lambda x: stats.quantile(x, 0.3), X),
    "quantile, several": (lambda x: stats.quantile(x, np.array([0.2, 0.9]), method="hazen"), X[:, 0]),
    "scoreatpercentile": (lambda x: stats.scoreatpercentile(x, [20, 70], axis=0), X),
    "median_abs_deviation": (lambda x: stats.median_abs_deviation(x, scale="normal"), X[:8]),
    "median_abs_deviation to the mean": (lambda x: stats.median_abs_deviation(x, None, np.mean), X[:, 0]),
    "describe": (lambda x: (*stats.describe(x)[1], *stats.describe(x, bias=False)[2:]), X),
    "gstd": (lambda x: stats.gstd(x, axis=1, keepdims=True), X),
    "zmap": (lambda x: stats.zmap(Y, x, ddof=1), X),
    "zmap by scores": (lambda x: stats.zmap(x, Y, axis=None), X),
    "kstat": (stats.kstat, X),
    "kstat of order 1": (lambda x: stats.kstat(x, 1, axis=0), X),
    "kstat of order 3": (lambda x: stats.kstat(x, 3, axis=0), X),
    "kstat of order 4": (lambda x: stats.kstat(x, 4, axis=0, keepdims=True), X),
    "kstatvar": (lambda x: stats.kstatvar(x, axis=0), X),
    "kstatvar of order 1": (lambda x: stats.kstatvar(x, 1), X),
    "lmoment": (stats.lmoment, X),
    "lmoment, raw": (lambda x: stats.lmoment(x, order=[3, 1], standardize=False), X),
    "directional_stats": (lambda x: tuple(vars_of(stats.directional_stats(x))), X),
    "differential_entropy": (stats.differential_entropy, X),
    "differential_entropy, Vasicek": (
        lambda x: stats.differential_entropy(x, method="vasicek", base=2, axis=None),
        X,
    ),
    "differential_entropy, Ebrahimi": (lambda x: stats.differential_entropy(x, method="ebrahimi"), X),
    "differential_entropy, Correa": (
        lambda x: stats.differential_entropy(x, method="correa", window_length=2),
        X,
    ),
    "ttest_1samp": (lambda x: tuple(stats.ttest_1samp(x, 1.5)), X),
    "ttest_1samp by the mean": (lambda m: tuple(stats.ttest_1samp(X[:, 0], m)), np.array(1.4)),
    "ttest_1samp, interval": (lambda x: tuple(stats.ttest_1samp(x, 1.5).confidence_interval(0.9)), X),
    "ttest_rel": (lambda x: tuple(stats.ttest_rel(x, Y, alternative="less")), X),
    "ttest_ind": (lambda x: tuple(stats.ttest_ind(x, Y[:6])), X),
    "ttest_ind, Welch": (lambda x: tuple(stats.ttest_ind(x, Y[:6], equal_var=False)), X),
    "ttest_ind, Yuen": (lambda x: tuple(stats.ttest_ind(x, Y[:6], trim=0.2, equal_var=False)), X),
    "ttest_ind, interval": (
        lambda x: stats.ttest_ind(x, Y, alternative="less").confidence_interval().high,
        X,
    ),
    "ttest_ind, degrees of freedom": (lambda x: stats.ttest_ind(x, Y, equal_var=False).df, X),
    "ttest_ind_from_stats": (
        lambda p: tuple(stats.ttest_ind_from_stats(p[0], p[1], 7, p[2], p[3], 9, False)),
        np.array([0.3, 1.1, 0.5, 0.7]),
    ),
    "f_oneway": (lambda x: tuple(stats.f_oneway(x, Y, Y[:4] + 1.0)), X),
    "f_oneway, Welch": (lambda x: tuple(stats.f_oneway(x, Y, Y[:4] + 1.0, equal_var=False)), X),
    "bartlett": (lambda x: tuple(stats.bartlett(x, Y, Y[:4] ** 2)), X),
    "levene": (lambda x: tuple(stats.levene(x, Y)), X[:8]),
    "levene about means": (lambda x: tuple(stats.levene(x, Y, center="mean")), X),
    "levene, trimmed": (lambda x: tuple(stats.levene(x, Y, center="trimmed", proportiontocut=0.2)), X),
    "power_divergence": (lambda x: tuple(stats.power_divergence(x)), X),
    "power_divergence of logarithms": (
        lambda x: tuple(stats.power_divergence(x, lambda_="log-likelihood", ddof=1)),
        X,
    ),
    "power_divergence, modified": (
        lambda x: tuple(stats.power_divergence(x, lambda_="mod-log-likelihood", axis=None)),
        X,
    ),
    "power_divergence of an exponent": (lambda x: tuple(stats.power_divergence(x, lambda_=0.4)), X),
    "chisquare": (lambda x: tuple(stats.chisquare(x, Y, sum_check=False)), X),
    "jarque_bera": (lambda x: tuple(stats.jarque_bera(x, axis=0)), X),
    "skewtest": (lambda x: tuple(stats.skewtest(x, alternative="greater")), X),
    "kurtosistest": (lambda x: tuple(stats.kurtosistest(x)), X),
    "normaltest": (lambda x: tuple(stats.normaltest(x, axis=None)), X),
    "combine_pvalues": (lambda p: tuple(stats.combine_pvalues(p)), P),
    "combine_pvalues, Pearson": (lambda p: tuple(stats.combine_pvalues(p, "pearson")), P),
    "combine_pvalues, Mudholkar": (lambda p: tuple(stats.combine_pvalues(p, "mudholkar_george")), P),
    "combine_pvalues, Tippett": (lambda p: tuple(stats.combine_pvalues(p, "tippett")), P),
    "combine_pvalues, Stouffer": (lambda p: tuple(stats.combine_pvalues(p, "stouffer", 1.0 + P)), P),
    "boxcox": (lambda x: stats.boxcox(x, 0.4), X),
    "boxcox by the exponent": (lambda p: stats.boxcox(X[:, 0], p), np.array(0.3)),
    "boxcox_llf": (lambda x: stats.boxcox_llf(0.4, x), X),
    "boxcox_llf by the exponent": (lambda p: stats.boxcox_llf(p, X), np.array(0.4)),
    "yeojohnson": (lambda x: stats.yeojohnson(x, 0.4), Z),
    "yeojohnson of 2": (lambda x: stats.yeojohnson(x, 2.0), Z),
    "yeojohnson_llf": (lambda x: stats.yeojohnson_llf(0.4, x, axis=None), Z),
    "yeojohnson_llf by the exponent": (lambda p: stats.yeojohnson_llf(p, Z), np.array(0.4)),
    "wasserstein_distance": (lambda x: stats.wasserstein_distance(x, Y[:, 0]), X[:, 0]),
    "wasserstein_distance, weighed": (
        lambda w: stats.wasserstein_distance(X[:, 0], Y[:6, 0], w, np.arange(1.0, 7.0)),
        Y[:, 1],
    ),
    "energy_distance": (lambda x: stats.energy_distance(x, Y[:, 0]), X[:, 0]),
    "expectile": (lambda x: stats.expectile(x, 0.7), X[:, 0]),
    "expectile, weighed": (lambda x: stats.expectile(x, 0.2, weights=Y), X),
    "cramervonmises": (lambda x: stats.cramervonmises(x, "expon", (0.1,)).statistic, X),
    "cramervonmises of a function": (lambda x: stats.cramervonmises(x, stats.norm(1.0).cdf).statistic, Z),
}


def vars_of(found: Any) -> list[Any]:
    return [found.mean_direction, found.mean_resultant_length]


def numbers(name: str) -> Callable[[Any], Any]:
    """All results of a case in one vector."""
    f = CALLS[name][0]

    def vector(x: Any) -> Any:
        out = f(x)
        parts = out if isinstance(out, tuple) else (out,)
        return np.concatenate([np.reshape(part, (-1,)) for part in parts])

    return vector


def differences(f: Callable[[Any], Any], x: Any) -> Any:
    h = 1e-4
    found = []
    for k in range(x.size):
        e = np.zeros(x.shape)
        e.flat[k] = h
        found.append((8.0 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12.0 * h))
    return np.stack(found, -1).reshape((*np.shape(found[0]), *x.shape))


def test_every_function_of_samples_has_a_case() -> None:
    assert set(FUNCTIONS) == {name.split(",")[0].split()[0] for name in CALLS}


@pytest.mark.at_length
@pytest.mark.parametrize("name", CALLS)
def test_values_and_derivatives(name: str) -> None:
    f, x = numbers(name), CALLS[name][1]
    wanted, slopes = f(x), differences(f, x)
    scale = max(1.0, float(np.max(abs(slopes))))
    for jacobian in (fg.jacrev(f), fg.jacfwd(f), fg.jit(fg.jacobian(f))):
        np.testing.assert_allclose(jacobian(x), slopes, rtol=0.0, atol=2e-7 * scale)
    batch = np.stack([x, 1.05 * x])
    np.testing.assert_allclose(fg.vjp(f, x)[0], wanted, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(fg.vmap(f)(batch), [wanted, f(batch[1])], rtol=1e-10, atol=1e-13)


@pytest.mark.at_length
@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives(name: str) -> None:
    f, x = numbers(name), CALLS[name][1]

    def total(x: Any) -> Any:
        out = f(x)
        return np.sum(np.cos(np.arange(float(out.size))) * out)

    slopes = differences(fg.grad(total), x)
    scale = max(1.0, float(np.max(abs(slopes))))
    for hessian in (fg.jacfwd(fg.grad(total)), fg.jacrev(fg.grad(total))):
        np.testing.assert_allclose(hessian(x), slopes, rtol=0.0, atol=1e-6 * scale)


@pytest.mark.parametrize("name", CALLS)
def test_shapes_and_single_precision(name: str) -> None:
    f, x = CALLS[name]
    for point in (x, x.astype(np.float32)):
        for found, wanted in zip(leaves(fg.vjp(f, point)[0]), leaves(f(point)), strict=True):
            assert np.shape(found) == np.shape(wanted)
            if not name.startswith(KEEPS_NO_SINGLE):
                assert np.asarray(found).dtype == np.asarray(wanted).dtype


KEEPS_NO_SINGLE = ("",)


def leaves(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else [x]


@pytest.mark.filterwarnings("ignore")
def test_edges_are_scipys() -> None:
    same = np.ones(9)
    for f, x in (
        (lambda x: stats.pearsonr(x, LINE).statistic, same),
        (lambda x: tuple(stats.pearsonr(x, [1.0, 2.0])), Z[:2]),
        (lambda x: stats.pearsonr(x, LINE).statistic, 1e-160 * X[:, 0]),
        (lambda x: stats.pearsonr(x, 1e200 * LINE).statistic, 1e160 * X[:, 0]),
        (lambda x: stats.pearsonr(x, [0.0, 1.0, -7.0]).statistic, 2.3e307 * np.array([1.0, -1.0, 5.0])),
        (lambda x: tuple(stats.linregress(LINE, x))[2:4], same),
        (lambda x: tuple(stats.linregress([1.0, 2.0], x)), Z[:2]),
        (lambda x: stats.tmean(x, (0.9, 1.1), axis=0), np.array([[1.0, 2.0], [1.0, 3.0]])),
        (lambda x: stats.differential_entropy(x, window_length=9), Z),
        (lambda x: stats.cramervonmises(x, "norm").statistic, Z[:1]),
        (lambda x: stats.tmin(x, 0.1), np.array([1.0, np.nan, 2.0])),
        (lambda x: stats.tmean(x, (0.1, 3.0)), np.array([1.0, np.nan, 2.0])),
        (lambda x: stats.tstd(x, (0.1, 3.0)), np.array([1.0, np.nan, 2.0])),
        (lambda x: stats.tvar(x, (0.9, 1.1)), np.array([1.0, 2.0, 3.0])),
        (lambda x: tuple(stats.skewtest(x)), Z),
        (lambda x: tuple(stats.kurtosistest(x)), Z[:4]),
        (lambda x: stats.lmoment(x, order=[1, 2, 3, 4]), Z[:3]),
        (lambda x: stats.expectile(x, 0.3), same),
        (lambda x: tuple(stats.ttest_ind(x, same)), same),
        (lambda x: tuple(stats.power_divergence(x, lambda_=0)), np.array([0.0, 1.0, 2.0])),
    ):
        for found in (fg.vjp(f, x)[0], fg.jit(f)(x)):
            np.testing.assert_allclose(found, f(x), rtol=1e-9)


def test_what_scipy_raises_is_raised() -> None:
    for f, x in (
        (lambda x: stats.pearsonr(x, Z[:3])[0], Z),
        (lambda x: stats.pearsonr(x, Z, alternative="up")[0], Z),
        (lambda x: stats.pearsonr(x, x)[0], Z[:1]),
        (lambda x: stats.linregress(x, Z)[0], np.ones(7)),
        (lambda x: stats.linregress(x, Z[:4])[0], Z),
        (lambda x: stats.iqr(x, rng=(1, 2, 3)), Z),
        (lambda x: stats.iqr(x, rng=(-1, 2)), Z),
        (lambda x: stats.iqr(x, scale="odd"), Z),
        (lambda x: stats.trim_mean(x, 0.7), Z),
        (lambda x: stats.trimboth(x, 0.6)[0], Z),
        (lambda x: stats.scoreatpercentile(x, 3, interpolation_method="odd"), Z),
        (lambda x: stats.median_abs_deviation(x, center=3), Z),
        (lambda x: stats.median_abs_deviation(x, scale="odd"), Z),
        (lambda x: stats.kstat(x, 5), Z),
        (lambda x: stats.kstatvar(x, 3), Z),
        (lambda x: stats.lmoment(x, order=0), Z),
        (lambda x: stats.directional_stats(x).mean_direction[0], Z),
        (lambda x: stats.differential_entropy(x, method="odd"), Z),
        (lambda x: stats.tmean(x, (9.0, 10.0)), Z),
        (lambda x: stats.ttest_rel(x, Z[:3])[0], Z),
        (lambda x: stats.ttest_ind(x, Z, trim=0.6)[0], Z),
        (lambda x: stats.f_oneway(x)[0], Z),
        (lambda x: stats.bartlett(x)[0], Z),
        (lambda x: stats.levene(x, Z, center="odd")[0], Z),
        (lambda x: stats.chisquare(x, P)[0], 2.0 * P),
        (lambda x: stats.power_divergence(x, lambda_="odd")[0], P),
        (lambda x: stats.combine_pvalues(x, "odd")[0], P),
        (lambda x: stats.boxcox(x)[1], Z),
        (lambda x: stats.boxcox(x)[1], np.ones(4)),
        (lambda x: stats.wasserstein_distance(x, Z, Z[:3]), Z),
        (lambda x: stats.expectile(x, 1.5), Z),
    ):
        with pytest.raises((ValueError, TypeError)) as theirs:
            f(x)
        with pytest.raises(theirs.type):
            fg.grad(f)(x)


def test_what_depends_on_values_or_ranks_is_refused_by_name() -> None:
    for f, words in (
        (lambda x: stats.pearsonr(x, Z, method=stats.PermutationMethod())[0], "Leave method out"),
        (lambda x: stats.cramervonmises(x, "norm").pvalue, "stop_gradient"),
        (lambda x: stats.scoreatpercentile(x, 3, limit=(0.0, 1.0)), "by an index"),
        (lambda x: stats.quantile(x, 0.2, weights=np.ones(7)), "np.quantile"),
        (lambda x: stats.tmean(x, nan_policy="omit"), "nan_policy"),
        (lambda x: stats.spearmanr(x, Z)[0], "ranks"),
        (lambda x: stats.kendalltau(x, Z)[0], "ranks"),
        (lambda x: stats.mannwhitneyu(x, Z)[0], "ranks"),
    ):
        with pytest.raises(fg.errors.UnsupportedFunctionError, match=words):
            fg.grad(f)(Z)


def test_outcomes_pass_through_jit() -> None:
    line = fg.jit(lambda x: stats.linregress(LINE, x))(X[:, 0])
    expected = stats.linregress(LINE, X[:, 0])
    np.testing.assert_allclose(line, expected)
    np.testing.assert_allclose(line.intercept_stderr, expected.intercept_stderr)
    found = fg.jit(lambda x: stats.ttest_1samp(x, 1.0))(X[:, 0])
    wanted = stats.ttest_1samp(X[:, 0], 1.0)
    np.testing.assert_allclose(found.confidence_interval(), wanted.confidence_interval())
    np.testing.assert_allclose(found.df, wanted.df)


def test_the_likeliest_exponents() -> None:
    x = X[:, 0]
    for f in (stats.boxcox, stats.yeojohnson):
        found = fg.jvp(f, (x,), (x,))[0]
        np.testing.assert_allclose(found[1], f(x)[1], rtol=1e-6)
        np.testing.assert_allclose(found[0], f(x)[0], rtol=1e-5)
        slopes = differences(lambda x, f=f: f(x)[1], x)
        np.testing.assert_allclose(fg.grad(lambda x, f=f: f(x)[1])(x), slopes, atol=2e-3)


def test_functions_of_samples_are_differentiated_as_they_stand() -> None:
    d = 1e-6 * np.cos(np.arange(9.0))
    x = X[:, 0]
    for f in (
        stats.tmean,
        stats.iqr,
        stats.gstd,
        stats.kstat,
        stats.median_abs_deviation,
        lambda x: stats.pearsonr(x, LINE)[0],
        lambda x: stats.ttest_ind(x, LINE).pvalue,
    ):
        np.testing.assert_allclose(fg.grad(f)(x) @ d, (f(x + d) - f(x - d)) / 2, rtol=1e-5, atol=1e-12)
