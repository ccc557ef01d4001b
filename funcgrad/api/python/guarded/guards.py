"""Guards: what must hold for a recorded function to stand for the user's own, tested on every call.

``if x < 0: raise ValueError(...)`` and ``assert x > 0`` cannot be recorded: native code raises nothing. What
is recorded is the path on which nothing is raised, and that path's condition is one more result of the
Program. Where it is false the user's function is called itself, and raises what it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.recording import Place
from funcgrad.errors import TracedBranchError
from funcgrad.ir.catalog import CATALOG
from funcgrad.tracing.recorded import NO_VALUE
from funcgrad.tracing.recorder import Recorder, active_recorder, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.replay import inline
from funcgrad.types import Anything


class Said:
    """What a line says in a block on traced values, and whether a call comes to it."""

    __slots__ = ("emit", "flag")

    def __init__(self) -> None:
        self.emit: Callable[[], object] = bool
        """Says it."""
        self.flag: Any = False
        """Whether the line is come to: False, or a traced boolean."""


class Guards:
    """The guards of one compiled function while it is recorded."""

    __slots__ = ("chosen", "ok", "root", "said")

    def __init__(self) -> None:
        self.ok: Any = True
        """Whether all of them hold: True, or a traced boolean."""
        self.root: Recorder | None = None
        self.chosen: dict[int, tuple[Any, int]] = {}
        """Lists and dicts that a traced condition has chosen between, by id, with the line of the choice."""
        self.said: dict[tuple[str, int], Said] = {}
        """What is said in blocks, by file and line."""


_GUARDS: ContextVar[Guards | None] = ContextVar("funcgrad_guards", default=None)
_MADE: ContextVar[dict[int, Any] | None] = ContextVar("funcgrad_made", default=None)
"""The generators of random numbers that a function which is recorded has made itself, by identity."""


@contextmanager
def guarding() -> Iterator[Guards]:
    """Within: a function is being recorded, whose guards are collected."""
    token = _GUARDS.set(Guards())
    try:
        found = _GUARDS.get()
        assert found is not None, "it has just been set"
        with noting_made({}):
            yield found
    finally:
        _GUARDS.reset(token)


def current_guards() -> Guards | None:
    """The guards of the function that is being compiled, or None."""
    return _GUARDS.get()


@contextmanager
def noting_made(before: dict[int, Any] | None = None) -> Iterator[None]:
    """Within: a function is being recorded that may draw from generators which it makes, and no others.

    Others are those made `before`, by default what a function around it has made.
    """
    token = _MADE.set(dict(_MADE.get() or {}) if before is None else before)
    try:
        yield
    finally:
        _MADE.reset(token)


def note_made_while_recording(x: object) -> None:
    """Remember that the function which is being recorded has made `x`, and makes it at every call."""
    made = _MADE.get()
    if made is not None:
        made[id(x)] = x


def made_while_recording(x: object) -> bool:
    """Whether the function which is being recorded has made `x` itself; True where none is."""
    made = _MADE.get()
    return made is None or id(x) in made


class GuardPlace(Place):
    """A boolean of the compiled function's, which blocks change: what all guards say, what is come to."""

    __slots__ = ("_root",)

    def __init__(self, kind: str, owner: Anything, key: str, root: Recorder | None) -> None:
        super().__init__(kind, owner, key)
        self._root = root

    @property
    def cell_contents(self) -> object:
        """The boolean so far."""
        return getattr(self._owner, self._key)

    @cell_contents.setter
    def cell_contents(self, value: object) -> None:
        self.put(value)

    @cell_contents.deleter
    def cell_contents(self) -> None:
        setattr(self._owner, self._key, self._key == "ok")

    def put(self, value: Anything) -> None:
        """Set the boolean, as a value of the function's own."""
        setattr(self._owner, self._key, outside(value, self._root))


def require(condition: object) -> None:
    """Have the function that is being compiled test on every call that a traced boolean is true."""
    guards = _GUARDS.get()
    if guards is None:
        raise TracedBranchError(
            "whether this raises depends on a traced value, and nothing is there to test it",
            source=here(),
            remedy="Check arguments outside, or compile it with fg.jit, which tests it on every call.",
        ).on_one_path()
    if guards.root is None:
        guards.root = active_recorder()
    place = GuardPlace("attribute", guards, "ok", guards.root)
    place.check()
    place.cell_contents = CATALOG["logical_and"]().bind(condition, guards.ok)


def outside(value: Anything, root: Recorder | None) -> Anything:
    """The value as one of the innermost block around it, or of the compiled function itself."""
    while type(value) is Tracer and value._recorder is not root and not value._recorder.block:
        recorder = value._recorder
        operands = recorder.operand_values
        if any(x is NO_VALUE for x in operands):
            raise TracedBranchError(
                f"whether this raises depends on a traced value under {recorder.transform}",
                source=here(),
                remedy="Check arguments outside of the transformed function.",
            ).on_one_path()
        n_inputs = len(operands) - len(recorder.operands)
        program = recorder.program(range(n_inputs), (recorder.index_of(value),), lifted=True)
        outer = recorder_of(operands)
        if outer is None:
            return bool(recorder.value_of(value._index))
        value = inline(outer, program, operands)[0]
    return value
