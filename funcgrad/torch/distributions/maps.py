"""Invertible maps with the logarithm of their Jacobian's determinant, for `TransformedDistribution`."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import Distribution
from funcgrad.types import Anything, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.distributions.constraints import Constraint

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "softplus",
    "sum_rightmost",
]


def sum_rightmost(value: Operand, count: int) -> Operand:
    """The sum over the last dimensions."""
    return value.sum(list(range(-count, 0))) if count else value


class Transform:
    """A map: `_call`, its inverse `_inverse`, and `log_abs_det_jacobian`.

    >>> from funcgrad.torch.distributions import ExpTransform
    >>> ExpTransform().inv(fg.torch.tensor(1.0))
    tensor(0.)
    """

    bijective = False
    domain: Any
    codomain: Any
    _sign: Any = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._kept: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse map."""
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = _Inverse(self)
            self._inv = weakref.ref(found)
        return found

    @property
    def sign(self) -> Operand:
        """Whether the map rises (+1) or falls (-1)."""
        if self._sign is None:
            raise NotImplementedError
        return self._sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The map that remembers its last value and result."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __call__(self, x: Operand) -> Operand:
        if not self._cache_size:
            return self._call(x)
        if self._kept[0] is not x:
            self._kept = (x, self._call(x))
        return self._kept[1]

    def _inv_call(self, y: Operand) -> Operand:
        if not self._cache_size:
            return self._inverse(y)
        if self._kept[1] is not y:
            self._kept = (self._inverse(y), y)
        return self._kept[0]

    def _call(self, x: Operand) -> Operand:
        raise NotImplementedError

    def _inverse(self, y: Operand) -> Operand:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        """``log |dy/dx|`` of each event."""
        raise NotImplementedError

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        """The shape of the results for values of a shape."""
        return shape

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        """The shape of the values that results of a shape come from."""
        return shape

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Anything) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Anything:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Anything:
        return self._inv.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return bool(self._inv.bijective)

    @property
    def sign(self) -> Operand:
        return self._inv.sign

    @property
    def inv(self) -> Anything:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Anything:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Inverse) and bool(self._inv == other._inv)

    __hash__ = Transform.__hash__

    def __call__(self, x: Operand) -> Operand:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class _Simple(Transform):
    """A bijection of numbers that rises, without parameters; equal to others of its class."""

    bijective = True
    domain = constraints.real
    codomain = constraints.real
    _sign = 1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = Transform.__hash__


class ExpTransform(_Simple):
    """``y = exp(x)``."""

    codomain = constraints.positive

    def _call(self, x: Operand) -> Operand:
        return x.exp()

    def _inverse(self, y: Operand) -> Operand:
        return y.log()

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return x


class SigmoidTransform(_Simple):
    """``y = sigmoid(x)``, kept inside of (0, 1)."""

    codomain = constraints.unit_interval

    def _call(self, x: Operand) -> Operand:
        limits = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Operand) -> Operand:
        limits = torch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Simple):
    """``y = log(1 + exp(x))``."""

    codomain = constraints.positive

    def _call(self, x: Operand) -> Operand:
        return softplus(x)

    def _inverse(self, y: Operand) -> Operand:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return -softplus(-x)


class TanhTransform(_Simple):
    """``y = tanh(x)``."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Operand) -> Operand:
        return x.tanh()

    def _inverse(self, y: Operand) -> Operand:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        # log(1 - tanh(x)**2), without its cancellation.
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


def softplus(x: Operand) -> Operand:
    """``log(1 + exp(x))``."""
    return torch.nn.functional.softplus(x)


class AbsTransform(Transform):
    """``y = |x|``, which has no inverse."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Operand) -> Operand:
        return x.abs()

    def _inverse(self, y: Operand) -> Operand:
        return y


class PowerTransform(Transform):
    """``y = x ** exponent`` of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Operand, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, torch.Tensor) else torch.tensor(float(exponent))

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    @property
    def sign(self) -> Operand:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all().item())

    __hash__ = Transform.__hash__

    def _call(self, x: Operand) -> Operand:
        return x.pow(self.exponent)

    def _inverse(self, y: Operand) -> Operand:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        return torch.broadcast_shapes(shape, tuple(self.exponent.shape))

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """``y = loc + scale * x``."""

    bijective = True

    def __init__(self, loc: Operand, scale: Operand, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return (
            constraints.independent(constraints.real, self._event_dim)
            if self._event_dim
            else constraints.real
        )

    codomain = domain

    @property
    def sign(self) -> Operand:
        if isinstance(self.scale, int | float):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and all(
            _equal(getattr(self, name), getattr(other, name)) for name in ("loc", "scale")
        )

    __hash__ = Transform.__hash__

    def _call(self, x: Operand) -> Operand:
        return self.loc + self.scale * x

    def _inverse(self, y: Operand) -> Operand:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        shape = x.shape
        if isinstance(self.scale, int | float):
            found = torch.full_like(x, math.log(abs(self.scale)))
        else:
            found = self.scale.abs().log()
        if self._event_dim:
            found = sum_rightmost(found.expand(shape), self._event_dim)
            shape = shape[: -self._event_dim]
        return found.expand(shape)

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        sizes = [tuple(getattr(v, "shape", ())) for v in (self.loc, self.scale)]
        return torch.broadcast_shapes(shape, *sizes)

    inverse_shape = forward_shape


def _equal(a: Operand, b: Operand) -> bool:
    return bool((torch.as_tensor(a) == torch.as_tensor(b)).all().item())


class SoftmaxTransform(Transform):
    """The softmax of the last dimension; its inverse is the logarithm up to a constant."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Operand) -> Operand:
        return x.softmax(-1)

    def _inverse(self, y: Operand) -> Operand:
        return y.log()


class StickBreakingTransform(Transform):
    """From n numbers to n + 1 that are positive and sum to one, a piece broken off at a time."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    def _offset(self, x: Operand) -> Operand:
        size = x.shape[-1]
        return torch.arange(size, 0, -1, dtype=x.dtype)

    def _call(self, x: Operand) -> Operand:
        z = torch.sigmoid(x - self._offset(x).log())
        left = (1 - z).cumprod(-1)
        pad = torch.nn.functional.pad
        return pad(z, (0, 1), value=1.0) * pad(left, (1, 0), value=1.0)

    def _inverse(self, y: Operand) -> Operand:
        head = y[..., :-1]
        left = (1 - head.cumsum(-1)).clamp(min=torch.finfo(y.dtype).tiny)
        return head.log() - left.log() + self._offset(head).log()

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        x = x - self._offset(x).log()
        return (-x + torch.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: ShapeLike) -> ShapeLike:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: ShapeLike) -> ShapeLike:
        return (*shape[:-1], shape[-1] - 1)


class CumulativeDistributionTransform(Transform):
    """From the values of a distribution to their probabilities."""

    bijective = True
    codomain = constraints.unit_interval
    _sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Anything:
        return self.distribution.support

    def _call(self, x: Operand) -> Operand:
        return self.distribution.cdf(x)

    def _inverse(self, y: Operand) -> Operand:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Operand, y: Operand) -> Operand:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> CumulativeDistributionTransform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size)
