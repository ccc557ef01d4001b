"""The stored notebooks: small, complete, and silent about the machine they ran on. CI runs them as well."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.scripts import module_at

FOLDER = Path(__file__).parents[1] / "notebooks"
STORED = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def execute() -> ModuleType:
    return module_at(FOLDER / "execute.py", "execute")


@pytest.fixture(params=STORED, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_every_cell_was_run_in_order(notebook: dict[str, Any]) -> None:
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all("".join(cell["source"]).strip() for cell in notebook["cells"])
    assert any(cell["outputs"] for cell in code)


def test_starts_with_one_title(notebook: dict[str, Any]) -> None:
    prose = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    assert prose[0].startswith("# ")
    assert not any(text.startswith("# ") for text in prose[1:])


def test_no_error_no_warning_no_path(notebook: dict[str, Any], execute: ModuleType) -> None:
    assert list(execute.complaints(notebook)) == []


def test_is_as_the_tool_writes_it(notebook: dict[str, Any], execute: ModuleType) -> None:
    again = json.loads(json.dumps(notebook))
    execute.normalise(again)
    assert again == notebook


def test_all_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 3_000_000


def test_each_is_listed_in_the_readme() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in STORED if f"({path.name})" not in text] == []


def stored_output(text: str, *tags: str) -> dict[str, Any]:
    output = {"output_type": "stream", "name": "stdout", "text": text}
    cell = {"cell_type": "code", "metadata": {"tags": list(tags)}, "outputs": [output]}
    return {"cells": [cell]}


def test_stale_text_is_found_but_not_the_last_digits(execute: ModuleType) -> None:
    stored = stored_output("loss 0.12345678 after 7 steps")
    assert not list(execute.differences(stored, stored_output("loss 0.12345679 after 7 steps")))
    assert list(execute.differences(stored, stored_output("loss 0.1240 after 7 steps")))
    assert list(execute.differences(stored, stored_output("loss 0.12345678 after 8 steps")))
    assert list(execute.differences(stored, stored_output("cost 0.12345678 after 7 steps")))
    assert not list(execute.differences(stored_output("3 ms", "varies"), stored_output("4 ms", "varies")))


def test_words_of_a_page_are_compared_and_not_its_style(execute: ModuleType) -> None:
    page = "<div><style>td {margin:1}</style><td class='a'>mul(a, 0.5)</td></div>"
    assert execute.words_of(page).split() == ["mul(a,", "0.5)"]
    assert execute.words_of("<MeanBackward0 object>, a < b") == "<MeanBackward0 object>, a < b"


@pytest.mark.parametrize(
    "text", ["File ~/code/a.py:3", "/tmp/ipykernel_7/3.py:1 in f", "<f at 0x7f3a52>", "UserWarning: no"]
)
def test_private_text_is_found(execute: ModuleType, text: str) -> None:
    assert list(execute.complaints(stored_output(text)))
    assert not list(execute.complaints(stored_output("1 / 2 = 0.5")))
