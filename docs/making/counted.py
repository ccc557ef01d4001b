"""Counts the package, for the table in `docs/design/the-house.md`: ``python docs/making/counted.py``."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef


def length(node: Function, docstring: bool = True) -> int:
    """The lines of a function, with or without its docstring."""
    doc = node.body[0] if ast.get_docstring(node) is not None and not docstring else None
    taken = (doc.end_lineno or 0) - doc.lineno + 1 if doc is not None else 0
    return (node.end_lineno or 0) - node.lineno + 1 - taken


def exported(tree: ast.Module) -> int:
    """The strings in the ``__all__`` of a module."""
    return sum(
        isinstance(x, ast.Constant)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for x in ast.walk(node.value)
    )


def deferred(tree: ast.Module) -> int:
    """The imports inside of functions."""
    functions = [x for x in ast.walk(tree) if isinstance(x, Function)]
    return len({id(y) for x in functions for y in ast.walk(x) if isinstance(y, ast.Import | ast.ImportFrom)})


def counted(root: Path) -> Iterator[tuple[str, object]]:
    """What there is to count in a package, by what the table calls it."""
    paths = sorted(root.rglob("*.py"))
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in paths]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    functions = [x for x in nodes if isinstance(x, Function)]
    names = sum(map(exported, trees))
    yield "files", len(paths)
    yield "lines", sum(lines)
    yield "lines of stubs", sum(len(x.read_text("utf-8").splitlines()) for x in root.rglob("*.pyi"))
    yield "names in __all__", names
    yield "lines for each", round(sum(lines) / names)
    yield "statements", sum(isinstance(x, ast.stmt) for x in nodes)
    yield "functions without an underscore", sum(not x.name.startswith("_") for x in functions)
    yield "imports inside functions", sum(map(deferred, trees))
    yield "longest file", max(lines)
    for most in (600, 500, 400, 300):
        yield f"files over {most} lines", sum(x > most for x in lines)
    yield "functions over 50 lines", sum(length(x) > 50 for x in functions)
    yield "without docstrings", sum(length(x, docstring=False) > 50 for x in functions)
    (folder, fullest), *_ = Counter(path.parent for path in paths).most_common(1)
    yield f"files in {folder.relative_to(root)}, the fullest folder", fullest


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "funcgrad"
    for title, number in counted(given):
        sys.stdout.write(f"{title}: {number}\n")
