"""Losses as the module ``torch`` has them: how elements are reduced is a number there, and 0 if left out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.types import Anything

NUMBERED: dict[str, tuple[str, ...]] = {
    "binary_cross_entropy_with_logits": ("input", "target", "weight", "pos_weight", "reduction"),
    "cosine_embedding_loss": ("input1", "input2", "target", "margin", "reduction"),
    "ctc_loss": (
        "log_probs",
        "targets",
        "input_lengths",
        "target_lengths",
        "blank",
        "reduction",
        "zero_infinity",
    ),
    "hinge_embedding_loss": ("input", "target", "margin", "reduction"),
    "kl_div": ("input", "target", "reduction", "log_target"),
    "margin_ranking_loss": ("input1", "input2", "target", "margin", "reduction"),
    "poisson_nll_loss": ("input", "target", "log_input", "full", "eps", "reduction"),
    "triplet_margin_loss": ("anchor", "positive", "negative", "margin", "p", "eps", "swap", "reduction"),
}
"""The parameters of each in order, which is another one than in ``torch.nn.functional``."""

_REDUCTIONS = ("none", "mean", "sum")


def with_number(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The loss, whose `reduction` is 0 (none, as if left out), 1 (the mean) or 2 (the sum).

    >>> from funcgrad import torch
    >>> torch.kl_div(torch.zeros(2), torch.ones(2)), torch.kl_div(torch.zeros(2), torch.ones(2), 2)
    (tensor([0., 0.]), tensor(0.))
    """
    names = NUMBERED[name]
    own = inspect.signature(f).parameters

    def loss(*args: Operand, **kwargs: Anything) -> Operand:
        given = dict(zip(names, args, strict=False)) | kwargs
        number = given.pop("reduction", 0)
        if isinstance(number, bool) or not isinstance(number, int):
            kind, at = type(number).__name__, names.index("reduction") + 1
            raise TypeError(f"{name}(): argument 'reduction' (position {at}) must be int, not {kind}")
        # Tensors come first in both, under names that may differ.
        tensors = [given.pop(n) for n in names[:3] if n in given and n not in own]
        return f(*tensors, **given, reduction=_REDUCTIONS[number])

    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = f"``torch.nn.functional.{name}``, with a number for `reduction`: 0 if left out."
    return loss
