"""What a user writes, and the types that an editor shows for it. Read by type checkers, and run by a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, assert_type

import numpy as np
from numpy.typing import NDArray

import funcgrad as fg

Array: TypeAlias = NDArray[np.float64]


class Params(NamedTuple):
    """A model's weights."""

    w: Array
    b: Array


def square(x: float) -> float:
    return x * x


def loss(params: Params, x: Array, y: Array, *, penalty: float = 0.0) -> np.float64:
    error = x @ params.w + params.b - y
    value: np.float64 = np.sum(error**2) + penalty * np.sum(params.w**2)
    return value


def loss_and_error(params: Params, x: Array, y: Array) -> tuple[np.float64, Array]:
    error = x @ params.w + params.b - y
    return np.sum(error**2), error


def energy(x: Array) -> np.float64:
    return np.sum(x**3)


def residuals(x: Array, t: Array) -> Array:
    out: Array = np.exp(x[0] * t) - x[1]
    return out


def gradients(params: Params, x: Array, y: Array) -> None:
    """A gradient has the type of the argument; the other arguments stay as they are."""
    assert_type(fg.grad(square)(3.0), float)
    assert_type(fg.grad(energy)(x[0]), Array)
    assert_type(fg.grad(loss)(params, x, y, penalty=0.1), Params)
    assert_type(fg.grad(loss_and_error, has_aux=True)(params, x, y), tuple[Params, Array])
    params_bar, x_bar = fg.grad(loss, argnums=(0, 1))(params, x, y)
    assert_type(fg.value_and_grad(loss)(params, x, y), tuple[np.float64, Params])
    assert_type(
        fg.value_and_grad(loss_and_error, has_aux=True)(params, x, y),
        tuple[tuple[np.float64, Array], Params],
    )
    value, gradient = fg.value_and_grad(loss)(params, x, y)
    print(params.w - 0.1 * gradient.w, value)
    second: float = fg.grad(fg.grad(square))(3.0)
    print(second, fg.grad(lambda z: z**2)(3.0), params_bar, x_bar)
    print(fg.value_and_grad(lambda z: z["a"] ** 2)({"a": 3.0}), fg.hessian(lambda z: z["a"] ** 2)({"a": 3.0}))
    print(fg.grad(np.sin)(2.0), fg.jacfwd(np.sin)(x[0]), fg.vmap(np.sin)(x), fg.jit(np.sin)(x))
    print(fg.vjp(lambda a, b: a * b, 2.0, 3.0), fg.jit(lambda z: z + 1.0)(2.0), fg.vmap(lambda z: z + 1.0)(x))


@fg.grad
def slope(x: float, power: int = 2) -> float:
    """The derivative of a power."""
    return x**power


@fg.value_and_grad(argnums=1)
def by_the_second(x: float, y: float) -> float:
    """The product of a number with another's square."""
    return x * y**2


def as_decorators() -> None:
    """What is decorated keeps its arguments."""
    assert_type(slope(3.0, power=3), float)
    value, _ = by_the_second(3.0, 2.0)
    assert_type(value, float)


def directions(x: Array, t: Array) -> None:
    """Forward and reverse mode at a point."""
    out, pullback = fg.vjp(residuals, x, t)
    assert_type(out, Array)
    assert_type(pullback(out), tuple[Array, Array])
    x_bar, t_bar = pullback(np.ones_like(out))
    assert_type(fg.jvp(energy, (x,), (x,)), tuple[np.float64, np.float64])
    value, pushforward = fg.linearize(energy, x)
    assert_type(pushforward(x_bar), np.float64)
    print(value, t_bar, pullback.program)


def second_derivatives(x: Array, t: Array) -> None:
    """Arrays of one array are arrays."""
    assert_type(fg.hessian(energy)(x), Array)
    assert_type(fg.jacobian(residuals)(x, t), Array)
    assert_type(fg.jacfwd(residuals)(x, t), Array)
    print(fg.hvp(energy, (x,), (x,)))


@fg.jit
def step(params: Params, x: Array, y: Array, rate: float = 0.1) -> Params:
    """A step of gradient descent."""
    found = fg.grad(loss)(params, x, y)
    return Params(params.w - rate * found.w, params.b - rate * found.b)


@fg.jit(static_argnums=1)
def power_sum(x: Array, power: int) -> np.float64:
    """The sum of powers."""
    value: np.float64 = np.sum(x**power)
    return value


class Model:
    """A jitted method is a method."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    @fg.jit(static_argnums=0)
    def predict(self, params: Params, x: Array) -> Array:
        """The prediction."""
        return x @ params.w * self.rate + params.b

    @fg.jit(static_argnums=0)
    def twice(self, x: Array) -> Array:
        """Twice that."""
        return 2.0 * self.rate * x


def compiled(params: Params, x: Array, y: Array) -> None:
    """Compiled functions keep their signature, and say what they became."""
    assert_type(step(params, x, y, rate=0.2), Params)
    assert_type(power_sum(x, 3), np.float64)
    assert_type(Model(0.5).twice(x), Array)
    print(step.kernel_source(params, x, y), step.program(params, x, y).equations)
    assert_type(Model(0.5).predict(params, x), Array)
    both: Callable[[Params, Array, Array], tuple[np.float64, Params]] = fg.jit(fg.value_and_grad(loss))
    print(both(params, x, y))


def batched(x: Array) -> None:
    """Over a batch, numbers are arrays."""
    assert_type(fg.vmap(energy)(x), NDArray[Any])
    assert_type(fg.vmap(residuals, in_axes=(0, None))(x, x[0]), Array)
    assert_type(fg.vmap(fg.grad(energy))(x), Array)


def inspected(params: Params, x: Array, y: Array) -> None:
    """Programs, reports and profiles."""
    assert_type(fg.make_program(loss)(params, x, y), fg.Program)
    for line in fg.profile(loss, seconds=0.001)(params, x, y).by_line():
        print(line.text, line.seconds)
    print(fg.explain(loss)(params, x, y).run_seconds)


def main() -> None:
    """Run all of it."""
    x = np.linspace(0.0, 1.0, 12).reshape(4, 3)
    params = Params(np.ones(3), np.zeros(()))
    y = np.ones(4)
    gradients(params, x, y)
    as_decorators()
    directions(np.array([0.5, 2.0]), y)
    second_derivatives(np.array([0.5, 2.0]), y)
    compiled(params, x, y)
    batched(x)
    inspected(params, x, y)
