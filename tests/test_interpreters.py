"""The Pythons that CI looks for: a name on PATH counts only if it runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts import module_at

SCRIPT = Path(__file__).parents[1] / ".ci" / "interpreters.py"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts of POSIX")


@pytest.fixture
def interpreters(monkeypatch, tmp_path):
    """The script as a module, in a place where nothing is installed."""
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "RUNNER_TOOL_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))
    monkeypatch.setenv("PATH", str(tmp_path))
    module = module_at(SCRIPT, "interpreters")
    monkeypatch.setattr(module.glob, "glob", lambda pattern: inside(pattern, tmp_path))
    return module


def inside(pattern: str, place: Path) -> list[str]:
    return [str(p) for p in place.rglob("*") if p.match(pattern)] if pattern.startswith(str(place)) else []


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_this_python_is_found(interpreters):
    own = "{}.{}".format(*sys.version_info[:2])
    assert interpreters.found(own) == sys.executable


def test_a_shim_for_a_version_that_is_not_there_does_not_count(interpreters, tmp_path, monkeypatch):
    program(tmp_path / "python9.9", "echo 'not installed' >&2; exit 127")
    assert interpreters.found("9.9") == "-"
    program(tmp_path / "python9.9", "echo 9.8")
    assert interpreters.found("9.9") == "-"
    second = program(tmp_path / "second" / "python9.9", "echo 9.9")
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'second'}")
    assert interpreters.found("9.9") == str(second)


def test_versions_of_pyenv_are_found(interpreters, tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    there = program(tmp_path / "pyenv" / "versions" / "9.9.3" / "bin" / "python9.9", "echo 9.9")
    assert interpreters.found("9.9") == str(there)
    free = program(tmp_path / "pyenv" / "versions" / "9.9.3t" / "bin" / "python9.9t", "echo 9.9t")
    assert interpreters.found("9.9t") == str(free)


def test_every_version_is_printed_the_missing_ones_too():
    command = [sys.executable, str(SCRIPT)]
    lines = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True
    ).stdout.splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["3.11", "3.12", "3.13", "3.14", "3.14t"]
    for line in lines:
        path = line.split(" ", 1)[1]
        assert path == "-" or os.access(path, os.X_OK)
