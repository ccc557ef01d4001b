"""What doctests may assume: ``np`` and ``fg``. Fixtures of the tests live in ``tests/conftest.py``."""

from __future__ import annotations

import atexit
import ctypes
import gc
import itertools
import os
import shutil
import tempfile
from collections.abc import Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

if "OPENBLAS_NUM_THREADS" not in os.environ:
    # Threads of BLAS that wait for cores where others are at work made what factors matrices three to eight
    # times as long. The libraries read this as they are loaded; processes of tests do not inherit it.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import_module("scipy.linalg")
    del os.environ["OPENBLAS_NUM_THREADS"]

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # None comes beside the sources, as was asked. But the processes that tests start would each compile the
    # source of the package anew, a third of their time: they share what lies elsewhere.
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="funcgrad-bytecode-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

import numpy as np
import pytest

import funcgrad as fg

# Engines that are extras cannot be imported, and looked through for examples, where they are not installed.
collect_ignore = [
    f"funcgrad/distributed/engines/{module}.py"
    for module, package in (
        ("dask", "distributed"),
        ("dask_collections", "dask"),
        ("dask_runs", "distributed"),
        ("mpi", "mpi4py"),
    )
    if find_spec(package) is None
]

COLLECTED_AFTER = (20_000, 10, 10)
"""Objects that are made before the youngest are gone through, and how often before older ones are."""

# The plugin that runs pytest inside a test; only the outermost conftest may ask for it.
pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def names_in_doctests(doctest_namespace: dict[str, object]) -> None:
    """Put the two usual names in scope, as the documentation assumes."""
    doctest_namespace.update(np=np, fg=fg)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep Python's collector away from what pytest makes of tests: a million objects that stay to the end.

    It walked over them for a third of the time that collecting took, and again at every full collection.
    Those that tests cause go over what they import, jax and torch among it, for an eighth of the time that
    the suite takes: they are made seldom. Tests of what is released ask with `gc.collect`.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*COLLECTED_AFTER)
        gc.enable()


def pytest_configure() -> None:
    """Tell BLAS too that has been loaded before, by a plugin of another package."""
    maps = Path("/proc/self/maps")
    if "OPENBLAS_NUM_THREADS" in os.environ or not maps.exists():
        return
    for path in {line.split()[-1] for line in maps.read_text().splitlines() if "openblas" in line}:
        library = ctypes.CDLL(path)
        for prefix, suffix in itertools.product(("scipy_", ""), ("", "64_")):
            if hasattr(library, name := f"{prefix}openblas_set_num_threads{suffix}"):
                getattr(library, name)(1)
