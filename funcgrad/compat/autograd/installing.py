"""Standing in for autograd: `import autograd` finds this package, with all its submodules."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

OURS = "funcgrad.compat.autograd"
THEIRS = "autograd"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``autograd.x`` as ``funcgrad.compat.autograd.x``, the very same module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != THEIRS and not fullname.startswith(f"{THEIRS}."):
            return None
        if importlib.util.find_spec(OURS + fullname[len(THEIRS) :]) is None:
            return None
        return ModuleSpec(fullname, self, is_package=False)

    def create_module(self, spec: ModuleSpec) -> Any:
        module = importlib.import_module(OURS + spec.name[len(THEIRS) :])
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The machinery has given the module the other name's spec; it keeps its own.
        module.__spec__ = self._own


def install() -> None:
    """Let ``import autograd`` and its submodules find funcgrad's; said once on stderr.

    Raises ImportError where autograd itself has been imported already.

    >>> install()
    >>> import autograd.numpy
    >>> autograd.numpy.__name__
    'funcgrad.compat.autograd.numpy'
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    loaded = sys.modules.get(THEIRS)
    if loaded is not None:
        raise ImportError(
            f"autograd has been imported already, from {loaded.__file__}: install() comes first"
        )
    sys.meta_path.insert(0, _Finder())
    print("funcgrad.compat.autograd stands in for autograd", file=sys.stderr)  # noqa: T201 - its purpose
