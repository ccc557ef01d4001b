"""Expressions that may meet traced values, as calls of hooks: calls, subscripts, choices, ``and or not``.

What Python evaluates only on demand is handed over as a function. Everything keeps its place in the source.
"""

from __future__ import annotations

import ast

from funcgrad.tracing.python.escapes import PREFIX, at, attribute
from funcgrad.tracing.python.names import COMPREHENSIONS
from funcgrad.tracing.python.operating import BINARY, UNARY, is_asked

_UNTOUCHED = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
"""Functions that look at the frame that calls them, or that no traced value is special to."""
_OPERATORS: dict[type[ast.AST], str] = {
    **{kind: f"i{name}" for kind, name in BINARY.items()},
    ast.Mod: "imod",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
}
_COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Is: "is_",
    ast.IsNot: "is_not",
    ast.In: "in_",
    ast.NotIn: "not_in",
}


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites expressions in place; statements are a subclass's concern."""

    theirs: frozenset[str]
    """The names of properties and operators of the user's classes."""

    def hooked(self, place: ast.AST, hook: str, *arguments: ast.expr) -> ast.Call:
        """``hooks.hook(*arguments)`` at the place of a node."""
        return at(place, ast.Call(attribute(hook), list(arguments), []))

    def later(self, place: ast.AST, value: ast.expr) -> ast.Lambda:
        """A function of ours that evaluates the expression; its parameter tells it from the user's."""
        parameter = ast.arg(PREFIX + "later")
        arguments = ast.arguments([], [parameter], None, [], [], None, [ast.Constant(None)])
        return at(place, ast.Lambda(arguments, value))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED:
            node.args = [self.visit(x) for x in node.args]
            node.keywords = [self.visit(x) for x in node.keywords]
            return node
        self.generic_visit(node)
        node.func = self.hooked(node.func, "function", node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in self.theirs:
            return node
        return self.hooked(node, "attribute", node.value, at(node, ast.Constant(node.attr)))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.hooked(node, "item", node.value, self.index(node.slice))

    def index(self, node: ast.expr) -> ast.expr:
        """What stands between brackets as an ordinary expression: slices become calls."""
        if isinstance(node, ast.Slice):
            bounds = [x or at(node, ast.Constant(None)) for x in (node.lower, node.upper, node.step)]
            return self.hooked(node, "slice", *bounds)
        if isinstance(node, ast.Tuple):
            node.elts = [self.index(x) for x in node.elts]
        return node

    def _visit_display(self, node: ast.List | ast.Dict | ast.Set | ast.expr) -> ast.expr:
        self.generic_visit(node)
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node
        return self.hooked(node, "made", node)

    visit_List = visit_Dict = visit_Set = _visit_display

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        makes_list = any(isinstance(x, ast.List | ast.ListComp) for x in (node.left, node.right))
        self.generic_visit(node)
        name = BINARY.get(type(node.op))
        if is_asked(name, self.theirs):
            asked = self.hooked(node, "operated", at(node, ast.Constant(name)), node.left, node.right)
            return self.hooked(node, "made", asked) if makes_list else asked
        return self.hooked(node, "made", node) if makes_list else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        deferred = can_wait(node.body) and can_wait(node.orelse)
        self.generic_visit(node)
        if not deferred:
            return node
        body, orelse = self.later(node.body, node.body), self.later(node.orelse, node.orelse)
        return self.hooked(node.test, "choose", node.test, body, orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        deferred = all(can_wait(x) for x in node.values[1:])
        self.generic_visit(node)
        if not deferred:
            return node
        first, *others = node.values
        hook = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.hooked(node, hook, first, *[self.later(x, x) for x in others])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        name = UNARY.get(type(node.op))
        if is_asked(name, self.theirs):
            return self.hooked(node, "operated", at(node, ast.Constant(name)), node.operand)
        return self.hooked(node, "not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        deferred = all(can_wait(x) for x in node.comparators[1:])
        is_none = isinstance(node.ops[0], ast.Is | ast.IsNot) and not asks_for_identity(node)
        self.generic_visit(node)
        if not deferred or (is_none and len(node.ops) == 1):
            return node
        names = at(node, ast.Constant(",".join([_COMPARISONS[type(op)] for op in node.ops])))
        first, *others = node.comparators
        return self.hooked(node, "compare", names, node.left, first, *[self.later(x, x) for x in others])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node


def asks_for_identity(node: ast.Compare) -> bool:
    """Whether the comparison is ``is`` with something else than None."""
    operands = (node.left, *node.comparators)
    nothing = any(isinstance(x, ast.Constant) and x.value is None for x in operands)
    return isinstance(node.ops[0], ast.Is | ast.IsNot) and not nothing


def can_wait(node: ast.expr) -> bool:
    """Whether the expression means the same inside of a function: it binds no name and suspends nothing."""
    return not any(
        isinstance(x, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await) for x in ast.walk(node)
    )


def operator_name(node: ast.operator) -> str:
    """What the module `operator` calls the in-place form of an operator."""
    return _OPERATORS[type(node)]


def is_comprehension(node: ast.AST) -> bool:
    """Whether the node is a comprehension or a generator expression."""
    return isinstance(node, COMPREHENSIONS)
