"""Gradients made smaller, in place."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.types import Anything, Number

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def gradients_of(parameters: Operand) -> list[Tensor]:
    """The gradients that there are."""
    tensors: Iterable[Tensor] = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p._grad for p in tensors if p._grad is not None]


def get_total_norm(
    tensors: Operand, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of several tensors together."""
    held = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    p = float(norm_type)
    if not held:
        return wrap(np.zeros((), np.float32))
    norms = [np.linalg.norm(t._value.reshape(-1), p) for t in held]
    total = np.linalg.norm(np.stack(norms), p)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {p} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return wrap(total.astype(held[0]._value.dtype))


def scale(tensor: Tensor, factor: Number) -> None:
    """Multiply in place, without history."""
    value = own(tensor)
    np.multiply(value, factor, out=value)
    tensor._version_box[0] += 1


def clip_grads_with_norm_(
    parameters: Operand, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients so that a norm of `total_norm` becomes at most `max_norm`."""
    grads = gradients_of(parameters)
    if not grads:
        return
    dtype = grads[0]._value.dtype.type
    factor = np.minimum(dtype(max_norm) / (total_norm._value.astype(dtype) + dtype(1e-6)), dtype(1.0))
    for grad in grads:
        scale(grad, factor.astype(grad._value.dtype))


def clip_grad_norm_(
    parameters: Operand,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients so that the norm of all of them is at most `max_norm`; returns the norm they had.

    >>> from funcgrad import torch
    >>> w = torch.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_([w], 1.0)
    tensor(10.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    max_norm = float(max_norm)
    total = get_total_norm(gradients_of(held), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(held, max_norm, total)
    return total


def clip_grad_norm(*args: Anything, **kwargs: Anything) -> Tensor:
    """`clip_grad_norm_`, under its old name."""
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Operand, clip_value: float, foreach: bool | None = None) -> None:
    """Clip every element of the gradients to between ``-clip_value`` and ``clip_value``."""
    for grad in gradients_of(parameters):
        value = own(grad)
        np.clip(value, -clip_value, clip_value, out=value)
        grad._version_box[0] += 1
