"""Distributions on the positive numbers that are made of gamma variables, and ratios of them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.continuous import _REAL_POSITIVE, Flag
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily
from funcgrad.torch.distributions.gammas import standard_gamma
from funcgrad.types import ShapeLike

__all__ = ["Chi2", "Exponential", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"]


class Exponential(ExponentialFamily):
    """The exponential distribution."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, rate=rate)

    @property
    def mean(self) -> Operand:
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Operand:
        return torch.zeros_like(self.rate)

    @property
    def variance(self) -> Operand:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Operand) -> Operand:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Operand) -> Operand:
        return 1 - torch.exp(-self.rate * self._checked(value))

    def icdf(self, value: Operand) -> Operand:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Operand:
        return 1.0 - torch.log(self.rate)


class Gamma(ExponentialFamily):
    """The gamma distribution of a shape (`concentration`) and a rate."""

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Operand, rate: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Operand:
        return self.concentration / self.rate

    @property
    def mode(self) -> Operand:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Operand:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = self._extended_shape(sample_shape)
        found = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        found.detach().clamp_(min=torch.finfo(found.dtype).tiny)
        return found

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(torch.as_tensor(value, dtype=self.rate.dtype))
        a, rate = self.concentration, self.rate
        return torch.xlogy(a, rate) + torch.xlogy(a - 1, value) - rate * value - torch.lgamma(a)

    def cdf(self, value: Operand) -> Operand:
        return torch.special.gammainc(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Operand:
        a = self.concentration
        return a - self.rate.log() + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)


class Chi2(Gamma):
    """The chi-squared distribution of a number of degrees of freedom."""

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Operand, validate_args: Flag = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Operand:
        return self.concentration * 2


class InverseGamma(Distribution):
    """The distribution of the reciprocal of a gamma variable."""

    arg_constraints = Gamma.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Operand, rate: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, concentration=concentration, rate=rate)

    def __repr__(self) -> str:
        # PyTorch's has its parameters from the Gamma distribution underneath, which it does not show.
        return "InverseGamma()"

    @property
    def mean(self) -> Operand:
        found = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, found, torch.full_like(found, math.inf))

    @property
    def mode(self) -> Operand:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Operand:
        a = self.concentration
        found = self.rate.square() / ((a - 1).square() * (a - 2))
        return torch.where(a > 2, found, torch.full_like(found, math.inf))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.rate / standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        a, rate = self.concentration, self.rate
        return torch.xlogy(a, rate) - (a + 1) * value.log() - rate / value - torch.lgamma(a)

    def cdf(self, value: Operand) -> Operand:
        return torch.special.gammaincc(self.concentration, self.rate / self._checked(value))

    def entropy(self) -> Operand:
        a = self.concentration
        return a + self.rate.log() + torch.lgamma(a) - (1 + a) * torch.digamma(a)


class StudentT(Distribution):
    """Student's distribution, moved and scaled."""

    arg_constraints: ClassVar[Any] = {"df": constraints.positive, **_REAL_POSITIVE}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Operand, loc: Operand = 0.0, scale: Operand = 1.0, validate_args: Flag = None
    ) -> None:
        self._init(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Operand:
        return torch.where(self.df > 1, self.loc, torch.full_like(self.loc, math.nan))

    @property
    def mode(self) -> Operand:
        return self.loc

    @property
    def variance(self) -> Operand:
        found = self.scale.pow(2) * self.df / (self.df - 2)
        found = torch.where(self.df > 2, found, torch.full_like(found, math.inf))
        return torch.where(self.df > 1, found, torch.full_like(found, math.nan))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = self._extended_shape(sample_shape)
        x = torch.randn(shape, dtype=self.df.dtype)
        chi2 = 2 * standard_gamma(0.5 * self.df.expand(shape))
        return self.loc + self.scale * x * torch.rsqrt(chi2 / self.df)

    def _norm(self) -> Operand:
        return (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )

    def log_prob(self, value: Operand) -> Operand:
        y = (self._checked(value) - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - self._norm()

    def entropy(self) -> Operand:
        half = 0.5 * (self.df + 1)
        beta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(half)
        slope = torch.digamma(half) - torch.digamma(0.5 * self.df)
        return self.scale.log() + half * slope + 0.5 * self.df.log() + beta


class FisherSnedecor(Distribution):
    """The distribution of a ratio of two scaled chi-squared variables."""

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Operand, df2: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Operand:
        found = self.df2 / (self.df2 - 2)
        return torch.where(self.df2 > 2, found, torch.full_like(found, math.nan))

    @property
    def mode(self) -> Operand:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 > 2, found, torch.full_like(found, math.nan))

    @property
    def variance(self) -> Operand:
        a, b = self.df1, self.df2
        found = 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))
        return torch.where(b > 4, found, torch.full_like(found, math.nan))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = self._extended_shape(sample_shape)
        parts = [standard_gamma(0.5 * df.expand(shape)) * 2 / df for df in (self.df1, self.df2)]
        tiny = torch.finfo(parts[0].dtype).tiny
        return (parts[0] / parts[1].clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        a, b = 0.5 * self.df1, 0.5 * self.df2
        ratio = self.df1 / self.df2
        beta = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return beta + a * ratio.log() + (a - 1) * value.log() - (a + b) * torch.log1p(ratio * value)
