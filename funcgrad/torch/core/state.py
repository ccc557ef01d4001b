"""The modes that change what an operation does, one set for each thread, and settings that all share."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import numpy as np

from funcgrad.types import Anything


class Modes(threading.local):
    """Whether histories are kept, per thread."""

    grad = True
    """Operations on tensors that require grad remember."""
    inference = False
    device = "cpu"
    """Where tensors are made that are not told where: "cpu" or "meta"."""
    tangents = False
    """Whether a level of forward mode is open: its duals find tangents by histories, in `no_grad` as well."""
    said = True
    """What `is_grad_enabled` says; another than `grad` inside `no_grad` at such a level."""
    anomaly = False
    check_nan = True
    fast = True
    """Grad mode and none of the rarer modes: what the short path of an operation asks, once."""
    multithreading = True
    autocast_depth = 0
    saved_hooks: tuple[Any, ...] = ()
    """Pairs of hooks that pack and unpack what histories save; the last one counts."""
    written: Any = None
    """The tensor that the running operation will overwrite: hooks of saved values get a copy of it."""
    pushing = False
    """Whether this backward pass is the first half of a forward one: the user's rules for tangents count."""
    running: Any = None
    """The backward pass that is going on."""
    mapping: Any = None
    """The `vmap` whose function runs: what cannot be recorded in it is told so."""
    random_refused = False
    """Whether draws of random numbers are refused: in `vmap` that has not been told what to do with them."""
    hooks_refused: str | None = None
    """What to say where such hooks have been disabled."""

    def remember(self, mode: bool) -> None:
        """Keep histories or not, as the user says; where tangents need them they are kept in any case."""
        self.said, self.grad = mode, (mode or self.tangents) and not self.inference

    def settle(self) -> None:
        """Recompute `fast` after a mode has changed."""
        self.fast = self.grad and not self.inference and not self.anomaly and not self.saved_hooks


class Settings:
    """Settings of the whole process, as in PyTorch."""

    def __init__(self) -> None:
        self.default_dtype = np.dtype(np.float32)
        self.warn_always = False
        self.warned: set[str] = set()
        """The warnings given that come once in a process."""
        self.deterministic = False

    def may_warn(self, which: str) -> bool:
        """Whether a warning that PyTorch gives once is due: the first time, or always."""
        due = self.warn_always or which not in self.warned
        self.warned.add(which)
        return due


MODES = Modes()
SETTINGS = Settings()
SEQUENCE = count()
"""Numbers the nodes of all histories in the order they are made: a topological order."""


class _Quiet:
    """``np.errstate(all="ignore")`` without its cost: the state NumPy would make each time is made once."""

    __slots__ = ("_state", "_variable")

    def __init__(self, variable: Anything, state: Anything) -> None:
        self._variable = variable
        self._state = state

    def enter(self) -> Anything:
        """Silence; returns what `leave` needs."""
        return self._variable.set(self._state)

    def leave(self, token: Anything) -> None:
        """Undo `enter`."""
        self._variable.reset(token)


class _QuietByErrstate:
    """The same through the public door."""

    __slots__ = ()

    def enter(self) -> AbstractContextManager[None]:
        """Silence; returns what `leave` needs."""
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    def leave(self, token: AbstractContextManager[None]) -> None:
        """Undo `enter`."""
        token.__exit__(None, None, None)


def _make_quiet() -> _Quiet | _QuietByErrstate:
    # One in three operations on ten elements would otherwise be entering `errstate`.
    try:
        from numpy._core import umath  # noqa: PLC0415 - private, hence optional

        made = umath._make_extobj(all="ignore")
        return _Quiet(umath._extobj_contextvar, made)
    except (ImportError, AttributeError, TypeError):
        return _QuietByErrstate()


quiet = _make_quiet()
