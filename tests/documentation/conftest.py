"""What the tests of the documentation share: its pages, their tables, and the tools that make the site."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
Table = Callable[[str, str], list[list[str]]]


@pytest.fixture(scope="session")
def docs() -> Path:
    """The folder."""
    return DOCS


@pytest.fixture(scope="session")
def table() -> Table:
    """The cells of the table under a heading of a page."""

    def rows(page: str, heading: str) -> list[list[str]]:
        text = (DOCS / page).read_text(encoding="utf-8")
        section = re.split(rf"^## {heading}$", text, flags=re.MULTILINE)[1]
        lines = re.split(r"^## ", section, flags=re.MULTILINE)[0].splitlines()
        cells = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")
        ]
        return cells[2:]

    return rows


@pytest.fixture
def making(request: pytest.FixtureRequest) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of ``docs/making``, which is on the path of the build only."""
    before = set(sys.modules)
    sys.path.insert(0, str(DOCS / "making"))
    yield import_module
    sys.path.remove(str(DOCS / "making"))
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(DOCS)):
            del sys.modules[name]
