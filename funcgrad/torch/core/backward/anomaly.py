"""Anomaly mode: which forward operation a failing backward belongs to."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np

from funcgrad.torch.core.backward.history import Node


def note_traceback(node: Node) -> None:
    """Keep the lines that led to this operation."""
    node.more().anomaly = "".join(traceback.format_stack()[:-3])


def warn_of_error(node: Node) -> None:
    """Warn with the forward traceback of the node whose backward failed."""
    text = node.extra.anomaly if node.extra is not None else None
    name = node._name()
    if text is None:
        warnings.warn(
            f"Error detected in {name}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information.",
            UserWarning,
            stacklevel=2,
        )
        return
    warnings.warn(
        f"Error detected in {name}. Traceback of forward call that caused the error:\n{text}",
        UserWarning,
        stacklevel=2,
    )


def require_no_nan(node: Node, grads: list[Any]) -> None:
    """Raise RuntimeError, as PyTorch does, if a gradient of this node has a NaN."""
    for k, g in enumerate(grads):
        value = getattr(g, "_value", g)
        if value is not None and np.isnan(value).any():
            warn_of_error(node)
            raise RuntimeError(f"Function '{node._name()}' returned nan values in its {k}th output.")
