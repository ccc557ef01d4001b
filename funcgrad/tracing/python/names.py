"""Which names statements bind, read and still need afterwards. Knows nothing of tracing.

A scope is one function: nested functions, classes and comprehensions are looked into only for the names
of the scope that they read or, by ``nonlocal``, bind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

Names = frozenset[str]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NOTHING: Names = frozenset()


def bound_names(nodes: Iterable[ast.AST]) -> Names:
    """The names that the nodes bind or delete in their scope."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            stack += outer_parts(node)
            continue
        if isinstance(node, ast.Lambda):
            stack += outer_parts(node)
            continue
        if isinstance(node, COMPREHENSIONS):
            # Only `:=` binds outside of a comprehension.
            found.update(walrus_names(node))
            continue
        found.update(names_bound_by(node))
        stack += ast.iter_child_nodes(node)
    return frozenset(found)


def names_bound_by(node: ast.AST) -> list[str]:
    """The names that one node binds, leaving out its children."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
        return [node.name]
    if isinstance(node, ast.MatchMapping) and node.rest is not None:
        return [node.rest]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    return []


def walrus_names(node: ast.AST) -> list[str]:
    """The names that ``:=`` binds anywhere inside."""
    return [
        x.target.id for x in ast.walk(node) if isinstance(x, ast.NamedExpr) and isinstance(x.target, ast.Name)
    ]


def outer_parts(node: ast.AST) -> list[ast.AST]:
    """The parts of a definition that run in the scope around it: decorators, defaults, bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    arguments: ast.arguments = node.args  # type: ignore[attr-defined]
    parts: list[ast.AST] = [*arguments.defaults, *[x for x in arguments.kw_defaults if x is not None]]
    if not isinstance(node, ast.Lambda):
        parts += node.decorator_list  # type: ignore[attr-defined]
    return parts


def read_names(nodes: Iterable[ast.AST]) -> Names:
    """The names that the nodes may read, in nested scopes too; an augmented assignment reads its target."""
    found: set[str] = set()
    for node in nodes:
        for x in ast.walk(node):
            if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load | ast.Del):
                found.add(x.id)
            elif isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name):
                found.add(x.target.id)
            elif isinstance(x, ast.Nonlocal):
                found.update(x.names)
    return frozenset(found)


def declared(nodes: Iterable[ast.AST], kind: type[ast.Global] | type[ast.Nonlocal]) -> Names:
    """The names that a scope declares as ``global`` or ``nonlocal``."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            found.update(node.names)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack += ast.iter_child_nodes(node)
    return frozenset(found)


def parameter_names(arguments: ast.arguments) -> Names:
    """The names of all parameters."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [x for x in (arguments.vararg, arguments.kwarg) if x is not None]
    return frozenset([x.arg for x in every])


def nested_scopes(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """The functions and classes defined anywhere inside."""
    return [x for node in nodes for x in ast.walk(node) if isinstance(x, (*FUNCTIONS, ast.ClassDef))]


def names_changed_by_calls(body: Sequence[ast.stmt]) -> Names:
    """The names that functions defined in the body bind by ``nonlocal``: any call may change them."""
    found: set[str] = set()
    for scope in nested_scopes(body):
        if not isinstance(scope, ast.Lambda):
            found.update(declared(scope.body, ast.Nonlocal))  # type: ignore[attr-defined]
    return frozenset(found)


def calls_anything(nodes: Iterable[ast.AST]) -> bool:
    """Whether a call stands anywhere inside."""
    return any(isinstance(x, ast.Call) for node in nodes for x in ast.walk(node))


# -- what is needed afterwards ------------------------------------------------------------------------------


class Liveness:
    """For each ``if`` and loop of a function, the names that are read after it and when it starts again."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self.after: dict[int, Names] = {}
        """By the id of a statement: what may be read once it has ended."""
        self.head: dict[int, Names] = {}
        """By the id of a loop: what its test, its body, or anything after it may read at its start."""
        # What is the outer function's may be read when this one has ended.
        self._kept = read_names(nested_scopes(body)) | declared(body, ast.Nonlocal)
        self._before(body, NOTHING)

    def _before(self, body: Sequence[ast.stmt], after: Names) -> Names:
        live = after
        for statement in reversed(body):
            live = self._before_statement(statement, live)
        return live

    def _before_statement(self, node: ast.stmt, after: Names) -> Names:
        self.after[id(node)] = after | self._kept
        if isinstance(node, ast.If):
            either = self._before(node.body, after) | self._before(node.orelse, after)
            return either | read_names([node.test])
        if isinstance(node, ast.While | ast.For):
            return self._before_loop(node, after)
        if isinstance(node, ast.With):
            inner = self._before(node.body, after)
            items: list[ast.AST] = list(node.items)
            return (inner - bound_names(items)) | read_names(items)
        if isinstance(node, ast.Try | ast.Match) or type(node).__name__ == "TryStar":
            return self._before_blocks(node, after)
        reads = read_names([node])
        return (after - self._surely_bound(node)) | reads

    def _before_loop(self, node: ast.While | ast.For, after: Names) -> Names:
        after = self._before(node.orelse, after)
        test = read_names([node.test] if isinstance(node, ast.While) else getattr(node, "goes_on", []))
        target = bound_names([node.target]) if isinstance(node, ast.For) else NOTHING
        head = after | test
        while True:
            found = head | (self._before(node.body, head) - target)
            if found == head:
                break
            head = found
        self.head[id(node)] = head | self._kept
        return head | read_names([node.iter, node.target]) if isinstance(node, ast.For) else head

    def _before_blocks(self, node: ast.AST, after: Names) -> Names:
        """Any block may be left for any other at any statement: nothing is surely bound."""
        blocks = [x for name in ("finalbody", "orelse", "body") for x in [getattr(node, name, [])]]
        blocks += [x.body for name in ("handlers", "cases") for x in getattr(node, name, [])]
        live = after | read_names([node])
        for block in blocks:
            self._before(block, live)
        return live

    @staticmethod
    def _surely_bound(node: ast.stmt) -> Names:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            return frozenset([node.name])
        else:
            return NOTHING
        return frozenset([x for target in targets for x in plain_names(target)])


def plain_names(target: ast.expr) -> list[str]:
    """The names in an assignment's target, which may be a tuple."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [x for item in target.elts for x in plain_names(item)]
    return plain_names(target.value) if isinstance(target, ast.Starred) else []
