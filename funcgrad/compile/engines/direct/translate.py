"""Translates functions of Python source into LLVM assembly: statements and control flow.

A function is translated again whenever an assignment widens a variable, until nothing changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from funcgrad.compile.engines.direct import arithmetic
from funcgrad.compile.engines.direct.expressions import Expressions
from funcgrad.compile.engines.direct.interleaving import takes_two_vectors
from funcgrad.compile.engines.direct.scope import (
    Result,
    assigned_in,
    memory_type,
    result_type,
    statements_in,
)
from funcgrad.compile.engines.direct.writer import INTERLEAVED, ONE_BY_ONE, ROLLED, Family, Module, llvm_type
from funcgrad.compile.language.calls import PRODUCTS
from funcgrad.compile.language.values import (
    AliasScope,
    Reused,
    Type,
    Unsupported,
    Value,
    View,
    constant,
    halves,
    is_complex,
    unified,
)
from funcgrad.syntax import parsed

_RUN: tuple[Type, ...] = ("table", "sizes")
_STAGE: tuple[Type, ...] = (*_RUN, "i64", "i64")
_ANNOTATIONS = {"int": "i64", "float": "f64", "bool": "bool"}
_MOST_ROUNDS = 12


def translate(
    source: str,
    functions: Sequence[str],
    fastmath: frozenset[str],
    namespace: Mapping[str, object],
    *,
    inlining: str = "alwaysinline",
) -> str:
    """The LLVM module of the named functions, or `Unsupported`.

    Other functions of the source that they call are copied into them; with ``inlining="noinline"`` they are
    called, each compiled once for views in whatever memory, and with no attribute LLVM decides.
    """
    definitions = {node.name: node for node in parsed(source).body if isinstance(node, ast.FunctionDef)}
    translation = _Translation(
        definitions,
        "".join(f"{flag} " for flag in sorted(fastmath)),
        namespace,
        frozenset(functions),
        inlining,
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
        self.family = None if inlining == "noinline" else Family()
        if self.family is not None:
            self.module.families.append(self.family)
        self.helpers: dict[tuple[str, tuple[Type, ...]], tuple[str, Result]] = {}
        self.pending: set[tuple[str, tuple[Type, ...]]] = set()
        self._assigned: dict[str, frozenset[str]] = {}

    def assigned(self, name: str) -> frozenset[str]:
        """The variables that a function assigns to: the same however often its types are gone through."""
        if name not in self._assigned:
            self._assigned[name] = assigned_in(self.definitions[name])
        return self._assigned[name]

    def entry(self, name: str, arguments: tuple[Type, ...]) -> None:
        """Define a function that is called from outside."""
        body = self._body(name, arguments)
        parameters = ", ".join(f"{llvm_type(kind)} %a{k}" for k, kind in enumerate(arguments))
        returned = "void" if body.result is None else result_type(body.result)
        quickly = "noinline optnone " if only_calls(self.definitions[name], body.writer.lines) else ""
        self._define(f"define {returned} @{name}({parameters}) {quickly}#0", name, body)

    def helper(self, name: str, arguments: tuple[Type, ...]) -> tuple[str, Result]:
        """The symbol and the type of the result of a function of the source, for arguments of these types."""
        if self.inlining == "noinline":
            arguments = _with_scopes_of_its_own(arguments)
        key = (name, arguments)
        if name not in self.definitions:
            raise Unsupported(f"a call of {name}, which the source does not define")
        if key in self.pending:
            raise Unsupported("recursion")
        if key not in self.helpers:
            self.pending.add(key)
            body = self._body(name, arguments)
            self.pending.discard(key)
            symbol = f"{name}.{len(self.helpers)}"
            kind = body.result
            returned = "void" if kind is None else result_type(kind)
            parameters = ", ".join(_parameters(arguments))
            head = f'define internal {returned} @"{symbol}"({parameters}) {self.inlining} #0'
            self._define(head, symbol, body)
            self.helpers[key] = f'"{symbol}"', "none" if kind is None else kind
        return self.helpers[key]

    def seen_outside(self, kind: Type, arguments: Sequence[Value]) -> Type:
        """The type of a result of a helper where it is called: a view's scope is that of an argument."""
        if self.inlining != "noinline" or not isinstance(kind, View):
            return kind
        given = tuple([value.type for value in arguments])
        inside = zip(_with_scopes_of_its_own(given), given, strict=True)
        return next((outside for own, outside in inside if own == kind), View(kind.storage, None))

    def _define(self, head: str, name: str, body: _Body) -> None:
        lines = [f"{head} {{", "entry:", *body.writer.allocations, *body.writer.lines, "}"]
        self.module.functions.append("\n".join(lines))
        self.module.defined.add(name)
        if self.family is None:
            self.module.families.append(body.writer.family)

    def _body(self, name: str, arguments: tuple[Type, ...]) -> _Body:
        definition = self.definitions[name]
        kinds: dict[str, Type] = {}
        result: Result | None = None
        for _ in range(_MOST_ROUNDS):
            body = _Body(self, definition, arguments, dict(kinds), result)
            body.run()
            if not body.widened:
                return body
            kinds, result = body.kinds, body.result
        raise Unsupported("the types of variables do not settle")


def _with_scopes_of_its_own(arguments: tuple[Type, ...]) -> tuple[Type, ...]:
    """The types with alias scopes by place: a function that is called serves whatever memory it is given."""
    given = dict.fromkeys([kind.scope for kind in arguments if isinstance(kind, View)])
    scopes = by_place([scope for scope in given if scope is not None])
    return tuple(
        [
            View(kind.storage, scopes[kind.scope])
            if isinstance(kind, View) and kind.scope is not None
            else kind
            for kind in arguments
        ]
    )


def by_place(given: Sequence[AliasScope]) -> dict[AliasScope, AliasScope]:
    """Scopes by their places, with times of use by their order where two of them may overlap.

    >>> by_place([7, Reused(9, 4, 5), Reused(8, 6, 9)])
    {7: -1, Reused(number=9, first=4, last=5): Reused(number=-2, first=0, last=1), \
Reused(number=8, first=6, last=9): Reused(number=-3, first=2, last=3)}
    >>> by_place([7, Reused(9, 4, 6), Reused(8, 6, 9)])
    {7: -1, Reused(number=9, first=4, last=6): -2, Reused(number=8, first=6, last=9): -3}
    """
    reused = [scope for scope in given if isinstance(scope, Reused)]
    times = sorted({time for scope in reused for time in (scope.first, scope.last)})
    some_overlap = min([x.last for x in reused], default=0) < max([x.first for x in reused], default=0)
    found: dict[AliasScope, AliasScope] = {}
    for k, scope in enumerate(given):
        place = -1 - k
        if some_overlap and isinstance(scope, Reused):
            found[scope] = Reused(place, times.index(scope.first), times.index(scope.last))
        else:
            found[scope] = place
    return found


def _parameters(arguments: Sequence[Type]) -> list[str]:
    texts = []
    for k, kind in enumerate(arguments):
        texts.append(f"{memory_type(kind)} %a{k}")
        if is_complex(kind):
            texts.append(f"{memory_type(kind)} %a{k}i")
    return texts


class _Body(Expressions):
    """One function: its statements."""

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
            several = self._several(node.value)
            if len(several) != len(target.elts):
                raise Unsupported("unpacking")
            for element, value in zip(target.elts, several, strict=True):
                self._set(element, value)
            return
        # A view that is made once is a register, so that its alias scope is seen wherever it is used.
        value = self.expression(node.value)
        if isinstance(target, ast.Name):
            self.zero_tests.assigned(target.id, node.value)
        self._set(target, value)

    def _several(self, node: ast.expr) -> list[Value]:
        """The values of a tuple, written out or returned by a function of the source."""
        if isinstance(node, ast.Tuple):
            return [self.expression(element) for element in node.elts]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.helper_values(node.func.id, [self.expression(argument) for argument in node.args])
        raise Unsupported("unpacking")

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
        writer.jump(head, self.said_of(node))
        writer.start(after)

    def said_of(self, node: ast.For) -> str:
        """The metadata of a loop, if there is anything to be said."""
        if self.holds_long_loop(node):
            return self.writer.module.loop(ROLLED)
        if is_short(node) and any(isinstance(x, ast.For) for x in statements_in(node.body)):
            return self.writer.module.loop(ONE_BY_ONE)
        return self.writer.module.loop(INTERLEAVED) if takes_two_vectors(node) else ""

    def holds_long_loop(self, node: ast.For) -> bool:
        """Whether there is a loop inside whose number of turns is not written: copies of it are not worth it.

        LLVM would unroll three turns around a loop that it has vectorised, and compile three of them.
        """
        return any(
            isinstance(x, ast.While) or (isinstance(x, ast.For) and not is_short(x))
            for x in statements_in(node.body)
        )

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
        if isinstance(node.value, ast.Tuple):
            values = [self.expression(element) for element in node.value.elts]
            kinds = tuple([value.type for value in values])
            known = kinds if self.result is None else self.result
            if not isinstance(known, tuple) or len(known) != len(kinds):
                raise Unsupported("results of different numbers")
            self._returned(tuple([unified(*pair) for pair in zip(known, kinds, strict=True)]), values)
        else:
            value = self.expression(node.value)
            if isinstance(self.result, tuple):
                raise Unsupported("results of different numbers")
            self._returned(value.type if self.result is None else unified(self.result, value.type), [value])

    def _returned(self, kind: Result, values: Sequence[Value]) -> None:
        """Leave with values, as numbers of the types that all results share."""
        if self.result is not None and kind != self.result:
            self.widened = True
        self.result = kind
        kinds = kind if isinstance(kind, tuple) else (kind,)
        registers: list[str] = []
        for value, wanted in zip(values, kinds, strict=True):
            cast = self.writer.cast(value, wanted)
            parts = halves(cast) if is_complex(wanted) else (cast,)
            registers += [f"{memory_type(wanted)} {half.text}" for half in parts]
        whole = result_type(kind)
        text = registers[0].split(" ", 1)[1]
        if len(registers) > 1:
            text = "poison"
            for place, register in enumerate(registers):
                text = self.writer.emit(f"insertvalue {whole} {text}, {register}, {place}")
        self.writer.do(f"ret {whole} {text}")
        self.writer.ended = True


LONG_FUNCTION = 200
"""Instructions from which a function that only calls others is not worth what LLVM would do to it."""

_ARITHMETIC = re.compile(r" = f(?:add|sub|mul|div|rem|neg|cmp)\b|\bllvm\.")


def only_calls(definition: ast.FunctionDef, lines: Sequence[str]) -> bool:
    """Whether a long function does nothing itself but tell others what to do.

    Registers are given out in haste then, in a tenth of the time, and it takes as long as it did: nothing
    in it is computed, and what its loops call takes longer than a turn.
    """
    return (
        len(lines) >= LONG_FUNCTION
        and all(
            isinstance(x, ast.For) and calls_product(x)
            for x in statements_in(definition.body)
            if isinstance(x, ast.For | ast.While)
        )
        and not any(_ARITHMETIC.search(line) for line in lines)
    )


def calls_product(loop: ast.For) -> bool:
    """Whether a loop does nothing but call BLAS."""
    return all(
        calls_product(x)
        if isinstance(x, ast.For)
        else isinstance(x, ast.Expr)
        and isinstance(x.value, ast.Call)
        and isinstance(x.value.func, ast.Name)
        and x.value.func.id in PRODUCTS
        for x in loop.body
    )


def is_short(node: ast.For) -> bool:
    """Whether the number of turns of a loop is written in the text."""
    return isinstance(node.iter, ast.Call) and all(isinstance(x, ast.Constant) for x in node.iter.args)


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
