"""Elements of lists at a traced index: read out of one array that is made of the list, and written into it.

A list keeps being a list of Python's. A write at a traced index makes an array of it, writes there, and gives
the list the elements of the result: while nothing else happens to them they are rows of one array, so that
making an array of the list again costs nothing. A block that is recorded carries such a list as that array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.recording import OuterWrite, Place, all_of, current_block, note_made
from funcgrad.api.python.identity import Whole, shares_chosen, whole_arms
from funcgrad.errors import FuncgradError, IndexingError, TracedBranchError
from funcgrad.ir.avals import Aval
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.aliasing import Arm, ChosenAlias, as_chosen, as_view
from funcgrad.tracing.lists import asoperand, rows_of_one
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Index


def as_traced(x: ArrayLike) -> Array:
    """An array as one of the trace that is open."""
    recorder = active_recorder()
    assert recorder is not None, "a traced index belongs to a trace"
    number = recorder.index_of(asoperand(x))
    return Tracer(recorder, number, recorder.avals[number])


def joined_list(x: Sequence[Any]) -> Array:
    """A list of numbers or arrays as one array; of lists of them too."""
    try:
        if all(isinstance(row, list) for row in x) and len({len(row) for row in x}) == 1:
            x = [joined_list(row) for row in x]
        rows = rows_of_one(x, 0)
        return asoperand(x) if rows is None else rows
    except Exception as error:
        raise IndexingError(
            f"a {type(x).__name__} whose elements are of different types cannot be read at a traced index",
            source=here(),
            remedy="Make an array of it, or loop over it with a for statement.",
        ) from error


def give_rows(x: Anything, rows: Array) -> None:
    """Make a list, and the lists in it, hold the elements of an array."""
    if x and isinstance(x[0], list):
        for k, row in enumerate(x):
            give_rows(row, rows[k])
    else:
        list.__setitem__(x, slice(None), [rows[k] for k in range(len(x))])


class ListPlace(Place):
    """All elements of a list, and of lists in it, as one array that a block may change."""

    __slots__ = ("_held", "_last")

    def __init__(self, owner: list[Any], *, of_floats: bool = False) -> None:
        super().__init__("elements", owner, ...)
        self._last = int(of_floats)
        self._held: list[tuple[Any, list[Any]]] = []

    @property
    def last(self) -> int:
        """1 where whole numbers in it become floats, so that the place replaces the one of whole numbers."""
        return self._last

    @property
    def name(self) -> str:
        """A name that no other place has."""
        return all_of(self._owner)

    @property
    def names(self) -> tuple[str, ...]:
        """What a block that changes it is known to change."""
        return (self.name, of_floats(self.name)) if self._last else (self.name,)

    def check(self) -> None:
        """Raise OuterWrite where the block that is being recorded is not known to change this place."""
        block = current_block()
        if block is not None and not block.made_here(self._owner) and self.names[-1] not in block.known:
            raise OuterWrite((), [self])

    @property
    def cell_contents(self) -> Array:
        """The array of the elements."""
        members = copied(self._owner, float if self._last else None)
        found = joined_list(members)
        self._held.append((found, members))
        return found

    @cell_contents.setter
    def cell_contents(self, value: object) -> None:
        for array, members in self._held:
            if array is value:
                # As it was: also outside of the trace in which the array was made.
                restore(self._owner, members)
                return
        give_rows(self._owner, value)

    @cell_contents.deleter
    def cell_contents(self) -> None:
        """A list is never without its elements."""


def of_floats(name: str) -> str:
    """The name of a list whose whole numbers become floats."""
    return f"{name} of floats"


def copied(x: list[Any], of_int: Callable[[int], Any] | None = None) -> list[Any]:
    """The elements of a list, and of the lists in it; whole numbers of Python's as the function says."""
    if of_int is None:
        return [copied(y) if isinstance(y, list) else y for y in x]
    return [copied(y, of_int) if isinstance(y, list) else of_int(y) if type(y) is int else y for y in x]


def restore(x: list[Any], members: list[Any]) -> None:
    """Give a list, and the lists in it, their elements back."""
    for k, y in enumerate(members):
        if isinstance(y, list):
            restore(x[k], y)
        else:
            list.__setitem__(x, k, y)


# -- arrays in lists -----------------------------------------------------------------------------------------


class Untraced:
    """How a part of an array that is not traced hangs on it, at a traced index: read-only."""

    __slots__ = ("_array", "_index")

    def __init__(self, array: Array, index: Index) -> None:
        self._array = array
        self._index = index

    def get(self, _: object) -> Array:
        """The part, with what has been written into the array since."""
        return as_traced(asoperand(self._array))[self._index]

    def evaluate(self, _: object) -> Array:
        """An array that lies in memory as the part does: where the traced index says does not matter."""
        array = self._array if type(self._array) is np.ndarray else np.zeros(np.shape(asoperand(self._array)))
        items = self._index if isinstance(self._index, tuple) else (self._index,)
        return array[tuple([k if k is None or k is ... or isinstance(k, slice) else 0 for k in items])]

    def put(self, _: object, __: object) -> Array:
        """Refused: who else has the array would not see it."""
        raise TracedBranchError(
            "what is written here was read at a traced index, from an array that is not traced",
            source=here(),
            remedy="Make one array of it first (np.array in this function), and write x[i, j].",
        )


class Member(Whole):
    """An array of a list, which a name stands for where a traced index is its number."""

    __slots__ = ("index",)

    def __init__(self, base: Tracer, condition: Array, index: Index) -> None:
        super().__init__(base, condition)
        self.index = index


def element_of(x: Anything, index: Index) -> Anything:
    """The element of a list, a tuple or an array that is not traced, at a traced index."""
    one = isinstance(x, np.ndarray)
    for member in () if one else x:
        INSIDE.becomes_traced(member)
    if not one and all(isinstance(member, list) for member in x):
        return OneOf(x, index)
    if not one and x and all(type(member) is tuple and len(member) == len(x[0]) for member in x):
        return tuple([element_of(column, index) for column in zip(*x, strict=True)])
    joined = as_traced(x if one else joined_list(x))
    element = joined[index]
    if type(element) is not Tracer:  # a part of a traced length, of a copy: it is not written into
        opened = INSIDE.is_open(x) and INSIDE.becomes_traced(x)
        return x[index] if opened else element.viewed(lambda elements: elements, element.sides)
    if not element.aval.shape:
        return element
    if one or not all(type(member) is Tracer for member in x):
        return as_view(element, joined, Untraced(x, index))
    arms: list[Arm] = []
    for member, is_it in zip(x, numbers_equal(index, len(x)), strict=True):
        arms += [Member(member, is_it, index), *whole_arms(member, is_it)[1:]]
    return as_chosen(element, arms)


def numbers_equal(index: Index, n: int) -> list[Any]:
    """For each number below `n`, whether the index means it."""
    counted = where(np.less(index, 0), index + n, index)
    return [np.equal(counted, k) for k in range(n)]


# -- lists in lists ------------------------------------------------------------------------------------------


class OneOf(list[Any]):
    """One of several lists of equal length, at a traced index: what is written into it goes into that one."""

    __slots__ = ("_among", "_index", "_members", "_seen")

    def __init__(self, among: Anything, index: Index) -> None:
        self._among = among
        self._members = tuple(among)
        self._index = index
        self._seen = [copied(member) for member in self._members]
        super().__init__(self._read())

    @property
    def members(self) -> tuple[list[Any], ...]:
        """The lists that it may be."""
        return self._members

    def _read(self) -> list[Any]:
        if isinstance(self._members[0][0], list) if self._members[0] else False:
            columns = [[member[k] for member in self._members] for k in range(len(self._members[0]))]
            return [element_of(column, self._index) for column in columns]
        row = as_traced(joined_list(self._members))[self._index]
        return [row[k] for k in range(len(self._members[0]))]

    def _now(self) -> list[Any]:
        """The elements, with what has been written into any of the lists since."""
        if any(len(x) != len(y) for x, y in zip(self._seen, self._members, strict=True)):
            raise refused("has changed its length")
        same = [is_same_list(x, y) for x, y in zip(self._seen, self._members, strict=True)]
        return list(list.__iter__(self)) if all(same) else self._read()

    def __setitem__(self, index: Index, value: Anything) -> None:
        if isinstance(index, slice) or isinstance(self._members[0][0], list):
            raise refused("is written more than a number at a time")
        if len({id(x) for x in self._members}) < len(self._members):
            raise refused("may be the same list as another of them")
        whole = as_traced(joined_list(self._members))
        if np.ndim(whole) != 2:
            raise refused("holds arrays")
        block = current_block()
        if block is not None and not all(block.made_here(x) for x in self._members):
            if not isinstance(self._among, list):
                raise refused("is one of a tuple")
            ListPlace(self._among, of_floats=becomes_floats(whole, value)).check()
        changed = with_element(whole, (self._index, index), value)
        for k, member in enumerate(self._members):
            give_rows(member, changed[k])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._now())

    __hash__ = None


def lists_meant(x: Anything) -> tuple[Any, ...]:
    """The lists that one of several may be; anything else by itself."""
    return x.members if type(x) is OneOf else (x,)


def is_same_list(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two lists hold the very same elements, and these stand for what they did."""
    return all(
        is_same_list(x, y) if isinstance(x, list) and isinstance(y, list) else x is y
        for x, y in zip(one, other, strict=True)
    )


def reading(name: str) -> Callable[..., Any]:
    """The method of a list, of what one of several holds now."""

    def read(self: OneOf, *args: Anything) -> Anything:
        plain = [list(x) if isinstance(x, OneOf) else x for x in args]
        return note_made(getattr(self._now(), name)(*plain))

    return read


def changing(name: str) -> Callable[..., NoReturn]:
    """What is called instead of a method that changes the length or the order."""

    def refuse(self: OneOf, *_: object, **__: object) -> NoReturn:
        raise refused(f"is changed ({name})")

    return refuse


for _name in (
    *("__getitem__", "__add__", "__mul__", "__rmul__", "__contains__", "__eq__", "__ne__", "__lt__"),
    *("__le__", "__gt__", "__ge__", "__reversed__", "__repr__", "copy", "count", "index"),
):
    setattr(OneOf, _name, reading(_name))
for _name in (
    *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
    *("__delitem__", "__iadd__", "__imul__"),
):
    setattr(OneOf, _name, changing(_name))


def refused(how: str) -> FuncgradError:
    """The error for what cannot be done to a list that is one of several."""
    return TracedBranchError(
        f"a list that is one of several, at a traced index, {how}",
        source=here(),
        remedy="Make one array of the lists first (np.array in this function), and write x[i, j].",
    ).on_one_path()


# -- writing -------------------------------------------------------------------------------------------------


def store_element(x: list[Any], index: Index, value: ArrayLike) -> None:
    """``x[index] = value`` of a list, at a traced index."""
    if is_element(value, x, index):
        return  # ``x[index] += value`` has changed the array in place.
    block = current_block()
    if isinstance(value, list | tuple | dict) or (x and isinstance(x[0], list)):
        raise unwritable("a list in it is replaced")
    if block is not None and not block.made_here(x) and np.ndim(value):
        raise unwritable("an array in it is replaced, in a block that is recorded once")
    for member in (*x, value):
        INSIDE.becomes_traced(member)
    before = list(x)
    whole = as_traced(joined_list(x))
    ListPlace(x, of_floats=becomes_floats(whole, value)).check()
    changed = with_element(whole, index, value)
    give_rows(x, changed)
    if len(whole.aval.shape) > 1:
        for new, old, is_it in zip(x, before, numbers_equal(index, len(x)), strict=True):
            # Each is the array that it was, or the new one, for those who write into them later.
            shares_chosen(new, is_it, (value, old), (None, None), 0)


def is_element(value: object, x: list[Any], index: Index) -> bool:
    """Whether `value` is ``x[index]`` itself."""
    alias = value._alias if type(value) is Tracer else None
    if type(alias) is not ChosenAlias:
        return False
    arms = [arm for arm in alias.arms if isinstance(arm, Member) and arm.index is index]
    return len(arms) == len(x) and all(arm.base is y for arm, y in zip(arms, x, strict=True))


def becomes_floats(whole: Array, value: ArrayLike) -> bool:
    """Whether the value turns a list of whole numbers into one of floats."""
    return whole.aval.dtype.kind == "i" and aval_of_any(asoperand(value)).dtype.kind == "f"


def with_element(whole: Array, index: Index, value: ArrayLike) -> Array:
    """The array with another element, of a type that holds both."""
    place = whole[index].aval
    given = aval_of_any(asoperand(value))
    if given.shape != place.shape:
        raise unwritable(f"its elements are {place} and what is written is {given}")
    if given.dtype != place.dtype:
        dtype = common_type(place, given)
        if dtype != place.dtype:
            whole = whole.astype(dtype)
    changed = whole.frozen()
    changed[index] = value
    return changed


def common_type(place: Aval, given: Aval) -> np.dtype[Any]:
    """The dtype of a list's array that takes the value."""
    if place.dtype.kind == "b" or given.dtype.kind in "bc":
        raise unwritable(f"its elements are {place} and what is written is {given}")
    return np.result_type(place.dtype, given.dtype)


def unwritable(why: str) -> FuncgradError:
    """The error for a list that cannot be an array to a traced index."""
    return TracedBranchError(
        f"an element of a list is set at a traced index, and {why}",
        source=here(),
        remedy="Make an array before (np.zeros in this function), and write its elements; x[i][:] = v "
        "writes into an array that is in a list.",
    ).on_one_path()
