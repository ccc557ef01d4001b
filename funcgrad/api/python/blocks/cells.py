"""The names that a block shares with its function, as cells; and their values, taken apart.

A value is numbers and arrays in some structure. What else it holds (strings, functions, None) is *fixed*:
control flow cannot change it, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.python.blocks.outside import CellPlace, names_of_cells
from funcgrad.api.python.blocks.recording import Place
from funcgrad.api.python.unbound import UNBOUND, value_in
from funcgrad.errors import TracedBranchError
from funcgrad.ir.avals import Aval
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.lists import asoperand, holds_tracer
from funcgrad.tracing.python.escapes import PREFIX
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything

Block = Callable[..., Any]


def cells_of(*functions: Anything) -> dict[str, CellType]:
    """The cells that functions share with the one around them, by name."""
    found: dict[str, CellType] = {}
    for function in functions:
        if function is not None:
            found.update(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return found


def put(cell: CellType | Place, value: object) -> None:
    """Bind the name, or unbind it."""
    if value is not UNBOUND:
        cell.cell_contents = value
    elif value_in(cell) is not UNBOUND:
        del cell.cell_contents


class State(NamedTuple):
    """Some names of a function."""

    cells: Mapping[str, CellType | Place]
    names: tuple[str, ...]

    @classmethod
    def of(cls, blocks: Sequence[Any], names: Sequence[str]) -> State:
        """The names among those that the blocks share."""
        return cls(cells_of(*blocks), tuple(names))

    def values(self) -> dict[str, Any]:
        """What the names are bound to now."""
        return {name: value_in(self.cells[name]) for name in self.names}

    def bind(self, values: Mapping[str, Any]) -> None:
        """Bind the names to other values."""
        for name, value in values.items():
            put(self.cells[name], value)

    def with_objects(self, objects: Sequence[Place]) -> State:
        """These names and places in objects, which have names too."""
        extra = {place.name: place for place in objects}
        return State({**self.cells, **extra}, (*self.names, *extra))

    @property
    def known(self) -> list[str]:
        """What a block that binds these names may change: they, and the same cells by any other way."""
        shared = [(name, cell) for name, cell in self.cells.items() if name in self.names]
        places = [name for _, cell in shared if isinstance(cell, Place) for name in cell.names]
        return [*self.names, *places, *names_of_cells(shared)]

    def leave(self, values: Mapping[str, Any]) -> None:
        """Bind the names to what a block leaves, which is a change by the block around it."""
        for name in self.names:
            cell = self.cells[name]
            if isinstance(cell, Place):
                cell.check()
            put(cell, values.get(name, UNBOUND))


class Value(NamedTuple):
    """A value taken apart: leaves that can be recorded, fixed leaves, and how they belong together."""

    treedef: Any
    leaves: tuple[Any, ...]
    whole: Any = None
    """The list or dict that was taken apart, if it was there before the block that left it."""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which leaves are numbers or arrays."""
        return tuple([is_numeric(x) for x in self.leaves])

    def rebuilt(self, leaves: Sequence[Any]) -> object:
        """The value with other leaves."""
        return UNBOUND if self.treedef is None else tree.unflatten(self.treedef, leaves)


def taken_apart(value: object) -> Value:
    """The value as leaves and structure; UNBOUND has neither."""
    if value is UNBOUND:
        return Value(None, ())
    if is_numeric(value):
        return Value(LEAF, (value,))
    try:
        leaves, treedef = tree.flatten(value)
    except Exception:  # noqa: BLE001 - a structure that is none of ours to know is one fixed leaf
        return Value(LEAF, (value,))
    return Value(treedef, tuple(leaves))


LEAF = tree.structure(0)


def is_numeric(x: object) -> bool:
    """Whether control flow can carry the leaf."""
    if isinstance(x, Tracer | float | int | complex | np.generic):
        return not isinstance(x, np.generic) or x.dtype.kind in "fciub"
    return isinstance(x, np.ndarray) and (
        x.dtype.kind in "fciub" or (x.dtype == object and holds_tracer([x]))
    )


def is_same(one: object, other: object) -> bool:
    """Whether two leaves are the same, so that nothing has to be chosen or carried."""
    if one is other:
        return True
    if type(one) is not type(other) or isinstance(one, Tracer | np.ndarray):
        return False
    try:
        return bool(one == other) and repr(one) == repr(other)
    except Exception:  # noqa: BLE001 - what cannot be compared is not known to be the same
        return False


def aval_of_leaf(x: object) -> Aval:
    """The aval of a numeric leaf."""
    return aval_of_any(asoperand(x))


def shown(value: object) -> str:
    """A value as messages show it: avals for numbers and arrays."""
    if value is UNBOUND:
        return "not bound"
    if is_numeric(value):
        return (
            str(aval_of_leaf(value)) if not isinstance(value, bool | int | float | complex) else repr(value)
        )
    taken = taken_apart(value)
    if taken.treedef == LEAF or isinstance(value, str):
        text = repr(value)
        return text if len(text) <= 60 else f"a {type(value).__name__}"
    parts = ", ".join([shown(x) for x in taken.leaves[:4]])
    return f"a {type(value).__name__} ({parts})" if parts else repr(value)


def listed(names: Sequence[str]) -> str:
    """The user's own names among these, as a report lists them."""
    return ", ".join([name for name in names if not name.startswith(PREFIX)]) or "nothing by name"


def is_undecided(x: object) -> bool:
    """Whether `x` is traced, and no value of it exists yet."""
    return type(x) is Tracer and not x.has_value()


def tracers_within(cells: Mapping[str, CellType]) -> list[Tracer]:
    """The tracers that the names hold, in containers, objects and closures too."""
    found: dict[int, Tracer] = {}
    seen: set[int] = set()
    stack: list[Any] = [value_in(cell) for cell in cells.values()]
    while stack and len(seen) < MOST_OBJECTS:
        x = stack.pop()
        if type(x) is Tracer:
            found[id(x)] = x
        elif id(x) not in seen:
            seen.add(id(x))
            stack += parts_of(x)
    return list(found.values())


def within_reach(cells: Mapping[str, Any]) -> Iterator[Any]:
    """What the names hold, however deep, each thing once."""
    seen: set[int] = set()
    stack: list[Any] = [value_in(cell) for cell in cells.values()]
    while stack and len(seen) < MOST_OBJECTS:
        x = stack.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        stack += parts_of(x)
        yield x


def namespaces_within(cells: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The attributes of the objects of the user's classes that the names hold, however deep."""
    found: list[dict[str, Any]] = []
    for x in within_reach(cells):
        held = getattr(x, "__dict__", None)
        theirs = not isinstance(x, FunctionType | ModuleType | type)
        if theirs and type(held) is dict and not type(x).__module__.startswith("funcgrad"):
            found.append(held)
    return found


def other_cells(cells: Mapping[str, Any]) -> list[tuple[CellType, Any]]:
    """The cells of functions within reach that are none of these, and what they hold."""
    mine = {id(cell.cell if isinstance(cell, CellPlace) else cell) for cell in cells.values()}
    found: dict[int, CellType] = {}
    for x in within_reach(cells):
        if isinstance(x, FunctionType):
            found.update({id(cell): cell for cell in x.__closure__ or () if id(cell) not in mine})
    return [(cell, value_in(cell)) for cell in found.values()]


def refuse_changed(cells: Sequence[tuple[CellType, Any]], what: str, line: int) -> None:
    """Give cells back what they held, and raise if one of them holds something else."""
    changed = [(cell, value) for cell, value in cells if value_in(cell) is not value]
    for cell, value in changed:
        put(cell, value)
    if changed:
        raise TracedBranchError(
            f"a function that {what} of line {line} calls changes a name of another function",
            remedy="Return the new value, or keep it in an attribute of an object.",
        )


MOST_OBJECTS = 2000
"""How many objects are looked into for tracers."""


def parts_of(x: object) -> list[Any]:
    """What a container, an instance of a user's class or a closure holds."""
    if isinstance(x, list | tuple):
        return list(x)
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, FunctionType):
        return [value_in(cell) for cell in x.__closure__ or ()]
    if isinstance(x, MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, np.ndarray | np.generic | ModuleType | type | str | float | int):
        return []
    held = getattr(x, "__dict__", None)
    return list(held.values()) if type(held) is dict and not type(x).__module__.startswith("funcgrad") else []
