"""Syntax that calls methods of the user's classes, rewritten to ask: subscripts, loops, unpacking, ``with``.

Only what is asked is wrapped, and statements stay what they are: `protocols` has what is put there instead.
"""

from __future__ import annotations

import ast

from funcgrad.tracing.python.escapes import at, attribute
from funcgrad.tracing.python.protocols import (
    ATTRIBUTES,
    CONTAINMENT,
    ENTERING,
    ITERATION,
    SUBSCRIPTS,
    is_unpacked,
    setting,
)


class ProtocolRewriter(ast.NodeTransformer):
    """Rewrites in place what stands before brackets, dots and bodies; counts what it has rewritten."""

    def __init__(self, theirs: frozenset[str]) -> None:
        self._theirs = theirs
        self.count = 0

    def asked(self, hook: str, node: ast.expr, *names: str) -> ast.expr:
        """``hooks.hook(node, *names)``"""
        self.count += 1
        said = [at(node, ast.Constant(name)) for name in names]
        return at(node, ast.Call(attribute(hook), [node, *said], []))

    def gone_through(self, node: ast.expr) -> ast.expr:
        """What is gone through in place of an expression."""
        own = isinstance(node, ast.Tuple | ast.List | ast.Constant | ast.ListComp | ast.GeneratorExp)
        return node if own or self._theirs.isdisjoint(ITERATION) else self.asked("iterated", node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not self._theirs.isdisjoint(SUBSCRIPTS):
            node.value = self.asked("subscriptable", node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        name = node.attr
        if isinstance(node.ctx, ast.Store) and not self._theirs.isdisjoint([ATTRIBUTES, setting(name)]):
            node.value = self.asked("settable", node.value, name)
        return node

    def containing(self, node: ast.Compare) -> ast.expr:
        """``x in container`` or ``x not in container``."""
        if self._theirs.isdisjoint(CONTAINMENT):
            return node
        self.count += 1
        found = at(node, ast.Call(attribute("contained"), [node.left, node.comparators[0]], []))
        return at(node, ast.UnaryOp(ast.Not(), found)) if isinstance(node.ops[0], ast.NotIn) else found

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        node.iter = self.gone_through(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = self.gone_through(node.iter)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self.gone_through(node.value)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        self.generic_visit(node)
        node.value = self.gone_through(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        if len(node.targets) == 1 and is_unpacked(node.targets[0]):
            node.value = self.gone_through(node.value)
        return node

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self.tested(node.test)
        return node

    visit_While = visit_IfExp = visit_If

    def tested(self, node: ast.expr) -> ast.expr:
        """What is tested in place of an expression."""
        named = isinstance(node, ast.Name | ast.Attribute)
        return self.asked("truth", node) if named and "__bool__" in self._theirs else node

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        if not self._theirs.isdisjoint(ENTERING):
            for item in node.items:
                item.context_expr = self.asked("entered", item.context_expr)
        return node
