"""Distributions of single trials and of counts."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.constraints import dependent_property
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily, broadcast_all
from funcgrad.torch.distributions.gammas import standard_gamma
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.types import Anything, ShapeLike

__all__ = [
    "Bernoulli",
    "Binomial",
    "ContinuousBernoulli",
    "Geometric",
    "NegativeBinomial",
    "Poisson",
    "clamp_probs",
    "logits_of",
    "probs_of",
]


Flag = bool | None
F = torch.nn.functional


def clamp_probs(probs: Operand) -> Operand:
    """Probabilities kept away from 0 and 1 by a rounding error."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_of(probs: Operand, is_binary: bool = False) -> Operand:
    """The logits of probabilities: log odds of yes or no, logarithms of classes."""
    kept = clamp_probs(probs)
    return torch.log(kept) - torch.log1p(-kept) if is_binary else torch.log(kept)


def probs_of(logits: Operand, is_binary: bool = False) -> Operand:
    """The probabilities of logits."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


class _ByProbability(Distribution):
    """A family of one probability, given itself (`probs`) or by its log odds (`logits`)."""

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _init_probability(
        self, probs: Operand, logits: Operand, validate_args: Flag, **others: Anything
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, value = ("probs", probs) if probs is not None else ("logits", logits)
        self._init(validate_args, **others, **{name: value})

    def __getattr__(self, name: str) -> Anything:
        # The other of the two is computed when it is first asked for.
        if name == "logits" and "probs" in self.__dict__:
            self.__dict__["logits"] = logits_of(self.probs, is_binary=True)
        elif name == "probs" and "logits" in self.__dict__:
            self.__dict__["probs"] = probs_of(self.logits, is_binary=True)
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.__dict__[name]

    @property
    def _param(self) -> Operand:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def param_shape(self) -> ShapeLike:
        return self._param.size()


class Bernoulli(_ByProbability):
    """Yes (1) with a probability, else no (0)."""

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Operand = None, logits: Operand = None, validate_args: Flag = None) -> None:
        self._init_probability(probs, logits, validate_args)

    @property
    def mean(self) -> Operand:
        return self.probs

    @property
    def mode(self) -> Operand:
        found = (self.probs >= 0.5).to(self.probs)
        return torch.where(self.probs == 0.5, torch.full_like(found, math.nan), found)

    @property
    def variance(self) -> Operand:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Operand:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Operand:
        return _enumerated(torch.arange(2, dtype=self._param.dtype), self._batch_shape, expand)


def _enumerated(values: Operand, batch_shape: ShapeLike, expand: bool) -> Operand:
    values = values.view((-1, *[1] * len(batch_shape)))
    return values.expand((-1, *batch_shape)) if expand else values


class Geometric(_ByProbability):
    """The number of failures before the first success."""

    support = constraints.nonnegative_integer

    def __init__(self, probs: Operand = None, logits: Operand = None, validate_args: Flag = None) -> None:
        self._init_probability(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(f"Expected parameter probs of distribution {self!r} to be positive")

    @property
    def mean(self) -> Operand:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Operand:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Operand:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = self.probs.new_empty(shape).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Operand) -> Operand:
        value, probs = broadcast_all(self._checked(value), self.probs)
        probs = torch.where((probs == 1) & (value == 0), torch.zeros_like(probs), probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Operand:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Binomial(_ByProbability):
    """The number of successes among `total_count` trials."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        **_ByProbability.arg_constraints,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Operand = 1,
        probs: Operand = None,
        logits: Operand = None,
        validate_args: Flag = None,
    ) -> None:
        self._init_probability(probs, logits, validate_args, total_count=total_count)
        self.total_count: Any = self.__dict__["total_count"].type_as(self._param)

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Anything:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Operand:
        return self.total_count * self.probs

    @property
    def mode(self) -> Operand:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Operand:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = tuple(self._extended_shape(sample_shape))
        n, p = [t.detach().double().expand(shape).numpy() for t in (self.total_count, self.probs)]
        return torch.as_tensor(default_generator.bits.binomial(n, p)).to(self._param.dtype)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        n, logits = self.total_count, self.logits
        chosen = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        # n * log(1 + exp(logits)), without its overflow.
        return value * logits + chosen - n * F.softplus(logits)

    def entropy(self) -> Operand:
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Operand:
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return _enumerated(torch.arange(1 + most, dtype=self._param.dtype), self._batch_shape, expand)


class NegativeBinomial(_ByProbability):
    """The number of successes before `total_count` failures."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Operand, probs: Operand = None, logits: Operand = None, validate_args: Flag = None
    ) -> None:
        self._init_probability(probs, logits, validate_args, total_count=total_count)
        self.total_count: Any = self.__dict__["total_count"].type_as(self._param)

    @property
    def mean(self) -> Operand:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Operand:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Operand:
        return self.mean / torch.sigmoid(-self.logits)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            shape = self._extended_shape(sample_shape)
            rate = standard_gamma(self.total_count.expand(shape)) * self.logits.exp()
            return torch.poisson(rate)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        n = self.total_count
        found = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        norm = -torch.lgamma(n + value) + torch.lgamma(1.0 + value) + torch.lgamma(n)
        return found - norm.masked_fill(n + value == 0.0, 0.0)


class Poisson(ExponentialFamily):
    """The Poisson distribution of counts."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Operand, validate_args: Flag = None) -> None:
        self._init(validate_args, rate=rate)

    @property
    def mean(self) -> Operand:
        return self.rate

    variance = mean

    @property
    def mode(self) -> Operand:
        return self.rate.floor()

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Operand) -> Operand:
        rate, value = broadcast_all(self.rate, self._checked(value))
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class ContinuousBernoulli(_ByProbability):
    """A density on [0, 1] proportional to ``p**x * (1 - p)**(1 - x)`` (Loaiza-Ganem and Cunningham, 2019)."""

    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Operand = None,
        logits: Operand = None,
        lims: Operand = (0.499, 0.501),
        validate_args: Flag = None,
    ) -> None:
        self._lims = lims
        self._init_probability(probs, logits, validate_args)
        if "probs" in self.__dict__:
            self.__dict__["probs"] = clamp_probs(self.probs)

    def _outside(self) -> Operand:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Operand:
        """The probabilities, those near one half (where the formulas divide by zero) moved away."""
        return torch.where(self._outside(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _log_norm(self) -> Operand:
        cut = self._cut()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        sizes = torch.where(cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        found = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - sizes
        x = (self.probs - 0.5).pow(2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._outside(), found, series)

    @property
    def mean(self) -> Operand:
        cut = self._cut()
        found = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return torch.where(self._outside(), found, series)

    @property
    def stddev(self) -> Operand:
        return torch.sqrt(self.variance)

    @property
    def variance(self) -> Operand:
        cut = self._cut()
        found = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / (torch.log1p(-cut) - torch.log(cut)).pow(
            2
        )
        x = (self.probs - 0.5).pow(2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(self._outside(), found, series)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_norm()

    def cdf(self, value: Operand) -> Operand:
        value = self._checked(value)
        cut = self._cut()
        found = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        found = torch.where(self._outside(), found, value)
        found = torch.where(value <= 0.0, torch.zeros_like(found), found)
        return torch.where(value >= 1.0, torch.ones_like(found), found)

    def icdf(self, value: Operand) -> Operand:
        cut = self._cut()
        found = (torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)) / (
            torch.log(cut) - torch.log1p(-cut)
        )
        return torch.where(self._outside(), found, value)

    def entropy(self) -> Operand:
        zero, one = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (zero - one) - self._log_norm() - zero
