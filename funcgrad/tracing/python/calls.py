"""Functions whose calls have been rewritten, and nothing else: so un-jitted code sees constructors anew.

A call ``f(x)`` becomes ``hooks.function(f)(x)`` where what is called may be a constructor of NumPy's, a
function of the user's, or anything that is not known; ``np.r_[...]`` asks likewise. Calls of what is known
never to matter stay as they are: most lines cost what they did, and many functions stay themselves.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from itertools import pairwise
from threading import RLock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.config import WHEN_PACKAGES_CHANGE
from funcgrad.shared import keep_through_forks
from funcgrad.tracing.python.attributes import CONTAINERS_METHODS, called, names_of_users, note_classes_of
from funcgrad.tracing.python.definitions import NoSource
from funcgrad.tracing.python.escapes import PREFIX, at, attribute
from funcgrad.tracing.python.functions import CODES, CodeCache, twin_of
from funcgrad.tracing.python.handed import needs_a_key
from funcgrad.tracing.python.instructions import (
    Step,
    all_steps,
    is_comprehension,
    running_instruction,
    static_attribute,
)
from funcgrad.tracing.python.matching import asking_for_classes
from funcgrad.tracing.python.operating import BINARY, COMPARISONS, OPERATORS, UNARY, is_asked
from funcgrad.tracing.python.owners import is_of_package, is_users
from funcgrad.tracing.python.protocols import ASKED, ATTRIBUTES, asked_by_step, setting
from funcgrad.tracing.python.syntax import ProtocolRewriter
from funcgrad.types import Anything

Matters = Callable[[Any], bool]
"""Whether something may have to be called otherwise."""

_KEPT = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "print"})
_SUBSCRIPTED = ("r_", "c_")
_DISPLAYS = frozenset({"BUILD_LIST", "BUILD_TUPLE", "LIST_EXTEND", "LIST_APPEND"})
_OPERATIONS = frozenset({"BINARY_OP", "UNARY_NEGATIVE", "CALL_INTRINSIC_1", "UNARY_POSITIVE", "UNARY_INVERT"})
_NOTHING = "it calls nothing that would be called otherwise"


class CallRewriter(ProtocolRewriter):
    """Rewrites calls in place."""

    def __init__(
        self,
        names: Mapping[str, Any],
        local: frozenset[str],
        lists: frozenset[str],
        matters: Matters,
        theirs: frozenset[str],
    ) -> None:
        super().__init__(theirs)
        self._names = names
        self._local = local
        self._lists = lists
        self._matters = matters

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if self._may_matter(node):
            self.count += 1
            node.func = at(node.func, ast.Call(attribute("function"), [node.func], []))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        super().visit_Attribute(node)
        if isinstance(node.ctx, ast.Load) and node.attr in self._theirs and not self._value(node)[0]:
            self.count += 1
            named = at(node, ast.Constant(node.attr))
            return at(node, ast.Call(attribute("attribute"), [node.value, named], []))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._operated(node, BINARY.get(type(node.op)), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self._operated(node, UNARY.get(type(node.op)), node.operand)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        """``p += q``, ``self.p += q`` and ``p[i] += q`` where a class of the user's has the operator."""
        target = node.target
        name = BINARY.get(type(node.op))
        if not is_asked(name, self._theirs):
            self.generic_visit(node)
            return node
        before: list[ast.stmt] = []
        if isinstance(target, ast.Subscript | ast.Attribute):
            target.value = self._once(target.value, before)
        if isinstance(target, ast.Subscript) and not holds_slice(target.slice):
            target.slice = self._once(target.slice, before)
        read = copy.deepcopy(target)
        read.ctx = ast.Load()
        held = self._once(read, before)
        self.generic_visit(node)
        value = self._operated(node.value, name, held, node.value, prefix="i")
        return [*before, at(node, ast.Assign([node.target], value))]

    def _once(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """A name of ours for what an expression gives, which is evaluated before."""
        if isinstance(node, ast.Constant):
            return node
        self.count += 1
        name = f"{PREFIX}held_{self.count}"
        stored = at(node, ast.Name(name, ast.Store()))
        before.append(self.visit(at(node, ast.Assign([stored], node))))
        return at(node, ast.Name(name, ast.Load()))

    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        made = asking_for_classes(node)
        self.count += made is not node
        return made

    def _operated(self, node: ast.expr, name: str | None, *operands: ast.expr, prefix: str = "") -> ast.expr:
        if not is_asked(name, self._theirs):
            return node
        self.count += 1
        said = at(node, ast.Constant(f"{prefix}{name}"))
        return at(node, ast.Call(attribute("operated"), [said, *operands], []))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1 or any(isinstance(x, ast.Call) for x in (node.left, *node.comparators)):
            # What a call gives is looked at by the instruction behind it: `if float(x) < 1` is allowed.
            self.generic_visit(node)
            return node
        self.generic_visit(node)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self.containing(node)
        return self._operated(node, COMPARISONS.get(type(node.ops[0])), node.left, node.comparators[0])

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Attribute) and node.value.attr in _SUBSCRIPTED:
            self.generic_visit(node)
            self.count += 1
            node.value = at(node.value, ast.Call(attribute("subscripted"), [node.value], []))
            return node
        return super().visit_Subscript(node)

    def _may_matter(self, node: ast.Call) -> bool:
        function = node.func
        if isinstance(function, ast.Name) and function.id in _KEPT:
            return False
        known, value = self._value(function)
        if not known:
            return not (isinstance(function, ast.Attribute) and self._is_containers(function.attr))
        if isinstance(value, np.ufunc) or is_listing(value):
            # A parameter may be a list as well, but that is as rare as ufuncs are frequent.
            return any(
                isinstance(x, ast.List | ast.Tuple | ast.ListComp)
                or (isinstance(x, ast.Name) and x.id in self._lists)
                for x in node.args
            )
        if needs_a_key(value):
            return any(x.arg == "key" for x in node.keywords) or self._is_asked(value)
        return self._is_asked(value) or self._matters(value)

    def _is_asked(self, value: object) -> bool:
        """Whether a builtin calls a method that a class of the user's has."""
        return is_asked_by(value, self._theirs)

    def _is_containers(self, method: str) -> bool:
        """Whether a method of this name is an array's or a container's: no class of the user's has one."""
        return method in CONTAINERS_METHODS and called(method) not in self._theirs

    def _value(self, node: ast.expr) -> tuple[bool, Any]:
        """Whether an expression is a global name, or an attribute of a module, and what it stands for."""
        if isinstance(node, ast.Name):
            if node.id in self._local:
                return False, None
            value = self._names.get(node.id, getattr(builtins, node.id, None))
            return value is not None, value
        if isinstance(node, ast.Attribute):
            known, owner = self._value(node.value)
            if known and isinstance(owner, ModuleType):
                value = static_attribute(owner, node.attr)
                return value is not None, value
        return False, None

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node


def holds_slice(node: ast.expr) -> bool:
    """Whether an index has a slice in it, which is no expression of its own."""
    return any(isinstance(x, ast.Slice) for x in ast.walk(node))


def is_asked_by(function: object, theirs: frozenset[str]) -> bool:
    """Whether a builtin calls one of these methods of classes."""
    builtin = isinstance(function, type | BuiltinFunctionType)
    return builtin and not theirs.isdisjoint(ASKED.get(function, ()))


def is_listing(function: Anything) -> bool:
    """Whether a function of NumPy's takes arrays and makes none of another kind: its lists alone matter."""
    return type(function).__name__ == "_ArrayFunctionDispatcher" and function.__name__ in _COMMON


_COMMON = frozenset(
    [
        *(
            "sum",
            "mean",
            "dot",
            "where",
            "reshape",
            "transpose",
            "concatenate",
            "stack",
            "prod",
            "max",
            "min",
        ),
        *("any", "all", "cumsum", "einsum", "outer", "tensordot", "squeeze", "expand_dims", "roll", "diff"),
    ]
)
"""Functions so frequent that they are asked about only where a list is written in the call."""


class CallCache(CodeCache):
    """Code whose calls have been rewritten, by code object."""

    def __init__(self, matters: Matters, conversions: Container[Any] = ()) -> None:
        super().__init__()
        self._usually = self._matters = matters
        self._conversions = conversions
        self._reading = RLock()
        keep_through_forks(self._reading)
        self._names: Mapping[str, Any] = {}
        """The globals of the function that is being read."""
        self._theirs: frozenset[str] = frozenset()
        """The names of properties and methods of the user's classes."""

    def seen(self, code: CodeType, names: Mapping[str, Any]) -> CodeType:
        """The rewritten code; raises NoSource, also where nothing in it is rewritten."""
        with self._reading:
            self._names = names
            self._theirs = names_of_users()
            self._matters = self._usually
            if is_of_package(code):
                self._theirs |= {called("item")}
                self._matters = self._matters_in_packages
            if not self._calls_what_matters(code):
                raise NoSource(_NOTHING)
            return self.rewritten(code)

    def _matters_in_packages(self, value: Anything) -> bool:
        return (isinstance(value, type) and value in self._conversions) or self._usually(value)

    def _calls_what_matters(self, code: CodeType) -> bool:
        """Whether the bytecode has a call that may be rewritten: most have none, and need no source."""
        if "r_" in code.co_names or "c_" in code.co_names or not self._theirs.isdisjoint(code.co_names):
            return True
        steps = all_steps(code)
        if any(step.name == "MATCH_CLASS" for step in steps):
            return True
        if any(self._asks(step) for step in steps):
            return True
        calls = [step for step in steps if step.name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX")]
        if any(self._call_matters(code, step) for step in calls):
            return True
        return any(self._calls_what_matters(x) for x in code.co_consts if isinstance(x, CodeType))

    def _asks(self, step: Step) -> bool:
        """Whether the instruction calls a method that a class of the user's has."""
        theirs = self._theirs
        if step.name == "STORE_ATTR":
            return not theirs.isdisjoint([ATTRIBUTES, setting(step.value)])
        if step.name in _OPERATIONS and not OPERATORS.isdisjoint(theirs):
            return True
        return not theirs.isdisjoint(asked_by_step(step.name, step.value))

    def _call_matters(self, code: CodeType, call: Step) -> bool:
        running = running_instruction(code, call.offset)
        steps = [step for step in running.function if step.name != "PUSH_NULL"]
        if steps and steps[-1].name == "MAKE_FUNCTION":
            return False  # a comprehension
        if not steps or not all(step.name.startswith("LOAD_") for step in steps):
            return True
        value: Any = None
        if steps[0].name in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = self._names.get(steps[0].value, getattr(builtins, str(steps[0].value), None))
            for step in steps[1:]:
                known = isinstance(value, ModuleType)
                value = static_attribute(value, step.value) if known else None
        if value is None:
            method = steps[-1].value
            return len(steps) < 2 or method not in CONTAINERS_METHODS or called(method) in self._theirs
        if isinstance(value, np.ufunc) or is_listing(value):
            lists = lists_stored(code)
            return any(
                x and (x[-1].name in _DISPLAYS or is_comprehension(x) or x[-1].value in lists)
                for x in running.arguments
            )
        if needs_a_key(value):
            named = any(isinstance(x, tuple) and "key" in x for x in code.co_consts)
            return named or is_asked_by(value, self._theirs)
        return steps[0].value not in _KEPT and (is_asked_by(value, self._theirs) or self._matters(value))

    def refuse_suspending(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """Generators are as good as any function: their blocks stay their own."""

    def body_of(
        self, node: ast.FunctionDef | ast.Lambda, owner: str | None, code: CodeType
    ) -> list[ast.stmt]:
        """The body with calls that ask."""
        local = frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
        names = local | nested_names(node)
        rewriter = CallRewriter(self._names, names, lists_bound(node), self._matters, self._theirs)
        if isinstance(node, ast.Lambda):
            body: list[ast.stmt] = [ast.copy_location(ast.Return(rewriter.visit(node.body)), node.body)]
        else:
            made = [rewriter.visit(statement) for statement in node.body]
            body = [x for part in made for x in (part if isinstance(part, list) else [part])]
        if not rewriter.count:
            raise NoSource(_NOTHING)
        return body


def lists_bound(node: ast.AST) -> frozenset[str]:
    """Names that are bound to lists which are written out, or to comprehensions."""
    assigned = [x for x in ast.walk(node) if isinstance(x, ast.Assign | ast.AnnAssign)]
    lists = [x for x in assigned if isinstance(x.value, ast.List | ast.ListComp)]
    targets = [y for x in lists for y in (x.targets if isinstance(x, ast.Assign) else [x.target])]
    return frozenset([x.id for x in targets if isinstance(x, ast.Name)])


@lru_cache(maxsize=1024)
def lists_stored(code: CodeType) -> frozenset[str]:
    """The same names, by the instructions of the function."""
    steps = all_steps(code)
    found = set()
    for before, step in pairwise(steps):
        makes_list = before.name in ("BUILD_LIST", "LIST_EXTEND", "CALL", "SWAP", "END_FOR", "RERAISE")
        if makes_list and step.name in ("STORE_FAST", "STORE_DEREF") and isinstance(step.value, str):
            found.add(step.value)
    return frozenset(found)


def nested_names(node: ast.AST) -> frozenset[str]:
    """Names that nested functions and comprehensions bind: they are not global there."""
    found = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load)}
    found |= {x.arg for x in ast.walk(node) if isinstance(x, ast.arg)}
    return frozenset(
        found | {x.name for x in ast.walk(node) if isinstance(x, ast.FunctionDef | ast.ClassDef)}
    )


class Twins:
    """The rewritten functions by function, for as long as these live."""

    def __init__(self, cache: CallCache, hooks_for: Callable[[CodeType], Any]) -> None:
        self._cache = cache
        self._hooks_for = hooks_for
        self.found: dict[int, tuple[ref[FunctionType], FunctionType | None]] = {}
        WHEN_PACKAGES_CHANGE.append(self.found.clear)

    def of(self, function: FunctionType) -> FunctionType:
        """The function with rewritten calls, or itself where it has no source or nothing to be rewritten."""
        key = id(function)
        found = self.found.get(key)
        if found is not None and found[0]() is function:
            return found[1] or function
        made = self._made(function)

        def forget(dead: object) -> None:
            entry = self.found.get(key)
            if entry is not None and entry[0] is dead:
                self.found.pop(key, None)  # all may be forgotten meanwhile

        self.found[key] = ref(function, forget), made
        return made or function

    def _made(self, function: FunctionType) -> FunctionType | None:
        code = function.__code__
        if self._cache.is_rewritten(code) or CODES.is_rewritten(code) or not is_users(code):
            return None
        note_classes_of(function)
        try:
            rewritten = self._cache.seen(code, function.__globals__)
        except NoSource:
            return None
        return twin_of(function, rewritten, self._hooks_for(code))
