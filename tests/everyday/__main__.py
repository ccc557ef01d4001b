"""Run the everyday programs, and print what each costs: ``python -m tests.everyday [name ...]``."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import funcgrad as fg
from tests.everyday.running import NAMES, program, seconds


def row(name: str) -> str:
    """The times of one program: NumPy's value, and value with gradient."""
    objective, start, reference, _ = program(name)
    numpys = seconds(lambda: reference(start))
    plain = fg.value_and_grad(objective)
    plain(start)
    unjitted = seconds(lambda: plain(start))
    compiled: Any = fg.jit(fg.value_and_grad(objective))
    begin = time.perf_counter()
    compiled(start)
    first = time.perf_counter() - begin
    jitted = seconds(lambda: compiled(start))
    return f"{name:24} {1e3 * numpys:10.3f} {1e3 * unjitted:12.3f} {1e3 * jitted:12.3f} {first:12.2f}"


def main() -> None:
    """Print a row for each program that is named, or for all."""
    warnings.simplefilter("ignore", fg.errors.LabelsDroppedWarning)
    print(  # noqa: T201 - its purpose
        f"{'':24} {'NumPy, ms':>10} {'gradient, ms':>12} {'compiled, ms':>12} {'first, s':>12}"
    )
    for name in sys.argv[1:] or NAMES:
        print(row(name), flush=True)  # noqa: T201 - its purpose


if __name__ == "__main__":
    main()
