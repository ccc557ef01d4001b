"""`python -m funcgrad`: what its sub-commands print, and what they tell the shell."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.command import bench, info, line, page

COMMAND = [sys.executable, "-W", "error", "-m", "funcgrad"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(folder))
    monkeypatch.delenv("FUNCGRAD_CACHE", raising=False)
    return folder


# -- info ----------------------------------------------------------------------------------------------------


def test_info_names_what_a_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert line.main(["info"]) == 0
    out = capsys.readouterr().out
    labels = [text.split()[0] for text in out.splitlines() if not text.startswith(" ")]
    expected = [
        "funcgrad",
        "Python",
        "system",
        "packages",
        "BLAS",
        "processor",
        "vectors",
        "threads",
        "cache",
    ]
    assert labels == [*expected, "peers", "around", "variables"]
    assert f"numpy {np.__version__}" in out
    assert max(map(len, out.splitlines())) <= 100


def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert line.main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["funcgrad"] == fg.__version__
    assert found["packages"]["numpy"] == np.__version__
    assert found["processor"]["available"] >= 1
    assert {name: text is not None for name, text in found["peers"].items()} == {
        name: find_spec(name) is not None for name in ("torch", "jax", "autograd")
    }


def test_info_imports_no_peer() -> None:
    code = (
        "import sys; from funcgrad.command.line import main; main(['info']); "
        "print(*[name for name in ('torch', 'jax', 'autograd') if name in sys.modules], end='.')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "."


def test_info_says_which_variables_are_in_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_NUM_THREADS", "3")
    monkeypatch.setenv("FUNCGRAD_COLOUR", "red")
    text = info.info_text()
    assert "3 for long loops by FUNCGRAD_NUM_THREADS" in text
    assert "FUNCGRAD_NUM_THREADS=3" in text
    assert "FUNCGRAD_COLOUR=red (not one of funcgrad's)" in " ".join(text.split())


def test_info_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")
    assert "off: every process compiles anew" in info.info_text()


def test_packages_that_are_missing() -> None:
    assert info.versions(("numpy", "no_such_package")) == {"numpy": np.__version__, "no_such_package": None}
    assert info.listed({"a": "1.0", "b": None, "c": None}) == "a 1.0; not installed: b, c"
    assert info.listed({"b": None}) == "not installed: b"


# -- cache ---------------------------------------------------------------------------------------------------


def test_cache_info_clear_and_path(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.ones(3)
    assert float(fg.jit(lambda x: np.sum(x * 2.0625 + x))(x)) == 9.1875
    assert line.main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{cache}\n"
    assert line.main(["cache"]) == 0
    text = capsys.readouterr().out
    assert "directory" in text
    entries = fg.cache_info().entries
    assert f"{entries}" in text
    assert line.main(["cache", "clear"]) == 0
    assert capsys.readouterr().out.startswith(f"removed {entries} entries")
    assert fg.cache_info().entries == 0


def test_cache_that_is_off(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")
    for arguments in (["cache"], ["cache", "clear"]):
        assert line.main(arguments) == 0
        assert "The disk cache is off" in capsys.readouterr().out
    assert line.main(["cache", "path"]) == 0
    assert capsys.readouterr().out == "\n"


# -- bench ---------------------------------------------------------------------------------------------------


TWO = bench.CASES[0], bench.CASES[2]


def test_bench_without_peers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "CASES", TWO)
    assert line.main(["bench", "--no-peers", "--seconds", "0.001"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["gradient", "of", "value,", "NumPy", "fg.grad", "fg.jit"]
    for case, row in zip(TWO, rows, strict=False):
        assert row.startswith(case.name)
        assert row.count(" us") + row.count(" ms") == 3


def test_bench_says_which_peers_are_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "CASES", ())
    bench.bench(("no_such_peer",))
    out = capsys.readouterr().out
    assert "Not installed: no_such_peer." in out
    assert "jax" not in out


def test_bench_says_whose_gradient_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(bench.CONTENDERS, "jax", lambda case: lambda: np.zeros(10))
    assert list(bench.cells(bench.CASES[0], ["jax"], 1e-4)) == ["differs"]


@pytest.mark.parametrize(
    "peer", [pytest.param(name, marks=pytest.mark.peers(name)) for name in ("torch", "jax", "autograd")]
)
# Without the last, which JAX takes seconds to compile.
@pytest.mark.parametrize("case", bench.CASES[:-1], ids=lambda case: case.name)
def test_bench_compares_the_same_gradients(case: bench.Case, peer: str) -> None:
    expected = bench.with_grad(case)()
    np.testing.assert_allclose(np.asarray(bench.CONTENDERS[peer](case)()), expected, rtol=1e-6, atol=1e-9)


# -- the page ------------------------------------------------------------------------------------------------


def test_narrow_terminals(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(page, "width", lambda: 40)
    rows = page.rows_of_facts([("Python", "a few words that are too long for one line"), ("cores", "2")])
    assert rows.splitlines() == [
        "Python    a few words that are too long",
        "          for one line",
        "cores     2",
    ]
    columns = ("gradient of", "fg.grad", "fg.jit", "torch")
    assert page.table_lines(columns, columns, 22, 13) == []
    row = page.table_lines(columns, ("small", "1 us", "2 us", "3 us"), 22, 13)
    assert row == [
        "small",
        "  fg.grad               1 us",
        "  fg.jit                2 us",
        "  torch                 3 us",
    ]


def test_output_that_is_no_terminal_is_a_hundred_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert page.width() == 100
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert page.width() == 40


# -- the shell -----------------------------------------------------------------------------------------------


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        line.main(["--help"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert all(f"\n    {name} " in out for name in line.COMMANDS)
    assert "FUNCGRAD_NUM_THREADS" in out


@pytest.mark.parametrize("command", line.COMMANDS)
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        line.main([command, "--help"])
    assert left.value.code == 0
    assert f"python -m funcgrad {command}" in capsys.readouterr().out


def test_unknown_command() -> None:
    run = subprocess.run([*COMMAND, "cach"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == (
        "python -m funcgrad: there is no command 'cach'; did you mean cache?\n"
        "commands: info, tour, bench, cache; more with python -m funcgrad --help\n"
    )


@pytest.mark.parametrize("arguments", [["cache", "wipe"], ["--nothing"], ["bench", "--seconds", "0"]])
def test_command_lines_that_mean_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        line.main(arguments)
    assert left.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_reader_that_goes_away() -> None:
    run = subprocess.Popen([*COMMAND, "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    run.stdout.close()
    _, err = run.communicate()
    assert (run.returncode, err) == (1, "")


def test_interruption(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(line, "run", interrupted)
    assert line.main(["info"]) == 130
    assert capsys.readouterr().err == "stopped\n"
