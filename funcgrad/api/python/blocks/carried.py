"""What a loop carries from trip to trip: names of the user's code, in slots of one dtype and shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.control_flow.control_types import joined, typed
from funcgrad.api.python.blocks.cells import (
    State,
    Value,
    aval_of_leaf,
    is_numeric,
    is_same,
    shown,
    taken_apart,
)
from funcgrad.api.python.blocks.recording import Place
from funcgrad.api.python.blocks.strengthened import strengthened
from funcgrad.api.python.identity import other_name, same_arrays
from funcgrad.api.python.unbound import UNBOUND
from funcgrad.errors import FuncgradError, ShapeError, TracedBranchError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.escapes import PREFIX
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything

Function = Callable[..., Any]


class FirstTripDiffers(Exception):
    """Raised when the first trip changes a type for good; has the error for when it cannot be done apart."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Loop(NamedTuple):
    """What a loop is made of."""

    block: Function
    state: State
    """All names that a trip binds."""
    carried: tuple[str, ...]
    """Those that a trip, or what follows the loop, may read from the trip before."""
    after: tuple[str, ...]
    """Those that may be read once the loop has ended."""
    what: str
    line: int

    @property
    def name(self) -> str:
        """What the Program of a trip is called."""
        return f"{self.block.__code__.co_name.strip('<>')}_line_{self.line}"


def with_objects(loop: Loop, entry: dict[str, Any], objects: Sequence[Place]) -> tuple[Loop, dict[str, Any]]:
    """The loop that carries these places in objects as well, and what all it carries is before it."""
    extra = [place.name for place in objects]
    state = loop.state.with_objects(objects)
    wider = loop._replace(state=state, carried=(*loop.carried, *extra), after=(*loop.after, *extra))
    return wider, {**state.values(), **entry}


class Slot(NamedTuple):
    """One leaf of a carried name: a number or array, or something fixed."""

    name: str
    start: Any
    aval: Aval | None
    """None for what is fixed."""
    only_out: bool = False
    """Whether it is bound by the trips alone: what it starts as, no trip may read."""


class Carried:
    """The names that a loop carries, as slots."""

    def __init__(self, loop: Loop, entry: dict[str, Any]) -> None:
        self.loop = loop
        self.values = {name: taken_apart(entry[name]) for name in loop.carried}
        self.slots: list[Slot] = []
        for name, value in self.values.items():
            for leaf in value.leaves:
                self.slots.append(Slot(name, leaf, aval_of_leaf(leaf) if is_numeric(leaf) else None))
        self.same: dict[str, str] = {}
        """Names of arrays that another name stands for as well, before and after every trip."""
        self.ends_same: dict[str, str] = {}
        """The same after a trip."""
        self.pinned: dict[str, Any] = {}
        """Names of arrays from outside of the loop, before and after every trip."""
        self.ends_outside: dict[str, Any] = {}
        """The same after a trip."""
        self.late: dict[str, Value] = {}
        """Names that only a trip binds, with values of the structure that it binds them to."""

    @property
    def avals(self) -> list[Aval]:
        """The avals of what is carried."""
        return [slot.aval for slot in self.slots if slot.aval is not None]

    @property
    def starts(self) -> list[Any]:
        """What the loop starts from."""
        return [typed(asoperand(slot.start), slot.aval) for slot in self.slots if slot.aval is not None]

    def bound_to(self, leaves: Sequence[Any], *, late: bool) -> dict[str, Any]:
        """The names, with these leaves in the slots; names that only trips bind where asked for."""
        found = iter(leaves)
        row: dict[str, list[Any]] = {name: [] for name in (*self.values, *self.late)}
        for slot in self.slots:
            row[slot.name].append(slot.start if slot.aval is None else next(found))
        values = {name: value.rebuilt(row[name]) for name, value in self.values.items()}
        for name, value in self.late.items():
            values[name] = value.rebuilt(row[name]) if late else UNBOUND
        for name, other in self.same.items():
            values[name] = values[other]
        values.update(self.pinned)
        return values

    def after_trip(self, values: dict[str, Any], given: dict[str, Any], indices: Sequence[int]) -> list[Any]:
        """The leaves that a trip leaves in the slots, or Retyped where the slots must be others.

        At the `indices` of the trace are what it was given for them.
        """
        slots: list[Slot] = []
        leaves: list[Any] = []
        changed = False
        for name in self.loop.carried:
            value = taken_apart(values[name])
            mine = [slot for slot in self.slots if slot.name == name]
            if self.values[name].treedef is None:
                if value.treedef is None:
                    continue
                if name not in self.late:
                    changed = True
                    self.late[name] = value
                    mine = [late_slot(name, leaf) for leaf in value.leaves]
            expected = self.late.get(name, self.values[name])
            if value.treedef != expected.treedef:
                raise self._differs(name, given[name], values[name], TreeError)
            for slot, leaf in zip(mine, value.leaves, strict=True):
                slots.append(self._kept(slot, leaf, given, values))
                leaves += [leaf] if slot.aval is not None else []
                changed = changed or slots[-1] is not slot
        if changed:
            same = len(slots) == len(self.slots) and self._is_stronger(slots, indices, leaves)
            self.slots = slots
            if not same:
                raise Retyped
        return leaves

    def _is_stronger(self, slots: Sequence[Slot], indices: Sequence[int], leaves: Sequence[Any]) -> bool:
        """Whether the slots differ by floats of Python's that are NumPy's; the trace then has them so."""
        pairs = zip(self.slots, slots, strict=True)
        typed_pairs = [(x, y) for x, y in pairs if x.aval is not None]
        changed = [k for k, (x, y) in enumerate(typed_pairs) if x is not y]
        for x, y in [typed_pairs[k] for k in changed]:
            if x.only_out or x.aval is None or x.aval.dtype != np.float64 or y.aval != x.aval.strong:
                return False
        recorder = active_recorder()
        return recorder is not None and strengthened(recorder, [indices[k] for k in changed], leaves)

    def _kept(self, slot: Slot, leaf: Anything, given: dict[str, Any], values: dict[str, Any]) -> Slot:
        """The slot, or one of the type that it must have."""
        if slot.aval is None:
            if is_same(slot.start, leaf):
                return slot
            raise self._differs(slot.name, given[slot.name], values[slot.name], TreeError)
        if not is_numeric(leaf):
            raise self._differs(slot.name, given[slot.name], values[slot.name], TreeError)
        got = aval_of_leaf(leaf)
        common = joined(slot.aval, got)
        if common is None:
            raise self._differs(slot.name, given[slot.name], values[slot.name], ShapeError)
        if common == slot.aval:
            return slot
        if slot.only_out:
            return slot._replace(aval=common, start=before_any_trip(common))
        return slot._replace(aval=common)

    def follow_identity(
        self,
        given: dict[str, Any],
        values: dict[str, Any],
        entry: dict[str, Any],
        before: dict[str, Any],
        outside: dict[str, Any],
    ) -> None:
        """Have names of one array stay names of one; raises where a trip writes and they do not.

        `outside` are the names that end a trip as arrays from outside of the loop.
        """
        at_start, at_end = same_arrays(entry), same_arrays(values)
        same = {name: other for name, other in at_start.items() if at_end.get(name) == other}
        pinned = {name: x for name, x in outside.items() if entry[name] is x}
        if same.keys() != self.same.keys() or pinned.keys() != self.pinned.keys():
            self.same, self.pinned = same, pinned
            raise Retyped
        self.ends_same, self.ends_outside = at_end, outside
        written = [
            name
            for name, x in given.items()
            if x is not UNBOUND and name not in pinned and fingerprint_of(x) != before[name]
        ]
        for name in written:
            parted = set(at_start.items()) ^ set(at_end.items())
            partner = next((x for pair in sorted(parted) if name in pair for x in pair if x != name), None)
            if partner is None and values.get(name) is not given[name]:
                # What is written under this name may have come from any that lets go of its array.
                left = [entry[x] for x in given if values.get(x) is not given[x] and is_array(entry[x])]
                partner = next(filter(None, [other_name(x, given) for x in left]), None)
            if partner is not None:
                raise self._parted(name, partner)
        for name, x in outside.items():
            if name not in pinned and entry[name] is not UNBOUND and x._recorder is active_recorder():
                raise self._parted(name, other_name(x, given) or "another name")

    def _parted(self, name: str, partner: str) -> FirstTripDiffers:
        return FirstTripDiffers(
            TracedBranchError(
                f"{self.loop.what} of line {self.loop.line} writes into `{name}`, which is the same array as "
                f"`{partner}` at one end of a trip and another at the other",
                source=here(),
                remedy="Copy the array before the loop, or keep it under one name.",
            )
        )

    def refuse_changed(self, names: set[str], given: dict[str, Any]) -> None:
        """Raise where a trip changes lists or dicts in place that it then lets go of: who else has them?"""
        for name in sorted(names):
            kind = type(given[name]).__name__
            raise FirstTripDiffers(
                TracedBranchError(
                    f"{self.loop.what} of line {self.loop.line} changes `{name}`, a {kind}, in place and "
                    "binds the name to another one",
                    source=here(),
                    remedy="Do one of the two, or use arrays.",
                )
            )

    def _differs(
        self, name: str, before: object, after: object, kind: type[FuncgradError]
    ) -> FirstTripDiffers:
        spoken = "what is returned" if name.startswith(PREFIX) else f"`{name}`"
        return FirstTripDiffers(
            kind(
                f"{spoken} is {shown(before)} before {self.loop.what} of line {self.loop.line} and "
                f"{shown(after)} after a trip, and a loop must keep what it carries of one type",
                source=here(),
                remedy="Start with a value of the type it has later.",
            )
        )


class Retyped(Exception):
    """Raised when a trip has shown that slots must be of other types: it is recorded again."""


def late_slot(name: str, leaf: object) -> Slot:
    """The slot for a leaf that only trips bind."""
    if not is_numeric(leaf):
        return Slot(name, leaf, None, True)
    aval = aval_of_leaf(leaf)
    return Slot(name, before_any_trip(aval), aval, True)


def before_any_trip(aval: Aval) -> object:
    """What stands for a name that no trip has bound: NaN, so that reading it is seen; zero for integers."""
    return np.full(aval.shape, np.nan if aval.inexact else 0, aval.dtype)[()]


def is_array(x: object) -> bool:
    """Whether `x` is a traced array, which may have several names and be written."""
    return type(x) is Tracer and bool(x.aval.shape)


def is_outer(x: Tracer) -> bool:
    """Whether a tracer belongs to a trace around the one that is open."""
    return x._recorder is not active_recorder()


def fingerprint_of(value: object) -> list[Any]:
    """Something that differs once an array among the leaves has been written."""
    return [(id(x._recorder), x._index) for x in taken_apart(value).leaves if type(x) is Tracer]
