"""What a cell holds, which may be nothing: the name is bound later, or has been deleted."""

from __future__ import annotations

from types import CellType
from typing import Protocol

from funcgrad.types import Anything


class Cell(Protocol):
    """What is read as a cell is: a name's, or a place in an object."""

    @property
    def cell_contents(self) -> Anything:
        """What it holds; raises ValueError where that is nothing."""


class Unbound:
    """Stands for the value of a name that is not bound."""

    def __repr__(self) -> str:
        return "<not bound>"


UNBOUND = Unbound()


def value_in(cell: CellType | Cell) -> object:
    """What the cell holds, or UNBOUND.

    >>> value_in((lambda x: lambda: x)(1.0).__closure__[0])
    1.0
    """
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND
