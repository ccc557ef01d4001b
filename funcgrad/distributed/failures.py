"""What went wrong on a worker, as a value that travels, and the error that is made of it where it arrives."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass
from typing import Literal

from funcgrad.errors import DistributedError, FuncgradError, ShardError, WorkerVersionError
from funcgrad.source import Source, strip_library_frames, user_location_of

Rows = tuple[int, int] | None
"""The first row of a shard and the one after its last; None where nobody has counted."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong with a shard."""

    kind: Literal["shard", "worker", "version"]
    shard: int
    where: str
    seen: str
    remedy: str | None = None
    source: Source | None = None
    rows: Rows = None
    cause: bytes | None = None
    """The exception, pickled, where it can be."""
    text: str = ""
    """The traceback on the worker."""

    def error(self) -> DistributedError:
        """What is raised where the call was made."""
        if self.kind == "version":
            return WorkerVersionError(self.seen, remedy=self.remedy)
        if self.kind == "worker":
            return self._caused(DistributedError(self.seen, remedy=self.remedy))
        error = ShardError(
            self.seen, source=self.source, remedy=self.remedy, shard=self.shard, rows=self.rows
        )
        return self._caused(error)

    def _caused(self, error: DistributedError) -> DistributedError:
        cause = None if self.cause is None else pickle.loads(self.cause)
        if isinstance(cause, BaseException):
            cause.add_note(f"On the worker {self.where}:\n{self.text}")
            error.__cause__ = cause
        elif self.text:
            error.add_note(f"On the worker {self.where}:\n{self.text}")
        return error


def name_of_shard(shard: int, count: int, rows: Rows) -> str:
    """What messages call a shard.

    >>> name_of_shard(3, 8, (300, 400))
    'shard 3 of 8 (rows 300 to 399)'
    """
    if rows is None:
        return f"shard {shard} of {count}"
    first, stop = rows
    said = f"rows {first} to {stop - 1}" if stop > first else "no rows"
    return f"shard {shard} of {count} ({said})"


def failure_of(error: BaseException, shard: int, count: int, rows: Rows, where: str) -> Failure:
    """An exception that the function raised on a shard, with the user's own line."""
    place = user_location_of(error)
    source = None if place is None else Source(*place)
    message, remedy = str(error), None
    if isinstance(error, FuncgradError):
        message, remedy, source = error.seen, error.remedy, error.source or source
    name = name_of_shard(shard, count, rows)
    said = f"{name} raised {type(error).__name__}: {message}" if message else f"{name} raised {error!r}"
    return Failure("shard", shard, where, said, remedy, source, rows, pickled(error), "".join(text_of(error)))


def text_of(error: BaseException) -> list[str]:
    """The traceback as Python prints it, of the user's frames."""
    strip_library_frames(error)
    return traceback.format_exception(error)


def pickled(error: BaseException) -> bytes | None:
    """The exception as bytes; None where its class or its arguments do not go through pickle and back."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:  # noqa: BLE001 - any class of exception may refuse in any way; the text goes along
        return None
    return data


def version_failure(theirs: str, ours: str, shard: int, where: str) -> Failure:
    """A worker with another version than the process that sends it work."""
    return Failure(
        "version",
        shard,
        where,
        f"the worker {where} has funcgrad {ours}, and this process has funcgrad {theirs}",
        "Install the same version on all workers: their results must be the same program's.",
    )
