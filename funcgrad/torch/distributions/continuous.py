"""Distributions of numbers, those of the gamma family apart."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.constraints import dependent_property
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.types import Anything, ShapeLike

__all__ = ["Cauchy", "GeneralizedPareto", "Laplace", "Normal", "Uniform", "VonMises"]


Flag = bool | None
_REAL_POSITIVE = {"loc": constraints.real, "scale": constraints.positive}


class Normal(ExponentialFamily):
    """The normal distribution.

    >>> fg.torch.distributions.Normal(0.0, 1.0).log_prob(fg.torch.tensor(0.0))
    tensor(-0.9189)
    """

    arg_constraints = _REAL_POSITIVE
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Operand, scale: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Operand:
        return self.loc

    mode = mean

    @property
    def stddev(self) -> Operand:
        return self.scale

    @property
    def variance(self) -> Operand:
        return self.scale.pow(2)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            shape = self._extended_shape(sample_shape)
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.loc + torch.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype) * self.scale

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Operand) -> Operand:
        value = self._checked(value)
        return 0.5 * (1 + torch.erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Operand) -> Operand:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Operand:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Laplace(Distribution):
    """The Laplace distribution."""

    arg_constraints = _REAL_POSITIVE
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Operand, scale: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Operand:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Operand:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Operand:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        u = self.loc.new_empty(self._extended_shape(sample_shape))
        u.uniform_(torch.finfo(u.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Operand) -> Operand:
        d = self._checked(value) - self.loc
        return 0.5 - 0.5 * d.sign() * torch.expm1(-d.abs() / self.scale)

    def icdf(self, value: Operand) -> Operand:
        d = value - 0.5
        return self.loc - self.scale * d.sign() * torch.log1p(-2 * d.abs())

    def entropy(self) -> Operand:
        return 1 + torch.log(2 * self.scale)


class Cauchy(Distribution):
    """The Cauchy distribution."""

    arg_constraints = _REAL_POSITIVE
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Operand, scale: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Operand:
        return torch.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def mode(self) -> Operand:
        return self.loc

    @property
    def variance(self) -> Operand:
        return torch.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Operand) -> Operand:
        return torch.atan((self._checked(value) - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Operand) -> Operand:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Operand:
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """The uniform distribution on [low, high)."""

    has_rsample = True

    def __init__(self, low: Operand, high: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> dict[Any, Any]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Anything:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Operand:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Operand:
        return math.nan * self.high

    @property
    def stddev(self) -> Operand:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Operand:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        inside = self.low.le(value) & self.high.gt(value)
        return torch.log(inside.type_as(self.low)) - torch.log(self.high - self.low)

    def cdf(self, value: Operand) -> Operand:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Operand) -> Operand:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Operand:
        return torch.log(self.high - self.low)


class GeneralizedPareto(Distribution):
    """What lies above a high threshold (`loc`), of many distributions."""

    arg_constraints: ClassVar[Any] = {**_REAL_POSITIVE, "concentration": constraints.real}
    has_rsample = True

    def __init__(
        self, loc: Operand, scale: Operand, concentration: Operand, validate_args: Flag = None
    ) -> None:
        self._init(validate_args, loc=loc, scale=scale, concentration=concentration)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Anything:
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    @property
    def mean(self) -> Operand:
        k = self.concentration
        found = self.loc + self.scale / (1 - k)
        return torch.where(k < 1, found, torch.full_like(found, math.inf))

    @property
    def mode(self) -> Operand:
        return self.loc

    @property
    def variance(self) -> Operand:
        k = self.concentration
        found = self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k))
        return torch.where(k < 0.5, found, torch.full_like(found, math.inf))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def _split(self, of_zero: Operand, of_others: Operand) -> Operand:
        """One formula where the concentration is zero, another where it is not."""
        k = self.concentration
        zero = torch.isclose(k, torch.zeros_like(k))
        return torch.where(zero, of_zero, of_others(torch.where(zero, torch.ones_like(k), k)))

    def log_prob(self, value: Operand) -> Operand:
        y = (self._checked(value) - self.loc) / self.scale

        def others(k: Operand) -> Operand:
            return -(1 + 1 / k) * torch.log1p(k * y)

        return self._split(-y, others) - self.scale.log()

    def log_survival_function(self, value: Operand) -> Operand:
        """``log(1 - cdf(value))``."""
        y = (self._checked(value) - self.loc) / self.scale

        def others(k: Operand) -> Operand:
            return -torch.log1p(k * y) / k

        return self._split(-y, others)

    def cdf(self, value: Operand) -> Operand:
        return 1 - torch.exp(self.log_survival_function(value))

    def icdf(self, value: Operand) -> Operand:
        log_u = torch.log1p(-value)

        def others(k: Operand) -> Operand:
            return torch.expm1(-k * log_u) / k

        return self.loc + self.scale * self._split(-log_u, others)

    def entropy(self) -> Operand:
        return self.scale.log() + self.concentration + 1


def _von_mises(loc: Operand, k: Operand) -> Operand:
    """Draws by Best and Fisher's rejection from a wrapped Cauchy distribution (1979)."""
    root = np.sqrt(1 + 4 * k**2)
    tau = 1 + root
    rho = (tau - np.sqrt(2 * tau)) / (2 * k)
    r = np.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
    found, done = np.empty(loc.shape), np.zeros(loc.shape, bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        while not done.all():
            first, second, third = default_generator.bits.uniform((3, *loc.shape), loc.dtype)
            z = np.cos(math.pi * first)
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accepted = ((c * (2 - c) - second) > 0) | (np.log(c / second) + 1 - c >= 0)
            found = np.where(accepted, np.sign(third - 0.5) * np.arccos(f), found)
            done |= accepted
    return (found + math.pi + loc) % (2 * math.pi) - math.pi


class VonMises(Distribution):
    """The von Mises distribution of an angle."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Operand, concentration: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self) -> Operand:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Operand:
        # The scaled functions: a quotient that does not overflow.
        k = self.concentration
        return 1 - torch.special.i1e(k) / torch.special.i0e(k)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = tuple(self._extended_shape(sample_shape))
        loc, k = [t.detach().double().expand(shape).numpy() for t in (self.loc, self.concentration)]
        return torch.as_tensor(_von_mises(loc, k)).to(self.loc.dtype)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        k = self.concentration
        norm = math.log(2 * math.pi) + torch.special.i0e(k).log() + k
        return k * torch.cos(value - self.loc) - norm
