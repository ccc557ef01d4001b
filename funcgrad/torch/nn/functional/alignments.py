"""The loss of sequences without an alignment: temporal classification (Graves and others, 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import custom_vjp, stop_gradient
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Anything, Array, ShapeLike

__all__ = ["ctc_loss"]

_NEVER = -1e30
"""The logarithm of a probability of nothing that can still be computed with."""


def _lengths(given: Array) -> np.ndarray[Any, Any]:
    return np.asarray(given._value if isinstance(given, Tensor) else given, np.int64).reshape(-1)


def _rows(targets: Array, lengths: ShapeLike) -> np.ndarray[Any, Any]:
    """The targets, a row each; those that were given one after another are taken apart."""
    values = np.asarray(targets._value)
    if values.ndim == 2:
        return values
    found = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int64)
    at = 0
    for k, n in enumerate(lengths):
        found[k, :n] = values[at : at + n]
        at += n
    return found


@custom_vjp
def _without_slope(log_probs: Array, where: Array) -> Array:
    """Zeros that have no derivative where PyTorch finds none; which no formula of numbers gives."""
    return np.zeros_like(log_probs)


def _without_slope_forward(log_probs: Array, where: Array) -> tuple[Any, Any]:
    return np.zeros_like(log_probs), where


def _without_slope_backward(where: Array, cotangent: Array) -> tuple[Any, None]:
    return np.where(where, np.nan, np.zeros_like(cotangent)), None


_without_slope.defvjp(_without_slope_forward, _without_slope_backward)


@op("CtcLossBackward0", visible=1, param_names=("zero_infinity",))
def _ctc(
    log_probs: Array, labels: Array, times: Anything, ends: Array, may_skip: Array, zero_infinity: bool
) -> Array:
    batch, states = labels.shape
    first = np.arange(states)[None] < np.where(ends[:, None] > 0, 2, 1)
    spoken = np.take_along_axis(log_probs[0], labels, 1)
    alpha = np.where(first, spoken, _NEVER)
    nothing = np.full((batch, 2), _NEVER, log_probs.dtype)
    for t in range(1, log_probs.shape[0]):
        before = np.concatenate([nothing, alpha], 1)
        reached = np.logaddexp(before[:, 2:], before[:, 1:-1])
        reached = np.where(may_skip, np.logaddexp(reached, before[:, :-2]), reached)
        new = np.maximum(reached + np.take_along_axis(log_probs[t], labels, 1), _NEVER)
        alpha = np.where((t < times)[:, None], new, alpha)
    last = np.take_along_axis(alpha, 2 * ends[:, None], 1)[:, 0]
    one_less = np.take_along_axis(alpha, np.maximum(2 * ends[:, None] - 1, 0), 1)[:, 0]
    losses = -np.where(ends > 0, np.logaddexp(last, one_less), last)
    # PyTorch's gradient is that of the scores whose log_softmax is given: what probabilities add up to, less
    # a constant, brings it in.
    heard = np.where(np.arange(log_probs.shape[0])[:, None] < times, np.exp(log_probs).sum(-1), 0.0).sum(0)
    losses = losses + (heard - stop_gradient(heard)).astype(losses.dtype)
    impossible = stop_gradient(losses) > -_NEVER / 10
    losses = np.where(impossible, np.inf, losses)
    if zero_infinity:
        return losses
    unknown = impossible[None, :, None] | (stop_gradient(log_probs) == -np.inf)
    unknown = unknown & (np.arange(log_probs.shape[0])[:, None] < times)[:, :, None]
    return losses + _without_slope(log_probs, unknown).sum((0, 2))


def ctc_loss(
    log_probs: Operand,
    targets: Operand,
    input_lengths: Operand,
    target_lengths: Operand,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Operand:
    """``-log`` of the probability of the targets, over all alignments. `log_probs` is (time, batch, classes).

    >>> from funcgrad import torch
    >>> log_probs = torch.full((2, 1, 2), 0.5).log()
    >>> torch.nn.functional.ctc_loss(log_probs, torch.tensor([[1]]), [2], [1])
    tensor(0.2877)
    """
    single = len(log_probs._value.shape) == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    times, ends = _lengths(input_lengths), _lengths(target_lengths)
    rows = _rows(targets.reshape(1, -1) if single else targets, ends)
    for name, lengths in (("input", times), ("target", ends)):
        if len(lengths) != log_probs._value.shape[1]:
            raise RuntimeError(f"{name}_lengths must be of size batch_size")
    if not 0 <= blank < log_probs._value.shape[2]:
        raise RuntimeError("blank must be in label range")
    if (times > log_probs._value.shape[0]).any():
        raise RuntimeError(
            f"Expected input_lengths to have value at most {log_probs._value.shape[0]}, but got value "
            f"{times.max()} (while checking arguments for ctc_loss_allocate_outputs)"
        )
    if (ends > rows.shape[1]).any():
        raise RuntimeError(
            f"Expected tensor to have size at least {ends.max()} at dimension 1, but got size "
            f"{rows.shape[1]} for argument #2 'targets' "
            "(while checking arguments for ctc_loss_allocate_outputs)"
        )
    labels = np.full((len(rows), 2 * rows.shape[1] + 1), blank, np.int64)
    labels[:, 1::2] = rows
    may_skip = np.zeros(labels.shape, bool)
    may_skip[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    losses = apply(_ctc, (log_probs, labels, times, ends, may_skip), (bool(zero_infinity),))
    if zero_infinity:
        losses = wrap(np.zeros((), losses._value.dtype)).where(losses == float("inf"), losses)
    if single:
        losses = losses.squeeze(0)
    if reduction == "mean":
        counts = np.maximum(ends, 1).astype(log_probs._value.dtype)
        return (losses / (counts[0].item() if single else wrap(counts))).mean()
    return losses.sum() if reduction == "sum" else losses
