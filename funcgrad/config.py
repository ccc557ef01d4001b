"""Owns the settings of a process. Each is an environment variable too, so that it can be set from outside.

A setting lives in the environment alone: processes that are started from here have it as well.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from funcgrad.shared import keep_through_forks

__all__ = [
    "constructors",
    "constructors_are_seen",
    "engine",
    "engine_name",
    "notices",
    "notices_are_given",
    "packages",
    "packages_taken_in",
    "take_in",
    "tracebacks",
    "tracebacks_are_full",
]

_NOTICES, _TRACEBACKS, _CONSTRUCTORS = "FUNCGRAD_NOTICES", "FUNCGRAD_TRACEBACKS", "FUNCGRAD_CONSTRUCTORS"
_CONSTRUCTORS_HELD = getattr(os.environ, "encodekey", str)(_CONSTRUCTORS)
"""As ``os.environ`` keeps it."""
_ENGINE, _PACKAGES = "FUNCGRAD_ENGINE", "FUNCGRAD_PACKAGES"
_ENGINES = ("direct", "numba")
_OFF = ("0", "off", "no", "false")


def notices(on: bool) -> None:
    """Say on stderr, or in a notebook, when a compilation takes longer than a second, or do not.

    As ``FUNCGRAD_NOTICES=0`` in the environment. They are given unless this says otherwise.

    >>> notices(False)
    """
    os.environ[_NOTICES] = "1" if on else "0"


def notices_are_given() -> bool:
    """Whether long compilations say so."""
    return os.environ.get(_NOTICES, "").lower() not in _OFF


def tracebacks(kind: Literal["short", "full"]) -> None:
    """Show only the user's frames in tracebacks (``"short"``, as at first), or all of them (``"full"``).

    As ``FUNCGRAD_TRACEBACKS=full`` in the environment. It holds for errors that are raised afterwards.

    >>> tracebacks("short")

    Raises ValueError for any other kind.
    """
    if kind not in ("short", "full"):
        raise ValueError(f"tracebacks are 'short' or 'full', not {kind!r}")
    os.environ[_TRACEBACKS] = kind


def tracebacks_are_full() -> bool:
    """Whether library frames are shown in tracebacks."""
    return os.environ.get(_TRACEBACKS, "") == "full"


def constructors(seen: bool) -> None:
    """Let ``np.zeros``, ``np.asarray`` and their kin make arrays of traces in traced functions, or do not.

    As ``FUNCGRAD_CONSTRUCTORS=0`` in the environment. They do unless this says otherwise; without it, traced
    values are written into arrays of ``fg.numpy.zeros``. Under `fg.jit` its option ``control_flow`` decides.

    >>> constructors(True)
    """
    os.environ[_CONSTRUCTORS] = "1" if seen else "0"


def constructors_are_seen() -> bool:
    """Whether traced functions see NumPy's constructors make arrays of traces.

    Every un-jitted call asks, and ``os.environ`` raises and catches KeyError for what it has not: its own
    dictionary is asked first.
    """
    held = getattr(os.environ, "_data", None)
    if type(held) is dict and _CONSTRUCTORS_HELD not in held:
        return True
    return os.environ.get(_CONSTRUCTORS, "").lower() not in _OFF


def engine(name: Literal["direct", "numba"]) -> None:
    """Compile by our own translator (``"direct"``, as at first), or by Numba.

    As ``FUNCGRAD_ENGINE=numba`` in the environment. It holds for kernels that are compiled
    afterwards. Results are the same; the direct engine compiles sooner, and leaves to Numba what it declines.

    >>> engine("direct")

    Raises ValueError for any other name.
    """
    if name not in _ENGINES:
        raise ValueError(f"engines are 'direct' and 'numba', not {name!r}")
    os.environ[_ENGINE] = name


def engine_name() -> str:
    """The engine that compiles.

    Raises ValueError where the environment names another.
    """
    name = os.environ.get(_ENGINE, "") or "direct"
    if name not in _ENGINES:
        raise ValueError(f"{_ENGINE} is {name!r}: engines are 'direct' and 'numba'")
    return name


def packages(*names: str) -> None:
    """Trace the functions of these installed packages as the user's own: constructors, `math`, control flow.

    As ``FUNCGRAD_PACKAGES=filterpy,thermo`` in the environment. Code of installed packages runs as it is as
    long as it calls functions that take traced values. Where it asks for ``np.asarray(x)`` or
    ``math.sqrt(x)``, the package is taken in by itself and the call made again; to say so beforehand saves
    that. Nothing is changed in a package: copies of its functions are called.

    >>> packages("filterpy", "transforms3d")
    >>> packages()

    Raises ValueError for what is no name of a package, and for NumPy, SciPy and Numba, which have rules here.
    """
    for name in names:
        if not name.isidentifier():
            raise ValueError(f"packages are named as they are imported, without dots: not {name!r}")
        if name in HAVE_RULES:
            raise ValueError(f"{name} cannot be traced as your own code: its functions have rules here")
    _set_packages(names)


_NAMING = allocate_lock()
keep_through_forks(_NAMING)


def take_in(name: str) -> None:
    """One package more."""
    with _NAMING:  # of two threads that take in one each, neither may undo the other's
        _set_packages([*packages_taken_in(), name])


def leave_out(name: str) -> None:
    """One package less."""
    with _NAMING:
        _set_packages([x for x in packages_taken_in() if x != name])


def _set_packages(names: Sequence[str]) -> None:
    os.environ[_PACKAGES] = ",".join(sorted(set(names)))
    forget_whose()


def forget_whose() -> None:
    """Look again whose code is whose, and what of it matters."""
    for forget in WHEN_PACKAGES_CHANGE:
        forget()


def packages_taken_in() -> frozenset[str]:
    """The installed packages whose functions are traced as the user's own."""
    return _names_in(os.environ.get(_PACKAGES, ""))


@lru_cache(maxsize=64)
def _names_in(text: str) -> frozenset[str]:
    return frozenset([x.strip() for x in text.split(",") if x.strip()]) - HAVE_RULES


HAVE_RULES = frozenset(["funcgrad", "llvmlite", "numba", "numpy", "scipy"])
"""Packages that are never traced as the user's own: their functions have rules here, or are ours."""
WHEN_PACKAGES_CHANGE: list[Callable[[], object]] = []
"""Called when the packages are others: what was remembered of whose code is whose is forgotten."""


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
