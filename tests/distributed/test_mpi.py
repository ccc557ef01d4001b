"""Communicators: programs of two ranks, under the mpiexec of the `mpich` wheel, or another on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import funcgrad as fg

HERE = Path(__file__).parent


def run(*arguments: str) -> str:
    """What two ranks print."""
    if find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("mpiexec is not installed")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(fg.__file__).parents[1]),
        "HYDRA_LAUNCHER": "fork",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    command = [mpiexec, "-n", "2", sys.executable, "-W", "error", *arguments]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, timeout=120, cwd=HERE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_two_ranks() -> None:
    said = run(str(HERE / "mpi_program.py"))
    assert sorted(said.split("\n")) == ["", "rank 0 is done", "rank 1 is done"]


def test_a_pool_of_mpi4py() -> None:
    assert "the pool is done" in run("-m", "mpi4py.futures", str(HERE / "mpi_pool_program.py"))
