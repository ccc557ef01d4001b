"""Calls with structures: takes arguments apart, calls with the leaves, makes a structure of the results.

``me`` is a tuple whose first item is an array of integers, the descriptor; `structure_caller` writes it.
Objects on the way stand in one table, the leaves first: each record says where in it a container stands, and
where its children go, or come from.
"""

from __future__ import annotations

from funcgrad.compile.runtime.machine.objects import (
    ARRAY_DATA,
    DICT_KEYS,
    LIST_ITEMS,
    OBJECT_COUNT,
    OBJECT_TYPE,
    SEQUENCE_LENGTH,
    TUPLE_ITEMS,
)
from funcgrad.compile.runtime.machine.offsets import (
    CHILDREN,
    CHILDREN_COUNT,
    CONTAINER,
    CONTAINER_BYTES,
    CONTAINER_KIND,
    CONTAINER_TYPE,
    ENTRIES,
    FILLER,
    KNOWN_KEYS,
    OF_DICT,
    OF_LEAF,
    OF_NONE,
    OF_TUPLE,
    PLACES_OF_KEYS,
    STRUCTURE_BYTES_TYPE,
    STRUCTURE_CALL,
    STRUCTURE_INT_TYPE,
    STRUCTURE_LEAVES,
    STRUCTURE_MADE,
    STRUCTURE_MADE_COUNT,
    STRUCTURE_NOT_IMPLEMENTED,
    STRUCTURE_OTHERWISE,
    STRUCTURE_RESULTS,
    STRUCTURE_STR_TYPE,
    STRUCTURE_TABLE_BYTES,
    STRUCTURE_TAKEN,
    STRUCTURE_TAKEN_COUNT,
    STRUCTURE_TUPLE_TYPE,
    TEMPLATE,
)
from funcgrad.compile.runtime.machine.words import (
    copied_dict,
    decrement,
    dict_length,
    found_entry,
    increment,
    long_value,
    new_list,
    new_tuple,
    next_entry,
    peek,
    peek_i32,
    poke,
    poke_i32,
    stack_space,
    vectorcall,
)


def structured(me: int, arguments: int, count: int) -> int:
    """What CPython calls with a tuple and a dictionary: a new reference to what is made of the results.

    NotImplemented for arguments of another structure; zero and an exception where there is one.
    """
    d = peek(peek(me + TUPLE_ITEMS) + ARRAY_DATA)
    leaves = peek(d + STRUCTURE_LEAVES)
    table = stack_space(peek(d + STRUCTURE_TABLE_BYTES))
    walk = stack_space(32)
    if count != 2:
        return left_to_others(d)
    for k in range(count):
        poke(table + 8 * (leaves + k), peek(arguments + 8 * k))
    if not is_taken(d, table, walk):
        return left_to_others(d)
    # Another thread may empty the containers while the code runs.
    for k in range(leaves):
        increment(peek(table + 8 * k))
    results = vectorcall(peek(d + STRUCTURE_CALL), table, leaves, 0)
    for k in range(leaves):
        decrement(peek(table + 8 * k))
    if results == 0 or results == peek(d + STRUCTURE_NOT_IMPLEMENTED):
        return results
    return structure_of(d, table, results)


def left_to_others(d: int) -> int:
    """NotImplemented."""
    increment(peek(d + STRUCTURE_NOT_IMPLEMENTED))
    return peek(d + STRUCTURE_NOT_IMPLEMENTED)


def is_taken(d: int, table: int, walk: int) -> bool:
    """Take all containers apart; whether each is as its record says. References are borrowed."""
    record = peek(d + STRUCTURE_TAKEN)
    for _ in range(peek(d + STRUCTURE_TAKEN_COUNT)):
        thing = peek(table + peek(record + CONTAINER))
        kind = peek(record + CONTAINER_KIND)
        if kind == OF_NONE:
            if thing != peek(record + CONTAINER_TYPE):
                return False
        elif peek(thing + OBJECT_TYPE) != peek(record + CONTAINER_TYPE):
            return False
        elif kind == OF_DICT:
            if not entries_are_taken(d, record, thing, table, walk):
                return False
        elif peek(thing + SEQUENCE_LENGTH) != peek(record + CHILDREN_COUNT):
            return False
        else:
            items = thing + TUPLE_ITEMS if kind == OF_TUPLE else peek(thing + LIST_ITEMS)
            places = peek(record + CHILDREN)
            for k in range(peek(record + CHILDREN_COUNT)):
                poke(table + peek(places + 8 * k), peek(items + 8 * k))
        record += CONTAINER_BYTES
    return True


def entries_are_taken(d: int, record: int, thing: int, table: int, walk: int) -> bool:
    """Take a dictionary apart in its own order, in which its keys mostly are the objects of the last call."""
    count = peek(record + CHILDREN_COUNT)
    if dict_length(thing) != count:
        return False
    known = peek(record + KNOWN_KEYS)
    places = peek(record + CHILDREN)
    poke(walk, 0)
    for k in range(count):
        if next_entry(thing, walk, walk + 8, walk + 16) == 0:
            return False
        if peek(walk + 8) != peek(known + 8 * k) and not is_learned(d, record, k, peek(walk + 8), walk + 24):
            return False
        poke(table + peek(places + 8 * k), peek(walk + 16))
    return True


def is_learned(d: int, record: int, k: int, key: int, cell: int) -> bool:
    """Note another key at this turn of the walk, with the place of its child; whether there is such a key.

    Keys of other types than these may have an equality of their own, which is not for machine code to ask.
    """
    kind = peek(key + OBJECT_TYPE)
    if kind not in (
        peek(d + STRUCTURE_STR_TYPE),
        peek(d + STRUCTURE_INT_TYPE),
        peek(d + STRUCTURE_BYTES_TYPE),
    ):
        return False
    place = found_entry(peek(record + PLACES_OF_KEYS), key)
    if place == 0:
        return False
    poke(peek(record + CHILDREN) + 8 * k, long_value(place, cell))
    known = peek(record + KNOWN_KEYS) + 8 * k
    before = peek(known)
    increment(key)
    poke(known, key)
    decrement(before)
    return True


def structure_of(d: int, table: int, results: int) -> int:
    """What is made of results; takes over their reference. Zero and an exception where memory ends."""
    count = peek(d + STRUCTURE_RESULTS)
    if (
        count < 0
        or peek(results + OBJECT_TYPE) != peek(d + STRUCTURE_TUPLE_TYPE)
        or peek(results + SEQUENCE_LENGTH) != count
    ):
        poke(table, results)
        made = vectorcall(peek(d + STRUCTURE_OTHERWISE), table, 1, 0)
        decrement(results)
        return made
    if peek(d + STRUCTURE_MADE_COUNT) == 0:
        return results
    # A tuple that nobody else has gives its references away.
    alone = peek_i32(results + OBJECT_COUNT) == 1
    for k in range(count):
        item = results + TUPLE_ITEMS + 8 * k
        poke(table + 8 * k, peek(item))
        if alone:
            poke(item, 0)
        else:
            increment(peek(item))
    decrement(results)
    record = peek(d + STRUCTURE_MADE)
    made = 0
    for k in range(peek(d + STRUCTURE_MADE_COUNT)):
        made = container_of(record, table)
        if made == 0:
            # Containers already made have taken their children over.
            for left in range(count + k):
                if peek(table + 8 * left) != 0:
                    decrement(peek(table + 8 * left))
            return 0
        poke(table + 8 * (count + k), made)
        record += CONTAINER_BYTES
    return made


def container_of(record: int, table: int) -> int:
    """A container that takes its children over from the table, or zero."""
    kind = peek(record + CONTAINER_KIND)
    count = peek(record + CHILDREN_COUNT)
    sources = peek(record + CHILDREN)
    if kind == OF_NONE:
        increment(peek(record + CONTAINER_TYPE))
        return peek(record + CONTAINER_TYPE)
    if kind == OF_LEAF:
        return taken_over(table + peek(sources))
    if kind == OF_DICT:
        return dictionary_of(record, table)
    made = new_tuple(count) if kind == OF_TUPLE else new_list(count)
    if made == 0:
        return 0
    items = made + TUPLE_ITEMS if kind == OF_TUPLE else peek(made + LIST_ITEMS)
    for k in range(count):
        poke(items + 8 * k, taken_over(table + peek(sources + 8 * k)))
    return made


def taken_over(source: int) -> int:
    """What stands at a place of the table, which gives its reference away."""
    thing = peek(source)
    poke(source, 0)
    return thing


def dictionary_of(record: int, table: int) -> int:
    """A copy of the template, whose entries are replaced where they lie: its keys need not be looked up.

    All values of the template are one object, which nobody else refers to and which the collector tracks,
    so that it tracks the copy too. Nothing of Python's runs between the copy and the last entry.
    """
    made = copied_dict(peek(record + TEMPLATE))
    if made == 0:
        return 0
    count = peek(record + CHILDREN_COUNT)
    sources = peek(record + CHILDREN)
    entries = peek(record + ENTRIES)
    keys = peek(made + DICT_KEYS)
    for k in range(count):
        poke(keys + peek(entries + 8 * k), taken_over(table + peek(sources + 8 * k)))
    filler = peek(record + FILLER)
    poke_i32(filler + OBJECT_COUNT, peek_i32(filler + OBJECT_COUNT) - count)
    return made
