"""Words for memory: views of what the table points to, of a function's frame, and of what is asked for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.compile.language.pointers import DTYPES, ElementView, Slot
from funcgrad.compile.language.values import STORAGE, AliasScope, Reused, Type, Unsupported, Value, View
from funcgrad.compile.language.word import Elements, Known, Sample, Signature, Types, Word, fixed, kinds
from funcgrad.types import Anything, Foreign

if TYPE_CHECKING:
    from funcgrad.compile.language.word import Built, Instructions


def scope_of(known: Sequence[Known]) -> AliasScope | None:
    """The alias scope that numbers in the text say: one, or one and the times of its use."""
    numbers = [x for x in known if isinstance(x, int)]
    if len(numbers) < len(known) or len(numbers) not in (1, 3):
        return None
    return numbers[0] if len(numbers) == 1 else Reused(*numbers)


def view_word(storage: str) -> Word:
    """The word that reads a pointer as elements of a type."""
    name = f"as_{storage}"

    def viewed(slot: Anything, scope: int = 0, first: int = 0, last: int = 0) -> ElementView:
        return ElementView(slot.address, DTYPES[storage], slot)

    viewed.__name__ = name
    viewed.__doc__ = (
        f"The elements at a pointer, as {DTYPES[storage]}; views of one number may overlap, and those of "
        "others that are used at other times."
    )

    def rule(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
        # A table's entry says itself which memory it is; a number says it for other pointers.
        if not given or (given[0] != "ptr" and not isinstance(given[0], View)):
            return None
        scope = given[0].scope if isinstance(given[0], View) else None
        if len(given) > 1:
            scope = scope_of(known[1:])
        return Signature(tuple(given), View(storage, scope))

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        slot, *chosen = arguments
        if slot.type != "ptr":
            raise Unsupported(f"a view of {slot.type}")
        scope = scope_of([x.known for x in chosen]) if chosen else slot.scope
        return Value(View(storage, scope), slot.text)

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        return arguments[0]

    element = STORAGE[storage][0]
    samples = (Sample("out[i] = a[i]", (Elements(storage, (1, 0, 3)),), element),)
    return Word(name, Types(f"pointer -> view of {storage}", rule), viewed, direct, lowered, samples)


def stack_word(storage: str) -> Word:
    """The word that makes a few elements of the function's own."""
    name = f"stack_{storage}"

    def made(count: int) -> ElementView:
        room = np.zeros(count, DTYPES[storage])
        return ElementView(room.ctypes.data, room.dtype, room)

    made.__name__ = name
    made.__doc__ = f"As many elements of {DTYPES[storage]} as are written out, for the call of this function."

    def rule(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
        written = len(given) == 1 and isinstance(known[0], int)
        return Signature(tuple(given), View(storage, None)) if written else None

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        (count,) = arguments
        if not isinstance(count.known, int):
            raise Unsupported("a local array whose length is not a constant")
        memory = STORAGE[storage][1]
        length = count.known * (2 if storage in ("c64", "c128") else 1)
        return Value(View(storage, None), writer.allocate(memory, length, align=64))

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        return lowering.allocated(STORAGE[storage][2] * lowering.known[0])

    text = f"few = stack_{storage}(2)\nfew[1] = a[i]\nout[i] = few[1]"
    samples = (Sample(text, (Elements(storage, (1, 0, 3)),), STORAGE[storage][0]),)
    return Word(name, Types(f"n written out -> view of {storage}", rule), made, direct, lowered, samples)


@kinds("view, n -> view")
def moved(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A view and a number of elements."""
    if len(given) != 2 or not isinstance(given[0], View) or not isinstance(given[1], str):
        return None
    return Signature((given[0], "i64"), given[0])


def shifted(view: ElementView, count: int) -> ElementView:
    """The view that starts some elements later."""
    return view.shifted(count)


def direct_shifted(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """An address further on."""
    view, count = arguments
    found: Value = writer.shifted(view, writer.cast(count, "i64"))
    return found


def lowered_shifted(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """An address further on."""
    view, count = arguments
    assert isinstance(signature.result, View)
    size = lowering.constant("i64", STORAGE[signature.result.storage][2])
    return lowering.moved(view, lowering.builder.mul(count, size))


_allocate, _again, _free = (
    getattr(ctypes.pythonapi, f"PyMem_Raw{name}") for name in ("Malloc", "Realloc", "Free")
)
_allocate.restype = _again.restype = ctypes.c_void_p
_allocate.argtypes, _free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
_again.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def malloc(count: int) -> Slot:
    """So many bytes, which `free` gives back."""
    return Slot(_allocate(int(count)) or 0)


def realloc(memory: Anything, count: int) -> Slot:
    """The memory with another number of bytes, somewhere else perhaps."""
    return Slot(_again(memory.address, int(count)) or 0)


def free(memory: Anything) -> None:
    """Give memory back."""
    _free(memory.address)


def direct_symbol(name: str, arguments: tuple[str, ...], result: str) -> Built:
    """A call of one of C's functions."""

    def direct(writer: Anything, given: Sequence[Value]) -> Value:
        values = [
            Value("ptr", value.text) if kind == "ptr" else writer.cast(value, kind)
            for value, kind in zip(given, arguments, strict=True)
        ]
        called: Value = writer.call(name, result, values)
        return called

    return direct


def lowered_symbol(name: str) -> Built:
    """A call of one of C's functions."""

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        return lowering.call(name, signature.result, arguments)

    return lowered


@kinds("pointer -> int64")
def located(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A pointer or a view."""
    return Signature(("ptr",), "i64") if len(given) == 1 else None


def address_of(memory: Anything) -> int:
    """Where it lies, as a number that functions at addresses read."""
    return int(memory.address)


def direct_address(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """The pointer as an integer."""
    (view,) = arguments
    return Value("i64", writer.emit(f"ptrtoint ptr {view.text} to i64"))


def lowered_address(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """The pointer as an integer."""
    return lowering.builder.ptrtoint(arguments[0], lowering.constant("i64", 0).type)


@kinds("pointer -> bool")
def of_pointer(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A pointer or a view."""
    return Signature(("ptr",), "bool") if len(given) == 1 else None


def is_null(memory: Anything) -> bool:
    """Whether there was no memory to be had."""
    return not memory.address


def direct_is_null(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """A comparison with address zero."""
    (view,) = arguments
    return Value("bool", writer.emit(f"icmp eq ptr {view.text}, null"))


def lowered_is_null(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """A comparison with address zero."""
    (view,) = arguments
    return lowering.builder.icmp_unsigned("==", view, view.type(None))


PAIR = (Elements("f64", (2.0, 3.0, 5.0)), Elements("f64", (7.0, 11.0, 13.0)))
ASKED = """\
memory = as_f64(malloc(16))
if not is_null(memory):
    memory[0] = a[i]
    memory = as_f64(realloc(memory, 32))
    memory[3] = memory[0] + 1.0
    out[i] = memory[3]
    free(memory)"""


def c_word(python: Callable[..., Any], arguments: tuple[str, ...], result: str) -> Word:
    """The word for one of C's functions of memory."""
    name = python.__name__
    direct, lowered = direct_symbol(name, arguments, result), lowered_symbol(name)
    return Word(name, fixed(*arguments, result=result), python, direct, lowered, (Sample(ASKED, PAIR),))


MEMORY_WORDS: tuple[Word, ...] = (
    *[view_word(storage) for storage in STORAGE],
    *[stack_word(storage) for storage in STORAGE],
    Word(
        *("shifted", moved, shifted, direct_shifted, lowered_shifted),
        (Sample("out[i] = shifted(a, i)[0] + shifted(b, 2 - i)[0]", PAIR),),
    ),
    c_word(malloc, ("i64",), "ptr"),
    c_word(realloc, ("ptr", "i64"), "ptr"),
    c_word(free, ("ptr",), "none"),
    Word(
        *("address_of", located, address_of, direct_address, lowered_address),
        (Sample("out[i] = address_of(shifted(a, 2)) - address_of(a)", PAIR[:1], "i64"),),
    ),
    Word("is_null", of_pointer, is_null, direct_is_null, lowered_is_null, (Sample(ASKED, PAIR),)),
)
"""Views and pointers; a view is a pointer with the type of its elements."""
