"""Reads and writes the pickles in PyTorch's files, and executes nothing that they say.

A pickle is a program for a small machine of stacks. This one has no operation that imports or calls: a name
becomes a `Name`, and "reduce" and "build" ask a closed table what a name makes of its arguments.
"""

from __future__ import annotations

import pickle
import pickletools
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from funcgrad.torch.core.operand import Operands
from funcgrad.types import Anything, ArrayLike


class Name:
    """A global name of a pickle: only looked up in a table."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Name({self.path})"


class _Mark:
    """Where a group of values on the stack begins."""


_MARK = _Mark()
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_SET": set,
}
_VALUES = frozenset(
    {
        *("BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "INT", "FLOAT", "BINFLOAT"),
        *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE"),
        *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "BINSTRING", "SHORT_BINSTRING", "STRING"),
    }
)
_LENGTHS = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset({"PROTO", "FRAME"})


class _Machine:
    """The stacks of one pickle."""

    def __init__(
        self,
        names: Mapping[str, Any],
        calls: Mapping[str, Callable[..., Any]],
        states: Mapping[type, Callable[[Any, Any], Any]],
        persistent: Callable[[Any], Any],
    ) -> None:
        self.names = names
        self.calls = calls
        self.states = states
        self.persistent = persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def group(self) -> list[Any]:
        """The values above the last mark."""
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def last(self, n: int) -> tuple[Any, ...]:
        """The last n values, taken off the stack. Raises UnpicklingError where there are fewer."""
        found = tuple(self.stack[-n:])
        if len(found) < n or any(x is _MARK for x in found):
            raise pickle.UnpicklingError(f"a tuple of {n} has fewer values")
        del self.stack[-n:]
        return found

    def name(self, path: str) -> Anything:
        if path in self.names:
            return self.names[path]
        if path in self.calls:
            return Name(path)
        raise pickle.UnpicklingError(f"it names {path}, which load() does not know and will not call")

    def step(self, code: str, given: ArrayLike) -> None:
        """One operation of the pickle, with its argument."""
        if code in _VALUES:
            self.stack.append(given)
        elif code in _CONSTANTS:
            self.stack.append(_CONSTANTS[code])
        elif code in _EMPTY:
            self.stack.append(_EMPTY[code]())
        elif code in _LENGTHS:
            self.stack.append(self.last(_LENGTHS[code]))
        elif code in _OPERATIONS:
            _OPERATIONS[code](self, given)
        elif code not in _IGNORED:
            raise pickle.UnpicklingError(f"it uses the operation {code}")


_OPERATIONS: dict[str, Callable[[_Machine, Any], None]] = {}
"""What the remaining operations do to a machine."""


def _operation(*codes: str) -> Callable[[Callable[[_Machine, Any], None]], Callable[[_Machine, Any], None]]:
    def known(does: Callable[[_Machine, Any], None]) -> Callable[[_Machine, Any], None]:
        _OPERATIONS.update(dict.fromkeys(codes, does))
        return does

    return known


@_operation("MARK")
def _mark(machine: _Machine, given: Anything) -> None:
    machine.stack.append(_MARK)


@_operation("BINPUT", "LONG_BINPUT", "PUT")
def _put(machine: _Machine, given: Anything) -> None:
    machine.memo[given] = machine.stack[-1]


@_operation("MEMOIZE")
def _memoize(machine: _Machine, given: Anything) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


@_operation("BINGET", "LONG_BINGET", "GET")
def _get(machine: _Machine, given: Anything) -> None:
    machine.stack.append(machine.memo[given])


@_operation("TUPLE")
def _tuple(machine: _Machine, given: Anything) -> None:
    machine.stack.append(tuple(machine.group()))


@_operation("GLOBAL")
def _global(machine: _Machine, given: Anything) -> None:
    machine.stack.append(machine.name(given.replace(" ", ".")))


@_operation("STACK_GLOBAL")
def _stack_global(machine: _Machine, given: Anything) -> None:
    word = machine.stack.pop()
    machine.stack.append(machine.name(f"{machine.stack.pop()}.{word}"))


@_operation("APPEND")
def _append(machine: _Machine, given: Anything) -> None:
    value = machine.stack.pop()
    _list(machine.stack[-1]).append(value)


@_operation("APPENDS")
def _appends(machine: _Machine, given: Anything) -> None:
    values = machine.group()
    _list(machine.stack[-1]).extend(values)


@_operation("SETITEM")
def _set_item(machine: _Machine, given: Anything) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _dict(machine.stack[-1])[key] = value


@_operation("SETITEMS")
def _set_items(machine: _Machine, given: Anything) -> None:
    pairs = machine.group()
    _dict(machine.stack[-1]).update(zip(pairs[::2], pairs[1::2], strict=True))


@_operation("ADDITEMS")
def _add_items(machine: _Machine, given: Anything) -> None:
    values = machine.group()
    machine.stack[-1].update(values)


@_operation("BINPERSID")
def _persistent(machine: _Machine, given: Anything) -> None:
    machine.stack.append(machine.persistent(machine.stack.pop()))


@_operation("REDUCE", "NEWOBJ")
def _call(machine: _Machine, given: Anything) -> None:
    args, what = machine.stack.pop(), machine.stack.pop()
    if not isinstance(what, Name):
        raise pickle.UnpicklingError(f"it calls {what!r}")
    machine.stack.append(machine.calls[what.path](*args))


@_operation("BUILD")
def _build(machine: _Machine, given: Anything) -> None:
    state, what = machine.stack.pop(), machine.stack.pop()
    if type(what) not in machine.states:
        raise pickle.UnpicklingError(f"it sets the state of a {type(what).__name__}")
    machine.stack.append(machine.states[type(what)](what, state))


@_operation("POP")
def _pop(machine: _Machine, given: Anything) -> None:
    machine.stack.pop()


def _list(x: Anything) -> list[Any]:
    if type(x) is not list:
        raise pickle.UnpicklingError(f"it appends to a {type(x).__name__}")
    return x


def _dict(x: Anything) -> dict[Any, Any]:
    if not isinstance(x, dict):
        raise pickle.UnpicklingError(f"it sets items of a {type(x).__name__}")
    return x


def read_pickle(
    data: bytes,
    names: Mapping[str, Any],
    calls: Mapping[str, Callable[..., Any]],
    states: Mapping[type, Callable[[Any, Any], Any]],
    persistent: Callable[[Any], Any],
) -> Anything:
    """What a pickle describes. `names` are values, `calls` may be "called", `states` say what "build" does.

    Raises pickle.UnpicklingError for what stands in no table.
    """
    machine = _Machine(names, calls, states, persistent)
    for operation, argument, _ in pickletools.genops(data):
        if operation.name == "STOP":
            if len(machine.stack) != 1 or machine.stack[0] is _MARK:
                raise pickle.UnpicklingError("it does not end in one value")
            return machine.stack[0]
        machine.step(operation.name, argument)
    raise pickle.UnpicklingError("it has no end")


def inside(value: Anything) -> Iterator[Anything]:
    """A value and everything in its containers, each once, however deep they are, or within themselves."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        yield x
        if isinstance(x, dict):
            waiting += [*x, *x.values()]
        elif isinstance(x, (list, tuple, set)):
            waiting += x


class Writer:
    """Writes a pickle of protocol 2 from what `describe` makes of objects that are not plain.

    `describe` returns None for plain objects, or the operations: a function of the writer.
    """

    def __init__(self, describe: Callable[[Any], Callable[[Writer], None] | None]) -> None:
        self.describe = describe
        self.parts = [b"\x80\x02"]
        self.kept: dict[int, int] = {}
        self.alive: list[Any] = []

    def finished(self) -> bytes:
        """The pickle."""
        return b"".join([*self.parts, b"."])

    def raw(self, *codes: bytes) -> None:
        """Operations as they are."""
        self.parts += codes

    def name(self, module: str, word: str) -> None:
        """A global name."""
        self.raw(b"c", module.encode(), b"\n", word.encode(), b"\n")

    def call(self, module: str, word: str, *args: object) -> None:
        """A name called with arguments."""
        self.name(module, word)
        self.write(args)
        self.raw(b"R")

    def keep(self, x: object) -> None:
        """Remember the value on the stack as that of an object that may come again."""
        self.kept[id(x)] = len(self.kept)
        self.alive.append(x)
        self.raw(b"r", struct.pack("<I", self.kept[id(x)]))

    def write(self, x: ArrayLike) -> None:
        """One object."""
        if id(x) in self.kept:
            self.raw(b"h" if self.kept[id(x)] < 256 else b"j")
            index = self.kept[id(x)]
            self.raw(bytes([index]) if index < 256 else struct.pack("<I", index))
            return
        special = self.describe(x)
        if special is not None:
            special(self)
            self.keep(x)
        elif not self.scalar(x):
            self.container(x)

    def scalar(self, x: object) -> bool:
        """Write a plain value; whether it was one."""
        if x is None or x is True or x is False:
            self.raw({None: b"N", True: b"\x88", False: b"\x89"}[x])
        elif type(x) is int and -(1 << 31) <= x < 1 << 31:
            self.raw(b"J", struct.pack("<i", x))
        elif type(x) is int:
            digits = pickle.encode_long(x)
            self.raw(b"\x8a", bytes([len(digits)]), digits)
        elif type(x) is float:
            self.raw(b"G", struct.pack(">d", x))
        elif type(x) is str:
            text = x.encode("utf-8", "surrogatepass")
            self.raw(b"X", struct.pack("<I", len(text)), text)
        elif type(x) is bytes:
            self.call("_codecs", "encode", x.decode("latin1"), "latin1")
        elif type(x) is complex:
            self.call("__builtin__", "complex", x.real, x.imag)
        else:
            return False
        return True

    def container(self, x: object) -> None:
        """Write a list, tuple, dict or set of things."""
        if type(x) is list:
            self.raw(b"]")
            self.keep(x)
            self.group(x, b"e")
        elif type(x) is tuple:
            self.group(x, b"t")
        elif type(x) is dict:
            self.raw(b"}")
            self.keep(x)
            self.group([v for pair in x.items() for v in pair], b"u")
        elif type(x) is OrderedDict:
            self.call("collections", "OrderedDict")
            self.keep(x)
            self.group([v for pair in x.items() for v in pair], b"u")
            if getattr(x, "_metadata", None) is not None:
                self.write({"_metadata": x._metadata})  # type: ignore[attr-defined]
                self.raw(b"b")
        elif type(x) is set:
            self.call("__builtin__", "set", list(x))
        else:
            raise TypeError(
                "save() keeps tensors, arrays, numbers, strings, and dicts, lists, tuples and sets of them, "
                f"not a {type(x).__name__}; save its state_dict() instead"
            )

    def group(self, values: Operands, end: bytes) -> None:
        """Values between a mark and the operation that takes them."""
        self.raw(b"(")
        for v in values:
            self.write(v)
        self.raw(end)
