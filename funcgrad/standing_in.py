"""Standing in for a peer: under its name, programs that import it find a package of ours.

Owns the finder and the command line of that. Knows nothing about what the packages hold.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import runpy
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``theirs.x`` as ``ours.x``, the very same module."""

    def __init__(self, ours: str, theirs: str, refused: Mapping[str, str]) -> None:
        self.ours = ours
        self.theirs = theirs
        self.refused = refused
        """The submodules that are not here, with what to do instead."""
        self._specs: dict[str, Any] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.theirs and not fullname.startswith(f"{self.theirs}."):
            return None
        below = fullname[len(self.theirs) :]
        if importlib.util.find_spec(self.ours + below) is None:
            self._refuse(fullname, below[1:])
            return None
        return ModuleSpec(fullname, self, is_package=False)

    def _refuse(self, fullname: str, name: str) -> None:
        if name in self.refused:
            raise ModuleNotFoundError(
                f"{self.ours} does not support {name!r}: {self.refused[name]}", name=fullname
            )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.ours + spec.name[len(self.theirs) :])
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The machinery has given the module the other name's spec; it keeps its own.
        assert module.__spec__ is not None
        module.__spec__ = self._specs.pop(module.__spec__.name)


def stand_in(ours: str, theirs: str, refused: Mapping[str, str] | None = None) -> None:
    """Let ``import theirs`` and its submodules find the package `ours`; said once on stderr.

    `refused` holds submodules that are not here, with what to do instead: the sentence of the
    ModuleNotFoundError. Raises ImportError where `theirs` itself has been imported already.
    """
    if any(isinstance(finder, _Finder) and finder.theirs == theirs for finder in sys.meta_path):
        return
    loaded = sys.modules.get(theirs)
    if loaded is not None:
        raise ImportError(
            f"{theirs} has been imported already, from {loaded.__file__}: install() comes first"
        )
    sys.meta_path.insert(0, _Finder(ours, theirs, refused or {}))
    print(f"{ours} stands in for {theirs}", file=sys.stderr)  # noqa: T201 - its purpose


def run_program(ours: str, arguments: list[str]) -> None:
    """Run ``script.py [arguments]`` or ``-m module [arguments]``, once the package `ours` stands in.

    `ours` has an ``install``, which is called first.
    """
    usage = f"usage: python -m {ours} (script.py | -m module) [arguments]"
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage)  # noqa: T201 - its purpose
        return
    if arguments == ["-m"]:
        raise SystemExit(usage)
    importlib.import_module(ours).install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    runpy.run_path(arguments[0], run_name="__main__")
