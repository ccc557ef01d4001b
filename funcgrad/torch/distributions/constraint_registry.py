"""Transforms from unconstrained numbers to where a constraint holds.

`biject_to` gives bijections; `transform_to` gives maps that need not be, and are cheaper or better behaved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.distributions import constraints, transforms
from funcgrad.torch.distributions.constraints import Constraint
from funcgrad.types import Anything

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Makes transforms by the kind of a constraint.

    >>> biject_to(constraints.unit_interval)
    SigmoidTransform()
    """

    def __init__(self) -> None:
        self._makers: dict[Any, Callable[[Any], Any]] = {}

    def register(self, constraint: Anything, factory: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Register a function from a constraint to a transform, for a constraint or a class of them."""
        if factory is None:
            return lambda made: self.register(constraint, made)
        self._makers[_key(constraint)] = factory
        return factory

    def __call__(self, constraint: Anything) -> Anything:
        for key in (_key(constraint), type(constraint)):
            if key in self._makers:
                return self._makers[key](constraint)
        raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


def _key(constraint: Anything) -> Anything:
    """Constraints without parameters by their name, the others by their class."""
    if isinstance(constraint, type):
        return constraint
    name = getattr(constraint, "name", None)
    return name if name is not None else type(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()
_BOTH = (biject_to, transform_to)


def _from_below(constraint: Anything) -> Anything:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


def _from_above(constraint: Anything) -> Anything:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _between(constraint: Anything) -> Anything:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, float | int) and isinstance(high, float | int) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


def _independently(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    def make(constraint: Anything) -> Anything:
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    return make


def _in_pieces(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    def make(constraint: Anything) -> Anything:
        parts = [registry(c) for c in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    return make


def _in_entries(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    def make(constraint: Anything) -> Anything:
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)

    return make


def _always(made: Callable[[], Any]) -> Callable[[Any], Any]:
    def make(constraint: Constraint) -> Anything:
        return made()

    return make


for _registry in _BOTH:
    _registry.register(constraints.real, _always(lambda: transforms.identity_transform))
    _registry.register(constraints.greater_than, _from_below)
    _registry.register(constraints.greater_than_eq, _from_below)
    _registry.register(constraints.less_than, _from_above)
    _registry.register(constraints.interval, _between)
    _registry.register(constraints.half_open_interval, _between)
    _registry.register(constraints.independent, _independently(_registry))
    _registry.register(constraints.cat, _in_pieces(_registry))
    _registry.register(constraints.stack, _in_entries(_registry))
    _registry.register(constraints.lower_cholesky, _always(transforms.LowerCholeskyTransform))
    _registry.register(constraints.corr_cholesky, _always(transforms.CorrCholeskyTransform))
    _registry.register(constraints.positive_definite, _always(transforms.PositiveDefiniteTransform))
    _registry.register(constraints.positive_semidefinite, _always(transforms.PositiveDefiniteTransform))
biject_to.register(constraints.simplex, _always(transforms.StickBreakingTransform))
transform_to.register(constraints.simplex, _always(transforms.SoftmaxTransform))
