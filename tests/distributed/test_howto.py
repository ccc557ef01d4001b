"""The pages on Dask and MPI: their programs run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from engines_for_tests import mpiexec

import funcgrad as fg

ROOT = Path(__file__).parents[2]


def program(page: str) -> str:
    """The first program of a page."""
    text = (ROOT / "docs" / "howto" / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]


def run(command: list[str], folder: Path) -> str:
    """What it prints; a warning is a failure."""
    environment = {**os.environ, "PYTHONPATH": str(Path(fg.__file__).parents[1]), "HYDRA_LAUNCHER": "fork"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_dask(tmp_path: Path) -> None:
    if find_spec("distributed") is None:
        pytest.skip("dask.distributed is not installed")
    (tmp_path / "fit.py").write_text(program("dask.md"), encoding="utf-8")
    said = run([sys.executable, "fit.py"], tmp_path)
    assert "loss on Dask: 4 shards on 2 workers" in said


SCRIPT = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import funcgrad as fg

SCALE = 3.0

def loss(w, x):
    return SCALE * np.sum((x - w) ** 2)

if __name__ == "__main__":
    SCALE = 2.0  # what it is when the step is made
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        step = fg.distribute(fg.value_and_grad(loss), pool)
        value, slope = step(0.0, np.ones(4))
        print(value, slope)
        print(fg.distribute(lambda w, x: w * loss(0.0, x), pool)(0.5, np.ones(4)))
"""


def test_functions_of_a_script_go_to_a_process_pool(tmp_path: Path) -> None:
    (tmp_path / "fit.py").write_text(SCRIPT, encoding="utf-8")
    assert run([sys.executable, "fit.py"], tmp_path).split() == ["8.0", "-16.0", "4.0"]


def test_mpi(tmp_path: Path) -> None:
    (tmp_path / "fit.py").write_text(program("mpi.md"), encoding="utf-8")
    said = run([mpiexec(), "-n", "2", sys.executable, "fit.py"], tmp_path)
    w = [float(word) for word in said.strip(" []\n").split()]
    assert w[1] < 0.0 < w[2] < w[0]
