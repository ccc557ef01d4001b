"""The definition that a code object was compiled from: which function of which file, as the file was then.

A file may be edited after it was loaded, and loaded again after it was read here. So a definition counts only
if it compiles to the code itself; another text of the same name, at the same line, is another function.
"""

from __future__ import annotations
import __future__

import ast
import dis
from collections.abc import Iterator, Sequence
from functools import reduce
from inspect import CO_NEWLOCALS, CO_VARARGS, CO_VARKEYWORDS
from types import CodeType
from typing import Any, NamedTuple

from funcgrad.source import forget_if_changed, lines_of_file
from funcgrad.syntax import parsed

FUTURES = reduce(
    int.__or__, [getattr(__future__, feature).compiler_flag for feature in __future__.all_feature_names]
)
"""The bits of a code object's flags that change what its text means."""


class NoSource(Exception):
    """Says why the code of a function cannot be rewritten."""


class Definition(NamedTuple):
    """Where a function is defined."""

    node: Any
    owner: str | None
    """The class around it."""
    imports: Sequence[ast.stmt]
    """What its module imports: Python calls attributes of such names in a way of its own."""


def definition_of(code: CodeType, original: CodeType | None = None) -> Definition:
    """The definition behind the code; raises NoSource, saying why there is none.

    Code that was made from the user's by rewriting is given with its original.
    """
    found = FILES.definitions(code)
    chosen = chosen_among(found, code, original)
    if chosen is None:
        # Loaded again since it was read here, or edited: Python's own cache of lines asks the file only now.
        forget_if_changed(code.co_filename)
        found = FILES.definitions(code)
        chosen = chosen_among(found, code, original)
    if chosen is not None:
        return chosen
    if found:
        raise NoSource("its file has changed since it was loaded")
    raise NoSource(f"its definition is not found in {code.co_filename}")


def chosen_among(found: list[Definition], code: CodeType, original: CodeType | None) -> Definition | None:
    """The definition that compiles to the code; of several, equal ones at that, the first.

    Of lambdas in one line, rewritten code does not know its original. It is where its instructions are: the
    text was that of the function around it when this was rewritten.
    """
    if original is None or len(found) == 1:
        return next((x for x in found if is_compiled_to(x, original or code)), None)
    for is_like in (covers, has_parts_of):
        if len(found) > 1:
            found = [x for x in found if is_like(x.node, code)]
    return found[0] if len(found) == 1 else None


class SourceFiles:
    """The definitions of source files by name and first line, found once for each text of a file."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, dict[tuple[str, int], list[Definition]]]] = {}

    def definitions(self, code: CodeType) -> list[Definition]:
        """The definitions at the code's first line that have its name; raises NoSource without a source."""
        file = code.co_filename
        text = "".join(lines_of_file(file))
        known = self._files.get(file)
        if known is None or known[0] != text:
            if not text:
                raise NoSource("its source is not to be had")
            try:
                tree = parsed(text, file)
            except SyntaxError:
                raise NoSource("its source is not a module of Python") from None
            known = self._files[file] = text, every_definition(tree)
        return known[1].get((code.co_name, code.co_firstlineno), [])


def every_definition(tree: ast.Module) -> dict[tuple[str, int], list[Definition]]:
    """The functions and lambdas of a module by name and first line, decorators counted."""
    found: dict[tuple[str, int], list[Definition]] = {}
    imports = [*imports_of(tree)]
    stack: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(Definition(node, owner, imports))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *[x.lineno for x in node.decorator_list]])
            found.setdefault((node.name, first), []).append(Definition(node, owner, imports))
        inner = node.name if isinstance(node, ast.ClassDef) else owner
        stack += [(x, inner) for x in ast.iter_child_nodes(node)]
    return found


def imports_of(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements by which a module imports names for all of itself."""
    for x in ast.iter_child_nodes(tree):
        if isinstance(x, ast.Import) or (isinstance(x, ast.ImportFrom) and x.module != "__future__"):
            yield x
        elif not isinstance(x, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from imports_of(x)


FILES = SourceFiles()


def is_compiled_to(definition: Definition, code: CodeType) -> bool:
    """Whether the definition is that of the code.

    A notebook and the interpreter compile one statement after another: a function, without the imports
    beside it. pytest puts code of its own in place of ``assert``; what else such a function does is compared.
    """
    ways = (definition, definition._replace(imports=())) if definition.imports else (definition,)
    checks = [x for x in ast.walk(definition.node) if isinstance(x, ast.Assert)]
    for way in ways:
        made = compiled(way, code)
        if made is None:
            continue
        same_arguments = made.co_flags & _STARRED == code.co_flags & _STARRED
        if same_arguments and made.replace(co_flags=code.co_flags) == code:
            return True
        if checks and steps_but_for(checks, made) == steps_but_for(checks, code):
            return True
    return False


def compiled(definition: Definition, code: CodeType) -> CodeType | None:
    """What the definition compiles to where it stands: in a class, among the names that it closes over."""
    node, owner, imports = definition
    arguments = ast.arguments([], [ast.arg(x) for x in code.co_freevars], None, [], [], None, [])
    body: list[ast.stmt] = [ast.Expr(node)] if isinstance(node, ast.Lambda) else [node]
    if not isinstance(node, ast.Lambda) and node.name not in code.co_freevars:
        body.insert(0, ast.Global([node.name]))
    outer: Any = ast.FunctionDef(_AROUND, arguments, body, [], None)
    outer.type_params = []
    if owner is not None:
        outer = ast.ClassDef(owner, [], [], [outer], [])
        outer.type_params = []
    module = ast.fix_missing_locations(ast.Module([*imports, outer], []))
    try:
        whole = compile(module, code.co_filename, "exec", flags=code.co_flags & FUTURES, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    # Functions among decorators and defaults come before the function itself.
    around = next(x for x in codes_in(whole) if x.co_name == _AROUND)
    return [x for x in codes_in(around) if x.co_name == code.co_name][-1]


_AROUND = "<around>"
_STARRED = CO_VARARGS | CO_VARKEYWORDS
"""The bits for ``*args`` and ``**kwargs``, which count names: no code takes them from another."""


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The functions that a code object makes, those in its classes and with type parameters as well."""
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield x
            if not x.co_flags & CO_NEWLOCALS or x.co_name.startswith("<generic parameters"):
                yield from codes_in(x)


def steps_but_for(checks: list[ast.Assert], code: CodeType) -> list[Any]:
    """What a function and those inside of it do, line by line, but for what stands in these statements."""
    lines = {line for x in checks for line in range(x.lineno, (x.end_lineno or x.lineno) + 1)}
    found: list[Any] = []
    for step in dis.get_instructions(code):
        line = None if step.positions is None else step.positions.lineno
        if line is None or line in lines or step.opname in _NO_STEPS:
            continue
        jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
        value = step.argval
        said = steps_but_for(checks, value) if isinstance(value, CodeType) else repr(value)
        found.append((line, step.opname, None if jumps else said))
    return found


_NO_STEPS = ("CACHE", "NOP", "EXTENDED_ARG", "RESUME", "MAKE_CELL", "COPY_FREE_VARS")
"""Instructions that belong to no line of the text."""


def covers(node: ast.FunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Whether the instructions of the code, and no others, are those of the node."""
    seen = {
        (line, column)
        for line, _, column, end in code.co_positions()
        if line is not None and column is not None and end is not None and (column, end) != (0, 0)
    }
    starts = {(x.lineno, x.col_offset) for x in own_nodes(node) if isinstance(x, ast.expr | ast.stmt)}
    return bool(seen) and seen <= starts | {(node.lineno, node.col_offset)}


def has_parts_of(node: ast.FunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Whether the node has as many lambdas of its own as the code."""
    lambdas = [x for x in own_nodes(node) if isinstance(x, ast.Lambda) and x is not node]
    inner = [x for x in code.co_consts if isinstance(x, CodeType) and x.co_name == "<lambda>"]
    return len(lambdas) == len(inner)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and those in it, without the bodies of functions that are defined there."""
    stack = [node]
    while stack:
        x = stack.pop()
        yield x
        if isinstance(x, ast.Lambda) and x is not node:
            stack += [*x.args.defaults, *[y for y in x.args.kw_defaults if y is not None]]
        else:
            stack += ast.iter_child_nodes(x)
