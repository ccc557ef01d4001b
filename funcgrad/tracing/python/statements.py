"""Statements as calls of hooks: ``if``, ``while`` and ``for`` become functions of their blocks.

A block is a function without arguments that shares the names it binds with the function around it, by
``nonlocal``. Whoever is asked at run time may call it, or record it; the names are cells of the block.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from funcgrad.tracing.python.attributes import names_of_users
from funcgrad.tracing.python.escapes import BLOCK, PREFIX, Lowering, at, no_arguments
from funcgrad.tracing.python.expressions import ExpressionRewriter, operator_name
from funcgrad.tracing.python.matching import with_matches_as_branches
from funcgrad.tracing.python.names import (
    Liveness,
    Names,
    bound_names,
    calls_anything,
    declared,
    names_changed_by_calls,
    parameter_names,
)
from funcgrad.tracing.python.protocols import ENTERING, is_unpacked


class StatementRewriter(ExpressionRewriter):
    """Rewrites the body of one function."""

    def __init__(
        self,
        body: Sequence[ast.stmt],
        arguments: ast.arguments,
        first_parameter: str | None,
        owner: str | None,
    ) -> None:
        self.theirs = names_of_users()
        self._arguments = arguments
        self._first_parameter = first_parameter
        self._owner = owner
        self._globals = declared(body, ast.Global)
        self._nonlocals = declared(body, ast.Nonlocal)
        self._changed = names_changed_by_calls(body)
        self._live = Liveness(body)
        self._bound = bound_names(body)
        self._count = 0
        self._before: list[ast.stmt] | None = None
        """Functions to be defined before the statement that is being rewritten; None inside of a lambda."""

    def function_body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The whole body, in which every name that a block binds is a name of the function."""
        made = self.block(body)
        local = self._bound - self._globals - self._nonlocals - parameter_names(self._arguments)
        start: list[ast.stmt] = []
        if self._nonlocals:
            start.append(at(body[0], ast.Nonlocal(sorted(self._nonlocals))))
        if self._globals:
            start.append(at(body[0], ast.Global(sorted(self._globals))))
        if local:
            # Never run: it says whose the names are, and leaves them unbound.
            targets: list[ast.expr] = [ast.Name(x, ast.Store()) for x in sorted(local)]
            never = ast.If(ast.Constant(0), [ast.Assign(targets, ast.Constant(None))], [])
            start.append(at(body[0], never))
        return [*start, *made]

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, rewritten."""
        out: list[ast.stmt] = []
        around = self._before
        for node in body:
            self._before = []
            made = self.visit(node)
            out += self._before
            out += made if isinstance(made, list) else [] if made is None else [made]
        self._before = around
        return out

    # -- blocks ------------------------------------------------------------------------------------------

    def _block_function(
        self, place: ast.stmt, role: str, body: list[ast.stmt], bound: Names
    ) -> ast.FunctionDef:
        shared = bound - self._globals
        start: list[ast.stmt] = [ast.Nonlocal(sorted(shared))] if shared else []
        if bound & self._globals:
            start.append(ast.Global(sorted(bound & self._globals)))
        made = ast.FunctionDef(
            name=BLOCK + role,
            args=no_arguments(),
            body=[*start, *body] or [ast.Pass()],
            decorator_list=[],
            returns=None,
        )
        made.type_params = []  # type: ignore[attr-defined]
        return at(place, made)

    def _bound_in(self, body: Sequence[ast.stmt]) -> Names:
        bound = bound_names(body)
        return bound | self._changed if calls_anything(body) else bound

    def _names(self, place: ast.AST, names: Names) -> ast.expr:
        shown = sorted(names - self._globals)
        return at(place, ast.Tuple([ast.Constant(x) for x in shown], ast.Load()))

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        bodies = node.body, node.orelse
        after = self._live.after.get(id(node), self._bound)
        bound = [self._bound_in(x) for x in bodies]
        every = bound[0] | bound[1]
        test = self.visit(node.test)
        first = self._block_function(node, "_if", self.block(node.body), every)
        second = self._block_function(node, "_else", self.block(node.orelse), every)
        call = self.hooked(
            node.test,
            "branch",
            test,
            at(node, ast.Name(first.name, ast.Load())),
            at(node, ast.Name(second.name, ast.Load())),
            self._names(node, every),
            self._names(node, every & after),
        )
        return [first, second, at(node, ast.Expr(call))]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        bound = self._bound_in([*node.body, at(node, ast.Expr(node.test))])
        after, head = self._needed(node, bound)
        test = self.later(node.test, self.visit(node.test))
        body = self._block_function(node, "_while", self.block(node.body), bound)
        call = self.hooked(
            node.test,
            "while_",
            test,
            at(node, ast.Name(body.name, ast.Load())),
            self._names(node, bound),
            self._names(node, head),
            self._names(node, after),
        )
        return [body, at(node, ast.Expr(call))]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        item = PREFIX + "item"
        target = at(node.target, ast.Assign([node.target], ast.Name(item, ast.Load())))
        bound = self._bound_in([target, *node.body])
        after, head = self._needed(node, bound)
        iterable = self.visit(node.iter)
        goes_on = [self.visit(x) for x in getattr(node, "goes_on", [])]
        body = self._block_function(node, "_for", self.block([target, *node.body]), bound)
        body.args.args = [at(node, ast.arg(item))]
        test: ast.expr = at(node, ast.Constant(None))
        if goes_on:
            first, *others = goes_on
            later = [self.later(node, x) for x in others]
            test = self.later(node, self.hooked(node, "and_", first, *later) if later else first)
        call = self.hooked(
            node.iter,
            "for_",
            iterable,
            at(node, ast.Name(body.name, ast.Load())),
            test,
            self._names(node, bound),
            self._names(node, head),
            self._names(node, after),
        )
        return [body, at(node, ast.Expr(call))]

    def _needed(self, node: ast.stmt, bound: Names) -> tuple[Names, Names]:
        after = self._live.after.get(id(node), self._bound)
        head = self._live.head.get(id(node), self._bound)
        return bound & after, bound & head

    def visit_With(self, node: ast.With) -> ast.stmt:
        if not self.theirs.isdisjoint(ENTERING):
            for item in node.items:
                item.context_expr = self.hooked(item.context_expr, "entered", item.context_expr)
        self.generic_visit(node)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self._taken_apart(node.value)
        return node

    def _taken_apart(self, node: ast.expr) -> ast.expr:
        """What is taken apart in place of an expression."""
        return node if isinstance(node, ast.Tuple | ast.List) else self.hooked(node, "gone_through", node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.generic_visit(node)
        message = self.later(node, node.msg) if node.msg is not None else at(node, ast.Constant(None))
        return at(node, ast.Expr(self.hooked(node.test, "assert_", node.test, message)))

    # -- writing -----------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        unpacked = len(node.targets) == 1 and is_unpacked(node.targets[0])
        if not any(stores_items(target) for target in node.targets):
            own = isinstance(node.value, ast.Tuple | ast.List)
            self.generic_visit(node)
            if unpacked and not own:
                node.value = self._taken_apart(node.value)
            return node
        value = self.visit(node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript | ast.Attribute):
            return self._stored(node, node.targets[0], value)
        writes: list[ast.stmt] = []
        targets = [self._plain_target(node, target, writes) for target in node.targets]
        return [at(node, ast.copy_location(ast.Assign(targets, value), node)), *writes]

    def _plain_target(self, node: ast.stmt, target: ast.expr, writes: list[ast.stmt]) -> ast.expr:
        """The target with names of ours in place of elements, which are written afterwards, in order."""
        if isinstance(target, ast.Subscript | ast.Attribute):
            self._count += 1
            held = f"{PREFIX}value_{self._count}"
            writes.append(self._stored(node, target, at(target, ast.Name(held, ast.Load()))))
            return at(target, ast.Name(held, ast.Store()))
        if isinstance(target, ast.Tuple | ast.List):
            target.elts = [self._plain_target(node, x, writes) for x in target.elts]
        elif isinstance(target, ast.Starred):
            target.value = self._plain_target(node, target.value, writes)
        return target

    def _stored(self, node: ast.stmt, target: ast.Subscript | ast.Attribute, value: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Attribute):
            owner, attribute = self.visit(target.value), at(node, ast.Constant(self._mangled(target.attr)))
            return at(node, ast.Expr(self.hooked(node, "set_attribute", value, owner, attribute)))
        array, index = self.visit(target.value), self.index(self.visit(target.slice))
        return at(node, ast.Expr(self.hooked(node, "store", value, array, index)))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if isinstance(node.target, ast.Name):
            read = at(node.target, ast.Name(node.target.id, ast.Load()))
            operator = at(node, ast.Constant(operator_name(node.op)))
            value = self.hooked(node, "augmented", operator, read, self.visit(node.value))
            return at(node, ast.copy_location(ast.Assign([node.target], value), node))
        operator = at(node, ast.Constant(operator_name(node.op)))
        if isinstance(node.target, ast.Attribute):
            name = at(node, ast.Constant(self._mangled(node.target.attr)))
            target = self.hooked(node, "augment_attribute", operator, self.visit(node.target.value), name)
        else:
            array, index = self.visit(node.target.value), self.index(self.visit(node.target.slice))
            target = self.hooked(node, "augment", operator, array, index)
        # What is there is read before the value is computed, which may change it.
        return at(node, ast.Expr(at(node, ast.Call(target, [self.visit(node.value)], []))))

    def visit_Delete(self, node: ast.Delete) -> ast.stmt | list[ast.stmt]:
        out: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                place = self.visit(target.value), self.index(self.visit(target.slice))
                out.append(at(node, ast.Expr(self.hooked(node, "delete", *place))))
            else:
                out.append(at(node, ast.Delete([self.visit(target)])))
        return out

    def _mangled(self, attribute: str) -> str:
        """What Python makes of an attribute with two underscores in front, inside of a class."""
        private = attribute.startswith("__") and not attribute.endswith("__")
        owner = (self._owner or "").lstrip("_")
        return f"_{owner}{attribute}" if private and owner else attribute

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt] | None:
        if node.value is None:
            return at(node, ast.Pass())
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Global(self, node: ast.Global) -> None:
        """Said once, at the start of the function."""

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Said once, at the start of the function."""

    # -- scopes ------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [self.visit(x) for x in node.decorator_list]
        self._visit_defaults(node.args)
        mine = (self._bound | parameter_names(self._arguments)) - self._nonlocals - self._globals
        changed = sorted(names_changed_by_calls([node]) & mine)
        if changed:
            names = ast.Tuple([ast.Constant(x) for x in changed], ast.Load())
            node.decorator_list.append(self.hooked(node, "closing", names))
        if not suspends(node):
            node.body = rewritten_body(node, self._owner)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._visit_defaults(node.args)
        if can_be_rewritten(node.body):
            around, self._before = self._before, None
            node.body = self.visit(node.body)
            self._before = around
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        made = self._as_loop(node, "list")
        return self._inside_of(node) if made is None else made

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self.hooked(node, "made", self._inside_of(node))

    visit_SetComp = visit_DictComp = visit_GeneratorExp  # type: ignore[assignment]

    def _inside_of(self, node: ast.expr) -> ast.expr:
        """A comprehension that stays one: what is in it has a scope of its own."""
        around, self._before = self._before, None
        self.generic_visit(node)
        self._before = around
        for part in node.generators:  # type: ignore[attr-defined]
            part.iter = self.hooked(part.iter, "gone_through", part.iter)
        return node

    def _as_loop(self, node: ast.ListComp | ast.GeneratorExp, kind: str) -> ast.expr | None:
        """The call of a function that does what the comprehension does with ``for``; None where it cannot."""
        suspended = any(isinstance(x, ast.NamedExpr | ast.Await | ast.Yield) for x in ast.walk(node))
        if self._before is None or suspended or any(x.is_async for x in node.generators):
            return None
        self._count += 1
        function = loop_function(node, f"{BLOCK}_{kind}_{self._count}", kind)
        first = self.visit(node.generators[0].iter)
        function.body = rewritten_body(function, self._owner)
        self._before.append(function)
        called = at(node, ast.Name(function.name, ast.Load()))
        return at(node, ast.Call(called, [first], []))

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(x) for x in arguments.defaults]
        arguments.kw_defaults = [None if x is None else self.visit(x) for x in arguments.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        owner, self._owner = self._owner, node.name
        node.body = [self.visit(x) if isinstance(x, ast.FunctionDef) else x for x in node.body]
        self._owner = owner
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            # Without arguments it looks at the frame that calls it, which may be a block.
            if self._first_parameter is not None:
                names = ("__class__", self._first_parameter)
                node.args = [at(node, ast.Name(x, ast.Load())) for x in names]
            return node
        kind = kind_of_reduction(node)
        if kind is not None:
            return self._visit_reduction(node, kind)
        if is_call_of_generator(node):
            generator = node.args[0]
            assert isinstance(generator, ast.GeneratorExp), "the only argument is a generator"
            node.args = [ast.copy_location(ast.ListComp(generator.elt, generator.generators), generator)]
        return super().visit_Call(node)

    def _visit_reduction(self, node: ast.Call, kind: str) -> ast.expr:
        elements = node.args[0]
        assert isinstance(elements, ast.GeneratorExp | ast.ListComp), "the only argument is a comprehension"
        plain = copy.deepcopy(node)
        made = self._as_loop(elements, kind)
        if made is None:
            return super().visit_Call(node)
        assert isinstance(made, ast.Call), "a function is called with what is gone through"
        hook = "summed" if kind == "sum" else "counted"
        return self.hooked(node, hook, node.func, made.func, made.args[0], self.later(node, plain))


def is_call_of_generator(node: ast.Call) -> bool:
    """Whether a function that needs all elements at once is called with a generator expression."""
    named = isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "list", "tuple", "sorted")
    return named and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)


def kind_of_reduction(node: ast.Call) -> str | None:
    """``sum`` or ``len``, of what need not be kept: ``sum(x for ...)``, ``len([x for ... if ...])``."""
    if not isinstance(node.func, ast.Name) or node.keywords or len(node.args) != 1:
        return None
    elements = node.args[0]
    selects = isinstance(elements, ast.ListComp) and any(part.ifs for part in elements.generators)
    if node.func.id == "sum" and (selects or isinstance(elements, ast.GeneratorExp)):
        return "sum"
    return "len" if node.func.id == "len" and selects else None


def loop_function(node: ast.ListComp | ast.GeneratorExp, name: str, kind: str) -> ast.FunctionDef:
    """A function of the first iterable that does with ``for`` and ``if`` what the comprehension does."""
    result, items = PREFIX + "found", PREFIX + "items"
    inner: ast.stmt
    if kind in ("sum", "len"):
        # What is only counted is computed all the same: it may raise.
        term = copy.deepcopy(node.elt)
        counted = ast.Subscript(ast.Tuple([ast.Constant(1), term], ast.Load()), ast.Constant(0), ast.Load())
        added = ast.BinOp(ast.Name(result, ast.Load()), ast.Add(), term if kind == "sum" else counted)
        inner = ast.Assign([ast.Name(result, ast.Store())], added)
    else:
        append = ast.Attribute(ast.Name(result, ast.Load()), "append", ast.Load())
        inner = ast.Expr(ast.Call(append, [copy.deepcopy(node.elt)], []))
    inner = at(node.elt, inner)
    for k, part in reversed(list(enumerate(copy.deepcopy(node.generators)))):
        for test in reversed(part.ifs):
            inner = at(test, ast.If(test, [inner], []))
        iterable = part.iter if k else at(part.iter, ast.Name(items, ast.Load()))
        inner = at(part.iter, ast.For(part.target, iterable, [inner], []))
    start: ast.expr = ast.Constant(0) if kind in ("sum", "len") else ast.List([], ast.Load())
    body: list[ast.stmt] = [
        at(node, ast.Assign([ast.Name(result, ast.Store())], start)),
        inner,
        at(node, ast.Return(ast.Name(result, ast.Load()))),
    ]
    arguments = ast.arguments([], [ast.arg(items)], None, [], [], None, [])
    made = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], returns=None)
    made.type_params = []  # type: ignore[attr-defined]
    return at(node, made)


def rewritten_body(node: ast.FunctionDef, owner: str | None) -> list[ast.stmt]:
    """The body of a function, rewritten; `owner` is the class around it."""
    lowered = Lowering().function(with_matches_as_branches(node.body))
    every = [*node.args.posonlyargs, *node.args.args]
    rewriter = StatementRewriter(lowered, node.args, every[0].arg if every else None, owner)
    return rewriter.function_body(lowered)


def rewritten_expression(node: ast.Lambda, owner: str | None) -> ast.expr:
    """The body of a lambda, rewritten."""
    rewriter = StatementRewriter([], node.args, None, owner)
    made: ast.expr = rewriter.visit(node.body)
    return made


def stores_items(target: ast.expr) -> bool:
    """Whether the target of an assignment has an element or attribute that is written."""
    parts = [x for x in ast.walk(target) if isinstance(x, ast.Subscript | ast.Attribute)]
    return any(isinstance(x.ctx, ast.Store) for x in parts)


def can_be_rewritten(node: ast.AST) -> bool:
    """Whether nothing inside suspends the function."""
    return not any(isinstance(x, ast.Yield | ast.YieldFrom | ast.Await) for x in ast.walk(node))


def suspends(node: ast.FunctionDef) -> bool:
    """Whether the function is a generator."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        x = stack.pop()
        if isinstance(x, ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if not isinstance(x, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += ast.iter_child_nodes(x)
    return False
