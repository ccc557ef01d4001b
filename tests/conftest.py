"""What every test shares: fixed seeds, Hypothesis profiles, skipped peers, and the suite's share of cases."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import zlib
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from funcgrad.compile.runtime import binaries
from funcgrad.ir.evaluate.handing_up import PROMOTION

PEERS = ("torch", "jax", "autograd")

EACH = 8
"""Of a marked test's cases the suite runs the first, and one in so many of the others: each Python others."""

IN_MAIN_THREAD = threading.current_thread() is threading.main_thread()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and IN_MAIN_THREAD:
    # A shell has what it starts in the background ignore Ctrl-C, and all that this starts; tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Comparisons are made in double precision and on the processor; jax reads this when it is imported.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# What it compiles runs once.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# A slow machine says no more than a fast one.
os.environ.setdefault("FUNCGRAD_NOTICES", "0")

# What is evaluated for long enough is compiled, by the clock: on a busy machine that is anything, and a
# test that counts kernels or calls would see it. `tests/compile/test_tiering.py` sets times of its own.
PROMOTION.first = 1e9

# Nobody presses Ctrl-C: a process for each large kernel costs a start of Python, and makes the same code.
# `tests/waiting/test_long_compilations.py` has them.
binaries.LARGE_SOURCE = 1 << 60

# The default everywhere, so that a failure in CI is the same failure at a desk. A first example may
# record, differentiate and import SciPy, on a machine that does other things: time says nothing here.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# What `.ci/run` does beside the suite, of the laws on random functions.
settings.register_profile("soak", settings.get_profile("ci"), max_examples=300)
# To look for new failures: python -m pytest --hypothesis-profile=explore
settings.register_profile(
    "explore", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


def pytest_report_header() -> str:
    """Name the peers, so that a log says what was compared."""
    return f"peers: {', '.join(peer_version(name) for name in PEERS)}"


def peer_version(name: str) -> str:
    """Return the installed version of a peer, without importing it."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} (not installed)"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        choices=["share", "rest", "all"],
        help="of tests marked at_length or peers: the suite's share of the cases, the rest, or all; "
        "by default the share where nothing is named, else all",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the cases asked for; skip a test marked ``peers("jax", ...)`` by the peer that is missing."""
    take_cases(config, items)
    for item in items:
        for marker in item.iter_markers("peers"):
            for name in marker.args:
                if find_spec(name) is None:
                    item.add_marker(pytest.mark.skip(reason=f"peer {name} is not installed"))


def take_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the suite's share of the cases, or the rest, which `.ci/run` runs as a check of its own."""
    asked = config.getoption("--cases") or ("share" if is_suite(config) else "all")
    if asked == "all":
        return
    kept, left = [], []
    seen: set[str] = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        marked = any(item.iter_markers("at_length")) or any(item.iter_markers("peers"))
        of_the_suite = (
            not marked
            or function not in seen
            or zlib.crc32(item.nodeid.encode()) % EACH == sys.version_info.minor % EACH
        )
        seen.add(function)
        (kept if of_the_suite == (asked == "share") else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def is_suite(config: pytest.Config) -> bool:
    """Whether the whole suite is asked for: nothing less, and nothing tried at length."""
    paths = [config.rootpath / path for path in config.getini("testpaths")]
    chosen = config.getoption("markexpr") or config.getoption("keyword")
    return (
        not chosen
        and settings.default is settings.get_profile("ci")
        and [Path(argument).absolute() for argument in config.args] == paths
    )


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    """Start the global generators of every test alike, so that order never matters."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the point is the generator that others may reach for


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Return a generator of its own for each test, the same in every run."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
