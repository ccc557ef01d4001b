"""How transformed functions and those with rules are pickled: by name where Python finds them, else by parts.

A decorated function is known to its module by its name, which is all that pickle needs. Other processes do
not have what was defined in ``__main__``, in a notebook's cells, say: joblib and Dask send such functions by
cloudpickle, which takes plain functions of ``__main__`` apart, and so must we.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FrameType
from typing import Any

from funcgrad.types import Anything

_PICKLER_FRAMES = 4
"""How far above a ``__reduce__`` the pickler that asks is at most."""


def name_for_pickle(x: object, module: str, qualified_name: str) -> str | None:
    """The name by which another process will find `x` in its module; None where it must be taken apart."""
    if found_by_name(module, qualified_name) is not x:
        return None
    return None if module == "__main__" and asked_by_cloudpickle(_getframe(1)) else qualified_name


def found_by_name(module: str, qualified_name: str) -> Anything:
    """The object a module has under a qualified name, or None."""
    found: Any = sys.modules.get(module)
    for part in qualified_name.split("."):
        found = getattr(found, part, None)
    return found


def asked_by_cloudpickle(frame: FrameType | None) -> bool:
    """Whether cloudpickle, or a copy of it inside another package, is pickling now."""
    for _ in range(_PICKLER_FRAMES):
        if frame is None:
            return False
        if "cloudpickle" in str(frame.f_globals.get("__name__")).split("."):
            return True
        frame = frame.f_back
    return False
