"""What every test shares: fixed seeds, Hypothesis profiles, and the ``peers`` marker."""

from __future__ import annotations

import os
import random
import signal
import threading
import zlib
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from funcgrad.compile.runtime import binaries
from funcgrad.ir.evaluate.handing_up import PROMOTION

PEERS = ("torch", "jax", "autograd")

IN_MAIN_THREAD = threading.current_thread() is threading.main_thread()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and IN_MAIN_THREAD:
    # A shell has what it starts in the background ignore Ctrl-C, and all that this starts; tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Comparisons are made in double precision and on the processor; jax reads both when it is imported.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip a test marked ``peers("jax", ...)`` by the name of the peer that is missing."""
    for item in items:
        for marker in item.iter_markers("peers"):
            for name in marker.args:
                if find_spec(name) is None:
                    item.add_marker(pytest.mark.skip(reason=f"peer {name} is not installed"))


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    """Start the global generators of every test alike, so that order never matters."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the point is the generator that others may reach for


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Return a generator of its own for each test, the same in every run."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
