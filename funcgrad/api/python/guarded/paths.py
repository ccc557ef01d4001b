"""One path through a function, recorded with values, and tested on every call.

Some functions have no one Program: what a traced condition appends to a list, sorts by a key, or returns as
None here and as a number there. Such a function is recorded as it runs for the arguments of one call. Every
value that is read meanwhile (by a branch, as an index or a size) has to be the same in a later call: that
is a guard, and one more result of the Program. Where it fails the next path is tried, and then recorded.
Where there are too many paths, or one is too long to be worth recording, Python runs the function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from funcgrad.api.control_flow.loop_notices import loops_unnoticed
from funcgrad.api.python.guarded.guards import require
from funcgrad.api.python.guarded.kept import Kept
from funcgrad.config import notices_are_given
from funcgrad.errors import ConcretizationError
from funcgrad.ir.catalog import CATALOG
from funcgrad.tracing.reading import NoPath, Unguarded, readings_told
from funcgrad.tracing.recorder import Recorder, active_recorder, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything

MOST_PATHS = 8
"""How many paths are compiled for one kind of arguments; on others Python runs."""
MOST_OPERATIONS = 2000
"""How many operations a path may have, since its loops are unrolled; where it has more Python runs."""

Path = TypeVar("Path")
T = TypeVar("T")

_WITHIN: ContextVar[bool] = ContextVar("funcgrad_path", default=False)


class LongPath(NoPath):
    """A path has too many operations."""


class Paths(list[Path]):
    """The paths that are recorded for one kind of arguments, and whether others are left to Python."""

    too_long = False
    """Whether one was too long."""

    @contextmanager
    def left_to_python(self, name: str, unchanged: Callable[[], bool]) -> Iterator[None]:
        """Within: one is recorded. If it is too long no others are, and stderr says so."""
        try:
            yield
        except LongPath:
            self.too_long = unchanged()
            if self.too_long and notices_are_given() and sys.stderr is not None:
                text = f"one path through it has more than {MOST_OPERATIONS:,} operations"
                print(  # noqa: T201 - a notice
                    f"funcgrad: {name} is run by Python under jit: it has no one Program, and {text}; "
                    "fg.explain says why",
                    file=sys.stderr,
                )
            raise


@contextmanager
def unchanged_where_long(kept: Kept) -> Iterator[None]:
    """Within: one is recorded. NoPath where that has changed something outside before it was too long."""
    try:
        yield
    except (LongPath, Unguarded):
        if kept.has_changed():
            raise NoPath from None
        raise


def run_by_python(
    function: Callable[..., T], leaves: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> T:
    """The result as Python finds it, without the notice that `jit` would keep loops: it would not."""
    recorder = recorder_of(leaves)
    if recorder is not None:
        recorder.native = True
    with loops_unnoticed():
        return function(*args, **kwargs)


def within_path() -> bool:
    """Whether a path is being recorded."""
    return _WITHIN.get()


def values_of(leaves: Sequence[Any]) -> list[Any]:
    """The values of the arguments, those of Python's numbers as NumPy's; raises NoPath where one has none."""
    try:
        return [x.concrete() if type(x) is Tracer else as_numpys(x) for x in leaves]
    except ConcretizationError:
        raise NoPath from None


def as_numpys(x: Anything) -> Anything:
    """A value that Programs are evaluated with."""
    return np.asarray(x)[()] if type(x) in (bool, int, float, complex) else x


def have_values(leaves: Sequence[Any]) -> bool:
    """Whether all values are there, and may be read."""
    return all(type(x) is not Tracer or x.has_value() for x in leaves)


@contextmanager
def recording_path() -> Iterator[None]:
    """Within: a function is recorded with values, and every value that is read becomes a guard."""
    token = _WITHIN.set(True)
    try:
        with readings_told(guard_reading), loops_unnoticed():
            yield
    finally:
        _WITHIN.reset(token)


def guard_reading(x: Tracer, value: Anything) -> None:
    """Require that `x` is `value` whenever this path is taken."""
    with readings_told(None):
        if length_of(active_recorder()) > MOST_OPERATIONS:
            raise LongPath
        if value.shape or value.dtype.kind != "b":
            require(np.all(np.equal(x, value)))
        else:
            require(x.frozen() if value else CATALOG["logical_not"]().bind(x))


def length_of(recorder: Recorder | None) -> int:
    """How many operations a trace has."""
    return 0 if recorder is None else len(recorder.steps)
