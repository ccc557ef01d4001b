"""What all distributions share: parameters broadcast and checked, shapes, and validation of values."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.distributions.constraints import is_dependent
from funcgrad.types import Anything, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.core.size import Size

__all__ = ["Distribution", "ExponentialFamily", "broadcast_all", "size_of"]

Tensor = torch.Tensor


def size_of(sizes: ShapeLike) -> Size:
    """A shape as a `torch.Size`."""
    return sizes if isinstance(sizes, torch.Size) else torch.Size(sizes)


def broadcast_all(*values: Operand) -> list[Any]:
    """Tensors and numbers in one shape; numbers take the dtype of the tensors, or the default one."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    options: Any = {} if like is None else {"dtype": like.dtype}
    if like is not None and not like.dtype.is_floating_point:
        options = {}
    tensors = [v if isinstance(v, Tensor) else torch.tensor(float(v), **options) for v in values]
    return list(torch.broadcast_tensors(*tensors))


class Distribution:
    """A probability distribution over events, in batches of independent ones.

    A family gives `arg_constraints`, `support`, `log_prob` and either `rsample` or `sample`. Its constructor
    is `_init` of broadcast parameters where nothing else is said.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[Any] = {}
    support: Any = None
    _validate_args = __debug__

    if TYPE_CHECKING:
        # Parameters, by the names of `arg_constraints`.
        def __getattr__(self, name: str) -> Anything: ...

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked where a constructor does not say."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: ShapeLike = (), event_shape: ShapeLike = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = size_of(batch_shape)
        self._event_shape = size_of(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if is_dependent(constraint) or name not in self.__dict__:
                continue
            value = getattr(self, name)
            if not isinstance(value, Tensor):
                continue
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n{value}"
                )

    def _init(self, validate_args: bool | None, **parameters: Anything) -> None:
        """Broadcast scalar parameters and keep them under their names."""
        numbers = not any(isinstance(v, Tensor) for v in parameters.values())
        values = broadcast_all(*parameters.values())
        for name, value in zip(parameters, values, strict=True):
            setattr(self, name, value)
        shape = torch.Size() if numbers else values[0].size()
        Distribution.__init__(self, shape, validate_args=validate_args)

    # -- shapes ----------------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single event."""
        return self._event_shape

    def _extended_shape(self, sample_shape: ShapeLike = ()) -> ShapeLike:
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _event_dims_of(self, name: str) -> int:
        constraint = self.arg_constraints.get(name)
        return 0 if constraint is None or is_dependent(constraint) else int(constraint.event_dim)

    def expand(self, batch_shape: ShapeLike, _instance: Anything = None) -> Distribution:
        """The distribution with its batch expanded to a shape."""
        new = type(self).__new__(type(self)) if _instance is None else _instance
        shape = size_of(batch_shape)
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor):
                events = tuple(value.shape[len(value.shape) - self._event_dims_of(name) :])
                setattr(new, name, value.expand((*shape, *events)))
            elif isinstance(value, Distribution) and name != "_new":
                setattr(new, name, value.expand((*shape, *value.batch_shape[len(self._batch_shape) :])))
            else:
                setattr(new, name, value)
        new._batch_shape = shape
        return new

    # -- values ----------------------------------------------------------------------------------------

    @property
    def mean(self) -> Operand:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Operand:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Operand:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Operand:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: ShapeLike = ()) -> Operand:
        """Draws, without history."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: ShapeLike = ()) -> Operand:
        """Draws that are differentiable functions of the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Operand:
        """`n` draws; deprecated."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Operand) -> Operand:
        """The logarithm of the density (or probability) at values."""
        raise NotImplementedError

    def cdf(self, value: Operand) -> Operand:
        """The probability of being at most a value."""
        raise NotImplementedError

    def icdf(self, value: Operand) -> Operand:
        """The value that a probability belongs to."""
        raise NotImplementedError

    def entropy(self) -> Operand:
        """The entropy."""
        raise NotImplementedError

    def perplexity(self) -> Operand:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    def enumerate_support(self, expand: bool = True) -> Operand:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def _validate_sample(self, value: Operand) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(value.shape) - len(self._event_shape)
        if value.shape[events:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.size()), reversed(expected), strict=False):
            if i != 1 and j not in (1, i):
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {expected}."
                )
        support = self.support
        assert support is not None
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be "
                f"within the support ({support!r}) of the distribution {self!r}, but found invalid "
                f"values:\n{value}"
            )

    def _checked(self, value: Operand) -> Operand:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            value = self.__dict__.get(name)
            if value is not None:
                plain = isinstance(value, Tensor) and value.numel() == 1
                shown.append(f"{name}: {value if plain or not isinstance(value, Tensor) else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """A family with natural parameters; entropies are the families' own formulas."""
