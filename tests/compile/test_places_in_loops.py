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


def summed_between(x, ends):
    """Elements from one place to another, which is how rows of sparse matrices are read."""
    total, y = 0.0, x.copy()
    for r in range(ends.shape[0] - 1):
        for e in range(ends[r], ends[r + 1]):
            y[e] = y[e] * x[r - 3] + 0.5
            total += y[e] * x[e - 1]
    return total + np.sum(y)


def summed_down(x, ends):
    """The same backwards, and from the other end."""
    total, y = 0.0, x.copy()
    for r in range(ends.shape[0] - 1):
        for e in range(ends[r + 1] - 1, ends[r] - 1, -1):
            y[e] = y[e] * x[2 - e] + 0.5
            total += y[e] * x[e]
    return total + np.sum(y)


BETWEEN = pytest.mark.parametrize("program", [summed_between, summed_down])


def in_python(program, x, ends):
    """What Python makes of it, or its error."""
    try:
        return program(x, ends)
    except IndexError as error:
        return str(error)


@BETWEEN
@pytest.mark.parametrize(
    "ends",
    [(0, 2, 2, 5), (-6, -2, 3, 1), (-4, 3, -3, 5), (2, -3, 6, 6), (-6, 6, 2, 5), (4, 1, 7, 0), (-7, 0, 1, 1)],
)
def test_loops_from_place_to_place_read_what_python_reads(program, ends):
    places = np.array(ends)
    expected = in_python(program, ARRAY, places)
    both = fg.jit(fg.value_and_grad(program))
    if isinstance(expected, str):
        for function in (fg.jit(program), both):
            with pytest.raises(IndexError, match=expected):
                function(ARRAY, places)
        return
    assert fg.jit(program)(ARRAY, places) == pytest.approx(expected, rel=1e-13)
    value, slope = both(ARRAY, places)
    direction = np.cos(np.arange(6.0))
    shifted = [program(ARRAY + h * direction, places) for h in (1e-6, -1e-6)]
    assert value == pytest.approx(expected, rel=1e-13)
    assert slope @ direction == pytest.approx((shifted[0] - shifted[1]) / 2e-6, rel=1e-6, abs=1e-7)


@BETWEEN
@pytest.mark.parametrize("ends", [(2**62, 2**62 + 2), (-(2**63), 3 - 2**63), (2**63 - 3, 2**63 - 1)])
def test_loops_from_far_away_are_errors(program, ends):
    with pytest.raises(IndexError):
        fg.jit(program)(ARRAY, np.array(ends))


@BETWEEN
def test_loops_from_place_to_place_look_at_no_place_in_their_trips(program):
    source = fg.jit(program).kernel_source(ARRAY, np.array([0, 2, 2, 5]))
    inner = source.split("for t2 in ")[1].split("budget =")[0]
    assert "failed" not in inner


def test_a_loop_asks_for_nothing_that_only_a_branch_reads():
    """The index is out of bounds in trips that do not come to it."""

    def guarded_run(x, stop):
        total = 0.0
        for k in range(stop[0]):
            if k < 6:
                total += x[k] * x[k]
        return total

    function = fg.jit(fg.value_and_grad(guarded_run))
    value, slope = function(ARRAY, np.array([9]))
    assert value == pytest.approx(ARRAY @ ARRAY, rel=1e-14)
    np.testing.assert_allclose(slope, 2 * ARRAY, rtol=1e-14)
    lines = function.kernel_source(ARRAY, np.array([9])).splitlines()
    raised = [line for line in lines if "failed[0] = 1" in line]
    assert raised
    assert all(line.startswith(" " * 24) for line in raised)
