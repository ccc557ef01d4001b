"""Functions whose code has been rewritten: from a code object and its definition to the new code.

The new function shares everything with the old one: globals, cells, defaults. Only what it does at a
statement differs, and asks the hooks, which it sees through a cell of its own. Code is rewritten once.
"""

from __future__ import annotations

import ast
import copy
from types import CellType, CodeType, FunctionType

from funcgrad.config import WHEN_PACKAGES_CHANGE
from funcgrad.later import Later
from funcgrad.tracing.python.definitions import FUTURES, NoSource, definition_of
from funcgrad.tracing.python.escapes import BLOCK, HOOKS, PREFIX

# What rewrites for `jit`; un-jitted functions are rewritten by `calls`.
statements = Later("funcgrad.tracing.python.statements")

_FACTORY, _FUNCTION = PREFIX + "factory", PREFIX + "function"
_LOOKS_AT_FRAMES = frozenset({"locals", "vars", "eval", "exec", "dir"})

_ORIGINALS: dict[int, CodeType | None] = {}
"""By the id of code that was rewritten in any way, even twice, what the user wrote; None for blocks."""


class CodeCache:
    """Rewritten code by code object."""

    def __init__(self) -> None:
        self._codes: dict[int, tuple[CodeType, CodeType | NoSource]] = {}
        self._made: set[int] = set()
        """The ids of code that is rewritten already; `_codes` and `_kept` keep it alive."""
        self._kept: list[CodeType] = []
        WHEN_PACKAGES_CHANGE.append(self._codes.clear)  # names may matter now that did not

    def is_rewritten(self, code: CodeType) -> bool:
        """Whether the code was made here."""
        return id(code) in self._made

    def rewritten(self, code: CodeType) -> CodeType:
        """The rewritten code; raises NoSource, saying why there is none."""
        found = self._codes.get(id(code))
        if found is None:
            try:
                made: CodeType | NoSource = self._rewrite(code)
            except NoSource as reason:
                made = reason
            if isinstance(made, CodeType):
                # Before another thread can run it: what is made here is not rewritten again.
                self._note(made, code, self.original(code) or code)
            # Two threads may both make it; both are right.
            self._codes[id(code)] = found = (code, made)
        if isinstance(found[1], NoSource):
            raise found[1]
        return found[1]

    def original(self, code: CodeType) -> CodeType | None:
        """The user's code that was rewritten into this; None for blocks: these are part of a function."""
        return _ORIGINALS.get(id(code), code)

    def _note(self, code: CodeType, around: CodeType, original: CodeType | None) -> None:
        self._made.add(id(code))
        self._kept.append(code)
        _ORIGINALS[id(code)] = original
        inside = {
            (x.co_name, x.co_firstlineno): x
            for x in (original or around).co_consts
            if isinstance(x, CodeType)
        }
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                theirs = inside.get((inner.co_name, inner.co_firstlineno))
                self._note(inner, original or around, theirs)

    def _rewrite(self, code: CodeType) -> CodeType:
        node, owner = self._definition(code)
        body = self.body_of(node, owner, code)
        made = ast.FunctionDef(
            name=_FUNCTION, args=bare(node.args), body=body, decorator_list=[], returns=None
        )
        made.type_params = []  # type: ignore[attr-defined]
        free = [x for x in code.co_freevars if x != HOOKS]
        parameters = [ast.arg(x) for x in (HOOKS, *free)]
        factory = ast.FunctionDef(
            name=_FACTORY,
            args=ast.arguments([], parameters, None, [], [], None, []),
            body=[made],
            decorator_list=[],
            returns=None,
        )
        factory.type_params = []  # type: ignore[attr-defined]
        outer: ast.stmt = factory
        if owner is not None:
            # Inside of a class, names with two underscores in front are the class's own.
            outer = ast.ClassDef(name=owner, bases=[], keywords=[], body=[factory], decorator_list=[])
            outer.type_params = []  # type: ignore[attr-defined]
        module = ast.Module([outer], [])
        for x in ast.walk(module):
            if "lineno" in x._attributes and getattr(x, "lineno", None) is None:
                ast.copy_location(x, node)
        flags = code.co_flags & FUTURES
        compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
        inner = compiled
        for wanted in [*([owner] if owner is not None else []), _FACTORY, made.name]:
            inner = next(x for x in inner.co_consts if isinstance(x, CodeType) and x.co_name == wanted)
        return renamed(inner, code.co_name, code.co_qualname)

    def body_of(
        self, node: ast.FunctionDef | ast.Lambda, owner: str | None, code: CodeType
    ) -> list[ast.stmt]:
        """The statements of the new function."""
        if isinstance(node, ast.Lambda):
            return [ast.copy_location(ast.Return(statements.rewritten_expression(node, owner)), node.body)]
        body: list[ast.stmt] = statements.rewritten_body(node, owner)
        return body

    def refuse_suspending(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """Raise NoSource for generators: their blocks cannot become functions."""
        if isinstance(node, ast.FunctionDef) and statements.suspends(node):
            raise NoSource("it is a generator")
        if isinstance(node, ast.Lambda) and not statements.can_be_rewritten(node.body):
            raise NoSource("it is a generator")

    # -- finding the source --------------------------------------------------------------------------------

    def _definition(self, code: CodeType) -> tuple[ast.FunctionDef | ast.Lambda, str | None]:
        """A fresh copy of the definition behind the code, and the class around it."""
        node, owner, _ = definition_of(code, _ORIGINALS.get(id(code)))
        if isinstance(node, ast.AsyncFunctionDef):
            raise NoSource("it is asynchronous")
        self.refuse_suspending(node)
        called = {
            x.func.id for x in ast.walk(node) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)
        }
        if called & _LOOKS_AT_FRAMES:
            raise NoSource(f"it calls {min(called & _LOOKS_AT_FRAMES)}()")
        # Rewriting changes nodes in place, and the tree may be asked for again.
        return copy.deepcopy(node), owner


def every_parameter(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters in the order of a code object's variables."""
    last = [x for x in (arguments.vararg, arguments.kwarg) if x is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *last]


def bare(arguments: ast.arguments) -> ast.arguments:
    """The parameters without defaults and annotations, which the function keeps as values."""
    for x in every_parameter(arguments):
        x.annotation = None
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    return arguments


def renamed(code: CodeType, name: str, qualname: str) -> CodeType:
    """The code under the user's names: blocks, and functions of ours, go by the name of what they are in."""
    consts = []
    for x in code.co_consts:
        if not isinstance(x, CodeType):
            consts.append(x)
            continue
        ours = x.co_name.startswith(BLOCK) or PREFIX + "later" in x.co_varnames[: x.co_argcount]
        inner = name if ours else x.co_name
        consts.append(renamed(x, inner, qualname if ours else f"{qualname}.<locals>.{inner}"))
    return code.replace(co_consts=tuple(consts), co_name=name, co_qualname=qualname)


CODES = CodeCache()


def rewritten_function(function: FunctionType, hooks: object) -> FunctionType:
    """The function with rewritten code, which asks `hooks`; raises NoSource, saying why there is none.

    It shares globals, cells, defaults and attributes with `function`.
    """
    code = function.__code__
    if CODES.is_rewritten(code):
        return function
    return twin_of(function, CODES.rewritten(code), hooks)


def is_made(code: CodeType) -> bool:
    """Whether code was rewritten, by whichever cache."""
    return id(code) in _ORIGINALS


def twin_of(function: FunctionType, made: CodeType, hooks: object) -> FunctionType:
    """The function with other code, which sees `hooks` in a cell of its own."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[HOOKS] = CellType(hooks)
    closure = tuple([cells[x] for x in made.co_freevars])
    twin = FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    twin.__doc__ = function.__doc__
    twin.__dict__.update(function.__dict__)
    return twin
