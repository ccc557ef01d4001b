"""The contributing guide and the citation: commands name files and tools that exist; keys are there."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

TOOLS = {
    "ruff": "ruff",
    "mypy": "mypy",
    "lint-imports": "import-linter",
    "pytest": "pytest",
    "sphinx": "sphinx",
}
"""What a command runs, and the distribution that brings it."""
MADE_BY_COMMANDS = {".venv", ".venv/bin/activate", "docs/_build/html"}


def commands() -> list[list[str]]:
    """Every command of the guide's shell blocks, as words, without comments."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            text = " ".join(shlex.quote(word) for word in words).replace("'&&'", "\n").splitlines()
            found += [shlex.split(part) for part in text]
    return [words for words in found if words]


COMMANDS = commands()


def installed_by_guide() -> set[str]:
    """The distributions in the extras that the guide installs."""
    extras = re.findall(r"pip install -e '\.\[(\w+)\]'", GUIDE)
    return {re.split(r"[<>=]", requirement)[0] for extra in extras for requirement in EXTRAS[extra]}


def test_the_guide_has_commands() -> None:
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:50])
def test_commands_name_files_and_tools_that_exist(words: list[str]) -> None:
    program, *arguments = words
    if program in ("python", "python3") and arguments[0] == "-m":
        program, *arguments = arguments[1:]
    if program in TOOLS:
        assert TOOLS[program] in installed_by_guide()
    elif program.startswith("tests."):
        assert (ROOT / program.replace(".", "/") / "__main__.py").is_file()
    elif program not in ("pip", "venv", ".", "python"):
        assert (ROOT / program).is_file()
        assert (ROOT / program).stat().st_mode & 0o100
    paths = [
        a for a in arguments if re.fullmatch(r"[\w./-]+", a) and ("/" in a or "." in a) and "==" not in a
    ]
    for path in paths:
        assert path in MADE_BY_COMMANDS or (ROOT / path).exists(), path


def test_markers_and_profiles_exist() -> None:
    markers = " ".join(PROJECT["tool"]["pytest"]["ini_options"]["markers"])
    for words in COMMANDS:
        if "pytest" in words and words.count("-m") == 2:
            assert f"{words[words.index('-m', words.index('pytest')) + 1]}(" in markers
    profiles = re.findall(r"--hypothesis-profile=(\w+)", GUIDE)
    assert sorted(profiles) == ["explore", "soak"]
    registered = (ROOT / "tests/conftest.py").read_text(encoding="utf-8")
    assert all(
        f'register_profile(\n    "{x}"' in registered or f'_profile("{x}"' in registered for x in profiles
    )


def test_citation_has_what_the_format_asks_for() -> None:
    """The required keys of the Citation File Format 1.2.0; ``.ci/run`` holds the file against its schema."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = dict(re.findall(r"^([a-z-]+): *(.*)$", text, flags=re.MULTILINE))
    assert {"cff-version", "message", "title", "authors"} <= set(keys)
    assert (keys["cff-version"], keys["type"]) == ("1.2.0", "software")
    assert keys["license"] == PROJECT["project"]["license"]
    assert re.search(r"^authors:\n  - name: the funcgrad authors$", text, flags=re.MULTILINE)


def test_the_source_distribution_names_what_is_there() -> None:
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name.lstrip("/")).exists(), name
    for name in PROJECT["project"]["license-files"]:
        assert (ROOT / name).is_file()


def test_every_source_is_python_of_the_oldest_version() -> None:
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in PROJECT["project"]["classifiers"]
    major, minor = map(int, oldest.split("."))
    for folder in ("funcgrad", "tests", "benchmarks", "docs", "notebooks", ".ci"):
        for path in (ROOT / folder).rglob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(major, minor))
