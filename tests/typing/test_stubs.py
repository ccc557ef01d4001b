"""Stub files say what the modules beside them have: a script writes them from the functions themselves."""

from __future__ import annotations

import ast
import importlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import funcgrad.torch as torch

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "funcgrad" / "torch"
STUBS = sorted(str(path.relative_to(FOLDER)) for path in (ROOT / "funcgrad").rglob("*.pyi"))


@pytest.fixture(scope="module")
def writer() -> Iterator[ModuleType]:
    """The script that writes the stubs."""
    sys.path.insert(0, str(ROOT / "docs" / "making"))
    yield importlib.import_module("stubs")
    sys.path.remove(str(ROOT / "docs" / "making"))


def test_every_stub_is_written_by_the_script(writer: ModuleType) -> None:
    assert sorted(writer.STUBS) == STUBS


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_says_what_the_module_has(writer: ModuleType, name: str) -> None:
    """Where this fails, run ``python docs/making/stubs.py``."""
    written, wanted = (FOLDER / name).read_text(encoding="utf-8"), writer.STUBS[name]()
    assert writer.meaning(written) == writer.meaning(wanted)


def named(text: str) -> set[str]:
    """What a stub defines or passes on."""
    tree = ast.parse(text)
    targets = {
        x.target.id for x in tree.body if isinstance(x, ast.AnnAssign) and isinstance(x.target, ast.Name)
    }
    passed = {y.asname for x in tree.body if isinstance(x, ast.ImportFrom) for y in x.names if y.asname}
    return targets | passed | {x.name for x in tree.body if isinstance(x, ast.FunctionDef | ast.ClassDef)}


def test_the_stub_of_torch_has_every_public_name() -> None:
    names = named((FOLDER / "__init__.pyi").read_text(encoding="utf-8"))
    assert {*dir(torch), *vars(torch)["_FROM_FUNCTIONAL"]} <= names


def test_the_stub_of_methods_has_every_method() -> None:
    tree = ast.parse((FOLDER / "core" / "methods.pyi").read_text(encoding="utf-8"))
    (methods,) = (x for x in tree.body if isinstance(x, ast.ClassDef))
    given = {x.name for x in methods.body if isinstance(x, ast.FunctionDef)}
    assert {"sum", "__add__", "add_", "T", "reshape"} <= given
    assert given <= set(vars(torch.Tensor))


def test_stubs_are_in_the_wheel() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert options["targets"]["wheel"] == {"packages": ["funcgrad"]}
    assert (ROOT / "funcgrad" / "py.typed").exists()
