"""The laws on whole random functions, drawn by Hypothesis as source (see `lawbook.random_functions`)."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lawbook import identities as laws
from lawbook.numerics import (
    as_dtype,
    assert_close,
    assert_near,
    direction_like,
    numerical_derivative,
    pairing,
    snapshot,
)
from lawbook.random_functions import RandomFunction, functions

import funcgrad as fg
from funcgrad.api.calling.calls import CACHE

# A traced function computes what NumPy computes, and NumPy may warn of what it computes.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ANY = st.one_of(functions("f"), functions("c"))
STRAIGHT_OR_BRANCHING = st.one_of(functions("f"), functions("c"), functions("f", branches=True))
# Where an argument is not mapped, what is computed from it alone is a real array: no tracer fits into it.
WITHOUT_WRITES = st.one_of(functions("f", writes=False), functions("c", writes=False))
SMALL = st.one_of(functions("f", most=7), functions("c", most=7))

STEPS = (2.0**-10, 2.0**-13, 2.0**-16, 2.0**-7)
TOLERANCE = 1e-6


def directions(values: Sequence[Any], seed: int = 0) -> list[Any]:
    """A random tangent for every value."""
    rng = np.random.default_rng(seed)
    return [direction_like(rng, x) for x in values]


def assert_is_derivative(
    seen: Any, function: Callable[..., Any], args: Sequence[Any], along: Sequence[Any]
) -> None:
    """`seen` is the derivative of a function of arrays along a direction, at one step size at least.

    A kink near the arguments is on one side of them for the smallest step.
    """
    wanted = [numerical_derivative(lambda *xs: (function(*xs),), args, along, step)[0] for step in STEPS]
    scale = max(1.0, float(np.max(np.abs(seen), initial=0.0)))
    errors = [float(np.max(np.abs(seen - w), initial=0.0)) for w in wanted]
    assert min(errors) <= TOLERANCE * scale, f"derivative {seen}, difference quotients {wanted}"


def all_arguments(f: RandomFunction) -> tuple[int, ...]:
    return tuple(range(len(f.args)))


def assert_same_results(ours: Any, theirs: Any, tolerance: float | None = None) -> None:
    for x, y in zip(fg.tree.leaves(ours), fg.tree.leaves(theirs), strict=True):
        assert_close(x, y, tolerance)


# -- values ------------------------------------------------------------------------------------


@given(STRAIGHT_OR_BRANCHING)
def test_traced_values_are_numpys(f: RandomFunction) -> None:
    expected = f.function(*f.args)
    before = snapshot(f.args)
    assert_same_results(fg.vjp(f.function, *f.args)[0], expected)
    assert_same_results(fg.jvp(f.function, f.args, directions(f.args))[0], expected)
    assert snapshot(f.args) == before, "an argument was modified"


@given(ANY)
def test_program_is_the_function(f: RandomFunction) -> None:
    program = fg.make_program(f.function)(*f.args)
    assert_same_results(program(*f.args), f.function(*f.args))
    assert_same_results(program(*f.args), f.function(*f.args))
    laws.values_of(program, f.args)
    laws.assert_text_is_the_program(program)
    laws.assert_numpy_source_runs(program, f.args)
    laws.assert_inputs_untouched(program, f.args)
    assert pickle.loads(pickle.dumps(program)) == program


@given(STRAIGHT_OR_BRANCHING)
def test_second_call_is_the_first(f: RandomFunction) -> None:
    slope = fg.grad(f.loss, all_arguments(f))
    first = slope(*f.args)
    misses = CACHE.misses
    assert_same_results(slope(*f.args), first)
    assert misses == CACHE.misses, "the second call transformed something"


# -- derivatives -------------------------------------------------------------------------------


@given(STRAIGHT_OR_BRANCHING)
def test_gradient_is_a_difference_quotient(f: RandomFunction) -> None:
    slopes = fg.grad(f.loss, all_arguments(f))(*f.args)
    along = directions(f.args)
    assert_is_derivative(pairing(slopes, along), f.loss, f.args, along)


@given(STRAIGHT_OR_BRANCHING)
def test_jvp_vjp_and_linearize_agree(f: RandomFunction) -> None:
    along = directions(f.args)
    outs, dots = fg.jvp(f.function, f.args, along)
    bars = directions(outs, 1)
    _, pullback = fg.vjp(f.function, *f.args)
    assert_near(pairing(pullback(tuple(bars)), along), pairing(bars, dots), 1e-8)
    assert_same_results(fg.linearize(f.function, *f.args)[1](*along), dots, 1e-9)


@given(SMALL)
def test_gradient_of_gradient_is_a_difference_quotient(f: RandomFunction) -> None:
    along, weights = directions(f.args), directions(f.args, 1)

    def slope_along(*args: Any) -> Any:
        slopes = fg.grad(f.loss, all_arguments(f))(*args)
        return sum((np.sum(np.real(s * w)) for s, w in zip(slopes, weights, strict=True)), 0.0)

    second = fg.grad(slope_along, all_arguments(f))(*f.args)
    assert_is_derivative(pairing(second, along), slope_along, f.args, along)
    _, forward = fg.jvp(slope_along, f.args, along)
    assert_near(forward, pairing(second, along), 1e-8)


@given(ANY)
def test_checkpointed_gradient_is_the_gradient(f: RandomFunction) -> None:
    expected = fg.grad(f.loss, all_arguments(f))(*f.args)
    assert_same_results(fg.grad(fg.checkpoint(f.loss), all_arguments(f))(*f.args), expected, 1e-9)


@given(ANY)
def test_transformed_programs_obey_the_laws(f: RandomFunction) -> None:
    program = fg.make_program(f.function)(*f.args)
    rng = np.random.default_rng(2)
    active = laws.active_inputs(f.args)
    laws.assert_vjp_is_transposed_jvp(program, f.args, rng, active, 1e-8)
    pullback = laws.pullback_program(program, active)
    values = [*f.args, *laws.cotangents_for(rng, pullback, len(f.args))]
    laws.assert_text_is_the_program(pullback)
    laws.assert_numpy_source_runs(pullback, values)
    laws.assert_simplified_is_equal(pullback, values)


# -- batching ----------------------------------------------------------------------------------


def batches_of(f: RandomFunction, size: int) -> list[Any]:
    """Examples near the arguments, stacked."""
    return [np.stack([x + 0.01 * k for k in range(size)]) for x in f.args]


def example(batches: Sequence[Any], k: int) -> list[Any]:
    return [as_dtype(batch[k], batch.dtype) for batch in batches]


def assert_is_loop(mapped: Any, function: Callable[..., Any], batches: Sequence[Any], size: int) -> None:
    singles = [fg.tree.leaves(function(*example(batches, k))) for k in range(size)]
    for found, *parts in zip(fg.tree.leaves(mapped), *singles, strict=True):
        assert_close(found, np.stack(parts), 1e-9)


@given(ANY, st.sampled_from([2, 3, 1]))
def test_vmap_is_a_loop(f: RandomFunction, size: int) -> None:
    batches = batches_of(f, size)
    assert_is_loop(fg.vmap(f.function)(*batches), f.function, batches, size)


@given(WITHOUT_WRITES, st.data())
def test_vmap_over_some_arguments_is_a_loop(f: RandomFunction, data: st.DataObject) -> None:
    axes = [
        data.draw(st.integers(-1 - np.ndim(x), np.ndim(x))) if k == 0 or data.draw(st.booleans()) else None
        for k, x in enumerate(f.args)
    ]
    batches = batches_of(f, 2)
    given_args = [
        batch[0] if axis is None else np.moveaxis(batch, 0, axis)
        for batch, axis in zip(batches, axes, strict=True)
    ]
    same = [np.stack([b[0], b[0]]) if axis is None else b for b, axis in zip(batches, axes, strict=True)]
    assert_is_loop(fg.vmap(f.function, in_axes=tuple(axes))(*given_args), f.function, same, 2)


@given(SMALL)
def test_vmap_of_gradient_is_a_loop(f: RandomFunction) -> None:
    slope = fg.grad(f.loss, all_arguments(f))
    batches = batches_of(f, 2)
    assert_is_loop(fg.vmap(slope)(*batches), slope, batches, 2)


@given(SMALL)
def test_gradient_of_vmap_is_the_sum_over_the_loop(f: RandomFunction) -> None:
    batches = batches_of(f, 2)
    slopes = fg.grad(lambda *xs: np.sum(fg.vmap(f.loss)(*xs)), all_arguments(f))(*batches)
    assert_is_loop(slopes, fg.grad(f.loss, all_arguments(f)), batches, 2)


# -- single precision --------------------------------------------------------------------------


@given(functions("f", most=8))
def test_single_precision_stays_and_is_near(f: RandomFunction) -> None:
    args = [as_dtype(x, np.dtype(np.float32)) for x in f.args]
    value, slopes = fg.value_and_grad(f.loss, all_arguments(f))(*args)
    for x, slope in zip(args, slopes, strict=True):
        assert_close(slope, as_dtype(slope, np.dtype(np.float32)))
        assert np.shape(slope) == np.shape(x)
    expected = f.loss(*args)
    assert_near(value, expected, 1e-3)
