"""Short trials of `endurance`: the compiler's memory is bounded, and threads that meet compute what is right.

`.ci/run` tries threads and pools for longer, and what thousands of functions and shapes leave in memory.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "endurance.py"


def tried(*arguments: object) -> str:
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", [0, 1])
def test_threads_that_trace_compile_call_drop_and_collect(seed):
    assert "steps of 8 threads" in tried("threads", 2, seed)


def test_ranges_are_handed_to_any_number_of_threads():
    assert "1 to 16 threads" in tried("pool", 2, 0)


def test_the_compiler_of_a_long_program_needs_little_memory():
    assert "where LLVM ran" in tried("compiler", 40)
