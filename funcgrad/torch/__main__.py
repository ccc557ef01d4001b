"""``python -m funcgrad.torch script.py [args]`` or ``-m module [args]``, with us for PyTorch."""

from __future__ import annotations

import sys

from funcgrad.standing_in import run_program

if __name__ == "__main__":
    run_program("funcgrad.torch", sys.argv[1:])
