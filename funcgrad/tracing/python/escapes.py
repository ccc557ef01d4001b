"""``return``, ``break`` and ``continue`` as flags, so that every statement ends where it stands.

What follows an ``if`` that leaves its block goes into the other branch; what follows anything else that may
leave is done only while no flag is set. The meaning for plain values is Python's own.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from funcgrad.tracing.python.names import FUNCTIONS

PREFIX = "_fg_"
"""What all names of ours start with in rewritten functions."""
BLOCK = PREFIX + "block"
"""What the names of blocks start with."""
DONE, RESULT = PREFIX + "done", PREFIX + "result"

_LEAVES = (ast.Return, ast.Break, ast.Continue)


def has_inner_return(body: Sequence[ast.stmt]) -> bool:
    """Whether a ``return`` stands anywhere but at the end of the function's own block."""
    return any(Return in kinds_of_leaving([x]) for x in body if not isinstance(x, ast.Return))


def returns_of(nodes: Sequence[ast.AST]) -> list[ast.Return]:
    """The ``return`` statements of a function's own."""
    found: list[ast.Return] = []
    for node in nodes:
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found += returns_of(list(ast.iter_child_nodes(node)))
    return found


def is_nothing(value: ast.expr | None) -> bool:
    """Whether what is returned is None, said or not."""
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def is_true(test: ast.expr) -> bool:
    """Whether a test is a constant that holds, as that of ``while True``."""
    return isinstance(test, ast.Constant) and bool(test.value)


Return, Break, Continue = ast.Return, ast.Break, ast.Continue


def kinds_of_leaving(nodes: Sequence[ast.AST]) -> set[type]:
    """Which of ``return``, ``break`` and ``continue`` inside the nodes leave the block that they are."""
    found: set[type] = set()
    for node in nodes:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, _LEAVES):
            found.add(type(node))
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            found |= kinds_of_leaving(node.body) & {Return}
            found |= kinds_of_leaving(node.orelse)
        else:
            found |= kinds_of_leaving(list(ast.iter_child_nodes(node)))
    return found


def always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether the block never reaches its end."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (*_LEAVES, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, ast.While):
        return is_true(last.test) and Break not in kinds_of_leaving(last.body)
    return isinstance(last, ast.With) and always_leaves(last.body)


class Flags(NamedTuple):
    """The names of the flags that are set instead of leaving."""

    broken: str
    skipped: str


class Lowering:
    """Lowers the body of one function."""

    def __init__(self) -> None:
        self._count = 0
        self._gives_nothing = False
        """Whether every ``return`` of the function is one of None, so that its result decides nothing."""

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a function, with one ``return`` at its end if any stood further inside."""
        if not has_inner_return(body):
            return self.block(body, None, returns=False)
        first, last = body[0], body[-1]
        self._gives_nothing = all(is_nothing(x.value) for x in returns_of(body))
        lowered = self.block(body, None, returns=True)
        start = at(first, assigned(DONE, ast.Constant(False)))
        if self._gives_nothing:
            end = at(last, ast.Return(ast.Constant(None)))
        elif always_leaves(body):
            end = at(last, ast.Return(name(RESULT)))
        else:
            call = ast.Call(attribute("returned"), [name(DONE), ast.Lambda(no_arguments(), name(RESULT))], [])
            end = at(last, ast.Return(call))
        return [start, *lowered, end]

    def block(self, body: Sequence[ast.stmt], flags: Flags | None, *, returns: bool) -> list[ast.stmt]:
        """A block in which nothing leaves; `flags` are the innermost loop's."""
        out: list[ast.stmt] = []
        for k, statement in enumerate(body):
            node = asked_inside(statement)
            rest = list(body[k + 1 :])
            if isinstance(node, _LEAVES):
                return [*out, *self._left(node, flags, returns)]
            if isinstance(node, ast.For | ast.While):
                kinds = kinds_of_leaving([node])
                out += self._loop(node, flags, returns)
                if kinds:
                    return [*out, *self._guarded(node, rest, flags, returns, kinds)]
                continue
            kinds = kinds_of_leaving([node])
            if not kinds:
                out.append(self._inside(node, flags, returns))
            elif isinstance(node, ast.If):
                return [*out, *self._branch(node, rest, flags, returns, kinds)]
            else:
                out.append(self._inside(node, flags, returns))
                return [*out, *self._guarded(node, rest, flags, returns, kinds)]
        return out

    def _left(self, node: ast.stmt, flags: Flags | None, returns: bool) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            if not returns:
                return [node]
            done = at(node, assigned(DONE, ast.Constant(True)))
            value = node.value or ast.Constant(None)
            return [done] if self._gives_nothing else [at(node, assigned(RESULT, value)), done]
        if flags is None:
            return [node]
        flag = flags.broken if isinstance(node, ast.Break) else flags.skipped
        return [at(node, assigned(flag, ast.Constant(True)))]

    def _branch(
        self, node: ast.If, rest: list[ast.stmt], flags: Flags | None, returns: bool, kinds: set[type]
    ) -> list[ast.stmt]:
        body, orelse = list(node.body), list(node.orelse)
        if always_leaves(body):
            orelse, rest = [*orelse, *rest], []
        elif always_leaves(orelse):
            body, rest = [*body, *rest], []
        made = ast.If(
            node.test, self.block(body, flags, returns=returns), self.block(orelse, flags, returns=returns)
        )
        out: list[ast.stmt] = [ast.copy_location(made, node)]
        return [*out, *self._guarded(node, rest, flags, returns, kinds)]

    def _inside(self, node: ast.stmt, flags: Flags | None, returns: bool) -> ast.stmt:
        """A statement with blocks, which are lowered in place; functions and classes stay as they are."""
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return node
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                setattr(node, field, self.block(block, flags, returns=returns))
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            part.body = self.block(part.body, flags, returns=returns)
        return node

    def _loop(self, node: ast.For | ast.While, outer: Flags | None, returns: bool) -> list[ast.stmt]:
        kinds = kinds_of_leaving(node.body)
        self._count += 1
        flags = Flags(f"{PREFIX}broken_{self._count}", f"{PREFIX}skipped_{self._count}")
        body = self.block(node.body, flags, returns=returns)
        before: list[ast.stmt] = []
        stops: list[str] = []
        if Break in kinds:
            before.append(at(node, assigned(flags.broken, ast.Constant(False))))
            stops.append(flags.broken)
        if Return in kinds and returns:
            stops.append(DONE)
        if Continue in kinds:
            body = [at(node.body[0], assigned(flags.skipped, ast.Constant(False))), *body]
        made: ast.For | ast.While
        goes_on: list[ast.expr] = [ast.UnaryOp(ast.Not(), name(stop)) for stop in stops]
        if isinstance(node, ast.While):
            tests = goes_on if goes_on and is_true(node.test) else [*goes_on, node.test]
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            made = ast.While(at(node.test, test), body, [])
        else:
            made = ast.For(node.target, node.iter, body, [])
            made.goes_on = goes_on  # type: ignore[attr-defined]
        out = [*before, ast.copy_location(made, node)]
        if node.orelse:
            orelse = self.block(node.orelse, outer, returns=returns)
            out += [guard(node.orelse[0], stops, orelse)] if stops else orelse
        return [ast.fix_missing_locations(x) for x in out]

    def _guarded(
        self, node: ast.stmt, rest: list[ast.stmt], flags: Flags | None, returns: bool, kinds: set[type]
    ) -> list[ast.stmt]:
        """What follows a statement that may have left, where it has not."""
        if not rest:
            return []
        stops = [DONE] if Return in kinds and returns else []
        if flags is not None:
            stops += [flags.broken] if Break in kinds else []
            stops += [flags.skipped] if Continue in kinds else []
        lowered = self.block(rest, flags, returns=returns)
        if not stops:
            return lowered
        made = guard(rest[0], stops, lowered)
        if stops == [DONE]:
            # The branch that is not taken is the one that has returned: said, so that it can be seen.
            made.orelse = [at(rest[0], assigned(DONE, ast.Constant(True)))]
        return [made]


def asked_inside(node: ast.stmt) -> ast.stmt:
    """A ``while`` whose test binds a name, with the test as the first statement of its body."""
    if not isinstance(node, ast.While) or node.orelse:
        return node
    if not any(isinstance(x, ast.NamedExpr) for x in ast.walk(node.test)):
        return node
    leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
    return at(node, ast.copy_location(ast.While(ast.Constant(True), [at(node, leave), *node.body], []), node))


def guard(node: ast.stmt, stops: Sequence[str], body: list[ast.stmt]) -> ast.If:
    """``if not (stop or ...): body``"""
    tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), name(stop)) for stop in stops]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return at(node, ast.If(at(node, test), body, []))


# -- small pieces of syntax


def name(text: str, context: type[ast.expr_context] = ast.Load) -> ast.Name:
    """A name, read or bound."""
    return ast.Name(text, context())


def assigned(text: str, value: ast.expr) -> ast.Assign:
    """``text = value``"""
    return ast.Assign([name(text, ast.Store)], value)


def attribute(text: str) -> ast.Attribute:
    """A hook: an attribute of the object that rewritten functions ask."""
    return ast.Attribute(name(HOOKS), text, ast.Load())


def no_arguments() -> ast.arguments:
    """An empty list of parameters."""
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


HOOKS = PREFIX + "hooks"
"""The name under which rewritten functions see their hooks."""


Node = TypeVar("Node", bound=ast.AST)


def at(place: ast.AST, node: Node) -> Node:
    """The node, and all of it that has no place yet, at the place of another."""
    for x in ast.walk(node):
        if "lineno" in x._attributes and getattr(x, "lineno", None) is None:
            ast.copy_location(x, place)
    return node
