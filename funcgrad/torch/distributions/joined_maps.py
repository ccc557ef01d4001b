"""Maps made of other maps: one after another, side by side, over events, in another shape."""

from __future__ import annotations

import math
import operator
import weakref
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.maps import Transform, sum_rightmost
from funcgrad.types import Anything, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.distributions.constraints import Constraint

__all__ = [
    "CatTransform",
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "StackTransform",
    "identity_transform",
]


# -- of other maps ----------------------------------------------------------------------------------------


class IndependentTransform(Transform):
    """A map whose last dimensions belong to one event."""

    def __init__(self, base_transform: Anything, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return bool(self.base_transform.bijective)

    @property
    def sign(self) -> Operand:
        return self.base_transform.sign

    def _call(self, x: Operand) -> Operand:
        return self.base_transform(x)

    def _inverse(self, y: Operand) -> Operand:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Another shape for the last dimensions."""

    bijective = True

    def __init__(self, in_shape: ShapeLike, out_shape: ShapeLike, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @constraints.dependent_property
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _batch(self, x: Operand, shape: ShapeLike) -> tuple[int, ...]:
        return tuple(x.shape[: x.dim() - len(shape)])

    def _call(self, x: Operand) -> Operand:
        return x.reshape(self._batch(x, self.in_shape) + tuple(self.out_shape))

    def _inverse(self, y: Operand) -> Operand:
        return y.reshape(self._batch(y, self.out_shape) + tuple(self.in_shape))

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return torch.zeros(self._batch(x, self.in_shape), dtype=x.dtype)

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        return (*shape[: len(shape) - len(self.in_shape)], *self.out_shape)

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        return (*shape[: len(shape) - len(self.out_shape)], *self.in_shape)


class ComposeTransform(Transform):
    """Several maps, one after another."""

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [p.with_cache(cache_size) for p in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        first = self.parts[0].domain
        needed = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            needed = max(needed + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return constraints.independent(first, needed - first.event_dim) if needed > first.event_dim else first

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        last = self.parts[-1].codomain
        given = self.parts[0].domain.event_dim
        for part in self.parts:
            given = max(given + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return constraints.independent(last, given - last.event_dim) if given > last.event_dim else last

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(p.bijective for p in self.parts)

    @property
    def sign(self) -> Operand:
        return reduce(operator.mul, [p.sign for p in self.parts], 1)

    @property
    def inv(self) -> ComposeTransform:
        found = ComposeTransform([p.inv for p in reversed(self.parts)])
        found._inv = weakref.ref(self)
        return found

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Operand) -> Operand:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms = []
        dims = self.domain.event_dim
        for part, before, after in zip(self.parts, values[:-1], values[1:], strict=True):
            terms.append(
                sum_rightmost(part.log_abs_det_jacobian(before, after), dims - part.domain.event_dim)
            )
            dims += part.codomain.event_dim - part.domain.event_dim
        return reduce(operator.add, terms)

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform: ComposeTransform = ComposeTransform([])


class _Pieces(Transform):
    """A map of its own for each piece of a value along a dimension."""

    transforms: list[Any]
    dim: int

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    def _split(self, value: Operand) -> Operand:
        raise NotImplementedError

    def _join(self, parts: Sequence[Any]) -> Operand:
        raise NotImplementedError

    def _call(self, x: Operand) -> Operand:
        return self._join([t(v) for t, v in zip(self.transforms, self._split(x), strict=True)])

    def _inverse(self, y: Operand) -> Operand:
        return self._join([t.inv(v) for t, v in zip(self.transforms, self._split(y), strict=True)])

    def _terms(self, x: Operand, y: Operand) -> list[Any]:
        triples = zip(self.transforms, self._split(x), self._split(y), strict=True)
        return [t.log_abs_det_jacobian(a, b) for t, a, b in triples]


class CatTransform(_Pieces):
    """A map of its own for each piece of a value along a dimension, of given lengths."""

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: ShapeLike = None, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(int(t.event_dim) for t in self.transforms)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _split(self, value: Operand) -> Operand:
        return value.split(self.lengths, self.dim)

    def _join(self, parts: Sequence[Any]) -> Operand:
        return torch.cat(list(parts), self.dim)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        terms = self._terms(x, y)
        most = self.event_dim
        terms = [sum_rightmost(v, most - t.event_dim) for t, v in zip(self.transforms, terms, strict=True)]
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += most
        return torch.cat(terms, dim) if dim < 0 else reduce(operator.add, terms)

    @constraints.dependent_property
    def domain(self) -> Constraint:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Constraint:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Pieces):
    """A map of its own for each entry of a value along a dimension."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        return (
            self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)
        )

    def _split(self, value: Operand) -> Operand:
        return value.unbind(self.dim)

    def _join(self, parts: Sequence[Any]) -> Operand:
        return torch.stack(list(parts), self.dim)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return torch.stack(self._terms(x, y), dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Constraint:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Constraint:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
