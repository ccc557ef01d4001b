"""The house as numbers: circles of imports, imports inside functions, long files, full folders.

Each number may fall. One that rises is a decision, taken in docs/design.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import pytest

import funcgrad.compile
from funcgrad.compile.passes import kernel, pipeline
from funcgrad.later import Later

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "funcgrad"

LONGEST = 600
IMPORTS_IN_FUNCTIONS = 21
"""Statements, whatever they import: of this package, of another, of Python's own."""
BARE_ANY = 0
"""Public functions and methods with a bare `Any` among what they take or give."""
LONG_FUNCTIONS = 3
"""Functions of more than fifty lines, with their docstrings."""
FULLEST = 19
"""Files in one folder."""
WALKED = {
    "funcgrad.compile.passes.pipeline": ("funcgrad.compile.lower.",),
    "funcgrad.extend": ("funcgrad.ops.", "funcgrad.transforms."),
}
"""Modules that import all of some packages, whose modules they do not name."""
INSIDE = ("api", "compile", "display", "distributed", "ir", "ops", "tracing", "transforms", "tree")
LISTS_INSIDE = 14
"""Lists of names in modules there: read by a star, passing on another's names, or in the reference."""


class Import(NamedTuple):
    """A module of this package that another one imports."""

    of: str
    imported: str
    in_function: bool
    for_types: bool


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed(name: str) -> ast.Module:
    """A module's syntax."""
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


def names_in(node: ast.stmt) -> list[str]:
    """The modules that an import statement may mean, the most particular first."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in modules() else node.module for name in inner]
    return []


def imports_of(name: str) -> Iterator[Import]:
    """What a module imports of this package, wherever it stands."""

    def visit(node: ast.AST, inside: bool, typing: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):  # No import stands in one.
                continue
            if isinstance(child, ast.Import | ast.ImportFrom):
                for imported in names_in(child):
                    if imported in modules() and imported != name:
                        yield Import(name, imported, inside, typing)
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if later := module_for_later(child):
                yield Import(name, later, True, typing)
            only_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from visit(child, inside or function, typing or only_types)

    yield from visit(parsed(name), False, False)


def module_for_later(node: ast.AST) -> str:
    """The module of this package or another that a statement names for later, ``name = Later("module")``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return ""
    call = node.value
    named = (
        isinstance(call.func, ast.Name) and call.func.id == "Later" and isinstance(call.args[0], ast.Constant)
    )
    return str(ast.literal_eval(call.args[0])) if named else ""


@cache
def imports() -> tuple[Import, ...]:
    """All of them."""
    return tuple([found for name in modules() for found in imports_of(name)])


def circle() -> list[str]:
    """Modules that import each other in a circle, deferred imports included; empty where there is none."""
    after: dict[str, set[str]] = defaultdict(set)
    for found in imports():
        if not found.for_types:
            after[found.of].add(found.imported)
    for of, packages in WALKED.items():
        after[of].update([name for name in modules() if name.startswith(packages)])
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def deferred(node: ast.AST, inside: bool = False) -> int:
    """How many imports stand inside functions, those of this package by `import_module` among them."""
    here = inside and is_import(node)
    inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return here + sum(deferred(child, inside) for child in ast.iter_child_nodes(node))


def is_import(node: ast.AST) -> bool:
    """Whether a node imports something, by a statement or by the name of a module of ours."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Name):
        return False
    return node.func.id == "import_module" and ast.unparse(node.args[0]).startswith("'funcgrad.")


def test_imports_make_no_circle() -> None:
    assert not circle()


def taken_later() -> Iterator[tuple[str, str, str]]:
    """File, module and name of all that is taken from modules that are imported later."""
    for name in modules():
        later = {}
        for statement in parsed(name).body:
            if imported := module_for_later(statement):
                assert isinstance(statement, ast.Assign)
                later[ast.unparse(statement.targets[0])] = imported
        for node in ast.walk(parsed(name)) if later else ():
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in later
            ):
                yield name, later[node.value.id], node.attr


EXTRAS = ("funcgrad.distributed.engines.dask", "funcgrad.distributed.engines.mpi")


def test_what_is_taken_from_modules_imported_later_is_there() -> None:
    found = {*taken_later()}
    assert ("funcgrad.api.calling.specialization", "funcgrad.compile.runtime.executable", "compiled") in found
    absent = [
        each for each in found if each[1] not in EXTRAS and not hasattr(import_module(each[1]), each[2])
    ]
    assert not absent


def test_a_module_is_imported_when_one_of_its_names_is_asked_for() -> None:
    sys.modules.pop("this_is_later", None)
    module = Later("this_is_later")
    assert repr(module) == "Later('this_is_later')"
    assert not hasattr(module, "__wrapped__")  # what looks through the names of a file imports nothing
    with pytest.raises(ModuleNotFoundError, match="this_is_later"):
        _ = module.anything
    sys.modules["this_is_later"] = ast
    try:
        assert module.parse is ast.parse
    finally:
        del sys.modules["this_is_later"]


def test_imports_inside_functions_become_no_more() -> None:
    found = Counter({name: deferred(parsed(name)) for name in modules()})
    assert found.total() <= IMPORTS_IN_FUNCTIONS, found.most_common(10)


def test_no_file_is_long() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert max(lengths.values()) <= LONGEST, Counter(lengths).most_common(3)


def test_long_functions_become_no_more() -> None:
    lines = [
        ((node.end_lineno or 0) - node.lineno + 1, f"{name}.{node.name}")
        for name in modules()
        for node in ast.walk(parsed(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [each for each in lines if each[0] > 50]
    assert len(long) <= LONG_FUNCTIONS, sorted(long)


def public_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods with public names, those inside of others not among them."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from public_functions(child)
        elif not child.name.startswith("_"):
            yield child


def says_any(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether one of its annotations is `Any` and nothing more; a name of `funcgrad.types` says more."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [function.returns, *[each.annotation for each in arguments if each is not None]]
    return any(isinstance(each, ast.Name) and each.id == "Any" for each in annotations)


def test_what_signatures_do_not_say_becomes_no_more() -> None:
    found = {name: sum(map(says_any, public_functions(parsed(name)))) for name in modules()}
    assert sum(found.values()) <= BARE_ANY, Counter(found).most_common(10)


def test_no_folder_becomes_fuller() -> None:
    found = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules().values())
    assert max(found.values()) <= FULLEST, found.most_common(3)


def test_lists_of_names_stand_where_they_are_read() -> None:
    inside = [name for name in modules() if f"{name}.".split(".")[1] in INSIDE]
    lists = [name for name in inside if modules()[name].stem != "__init__" and has_list(parsed(name))]
    assert len(lists) <= LISTS_INSIDE, lists


def has_list(module: ast.Module) -> bool:
    """Whether a module says which names it offers."""
    return any(isinstance(x, ast.Assign) and ast.unparse(x.targets[0]) == "__all__" for x in module.body)


def test_the_compiler_says_its_passes_in_order() -> None:
    said = re.findall(r"`([a-z_]+)`", funcgrad.compile.__doc__ or "")
    run = [*pipeline.REWRITES]
    for f in called_in(kernel, "make_kernel"):
        run += called_in(pipeline, "scheduled") if f is pipeline.scheduled else [f]
    passes = [f.__module__.rpartition(".")[2] for f in run if ".passes." in f.__module__]
    beside = {"pipeline", "kernel", "uses"}
    assert [name for name in said if name in passes] == [x for x in dict.fromkeys(passes) if x not in beside]


def called_in(module: ModuleType, name: str) -> list[Callable[..., object]]:
    """The functions that a function of a module calls by name, in the order in which the calls end."""
    (function,) = [x for x in parsed(module.__name__).body if getattr(x, "name", "") == name]
    calls = [x for x in ast.walk(function) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)]
    calls.sort(key=lambda x: (x.end_lineno or 0, x.end_col_offset or 0))
    found = [getattr(module, ast.unparse(x.func), None) for x in calls]
    return [x for x in found if isinstance(x, FunctionType)]
