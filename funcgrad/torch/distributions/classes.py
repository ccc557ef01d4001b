"""One of several classes, drawn once or often."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.constraints import dependent_property
from funcgrad.torch.distributions.discrete import Binomial, F, Flag, _enumerated, logits_of, probs_of
from funcgrad.torch.distributions.distribution import Distribution, broadcast_all, size_of
from funcgrad.types import Anything, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.distributions.constraints import Constraint

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]


class Categorical(Distribution):
    """One of several classes."""

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Operand = None, logits: Operand = None, validate_args: Flag = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if probs is not None else logits
        if given.dim() < 1:
            name = "probs" if probs is not None else "logits"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.size()[-1]
        super().__init__(given.size()[:-1], validate_args=validate_args)

    def __getattr__(self, name: str) -> Anything:
        if name == "logits" and "probs" in self.__dict__:
            self.__dict__["logits"] = logits_of(self.probs)
        elif name == "probs" and "logits" in self.__dict__:
            self.__dict__["probs"] = probs_of(self.logits)
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.__dict__[name]

    @property
    def _param(self) -> Operand:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Anything:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> ShapeLike:
        return self._param.size()

    @property
    def mean(self) -> Operand:
        return torch.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Operand:
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        sample_shape = size_of(sample_shape)
        with torch.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            found = torch.multinomial(rows, sample_shape.numel(), True).T
        return found.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value).long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Operand:
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Operand:
        return _enumerated(torch.arange(self._num_events, dtype=torch.long), self._batch_shape, expand)


class _OfClasses(Distribution):
    """A family built on a `Categorical`."""

    arg_constraints = Categorical.arg_constraints
    _categorical: Categorical

    @property
    def probs(self) -> Operand:
        return self._categorical.probs

    @property
    def logits(self) -> Operand:
        return self._categorical.logits

    @property
    def param_shape(self) -> ShapeLike:
        return self._categorical.param_shape


class OneHotCategorical(_OfClasses):
    """One of several classes, as a vector with a one."""

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Operand = None, logits: Operand = None, validate_args: Flag = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args
        )

    @property
    def mean(self) -> Operand:
        return self.probs

    @property
    def mode(self) -> Operand:
        return F.one_hot(self.probs.argmax(dim=-1), num_classes=self.event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Operand:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        found = self._categorical.sample(sample_shape)
        return F.one_hot(found, self.event_shape[0]).to(self.probs)

    def log_prob(self, value: Operand) -> Operand:
        return self._categorical.log_prob(self._checked(value).max(-1)[1])

    def entropy(self) -> Operand:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Operand:
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self.probs.dtype).view((n, *[1] * len(self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """As `OneHotCategorical`, with the derivatives of the probabilities for its draws'."""

    has_rsample = True

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfClasses):
    """How often each of several classes is drawn among `total_count`."""

    def __init__(
        self, total_count: int = 1, probs: Operand = None, logits: Operand = None, validate_args: Flag = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args
        )

    @dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Operand:
        return self.probs * self.total_count

    @property
    def variance(self) -> Operand:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        found = self._categorical.sample((self.total_count, *sample_shape))
        return F.one_hot(found, self.event_shape[0]).sum(0).to(self.probs)

    def log_prob(self, value: Operand) -> Operand:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        counts = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        return counts + (logits * value).sum(-1)

    def entropy(self) -> Operand:
        n = self.total_count
        found = n * self._categorical.entropy() - math.lgamma(n + 1)
        counts = torch.arange(n + 1, dtype=self.probs.dtype).view((-1, *[1] * len(self.param_shape)))[1:]
        chances = torch.exp(Binomial(n, probs=self.probs).log_prob(counts))
        return found + (chances * torch.lgamma(counts + 1)).sum([0, -1])
