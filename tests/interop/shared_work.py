"""Functions that other processes import."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad as fg


def loss(w: Any, x: Any) -> Any:
    """A smooth function of weights."""
    return np.sum(np.tanh(x @ w) ** 2)


@fg.jit
def compiled_loss(w: Any, x: Any) -> Any:
    """The same, compiled where it is defined."""
    return loss(w, x)


@fg.custom_vjp
def clipped(x: Any) -> Any:
    """The identity, whose backward derivative is clipped."""
    return x


clipped.defvjp(lambda x: (x, None), lambda _, bar: (np.clip(bar, -1.0, 1.0),))
