"""``python -m funcgrad.compat.autograd script.py [args]`` or ``-m module [args]``, with us for autograd."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from funcgrad.compat.autograd.installing import install

USAGE = "usage: python -m funcgrad.compat.autograd (script.py | -m module) [arguments]"


def main(arguments: list[str]) -> None:
    """Run a script or a module in which autograd is ours."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)  # noqa: T201 - its purpose
        return
    install()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            raise SystemExit(USAGE)
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
