"""Families that are transforms of others."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.composed import TransformedDistribution
from funcgrad.torch.distributions.constraints import dependent_property
from funcgrad.torch.distributions.continuous import Cauchy, Normal, Uniform
from funcgrad.torch.distributions.distribution import Distribution, broadcast_all, size_of
from funcgrad.torch.distributions.gamma_family import Exponential
from funcgrad.torch.distributions.maps import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from funcgrad.types import Anything, ShapeLike

__all__ = [
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Kumaraswamy",
    "LogNormal",
    "LogisticNormal",
    "Pareto",
    "Weibull",
]

Flag = bool | None


class _Family(TransformedDistribution):
    """A family that is a transformed one: parameters are its own, or those of the base."""

    has_rsample = True

    def __repr__(self) -> str:
        # Parameters that are the base's are not shown.
        return Distribution.__repr__(self)

    def expand(self, batch_shape: ShapeLike, _instance: Anything = None) -> Anything:
        new = super().expand(batch_shape, _instance)
        for name in self.arg_constraints:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(size_of(batch_shape)))
        return new


class LogNormal(_Family):
    """The distribution of the exponential of a normal variable."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc: Operand, scale: Operand, validate_args: Flag = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Operand:
        return self.base_dist.loc

    @property
    def scale(self) -> Operand:
        return self.base_dist.scale

    @property
    def mean(self) -> Operand:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Operand:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Operand:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Operand:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Proportions that a normal vector is broken into."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Operand, scale: Operand, validate_args: Flag = None) -> None:
        base: Distribution = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Operand:
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Operand:
        return self.base_dist.base_dist.scale


class _Half(_Family):
    """The size of a variable that is symmetric around zero."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative

    @property
    def scale(self) -> Operand:
        return self.base_dist.scale

    @property
    def mode(self) -> Operand:
        return torch.zeros_like(self.scale)

    def cdf(self, value: Operand) -> Operand:
        return 2 * self.base_dist.cdf(self._checked(value)) - 1

    def icdf(self, value: Operand) -> Operand:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Operand:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The distribution of the size of a normal variable around zero."""

    def __init__(self, scale: Operand, validate_args: Flag = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Operand:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Operand:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, found, -math.inf)


class HalfCauchy(_Half):
    """The distribution of the size of a Cauchy variable around zero."""

    def __init__(self, scale: Operand, validate_args: Flag = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Operand:
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Operand:
        return self.base_dist.variance

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(torch.as_tensor(value, dtype=self.scale.dtype))
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)


class Pareto(_Family):
    """The Pareto distribution of type 1."""

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Operand, alpha: Operand, validate_args: Flag = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        shape = base.batch_shape
        if not isinstance(scale, torch.Tensor) and not isinstance(alpha, torch.Tensor):
            shape = torch.Size()
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base.expand(shape), transforms, validate_args=validate_args)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Anything:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Operand:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Operand:
        return self.scale

    @property
    def variance(self) -> Operand:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Operand:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


_EULER = 0.57721566490153286060
"""Euler's constant."""


class Gumbel(_Family):
    """The Gumbel distribution."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Operand, scale: Operand, validate_args: Flag = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = torch.finfo(self.loc.dtype)
        base: Any = Uniform(limits.tiny, 1 - limits.eps, validate_args=validate_args)
        base.low, base.high = base.low.to(self.loc.dtype), base.high.to(self.loc.dtype)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-torch.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(base.expand(tuple(self.loc.shape)), transforms, validate_args=validate_args)

    def log_prob(self, value: Operand) -> Operand:
        y = (self.loc - self._checked(value)) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Operand:
        return self.loc + self.scale * _EULER

    @property
    def mode(self) -> Operand:
        return self.loc

    @property
    def stddev(self) -> Operand:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Operand:
        return self.stddev.pow(2)

    def entropy(self) -> Operand:
        return self.scale.log() + (1 + _EULER)


class Weibull(_Family):
    """The Weibull distribution."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Operand, concentration: Operand, validate_args: Flag = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Operand:
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Operand:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Operand:
        r = self.concentration_reciprocal
        return self.scale.pow(2) * (torch.exp(torch.lgamma(1 + 2 * r)) - torch.exp(2 * torch.lgamma(1 + r)))

    def entropy(self) -> Operand:
        r = self.concentration_reciprocal
        return _EULER * (1 - r) + torch.log(self.scale * r) + 1


class Kumaraswamy(_Family):
    """The Kumaraswamy distribution on (0, 1)."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(self, concentration1: Operand, concentration0: Operand, validate_args: Flag = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            torch.full_like(self.concentration0, 0), torch.full_like(self.concentration0, 1), validate_args
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Operand:
        a, b = self.concentration1, self.concentration0
        shifted = 1 + n / a
        return torch.exp(b.log() + torch.lgamma(shifted) + torch.lgamma(b) - torch.lgamma(shifted + b))

    @property
    def mean(self) -> Operand:
        return self._moment(1)

    @property
    def mode(self) -> Operand:
        a, b = self.concentration1, self.concentration0
        found = (a.reciprocal() * ((a - 1).log() - (a * b - 1).log())).exp()
        return torch.where((a < 1) | (b < 1), torch.full_like(found, math.nan), found)

    @property
    def variance(self) -> Operand:
        return self._moment(2) - torch.pow(self.mean, 2)

    def entropy(self) -> Operand:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + _EULER
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - torch.log(a) - torch.log(b)
