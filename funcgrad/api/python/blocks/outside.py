"""Names of other functions and modules that a call changes, as places that go into a block and come out.

A function that declares a name ``nonlocal`` or ``global`` changes it wherever it is called. While a block is
recorded every function that it calls is asked for such names, so that each is carried as the block's own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dis import get_instructions
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from funcgrad.api.python.blocks.recording import OuterWrite, Place, current_block


class CellPlace(Place):
    """A name of another function, by its cell."""

    __slots__ = ("cell",)

    def __init__(self, cell: CellType, spelled: str) -> None:
        super().__init__("cell", cell, spelled)
        self.cell = cell

    @property
    def shared(self) -> CellType:
        """What all functions that know the name have in common."""
        return self.cell

    @property
    def spelled(self) -> str:
        """The name, as it is written."""
        return str(self._key)

    @property
    def name(self) -> str:
        """A name that no other place has."""
        return name_of_cell(self.cell, self._key)

    @property
    def cell_contents(self) -> object:
        """What the name is bound to; ValueError where it is not."""
        return self.cell.cell_contents

    @cell_contents.setter
    def cell_contents(self, value: object) -> None:
        self.cell.cell_contents = value

    @cell_contents.deleter
    def cell_contents(self) -> None:
        del self.cell.cell_contents


class GlobalPlace(Place):
    """A name of a module."""

    __slots__ = ()

    def __init__(self, module: dict[str, Any], spelled: str) -> None:
        super().__init__("element", module, spelled)

    @property
    def shared(self) -> object:
        """What all functions that know the name have in common."""
        return self._owner

    @property
    def spelled(self) -> str:
        """The name, as it is written."""
        return str(self._key)

    @property
    def name(self) -> str:
        """A name that no other place has."""
        return f"{self._owner.get('__name__', 'a module')}.{self._key}"


def name_of_cell(cell: CellType, spelled: str) -> str:
    """The name of a cell among places."""
    return f"{spelled} at {id(cell):x}"


def names_of_cells(cells: Iterable[tuple[str, Any]]) -> list[str]:
    """The names that these cells have among places, given with what they are called."""
    return [name_of_cell(cell, spelled) for spelled, cell in cells if isinstance(cell, CellType)]


class Stores(NamedTuple):
    """The names outside of itself that code binds."""

    free: frozenset[str]
    module: frozenset[str]


@functools.lru_cache(maxsize=4096)
def stores_of(code: CodeType) -> Stores:
    """The names of functions around it and of its module that the code, or a function inside, may bind."""
    free: set[str] = set()
    module: set[str] = set()
    for step in get_instructions(code):
        if step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars:
            free.add(step.argval)
        elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            module.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found = stores_of(inner)
            free |= found.free & frozenset(code.co_freevars)
            module |= found.module
    return Stores(frozenset(free), frozenset(module))


def places_changed_by(function: object) -> list[CellPlace | GlobalPlace]:
    """The names outside of itself that a call of `function` may change."""
    plain = function_behind(function)
    if plain is None:
        return []
    code = plain.__code__
    stores = stores_of(code)
    if not stores.free and not stores.module:
        return []
    cells = zip(code.co_freevars, plain.__closure__ or (), strict=True)
    shared = [CellPlace(cell, spelled) for spelled, cell in cells if spelled in stores.free]
    return [*shared, *[GlobalPlace(plain.__globals__, spelled) for spelled in sorted(stores.module)]]


def check_names_changed_by(function: object) -> None:
    """Raise OuterWrite where a call of `function` changes names that the block is not known to change."""
    block = current_block()
    if block is None:
        return
    places = places_changed_by(function)
    new = [x for x in places if x.name not in block.known and not block.made_here(x.shared)]
    if new:
        raise OuterWrite((), new)


def function_behind(function: object) -> FunctionType | None:
    """The function of Python's that a call of `function` runs, as far as that can be seen."""
    while isinstance(function, MethodType | functools.partial):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    if isinstance(function, FunctionType):
        return function
    kind = function if isinstance(function, type) else type(function)
    found = kind.__dict__.get("__init__" if kind is function else "__call__")
    return found if isinstance(found, FunctionType) else None
