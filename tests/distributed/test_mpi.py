"""Communicators: programs of two ranks, under the mpiexec of the `mpich` wheel, or another on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from engines_for_tests import mpiexec

import funcgrad as fg

HERE = Path(__file__).parent


def run(*arguments: str) -> str:
    """What two ranks print."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(fg.__file__).parents[1]),
        "HYDRA_LAUNCHER": "fork",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    command = [mpiexec(), "-n", "2", sys.executable, "-W", "error", *arguments]
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
