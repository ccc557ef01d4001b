"""Two revisions of funcgrad beside each other: the same workloads, in turns, and what moved beyond noise.

The other revision's package is taken out of git into a directory of its own; the workloads are those of this
checkout. Knows no workload.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scipy.stats import mannwhitneyu

from benchmarks.harness import (
    ROOT,
    ContenderError,
    Effort,
    Fresh,
    Sample,
    Workers,
    affordable,
    disagreement_of,
    interleaved,
)
from benchmarks.model import OURS, Contender, Missing, Timing, Workload, duration

BEFORE, AFTER = "before", "after"

LEAST = 0.03
"""Changes below this are called noise however little the samples scatter."""

CHANCE = 0.01
"""How often equal revisions may lie so far apart; the middle halves of five samples do in 15 % of cases."""

FEWEST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Change:
    """A workload's times at two revisions; `reason` says why there are none."""

    workload: Workload
    before: Timing | None
    after: Timing | None
    reason: str = ""

    @property
    def ratio(self) -> float:
        """The time after over the time before, of the best samples; 1 where one is missing."""
        return self.after.best / self.before.best if self.before and self.after else 1.0

    @property
    def moved(self) -> bool:
        """Whether the best samples and the middle halves lie apart, and so far that it is hardly chance."""
        if self.before is None or self.after is None or abs(self.ratio - 1.0) <= LEAST:
            return False
        (low, high), (lower, higher) = middle_half(self.before.samples), middle_half(self.after.samples)
        apart = lower > high if self.ratio > 1.0 else higher < low
        samples = self.before.samples, self.after.samples
        return apart and bool(mannwhitneyu(*samples, method="exact").pvalue <= CHANCE)

    def joined(self, again: Change) -> Change:
        """The change by the samples of both measurements; the one without times where there is one."""
        if self.before is None or self.after is None or again.before is None or again.after is None:
            return self if self.before is None else again
        before, after = self.before.samples + again.before.samples, self.after.samples + again.after.samples
        return Change(self.workload, Timing(before), Timing(after))

    def line(self) -> str:
        """The change as a line of a table."""
        if self.before is None or self.after is None:
            return f"{self.workload.name:32} {self.reason}"
        times = f"{duration(self.before.best):>9} {duration(self.after.best):>9} {self.ratio:7.2f}"
        verdict = ("slower" if self.ratio > 1.0 else "faster") if self.moved else ""
        return f"{self.workload.name:32} {times}  {verdict}".rstrip()


def middle_half(samples: Sequence[float]) -> tuple[float, float]:
    """The first and the third quartile.

    >>> middle_half([5.0, 1.0, 3.0, 2.0, 4.0])
    (2.0, 4.0)
    """
    ordered, quarter = sorted(samples), (len(samples) - 1) // 4
    return ordered[quarter], ordered[-1 - quarter]


def package_of(revision: str, directory: Path) -> Path:
    """The package as it is in a revision, below `directory`; raises SystemExit for one that git has not."""
    asked = ["git", "archive", "--format=tar", revision, "funcgrad"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        raise SystemExit(f"git has no revision {revision}: {found.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(directory, filter="data")
    return directory


def changes(workloads: Sequence[Workload], revision: str, effort: Effort) -> Iterator[Change]:
    """What has changed since the revision, workload by workload; what has moved is measured a second time."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as directory:
        package = str(package_of(revision, Path(directory)))
        with Workers(effort.patience, package) as before, Workers(effort.patience) as after:
            for workload in workloads:
                (contender,) = (c for c in workload.contenders if c.name == OURS)
                workers = {BEFORE: before, AFTER: after}
                if workload.measure == "warm":
                    measured = partial(warm_change, workload, contender, workers, effort)
                else:
                    measured = partial(fresh_change, workload, contender, package, effort)
                change = measured()
                yield change.joined(measured()) if change.moved else change


def warm_change(
    workload: Workload, contender: Contender, workers: dict[str, Workers], effort: Effort
) -> Change:
    """The change of many calls in two processes that stay."""
    try:
        prepared = {
            name: found.ask(contender, "prepare", workload.name, OURS, max(effort.warm_up, workload.warm_up))
            for name, found in workers.items()
        }
    except ContenderError as error:
        return Change(workload, None, None, str(error))
    differ = disagreement_of({name: p.results for name, p in prepared.items()}, workload.rtol)
    if differ:
        return Change(workload, None, None, differ)
    slowest = max(p.seconds for p in prepared.values())
    calls = max(1, int(effort.sample / slowest))
    rounds = max(FEWEST_ROUNDS, affordable(workload.rounds or effort.rounds, slowest * calls, effort))

    def sampler_of(found: Workers) -> Sample:
        return lambda: found.ask(contender, "sample", OURS, calls) / workload.operations

    change = sampled(workload, {name: sampler_of(found) for name, found in workers.items()}, rounds)
    for found in workers.values():
        found.clear()
    return change


def fresh_change(workload: Workload, contender: Contender, package: str, effort: Effort) -> Change:
    """The change of what happens in new processes."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as directory:
        places = {name: Path(directory) / name for name in (BEFORE, AFTER)}
        fresh = {}
        for name, place in places.items():
            place.mkdir()
            fresh[name] = Fresh(workload, effort.patience, place, package if name == BEFORE else "")

        def sampler_of(found: Fresh) -> Sample:
            return lambda: found.sample(contender)[0] / workload.operations

        samplers = {name: sampler_of(found) for name, found in fresh.items()}
        try:
            # The first of each writes bytecode and fills caches.
            for sampler in samplers.values():
                sampler()
        except ContenderError as error:
            return Change(workload, None, None, str(error))
        return sampled(workload, samplers, max(FEWEST_ROUNDS, workload.rounds or effort.fresh_rounds))


def sampled(workload: Workload, samplers: dict[str, Sample], rounds: int) -> Change:
    """The change, from samples taken in turns."""
    samples, failures = interleaved(samplers, dict.fromkeys(samplers, rounds))
    for failure in failures.values():
        return Change(workload, None, None, failure.reason if isinstance(failure, Missing) else "failed")
    return Change(workload, Timing(tuple(samples[BEFORE])), Timing(tuple(samples[AFTER])))


def printed(found: Iterator[Change], revision: str) -> int:
    """Print the changes as they come, then what moved; 1 if something became slower."""
    print(f"{'':32} {revision[:9]:>9} {'now':>9} {'ratio':>7}", flush=True)
    everything = []
    for change in found:
        everything.append(change)
        print(change.line(), flush=True)
    slower = [c.workload.name for c in everything if c.moved and c.ratio > 1.0]
    faster = [c.workload.name for c in everything if c.moved and c.ratio < 1.0]
    for word, names in (("slower", slower), ("faster", faster)):
        print(f"{word} beyond noise: {', '.join(names) or 'nothing'}")
    return int(bool(slower))
