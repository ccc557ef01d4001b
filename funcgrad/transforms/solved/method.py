"""What the equation `solved` asks of a method: types, values and tangents of what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.tracing.primitive import Flags

Programs = tuple[Program, ...]


class Method:
    """A way to find something; concrete methods are frozen dataclasses of plain options.

    The functions a method works on are Programs, which it is handed, so that a method that is met again
    with the same functions is the same equation.
    """

    differentiable = True
    """Whether anything that is found has a derivative."""

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        """The avals of what is found for inputs of these avals."""
        raise NotImplementedError

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        """What is found for these numbers."""
        raise NotImplementedError

    def solve_many(
        self, programs: Programs, values: Sequence[Any], size: int, flags: Flags
    ) -> Sequence[Any] | None:
        """`solve` for a batch, axis 0 of the flagged values; None to have it done one by one."""
        return None

    def written_out(
        self, programs: Programs, avals: Sequence[Aval], size: int, flags: Flags
    ) -> Program | None:
        """`solve_many` as a Program of what it is handed, for compiled code; None where there is none."""
        return None

    def tangents(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], dots: Sequence[Any]
    ) -> Sequence[Any]:
        """The tangents of the results, recorded with ordinary operations; None for those that have none."""
        raise NotImplementedError
