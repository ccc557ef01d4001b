"""Kullback-Leibler divergences: a registry by types, and the formulas.

Between families of numbers a divergence is ``-H(p) - E_p[log q]``, and the second term needs only some
moments of p: what a family's density asks of p, and the moments that a family knows, stand in two tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions.classes import Categorical, OneHotCategorical
from funcgrad.torch.distributions.composed import Independent, TransformedDistribution
from funcgrad.torch.distributions.continuous import Cauchy, Laplace, Normal, Uniform
from funcgrad.torch.distributions.discrete import (
    Bernoulli,
    Binomial,
    ContinuousBernoulli,
    Geometric,
    NegativeBinomial,
    Poisson,
)
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily
from funcgrad.torch.distributions.gamma_family import Exponential, Gamma, InverseGamma
from funcgrad.torch.distributions.maps import sum_rightmost
from funcgrad.torch.distributions.transformed import Gumbel, HalfNormal, LogNormal, Pareto
from funcgrad.torch.distributions.vectors import (
    Beta,
    Dirichlet,
    LowRankMultivariateNormal,
    MultivariateNormal,
    batch_mahalanobis,
)
from funcgrad.types import Anything

__all__ = ["kl_divergence", "register_kl"]

_EULER = 0.57721566490153286060
_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
_FOUND: dict[tuple[type, type], Callable[[Any, Any], Any] | None] = {}


def register_kl(type_p: Anything, type_q: Anything) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function for pairs of these classes (and classes below them)."""
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected type to be a Distribution subclass but got {kind}")

    def registered(f: Callable[..., Any]) -> Callable[..., Any]:
        _REGISTRY[type_p, type_q] = f
        _FOUND.clear()
        return f

    return registered


def _formula(type_p: type, type_q: type) -> Callable[[Any, Any], Any] | None:
    """The formula of the classes closest above the given ones; the first of a pair counts first."""
    for kind_p in type_p.__mro__:
        for kind_q in type_q.__mro__:
            if (kind_p, kind_q) in _REGISTRY:
                return _REGISTRY[kind_p, kind_q]
    return None


_OF_FAMILIES = (
    "The cross KL-divergence between different exponential families cannot                             "
    "be computed using Bregman divergences"
)


def kl_divergence(p: Distribution, q: Distribution) -> Operand:
    """``E_p[log p - log q]``; NotImplementedError where no formula is registered.

    >>> from funcgrad.torch.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    formula = _FOUND.get(key) or _formula(*key)
    _FOUND[key] = formula
    if formula is None and isinstance(p, ExponentialFamily) and isinstance(q, ExponentialFamily):
        raise NotImplementedError(_OF_FAMILIES)
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {key[0].__name__} and q type {key[1].__name__}"
        )
    return formula(p, q)


# -- numbers: what densities ask for, and the moments that families know ----------------------------------


def _of_normal(p: Operand, q: Operand) -> Operand:
    square = p.variance + (p.mean - q.loc) ** 2
    return -0.5 * square / q.scale**2 - q.scale.log() - 0.5 * math.log(2 * math.pi)


def _of_exponential(p: Operand, q: Operand) -> Operand:
    return q.rate.log() - q.rate * p.mean


def _of_gamma(p: Operand, q: Operand) -> Operand:
    a, rate = q.concentration, q.rate
    return a * rate.log() - torch.lgamma(a) + (a - 1) * _LOG[type(p)](p) - rate * p.mean


def _of_gumbel(p: Operand, q: Operand) -> Operand:
    t = 1 / q.scale
    return -q.scale.log() - (p.mean - q.loc) * t - torch.exp(q.loc * t) * _LAPLACE_TRANSFORM[type(p)](p, t)


def _of_beta(p: Operand, q: Operand) -> Operand:
    a, b = q.concentration1, q.concentration0
    norm = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
    return norm + (a - 1) * _LOG[type(p)](p) + (b - 1) * _LOG1M[type(p)](p)


def _of_pareto(p: Operand, q: Operand) -> Operand:
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _LOG[type(p)](p)


def _of_continuous_bernoulli(p: Operand, q: Operand) -> Operand:
    return q._log_norm() + torch.log1p(-q.probs) + p.mean * q.logits


def _log_of_uniform(p: Operand) -> Operand:
    return (torch.xlogy(p.high, p.high) - torch.xlogy(p.low, p.low)) / (p.high - p.low) - 1


_LOG: dict[type, Callable[[Any], Any]] = {
    Gamma: lambda p: torch.digamma(p.concentration) - p.rate.log(),
    Exponential: lambda p: -_EULER - p.rate.log(),
    Beta: lambda p: torch.digamma(p.concentration1) - torch.digamma(p.concentration1 + p.concentration0),
    Uniform: _log_of_uniform,
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
}
"""``E[log x]``."""
_LOG1M: dict[type, Callable[[Any], Any]] = {
    Beta: lambda p: torch.digamma(p.concentration0) - torch.digamma(p.concentration1 + p.concentration0),
    Uniform: lambda p: _log_of_uniform(Uniform(1 - p.high, 1 - p.low, validate_args=False)),
}
"""``E[log(1 - x)]``."""
_LAPLACE_TRANSFORM: dict[type, Callable[[Any, Any], Any]] = {
    Normal: lambda p, t: torch.exp(-t * p.loc + 0.5 * (t * p.scale) ** 2),
    Exponential: lambda p, t: p.rate / (p.rate + t),
    Gamma: lambda p, t: (p.rate / (p.rate + t)) ** p.concentration,
    Uniform: lambda p, t: (torch.exp(-t * p.low) - torch.exp(-t * p.high)) / (t * (p.high - p.low)),
    Gumbel: lambda p, t: torch.exp(-t * p.loc + torch.lgamma(1 + t * p.scale)),
}
"""``E[exp(-t x)]``."""


def _by_moments(expected: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def divergence(p: Operand, q: Operand) -> Operand:
        return -p.entropy() - expected(p, q)

    return divergence


def _infinite(p: Operand, q: Operand) -> Operand:
    like = p.mean if not isinstance(p, Cauchy) else p.loc
    return torch.full_like(like, math.inf)


_MOMENTS: dict[type, tuple[Callable[[Any, Any], Any], tuple[type, ...]]] = {
    Normal: (_of_normal, (Normal, Laplace, Exponential, Gamma, Beta, Gumbel, ContinuousBernoulli)),
    Exponential: (_of_exponential, (Exponential, Gamma, Beta, Pareto, ContinuousBernoulli)),
    Gamma: (_of_gamma, (Gamma, Exponential, Beta, Pareto)),
    Gumbel: (_of_gumbel, (Normal, Exponential, Gamma, Uniform, Gumbel)),
    Beta: (_of_beta, (Beta,)),
    ContinuousBernoulli: (_of_continuous_bernoulli, (ContinuousBernoulli, Beta)),
}
for _type_q, (_expected, _types_p) in _MOMENTS.items():
    for _type_p in _types_p:
        register_kl(_type_p, _type_q)(_by_moments(_expected))

_WIDER: dict[type, tuple[type, ...]] = {
    # What has no density where the second family has none, so that nothing finite is left.
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Poisson: (Bernoulli, Binomial),
}
for _type_p, _types_q in _WIDER.items():
    for _type_q in _types_q:
        register_kl(_type_p, _type_q)(_infinite)


def _inside(
    expected: Callable[[Any, Any], Any], outside: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    def divergence(p: Operand, q: Operand) -> Operand:
        found = -p.entropy() - expected(p, q)
        return torch.where(outside(p, q), torch.full_like(found, math.inf), found)

    return divergence


def _below_zero(p: Operand, q: Operand) -> Operand:
    return p.low < 0


def _outside_unit(p: Operand, q: Operand) -> Operand:
    return (p.low < 0) | (p.high > 1)


for _type_q, _expected, _outside in (
    (Exponential, _of_exponential, _below_zero),
    (Gamma, _of_gamma, _below_zero),
    (Beta, _of_beta, _outside_unit),
    (ContinuousBernoulli, _of_continuous_bernoulli, _outside_unit),
    (Pareto, _of_pareto, lambda p, q: p.low < q.scale),
    (Normal, _of_normal, lambda p, q: torch.zeros_like(p.low) > 0),
):
    register_kl(Uniform, _type_q)(_inside(_expected, _outside))


@register_kl(Uniform, Uniform)
def _uniforms(p: Operand, q: Operand) -> Operand:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), torch.full_like(found, math.inf), found)


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _units_uniform(p: Operand, q: Operand) -> Operand:
    found = -p.entropy() + (q.high - q.low).log()
    return torch.where((q.high < 1) | (q.low > 0), torch.full_like(found, math.inf), found)


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p: Operand, q: Operand) -> Operand:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Pareto, Normal)
def _pareto_normal(p: Operand, q: Operand) -> Operand:
    found = -p.entropy() - _of_normal(p, q)
    return torch.where(p.alpha <= 2, torch.full_like(found, math.inf), found)


@register_kl(Pareto, Pareto)
def _paretos(p: Operand, q: Operand) -> Operand:
    found = -p.entropy() - _of_pareto(p, q)
    return torch.where(p.scale < q.scale, torch.full_like(found, math.inf), found)


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Operand, q: Operand) -> Operand:
    # Chyzak and Nielsen (2019).
    over = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return over - (4 * p.scale * q.scale).log()


@register_kl(Laplace, Laplace)
def _laplaces(p: Operand, q: Operand) -> Operand:
    distance = (p.loc - q.loc).abs()
    rest = p.scale * torch.exp(-distance / p.scale)
    return (q.scale / p.scale).log() + (distance + rest) / q.scale - 1


@register_kl(Normal, Laplace)
def _normal_laplace(p: Operand, q: Operand) -> Operand:
    d = p.loc - q.loc
    z = d / p.scale
    size = p.scale * math.sqrt(2 / math.pi) * torch.exp(-0.5 * z**2) + d * torch.erf(z / math.sqrt(2))
    return -p.entropy() + torch.log(2 * q.scale) + size / q.scale


@register_kl(HalfNormal, HalfNormal)
def _half_normals(p: Operand, q: Operand) -> Operand:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(InverseGamma, InverseGamma)
def _inverse_gammas(p: Operand, q: Operand) -> Operand:
    return kl_divergence(Gamma(p.concentration, p.rate), Gamma(q.concentration, q.rate))


@register_kl(LogNormal, LogNormal)
def _log_normals(p: Operand, q: Operand) -> Operand:
    return kl_divergence(p.base_dist, q.base_dist)


# -- counts and classes -----------------------------------------------------------------------------------


def _log_ratio(a: Operand, b: Operand) -> Operand:
    """``a log(a / b)``, zero where `a` is."""
    found = a * (a / b).log()
    found = torch.where(a == 0, torch.zeros_like(found), found)
    return torch.where((b == 0) & (a > 0), torch.full_like(found, math.inf), found)


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Operand, q: Operand) -> Operand:
    return _log_ratio(p.probs, q.probs) + _log_ratio(1 - p.probs, 1 - q.probs)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Operand, q: Operand) -> Operand:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Binomial, Binomial)
def _binomials(p: Operand, q: Operand) -> Operand:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    found = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return torch.where(p.total_count > q.total_count, torch.full_like(found, math.inf), found)


@register_kl(Categorical, Categorical)
def _categoricals(p: Operand, q: Operand) -> Operand:
    found = p.probs * (p.logits - q.logits)
    found = torch.where((q.probs == 0).expand_as(found), torch.full_like(found, math.inf), found)
    found = torch.where((p.probs == 0).expand_as(found), torch.zeros_like(found), found)
    return found.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p: Operand, q: Operand) -> Operand:
    return _categoricals(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometrics(p: Operand, q: Operand) -> Operand:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poissons(p: Operand, q: Operand) -> Operand:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(NegativeBinomial, NegativeBinomial)
def _negative_binomials(p: Operand, q: Operand) -> Operand:
    if not (p.total_count == q.total_count).all():
        raise NotImplementedError("KL between NegativeBinomials of different total_count is not implemented")
    return p.total_count * ((-p.probs).log1p() - (-q.probs).log1p()) + p.mean * (
        p.probs.log() - q.probs.log()
    )


# -- vectors ----------------------------------------------------------------------------------------------


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Operand, q: Operand) -> Operand:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norms = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return norms + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


def _factor_and_log_det(p: Operand) -> tuple[Any, Any]:
    factor = p.scale_tril
    return factor, factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normals(p: Operand, q: Operand) -> Operand:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    (lp, log_p), (lq, log_q) = _factor_and_log_det(p), _factor_and_log_det(q)
    shape = torch.broadcast_shapes(tuple(lp.shape), tuple(lq.shape))
    ratio = torch.linalg.solve_triangular(lq.expand(shape), lp.expand(shape), upper=False)
    traces = ratio.pow(2).sum((-2, -1))
    distance = batch_mahalanobis(lq, q.loc - p.loc)
    return log_q - log_p + 0.5 * (traces + distance - p.event_shape[0])


# -- composed ---------------------------------------------------------------------------------------------


@register_kl(Independent, Independent)
def _independents(p: Operand, q: Operand) -> Operand:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL between Independents of different numbers of dimensions is not implemented"
        )
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Operand, q: Operand) -> Operand:
    if p.transforms != q.transforms:
        raise NotImplementedError("KL between distributions of different transforms is not implemented")
    if p.event_shape != q.event_shape:
        raise NotImplementedError("KL between distributions of different events is not implemented")
    return kl_divergence(p.base_dist, q.base_dist)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
