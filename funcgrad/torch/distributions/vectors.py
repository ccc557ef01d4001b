"""Families of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily, broadcast_all, size_of
from funcgrad.torch.distributions.gammas import standard_gamma
from funcgrad.types import Anything, ShapeLike

__all__ = [
    "Beta",
    "Dirichlet",
    "LKJCholesky",
    "LowRankMultivariateNormal",
    "MultivariateNormal",
    "Wishart",
    "batch_mahalanobis",
    "batch_mv",
]

Flag = bool | None


def batch_mv(matrix: Operand, vector: Operand) -> Operand:
    """Matrices times vectors, in batches."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(factor: Operand, x: Operand) -> Operand:
    """``x' M^-1 x`` for ``M = L L'``, in batches that broadcast."""
    shape = torch.broadcast_shapes(tuple(factor.shape[:-2]), tuple(x.shape[:-1]))
    solved = torch.linalg.solve_triangular(
        factor.expand((*shape, *factor.shape[-2:])),
        x.expand((*shape, x.shape[-1])).unsqueeze(-1),
        upper=False,
    )
    return solved.squeeze(-1).pow(2).sum(-1)


def _half_log_det(factor: Operand) -> Operand:
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution of proportions."""

    arg_constraints: ClassVar[Any] = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Operand, validate_args: Flag = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Operand:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Operand:
        less = (self.concentration - 1).clamp(min=0.0)
        found = less / less.sum(-1, True)
        low = (self.concentration < 1).all(dim=-1, keepdim=True)
        first = torch.nn.functional.one_hot(found.argmax(dim=-1), self.concentration.shape[-1]).to(found)
        return torch.where(low, first, found)

    @property
    def variance(self) -> Operand:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        parts = standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        return parts / parts.sum(-1, keepdim=True)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self) -> Operand:
        a = self.concentration
        k, total = a.size(-1), a.sum(-1)
        return (
            torch.lgamma(a).sum(-1)
            - torch.lgamma(total)
            - (k - total) * torch.digamma(total)
            - ((a - 1.0) * torch.digamma(a)).sum(-1)
        )


class Beta(ExponentialFamily):
    """The beta distribution on (0, 1)."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Operand, concentration0: Operand, validate_args: Flag = None) -> None:
        numbers = not any(isinstance(c, torch.Tensor) for c in (concentration1, concentration0))
        if numbers:
            pair = torch.tensor([float(concentration1), float(concentration0)])
        else:
            pair = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Operand:
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Operand:
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Operand:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Operand:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Operand:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self) -> Operand:
        return self._dirichlet.entropy()

    def __repr__(self) -> str:
        return Distribution.__repr__(self)


_EVENT_DIMS = {"covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2, "loc": 1, "df": 0}


class ByMatrix(Distribution):
    """A family with one of three matrices: a covariance, its inverse, or its factor; it has all."""

    def __getattr__(self, name: str) -> Anything:
        if name == "_unbroadcasted_scale_tril" or "_unbroadcasted_scale_tril" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        factor = self._unbroadcasted_scale_tril
        shape = (*self._batch_shape, *factor.shape[-2:])
        if name == "scale_tril":
            found = factor
        elif name == "covariance_matrix":
            found = factor @ factor.mT
        elif name == "precision_matrix":
            found = torch.cholesky_inverse(factor)
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return found.expand(shape)

    def expand(self, batch_shape: ShapeLike, _instance: Anything = None) -> Distribution:
        new = type(self).__new__(type(self)) if _instance is None else _instance
        shape = size_of(batch_shape)
        new.__dict__.update(self.__dict__)
        for name, ndim in _EVENT_DIMS.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                setattr(new, name, value.expand((*shape, *value.shape[value.dim() - ndim :])))
        new._batch_shape = shape
        return new


class MultivariateNormal(ByMatrix):
    """The normal distribution of vectors, by covariance, precision, or the Cholesky factor of the first."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Operand,
        covariance_matrix: Operand = None,
        precision_matrix: Operand = None,
        scale_tril: Operand = None,
        validate_args: Flag = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: value for name, value in given.items() if value is not None}
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        [(name, matrix)] = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = torch.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        setattr(self, name, matrix.expand((*batch, *matrix.shape[-2:])))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            factor = scale_tril
        elif covariance_matrix is not None:
            factor = torch.linalg.cholesky(covariance_matrix)
        else:
            factor = factor_of_precision(precision_matrix)
        self._unbroadcasted_scale_tril = factor

    @property
    def mean(self) -> Operand:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Operand:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        noise = torch.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Operand) -> Operand:
        d = self._checked(value) - self.loc
        factor = self._unbroadcasted_scale_tril
        size = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (size + batch_mahalanobis(factor, d)) - _half_log_det(factor)

    def entropy(self) -> Operand:
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        found = found + _half_log_det(self._unbroadcasted_scale_tril)
        return found.expand(self._batch_shape) if self._batch_shape else found


def factor_of_precision(precision: Operand) -> Operand:
    """The lower Cholesky factor of the inverse of a matrix."""
    reversed_factor = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    upper = torch.transpose(torch.flip(reversed_factor, (-2, -1)), -2, -1)
    one = torch.eye(precision.shape[-1], dtype=precision.dtype)
    return torch.linalg.solve_triangular(upper, one, upper=False)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance ``W W' + diag(d)``."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Operand, cov_factor: Operand, cov_diag: Operand, validate_args: Flag = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        size = tuple(loc.shape[-1:])
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if tuple(cov_factor.shape[-2:-1]) != size or tuple(cov_diag.shape[-1:]) != size:
            raise ValueError(f"cov_factor and cov_diag must be for vectors of {size[0]} elements")
        batch = torch.broadcast_shapes(
            tuple(loc.shape[:-1]), tuple(cov_factor.shape[:-2]), tuple(cov_diag.shape[:-1])
        )
        self.loc = loc.expand((*batch, *size))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, *size))
        super().__init__(batch, size, validate_args=validate_args)

    def _capacitance(self) -> Operand:
        """The Cholesky factor of ``I + W' D^-1 W``."""
        w = self.cov_factor
        m = w.shape[-1]
        inner = w.mT @ (w / self.cov_diag.unsqueeze(-1)) + torch.eye(m, dtype=w.dtype)
        return torch.linalg.cholesky(inner)

    @property
    def mean(self) -> Operand:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Operand:
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Operand:
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def scale_tril(self) -> Operand:
        return torch.linalg.cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self) -> Operand:
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        a = torch.linalg.solve_triangular(self._capacitance(), scaled, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - a.mT @ a

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = self._extended_shape(sample_shape)
        w = torch.randn((*shape[:-1], self.cov_factor.shape[-1]), dtype=self.loc.dtype)
        d = torch.randn(shape, dtype=self.loc.dtype)
        return self.loc + batch_mv(self.cov_factor, w) + self.cov_diag.sqrt() * d

    def _log_det(self) -> Operand:
        return 2 * _half_log_det(self._capacitance()) + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Operand) -> Operand:
        d = self._checked(value) - self.loc
        scaled = d / self.cov_diag
        projected = batch_mv(self.cov_factor.mT, scaled)
        # Woodbury's identity.
        distance = (d * scaled).sum(-1) - batch_mahalanobis(self._capacitance(), projected)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Operand:
        return 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())


class Wishart(ByMatrix, ExponentialFamily):
    """The Wishart distribution of positive definite matrices."""

    arg_constraints: ClassVar[Any] = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(lower_bound=0),
    }
    support = constraints.positive_definite
    has_rsample = True

    def __init__(
        self,
        df: Operand,
        covariance_matrix: Operand = None,
        precision_matrix: Operand = None,
        scale_tril: Operand = None,
        validate_args: Flag = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        [(name, matrix)] = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        df = df if isinstance(df, torch.Tensor) else torch.tensor(float(df), dtype=matrix.dtype)
        batch = torch.broadcast_shapes(tuple(df.shape), tuple(matrix.shape[:-2]))
        event = tuple(matrix.shape[-2:])
        self.df = df.expand(batch)
        if self.df.le(event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        if scale_tril is not None:
            factor = scale_tril
        elif covariance_matrix is not None:
            factor = torch.linalg.cholesky(covariance_matrix)
        else:
            factor = factor_of_precision(precision_matrix)
        setattr(self, name, matrix.expand((*batch, *event)))
        self._unbroadcasted_scale_tril = factor
        super().__init__(batch, event, validate_args=validate_args)

    @property
    def mean(self) -> Operand:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Operand:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor > 0, factor, torch.full_like(factor, math.nan))
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Operand:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * (v.pow(2) + outer)

    def rsample(self, sample_shape: ShapeLike = (), max_try_correction: int | None = None) -> Operand:
        sample = self._bartlett(tuple(sample_shape))
        # PyTorch means to draw singular matrices anew, and draws those anew that are not.
        drawn_anew = self._rows_of(self.support.check(sample))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not drawn_anew.any():
                break
            again = self._bartlett((int(drawn_anew.sum()),))
            sample[drawn_anew] = again
            drawn_anew[drawn_anew.clone()] = self._rows_of(~self.support.check(again))
        return sample

    def _rows_of(self, found: Operand) -> Operand:
        """For each draw, whether it is so of one of the batch."""
        return found.amax(self._batch_dims) if self._batch_shape else found

    @property
    def _batch_dims(self) -> list[int]:
        return [-(k + 1) for k in range(len(self._batch_shape))]

    def _bartlett(self, sample_shape: tuple[int, ...]) -> Operand:
        """Bartlett's decomposition: chi variables on the diagonal, normal ones below it."""
        p, eps = self._event_shape[-1], torch.finfo(self.df.dtype).eps
        shape = (*sample_shape, *self._batch_shape)
        halves = 0.5 * (self.df.unsqueeze(-1) - torch.arange(p, dtype=self.df.dtype))
        chi = (2 * standard_gamma(halves.expand((*shape, p)))).clamp(min=torch.finfo(self.df.dtype).tiny)
        rows, columns = torch.tril_indices(p, p, -1)
        below = chi.new_zeros((*shape, p, p))
        below[..., rows, columns] = torch.randn((*shape, len(rows)), dtype=chi.dtype)
        factor = self.scale_tril @ (chi.sqrt().clamp(min=eps).diag_embed() + below)
        return factor @ factor.mT

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        nu, p = self.df, self._event_shape[-1]
        half_log_det = _half_log_det(self.scale_tril)
        return (
            -nu * (p * math.log(2.0) / 2 + half_log_det)
            - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - torch.cholesky_solve(value, self.scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1) / 2
        )

    def entropy(self) -> Operand:
        nu, p = self.df, self._event_shape[-1]
        half_log_det = _half_log_det(self.scale_tril)
        digammas = torch.digamma((nu.unsqueeze(-1) - torch.arange(p, dtype=nu.dtype)) / 2).sum(-1)
        return (
            (p + 1) * (p * math.log(2.0) / 2 + half_log_det)
            + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * digammas
            + nu * p / 2
        )


class LKJCholesky(Distribution):
    """Cholesky factors of random correlation matrices (Lewandowski and others, 2009)."""

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Operand = 1.0, validate_args: Flag = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        like = isinstance(concentration, torch.Tensor)
        self.concentration = concentration if like else torch.tensor(float(concentration))
        super().__init__(self.concentration.size(), (dim, dim), validate_args)

    def _rows(self) -> Operand:
        """The beta distribution of the squared lengths of the rows below the diagonal."""
        marginal = self.concentration + 0.5 * (self.dim - 2)
        offset = torch.arange(self.dim - 1, dtype=self.concentration.dtype)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        return Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            y = self._rows().sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            u = torch.randn(shape, dtype=y.dtype).tril(-1)
            length = u.norm(dim=-1, keepdim=True)
            sphere = torch.where(length > 0, u / length, torch.zeros_like(u))
            w = torch.sqrt(y) * sphere
            left = torch.clamp(1 - w.pow(2).sum(-1), min=torch.finfo(w.dtype).tiny).sqrt()
            return w + left.diag_embed()

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalised = (order * diagonal.log()).sum(-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        denominator = torch.lgamma(alpha) * less
        numerator = torch.mvlgamma(alpha - 0.5, less)
        return unnormalised - (0.5 * less * math.log(math.pi) + numerator - denominator)
