"""Translates expressions of Python source into LLVM assembly."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from funcgrad.compile.engines.direct import arithmetic
from funcgrad.compile.engines.direct.functions import NAMED, call_named
from funcgrad.compile.engines.direct.machine import MACHINE
from funcgrad.compile.engines.direct.scope import MISSING, Scope, memory_type, result_type
from funcgrad.compile.engines.direct.zero_tests import kept_if_zero
from funcgrad.compile.language.external import External, call_external
from funcgrad.compile.language.values import (
    CAST_OF,
    Type,
    Unsupported,
    Value,
    View,
    constant,
    halves,
    is_complex,
    is_float,
    is_integer,
    unified,
)
from funcgrad.compile.language.word import Word

_WORDS = "funcgrad.compile.runtime.machine.words"


class Expressions(Scope):
    """The expressions of one function."""

    def expression(self, node: ast.expr) -> Value:
        """Translate an expression."""
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            raise Unsupported(f"{type(node).__name__} at line {node.lineno}")
        return handler(self, node)

    def _name(self, node: ast.Name) -> Value:
        return self.variable(node.id)

    def _constant(self, node: ast.Constant) -> Value:
        return self._literal(node.value)

    def _binary(self, node: ast.BinOp) -> Value:
        left = self.expression(node.left)
        return arithmetic.binary(self.writer, node.op, left, self.expression(node.right))

    def _unary(self, node: ast.UnaryOp) -> Value:
        return arithmetic.unary(self.writer, node.op, self.expression(node.operand))

    def _comparison(self, node: ast.Compare) -> Value:
        left = self.expression(node.left)
        result: Value | None = None
        for operator, following in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                right = left
                outcome = self._membership(operator, left, following)
            else:
                right = self.expression(following)
                outcome = arithmetic.compare(self.writer, operator, left, right)
            result = outcome if result is None else self.writer.binary("and", result, outcome)
            left = right
        assert result is not None
        return result

    def _membership(self, operator: ast.cmpop, value: Value, several: ast.expr) -> Value:
        if not isinstance(several, ast.Tuple):
            raise Unsupported("membership of anything but a tuple that is written out")
        result = constant("bool", 0)
        for element in several.elts:
            same = arithmetic.compare(self.writer, ast.Eq(), value, self.expression(element))
            result = self.writer.binary("or", result, same)
        return result if isinstance(operator, ast.In) else arithmetic.unary(self.writer, ast.Not(), result)

    def _bool_operation(self, node: ast.BoolOp) -> Value:
        values = [value for value in node.values if not _is_cheap(value)]
        if not values:
            name = "and" if isinstance(node.op, ast.And) else "or"
            result = self.writer.cast(self.expression(node.values[0]), "bool")
            for value in node.values[1:]:
                following = self.writer.cast(self.expression(value), "bool")
                result = self.writer.binary(name, result, following)
            return result
        return self._branched(node, ast.Constant(True), ast.Constant(False))

    def _choice(self, node: ast.IfExp) -> Value:
        if _is_cheap(node.body) and _is_cheap(node.orelse):
            test = self.writer.cast(self.expression(node.test), "bool")
            yes, no = self.expression(node.body), self.expression(node.orelse)
            kind = unified(yes.type, no.type)
            return self.writer.select(test, self.writer.cast(yes, kind), self.writer.cast(no, kind))
        return self._branched(node.test, node.body, node.orelse)

    def _branched(self, test: ast.expr, body: ast.expr, otherwise: ast.expr) -> Value:
        """The value of one of two expressions, of which only one is evaluated."""
        writer = self.writer
        yes, no, after = (writer.label(hint) for hint in ("yes", "no", "chosen"))
        self.condition(test, yes, no)
        kind: Type | None = None
        ends: list[tuple[Value, str, int]] = []
        for label, expression in ((yes, body), (no, otherwise)):
            writer.start(label)
            value = self.expression(expression)
            kind = value.type if kind is None else unified(kind, value.type)
            ends.append((value, writer.block, len(writer.lines)))
            writer.jump(after)
        assert kind is not None
        values = self._cast_at(ends, kind)
        writer.start(after)
        blocks = [block for _, block, _ in ends]
        texts = [
            writer.emit(
                f"phi {memory_type(kind)} "
                + ", ".join(f"[ {text}, %{block} ]" for text, block in zip(pair, blocks, strict=True))
            )
            for pair in zip(
                *((value.text, value.imaginary) if is_complex(kind) else (value.text,) for value in values),
                strict=True,
            )
        ]
        return Value(kind, texts[0], texts[1] if len(texts) > 1 else "")

    def _cast_at(self, ends: Sequence[tuple[Value, str, int]], kind: Type) -> list[Value]:
        """Convert each value at the end of its own block, the last block first so that places stay right."""
        writer = self.writer
        values: list[Value] = []
        for value, _, position in reversed(ends):
            tail = writer.lines[position:]
            del writer.lines[position:]
            values.append(writer.cast(value, kind))
            writer.lines.extend(tail)
        return values[::-1]

    def _index(self, node: ast.expr) -> Value:
        index = self.expression(node)
        if not (is_integer(index.type) or index.type == "bool"):
            raise Unsupported(f"an index of type {index.type}")
        return self.writer.cast(index, "i64")

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.expression(node.value)
        if isinstance(base.type, View):
            return self.writer.load(base, self._index(node.slice))
        if base.type in ("table", "sizes"):
            return self.writer.table_entry(
                base, self._index(node.slice), "ptr" if base.type == "table" else "i64"
            )
        raise Unsupported(f"an element of {base.type}")

    def _attribute(self, node: ast.Attribute) -> Value:
        found = self._object(node)
        if found is not MISSING:
            return self._literal(found)
        value = self.expression(node.value)
        if node.attr in ("real", "imag") and isinstance(value.type, str):
            if is_complex(value.type):
                return halves(value)[node.attr == "imag"]
            return value if node.attr == "real" else constant(value.type, 0)
        raise Unsupported(f"the attribute {node.attr}")

    def _object(self, node: ast.expr) -> object:
        """What a name or a dotted name of the namespace stands for."""
        if isinstance(node, ast.Name):
            if node.id in self.assigned or node.id in self.fixed:
                return MISSING
            return self.resolved(node.id)
        if isinstance(node, ast.Attribute):
            base = self._object(node.value)
            return MISSING if base is MISSING else getattr(base, node.attr, MISSING)
        return MISSING

    def _call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise Unsupported("keywords in a call")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate" and not node.args:
            return call_named(self.writer, "conjugate", [self.expression(node.func.value)])
        if isinstance(node.func, ast.Name) and node.func.id in self.translation.definitions:
            return self._helper(node.func.id, [self.expression(argument) for argument in node.args])
        function = self._object(node.func)
        if isinstance(function, Word):
            return self._word(function, node.args)
        special = _SPECIAL.get(getattr(function, "__name__", ""))
        if special is not None and _is_known(function):
            return special(self, node.args)
        found = self._called(function, [self.expression(argument) for argument in node.args])
        if found is None:
            raise Unsupported(f"a call of {ast.unparse(node.func)}")
        return found

    def _word(self, word: Word, arguments: Sequence[ast.expr]) -> Value:
        node = kept_if_zero(arguments) if word.name == "select" else None
        values = [self.expression(argument) for argument in (arguments if node is None else arguments[1:])]
        if node is not None:
            x = values[0]
            test = (
                self.zero_tests.of(self.writer, node, x)
                if is_float(x.type)
                else self.expression(arguments[0])
            )
            values = [test, *values]
        return word.direct(self.writer, values)

    def _called(self, function: object, arguments: list[Value]) -> Value | None:
        if isinstance(function, External):
            return call_external(self.writer, function, arguments)
        kind = _cast_type(function)
        if kind is not None and len(arguments) == 1:
            return self.writer.cast(arguments[0], kind)
        if function is MISSING or not _is_known(function):
            return None
        name = str(getattr(function, "__name__", ""))
        known = {**NAMED, **MACHINE} if _is_word(function) else NAMED
        return known[name](self.writer, arguments) if name in known else None

    def _function_address(self, arguments: Sequence[ast.expr]) -> Value:
        (argument,) = arguments
        if not isinstance(argument, ast.Name) or argument.id not in self.translation.entries:
            raise Unsupported("the address of what is not a function called from outside")
        return Value("i64", self.writer.emit(f"ptrtoint ptr @{argument.id} to i64"))

    def _helper(self, name: str, arguments: list[Value]) -> Value:
        values = self.helper_values(name, arguments)
        if len(values) > 1:
            raise Unsupported("several values where one is expected")
        return values[0] if values else Value("none", "")

    def helper_values(self, name: str, arguments: list[Value]) -> list[Value]:
        """Call a function of the source; the values that it returns."""
        symbol, result = self.translation.helper(name, tuple([value.type for value in arguments]))
        texts = []
        for value in arguments:
            texts += [f"{memory_type(value.type)} {half}" for half in (value.text, value.imaginary) if half]
        if result == "none":
            self.writer.do(f"call void @{symbol}({', '.join(texts)})")
            return []
        whole = result_type(result)
        call = self.writer.emit(f"call {whole} @{symbol}({', '.join(texts)})")
        kinds = result if isinstance(result, tuple) else (result,)
        kinds = tuple([self.translation.seen_outside(kind, arguments) for kind in kinds])
        count = sum(1 + is_complex(kind) for kind in kinds)
        if count == 1:
            return [Value(kinds[0], call)]
        registers = iter([self.writer.emit(f"extractvalue {whole} {call}, {k}") for k in range(count)])
        return [Value(kind, next(registers), next(registers) if is_complex(kind) else "") for kind in kinds]

    def condition(self, test: ast.expr, yes: str, no: str) -> None:
        """Branch on an expression, evaluating no more of it than Python would."""
        if isinstance(test, ast.BoolOp):
            for value in test.values[:-1]:
                following = self.writer.label("and")
                if isinstance(test.op, ast.And):
                    self.condition(value, following, no)
                else:
                    self.condition(value, yes, following)
                self.writer.start(following)
            self.condition(test.values[-1], yes, no)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.condition(test.operand, no, yes)
        else:
            self.writer.branch(self.writer.cast(self.expression(test), "bool"), yes, no)


def _cast_type(function: object) -> str | None:
    try:
        return CAST_OF.get(function)
    except TypeError:
        return None


def _is_known(function: object) -> bool:
    if isinstance(function, np.ufunc) or _is_word(function):
        return True
    return getattr(function, "__module__", None) in ("builtins", "math", "numpy")


def _is_word(function: object) -> bool:
    return getattr(function, "__module__", None) == _WORDS


def _is_cheap(node: ast.expr) -> bool:
    """Whether evaluating the expression for nothing is safe and costs next to nothing."""
    if isinstance(node, ast.Name | ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_cheap(node.operand)
    if isinstance(node, ast.Compare):
        return all(_is_cheap(part) for part in (node.left, *node.comparators))
    if isinstance(node, ast.BoolOp):
        return all(_is_cheap(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return (
            isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
            and _is_cheap(node.left)
            and _is_cheap(node.right)
        )
    return False


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._constant,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._comparison,
    ast.BoolOp: Expressions._bool_operation,
    ast.IfExp: Expressions._choice,
    ast.Subscript: Expressions._subscript,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
}

_SPECIAL: dict[str, Callable[..., Value]] = {"function_address": Expressions._function_address}
