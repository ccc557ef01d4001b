"""NumPy's arrays that a function of Numba's is called with inside of a trace, as constants of that trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.api.calling.written_arguments import Changes, outside_array
from funcgrad.api.njit.numbers import of_items
from funcgrad.tracing.recorder import active_recorder, captured
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything


class CapturedArguments:
    """NumPy's arrays among arguments, as constants of the open trace, which are read at traced places."""

    __slots__ = ("_changes", "_made")

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Tracer]] = {}
        self._changes = Changes()

    def of(self, x: Anything) -> Anything:
        """The argument, or what stands for it; one array is one traced array."""
        if isinstance(x, tuple):
            return of_items(x, self.of)
        if type(x) is not np.ndarray:
            return x
        made = self._made.get(id(x))
        if made is None:
            traced = captured(x, active_recorder())
            if type(traced) is not Tracer:
                return traced
            made = self._made[id(x)] = x, traced
        return made[1]

    def watch(self) -> None:
        """Watch them from now on."""
        self._changes.watch([x for _, x in self._made.values()])

    def refuse_written(self, name: str) -> None:
        """Raise where one of them has been written into."""
        if self._changes.written:
            raise outside_array(name)
