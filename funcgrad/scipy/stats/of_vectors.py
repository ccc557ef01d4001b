"""What laws of vectors and matrices share: their calls, arguments, spreads and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.linalg import solve_triangular
from funcgrad.scipy.linalg.arguments import require_finite
from funcgrad.scipy.originals import at_hand, known_value, original
from funcgrad.scipy.reals import as_doubles
from funcgrad.scipy.stats.singular import Subspace, smallest
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Option, Result, ScipyResult, ShapeLike


class Multivariate:
    """What distributions of several numbers share: formulas where something is traced, otherwise SciPy."""

    name = ""

    def __repr__(self) -> str:
        return f"fg.scipy.stats.{self.name}"

    @property
    def _scipys(self) -> ScipyResult:
        return original("stats", self.name)

    def __call__(self, *args: ArrayLike, **kwds: ArrayLike) -> FrozenMultivariate:
        """The distribution with its parameters fixed."""
        return FrozenMultivariate(self, args, kwds)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or not hasattr(self._scipys, name):
            raise AttributeError(f"{self!r} has no attribute {name!r}")

        def called(*args: ArrayLike, **kwds: ArrayLike) -> Result:
            if traced(*args, *kwds.values()):
                raise UnsupportedFunctionError(
                    f"{self!r}.{name} of traced values is not supported",
                    source=Source(*user_location()),
                    remedy="The coverage page lists what has derivatives.",
                )
            return getattr(self._scipys, name)(*args, **kwds)

        return called


class FrozenMultivariate:
    """A distribution with its parameters fixed, which may be traced."""

    def __init__(self, dist: Multivariate, args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
        self.dist = dist
        self.args = args
        self.kwds = kwds

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self.dist, name)

        def called(*points: Array, **options: Option) -> Result:
            return method(*points, *self.args, **self.kwds, **options)

        return called


def traced(*arguments: ArrayLike) -> bool:
    """Whether an argument is traced."""
    operands = [asoperand(x) for x in arguments if isinstance(x, Tracer | list | tuple | np.ndarray)]
    return recorder_of(operands) is not None


def floating(x: ArrayLike) -> Array:
    """In double precision."""
    return as_doubles(fnp.asarray(asoperand(x)), "a distribution")


def vectors(x: ArrayLike, dim: int) -> Array:
    """Points with their coordinates along the last axis."""
    x = floating(x)
    if not shape_of(x):
        return x[None]
    if len(shape_of(x)) == 1 and dim == 1:
        return x[:, None]
    return x


def require_full_rank(cov: ArrayLike, allow_singular: bool) -> None:
    """Raise where a matrix of covariances is singular to rounding, as SciPy decides it."""
    if is_singular(cov):
        if allow_singular:
            raise UnsupportedFunctionError(
                "densities by the elements of a singular matrix of covariances are not supported",
                source=Source(*user_location()),
                remedy="Drop the coordinates that follow from the others, or give a plain matrix.",
            )
        raise np.linalg.LinAlgError(
            "When `allow_singular is False`, the input matrix must be symmetric positive definite."
        )


def is_singular(cov: Array) -> Array:
    """Whether a matrix is, to rounding, not positive definite."""
    eigenvalues = fnp.linalg.eigvalsh(cov)
    return shape_of(cov)[-1] > 0 and fnp.min(eigenvalues) <= smallest(eigenvalues)


class Spread:
    """A location, and a matrix of spreads with its triangular factor.

    Where a plain matrix is singular, and may be, its subspace stands in place of the factor.
    """

    def __init__(self, mean: ArrayLike, cov: ArrayLike, allow_singular: bool = False) -> None:
        cov = getattr(cov, "covariance", cov)
        require_finite(cov)
        self.cov = floating(cov)
        given = None if mean is None else fnp.atleast_1d(floating(mean))
        ndim = len(shape_of(self.cov))
        dim = shape_of(given)[0] if given is not None else shape_of(self.cov)[0] if ndim else 1
        if ndim == 0:
            self.cov = self.cov * np.eye(dim)
        elif ndim == 1:
            self.cov = fnp.diag(self.cov)
        if shape_of(self.cov) != (dim, dim):
            raise ValueError(
                f"Array 'cov' must be square and of the dimension of the mean, {dim}, "
                f"but cov.shape = {shape_of(self.cov)}."
            )
        self.dim = dim
        self.mean = np.zeros(dim) if given is None else given
        self.subspace: Subspace | None = None
        known = known_value(self.cov) if allow_singular else at_hand(self.cov)
        if known is not None:
            if allow_singular and not traced(cov) and is_singular(known):
                self.subspace = Subspace(known)
                return
            require_full_rank(known, allow_singular)
        self.factor = fnp.linalg.cholesky(self.cov)
        if known is None and allow_singular:
            self.factor = fnp.where(is_singular(self.cov), np.nan, self.factor)

    @property
    def log_det(self) -> Array:
        """The logarithm of the determinant."""
        return 2.0 * fnp.sum(fnp.log(fnp.diagonal(self.factor)))

    def squares(self, x: ArrayLike) -> Array:
        """Mahalanobis' squared distances from the location."""
        away = vectors(x, self.dim) - self.mean
        rows = fnp.reshape(away, (-1, self.dim))
        solved = solve_triangular(self.factor, rows.T, lower=True)
        return fnp.reshape(fnp.sum(solved * solved, 0), shape_of(away)[:-1])


def matrix(x: ArrayLike) -> Array:
    """A number as a matrix of one element, a vector as a diagonal."""
    x = floating(x)
    ndim = len(shape_of(x))
    return fnp.reshape(x, (1, 1)) if ndim == 0 else fnp.diag(x) if ndim == 1 else x


def is_key(x: object) -> bool:
    """Whether it looks like a key of `fg.random`."""
    return isinstance(x, Tracer | np.ndarray) and x.dtype == np.uint64 and x.shape == (2,)


def plain_samples(
    dist: Multivariate, parameters: tuple[Any, ...], size: ShapeLike, random_state: Option
) -> Array:
    """SciPy's samples; raises where a parameter is traced."""
    if traced(*parameters):
        raise UnsupportedFunctionError(
            f"{dist!r}.rvs of traced parameters needs a key",
            source=Source(*user_location()),
            remedy="Give random_state=fg.random.key(seed).",
        )
    return dist._scipys.rvs(*parameters, size=size, random_state=random_state)


def squeezed(x: ArrayLike, size: ShapeLike) -> Array:
    """One sample without an axis for the only one, as SciPy gives it."""
    return x[0] if size == 1 else x
