"""What a benchmark is made of: workloads, contenders, targets, and the timings they lead to.

Everything here is plain data. `harness` measures it, `report` shows it, and the modules of `workloads`
declare it. Light on imports, because first calls in new processes are timed with this module loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Call = Callable[[], Any]
"""What is timed: no arguments; returns the results, finished and ready to be read."""

Builder = Callable[[Any, Any, tuple[Any, ...]], Call]
"""``build(library, numpy, inputs)``: converts the inputs to the library's arrays and returns the call."""

Measure = Literal["warm", "first call", "import"]
"""How a workload is measured.

``warm``: many calls in a process that has made some already. ``first call``: import, build and one call in
a new process each time. ``import``: the bare import statement in a new process each time.
"""

Cache = Literal["usual", "empty", "warm"]
"""Where compiled code is kept between processes during a first call.

``usual``: wherever the library keeps it. ``empty``: a new directory for every process. ``warm``: one
directory, which a first process that does not count has filled.
"""

Span = Literal["import", "build", "first"]
"""The parts of a first call; `Workload.spans` says which of them count."""

Statistic = Literal["best", "median"]

OURS = "funcgrad"


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to run a workload: its name in the table, the library it needs, and how to build the call."""

    name: str
    library: str
    build: Builder
    compared: bool = True
    """Whether its results must agree with the others'; an objective without its gradient cannot."""
    cache: str = ""
    """The environment variable that moves its compiled code, where first calls are timed with a cache."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The samples of one contender: seconds per call (or per operation), in the order they were taken."""

    samples: tuple[float, ...]
    calls: int = 1
    """How many calls each sample is the mean of."""
    setting: str = ""
    """The setting of the library that was fastest here, where it has settings to choose from."""

    @property
    def best(self) -> float:
        """The smallest sample."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """The median of the samples."""
        ordered, half = sorted(self.samples), len(self.samples) // 2
        return (ordered[half] + ordered[-1 - half]) / 2

    def seconds(self, statistic: Statistic) -> float:
        """The named statistic."""
        return self.best if statistic == "best" else self.median


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a contender has no timing: it is not installed, it failed, or it was left out on purpose."""

    reason: str
    failed: bool = False


Entry = Timing | Missing
Entries = Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target beside what was measured; `reached` is None where nothing could be compared."""

    text: str
    measured: str
    reached: bool | None


def unmeasured(text: str, ours: Entry | None) -> Verdict:
    """The verdict without numbers. A target that funcgrad failed to be measured for is not reached."""
    failed = isinstance(ours, Missing) and ours.failed
    return Verdict(text, "failed" if failed else "not measured", False if failed else None)


class Target(Protocol):
    """A number to reach."""

    @property
    def rivals(self) -> Sequence[str]:
        """The contenders that it compares with: they are sampled as often as funcgrad is."""

    def judged(self, entries: Entries, statistic: Statistic, others: Mapping[str, Entries]) -> Verdict:
        """The verdict; `others` holds the entries of the workloads measured before, by name."""


@dataclass(frozen=True, slots=True)
class Versus:
    """The fastest of `rivals` takes at least `ratio` times as long as funcgrad."""

    rivals: tuple[str, ...]
    ratio: float
    called: str = ""
    """What to call the rivals where there are too many to name."""

    def judged(self, entries: Entries, statistic: Statistic, others: Mapping[str, Entries]) -> Verdict:
        """Compare with the fastest rival that ran."""
        names = self.called or " and ".join(self.rivals)
        text = f"≥ {self.ratio:.3g}× {names}" if self.ratio >= 1 else f"≤ {1 / self.ratio:g} of {names}"
        ours = entries.get(OURS)
        found = [e.seconds(statistic) for name in self.rivals if isinstance(e := entries.get(name), Timing)]
        if not isinstance(ours, Timing) or not found:
            return unmeasured(text, ours)
        ratio = min(found) / ours.seconds(statistic)
        measured = f"{ratio:.2f}×" if self.ratio >= 1 else f"{1 / ratio:.2f}"
        return Verdict(text, measured, ratio >= self.ratio)


@dataclass(frozen=True, slots=True)
class Within:
    """funcgrad takes at most this many seconds."""

    limit: float
    rivals: tuple[str, ...] = ()

    def judged(self, entries: Entries, statistic: Statistic, others: Mapping[str, Entries]) -> Verdict:
        """Compare with the clock."""
        text = f"≤ {duration(self.limit)}"
        ours = entries.get(OURS)
        if not isinstance(ours, Timing):
            return unmeasured(text, ours)
        seconds = ours.seconds(statistic)
        return Verdict(text, duration(seconds), seconds <= self.limit)


@dataclass(frozen=True, slots=True)
class Beyond:
    """funcgrad takes at most so many seconds more than another contender."""

    rival: str
    limit: float
    rivals: tuple[str, ...] = ()

    def judged(self, entries: Entries, statistic: Statistic, others: Mapping[str, Entries]) -> Verdict:
        """Compare the difference with the clock."""
        text = f"≤ {duration(self.limit)} beyond {self.rival}"
        ours, other = entries.get(OURS), entries.get(self.rival)
        if not isinstance(ours, Timing) or not isinstance(other, Timing):
            return unmeasured(text, ours)
        seconds = ours.seconds(statistic) - other.seconds(statistic)
        return Verdict(text, duration(max(seconds, 0.0)), seconds <= self.limit)


@dataclass(frozen=True, slots=True)
class Linear:
    """funcgrad takes at most `growth * slack` times what it takes for a workload `growth` times smaller."""

    smaller: str
    growth: float
    slack: float
    rivals: tuple[str, ...] = ()

    def judged(self, entries: Entries, statistic: Statistic, others: Mapping[str, Entries]) -> Verdict:
        """Compare with funcgrad's own time on the smaller workload."""
        text = f"≤ {self.growth * self.slack:g}× the time of {self.smaller}"
        ours, base = entries.get(OURS), others.get(self.smaller, {}).get(OURS)
        if not isinstance(ours, Timing) or not isinstance(base, Timing):
            return unmeasured(text, ours)
        ratio = ours.seconds(statistic) / base.seconds(statistic)
        return Verdict(text, f"{ratio:.2f}×", ratio <= self.growth * self.slack)


def no_inputs(numpy: Any) -> tuple[Any, ...]:
    """For workloads whose calls take nothing."""
    return ()


@dataclass(frozen=True, slots=True)
class Workload:
    """One row of the table. funcgrad's contender comes first."""

    name: str
    title: str
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...] = ()
    inputs: Callable[[Any], tuple[Any, ...]] = no_inputs
    """``inputs(numpy)``: the same arrays for every contender, from a fixed seed."""
    measure: Measure = "warm"
    spans: tuple[Span, ...] = ("import", "build", "first")
    cache: Cache = "usual"
    statistic: Statistic = "best"
    """What the targets are about."""
    self_timed: bool = False
    """Calls return ``(seconds, results)`` because only a part of them is to be timed."""
    operations: int = 1
    """Times are divided by this: what one operation takes."""
    rounds: int = 0
    """How many samples of each contender; 0 for the harness's usual number."""
    threads: int = 0
    """How many threads torch and funcgrad, BLAS included, may use; 0 for the fastest setting of torch's."""
    warm_up: float = 0.0
    """Seconds of calls before the first sample; 0 for the harness's usual number."""
    information: frozenset[str] = frozenset()
    """Contenders shown but left out of "best peer"."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Contenders that are not run here, and why."""
    rtol: float = 1e-6
    in_quick: bool = True
    """Whether ``--quick`` runs it."""

    @property
    def rivals(self) -> frozenset[str]:
        """funcgrad and every contender that a target compares it with."""
        return frozenset({OURS, *(name for target in self.targets for name in target.rivals)})


@dataclass(frozen=True, slots=True)
class Row:
    """A workload with what was measured."""

    workload: Workload
    entries: Entries
    verdicts: tuple[Verdict, ...] = ()
    disagreement: str = ""
    """How the contenders' results differ; a workload on which they differ is not timed."""

    def ratio(self, name: str, statistic: Statistic) -> float | None:
        """The time of contender `name` over funcgrad's: above 1 means that funcgrad is faster."""
        ours, theirs = self.entries.get(OURS), self.entries.get(name)
        if not isinstance(ours, Timing) or not isinstance(theirs, Timing):
            return None
        return theirs.seconds(statistic) / ours.seconds(statistic)

    def best_peer(self, statistic: Statistic) -> str | None:
        """The fastest contender that is not funcgrad's and not there for information only."""
        ours = {c.name for c in self.workload.contenders if c.library == OURS}
        skipped = ours | self.workload.information
        times = {
            name: entry.seconds(statistic)
            for name, entry in self.entries.items()
            if isinstance(entry, Timing) and name not in skipped
        }
        return min(times, key=lambda name: times[name]) if times else None


def duration(seconds: float) -> str:
    """Three significant digits in the unit that suits.

    >>> duration(0.00004127), duration(1.5e-6), duration(12.3456)
    ('41.3 µs', '1.5 µs', '12.3 s')
    """
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if seconds * factor >= 1 or unit == "ns":
            break
    value = seconds * factor
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
