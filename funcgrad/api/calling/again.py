"""A call that ends in code that nobody saw is made again, with that code traced as the user's own.

Code of an installed package, and functions of the user's that are called under the name of an array's or a
container's method. Until then the function has run once already: what it prints, or counts outside of itself,
comes twice.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from traceback import walk_tb
from types import TracebackType
from typing import ParamSpec, TypeVar

from funcgrad.config import HAVE_RULES, forget_whose, leave_out, take_in
from funcgrad.errors import FuncgradError
from funcgrad.source import TOP, installed_package, library_files, strip_library_frames
from funcgrad.tracing.python.attributes import note_called
from funcgrad.tracing.python.functions import is_made
from funcgrad.tracing.python.instructions import running_instruction
from funcgrad.tracing.python.owners import is_users
from funcgrad.tracing.recorder import active_recorder

P = ParamSpec("P")
R = TypeVar("R")

NEVER = HAVE_RULES | {
    *("autograd", "cupy", "jax", "jaxlib", "tensorflow", "torch"),
    *("einops", "matplotlib", "opt_einsum", "pandas", "seaborn", "xarray"),
}
"""Packages that are never taken in by themselves: NumPy's kin, and those with arrays of their own."""

OF_KINDS = (TypeError, ValueError, AttributeError, AssertionError, RuntimeError)
"""What packages raise that ask for the type of their arguments."""

_TIMES: Counter[str] = Counter()
_ON_TRIAL: dict[str, str] = {}
"""Packages that asked for types and were taken in, by what they said: if they say it again, in vain."""
_MOST = 100
"""So often a package is taken in: a function may itself say that it shall not be."""


_LEARNT: dict[str, int] = {}
"""What errors have taught, packages and methods, and which thread was taught."""


class _Tried(threading.local):
    """What other threads have learnt and this one has tried with: a call that began before tries once."""

    def __init__(self) -> None:
        self.names: set[str] = set()


_TRIED = _Tried()


def learn(name: str) -> None:
    """Note that this thread has learnt something of an error, and calls again."""
    _LEARNT[name] = threading.get_ident()


def is_news(name: str) -> bool:
    """Whether another thread has learnt this, and no call of this one has been made again for it."""
    if _LEARNT.get(name, threading.get_ident()) == threading.get_ident() or name in _TRIED.names:
        return False
    _TRIED.names.add(name)
    return True


def is_final(error: BaseException) -> bool:
    """Whether an error goes to the user, without our frames; if not, a package on its way is taken in."""
    inside = active_recorder() is not None
    if not inside and isinstance(error, FuncgradError) and error.as_your_own and sees_more(error):
        return False
    package = None if inside else package_behind(error)
    ours = isinstance(error, FuncgradError)
    said = "" if ours else f"{type(error).__name__}: {error}"
    if package is None:
        if not inside:
            if is_taken_in_since(error):
                return False
            in_vain = _ON_TRIAL.pop(said, None)
            if in_vain is not None:
                leave_out(in_vain)
        strip_library_frames(error)
        return True
    take_in(package)
    # Other threads call again once it is taken in, not before.
    learn(package)
    _TIMES[package] += 1
    if not ours:
        _ON_TRIAL[said] = package
    return False


def sees_more(error: BaseException) -> bool:
    """Whether functions of the user's called as ``x.mean(...)`` led to an error, and are seen from now on."""
    entry = error.__traceback__
    names: list[str] = []
    while entry is not None and entry.tb_next is not None:
        inner = entry.tb_next.tb_frame.f_code
        if is_users(inner) and not is_made(inner) and is_users(entry.tb_frame.f_code):
            called = running_instruction(entry.tb_frame.f_code, entry.tb_lasti).function
            names += [str(step.value) for step in called[-1:]]
        entry = entry.tb_next
    new = [name for name in names if note_called(name)]
    if new:
        forget_whose()
    for name in new:
        learn(f".{name}")
    return bool(new) or any(is_news(f".{name}") for name in names)


def package_behind(error: BaseException) -> str | None:
    """The installed package that the user's code called, and that has ended in an error; None for another."""
    if isinstance(error, FuncgradError):
        most = _MOST if error.as_your_own else 0
    else:
        most = 1 if isinstance(error, OF_KINDS) else 0
    return (
        next((x for x in packages_between(error.__traceback__) if _TIMES[x] < most), None) if most else None
    )


def is_taken_in_since(error: BaseException) -> bool:
    """Whether another thread has taken in a package that an error came through, while this one was in it."""
    if not (error.as_your_own if isinstance(error, FuncgradError) else isinstance(error, OF_KINDS)):
        return False
    files = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    packages = {found[1] for found in map(TOP.search, files) if found is not None}
    return any(is_news(package) for package in sorted(packages))


def packages_between(entry: TracebackType | None) -> list[str]:
    """The installed packages on the way to an error that one of them has raised, the outermost first."""
    found: list[str] = []
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        package = installed_package(file)
        if package and package not in NEVER:
            found.append(package)
        elif TOP.search(file) is None and not library_files[file]:  # the user's own, called back
            found.clear()
        entry = entry.tb_next
    return found


def with_packages(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the function returns, called again for each package that has to be taken in."""
    while True:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if is_final(error):
                raise
