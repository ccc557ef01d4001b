"""``python -m funcgrad``: what is installed, a guided run, a quick benchmark, the cache."""

from __future__ import annotations

import sys

from funcgrad.command.line import main

if __name__ == "__main__":
    sys.exit(main())
