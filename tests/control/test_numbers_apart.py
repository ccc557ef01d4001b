"""Small vectors that a scan carries are numbers in its step: same values, derivatives as of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.testing import check_grads
from funcgrad.transforms.control.numbers_apart import MOST

DRIVE = np.array([0.3, -0.7, 0.2, 0.9])


def oscillator(state: Any, drive: Any) -> Any:
    """Taken apart and stacked."""
    p, v = state
    return state + 0.1 * np.stack([v, (1.0 - p * p) * v - p + drive]), state[0] - drive


def by_parts(state: Any, drive: Any) -> Any:
    """Parts, joined in another order, scaled by a number of their own dtype, with conditions by elements."""
    first, last = state[:1], state[1:]
    joined = np.concatenate([last, np.sin(first) + drive])
    return np.where(joined > 0.0, joined, 0.5 * joined), joined[::-1]


def written(state: Any, drive: Any) -> Any:
    """Elements replaced and added to; what is written down is the vector."""
    new = np.zeros_like(state)
    new[0] = state[1] * drive
    new[1] += state[0]
    return new * np.array([0.9, 1.1]), new


def with_constants(state: Any, drive: Any) -> Any:
    """Elements of a vector from outside, and the vector itself."""
    scale = np.array([0.5, 0.25])
    return np.array([state[1], np.cos(state[0])]) * scale + scale[0] * drive, np.float64(0.0)


def orbit(state: Any, drive: Any) -> Any:
    """Halves, and the length of one."""
    place, speed = state[:1], state[1:]
    pull = -place / (np.sum(place * place) + drive * drive) ** 1.5
    return state + 0.1 * np.concatenate([speed, pull]), np.sum(state)


STEPS = (orbit, oscillator, by_parts, written, with_constants)


def unrolled(step: Any, state: Any, drive: Any) -> tuple[Any, Any]:
    """The loop, of Python's."""
    rows = []
    for x in drive:
        state, row = step(state, x)
        rows.append(row)
    return state, np.stack(rows)


def loss(loop: Any, step: Any) -> Any:
    """A number of what is carried, unequally, and of what is written down."""

    def function(state: Any, drive: Any) -> Any:
        last, rows = loop(step, state, drive)
        return last[0] ** 2 + 0.3 * last[1] + np.sum(rows**2)

    return function


def scan_of(function: Any, *args: Any) -> Any:
    """The scan in a compiled Program, as it was recorded."""
    [found] = [e for e in fg.jit(function).program(*args).equations if e.primitive.name == "scan"]
    return found.primitive


@pytest.mark.parametrize("step", STEPS)
def test_the_step_is_on_numbers_and_its_values_and_gradients_are_those_of_the_unrolled_loop(
    step: Any,
) -> None:
    x = np.array([0.4, -0.2])
    ours, plain = loss(lax.scan, step), loss(unrolled, step)
    apart = scan_of(ours, x, DRIVE).apart
    assert apart.counts == (2,)
    assert not any(a.shape for a in apart.step.carry_avals)
    for transform in (fg.value_and_grad, fg.jacrev, fg.jacfwd):
        expected = fg.tree.leaves(transform(plain, (0, 1))(x, DRIVE))
        for made in (transform(ours, (0, 1)), fg.jit(transform(ours, (0, 1)))):
            for one, other in zip(fg.tree.leaves(made(x, DRIVE)), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_derivatives_of_every_mode() -> None:
    check_grads(loss(lax.scan, by_parts), (np.array([0.4, -0.2]), DRIVE), order=2)


def test_a_batch_is_that_of_its_examples() -> None:
    states = np.array([[0.4, -0.2], [0.1, 0.3], [-0.5, 0.2]])
    gradient = fg.grad(loss(lax.scan, oscillator))
    expected = np.stack([gradient(x, DRIVE) for x in states])
    for batched in (fg.vmap(gradient, (0, None)), fg.jit(fg.vmap(gradient, (0, None)))):
        np.testing.assert_allclose(batched(states, DRIVE), expected, rtol=1e-12)


def test_what_nothing_is_known_to_reach_stays_zero_beside_an_infinite_derivative() -> None:
    def last(state: Any, drive: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            p, v = state
            return np.stack([0.9 * p + x, np.sqrt(v)]), v

        return lax.scan(step, state, drive)[0][0]

    gradient = fg.grad(last)
    for made in (gradient, fg.jit(gradient)):
        np.testing.assert_allclose(made(np.array([0.3, 0.0]), DRIVE), [0.9**4, 0.0])


def product(state: Any, drive: Any) -> Any:
    """A product of a matrix needs the vector."""
    mixed = np.array([[0.3, 0.2], [0.1, 0.4]]) @ state
    return np.stack([mixed[1], mixed[0] * drive]), drive


def elementwise(state: Any, drive: Any) -> Any:
    """Nothing reads an element: a loop over the vector is shorter."""
    return np.sin(state) + drive, drive


@pytest.mark.parametrize(("step", "size"), [(product, 2), (elementwise, 2), (oscillator, MOST + 1)])
def test_other_vectors_stay_what_they_are(step: Any, size: int) -> None:
    def wide(state: Any, drive: Any) -> Any:
        new, row = step(state[:2], drive)
        return np.concatenate([new, state[2:]]) if size > 2 else new, row

    assert scan_of(loss(lax.scan, wide), np.full(size, 0.3), DRIVE).apart is None


def test_a_sum_of_halves_is_rounded_once() -> None:
    def step(state: Any, _: Any) -> Any:
        x, y, z = state
        return np.stack([y, z, x * np.float16(0.9)]), np.sum(state)

    start = np.array([6.859, 0.269, 5.836], np.float16)
    _, sums = fg.jit(lambda s: fg.scan(step, s, np.arange(4)))(start)
    _, expected = unrolled(step, start, np.arange(4))
    np.testing.assert_array_equal(sums, expected)


def test_a_sum_of_negative_zeros_is_zero() -> None:
    def step(state: Any, _: Any) -> Any:
        return np.stack([state[0], state[1]]), 1.0 / np.sum(state)

    rows = fg.jit(lambda state: lax.scan(step, state, None, length=2)[1])(np.array([-0.0, -0.0]))
    np.testing.assert_array_equal(rows, [np.inf, np.inf])
