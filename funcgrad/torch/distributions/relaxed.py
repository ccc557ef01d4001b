"""Classes, and yes or no, softened by a temperature."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.classes import Categorical
from funcgrad.torch.distributions.composed import TransformedDistribution
from funcgrad.torch.distributions.discrete import clamp_probs, logits_of, probs_of
from funcgrad.torch.distributions.distribution import Distribution, broadcast_all, size_of
from funcgrad.torch.distributions.maps import ExpTransform, SigmoidTransform
from funcgrad.types import Anything, ShapeLike

__all__ = ["RelaxedBernoulli", "RelaxedOneHotCategorical"]

Flag = bool | None


class _LogitRelaxedBernoulli(Distribution):
    """The logit of a relaxed yes or no (Maddison and others, 2017)."""

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Operand, probs: Operand = None, logits: Operand = None, validate_args: Flag = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self.temperature = torch.as_tensor(temperature)
        name, value = ("probs", probs) if probs is not None else ("logits", logits)
        self._init(validate_args, **{name: value})

    def __getattr__(self, name: str) -> Anything:
        if name == "logits" and "probs" in self.__dict__:
            return logits_of(self.probs, is_binary=True)
        if name == "probs" and "logits" in self.__dict__:
            return probs_of(self.logits, is_binary=True)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def expand(self, batch_shape: ShapeLike, _instance: object = None) -> _LogitRelaxedBernoulli:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        for name in ("probs", "logits"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(size_of(batch_shape)))
        new._batch_shape = size_of(batch_shape)
        return new

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Operand) -> Operand:
        logits, value = broadcast_all(self.logits, self._checked(value))
        d = logits - value * self.temperature
        return self.temperature.log() + d - 2 * d.exp().log1p()


class _Relaxed(TransformedDistribution):
    """A distribution that a temperature softens; the parameters are those of its base."""

    has_rsample = True

    @property
    def temperature(self) -> Operand:
        return self.base_dist.temperature

    @property
    def logits(self) -> Operand:
        return self.base_dist.logits

    @property
    def probs(self) -> Operand:
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """A yes or no softened by a temperature."""

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Operand, probs: Operand = None, logits: Operand = None, validate_args: Flag = None
    ) -> None:
        base = _LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class _ExpRelaxedCategorical(Distribution):
    """The logarithm of a relaxed class (Maddison and others, 2017)."""

    arg_constraints = Categorical.arg_constraints
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Operand, probs: Operand = None, logits: Operand = None, validate_args: Flag = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = torch.as_tensor(temperature)
        events = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, events, validate_args=validate_args)

    @property
    def probs(self) -> Operand:
        return self._categorical.probs

    @property
    def logits(self) -> Operand:
        return self._categorical.logits

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        u = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Operand) -> Operand:
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, self._checked(value))
        temperature = self.temperature
        scale = torch.full_like(temperature.to(logits.dtype), float(k)).lgamma() - temperature.log().mul(
            -(k - 1)
        )
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """A one-hot class softened by a temperature."""

    arg_constraints = Categorical.arg_constraints
    support = constraints.simplex

    def __init__(
        self, temperature: Operand, probs: Operand = None, logits: Operand = None, validate_args: Flag = None
    ) -> None:
        base = _ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
