"""Short shards that one worker has are one task: a task costs Dask some milliseconds.

Where shards were computed last is where they are; should they have moved, the scheduler brings them
together, which costs time and changes no result. Long shards stay tasks of their own, so that a worker that
is done takes one from another.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import distributed

from funcgrad.distributed.engines.engine import Call
from funcgrad.distributed.sums import ShardTime, groups

_SHORT = 0.1
"""Seconds that a run may take: against them, what a task costs no longer matters."""


class Runs:
    """Divides the shards of a call into runs, by where the last call computed them."""

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[Any, ShardTime] = weakref.WeakKeyDictionary()

    def note(self, call: Call, times: Iterable[ShardTime]) -> None:
        """Remember where the shards of a call were computed, and how long that took."""
        for time in times:
            for handle in call.handles(time.shard):
                if isinstance(handle, distributed.Future):
                    self._last[handle] = time

    def of(self, call: Call) -> list[list[int]]:
        """The runs: shards of one worker, among the neighbours that are summed at once.

        A worker with several threads keeps as many runs as threads worked for the last call.
        """
        times = [self._time(call.handles(k)) for k in range(call.count)]
        runs = []
        for group in groups(call.count):
            of_worker: dict[object, list[int]] = {}
            for k in group:
                time = times[k]
                of_worker.setdefault(k if time is None else time.where, []).append(k)
            for members in of_worker.values():
                runs += _short_ones(members, times)
        return runs

    def _time(self, handles: Sequence[Any]) -> ShardTime | None:
        """What is known of a shard; None where it is not kept by a worker, or has not been computed yet."""
        found = [
            self._last.get(handle) if isinstance(handle, distributed.Future) else None for handle in handles
        ]
        return None if None in found or not found else found[0]


def _short_ones(members: Sequence[int], times: Sequence[ShardTime | None]) -> list[list[int]]:
    runs: list[list[int]] = []
    seconds = 0.0
    for k in members:
        time = times[k]
        more = _SHORT if time is None else time.seconds
        if runs and seconds + more <= _SHORT:
            runs[-1].append(k)
            seconds += more
        else:
            runs.append([k])
            seconds = more
    return runs
