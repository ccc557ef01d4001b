"""Calls of compiled functions with nested tuples, lists and dictionaries, in machine code.

A builtin takes the arguments apart, calls with their leaves, and makes the structure of the results. Python
took 30 ns a leaf of a dictionary for that: it looked each key up, twice. Here the keys of a dictionary are
compared, as objects, with those of the last call, in the dictionary's own order; a key that is another object
is looked up, and is the known one from then on. A dictionary of results is a copy of one that has its keys,
whose values are put where they lie.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from sys import intern
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compile.differs import say
from funcgrad.compile.engines.llvm import Loaded
from funcgrad.compile.runtime.addresses.readable_memory import Unreadable
from funcgrad.compile.runtime.callers.caller import trusted_runtime
from funcgrad.compile.runtime.callers.dictionary_entries import template_of
from funcgrad.compile.runtime.callers.native_caller import new_builtin, words_of
from funcgrad.compile.runtime.machine import offsets
from funcgrad.compile.runtime.machine_code import FOR_STRUCTURES, machine_binary
from funcgrad.tree import TreeDef
from funcgrad.tree.nodes import DICT, LIST, TUPLE, NamedTupleNode, NoneNode
from funcgrad.tree.straight import PLAIN_KEYS, straight_call, straight_result
from funcgrad.tree.treedef import LEAF
from funcgrad.types import Anything

MOST_NODES = 2000
"""Leaves and containers whose places are on the stack of the call."""


def structure_call(
    call: Callable[..., Any], arguments: TreeDef, result: TreeDef
) -> Callable[..., Any] | None:
    """As `straight_call`, in machine code where the structure of the arguments allows it.

    >>> arguments = fg.tree.structure((({"w": 0, "b": 0},), {}))
    >>> swapped = structure_call(lambda b, w: (w, b), arguments, fg.tree.structure({"x": 0, "y": 0}))
    >>> swapped(({"w": 1.0, "b": 2.0},), {}), swapped((3.0,), {})
    ({'x': 1.0, 'y': 2.0}, NotImplemented)
    """
    found = trusted_structures()
    if found is not None and max(arguments.num_nodes, result.num_nodes) <= MOST_NODES:
        made = _Words(found).call(call, arguments, result)
        if made is not None:
            return made
    return straight_call(call, arguments, result)


@functools.cache
def trusted_structures() -> Loaded | None:
    """The code of calls with structures, if it does what it should; the user is told once if not.

    First calls do not wait for it: it is compiled when a structure comes a second time.
    """
    if trusted_runtime() is None:
        return None
    try:
        found = machine_binary(FOR_STRUCTURES).load()
        difference = structure_difference(found)
    except Exception as error:  # noqa: BLE001 - whatever it is, calls take another way, and the notice says why
        difference = f"a trial of calls with structures failed ({type(error).__name__}: {error})"
    if difference is None:
        return found
    say(f"{difference}: Python takes structures apart, which takes some ten nanoseconds a leaf more")
    return None


def structure_difference(found: Loaded) -> str | None:
    """What a call with structures got wrong, of its result or of counts of references; None if nothing."""
    leaves = [[k] for k in range(12)]
    inner = dict(zip("hgfedcba", leaves, strict=False))
    given = ((inner, leaves[8:11], None), {"z": (leaves[11],)})
    structure = tree.structure(given, is_leaf=lambda x: x in leaves)
    call = _Words(found).call(lambda *x: x, structure, structure)
    if call is None:
        return "machine code does not know a tuple, a list or a dictionary"
    kept = []
    for _ in range(3):
        before = [sys.getrefcount(x) for x in (*leaves, *inner, call)]
        made = call(*given)
        if made != given or [*made[0][0]] != [*"abcdefgh"]:
            return f"a call with structures made {made!r} of {given!r}"
        del made
        kept.append([sys.getrefcount(x) for x in (*leaves, *inner, call)] != before)
    # Once may be another thread that looks at this one's objects.
    return "a call with structures changed a count of references" if all(kept) else None


class _Words:
    """The tables of one call, as machine code reads them, and the objects that they name."""

    def __init__(self, found: Loaded) -> None:
        self.found = found
        self.held: list[Any] = []
        self.records: list[tuple[int, ...]] = []
        self.places = 0
        """How many objects the table of a call has by now."""
        self.filler: list[Any] = []
        """Stands in all templates: nobody else refers to it, and the collector tracks it."""

    def call(
        self, call: Callable[..., Any], arguments: TreeDef, result: TreeDef
    ) -> Callable[..., Any] | None:
        """The builtin; None where machine code cannot take the arguments apart."""
        if not self.takes(arguments):
            return None
        taken, self.records = self.records, []
        count = result.num_leaves
        flat = result.node_type is TUPLE and all(child is LEAF for child in result.children())
        # What is no tuple of so many results is for who knows trees.
        otherwise: Callable[..., Any] = functools.partial(tree.unflatten, result)
        if not flat and not self.makes(result):
            count, self.records = -1, []
            otherwise = straight_result(result)
        made = self.records
        places = max(arguments.num_leaves + len(taken), result.num_leaves + len(made)) + 2
        words = dict.fromkeys(range(0, offsets.STRUCTURE_BYTES, 8), 0)
        words[offsets.STRUCTURE_CALL] = id(call)
        words[offsets.STRUCTURE_LEAVES] = arguments.num_leaves
        words[offsets.STRUCTURE_TABLE_BYTES] = 8 * places
        words[offsets.STRUCTURE_TAKEN] = self.placed([word for record in taken for word in record])
        words[offsets.STRUCTURE_TAKEN_COUNT] = len(taken)
        words[offsets.STRUCTURE_MADE] = self.placed([word for record in made for word in record])
        words[offsets.STRUCTURE_MADE_COUNT] = len(made)
        words[offsets.STRUCTURE_RESULTS] = count
        words[offsets.STRUCTURE_OTHERWISE] = id(otherwise)
        words[offsets.STRUCTURE_NOT_IMPLEMENTED] = id(NotImplemented)
        words[offsets.STRUCTURE_TUPLE_TYPE] = id(tuple)
        words[offsets.STRUCTURE_STR_TYPE] = id(str)
        words[offsets.STRUCTURE_INT_TYPE] = id(int)
        words[offsets.STRUCTURE_BYTES_TYPE] = id(bytes)
        descriptor = words_of(words.values())
        keep = (self.held, self.filler, call, otherwise, self.found)
        return new_builtin(self.found.addresses["structured"], descriptor, keep)

    def placed(self, words: list[int]) -> int:
        """The address of an array of integers."""
        array = words_of(words)
        self.held.append(array)
        return int(array.ctypes.data)

    def record(self, kind: int, place: int, cls: object, children: list[int], *more: int) -> None:
        """Note a container; places are counted in objects."""
        self.held.append(cls)
        words = (kind, 8 * place, id(cls), len(children), self.placed([8 * k for k in children]), *more)
        self.records.append((*words, *(0,) * (offsets.CONTAINER_BYTES // 8 - len(words))))

    # -- arguments -------------------------------------------------------------------------------------------

    def takes(self, arguments: TreeDef) -> bool:
        """Note how ``(args, kwargs)`` come apart; whether machine code can do that."""
        positional, keywords = arguments.children()
        count = arguments.num_leaves
        self.places = count + 2
        return self.takes_one(positional, count, 0) and self.takes_one(
            keywords, count + 1, positional.num_leaves
        )

    def takes_one(self, treedef: TreeDef, place: int, leaf: int) -> bool:
        """Note how the container at a place comes apart, whose leaves begin with number `leaf`."""
        if isinstance(treedef.node_type, NoneNode):
            self.record(offsets.OF_NONE, place, None, [])
            return True
        places, inner = [], []
        for child in treedef.children():
            if child is LEAF:
                places.append(leaf)
            else:
                places.append(self.places)
                inner.append((child, self.places, leaf))
                self.places += 1
            leaf += child.num_leaves
        return self.noted(treedef, place, places) and all(
            self.takes_one(child, at, first) for child, at, first in inner
        )

    def noted(self, treedef: TreeDef, place: int, places: list[int]) -> bool:
        """Note a container of children at these places; whether machine code knows its kind."""
        node_type = treedef.node_type
        if node_type is TUPLE or isinstance(node_type, NamedTupleNode):
            self.record(offsets.OF_TUPLE, place, node_type.cls, places)
        elif node_type is LIST:
            self.record(offsets.OF_LIST, place, list, places)
        elif node_type is DICT and all(type(key) in PLAIN_KEYS for key in treedef.aux):
            keys = [intern(key) if type(key) is str else key for key in treedef.aux]
            known = np.empty(len(keys), object)
            known[:] = keys
            index = {key: 8 * k for key, k in zip(keys, places, strict=True)}
            self.held += [known, index]
            self.record(offsets.OF_DICT, place, dict, places, int(known.ctypes.data), id(index))
        else:
            return False
        return True

    # -- results ---------------------------------------------------------------------------------------------

    def makes(self, result: TreeDef) -> bool:
        """Note how the result is made, children before what holds them; whether machine code can do that."""
        if result is LEAF:
            self.record(offsets.OF_LEAF, 0, None, [0])
            return True
        self.places = result.num_leaves
        return self.makes_one(result, 0) is not None

    def makes_one(self, treedef: TreeDef, leaf: int) -> int | None:
        """The place of what has its leaves from number `leaf` on; None where Python has to make it."""
        if treedef is LEAF:
            return leaf
        places = []
        for child in treedef.children():
            place = self.makes_one(child, leaf)
            if place is None:
                return None
            places.append(place)
            leaf += child.num_leaves
        if not self.made(treedef.node_type, treedef.aux, places):
            return None
        self.places += 1
        return self.places - 1

    def made(self, node_type: Anything, keys: Anything, places: list[int]) -> bool:
        """Note a container that is made; whether machine code can make it."""
        if isinstance(node_type, NoneNode):
            self.record(offsets.OF_NONE, 0, None, [])
        elif node_type is TUPLE:
            self.record(offsets.OF_TUPLE, 0, tuple, places)
        elif node_type is LIST:
            self.record(offsets.OF_LIST, 0, list, places)
        elif node_type is DICT:
            try:
                found = template_of([intern(key) if type(key) is str else key for key in keys], self.filler)
            except Unreadable:
                return False
            if found is None:
                return False
            template, entries = found
            self.held.append(template)
            more = (id(template), self.placed(entries), id(self.filler))
            self.record(offsets.OF_DICT, 0, dict, places, *more)
        else:
            return False
        return True
