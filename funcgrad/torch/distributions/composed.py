"""Distributions made of others: by a transform, by taking a batch for an event, by mixing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.classes import Categorical
from funcgrad.torch.distributions.constraints import MixtureSameFamilyConstraint, dependent_property
from funcgrad.torch.distributions.distribution import Distribution, size_of
from funcgrad.torch.distributions.joined_maps import ComposeTransform
from funcgrad.torch.distributions.maps import Transform, sum_rightmost
from funcgrad.types import Anything, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.distributions.constraints import Constraint

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]

Flag = bool | None


class Independent(Distribution):
    """A distribution of which the last dimensions of the batch belong to the event."""

    def __init__(
        self, base_distribution: Anything, reinterpreted_batch_ndims: int, validate_args: Flag = None
    ) -> None:
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        events = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = len(shape) - events
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike, _instance: Anything = None) -> Distribution:
        batch_shape = size_of(batch_shape)
        inner = self.event_shape[: self.reinterpreted_batch_ndims]
        return Independent(
            self.base_dist.expand(batch_shape + inner), self.reinterpreted_batch_ndims, self._validate_args
        )

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return bool(self.base_dist.has_rsample)

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return not self.reinterpreted_batch_ndims and bool(self.base_dist.has_enumerate_support)

    @dependent_property
    def support(self) -> Constraint:
        found = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(found, count) if count else found

    @property
    def mean(self) -> Operand:
        return self.base_dist.mean

    @property
    def mode(self) -> Operand:
        return self.base_dist.mode

    @property
    def variance(self) -> Operand:
        return self.base_dist.variance

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Operand) -> Operand:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Operand:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Operand:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """What a transform (or several) makes of a distribution's values."""

    def __init__(self, base_distribution: Anything, transforms: Anything, validate_args: Flag = None) -> None:
        parts = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in parts):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = parts
        whole = ComposeTransform(parts)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got "
                f"{shape}."
            )
        forward = whole.forward_shape(tuple(shape))
        expanded = tuple(whole.inverse_shape(forward))
        if tuple(shape) != expanded:
            batch = expanded[: len(expanded) - len(base_distribution.event_shape)]
            base_distribution = base_distribution.expand(batch)
        missing = whole.domain.event_dim - len(base_distribution.event_shape)
        if missing > 0:
            base_distribution = Independent(base_distribution, missing)
        self.base_dist = base_distribution
        grown = max(len(base_distribution.event_shape) - whole.domain.event_dim, 0)
        event_dim = whole.codomain.event_dim + grown
        cut = len(forward) - event_dim
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    def expand(self, batch_shape: ShapeLike, _instance: Anything = None) -> Self:
        new = type(self).__new__(type(self)) if _instance is None else _instance
        new.__dict__.update(self.__dict__)
        new._batch_shape = size_of(batch_shape)
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*new._batch_shape, *self.event_shape))
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return bool(self.base_dist.has_rsample)

    @dependent_property(is_discrete=False)
    def support(self) -> Anything:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        missing = len(self.event_shape) - found.event_dim
        return constraints.independent(found, missing) if missing > 0 else found

    def _through(self, x: Operand) -> Operand:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Operand) -> Operand:
        y = self._checked(value)
        dims = len(self.event_shape)
        found: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            term = transform.log_abs_det_jacobian(x, y)
            found = found - sum_rightmost(term, dims - transform.domain.event_dim)
            y = x
        return found + sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _flipped(self, value: Operand) -> Operand:
        """Probabilities, turned round where the transforms fall."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Operand) -> Operand:
        value = self._checked(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._flipped(self.base_dist.cdf(value))

    def icdf(self, value: Operand) -> Operand:
        return self._through(self.base_dist.icdf(self._flipped(value)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()" if not self.arg_constraints else Distribution.__repr__(self)


class MixtureSameFamily(Distribution):
    """A mixture: a `Categorical` says from which entry of a batch's last dimension a value is drawn."""

    arg_constraints: ClassVar[Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Anything, component_distribution: Anything, validate_args: Flag = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        batch = component_distribution.batch_shape[:-1]
        self._num_component = component_distribution.batch_shape[-1]
        if mixture_distribution.logits.shape[-1] != self._num_component:
            raise ValueError(
                f"`mixture_distribution component` ({mixture_distribution.logits.shape[-1]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({self._num_component})"
            )
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Operand:
        return self._component_distribution

    @dependent_property
    def support(self) -> MixtureSameFamilyConstraint:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    def expand(self, batch_shape: ShapeLike, _instance: object = None) -> MixtureSameFamily:
        shape = size_of(batch_shape)
        return MixtureSameFamily(
            self._mixture_distribution.expand(shape),
            self._component_distribution.expand((*shape, self._num_component)),
            self._validate_args,
        )

    def _pad(self, x: Operand) -> Operand:
        return x.unsqueeze(-1 - self._event_ndims)

    def _weights(self) -> Operand:
        probs = self._mixture_distribution.probs
        return probs.reshape((*probs.shape, *[1] * self._event_ndims))

    @property
    def mean(self) -> Operand:
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Operand:
        # The law of total variance.
        at = -1 - self._event_ndims
        weights = self._weights()
        within = (weights * self._component_distribution.variance).sum(at)
        around = (weights * (self._component_distribution.mean - self._pad(self.mean)).pow(2.0)).sum(at)
        return within + around

    def cdf(self, value: Operand) -> Operand:
        return (self._component_distribution.cdf(self._pad(value)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Operand) -> Operand:
        found = self._component_distribution.log_prob(self._pad(self._checked(value)))
        return (found + torch.log_softmax(self._mixture_distribution.logits, -1)).logsumexp(-1)

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        with torch.no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            at = len(sample_shape) + len(self.batch_shape)
            index = chosen.reshape((*chosen.shape, *[1] * (self._event_ndims + 1)))
            index = index.expand((*chosen.shape, 1, *self.event_shape))
            return values.gather(at, index).squeeze(at)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
