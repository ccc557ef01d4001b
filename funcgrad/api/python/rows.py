"""A row of a list of lists, read at a traced index: an array, refused where a list means something else."""

from __future__ import annotations

from sys import _getframe
from typing import Any

from funcgrad.api.arguments import here
from funcgrad.errors import TracedBranchError
from funcgrad.source import is_library_code
from funcgrad.tracing.aliasing import Alias
from funcgrad.tracing.tracer import Tracer

__all__ = ["RowAlias"]

MEANING = {"add": "joins lists", "mul": "repeats a list"} | dict.fromkeys(
    ["eq", "ne", "lt", "le", "gt", "ge"], "compares lists as a whole"
)
"""What Python's operators do with lists and tuples, by the ends of their methods' names."""


class RowAlias(Alias):
    """What such a row hangs on; it is asked at each use, and the row itself never changes."""

    __slots__ = ()

    def current_index(self, part: Tracer) -> int:
        """The index of the row; raises TracedBranchError where an operator is one of lists."""
        frame: Any = _getframe(1)
        while frame is not None and is_library_code(frame.f_code):
            called, frame = frame, frame.f_back
            if frame is None or not is_library_code(frame.f_code):
                refuse_list(called.f_locals, called.f_code.co_name)
        return part._index


def refuse_list(names: dict[str, Any], function: str) -> None:
    """Raise where the method of an operator, which has these names, has a list or tuple on either side."""
    method = str(names.get("name", "eq" if function == "compare" else "")).strip("_")
    meaning = MEANING.get(method) or MEANING.get(method[1:])
    both = [names[key] for key in ("self", "other") if key in names]
    if meaning and len(both) == 2 and all(is_listed(x, meaning) for x in both):
        raise TracedBranchError(
            f"this {meaning}, and one was read at a traced index: it is an array here",
            source=here(),
            remedy="Make an array of the list of lists (np.array) where numbers are meant, or do it before "
            "the list is read.",
        )


def is_listed(x: Any, meaning: str) -> bool:
    """Whether Python would see a list or tuple here, or what it repeats one by."""
    counts = meaning == MEANING["mul"]
    if type(x) is Tracer:
        return type(x._alias) is RowAlias or (counts and not x.aval.shape and x.aval.dtype.kind in "iub")
    return isinstance(x, list | tuple) or (counts and isinstance(x, int))
