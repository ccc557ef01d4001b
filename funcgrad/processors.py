"""How many processors this process may use, and how many threads it is told to use."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from pathlib import Path

MOST_THREADS = 256


def available_processors() -> int:
    """The processors that this process may use: its affinity, within the quota of its control group."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        count = os.cpu_count() or 1
    quota = _group_quota()
    return max(1, min(count, math.ceil(quota)) if quota else count)


def _group_quota() -> float | None:
    """The processors that the control groups of this process grant it, if they say."""
    quotas = []
    for folder in _group_folders():
        with contextlib.suppress(OSError, ValueError):
            most, period = (folder / "cpu.max").read_text().split()
            if most != "max":
                quotas.append(int(most) / int(period))
    for folder in (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/cpu,cpuacct")):
        with contextlib.suppress(OSError, ValueError):
            granted = int((folder / "cpu.cfs_quota_us").read_text())
            if granted > 0:
                quotas.append(granted / int((folder / "cpu.cfs_period_us").read_text()))
    return min(quotas, default=None)


def _group_folders() -> list[Path]:
    root = Path("/sys/fs/cgroup")
    folders = [root]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            if number == "0":
                below = root / path.lstrip("/")
                folders += [below, *(parent for parent in below.parents if root in parent.parents)]
    return folders


@functools.cache
def thread_count() -> int:
    """What `configured_threads` says when it is first asked; later calls cost nothing."""
    return configured_threads()


def configured_threads() -> int:
    """The threads to divide work between: ``FUNCGRAD_NUM_THREADS``, or the available processors."""
    text = os.environ.get("FUNCGRAD_NUM_THREADS", "")
    count = int(text) if text.isdecimal() and int(text) else available_processors()
    return min(count, MOST_THREADS)
