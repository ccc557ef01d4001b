"""Translates functions of Python source into LLVM assembly: statements, control flow, variables.

A variable is memory of the function's frame, which LLVM turns into registers; its type is the one that all
its assignments share. A function is translated again whenever an assignment widens a variable, until
nothing changes.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from funcgrad.compile.native.external import External
from funcgrad.compile.native.front import arithmetic
from funcgrad.compile.native.front.functions import NAMED, NAMESPACE, Known, call_external, call_named
from funcgrad.compile.native.front.machine import MACHINE
from funcgrad.compile.native.front.values import (
    CAST_OF,
    Type,
    Unsupported,
    Value,
    View,
    constant,
    is_complex,
    is_integer,
    unified,
)
from funcgrad.compile.native.front.writer import Module, Writer, halves, llvm_type

__all__ = ["translate"]

_RUN: tuple[Type, ...] = ("table", "sizes")
_STAGE: tuple[Type, ...] = (*_RUN, "i64", "i64")
_WORDS = "funcgrad.compile.native.machine.words"
_ANNOTATIONS = {"int": "i64", "float": "f64", "bool": "bool"}
_LITERALS: dict[type, str] = {complex: "c128"}
_MISSING = object()
_MOST_ROUNDS = 12


def translate(
    source: str,
    functions: Sequence[str],
    fastmath: frozenset[str],
    namespace: Mapping[str, object],
    *,
    inline: bool = True,
) -> str:
    """The LLVM module of the named functions, or `Unsupported`.

    Other functions of the source that they call are copied into them, or with ``inline=False`` where LLVM
    thinks fit.
    """
    definitions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    translation = _Translation(
        definitions,
        "".join(f"{flag} " for flag in sorted(fastmath)),
        namespace,
        frozenset(functions),
        "alwaysinline " if inline else "",
    )
    for name in functions:
        if name not in definitions:
            raise Unsupported(f"{name} is not defined by the source")
        translation.entry(name, _entry_arguments(definitions[name]))
    return translation.module.text()


def _entry_arguments(definition: ast.FunctionDef) -> tuple[Type, ...]:
    """The types of the arguments of an entry: annotated, or those of a kernel or a stage."""
    annotations = [argument.annotation for argument in definition.args.args]
    if any(annotation is None for annotation in annotations):
        return _RUN if len(annotations) == len(_RUN) else _STAGE
    return tuple(
        _ANNOTATIONS[ast.unparse(annotation)] for annotation in annotations if annotation is not None
    )


class _Translation:
    """What the functions of one module share."""

    def __init__(
        self,
        definitions: Mapping[str, ast.FunctionDef],
        flags: str,
        namespace: Mapping[str, object],
        entries: frozenset[str],
        inlining: str,
    ) -> None:
        self.definitions = definitions
        self.flags = flags
        self.namespace = namespace
        self.entries = entries
        self.inlining = inlining
        self.module = Module()
        self.helpers: dict[tuple[str, tuple[Type, ...]], tuple[str, Type]] = {}
        self.pending: set[tuple[str, tuple[Type, ...]]] = set()

    def entry(self, name: str, arguments: tuple[Type, ...]) -> None:
        """Define a function that is called from outside."""
        body = self._body(name, arguments)
        parameters = ", ".join(f"{llvm_type(kind)} %a{k}" for k, kind in enumerate(arguments))
        returned = "void" if body.result is None else _result_type(body.result)
        self._define(f"define {returned} @{name}({parameters}) #0", name, body)

    def helper(self, name: str, arguments: tuple[Type, ...]) -> tuple[str, Type]:
        """The symbol and the type of the result of a function of the source, for arguments of these types."""
        key = (name, arguments)
        if key in self.pending:
            raise Unsupported("recursion")
        if key not in self.helpers:
            self.pending.add(key)
            body = self._body(name, arguments)
            self.pending.discard(key)
            symbol = f"{name}.{len(self.helpers)}"
            kind = body.result
            returned = "void" if kind is None else _result_type(kind)
            parameters = ", ".join(_parameters(arguments))
            head = f'define internal {returned} @"{symbol}"({parameters}) {self.inlining}#0'
            self._define(head, symbol, body)
            self.helpers[key] = f'"{symbol}"', "none" if kind is None else kind
        return self.helpers[key]

    def _define(self, head: str, name: str, body: _Body) -> None:
        lines = [f"{head} {{", "entry:", *body.writer.allocations, *body.writer.lines, "}"]
        self.module.functions.append("\n".join(lines))
        self.module.defined.add(name)

    def _body(self, name: str, arguments: tuple[Type, ...]) -> _Body:
        definition = self.definitions[name]
        kinds: dict[str, Type] = {}
        result: Type | None = None
        for _ in range(_MOST_ROUNDS):
            body = _Body(self, definition, arguments, dict(kinds), result)
            body.run()
            if not body.widened:
                return body
            kinds, result = body.kinds, body.result
        raise Unsupported("the types of variables do not settle")


def _parameters(arguments: Sequence[Type]) -> list[str]:
    texts = []
    for k, kind in enumerate(arguments):
        if is_complex(kind):
            half = "float" if kind == "c64" else "double"
            texts += [f"{half} %a{k}", f"{half} %a{k}i"]
        else:
            texts.append(f"{llvm_type(kind)} %a{k}")
    return texts


def _result_type(kind: Type) -> str:
    if is_complex(kind):
        half = "float" if kind == "c64" else "double"
        return f"{{{half}, {half}}}"
    return llvm_type(kind)


class _Body:
    """One function, for given types of its arguments and, as known so far, of its variables."""

    def __init__(
        self,
        translation: _Translation,
        definition: ast.FunctionDef,
        arguments: tuple[Type, ...],
        kinds: dict[str, Type],
        result: Type | None,
    ) -> None:
        self.translation = translation
        self.definition = definition
        self.writer = Writer(translation.module, translation.flags)
        self.kinds = kinds
        self.result = result
        self.widened = False
        self.places: dict[str, tuple[str, ...]] = {}
        self.fixed: dict[str, Value] = {}
        self.loops: list[tuple[str, str]] = []
        names = [argument.arg for argument in definition.args.args]
        if len(names) != len(arguments):
            raise Unsupported(f"{definition.name} takes {len(names)} arguments, not {len(arguments)}")
        self.assigned = {
            node.id
            for node in ast.walk(definition)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self.arguments = [
            (name, Value(kind, f"%a{k}", f"%a{k}i" if is_complex(kind) else ""))
            for k, (name, kind) in enumerate(zip(names, arguments, strict=True))
        ]

    def run(self) -> None:
        """Translate all statements."""
        for name, value in self.arguments:
            if name in self.assigned:
                self.assign(name, value)
            else:
                self.fixed[name] = value
        self.statements(self.definition.body)
        if not self.writer.ended:
            if self.result is not None:
                raise Unsupported("a function that does not always return a value")
            self.writer.do("ret void")

    # Variables

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
            memory = _memory(kind)
            self.places[name] = tuple(self.writer.allocate(memory) for _ in range(1 + is_complex(kind)))
        for place, text in zip(self.places[name], (value.text, value.imaginary), strict=False):
            self.writer.do(f"store {_memory(kind)} {text}, ptr {place}")

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
                    self.writer.allocate(_memory(kind)) for _ in range(1 + is_complex(kind))
                )
            parts = [self.writer.emit(f"load {_memory(kind)}, ptr {place}") for place in self.places[name]]
            return Value(kind, parts[0], parts[1] if is_complex(kind) else "")
        return self._literal(self.resolved(name))

    def resolved(self, name: str) -> object:
        """The object that a name of the namespace stands for."""
        found = self.translation.namespace.get(name, _MISSING)
        if found is _MISSING:
            found = NAMESPACE.get(name, _MISSING)
        if found is _MISSING:
            found = getattr(builtins, name, _MISSING)
        if found is _MISSING:
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

    # Statements

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Translate in order, up to the first that leaves the block."""
        for statement in body:
            if self.writer.ended:
                return
            handler = _STATEMENTS.get(type(statement))
            if handler is None:
                raise Unsupported(f"{type(statement).__name__} at line {statement.lineno}")
            handler(self, statement)

    def _assignment(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            values = [self.expression(node.value)] * len(node.targets)
            for target, value in zip(node.targets, values, strict=True):
                self._set(target, value)
            return
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
                raise Unsupported("unpacking")
            several = [self.expression(element) for element in node.value.elts]
            for element, value in zip(target.elts, several, strict=True):
                self._set(element, value)
            return
        # A view that is made once is a register, so that its alias scope is seen wherever it is used.
        value = self.expression(node.value)
        self._set(target, value)

    def _set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            view = self.expression(target.value)
            if not isinstance(view.type, View):
                raise Unsupported(f"a store into {view.type}")
            self.writer.store(view, self._index(target.slice), value)
        else:
            raise Unsupported(f"assignment to {type(target).__name__}")

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            view = self.expression(node.target.value)
            if not isinstance(view.type, View):
                raise Unsupported(f"a store into {view.type}")
            index = self._index(node.target.slice)
            old = self.writer.load(view, index)
            new = arithmetic.binary(self.writer, node.op, old, self.expression(node.value))
            self.writer.store(view, index, new)
        elif isinstance(node.target, ast.Name):
            old = self.variable(node.target.id)
            new = arithmetic.binary(self.writer, node.op, old, self.expression(node.value))
            self.assign(node.target.id, new)
        else:
            raise Unsupported("this assignment")

    def _expression_statement(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def _if(self, node: ast.If) -> None:
        yes, no, after = (self.writer.label(hint) for hint in ("then", "else", "endif"))
        self.condition(node.test, yes, no if node.orelse else after)
        self.writer.start(yes)
        self.statements(node.body)
        ended = self.writer.ended
        self.writer.jump(after)
        if node.orelse:
            self.writer.start(no)
            self.statements(node.orelse)
            ended = ended and self.writer.ended
            self.writer.jump(after)
            if ended:
                return
        self.writer.start(after)

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

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise Unsupported("else of a loop")
        head, body, after = (self.writer.label(hint) for hint in ("while", "do", "done"))
        self.writer.start(head)
        self.condition(node.test, body, after)
        self._loop_body(node.body, body, head, after)
        self.writer.jump(head)
        self.writer.start(after)

    def _loop_body(self, body: Sequence[ast.stmt], label: str, again: str, after: str) -> None:
        self.writer.start(label)
        self.loops.append((again, after))
        self.statements(body)
        self.loops.pop()

    def _for(self, node: ast.For) -> None:
        is_range = (
            isinstance(node.iter, ast.Call)
            and isinstance(node.iter.func, ast.Name)
            and self.resolved(node.iter.func.id) is range
        )
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            raise Unsupported("a loop that is not a plain one over a range")
        assert isinstance(node.iter, ast.Call)
        start, stop, step = self._range(node.iter.args)
        writer = self.writer
        counter = writer.allocate("i64")
        writer.do(f"store i64 {start.text}, ptr {counter}")
        head, body, latch, after = (writer.label(hint) for hint in ("for", "body", "next", "end"))
        writer.start(head)
        index = Value("i64", writer.emit(f"load i64, ptr {counter}"))
        writer.branch(self._goes_on(index, stop, step), body, after)
        writer.start(body)
        self.assign(node.target.id, index)
        self._loop_body(node.body, writer.label("inner"), latch, after)
        writer.start(latch)
        following = writer.emit(f"add nsw i64 {index.text}, {step.text}")
        writer.do(f"store i64 {following}, ptr {counter}")
        writer.jump(head)
        writer.start(after)

    def _range(self, arguments: Sequence[ast.expr]) -> tuple[Value, Value, Value]:
        values = [self.writer.cast(self.expression(argument), "i64") for argument in arguments]
        zero, one = constant("i64", 0), constant("i64", 1)
        if len(values) == 1:
            return zero, values[0], one
        start, stop, *rest = values
        step = rest[0] if rest else one
        if step.known == 0:
            raise Unsupported("a range of step zero")
        return start, stop, step

    def _goes_on(self, index: Value, stop: Value, step: Value) -> Value:
        writer = self.writer
        upward = writer.compare("icmp slt", index, stop)
        if step.known is not None and step.known > 0:
            return upward
        downward = writer.compare("icmp sgt", index, stop)
        if step.known is not None:
            return downward
        positive = writer.compare("icmp sgt", step, constant("i64", 0))
        return writer.select(positive, upward, downward)

    def _break(self, node: ast.Break) -> None:
        self.writer.jump(self.loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self.writer.jump(self.loops[-1][0])

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.writer.do("ret void")
            self.writer.ended = True
            return
        value = self.expression(node.value)
        kind = value.type if self.result is None else unified(self.result, value.type)
        if self.result is not None and kind != self.result:
            self.widened = True
        self.result = kind
        value = self.writer.cast(value, kind)
        text = value.text
        if is_complex(kind):
            whole = _result_type(kind)
            first, second = (f"{_memory(kind)} {half.text}" for half in halves(value))
            text = self.writer.emit(f"insertvalue {whole} poison, {first}, 0")
            text = self.writer.emit(f"insertvalue {whole} {text}, {second}, 1")
        self.writer.do(f"ret {_result_type(kind)} {text}")
        self.writer.ended = True

    # Expressions

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
                f"phi {_memory(kind)} "
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
        if found is not _MISSING:
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
                return _MISSING
            return self.resolved(node.id)
        if isinstance(node, ast.Attribute):
            base = self._object(node.value)
            return _MISSING if base is _MISSING else getattr(base, node.attr, _MISSING)
        return _MISSING

    def _call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise Unsupported("keywords in a call")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate" and not node.args:
            return call_named(self.writer, "conjugate", [self.expression(node.func.value)])
        if isinstance(node.func, ast.Name) and node.func.id in self.translation.definitions:
            return self._helper(node.func.id, [self.expression(argument) for argument in node.args])
        function = self._object(node.func)
        special = _SPECIAL.get(getattr(function, "__name__", ""))
        if special is not None and _is_known(function):
            return special(self, node.args)
        found = self._called(function, [self.expression(argument) for argument in node.args])
        if found is None:
            raise Unsupported(f"a call of {ast.unparse(node.func)}")
        return found

    def _called(self, function: object, arguments: list[Value]) -> Value | None:
        if isinstance(function, External):
            return call_external(self.writer, function, arguments)
        kind = _cast_type(function)
        if kind is not None and len(arguments) == 1:
            return self.writer.cast(arguments[0], kind)
        if function is _MISSING or not _is_known(function):
            return None
        name = str(getattr(function, "__name__", ""))
        known = {**NAMED, **MACHINE} if _is_word(function) else NAMED
        return known[name](self.writer, arguments) if name in known else None

    def _function_address(self, arguments: Sequence[ast.expr]) -> Value:
        (argument,) = arguments
        if not isinstance(argument, ast.Name) or argument.id not in self.translation.entries:
            raise Unsupported("the address of what is not a function called from outside")
        return Value("i64", self.writer.emit(f"ptrtoint ptr @{argument.id} to i64"))

    def _parallel(self, arguments: Sequence[ast.expr]) -> Value:
        """``parallel(stage, p, n, begin, end, grain)``: a call of the run time's pool of threads."""
        stage, *others = arguments
        address = self._function_address([stage])
        pool = Value("i64", self.writer.external_address("funcgrad_threads"))
        values = [self.expression(argument) for argument in others]
        tables = [Value("ptr", value.text) for value in values[:2]]
        numbers = [self.writer.cast(value, "i64") for value in values[2:]]
        return self.writer.call("funcgrad_parallel", "none", [pool, address, *tables, *numbers])

    def _helper(self, name: str, arguments: list[Value]) -> Value:
        kinds = tuple(value.type for value in arguments)
        symbol, result = self.translation.helper(name, kinds)
        texts = []
        for value in arguments:
            texts += [f"{_memory(value.type)} {half}" for half in (value.text, value.imaginary) if half]
        if result == "none":
            self.writer.do(f"call void @{symbol}({', '.join(texts)})")
            return Value("none", "")
        call = self.writer.emit(f"call {_result_type(result)} @{symbol}({', '.join(texts)})")
        if not is_complex(result):
            return Value(result, call)
        whole = _result_type(result)
        real, imaginary = (self.writer.emit(f"extractvalue {whole} {call}, {k}") for k in range(2))
        return Value(result, real, imaginary)


def _memory(kind: Type) -> str:
    """The LLVM type of each register of a value."""
    if is_complex(kind):
        return "float" if kind == "c64" else "double"
    return llvm_type(kind)


def _cast_type(function: object) -> str | None:
    try:
        return CAST_OF.get(function)
    except TypeError:
        return None


def _is_known(function: object) -> bool:
    if isinstance(function, Known | np.ufunc) or _is_word(function):
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


_STATEMENTS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Assign: _Body._assignment,
    ast.AugAssign: _Body._augmented,
    ast.Expr: _Body._expression_statement,
    ast.If: _Body._if,
    ast.While: _Body._while,
    ast.For: _Body._for,
    ast.Break: _Body._break,
    ast.Continue: _Body._continue,
    ast.Pass: _Body._pass,
    ast.Return: _Body._return,
}

_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Name: _Body._name,
    ast.Constant: _Body._constant,
    ast.BinOp: _Body._binary,
    ast.UnaryOp: _Body._unary,
    ast.Compare: _Body._comparison,
    ast.BoolOp: _Body._bool_operation,
    ast.IfExp: _Body._choice,
    ast.Subscript: _Body._subscript,
    ast.Attribute: _Body._attribute,
    ast.Call: _Body._call,
}

_SPECIAL: dict[str, Callable[..., Value]] = {
    "function_address": _Body._function_address,
    "parallel": _Body._parallel,
}
