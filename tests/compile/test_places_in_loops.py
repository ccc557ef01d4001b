"""Indices that loops over elements read from arrays: from the end, out of bounds, looked at once."""

import numpy as np
import pytest

import funcgrad as fg

ARRAY = np.random.default_rng(0).random(6)


def picked(x, places):
    """Reads at places that are written afterwards."""
    y = x.copy()
    for k in range(places.shape[0]):
        y[places[k]] = y[places[k]] * x[k] + 1.0
    return np.sum(y * y)


def guarded(x, places):
    """Reads behind a condition, and again in the branch."""
    total = 0.0
    for k in range(places.shape[0]):
        here = x[places[k]]
        if places[k] > -7:
            total += here * x[places[k]] * x[places[k] - 1]
    return total


@pytest.mark.parametrize("program", [picked, guarded])
@pytest.mark.parametrize("last", [0, 5, -1, -5])
def test_places_within_bounds(program, last):
    places = np.array([2, 1, -2, 4, 2, last])
    value, slope = fg.jit(fg.value_and_grad(program))(ARRAY, places)
    assert value == pytest.approx(program(ARRAY, places), rel=1e-14)
    direction = np.cos(np.arange(6.0))
    shifted = [program(ARRAY + h * direction, places) for h in (1e-6, -1e-6)]
    assert slope @ direction == pytest.approx((shifted[0] - shifted[1]) / 2e-6, rel=1e-7)


@pytest.mark.parametrize("differentiated", [False, True])
@pytest.mark.parametrize("program", [picked, guarded])
@pytest.mark.parametrize("last", [6, -7, 2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_places_out_of_bounds_are_errors(program, last, differentiated):
    places = np.array([2, 1, -2, 4, 2, last])
    function = fg.jit(fg.grad(program) if differentiated else program)
    with pytest.raises(IndexError, match=f"index {last} is out of bounds for axis 0 with size 6"):
        function(ARRAY, places)


def test_the_least_place_is_the_first_element():
    x, places = ARRAY, np.array([-6, -6, 5, -6, 5, 5])
    assert fg.jit(picked)(x, places) == pytest.approx(picked(x, places), rel=1e-14)


@pytest.mark.parametrize("program", [picked, guarded])
def test_a_place_is_looked_at_once(program):
    source = fg.jit(program).kernel_source(ARRAY, np.array([2, 1, -2, 4, 2, 1]))
    assert source.count("failed[0] = 1") == (1 if program is picked else 2)
