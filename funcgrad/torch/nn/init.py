"""First values of parameters, set in place without history."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from funcgrad.torch.core.layout import filled_as
from funcgrad.torch.core.meta import is_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.operations.creating.random import Generator, generator_of
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, Number

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: Number = None) -> float:
    """The factor by which first values should be larger before this nonlinearity.

    >>> from funcgrad import torch
    >>> torch.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def put(tensor: Tensor, values: Operand) -> Tensor:
    """Write values into the tensor, without history; returns it."""
    own(tensor)[...] = values
    tensor._version_box[0] += 1
    return tensor


def drawn(name: str, tensor: Tensor, generator: Generator | None = None) -> Array:
    """Numbers of one of PyTorch's distributions in the tensor's shape and dtype, as an array."""
    return FUNCTIONS[name](*tensor._value.shape, dtype=tensor.dtype, generator=generator)._value


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Numbers between `a` and `b`."""
    rng, dtype = generator_of(generator), tensor._value.dtype
    return put(tensor, filled_as(tensor._value, lambda shape: rng.uniform(shape, dtype, a, b)))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers."""
    rng, value = generator_of(generator), tensor._value
    compact = is_meta(tensor) or bool(value.flags.c_contiguous)
    drawn = filled_as(value, lambda shape: rng.normal(shape, value.dtype, contiguous=compact))
    return put(tensor, drawn * std + mean)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers between `a` and `b`, by rejection."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            UserWarning,
            stacklevel=2,
        )
    if is_meta(tensor):
        return tensor
    words, shape, dtype = generator_of(generator), tensor._value.shape, tensor._value.dtype
    below = [math.erf((bound - mean) / (std * math.sqrt(2.0))) / 2 for bound in (a, b)]
    if below[1] - below[0] > 0.3:
        low, high = dtype.type(a), dtype.type(b)
        found = words.normal(shape, dtype) * dtype.type(std) + dtype.type(mean)
        while (outside := (found < low) | (found > high)).any():
            again = words.normal(shape, dtype) * dtype.type(std) + dtype.type(mean)
            found = np.where(outside, again, found)
        return put(tensor, found)
    highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    found, left = np.empty(shape, dtype), np.ones(shape, bool)
    while left.any():
        drawn_now = words.uniform(shape, dtype, a, b)
        found = np.where(left, drawn_now, found)
        log_density = -0.5 * ((drawn_now - mean) / std) ** 2 - highest
        with np.errstate(divide="ignore"):
            left &= np.log(words.uniform(shape, dtype)) > log_density
    return put(tensor, np.clip(found, a, b))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    return put(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return put(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return put(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if len(tensor._value.shape) != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if is_meta(tensor):
        return tensor
    return put(tensor, np.eye(*tensor._value.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A kernel that returns its input channels, as many as there are."""
    shape = tensor._value.shape
    if not 3 <= len(shape) <= 5:
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if is_meta(tensor):
        return tensor
    per_group = shape[0] // groups
    values = np.zeros(shape)
    middle = tuple([n // 2 for n in shape[2:]])
    for g in range(groups):
        for k in range(min(per_group, shape[1])):
            values[(g * per_group + k, k, *middle)] = 1.0
    return put(tensor, values)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many numbers go into one output of a layer with these weights, and out of one input."""
    shape = tensor._value.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


_calculate_fan_in_and_fan_out = fans


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers whose variance is two over the sum of the fans, times the gain squared."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers whose variance is two over the sum of the fans, times the gain squared."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers that keep the variance through rectifiers (He et al., 2015)."""
    if 0 in tensor._value.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers that keep the variance through rectifiers (He et al., 2015)."""
    if 0 in tensor._value.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A matrix with orthonormal rows or columns, whichever are fewer, times the gain."""
    shape = tensor._value.shape
    if len(shape) < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    rows, columns = shape[0], math.prod(shape[1:])
    if is_meta(tensor):
        return tensor
    flat = drawn("randn", tensor, generator).reshape(rows, columns)
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q = q * np.sign(np.diagonal(r))
    return put(tensor, (q.T if rows < columns else q).reshape(shape) * gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal numbers, with a share of every column set to zero."""
    if len(tensor._value.shape) != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if is_meta(tensor):
        return tensor
    rows, columns = tensor._value.shape
    values = drawn("randn", tensor, generator) * std
    zeros = math.ceil(sparsity * rows)
    for column in range(columns):
        values[generator_of(generator).permutation(rows)[:zeros], column] = 0.0
    return put(tensor, values)


def _old_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    name = function.__name__

    def old(*args: Operand, **kwargs: Anything) -> Tensor:
        warnings.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name[:-1]
    old.__doc__ = f"`{name}`, under its old name."
    return old


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
