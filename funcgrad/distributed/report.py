"""Where the time of steps went: sending, computing, putting together; and whether the shards are worth it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass

from funcgrad.distributed.sums import ShardTime

HEADINGS = (
    f"{'':>12}{'step':>10}{'sending':>10}{'computing':>11}{'summing':>10}{'overhead':>10}"
    f"{'shard (min, median, max)':>32}{'out':>10}{'back':>10}"
)
SMALL = 0.1
"""Seconds of work below which a shard is too small to pay for being sent."""


@dataclass(frozen=True, slots=True)
class CallTimes:
    """The times of one call, in seconds."""

    total: float
    sending: float
    """Until all was handed to the engine: packing the parameters, sending, submitting."""
    summing: float
    """Putting results together: on this side, and on workers where sums are made there."""
    shards: tuple[ShardTime, ...]
    """What each shard took."""
    bytes_out: int
    """The buffer of parameters."""
    bytes_back: int
    """What came back to this process, all together."""

    @property
    def computing(self) -> float:
        """What the busiest worker took for its shards: no step is faster than that."""
        busy: dict[str, float] = defaultdict(float)
        for shard in self.shards:
            busy[shard.where] += shard.seconds
        return max(busy.values(), default=0.0)

    @property
    def overhead(self) -> float:
        """What the step took beyond the busiest worker's shards."""
        return max(self.total - self.computing, 0.0)

    @property
    def workers(self) -> int:
        """How many workers computed, threads of one process counted one by one."""
        return len({shard.where for shard in self.shards})


@dataclass(frozen=True, slots=True)
class Report:
    """What the last calls of a step took; printed, a table. ``calls`` has the numbers, the oldest first."""

    name: str
    engine: str
    calls: tuple[CallTimes, ...]

    @property
    def too_small(self) -> bool:
        """Whether shards take less than 100 ms, so that a step is mostly overhead."""
        return bool(self.calls) and median_shard(self.calls[-1]) < SMALL

    def __str__(self) -> str:
        if not self.calls:
            return f"{self.name} on {self.engine}: not called yet"
        last = self.calls[-1]
        lines = [
            f"{self.name} on {self.engine}: {len(last.shards)} shards on {last.workers} workers",
            HEADINGS,
        ]
        rows = [(f"call {n - len(self.calls)}", call) for n, call in enumerate(self.calls)][-5:]
        for name, call in rows:
            seconds = [shard.seconds for shard in call.shards] or [0.0]
            spread = ", ".join(map(_ms, (min(seconds), statistics.median(seconds), max(seconds))))
            lines.append(
                f"{name:>12}{_ms(call.total):>10}{_ms(call.sending):>10}{_ms(call.computing):>11}"
                f"{_ms(call.summing):>10}{_ms(call.overhead):>10}{spread:>32}"
                f"{_bytes(call.bytes_out):>10}{_bytes(call.bytes_back):>10}"
            )
        if self.too_small:
            lines.append(advice(last))
        return "\n".join(lines)

    __repr__ = __str__


def median_shard(call: CallTimes) -> float:
    """The seconds of the shard in the middle."""
    return statistics.median([shard.seconds for shard in call.shards] or [0.0])


def advice(call: CallTimes) -> str:
    """What is said of shards that are too small."""
    return (
        f"shards take {_ms(median_shard(call))} each, under {SMALL * 1e3:.0f} ms: fewer and larger ones, "
        "or none, would be faster"
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def _bytes(count: int) -> str:
    size, units = float(count), ["B", "kB", "MB", "GB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.3g} {units[0]}"
