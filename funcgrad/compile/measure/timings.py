"""Times of parts of a run: where the clock was read, how often, and what of it is the clock's own.

Owns the arithmetic from readings to seconds. What is measured, equations or steps of kernels, and how, is
said by `timed_evaluation` and `timed_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

WARM_UP = 2
FEWEST, MOST = 5, 1000
BATCH = 4
"""Runs that follow one another before the other form has its turn."""

SHORTEST = 2e-5
"""Seconds that a sample of a call takes at least; shorter calls are repeated."""


@dataclass(eq=False)
class Place:
    """Something whose time is taken, with the places inside it."""

    subject: Any
    """An equation, or a step of a kernel."""
    inside: list[Place] = field(default_factory=list)
    unmeasured: list[Any] = field(default_factory=list)
    """Steps inside it that are too short for the clock."""
    spent: int = 0
    runs: int = 0


class Reading(NamedTuple):
    """What reading the clock costs, in the clock's units."""

    within: float
    """The part that is inside the time taken."""
    whole: float
    """All of it."""


class Timing(NamedTuple):
    """The time of one place, without what is inside it."""

    place: Place
    depth: int
    seconds: float
    """The median of the runs."""
    best: float
    runs: float
    """How often it runs in a call."""


def walk_places(places: Sequence[Place], depth: int = 0) -> Iterator[tuple[Place, int]]:
    """All places with their depth, each before those inside it."""
    for place in places:
        yield place, depth
        yield from walk_places(place.inside, depth + 1)


class Measured(NamedTuple):
    """What was measured together."""

    timings: list[Timing]
    """In the clock's units."""
    runs: int
    run_seconds: float
    """The median time without readings of the clock."""


def measured(
    run: Callable[[], Reading], plain: Callable[[], Any], places: Sequence[Place], seconds: float
) -> Measured:
    """Call two forms of one function in turn, for so many seconds together.

    `run` fills ``spent`` and ``runs`` of every place, and says what reading the clock costs; `plain` does
    without. In turn, so that whatever else the machine does falls on both; a few of each one right after the
    other, as in use: the threads of a library fall asleep between calls.
    """
    for _ in range(WARM_UP):
        run()
        plain()
    repeats = max(BATCH, repeats_of(plain))
    flat = [place for place, _ in walk_places(places)]
    noted: list[tuple[Reading, list[tuple[int, int]]]] = []
    calls: list[float] = []
    start = perf_counter()
    while len(noted) < FEWEST or (len(noted) < MOST and perf_counter() - start < seconds):
        for _ in range(BATCH):
            for place in flat:
                place.spent = place.runs = 0
            reading = run()
            noted.append((reading, [(place.spent, place.runs) for place in flat]))
        before = perf_counter()
        for _ in range(repeats):
            plain()
        calls.append((perf_counter() - before) / repeats)
    return Measured(timings_of(places, noted), len(noted), float(np.median(calls)))


def timings_of(
    places: Sequence[Place], noted: Sequence[tuple[Reading, list[tuple[int, int]]]]
) -> list[Timing]:
    """The times of the places, from what was noted of each in several runs."""
    flat = list(walk_places(places))
    own: list[list[float]] = []
    for reading, pairs in noted:
        for (place, _), (spent, runs) in zip(flat, pairs, strict=True):
            place.spent, place.runs = spent, runs
        found: dict[Place, float] = {}
        for place in places:
            own_times(place, reading, found)
        own.append([found[place] for place, _ in flat])
    times = np.maximum(np.array(own).reshape(len(own), len(flat)), 0.0)
    medians, bests = (np.median(times, axis=0), times.min(axis=0)) if flat else ([], [])
    return [
        Timing(place, depth, float(median), float(best), place.runs)
        for (place, depth), median, best in zip(flat, medians, bests, strict=True)
    ]


def repeats_of(plain: Callable[[], Any]) -> int:
    """How often a call is repeated to take long enough for the clock."""
    start = perf_counter()
    plain()
    return max(1, min(1000, int(SHORTEST / max(perf_counter() - start, 1e-8))))


def scaled(timings: Sequence[Timing], unit: float) -> list[Timing]:
    """The times in seconds, where the clock's unit is so many of them."""
    return [t._replace(seconds=t.seconds * unit, best=t.best * unit) for t in timings]


def own_times(place: Place, reading: Reading, found: dict[Place, float]) -> tuple[float, int]:
    """Note each place's time without what is inside; returns the time with it, and the readings in it."""
    inner, readings = 0.0, 0
    for each in place.inside:
        time, count = own_times(each, reading, found)
        inner += time
        readings += count
    whole = max(place.spent - reading.within * place.runs - reading.whole * readings, 0.0)
    found[place] = whole - inner
    return whole, readings + place.runs


def median_seconds(call: Callable[[], Any], seconds: float, most: int) -> float:
    """The median time of a call after the first, measured for so many seconds and `most` times at most."""
    call()
    samples: list[float] = []
    start = perf_counter()
    while len(samples) < FEWEST or (len(samples) < most and perf_counter() - start < seconds):
        before = perf_counter()
        call()
        samples.append(perf_counter() - before)
    return float(np.median(samples))
