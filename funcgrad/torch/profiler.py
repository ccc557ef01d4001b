"""``torch.profiler``: how long the named parts of a program take, by the clock of the wall.

Owns what `record_function` names and the steps of a schedule. Operations are not timed one by one: for
functions of arrays `fg.profile` does that.
"""

from __future__ import annotations

import functools
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from funcgrad.types import Anything

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

F = TypeVar("F", bound=Callable[..., Any])


class ProfilerActivity(Enum):
    """What can be asked for; only the CPU is there."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3


class ProfilerAction(Enum):
    """What a profile does during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


@dataclass(frozen=True, slots=True)
class Span:
    """One run of a named part: when it began, and how long it took, in microseconds."""

    name: str
    start: float
    duration: float

    @property
    def key(self) -> str:
        """The name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Average:
    """All runs of a named part, in microseconds."""

    key: str
    count: int
    cpu_time_total: float

    @property
    def cpu_time(self) -> float:
        """The time of one run, on average."""
        return self.cpu_time_total / self.count


class Averages(list[Average]):
    """Averages that print as a table."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: object) -> str:
        """A row for each name; `sort_by` is ``"count"``, ``"cpu_time"`` or ``"cpu_time_total"``."""
        rows = list(self)
        if sort_by is not None:
            column = "cpu_time_total" if sort_by.startswith("self_") else sort_by
            if column not in ("count", "cpu_time", "cpu_time_total"):
                raise AttributeError(f"there is no column {sort_by!r} here: only the CPU is timed")
            rows.sort(key=lambda row: getattr(row, column), reverse=True)
        if row_limit >= 0:
            rows = rows[:row_limit]
        width = max([4, *[len(row.key) for row in rows]])
        lines = [f"{'Name':<{width}}  {'CPU total':>12}  {'CPU time avg':>12}  {'# of Calls':>10}"]
        lines += [
            f"{row.key:<{width}}  {_readable(row.cpu_time_total):>12}  {_readable(row.cpu_time):>12}  "
            f"{row.count:>10}"
            for row in rows
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()


def _readable(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


_ACTIVE: ContextVar[profile | None] = ContextVar("active profile", default=None)


class profile:
    """Times what `record_function` names while the context is open; `step` goes on to the next step.

    >>> with fg.torch.profiler.profile() as p:
    ...     for _ in range(3):
    ...         with fg.torch.profiler.record_function("forward"):
    ...             y = fg.torch.ones(3).sum()
    >>> [(row.key, row.count) for row in p.key_averages()]
    [('forward', 3)]
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        **options: Anything,
    ) -> None:
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self._spans: list[Span] = []
        self._action = ProfilerAction.NONE
        self._token: Any = None
        self._step_started = 0.0

    @property
    def recording(self) -> bool:
        """Whether this step is recorded."""
        return self._action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def _begin(self) -> None:
        before = self._action
        self._action = ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)
        if self.recording and before not in (ProfilerAction.RECORD,):
            self._spans = []
        self._step_started = time.perf_counter()

    def start(self) -> None:
        """Begin with the first step."""
        self._token = _ACTIVE.set(self)
        self._begin()

    def stop(self) -> None:
        """End; what was recorded and not handed over yet goes to `on_trace_ready`."""
        _ACTIVE.reset(self._token)
        if self.recording:
            self._ready()
        self._action = ProfilerAction.NONE

    def step(self) -> None:
        """The next step begins."""
        if self.recording:
            self.note(f"ProfilerStep#{self.step_num}", self._step_started)
        if self._action is ProfilerAction.RECORD_AND_SAVE:
            self._ready()
        self.step_num += 1
        self._begin()

    def _ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def note(self, name: str, started: float) -> None:
        """Keep a run that began at `started` and ends now, if this step is recorded."""
        if self.recording:
            self._spans.append(Span(name, started * 1e6, (time.perf_counter() - started) * 1e6))

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def events(self) -> list[Span]:
        """Every run, in the order in which they ended."""
        return list(self._spans)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> Averages:
        """All runs of each name."""
        times: dict[str, list[float]] = {}
        for span in self._spans:
            times.setdefault(span.name, []).append(span.duration)
        return Averages(Average(name, len(found), sum(found)) for name, found in times.items())

    def export_chrome_trace(self, path: str) -> None:
        """Write the runs as JSON that ``chrome://tracing`` and Perfetto show."""
        spans = [
            {"name": s.name, "ph": "X", "ts": s.start, "dur": s.duration, "pid": os.getpid(), "tid": 0}
            for s in self._spans
        ]
        Path(path).write_text(json.dumps({"traceEvents": spans}), encoding="utf-8")


class record_function:
    """A context, or a decorator, whose time is kept under a name by the profile around it."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._started = 0.0

    def __enter__(self) -> record_function:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        active = _ACTIVE.get()
        if active is not None:
            active.note(self.name, self._started)

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def recorded(*args: Anything, **kwargs: Anything) -> Anything:
            with record_function(self.name):
                return function(*args, **kwargs)

        return recorded  # type: ignore[return-value]


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """What to do at each step: `wait`, `warmup`, record `active` ones, `repeat` times (0: without end).

    >>> what = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [what(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")
    if not warmup:
        warnings.warn(
            "Profiler won't be using warmup, this can skew profiler results", UserWarning, stacklevel=2
        )

    def what(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return what


def supported_activities() -> set[ProfilerActivity]:
    """The CPU."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """False: that is PyTorch's own library."""
    return False


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """A function for `on_trace_ready` that writes each trace into a folder."""
    if use_gzip:
        raise NotImplementedError("funcgrad.torch does not support use_gzip: compress the file afterwards")

    def write(found: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        name = f"{worker_name or os.getpid()}.{time.time_ns()}.pt.trace.json"
        found.export_chrome_trace(str(Path(dir_name) / name))

    return write
