"""What Python's syntax and builtins ask of the user's classes: ``x[i]``, ``len(x)``, ``for``, ``with``.

Python calls such methods from C, where nobody could put a rewritten one in their place. So rewritten code
asks first, where some class of the user's has the method: what stands in place of an object runs its methods
as any function of theirs is run. Every other object is taken as it is.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from types import FunctionType
from typing import Any, TypeVar

from funcgrad.tracing.python.operating import COMPARED, PLAIN, is_theirs, method_of, operated
from funcgrad.types import Anything, Index

Function = Callable[..., Any]
T = TypeVar("T")
Called = Callable[[Any], Any]
"""What says which function runs in place of one of the user's."""

SUBSCRIPTS = frozenset({"__getitem__", "__setitem__", "__delitem__"})
ITERATION = frozenset({"__iter__", "__next__", "__getitem__"})
CONTAINMENT = ITERATION | {"__contains__"}
_TRUTH = frozenset({"__bool__"})
_NONE: frozenset[str] = frozenset()
ENTERING = frozenset({"__enter__", "__exit__"})
ATTRIBUTES = "__setattr__"
"""The method that sets every attribute of an object."""
SETS = "set()"
"""Stands among names where a class has attributes that a function of the user's sets."""
_COMPARISONS = frozenset(f"__{name}__" for name in COMPARED)
_ADDING = frozenset({"__add__", "__radd__"})

# What `float`, `int` and `divmod` meet is read at the instruction that calls them: nothing stands between.
_ONE = (abs, len, iter, next, bool, round, reversed)
_OF_ONE: dict[Any, frozenset[str]] = {function: frozenset({f"__{function.__name__}__"}) for function in _ONE}
ASKED: dict[Any, frozenset[str]] = {
    **_OF_ONE,
    **dict.fromkeys([list, tuple, set, frozenset, any, all, enumerate, zip, map, filter, deque], ITERATION),
    **dict.fromkeys([itertools.chain, itertools.product, itertools.accumulate, itertools.islice], ITERATION),
    **dict.fromkeys([itertools.combinations, itertools.zip_longest, itertools.starmap], ITERATION),
    builtins.sum: ITERATION | _ADDING,
    **dict.fromkeys([builtins.min, builtins.max, builtins.sorted], ITERATION | _COMPARISONS),
    builtins.setattr: frozenset({SETS}),
}
"""Builtin functions, and the methods of the user's classes that they would call."""
_HAND_OVER = frozenset([map, filter, itertools.starmap])
"""Functions whose first argument is called, and the others gone through."""
_OF_ALL = frozenset([zip, itertools.chain, itertools.product, itertools.zip_longest])
"""Functions that go through all their arguments."""
_ORDERING = frozenset([builtins.min, builtins.max, builtins.sorted])

PROTOCOLS: frozenset[str] = frozenset().union(
    SUBSCRIPTS, CONTAINMENT, ENTERING, {ATTRIBUTES}, *ASKED.values()
)
"""Methods of classes that are asked about."""

_STEPS = {
    **dict.fromkeys(
        ["BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE", "STORE_SLICE"], SUBSCRIPTS
    ),
    **dict.fromkeys(["GET_ITER", "UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND"], ITERATION),
    **dict.fromkeys(["GET_YIELD_FROM_ITER", "CALL_FUNCTION_EX"], ITERATION),
    **dict.fromkeys(["BEFORE_WITH", "LOAD_SPECIAL"], ENTERING),
    "CONTAINS_OP": CONTAINMENT,
    "COMPARE_OP": _COMPARISONS,
}


def asked_by_step(name: str, value: object) -> frozenset[str]:
    """The methods that an instruction may call."""
    if "JUMP" in name and "_IF_" in name:
        return _TRUTH
    return SUBSCRIPTS if name == "BINARY_OP" and value == "[]" else _STEPS.get(name, _NONE)


def special(x: object, name: str) -> FunctionType | None:
    """The method of this name that Python would call of an object, where it is the user's; else None."""
    kind = type(x)
    if kind in PLAIN:
        return None
    method = method_of(kind, name)
    return method if isinstance(method, FunctionType) and is_theirs(method) else None


# -- elements ----------------------------------------------------------------------------------------------


class Subscripted:
    """Stands between brackets and an object of the user's."""

    __slots__ = ("_called", "_x")

    def __init__(self, x: object, called: Called) -> None:
        self._x = x
        self._called = called

    def __getitem__(self, index: Index) -> Anything:
        method = special(self._x, "__getitem__")
        x: Any = self._x
        return x[index] if method is None else self._called(method)(x, index)

    def __setitem__(self, index: Index, value: Anything) -> None:
        method = special(self._x, "__setitem__")
        x: Any = self._x
        if method is None:
            x[index] = value
        else:
            self._called(method)(x, index, value)

    def __delitem__(self, index: Index) -> None:
        method = special(self._x, "__delitem__")
        x: Any = self._x
        if method is None:
            del x[index]
        else:
            self._called(method)(x, index)


def subscriptable(x: object, called: Called) -> object:
    """What stands before brackets in place of an object: itself, unless its class is the user's."""
    if type(x) in PLAIN or not any(special(x, name) is not None for name in SUBSCRIPTS):
        return x
    return Subscripted(x, called)


# -- attributes --------------------------------------------------------------------------------------------


def setting(name: str) -> str:
    """How a property that can be set stands among names."""
    return f"{name}="


def setter_of(x: object, name: str) -> tuple[Any, tuple[Any, ...]] | None:
    """The user's function that sets an attribute, and what it is given before the value; None for others."""
    method = special(x, ATTRIBUTES)
    if method is not None:
        return method, (x, name)
    found = method_of(type(x), name)
    if isinstance(found, property) and is_theirs(found.fset):
        return found.fset, (x,)
    descriptor = None if isinstance(found, property) else special(found, "__set__")
    return None if descriptor is None else (descriptor, (found, x))


class Settable:
    """Stands before the dot where an attribute of an object of the user's is set."""

    __slots__ = ("_called", "_x")
    _called: Called

    def __init__(self, x: object, called: Called) -> None:
        object.__setattr__(self, "_x", x)
        object.__setattr__(self, "_called", called)

    def __getattr__(self, name: str) -> object:
        return getattr(self._x, name)

    def __setattr__(self, name: str, value: object) -> None:
        if not set_by_users(self._x, name, value, self._called):
            setattr(self._x, name, value)


def settable(x: object, name: str, called: Called) -> object:
    """What stands before the dot in place of an object whose attribute is set."""
    return x if type(x) in PLAIN or setter_of(x, name) is None else Settable(x, called)


def set_by_users(x: object, name: str, value: object, called: Called) -> bool:
    """Set an attribute that a function of the user's sets; False where none does."""
    found = None if type(x) in PLAIN else setter_of(x, name)
    if found is None:
        return False
    called(found[0])(*found[1], value)
    return True


# -- iteration, containment, contexts ----------------------------------------------------------------------


def iterated(x: T, called: Called) -> T | Iterable[Any]:
    """What is gone through in place of an object."""
    if type(x) in PLAIN:
        return x
    begin = special(x, "__iter__")
    if begin is not None:
        x = called(begin)(x)
    elif method_of(type(x), "__iter__") is None and special(x, "__getitem__") is not None:
        return elements(x, called(special(x, "__getitem__")))
    step = special(x, "__next__")
    return x if step is None else advancing(x, called(step))


ENDING: ContextVar[tuple[type[Exception], ...]] = ContextVar("funcgrad_ending", default=(StopIteration,))
"""The exceptions by which what is run now says that there is no more to go through."""


def advancing(x: object, step: Function) -> Iterator[Any]:
    """What an iterator gives, with its ``__next__`` as `step`."""
    while True:
        try:
            item = step(x)
        except StopIteration:
            return
        yield item


def elements(x: object, read: Function) -> Iterator[Any]:
    """What a sequence gives that has no ``__iter__``, with its ``__getitem__`` as `read`."""
    for k in itertools.count():
        token = ENDING.set((IndexError, StopIteration))
        try:
            item = read(x, k)
        except (IndexError, StopIteration):
            return
        finally:
            ENDING.reset(token)
        yield item


def contained(x: object, container: object, called: Called) -> object:
    """``x in container``, where a class of the user's says what that is; else NotImplemented."""
    method = special(container, "__contains__")
    if method is not None:
        return called(method)(container, x)
    if type(container) in PLAIN or method_of(type(container), "__contains__") is not None:
        return NotImplemented
    found: Any = iterated(container, called)
    return NotImplemented if found is container else x in [*found]


class Entered:
    """Stands in a ``with`` for a context of the user's."""

    __slots__ = ("_called", "_x")

    def __init__(self, x: object, called: Called) -> None:
        self._x = x
        self._called = called

    def __enter__(self) -> Anything:
        return self._called(method_of(type(self._x), "__enter__"))(self._x)

    def __exit__(self, *raised: object) -> Anything:
        return self._called(method_of(type(self._x), "__exit__"))(self._x, *raised)


def entered(x: T, called: Called) -> T | Entered:
    """What a ``with`` enters in place of an object."""
    theirs = special(x, "__enter__") is not None or special(x, "__exit__") is not None
    return Entered(x, called) if theirs else x


# -- builtin functions -------------------------------------------------------------------------------------


def asking(function: object, found: Function, called: Called) -> Function:
    """`found`, which runs in place of a builtin, for objects of the user's classes as well."""
    if function is builtins.setattr:
        return setting_attributes(found, called)
    if function in _ORDERING or ASKED[function] >= ITERATION:
        return going_through(function, found, called)
    (name,) = ASKED[function]

    def ask(*args: Anything, **kwargs: Anything) -> Anything:
        method = special(args[0], name) if args else None
        if method is None:
            return found(*args, **kwargs)
        if function is next and len(args) > 1:
            return builtins.next(advancing(args[0], called(method)), *args[1:])
        return called(method)(*args, **kwargs)

    return ask


def setting_attributes(found: Function, called: Called) -> Function:
    """The same for ``setattr``."""

    def ask(x: object, name: str, value: object) -> None:
        if not set_by_users(x, name, value, called):
            found(x, name, value)

    return ask


def going_through(function: object, found: Function, called: Called) -> Function:
    """The same for a builtin that goes through an argument, or through several."""
    ordered_by: Any = function

    def ask(*args: Anything, **kwargs: Anything) -> Anything:
        single = function not in (builtins.min, builtins.max) or len(args) == 1
        given = [
            iterated(x, called) if single and is_gone_through(function, k) else x for k, x in enumerate(args)
        ]
        if function is builtins.sum and given and has_theirs(given[0], _ADDING):
            return total([*given[0]], *given[1:], *kwargs.values(), called=called)
        if function in _ORDERING and given:
            values = given[0] if len(given) == 1 else given
            if has_theirs(values, _COMPARISONS):
                return ordered_by(*given, **{**kwargs, "key": ordering(kwargs.get("key"), called)})
        return found(*given, **kwargs)

    return ask


def is_gone_through(function: object, place: int) -> bool:
    """Whether a builtin goes through its argument at a place."""
    if function in _HAND_OVER:
        return place > 0
    return place == 0 or function in _OF_ALL


def has_theirs(values: object, names: Iterable[str]) -> bool:
    """Whether one of the elements of a list is of a class of the user's that has one of the methods."""
    if not isinstance(values, list | tuple):
        return False
    return any(special(x, name) is not None for x in values if type(x) not in PLAIN for name in names)


def total(values: list[Any], start: object = 0, *, called: Called) -> object:
    """``sum`` with the user's operators."""
    for x in values:
        start = operated("add", (start, x), called)
    return start


def ordering(key: Function | None, called: Called) -> Function:
    """A key whose comparisons are the user's."""

    def ordered(x: Anything) -> Ordered:
        return Ordered(x if key is None else key(x), called)

    return ordered


class Ordered:
    """What is compared in place of an object of the user's."""

    __slots__ = ("_called", "_x")

    def __init__(self, x: object, called: Called) -> None:
        self._x = x
        self._called = called

    def __lt__(self, other: Ordered) -> bool:
        return bool(operated("lt", (self._x, other._x), self._called))

    def __gt__(self, other: Ordered) -> bool:
        return bool(operated("gt", (self._x, other._x), self._called))


def is_unpacked(target: ast.expr) -> bool:
    """Whether the target of an assignment takes its value apart."""
    return isinstance(target, ast.Tuple | ast.List)
