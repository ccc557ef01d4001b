"""Distributions of vectors, matrices and counts: normal, Student's t, Dirichlet, Wishart, multinomial.

On arrays alone SciPy answers. A matrix of covariances is factored by Cholesky's method, so it must be
positive definite, or plain where normal densities allow a singular one.
"""

from __future__ import annotations

import numpy as np

from funcgrad import numpy as fnp
from funcgrad import random
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import at_hand, known_value
from funcgrad.scipy.special import gammaln, multigammaln, psi, xlogy
from funcgrad.scipy.stats.laws.parts import HALF_LOG_TAU, LOG_2
from funcgrad.scipy.stats.of_vectors import (
    Multivariate,
    Spread,
    floating,
    is_key,
    matrix,
    plain_samples,
    squeezed,
    traced,
    vectors,
)
from funcgrad.scipy.stats.orthants import probability_below, probability_between
from funcgrad.types import Array, ArrayLike, Number, Option, ShapeLike


def positive_weights(alpha: ArrayLike) -> Array:
    """The parameters of shares: one vector of positive numbers."""
    a = floating(alpha)
    if len(shape_of(a)) != 1:
        raise ValueError(f"Parameter vector 'a' must be one dimensional, but a.shape = {shape_of(a)}.")
    known = at_hand(alpha)
    if known is not None and np.min(known) <= 0:
        raise ValueError("All parameters must be greater than 0")
    return a


class MultivariateNormal(Multivariate):
    """The normal distribution of vectors.

    >>> law = fg.scipy.stats.multivariate_normal
    >>> print(fg.grad(law.logpdf)(np.array([1.0, 2.0]), np.zeros(2), np.diag([1.0, 4.0])))
    [-1.  -0.5]
    """

    name = "multivariate_normal"

    def logpdf(
        self, x: ArrayLike, mean: ArrayLike = None, cov: ArrayLike = 1, allow_singular: bool = False
    ) -> Array:
        """The logarithm of the density.

        With `allow_singular` a plain singular matrix has a density on its subspace, as SciPy's, with
        derivatives by `x` and `mean`. Under `jit` the subspace is found when the function is recorded, and
        a traced matrix must be regular: the density of a singular one is NaN.
        """
        if not traced(x, mean, cov):
            return self._scipys.logpdf(x, mean, cov, allow_singular)
        at = Spread(mean, cov, allow_singular)
        if at.subspace is not None:
            return fnp.squeeze(at.subspace.logpdf(vectors(x, at.dim) - at.mean))
        return fnp.squeeze(-0.5 * (at.squares(x) + at.log_det) - HALF_LOG_TAU * at.dim)

    def pdf(
        self, x: ArrayLike, mean: ArrayLike = None, cov: ArrayLike = 1, allow_singular: bool = False
    ) -> Array:
        """The density."""
        if not traced(x, mean, cov):
            return self._scipys.pdf(x, mean, cov, allow_singular)
        return fnp.exp(self.logpdf(x, mean, cov, allow_singular))

    def cdf(
        self,
        x: ArrayLike,
        mean: ArrayLike = None,
        cov: ArrayLike = 1,
        allow_singular: bool = False,
        maxpts: Number = None,
        abseps: float = 1e-5,
        releps: float = 1e-5,
        *,
        lower_limit: ArrayLike = None,
        rng: Option = None,
    ) -> Array:
        """The probability of numbers up to `x`, or between `lower_limit` and `x`.

        As SciPy's it is accurate to `abseps` from three coordinates on; on traced values `rng` is a seed.
        """
        if not traced(x, mean, cov, lower_limit):
            given = (allow_singular, maxpts, abseps, releps)
            return self._scipys.cdf(x, mean, cov, *given, lower_limit=lower_limit, rng=rng)
        at = Spread(mean, cov)
        accuracy = (maxpts, abseps, releps, 0 if rng is None else rng)
        points = vectors(x, at.dim)
        if lower_limit is None:
            found = probability_below(points, at.mean, at.cov, accuracy)
        else:
            lower = vectors(lower_limit, at.dim)
            found = probability_between(lower, points, at.mean, at.cov, accuracy)
        return fnp.squeeze(found)

    def logcdf(
        self, x: ArrayLike, mean: ArrayLike = None, cov: ArrayLike = 1, *args: ArrayLike, **kwds: ArrayLike
    ) -> Array:
        """The logarithm of `cdf`."""
        if not traced(x, mean, cov, kwds.get("lower_limit")):
            return self._scipys.logcdf(x, mean, cov, *args, **kwds)
        return fnp.log(self.cdf(x, mean, cov, *args, **kwds))

    def entropy(self, mean: ArrayLike = None, cov: ArrayLike = 1, allow_singular: bool = False) -> Array:
        """The entropy, in nats."""
        if not traced(mean, cov):
            return self._scipys(mean, cov, allow_singular).entropy()
        at = Spread(mean, cov)
        return 0.5 * at.log_det + at.dim * (HALF_LOG_TAU + 0.5)

    def rvs(
        self, mean: ArrayLike = None, cov: ArrayLike = 1, size: ShapeLike = 1, random_state: Option = None
    ) -> Array:
        """Samples; with a key of `fg.random` they are differentiable by mean and covariances."""
        if not is_key(random_state):
            return plain_samples(self, (mean, cov), size, random_state)
        at = Spread(mean, cov)
        count = (size,) if isinstance(size, int) else tuple(size)
        return squeezed(at.mean + random.normal(random_state, (*count, at.dim)) @ at.factor.T, size)


NORMAL = 1e30
"""Degrees of freedom from which on Student's law is the normal one."""

MANY = 1e3
"""Degrees of freedom, for each coordinate, from which on series in their inverse have all digits."""


def log_gamma_step(a: ArrayLike, k: float) -> Array:
    """``gammaln(a + k) - gammaln(a) - k log(a)``, which would cancel where a is large."""
    many = a >= MANY * max(k, 1.0)
    near, b = fnp.where(many, 1.0, a), 1.0 / fnp.where(many, a, 1.0)
    ends = k * (k - 1.0)
    far = b * ends * (0.5 - b * ((2.0 * k - 1.0) / 12.0 - b * ends / 12.0))
    return fnp.where(many, far, gammaln(near + k) - gammaln(near) - k * fnp.log(near))


class MultivariateT(Multivariate):
    """Student's distribution of vectors.

    >>> law = fg.scipy.stats.multivariate_t
    >>> print(fg.grad(law.logpdf)(np.array([1.0, 2.0]), np.zeros(2), np.eye(2), 3.0))
    [-0.625 -1.25 ]
    """

    name = "multivariate_t"

    def logpdf(self, x: ArrayLike, loc: ArrayLike = None, shape: ArrayLike = 1, df: ArrayLike = 1) -> Array:
        """The logarithm of the density."""
        if not traced(x, loc, shape, df):
            return self._scipys.logpdf(x, loc, shape, df)
        if at_hand(df) is not None and np.any(np.less_equal(at_hand(df), 0)):
            raise ValueError("'df' must be greater than zero.")
        at, df = Spread(loc, shape), fnp.minimum(floating(df), NORMAL)
        rest = log_gamma_step(0.5 * df, 0.5 * at.dim) - HALF_LOG_TAU * at.dim - 0.5 * at.log_det
        return fnp.squeeze(rest - 0.5 * (df + at.dim) * fnp.log1p(at.squares(x) / df))

    def pdf(
        self,
        x: ArrayLike,
        loc: ArrayLike = None,
        shape: ArrayLike = 1,
        df: ArrayLike = 1,
        allow_singular: bool = False,
    ) -> Array:
        """The density."""
        if not traced(x, loc, shape, df):
            return self._scipys.pdf(x, loc, shape, df, allow_singular)
        return fnp.exp(self.logpdf(x, loc, shape, df))

    def entropy(self, loc: ArrayLike = None, shape: ArrayLike = 1, df: ArrayLike = 1) -> Array:
        """The entropy, in nats."""
        if not traced(loc, shape, df):
            return self._scipys.entropy(loc, shape, df)
        at, df = Spread(loc, shape), floating(df)
        k = 0.5 * at.dim
        many = df >= MANY * at.dim
        a = 0.5 * fnp.where(many, 1.0, df)
        size = (a + k) * (psi(a + k) - psi(a)) - log_gamma_step(a, k)
        b = 2.0 / fnp.where(many, df, 1.0)
        far = k + b * (k - b * (0.25 * k * (k - 1.0) - b * k * k * (k - 1.0) / 6.0))
        return fnp.where(many, far, size) + 2.0 * k * HALF_LOG_TAU + 0.5 * at.log_det


class Dirichlet(Multivariate):
    """The distribution of shares that add up to 1.

    >>> law = fg.scipy.stats.dirichlet
    >>> print(fg.jacobian(law.mean)(np.array([1.0, 3.0])))
    [[ 0.1875 -0.0625]
     [-0.1875  0.0625]]
    """

    name = "dirichlet"

    def logpdf(self, x: ArrayLike, alpha: ArrayLike) -> Array:
        """The logarithm of the density; the last share may be left out."""
        if not traced(x, alpha):
            return self._scipys.logpdf(x, alpha)
        if at_hand(x) is not None and at_hand(alpha) is not None:
            self._scipys.logpdf(at_hand(x), at_hand(alpha))  # SciPy raises for what is no share.
        x, a = floating(x), positive_weights(alpha)
        if shape_of(x)[0] == shape_of(a)[0] - 1:
            x = fnp.concatenate([x, 1.0 - fnp.sum(x, 0, keepdims=True)])
        weights = a if len(shape_of(x)) == 1 else a[:, None]
        terms = fnp.sum(xlogy(weights - 1.0, x), 0)
        return fnp.squeeze(terms - fnp.sum(gammaln(a)) + gammaln(fnp.sum(a)))

    def pdf(self, x: ArrayLike, alpha: ArrayLike) -> Array:
        """The density."""
        return fnp.exp(self.logpdf(x, alpha)) if traced(x, alpha) else self._scipys.pdf(x, alpha)

    def mean(self, alpha: ArrayLike) -> Array:
        """The mean of each share."""
        if not traced(alpha):
            return self._scipys.mean(alpha)
        a = positive_weights(alpha)
        return fnp.squeeze(a / fnp.sum(a))

    def var(self, alpha: ArrayLike) -> Array:
        """The variance of each share."""
        if not traced(alpha):
            return self._scipys.var(alpha)
        a = positive_weights(alpha)
        total = fnp.sum(a)
        return fnp.squeeze(a * (total - a) / (total * total * (total + 1.0)))

    def cov(self, alpha: ArrayLike) -> Array:
        """The covariances of the shares."""
        if not traced(alpha):
            return self._scipys.cov(alpha)
        share = fnp.atleast_1d(self.mean(alpha))
        return (fnp.diag(share) - fnp.outer(share, share)) / (fnp.sum(positive_weights(alpha)) + 1.0)

    def entropy(self, alpha: ArrayLike) -> Array:
        """The entropy, in nats."""
        if not traced(alpha):
            return self._scipys.entropy(alpha)
        a = positive_weights(alpha)
        total, count = fnp.sum(a), shape_of(a)[0]
        size = fnp.sum(gammaln(a)) - gammaln(total)
        return size + (total - count) * psi(total) - fnp.sum((a - 1.0) * psi(a))

    def rvs(self, alpha: ArrayLike, size: ShapeLike = 1, random_state: Option = None) -> Array:
        """Samples; with a key of `fg.random` they are differentiable by alpha."""
        if not is_key(random_state):
            return plain_samples(self, (alpha,), size, random_state)
        count = (size,) if isinstance(size, int) else tuple(size)
        a = positive_weights(alpha)
        return random.dirichlet(random_state, fnp.broadcast_to(a, (*count, *shape_of(a))))


class Wishart(Multivariate):
    """The distribution of sums of squares and products of normal vectors.

    >>> law = fg.scipy.stats.wishart
    >>> print(fg.grad(law.logpdf, argnums=1)(np.eye(2), 4.0, np.eye(2)).round(4))
    -0.9228
    """

    name = "wishart"

    def logpdf(self, x: ArrayLike, df: ArrayLike, scale: ArrayLike) -> Array:
        """The logarithm of the density at a positive definite matrix, or at several along the last axis."""
        if not traced(x, df, scale):
            return self._scipys.logpdf(x, df, scale)
        at, df, x = Spread(None, matrix(scale)), floating(df), floating(x)
        known = known_value(df)
        if known is not None and np.any(known <= at.dim - 1):
            raise ValueError("Degrees of freedom must be greater than the dimension of scale matrix minus 1.")
        x = matrix(x) if len(shape_of(x)) < 2 else x
        stack = np.moveaxis(x, -1, 0) if len(shape_of(x)) == 3 else x[None]
        dim = at.dim
        solved = fnp.linalg.solve(fnp.broadcast_to(at.cov, shape_of(stack)), stack)
        traces = fnp.sum(fnp.diagonal(solved, 0, -2, -1), -1)
        size = 0.5 * df * (dim * LOG_2 + at.log_det) + multigammaln(0.5 * df, dim)
        factors = fnp.linalg.cholesky(stack)  # Its determinant would not tell what is not positive definite.
        log_det = 2.0 * fnp.sum(fnp.log(fnp.diagonal(factors, 0, -2, -1)), -1)
        found = 0.5 * (df - dim - 1.0) * log_det - 0.5 * traces - size
        return fnp.squeeze(found)

    def pdf(self, x: ArrayLike, df: ArrayLike, scale: ArrayLike) -> Array:
        """The density."""
        return fnp.exp(self.logpdf(x, df, scale)) if traced(x, df, scale) else self._scipys.pdf(x, df, scale)

    def mean(self, df: ArrayLike, scale: ArrayLike) -> Array:
        """The mean."""
        return (
            fnp.squeeze(floating(df) * matrix(scale)) if traced(df, scale) else self._scipys.mean(df, scale)
        )

    def var(self, df: ArrayLike, scale: ArrayLike) -> Array:
        """The variance of each element."""
        if not traced(df, scale):
            return self._scipys.var(df, scale)
        v = matrix(scale)
        d = fnp.diagonal(v)
        return fnp.squeeze(floating(df) * (v * v + fnp.outer(d, d)))

    def entropy(self, df: ArrayLike, scale: ArrayLike) -> Array:
        """The entropy, in nats."""
        if not traced(df, scale):
            return self._scipys.entropy(df, scale)
        at, df = Spread(None, matrix(scale)), floating(df)
        dim = at.dim
        digammas = sum(psi(0.5 * (df - k)) for k in range(dim))
        return (
            0.5 * (dim + 1.0) * at.log_det
            + 0.5 * dim * (dim + 1.0) * LOG_2
            + multigammaln(0.5 * df, dim)
            - 0.5 * (df - dim - 1.0) * digammas
            + 0.5 * df * dim
        )


class Multinomial(Multivariate):
    """The counts of what n draws give.

    >>> law = fg.scipy.stats.multinomial
    >>> print(fg.grad(law.logpmf, argnums=2)(np.array([1, 3]), 4, np.array([0.5, 0.5])))
    [-4.  0.]
    """

    name = "multinomial"

    def logpmf(self, x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
        """The logarithm of the probability of counts, whose last probability is what the others leave.

        As in SciPy the last probability is not read, so its derivative is zero.
        """
        if not traced(x, n, p):
            return self._scipys.logpmf(x, n, p)
        whole, k = self._counts(x, n)
        return fnp.where(whole, log_of_multinomial(k, floating(n), k, completed(p)), -np.inf)

    def _counts(self, x: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
        """Whether they are counts that add up to n, and the counts, 0 where they are not."""
        k = floating(x)
        counts = fnp.all(fnp.logical_and(k >= 0, fnp.floor(k) == k), -1)
        whole = fnp.logical_and(counts, fnp.sum(k, -1) == floating(n))
        return whole, fnp.where(whole[..., None], k, 0.0)

    def pmf(self, x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
        """The probability of counts."""
        if not traced(x, n, p):
            return self._scipys.pmf(x, n, p)
        whole, k = self._counts(x, n)
        p = completed(p)
        # What never happens does so with the next p: by powers, for its logarithm is infinite.
        never = p == 0.0
        powers = fnp.where(never, fnp.where(never, p, 1.0) ** k, 1.0)
        others = log_of_multinomial(k, floating(n), fnp.where(never, 0.0, k), fnp.where(never, 1.0, p))
        return fnp.where(whole, fnp.exp(others) * fnp.prod(powers, -1), 0.0)

    def mean(self, n: ArrayLike, p: ArrayLike) -> Array:
        """The mean of each count."""
        return floating(n)[..., None] * completed(p) if traced(n, p) else self._scipys.mean(n, p)

    def cov(self, n: ArrayLike, p: ArrayLike) -> Array:
        """The covariances of the counts."""
        if not traced(n, p):
            return self._scipys.cov(n, p)
        share = completed(p)
        each = share[..., None] * (np.eye(shape_of(share)[-1]) - share[..., None, :])
        return floating(n)[..., None, None] * each


def log_of_multinomial(k: Array, n: Array, exponents: Array, p: Array) -> Array:
    """The logarithm of ``n! / prod(k!) prod(p**exponents)``."""
    return gammaln(n + 1.0) + fnp.sum(xlogy(exponents, p) - gammaln(k + 1.0), -1)


def completed(p: ArrayLike) -> Array:
    """Probabilities of which the last is what the others leave."""
    p = floating(p)
    first = p[..., :-1]
    rest = 1.0 - fnp.sum(first, -1, keepdims=True)
    known = known_value(p)
    if known is not None:  # The last one as it is given, where the difference is rounding alone.
        off = known[..., -1:] - (1.0 - known[..., :-1].sum(-1, keepdims=True))
        rest = rest + np.where(abs(off) <= 10.0 * np.finfo(float).eps, off, 0.0)
    return fnp.concatenate([first, rest], -1)


multivariate_normal = MultivariateNormal()
multivariate_t = MultivariateT()
dirichlet = Dirichlet()
wishart = Wishart()
multinomial = Multinomial()

for _law in (multivariate_normal, multivariate_t, dirichlet, wishart, multinomial):
    _law.__doc__ = type(_law).__doc__
