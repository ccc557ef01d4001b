"""Kernels can be loaded wherever memory is: between gigabytes that the process has mapped."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import funcgrad as fg

SCRIPT = """
    import mmap
    import numpy as np
    import funcgrad as fg
    from funcgrad.compile.passes.kernel import make_kernel
    from funcgrad.compile.runtime.binaries import binary_of

    def chain(length):
        def f(x):
            for k in range(length):
                x = np.exp(x) * (1.5 + k) if k % 2 else np.sin(x) + 0.1 * k
            return np.sum(x)
        return f

    # Code and constants of different sizes, so that both find room in different places.
    kernels = [make_kernel(fg.make_program(chain(length))(np.ones(3))) for length in (1, 4, 9)]
    binaries = [binary_of(kernel.code, kernel.functions) for kernel in kernels]
    kept = []
    for k in range(600):
        kept.append(mmap.mmap(-1, (1 << 12, 3 << 30, 1 << 16, 1 << 20)[k % 4]))  # takes no memory until used
        kept.append(binaries[7 * k % 3].load())
    print(len(kept))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="maps memory of which nothing is used")
def test_code_and_its_constants_stay_together(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        cwd=Path(fg.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.stdout, done.returncode) == ("1200\n", 0), done.stderr
