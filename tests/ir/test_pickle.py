"""Programs travel: to another process and back, equal, with the user's lines."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ir.program import Program

LARGE = np.linspace(0.0, 1.0, 1000)


@fg.checkpoint
def checkpointed(x: Any) -> Any:
    return np.sin(x) * LARGE


def loss(x: Any) -> Any:
    return np.sum(checkpointed(x) ** 2) + np.sum(x[::2])


PROGRAMS = {
    "loss": fg.make_program(loss)(LARGE),
    "grad": fg.make_program(fg.grad(loss))(LARGE),
    "vmap": fg.make_program(fg.vmap(loss))(np.ones((2, 1000))),
}

ELSEWHERE = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    program = pickle.load(file)
text = program.text()
results = program(*[np.ones(v.aval.shape, v.aval.dtype) for v in program.inputs])
with open(sys.argv[2], "wb") as file:
    pickle.dump((program, text, results), file)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_to_another_process_and_back(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(pickle.dumps(program))
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(there), str(back)], check=True)
    returned, text, results = pickle.loads(back.read_bytes())
    assert returned == program
    assert text == program.text()
    args = [np.ones(v.aval.shape, v.aval.dtype) for v in program.inputs]
    for found, expected in zip(results, program(*args), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(protocol: int) -> None:
    program = PROGRAMS["grad"]
    copy: Program = pickle.loads(pickle.dumps(program, protocol))
    assert copy == program
    assert hash(copy) == hash(program)
    assert copy.text() == program.text()
    assert [e.source for e in copy] == [e.source for e in program]


def test_variables_stay_shared() -> None:
    program = PROGRAMS["loss"]
    copy: Program = pickle.loads(pickle.dumps(program))
    names = {v: k for k, v in enumerate([*copy.inputs, *(v for v, _ in copy.captured)])}
    assert all(atom in names for atom in copy.equations[0].inputs)
    assert len(copy) == len(program)
    assert [e.primitive for e in copy] == [e.primitive for e in program]
