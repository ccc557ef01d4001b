"""Custom rules, structured loops, random numbers: the types that an editor shows."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias, assert_type

import numpy as np
from numpy.typing import NDArray

import funcgrad as fg

Array: TypeAlias = NDArray[np.float64]


@fg.custom_vjp
def clipped(x: float, limit: float) -> float:
    """`x`, with a gradient that is not larger than `limit`."""
    return x


def clipped_forward(x: float, limit: float) -> tuple[float, float]:
    return x, limit


def clipped_backward(limit: float, x_bar: float) -> tuple[float, None]:
    bar: float = np.clip(x_bar, -limit, limit)
    return bar, None


clipped.defvjp(clipped_forward, clipped_backward)


@fg.custom_jvp
def softplus(x: Array) -> Array:
    """A smooth ramp."""
    return np.logaddexp(x, 0.0)


@softplus.defjvp
def softplus_rule(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (x_dot,) = primals, tangents
    return softplus(x), x_dot / (1.0 + np.exp(-x))


@partial(fg.custom_vjp, nondiff_argnums=(1,))
def power(x: float, n: int) -> float:
    """A power."""
    return x**n


power.defvjp(lambda x, n: (x**n, x), lambda n, x, bar: (bar * n * x ** (n - 1),))


@fg.checkpoint
def layer(x: Array, w: Array) -> Array:
    """A layer whose values are computed again."""
    return np.tanh(x @ w)


def with_rules(x: Array) -> None:
    """A function with a rule keeps its signature."""
    assert_type(clipped(3.0, limit=1.0), float)
    assert_type(softplus(x), Array)
    assert_type(fg.grad(clipped)(3.0, 1.0), float)
    assert_type(layer(x, x), Array)
    assert_type(fg.stop_gradient(x), Array)
    print(power(2.0, 3))


def halved(x: float) -> float:
    return 0.5 * x


def accumulated(total: float, x: float) -> tuple[float, float]:
    return total + x, total * x


def loops(x: Array) -> None:
    """What a loop returns is what its body returns."""
    assert_type(fg.while_loop(lambda x: x > 1.0, halved, 8.0), float)
    assert_type(fg.fori_loop(0, 3, lambda i, x: halved(x), 8.0), float)
    assert_type(fg.scan(accumulated, 0.0, x), tuple[float, Any])
    assert_type(fg.cond(x[0] > 0, halved, halved, 2.0), float)
    assert_type(fg.associative_scan(np.add, x), Array)
    for i in fg.loops.progress(range(3), description="steps"):
        assert_type(i, int)


def samples() -> None:
    """Keys and samples."""
    key, other = fg.random.split(fg.random.key(0))
    noise: Array = fg.random.normal(key, (3,))
    print(noise, fg.random.uniform(other, (2, 2)), fg.numpy.sum(fg.numpy.sin(noise)))


def main() -> None:
    """Run all of it."""
    x = np.linspace(0.1, 1.0, 4).reshape(2, 2)
    with_rules(x)
    loops(x[0])
    samples()
    fg.testing.check_grads(softplus, (x,))
