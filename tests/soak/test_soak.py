"""The soak itself: its programs, its oracles, and its smallest forms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.soak.oracles import Mismatch, agree, check
from tests.soak.programs import Block, Program, random_program
from tests.soak.reducing import reduced

ROOT = Path(__file__).parents[2]


def test_a_seed_is_a_program() -> None:
    one, other = random_program(11), random_program(11)
    assert one.source == other.source
    assert {name: x.tobytes() for name, x in one.args.items()} == {
        name: x.tobytes() for name, x in other.args.items()
    }


@pytest.mark.parametrize("seed", range(8))
def test_programs_agree_with_every_oracle(seed: int) -> None:
    assert "evaluated" in check(random_program(seed, 12), depth=1)


def test_a_failure_is_reduced_to_what_matters() -> None:
    lines = [f"v{k} = np.sin({f'v{k - 1}' if k else 'x'})" for k in range(9)]
    blocks = [Block(f"v{k}", (line,), frozenset([f"v{k - 1}" if k else "x"])) for k, line in enumerate(lines)]
    blocks += [Block("w", ("w = 1.0 / x",), frozenset(["x"]))]
    program = Program({"x": np.float64(2.0)}, tuple(blocks))
    smallest = reduced(program, lambda p: "divides" if " / " in p.source else None)
    assert [block.out for block in smallest.blocks] == ["w"]


@pytest.mark.parametrize("other", [np.ones(4), np.ones(3) + 1e-6, np.ones(3, int)])
def test_results_that_differ_are_seen(other: np.ndarray) -> None:
    with pytest.raises(Mismatch, match="somehow"):
        agree("somehow", other, np.ones(3))


def test_the_command_counts_what_it_did() -> None:
    command = [
        sys.executable,
        "-m",
        "tests.soak",
        "--seconds",
        "2",
        "--seed",
        "3",
        "--most",
        "6",
        "--uncompiled",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed, 0 failed" in done.stdout
