"""Operators of the user's classes: what Python would call for them is called as any function of theirs.

As for properties, rewritten code asks only where some class of the user's defines the operator.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from funcgrad.tracing.python.owners import is_users
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
"""Binary operators, as the methods of classes name them; ``%`` mostly formats texts."""
UNARY: dict[type[ast.AST], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
"""Operators of one operand."""
COMPARED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""Comparisons, and what the other operand is asked."""
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
IN_PLACE = {f"i{name}": name for name in BINARY.values()}
"""Operators in place, and those that stand in where a class has none of its own."""
OPERATORS = frozenset(f"__{x}{name}__" for name in BINARY.values() for x in ("", "r", "i")) | frozenset(
    f"__{name}__" for name in UNARY.values()
)
"""Methods of classes that stand for operators."""

PLAIN: frozenset[type] = frozenset(
    [
        *(Tracer, np.ndarray, np.float64, float, int, bool, complex, str, bytes, type, type(None)),
        *(list, tuple, dict, set, range, zip, enumerate, map),
    ]
)
"""Types whose operators are their own."""


def is_asked(name: str | None, theirs: frozenset[str]) -> bool:
    """Whether a class of the user's defines an operator, by the names that are known of such classes."""
    if name in COMPARED:
        return not theirs.isdisjoint([f"__{name}__", f"__{COMPARED[name]}__", "__eq__"])
    return name is not None and not theirs.isdisjoint([f"__{name}__", f"__r{name}__", f"__i{name}__"])


def method_of(kind: type, name: str) -> Anything:
    """What a class has under a name, its own or inherited, as it stands in the class."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def is_theirs(method: object) -> bool:
    """Whether a method is a function of the user's."""
    return isinstance(method, FunctionType) and is_users(method.__code__)


def operated(name: str, operands: tuple[Any, ...], called: Callable[[Any], Any]) -> object:
    """The operator `name` of one operand or two; `called` says what runs in place of the user's functions."""
    if not all(type(x) in PLAIN for x in operands):
        for method, *arguments in tries(name, operands):
            if is_theirs(method):
                found = called(method)(*arguments)
            else:
                found = NotImplemented if method is None else method(*arguments)
            if found is not NotImplemented:
                return found
        if name == "ne" and tries("eq", operands):
            found = operated("eq", operands, called)
            return np.logical_not(found) if type(found) is Tracer else not found
    return getattr(operator, OF_OPERATOR.get(name, name))(*operands)


OF_OPERATOR = {"and": "and_", "or": "or_"}
"""Operators under other names in the module `operator`."""


def is_users_operator(name: str, first: object, second: object) -> bool:
    """Whether a comparison calls a method of the user's."""
    if type(first) in PLAIN and type(second) in PLAIN:
        return False
    operands = first, second
    return bool(tries(name, operands)) or (name == "ne" and bool(tries("eq", operands)))


def tries(name: str, operands: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The methods that Python would try, each with what it is given; none where none is the user's."""
    x, y = operands[0], operands[-1]
    asked = [(method_of(type(x), f"__{name}__"), *operands)]
    if name in IN_PLACE:
        name = IN_PLACE[name]
        asked.append((method_of(type(x), f"__{name}__"), x, y))
    if len(operands) == 2 and type(x) is not type(y):
        other = f"__{COMPARED[name]}__" if name in COMPARED else f"__r{name}__"
        reflected = method_of(type(y), other)
        overridden = issubclass(type(y), type(x)) and reflected is not method_of(type(x), other)
        asked.insert(len(asked) - overridden, (reflected, y, x))
    return asked if any(is_theirs(method) for method, *_ in asked) else []
