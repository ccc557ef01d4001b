"""``python -m funcgrad.compat.autograd script.py [args]`` or ``-m module [args]``, with us for autograd."""

from __future__ import annotations

import sys

from funcgrad.standing_in import run_program

if __name__ == "__main__":
    run_program("funcgrad.compat.autograd", sys.argv[1:])
