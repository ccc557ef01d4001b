"""Pauses of the collector: what long ones have made is old when they end; garbage is found all the same."""

import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from funcgrad.collector import MANY, CollectorPaused

pytestmark = pytest.mark.skipif(not hasattr(gc, "freeze"), reason="the collector of CPython's")


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Nothing is frozen, as in a user's process."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


class Node:
    """One end of a cycle."""


def is_young(thing: object) -> bool:
    return any(x is thing for x in gc.get_objects(generation=0))


def test_what_a_long_pause_has_made_is_old_and_garbage_among_it_is_found() -> None:
    for _ in range(6000):  # compilations beside, of earlier tests, pause it as well
        if gc.isenabled():
            break
        time.sleep(0.01)
    with CollectorPaused():
        made = [[k] for k in range(2 * MANY)]
        cycle = Node()
        cycle.itself = cycle  # type: ignore[attr-defined]
        gone = weakref.ref(cycle)
        del cycle
        assert is_young(made)
    assert not is_young(made)
    assert gc.isenabled()
    assert gone() is not None
    gc.collect()
    assert gone() is None


def test_what_is_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with CollectorPaused():
            made = [[k] for k in range(2 * MANY)]
        assert gc.get_freeze_count() == count
        del made
    finally:
        gc.unfreeze()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with CollectorPaused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_short_pause_leaves_what_was_made_before_it() -> None:
    threshold = gc.get_threshold()
    gc.set_threshold(10 * MANY)
    try:
        made = [[k] for k in range(2 * MANY)]
        with CollectorPaused():
            pass
        assert is_young(made)
    finally:
        gc.set_threshold(*threshold)
