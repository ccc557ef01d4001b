"""autograd's three optimisers: simple loops, called with a gradient of parameters and the iteration's number.

Formulas: momentum as in I. Sutskever et al. (2013), RMSProp as in G. Hinton's lectures (2012), Adam as in
D. Kingma and J. Ba, "Adam: a method for stochastic optimization" (2015).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad import numpy as np
from funcgrad.compat.autograd.misc.flatten import flatten
from funcgrad.types import Anything, Array, ArrayLike, Tree


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """An optimiser of vectors as one of containers of arrays."""

    @functools.wraps(optimize)
    def optimizing(
        grad: Callable[..., Any],
        x0: Tree,
        callback: Callable[..., Any] | None = None,
        *args: Tree,
        **kwargs: Tree,
    ) -> Tree:
        vector, unflatten = flatten(x0)

        def flat_grad(x: Array, i: int) -> Array:
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x: Array, i: int, g: Array) -> None:
            if callback:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(flat_grad, vector, flat_callback, *args, **kwargs))

    return optimizing


@unflatten_optimizer
def sgd(
    grad: Callable[..., Any],
    x: ArrayLike,
    callback: Anything = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Array:
    """Stochastic gradient descent with momentum.

    >>> print(sgd(lambda x, i: 2 * x, np.ones(2), num_iters=500).round(6))
    [-0. -0.]
    """
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Callable[..., Any],
    x: ArrayLike,
    callback: Anything = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Array:
    """Steps divided by the root of a running mean of squared gradients."""
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        mean_square = gamma * mean_square + (1.0 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Callable[..., Any],
    x: ArrayLike,
    callback: Anything = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Array:
    """Steps by running means of gradients and of their squares."""
    mean, square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        mean = (1.0 - b1) * g + b1 * mean
        square = (1.0 - b2) * g**2 + b2 * square
        unbiased = mean / (1.0 - b1 ** (i + 1)), square / (1.0 - b2 ** (i + 1))
        x = x - step_size * unbiased[0] / (np.sqrt(unbiased[1]) + eps)
    return x
