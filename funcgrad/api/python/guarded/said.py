"""What a block on traced values says, by `warnings.warn`, `print` or a logger: at the calls that come to it.

A block runs once while it is recorded, whether or not a call takes it later. So nothing is said then: whether
a call comes to the line is one more result of the Program, and what the line says is said after that call.
Where nothing can be asked at run time (there is no `jit` around, or each example of a `vmap` answers for
itself) a notice says, once for each line, that it is not said.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.recording import current_block
from funcgrad.api.python.guarded.guards import GuardPlace, Said, current_guards
from funcgrad.config import notices_are_given
from funcgrad.errors import TracedBranchError
from funcgrad.ir.catalog import CATALOG
from funcgrad.source import label_of
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Tree

LOGGED = frozenset(["critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning"])
"""Methods of loggers, and functions of `logging`, that say something."""


def saying(function: Anything) -> Callable[..., None] | None:
    """What is called in a block in place of a function that says something; None for others."""
    block = current_block()
    if block is None or type(function) not in (BuiltinMethodType, FunctionType, MethodType):
        return None
    if function is warnings.warn:
        return warned
    if function is print:
        return partial(reached, print) if is_in_branch() else None
    logs = function.__name__ in LOGGED and function.__module__ == "logging"
    return partial(reached, function) if logs else None


def is_in_branch() -> bool:
    """Whether a branch is recorded, and no loop alone: what a loop prints shows how it is recorded."""
    block = current_block()
    while block is not None and block.what != "an if":
        block = block.outer
    return block is not None


def warned(
    message: str | Warning,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: object = None,
    **_: object,
) -> None:
    """``warnings.warn``, at the line of the call that comes to it."""
    place = here()
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    emit = partial(warnings.warn_explicit, message, kind, place.file, place.line, source=source)
    reached(emit)


def reached(emit: Callable[..., object], *args: Tree, **kwargs: Tree) -> None:
    """Have each call that comes to this line say this afterwards."""
    place = here()
    note((place.file, place.line), partial(emit, *args, **kwargs), True)


def note(key: tuple[str, int], emit: Callable[[], object], flag: Anything) -> None:
    """Have each call for which the flag is set, where this is recorded, say something afterwards."""
    guards = current_guards()
    if guards is None:
        unsaid(key)
        return
    if guards.root is None:
        guards.root = active_recorder()
    said = guards.said.setdefault(key, Said())
    said.emit = emit
    place = SaidPlace(key, said, guards.root)
    place.check()
    place.cell_contents = flag if flag is True else CATALOG["logical_or"]().bind(flag, said.flag)


class SaidPlace(GuardPlace):
    """Whether a line is come to, as a place that blocks change; no place where nothing can be asked."""

    __slots__ = ("_line",)

    def __init__(self, line: tuple[str, int], said: Said, root: Recorder | None) -> None:
        super().__init__("attribute", said, "flag", root)
        self._line = line

    def put(self, value: Anything) -> None:
        """Set the flag, which stays as it is under a transform of which each example answers for itself."""
        try:
            super().put(value)
        except TracedBranchError:
            unsaid(self._line)


_UNSAID: dict[tuple[str, int], None] = {}
MOST_UNSAID = 1000


def unsaid(key: tuple[str, int]) -> None:
    """Say once for each line, on stderr, that what it says is not said."""
    if key in _UNSAID or not notices_are_given() or sys.stderr is None:
        return
    if len(_UNSAID) >= MOST_UNSAID:
        _UNSAID.clear()
    _UNSAID[key] = None
    print(  # noqa: T201 - a notice
        f"funcgrad: {label_of(key[0])}:{key[1]} says something where a traced value decides, and is recorded "
        "here without being run: it is not said",
        file=sys.stderr,
    )


def say_what_was_reached(said: Sequence[tuple[tuple[str, int], Said]], flags: Sequence[Any]) -> None:
    """Say what a call has come to; of a call that is itself recorded, have its calls say it."""
    for (key, one), flag in zip(said, flags, strict=True):
        if type(flag) is Tracer and not flag.has_value():
            note(key, one.emit, flag)
        elif bool(np.asarray(flag.concrete() if type(flag) is Tracer else flag)):
            one.emit()
