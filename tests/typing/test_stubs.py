"""Stub files say what the modules beside them have: names, parameters, defaults."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUBS = sorted((ROOT / "funcgrad").rglob("*.pyi"))


def said(function: ast.FunctionDef) -> list[tuple[str, bool, str | None]]:
    """The parameters of a stub, without ``out``, which is every such function's: name, kind, default."""
    args = function.args
    defaults = [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    given = [(x.arg, False, y) for x, y in zip(args.args, defaults, strict=True)]
    given += [(x.arg, True, y) for x, y in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return [
        (name, by_name, None if default is None else repr(ast.literal_eval(default)))
        for name, by_name, default in given
        if name != "out"
    ]


def found(function: Callable[..., object]) -> list[tuple[str, bool, str | None]]:
    """The same of the function itself."""
    return [
        (x.name, x.kind is x.KEYWORD_ONLY, None if x.default is x.empty else repr(x.default))
        for x in inspect.signature(function).parameters.values()
        if x.name != "out"
    ]


@pytest.mark.parametrize("path", STUBS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stub_says_what_the_module_has(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module = importlib.import_module(name)
    stubs = {x.name: x for x in ast.parse(path.read_text()).body if isinstance(x, ast.FunctionDef)}
    assert set(module.__all__) <= set(stubs)
    for function, stub in stubs.items():
        assert said(stub) == found(getattr(module, function)), function
