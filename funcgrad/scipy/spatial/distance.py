"""The functions of ``scipy.spatial.distance`` on real vectors, with derivatives of every order.

Derivatives are finite at coincident points: a distance has slope 0 there, the middle of what it could be. On
plain arrays SciPy answers. Distances of booleans and of strings have no derivative, and are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.picking.positions import take
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.originals import at_hand, originals_of, raise_as_scipy
from funcgrad.scipy.reals import as_doubles
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Number, Option

__all__ = [
    "braycurtis",
    "canberra",
    "cdist",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "euclidean",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "pdist",
    "seuclidean",
    "sqeuclidean",
    "squareform",
]

Metric = Callable[..., Any]


scipys = originals_of("spatial.distance")
"""SciPy's functions and classes by name."""


def vectors(*given: object) -> list[Any] | None:
    """The arguments as arrays of doubles, or None where none is traced; arguments that are None stay so."""
    found = [None if x is None else asoperand(x) for x in given]
    if recorder_of([x for x in found if x is not None]) is None:
        return None
    return [
        None if x is None else as_doubles(x if isinstance(x, Tracer) else np.asarray(x), "a distance")
        for x in found
    ]


def root(x: ArrayLike) -> Array:
    """The square root, with slope 0 at 0."""
    zero = x <= 0.0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, x)))


def check_weights(w: ArrayLike) -> None:
    """Raise SciPy's ValueError where a weight is known to be negative."""
    known = at_hand(w)
    if known is not None and np.any(np.asarray(known) < 0.0):
        raise ValueError("Input weights should be all non-negative")


def weighted(terms: ArrayLike, w: ArrayLike) -> Array:
    """The sum over the last axis, with weights where there are any."""
    check_weights(w)
    return np.sum(terms if w is None else terms * w, axis=-1)


# -- metrics over the last axis ------------------------------------------------------------------------------


def euclidean_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    return root(weighted((u - v) ** 2, w))


def sqeuclidean_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    return weighted((u - v) ** 2, w)


def cityblock_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    return weighted(abs(u - v), w)


def chebyshev_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    apart = abs(u - v)
    if w is not None:
        check_weights(w)
        apart = np.where(np.asarray(w) > 0.0, apart, 0.0)
    return np.max(apart, axis=-1)


def minkowski_of(u: ArrayLike, v: ArrayLike, p: Number = 2, w: ArrayLike = None) -> Array:
    if not isinstance(p, Tracer):
        if p <= 0:
            raise ValueError("p must be greater than 0")
        if p == np.inf:
            return chebyshev_of(u, v, w)
    apart = abs(u - v)
    zero = apart == 0.0
    total = weighted(np.where(zero, 0.0, np.where(zero, 1.0, apart) ** p), w)
    same = total == 0.0
    return np.where(same, 0.0, np.where(same, 1.0, total) ** (1.0 / p))


def cosine_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    inner = weighted(u * v, w)
    return within(1.0 - inner / np.sqrt(weighted(u * u, w) * weighted(v * v, w)), 0.0, 2.0)


def within(x: ArrayLike, low: float, high: float) -> Array:
    """The value brought between limits that only rounding leaves; derivatives are those of `x`."""
    return x + stop_gradient(np.clip(x, low, high) - x)


def correlation_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None, centered: bool = True) -> Array:
    if centered:
        shares = None if w is None else w / np.sum(w)
        u, v = (x - (np.mean(x, -1) if w is None else weighted(x, shares))[..., None] for x in (u, v))
    return cosine_of(u, v, w)


def braycurtis_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    return weighted(abs(u - v), w) / weighted(abs(u + v), w)


def canberra_of(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    total = abs(u) + abs(v)
    zero = total == 0.0
    return weighted(np.where(zero, 0.0, abs(u - v) / np.where(zero, 1.0, total)), w)


def seuclidean_of(u: ArrayLike, v: ArrayLike, V: ArrayLike) -> Array:
    return root(np.sum((u - v) ** 2 / V, axis=-1))


def mahalanobis_of(u: ArrayLike, v: ArrayLike, VI: ArrayLike) -> Array:
    apart = u - v
    return root(np.sum((apart @ VI) * apart, axis=-1))


def relative_entropy(x: ArrayLike, y: ArrayLike) -> Array:
    """``x * log(x / y)``, 0 where x is 0, and infinite where one of them is negative."""
    zero, outside = x == 0.0, (x < 0.0) | (y < 0.0)
    plain = zero | outside
    inside = x * np.log(np.where(plain, 1.0, x) / np.where(plain, 1.0, y))
    return np.where(outside, np.inf, np.where(zero, 0.0, inside))


def jensenshannon_of(u: ArrayLike, v: ArrayLike, base: Number = None) -> Array:
    p, q = u / np.sum(u, -1, keepdims=True), v / np.sum(v, -1, keepdims=True)
    middle = (p + q) / 2.0
    total = np.sum(relative_entropy(p, middle) + relative_entropy(q, middle), axis=-1)
    if base is not None:
        total = total / np.log(base)
    return root(total / 2.0)


METRICS: dict[str, Metric] = {
    "braycurtis": braycurtis_of,
    "canberra": canberra_of,
    "chebyshev": chebyshev_of,
    "cityblock": cityblock_of,
    "correlation": correlation_of,
    "cosine": cosine_of,
    "euclidean": euclidean_of,
    "jensenshannon": jensenshannon_of,
    "mahalanobis": mahalanobis_of,
    "minkowski": minkowski_of,
    "seuclidean": seuclidean_of,
    "sqeuclidean": sqeuclidean_of,
}

ALIASES = {
    "euc": "euclidean", "eu": "euclidean", "e": "euclidean", "sqe": "sqeuclidean", "sqeuclid": "sqeuclidean",
    "cblock": "cityblock", "cb": "cityblock", "c": "cityblock", "manhattan": "cityblock", "che": "chebyshev",
    "cheby": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev", "mi": "minkowski", "m": "minkowski",
    "pnorm": "minkowski", "cos": "cosine", "co": "correlation", "se": "seuclidean", "s": "seuclidean",
    "mahal": "mahalanobis", "mah": "mahalanobis", "js": "jensenshannon",
}  # fmt: skip
"""SciPy's other names for metrics."""


def metric_called(metric: object) -> Metric:
    """A metric over the last axis, by SciPy's name or function; a function of the user's is mapped."""
    if callable(metric):
        name = getattr(metric, "__name__", "")
        if getattr(metric, "__module__", "") in (__name__, "scipy.spatial.distance") and name in METRICS:
            return METRICS[name]
        return each_pair(metric)
    name = ALIASES.get(str(metric).lower(), str(metric).lower())
    if name not in METRICS:
        raise_as_scipy("spatial.distance", "cdist", np.zeros((1, 2)), np.zeros((1, 2)), metric)
        raise UnsupportedFunctionError(
            f"the metric {metric!r} has no derivative, or is none of scipy.spatial.distance",
            source=Source(*user_location()),
            remedy=f"Metrics with derivatives are {', '.join(METRICS)}; functions of two vectors work, too.",
        )
    return METRICS[name]


def each_pair(metric: Metric) -> Metric:
    """A function of two vectors, for stacks of them."""

    def of_stacks(u: Array, v: Array, **options: Option) -> Array:
        shape = np.broadcast_shapes(u.shape, v.shape)
        u, v = np.broadcast_to(u, shape), np.broadcast_to(v, shape)
        return np.stack([metric(u[index], v[index], **options) for index in np.ndindex(shape[:-1])]).reshape(
            shape[:-1]
        )

    return of_stacks


# -- pairs of vectors ----------------------------------------------------------------------------------------


def of_two(name: str, u: ArrayLike, v: ArrayLike, *further: ArrayLike, **options: object) -> Array:
    """A metric of two vectors: SciPy's on plain arrays."""
    found = vectors(u, v, *further)
    if found is None:
        return scipys(name)(u, v, *further, **options)
    if aval_of(found[0]).ndim != 1 or aval_of(found[1]).ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    value = METRICS[name](*found, **options)
    return cast(value, np.result_type(np.float32, *operand_dtypes(u, v))) if name in PRECISE else value


PRECISE = ("sqeuclidean", "cityblock", "cosine", "correlation", "chebyshev")
"""Metrics of two vectors that SciPy computes in the precision of the vectors."""


def operand_dtypes(*vectors: ArrayLike) -> list[Any]:
    """The dtypes of vectors, of which some may be lists."""
    return [aval_of(asoperand(x)).dtype if isinstance(x, Tracer) else np.asarray(x).dtype for x in vectors]


def euclidean(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """The length of the difference.

    >>> print(fg.grad(fg.scipy.spatial.distance.euclidean)(np.array([3.0, 4.0]), np.zeros(2)))
    [0.6 0.8]
    """
    return of_two("euclidean", u, v, w)


def sqeuclidean(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """The squared length of the difference.

    >>> print(fg.grad(fg.scipy.spatial.distance.sqeuclidean)(np.array([3.0, 4.0]), np.zeros(2)))
    [6. 8.]
    """
    return of_two("sqeuclidean", u, v, w)


def cityblock(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """The sum of absolute differences.

    >>> print(fg.grad(fg.scipy.spatial.distance.cityblock)(np.array([3.0, -4.0]), np.zeros(2)))
    [ 1. -1.]
    """
    return of_two("cityblock", u, v, w)


def chebyshev(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """The largest absolute difference.

    >>> print(fg.grad(fg.scipy.spatial.distance.chebyshev)(np.array([3.0, 4.0]), np.zeros(2)))
    [0. 1.]
    """
    return of_two("chebyshev", u, v, w)


def minkowski(u: ArrayLike, v: ArrayLike, p: Number = 2, w: ArrayLike = None) -> Array:
    """The p-norm of the difference.

    >>> print(fg.grad(fg.scipy.spatial.distance.minkowski)(np.array([1.0, 1.0]), np.zeros(2), 3).round(6))
    [0.629961 0.629961]
    """
    found = vectors(u, v, w, p)
    if found is None:
        return scipys("minkowski")(u, v, p, w)
    return minkowski_of(found[0], found[1], p if not isinstance(p, Tracer) else found[3], found[2])


def cosine(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """One less the cosine of the angle between two vectors.

    >>> print(fg.grad(fg.scipy.spatial.distance.cosine)(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    [ 0. -1.]
    """
    return of_two("cosine", u, v, w)


def correlation(u: ArrayLike, v: ArrayLike, w: ArrayLike = None, centered: bool = True) -> Array:
    """One less the correlation of the elements of two vectors.

    >>> u, v = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0])
    >>> print(round(float(fg.grad(fg.scipy.spatial.distance.correlation)(u, v).sum()), 6) + 0.0)
    0.0
    """
    return of_two("correlation", u, v, w, centered=centered)


def braycurtis(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """The sum of absolute differences over that of absolute sums.

    >>> u, v = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    >>> print(fg.grad(fg.scipy.spatial.distance.braycurtis)(u, v).round(6))
    [ 0.111111 -0.055556]
    """
    return of_two("braycurtis", u, v, w)


def canberra(u: ArrayLike, v: ArrayLike, w: ArrayLike = None) -> Array:
    """The sum of absolute differences, each relative to the absolute values.

    >>> u, v = np.array([3.0, 2.0]), np.array([1.0, 1.0])
    >>> print(fg.grad(fg.scipy.spatial.distance.canberra)(u, v).round(6))
    [0.125    0.222222]
    """
    return of_two("canberra", u, v, w)


def seuclidean(u: ArrayLike, v: ArrayLike, V: ArrayLike) -> Array:
    """The length of the difference, each element in units of its standard deviation.

    >>> u, variances = np.array([3.0, 8.0]), np.array([1.0, 4.0])
    >>> print(fg.grad(fg.scipy.spatial.distance.seuclidean)(u, np.zeros(2), variances))
    [0.6 0.4]
    """
    return of_two("seuclidean", u, v, V)


def mahalanobis(u: ArrayLike, v: ArrayLike, VI: ArrayLike) -> Array:
    """The length of the difference under the inverse of a covariance matrix.

    >>> print(fg.grad(fg.scipy.spatial.distance.mahalanobis)(np.array([3.0, 4.0]), np.zeros(2), np.eye(2)))
    [0.6 0.8]
    """
    return of_two("mahalanobis", u, v, VI)


def jensenshannon(
    p: ArrayLike, q: ArrayLike, base: Number = None, *, axis: int = 0, keepdims: bool = False
) -> Array:
    """The square root of the Jensen-Shannon divergence of two distributions, which are normalised first.

    >>> p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    >>> print(fg.grad(fg.scipy.spatial.distance.jensenshannon)(p, q).round(4))
    [-0.332  0.332]
    """
    found = vectors(p, q)
    if found is None:
        return scipys("jensenshannon")(p, q, base, axis=axis, keepdims=keepdims)
    u, v = (np.moveaxis(x, axis, -1) for x in np.broadcast_arrays(*found))
    distance = jensenshannon_of(u, v, base)
    return np.expand_dims(distance, axis) if keepdims else distance


# -- matrices of vectors -------------------------------------------------------------------------------------


def defaults(metric: object, rows: ArrayLike, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with variances and covariances of the vectors where a metric needs them."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    name = ALIASES.get(name.lower(), name.lower())
    if name == "seuclidean" and options.get("V") is None:
        return {**options, "V": np.var(np.concatenate(rows), axis=0, ddof=1)}
    if name == "mahalanobis" and options.get("VI") is None:
        return {**options, "VI": inverse_covariance(np.concatenate(rows))}
    return options


def inverse_covariance(rows: ArrayLike) -> Array:
    """The inverse of the covariance of rows; raises SciPy's ValueError where they are too few."""
    m, n = aval_of(rows).shape
    if m <= n:
        raise ValueError(
            f"The number of observations ({m}) is too small; the covariance matrix is singular. For "
            f"observations with {n} dimensions, at least {n + 1} observations are required."
        )
    return np.linalg.inv(np.reshape(np.cov(rows.T), (n, n))).T


def refuse_out(name: str, out: Array) -> None:
    """Raise for an array to write into, which cannot hold a traced value."""
    if out is not None:
        raise UnsupportedFunctionError(
            f"scipy.spatial.distance.{name} with out= is not supported on traced values",
            source=Source(*user_location()),
            remedy="Take the array that it returns.",
        )


def cdist(
    XA: ArrayLike, XB: ArrayLike, metric: object = "euclidean", *, out: Array = None, **kwargs: object
) -> Array:
    """Distances between the rows of two matrices, as `scipy.spatial.distance.cdist`.

    >>> points = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> print(fg.scipy.spatial.distance.cdist(points, points))
    [[0. 5.]
     [5. 0.]]
    >>> print(fg.grad(lambda x: fg.scipy.spatial.distance.cdist(x, x).sum())(points))
    [[-1.2 -1.6]
     [ 1.2  1.6]]
    """
    found = vectors(XA, XB, *[x for x in kwargs.values() if x is not None])
    if found is None:
        return scipys("cdist")(XA, XB, metric, out=out, **kwargs)
    refuse_out("cdist", out)
    a, b = found[:2]
    if aval_of(a).ndim != 2 or aval_of(b).ndim != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if aval_of(a).shape[1] != aval_of(b).shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return metric_called(metric)(a[:, None, :], b[None, :, :], **defaults(metric, [a, b], kwargs))


def pdist(X: ArrayLike, metric: object = "euclidean", *, out: Array = None, **kwargs: object) -> Array:
    """Distances between all rows of a matrix, each pair once, as `scipy.spatial.distance.pdist`.

    >>> points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    >>> print(fg.scipy.spatial.distance.pdist(points))
    [5. 5. 0.]
    >>> print(fg.grad(lambda x: fg.scipy.spatial.distance.pdist(x).sum())(points))
    [[-1.2 -1.6]
     [ 0.6  0.8]
     [ 0.6  0.8]]
    """
    found = vectors(X, *[x for x in kwargs.values() if x is not None])
    if found is None:
        return scipys("pdist")(X, metric, out=out, **kwargs)
    refuse_out("pdist", out)
    x = found[0]
    if aval_of(x).ndim != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    first, second = np.triu_indices(aval_of(x).shape[0], 1)
    of = metric_called(metric)
    return of(take(x, first, axis=0), take(x, second, axis=0), **defaults(metric, [x], kwargs))


def squareform(X: ArrayLike, force: str = "no", checks: bool = True) -> Array:
    """Distances of all pairs as a symmetric matrix, or back.

    >>> print(fg.scipy.spatial.distance.squareform(np.array([1.0, 2.0, 3.0])))
    [[0. 1. 2.]
     [1. 0. 3.]
     [2. 3. 0.]]
    """
    x = asoperand(X)
    if recorder_of([x]) is None:
        return scipys("squareform")(X, force, checks)
    shape = aval_of(x).shape
    if force.lower() == ("tomatrix" if len(shape) == 2 else "tovector"):
        wanted = "vector" if len(shape) == 2 else "matrix"
        raise ValueError(f"Forcing {force.lower()!r} but input X is not a distance {wanted}.")
    if len(shape) not in (1, 2):
        raise ValueError(
            f"The first argument must be one or two dimensional array. A {len(shape)}-dimensional array is "
            "not permitted"
        )
    if len(shape) == 2:
        if shape[0] != shape[1]:
            raise ValueError("The matrix argument must be square.")
        known = at_hand(x)
        if checks and known is not None and not np.allclose(known, known.T):
            raise ValueError("Distance matrix 'X' must be symmetric.")
        if checks and known is not None and np.diagonal(known).any():
            raise ValueError("Distance matrix 'X' diagonal must be zero.")
        first, second = np.triu_indices(shape[0], 1)
        return take(x.reshape(-1), first * shape[0] + second)
    n = int(np.ceil(np.sqrt(2 * shape[0])))
    if n * (n - 1) != 2 * shape[0]:
        raise ValueError("Incompatible vector size. It must be a binomial coefficient n choose 2")
    place = np.zeros((n, n), np.int64)
    place[np.triu_indices(n, 1)] = np.arange(shape[0])
    return np.where(np.eye(n, dtype=bool), np.zeros((), aval_of(x).dtype), take(x, place + place.T))


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
