"""An index beyond the end of an array takes the way of the user's handler, however it is run."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

Function = Callable[[Any], Any]


def of_an_argument(x: Any) -> Any:
    try:
        return x[int(x[0])] * 2.0
    except IndexError:
        return x[1] * 10.0


def of_an_array_made_inside(x: Any) -> Any:
    table = np.arange(4.0)
    place = x.argmax() + 2
    try:
        return table[place] * x[0]
    except IndexError:
        return x[1] * 10.0


TABLE = np.arange(4.0)


def of_an_outer_array(x: Any) -> Any:
    try:
        return TABLE[int(x[0])] * x[0]
    except IndexError:
        return x[1] * 10.0


def by_take(x: Any) -> Any:
    try:
        return np.take(x, int(x[0])) * 2.0
    except LookupError:
        return x[1] * 10.0


def by_an_array_of_indices(x: Any) -> Any:
    places = np.array([0, int(x[0])])
    try:
        return x[places].sum() * 2.0
    except Exception:  # noqa: BLE001 - as people write it
        return x[1] * 10.0


def beside_a_window(x: Any) -> Any:
    rows = np.stack([x, 2.0 * x, x * x])
    try:
        return rows[int(x[0]), int(x[2]) - 3 : int(x[2]) - 1].sum()
    except IndexError:
        return x[1] * 10.0


def written(x: Any) -> Any:
    z = np.zeros(3)
    try:
        z[int(x[0])] = x[1]
    except (IndexError, ValueError):
        z[0] = x[2]
    return z.sum() + z[0]


def in_a_helper(x: Any) -> Any:
    def at(i: int) -> Any:
        return x[i]

    try:
        return at(int(x[0])) * 2.0
    except IndexError:
        return x[1] * 10.0


def suppressed(x: Any) -> Any:
    found = x[2] * 3.0
    with contextlib.suppress(IndexError):
        found = x[int(x[0])] * 2.0
    return found


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(5):
        try:
            total = total + x[int(x[0]) + k] ** 2
        except IndexError:
            total = total + x[1]
    return total


def around_a_loop(x: Any) -> Any:
    total = 0.0
    try:
        for k in range(40):
            total = total + x[int(x[0]) + k // 20] ** 2
    except IndexError:
        return total * 3.0
    return total


def of_a_list_around_a_loop(x: Any) -> Any:
    weights, total = [float(k) for k in range(40)], 0.0
    try:
        for k in range(39):
            total = total + weights[k + int(x[0])] * x[1]
    except IndexError:
        return total + x[2] ** 2
    return total


def until_it_raises(x: Any) -> Any:
    total, k = 0.0, 0
    try:
        while x[k] < 1e9:
            total = total + x[k] ** 2
            k += 1
    except IndexError:
        pass
    return total


CASES = [
    of_an_argument,
    of_an_array_made_inside,
    of_an_outer_array,
    by_take,
    by_an_array_of_indices,
    beside_a_window,
    written,
    in_a_helper,
    suppressed,
    in_a_loop,
    around_a_loop,
    of_a_list_around_a_loop,
    until_it_raises,
]


@pytest.mark.parametrize("f", CASES)
def test_the_way_of_the_handler_is_taken(f: Function) -> None:
    compiled, batched = fg.jit(fg.grad(f)), fg.vmap(fg.grad(f))
    for first in (0.5, 1.5, 2.5, 7.5, -4.5):
        x = np.array([first, 2.2, 3.4])
        slope = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
        for found in (fg.grad(f)(x), compiled(x), batched(x[None])[0]):
            np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-7)


def test_counters_that_stay_within_are_not_asked() -> None:
    """A handler that waits for anything leaves loops over an array what they are."""

    def f(x: Any) -> Any:
        total = 0.0
        try:
            for i in range(300):
                for j in range(1, 4):
                    total = total + x[i, j] * x[i - 1, j - 1]
        except Exception:  # noqa: BLE001 - as people write it
            return 0.0
        return total

    program = fg.jit(f).program(np.ones((300, 4)))
    assert len(program.equations) < 50


@pytest.fixture
def an_end_of_its_own() -> Iterator[None]:
    """An error after minutes: what is tested would run for ever."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError("a loop that failed runs on")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(300)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no alarm")
@pytest.mark.usefixtures("an_end_of_its_own")
def test_a_while_ends_where_an_index_is_out_of_bounds() -> None:
    """In its condition or its body; what was read instead would let it go on for ever."""

    def by_condition(x: Any) -> Any:
        k, total = 0, 0.0
        while x[k] < 1e9:
            total = total + x[k] ** 2
            k += 1
        return total

    def by_body(x: Any) -> Any:
        k, total = 0, 0.0
        while total < 1e9:
            total = x[k] * 2.0
            k += 1
        return total

    x = np.linspace(0.1, 0.9, 5)
    for f in (by_condition, by_body):
        for way in (fg.jit(f), fg.jit(fg.grad(f)), fg.jit(fg.value_and_grad(f))):
            with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
                way(x)
