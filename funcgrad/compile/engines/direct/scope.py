"""The names of a translated function: its variables, and what its namespace holds.

A variable is memory of the function's frame, which LLVM turns into registers; its type is the one that all
its assignments share. An assignment that widens a variable makes the text of the function void.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from funcgrad.compile.engines.direct.writer import Family, Module, Writer, llvm_type
from funcgrad.compile.engines.direct.zero_tests import ZeroTests
from funcgrad.compile.language.rows import CONSTANTS, WORDS
from funcgrad.compile.language.values import CAST_OF, Type, Unsupported, Value, constant, is_complex, unified

Result = Type | tuple[Type, ...]
"""The type of what a function returns: a value, or several."""

_LITERALS: dict[type, str] = {complex: "c128"}
MISSING = object()


class Shared(Protocol):
    """What the functions of one module share."""

    definitions: Mapping[str, ast.FunctionDef]
    namespace: Mapping[str, object]
    entries: frozenset[str]
    flags: str
    module: Module
    family: Family | None
    """The alias scopes of all functions, where they are copied into each other."""

    def helper(self, name: str, arguments: tuple[Type, ...]) -> tuple[str, Result]:
        """The symbol and the type of the result of a function of the source."""

    def seen_outside(self, kind: Type, arguments: Sequence[Value]) -> Type:
        """The type of a result of a helper where it is called."""

    def assigned(self, name: str) -> frozenset[str]:
        """The variables that a function of the source assigns to."""


def statements_in(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, those of its loops and branches among them; no expression is gone through.

    >>> loop = ast.parse("for i in r:\\n    if i: x = i\\n    else: pass")
    >>> [type(s).__name__ for s in statements_in(loop.body)]
    ['For', 'If', 'Assign', 'Pass']
    """
    for statement in body:
        yield statement
        if isinstance(statement, ast.For | ast.While | ast.If):
            yield from statements_in(statement.body)
            yield from statements_in(statement.orelse)


def assigned_in(definition: ast.FunctionDef) -> frozenset[str]:
    """The variables that a function assigns to."""
    targets: list[ast.expr] = []
    for statement in statements_in(definition.body):
        if isinstance(statement, ast.Assign):
            targets += statement.targets
        elif isinstance(statement, ast.AugAssign | ast.For):
            targets.append(statement.target)
    nodes = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return frozenset([node.id for node in nodes if isinstance(node, ast.Name)])


def memory_type(kind: Type) -> str:
    """The LLVM type of each register of a value."""
    if is_complex(kind):
        return "float" if kind == "c64" else "double"
    return llvm_type(kind)


def result_type(kind: Result) -> str:
    """The LLVM type in which a function returns a value, or several."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    registers = [memory_type(k) for k in kinds for _ in range(1 + is_complex(k))]
    return registers[0] if len(registers) == 1 else f"{{{', '.join(registers)}}}"


class Scope:
    """The variables and names of one function, for given types of its arguments.

    Of its variables the types are those known so far.
    """

    def __init__(
        self,
        translation: Shared,
        definition: ast.FunctionDef,
        arguments: tuple[Type, ...],
        kinds: dict[str, Type],
        result: Result | None,
    ) -> None:
        self.translation = translation
        self.definition = definition
        self.writer = Writer(translation.module, translation.flags, translation.family)
        self.kinds = kinds
        self.result = result
        self.widened = False
        self.places: dict[str, tuple[str, ...]] = {}
        self.fixed: dict[str, Value] = {}
        self.loops: list[tuple[str, str]] = []
        self.zero_tests = ZeroTests()
        names = [argument.arg for argument in definition.args.args]
        if len(names) != len(arguments):
            raise Unsupported(f"{definition.name} takes {len(names)} arguments, not {len(arguments)}")
        self.assigned = translation.assigned(definition.name)
        self.arguments = [
            (name, Value(kind, f"%a{k}", f"%a{k}i" if is_complex(kind) else ""))
            for k, (name, kind) in enumerate(zip(names, arguments, strict=True))
        ]

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        if value.type == "none":
            raise Unsupported("a value that is none")
        known = self.kinds.get(name)
        kind = value.type if known is None else unified(known, value.type)
        if known is None:
            self.kinds[name] = kind
        elif kind != known:
            self.kinds[name] = kind
            self.widened = True
        if self.widened:
            # This text is thrown away: only types still matter.
            self.places.setdefault(name, ("%unknown", "%unknown"))
            return
        value = self.writer.cast(value, kind)
        if name not in self.places:
            memory = memory_type(kind)
            self.places[name] = tuple(self.writer.allocate(memory) for _ in range(1 + is_complex(kind)))
        for place, text in zip(self.places[name], (value.text, value.imaginary), strict=False):
            self.writer.do(f"store {memory_type(kind)} {text}, ptr {place}")

    def variable(self, name: str) -> Value:
        """The value of a variable or of a name of the namespace."""
        if name in self.fixed:
            return self.fixed[name]
        if name in self.assigned:
            if name not in self.kinds:
                raise Unsupported(f"{name} is read before it is set")
            kind = self.kinds[name]
            if name not in self.places:
                self.places[name] = tuple(
                    self.writer.allocate(memory_type(kind)) for _ in range(1 + is_complex(kind))
                )
            parts = [
                self.writer.emit(f"load {memory_type(kind)}, ptr {place}") for place in self.places[name]
            ]
            return Value(kind, parts[0], parts[1] if is_complex(kind) else "")
        if name in self.translation.entries:
            return Value("stage", f"@{name}")
        return self._literal(self.resolved(name))

    def resolved(self, name: str) -> object:
        """The object that a name of the namespace stands for."""
        found = self.translation.namespace.get(name, MISSING)
        if found is MISSING:
            found = WORDS.get(name) or CONSTANTS.get(name, MISSING)
        if found is MISSING:
            found = getattr(builtins, name, MISSING)
        if found is MISSING:
            raise Unsupported(f"the name {name}")
        return found

    def _literal(self, value: object) -> Value:
        number = value.item() if isinstance(value, np.generic) else value
        kind = CAST_OF.get(type(value)) or _LITERALS.get(type(value))
        if kind is None or not isinstance(number, bool | int | float | complex):
            raise Unsupported(f"the value {value!r}")
        if isinstance(number, int) and kind == "i64" and not -(2**63) <= number < 2**63:
            kind = "u64"
        return constant(kind, number)
