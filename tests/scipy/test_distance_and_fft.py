"""`fg.scipy.spatial.distance` and `fg.scipy.fft`: values are SciPy's, derivatives those of differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.spatial.distance
from solver_cases import Case, check_batches, check_compiled, check_first, check_second, check_value

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy import fft as our_fft
from funcgrad.scipy.spatial import distance as our_distance

A = np.array([[0.3, 1.2, 0.7], [1.1, 0.45, 0.9], [0.2, 0.8, 1.7], [1.4, 1.3, 0.1]])
B = np.array([[0.5, 0.9, 1.3], [1.6, 0.2, 0.45]])
W = np.array([0.5, 1.0, 2.0])
INVERSE = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])

METRICS: dict[str, dict[str, Any]] = {
    "euclidean": {},
    "sqeuclidean": {"w": W},
    "cityblock": {},
    "chebyshev": {},
    "minkowski": {"p": 3.0, "w": W},
    "cosine": {},
    "correlation": {},
    "braycurtis": {},
    "canberra": {},
    "seuclidean": {"V": W},
    "mahalanobis": {"VI": INVERSE},
    "jensenshannon": {},
}


def crossed(name: str, **options: Any) -> Any:
    return lambda o, x: o.cdist(x, B, name, **options)


def paired(name: str, **options: Any) -> Any:
    return lambda o, x: o.pdist(x, name, **options)


def two(name: str, **options: Any) -> Any:
    return lambda o, x: np.stack([getattr(o, name)(x[0], x[1], **options)])


DISTANCES = [
    *[Case(f"cdist-{name}", crossed(name, **options), A) for name, options in METRICS.items()],
    *[Case(f"pdist-{name}", paired(name, **options), A, 1e-5) for name, options in METRICS.items()],
    *[Case(name, two(name, **options), A) for name, options in METRICS.items()],
    Case("cdist-variances", crossed("seuclidean"), A),
    Case("pdist-covariance", paired("mahalanobis"), A, 1e-5),
    Case("correlation-weights", two("correlation", w=W), A),
    Case("jensenshannon-base", two("jensenshannon", base=2.0), A),
    Case("squareform", lambda o, x: o.squareform(x.ravel()[:10]) ** 2, A),
    Case("squareform-back", lambda o, x: o.squareform(o.squareform(x.ravel()[:6]) * 2.0), A),
]

X = np.sin(np.arange(1.0, 16.0)).reshape(3, 5)


def line(name: str, *args: Any, **options: Any) -> Any:
    return lambda o, x: getattr(o, name)(x, *args, **options)


def both_parts(name: str, *args: Any, **options: Any) -> Any:
    def found(o: Any, x: Any) -> Any:
        out = getattr(o, name)(x, *args, **options)
        return np.concatenate([out.real, out.imag])

    return found


KINDS = ("dct", "idct", "dst", "idst")
TRANSFORMS = [
    Case("fft", both_parts("fft", axis=0), X),
    Case("rfft2", both_parts("rfft2"), X),
    Case("irfft", line("irfft", n=7, norm="ortho"), X),
    Case("fftn", both_parts("fftn", s=(4, 4)), X),
    Case("hfft", line("hfft"), X),
    *[Case(f"{k}-{t}", line(k, t), X) for k in KINDS for t in (1, 2, 3, 4)],
    *[
        Case(f"{k}-{t}-{norm}", line(k, t, axis=0, norm=norm), X)
        for k in KINDS
        for t in (1, 2, 3, 4)
        for norm in ("ortho", "forward")
    ],
    Case("dct-orthogonalize", line("dct", 2, 8, norm="ortho", orthogonalize=False), X),
    *[Case(f"{k}n", line(f"{k}n", 2, norm="ortho"), X) for k in KINDS],
    Case("dctn-sizes", line("dctn", 3, (4, 4)), X),
    Case("fht", line("fht", 0.3, 0.5, offset=0.1), X),
    Case("ifht", line("ifht", 0.3, 0.5, bias=0.2), X),
    Case("fht-bias", line("fht", 0.3, 0.5, bias=0.2), X),
]
EVERY = [(c, scipy.spatial.distance, our_distance) for c in DISTANCES] + [
    (c, scipy.fft, our_fft) for c in TRANSFORMS
]
each = pytest.mark.parametrize(("case", "plain", "ours"), EVERY, ids=[row[0].name for row in EVERY])


@each
def test_values_are_those_of_scipy(case: Case, plain: Any, ours: Any) -> None:
    check_value(case, plain, ours)


@each
def test_first_derivatives(case: Case, plain: Any, ours: Any) -> None:
    check_first(case, plain, ours)


@pytest.mark.at_length
@each
def test_second_derivatives(case: Case, plain: Any, ours: Any) -> None:
    check_second(case, ours)


@each
def test_batches_are_loops(case: Case, plain: Any, ours: Any) -> None:
    check_batches(case, ours)


@each
@pytest.mark.at_length
def test_compiled_is_evaluated(case: Case, plain: Any, ours: Any) -> None:
    check_compiled(case, ours)


# -- beyond the table ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["euclidean", "minkowski", "seuclidean", "mahalanobis", "jensenshannon", "canberra"]
)
def test_coincident_points_have_finite_derivatives(name: str) -> None:
    same = np.concatenate([A[:2], A[:2]])
    slope = fg.grad(lambda x: our_distance.pdist(x, name, **METRICS[name]).sum())(same)
    assert np.all(np.isfinite(slope))
    curve = fg.hessian(lambda x: our_distance.pdist(x, name, **METRICS[name]).sum())(same)
    assert np.all(np.isfinite(curve))


def test_metrics_of_the_users() -> None:
    def metric(u: Any, v: Any) -> Any:
        return np.sum((u - v) ** 4)

    np.testing.assert_allclose(
        fg.grad(lambda x: our_distance.cdist(x, B, metric).sum())(A), 4.0 * np.sum((A[:, None] - B) ** 3, 1)
    )
    with pytest.raises(UnsupportedFunctionError, match="Metrics with derivatives are"):
        fg.grad(lambda x: our_distance.cdist(x, B, "hamming").sum())(A)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "dct", "idst", "fftn", "dctn"])
def test_scipys_own_transforms_take_traced_arrays(name: str) -> None:
    def power(o: Any, x: Any) -> Any:
        return np.sum(abs(getattr(o, name)(x)) ** 2)

    np.testing.assert_allclose(
        fg.grad(lambda x: power(scipy.fft, x))(X), fg.grad(lambda x: power(our_fft, x))(X)
    )
    np.testing.assert_allclose(power(scipy.fft, X), fg.jit(lambda x: power(scipy.fft, x))(X))


def test_single_precision_stays() -> None:
    x = X.astype(np.float32)
    assert fg.jit(lambda x: our_fft.dct(x))(x).dtype == np.float32  # noqa: PLW0108
    assert fg.jit(lambda x: our_fft.rfft(x))(x).dtype == np.complex64  # noqa: PLW0108


def test_errors_are_scipys() -> None:
    with pytest.raises(ValueError, match="same number of columns"):
        fg.grad(lambda x: our_distance.cdist(x, B[:, :2]).sum())(A)
    with pytest.raises(ValueError, match="Invalid norm value"):
        fg.grad(lambda x: our_fft.dct(x, norm="no").sum())(X)
    with pytest.raises(ValueError, match="not defined for size < 2"):
        fg.grad(lambda x: our_fft.dct(x, 1).sum())(np.ones(1))


def test_scipys_own_distances_name_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")  # where its calls are not seen
    with pytest.raises(UnsupportedFunctionError, match=r"Use fg\.scipy\.spatial\.distance\.cdist"):
        fg.grad(lambda x: scipy.spatial.distance.cdist(x, B).sum())(A)


def test_covariances_of_one_dimension_and_of_too_few_points() -> None:
    x = np.array([2.0, 2.0, 3.0, 5.0])[:, None]
    distances, slope = fg.value_and_grad(lambda x: np.sum(our_distance.pdist(x, "mahalanobis") ** 3))(x)
    np.testing.assert_allclose(distances, np.sum(scipy.spatial.distance.pdist(x, "mahalanobis") ** 3))
    np.testing.assert_allclose(np.sum(slope), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.sum(slope * x), 0.0, atol=1e-12)
    for call in (fg.grad(lambda x: our_distance.cdist(x, x, "mahalanobis").sum()), scipy_mahalanobis):
        with pytest.raises(ValueError, match="observations"):
            call(np.ones((1, 2)))


def scipy_mahalanobis(x: Any) -> Any:
    return scipy.spatial.distance.cdist(x, x, "mahalanobis")


def test_weights_of_chebyshev_are_not_negative() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        fg.grad(our_distance.chebyshev)(W, A[0], np.array([-1.0, 1.0, 1.0]))


def test_angles_between_parallel_vectors_are_not_negative_and_bend() -> None:
    x = np.array([0.0, -2.0, 0.0, -2.0, 1.0, -1.0, -2.0])
    for distance in (our_distance.correlation, our_distance.cosine):
        values = [fg.value_and_grad(distance)(k * x, x + 0.0)[0] for k in (1.0, 3.0, 7.0, 0.1)]
        assert min(values) >= 0.0
        curvature = fg.hessian(lambda u, distance=distance: distance(u, 3.0 * x))(x)
        assert np.trace(curvature) > 0.01


def test_jensenshannon_of_negative_numbers_is_infinite_as_scipys() -> None:
    p, q = np.array([0.5, -0.2, 0.7]), np.array([0.2, 0.5, 0.3])
    distance = our_distance.jensenshannon
    assert scipy.spatial.distance.jensenshannon(p, q) == np.inf
    assert fg.vjp(distance, p, q)[0] == fg.jit(distance)(p, q) == np.inf
    np.testing.assert_array_equal(fg.grad(distance)(p, q), np.zeros(3))
