"""A call that ends in code of an installed package is made again, with the package traced as the user's own.

Until then the function has run once already: what it prints, or counts outside of itself, comes twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from funcgrad.config import HAVE_RULES, take_in
from funcgrad.errors import FuncgradError
from funcgrad.source import installed_package, library_files, strip_library_frames
from funcgrad.tracing.recorder import active_recorder

__all__ = ["is_final", "with_packages"]

P = ParamSpec("P")
R = TypeVar("R")

NEVER = HAVE_RULES | {"autograd", "cupy", "jax", "jaxlib", "tensorflow", "torch"}
"""Packages that are never taken in by themselves: NumPy's kin, and those with arrays of their own."""

OF_KINDS = (TypeError, ValueError, AttributeError, AssertionError, NotImplementedError)
"""What packages raise that ask for the type of their arguments."""

_TIMES: Counter[str] = Counter()
_MOST = 100
"""So often a package is taken in: a function may itself say that it shall not be."""


def is_final(error: BaseException) -> bool:
    """Whether an error goes to the user, without our frames; if not, a package on its way is taken in."""
    strip_library_frames(error)
    if active_recorder() is not None:
        return True
    if isinstance(error, FuncgradError):
        most = _MOST if error.package_to_take_in() else 0
    else:
        most = 1 if isinstance(error, OF_KINDS) else 0
    package = next((x for x in packages_between(error) if _TIMES[x] < most), None)
    if package is None:
        return True
    _TIMES[package] += 1
    take_in(package)
    return False


def packages_between(error: BaseException) -> Iterator[str]:
    """The installed packages on the way to an error, the one that the user's code calls first."""
    entry = error.__traceback__
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        package = installed_package(file)
        if package and not library_files[file] and package not in NEVER:
            yield package
        entry = entry.tb_next


def with_packages(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the function returns, called again for each package that has to be taken in."""
    while True:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if is_final(error):
                raise
