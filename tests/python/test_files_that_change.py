"""What is rewritten is what was loaded, whatever has become of its file."""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.tracing.python.definitions import NoSource, definition_of
from funcgrad.tracing.python.functions import CODES

BRANCHES = """
import numpy as np

def f(x):
    if x > 0.0:
        return {factor} * np.sin(x)
    return x
"""

Module = Callable[[str], ModuleType]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Writes the module that the other fixture loads; each text is newer than the one before."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "changing_module.py"
    times = iter(range(1, 100))

    def write(text: str) -> Path:
        file.write_text(text, encoding="utf-8")
        time = next(times)
        os.utime(file, (time, time))
        importlib.invalidate_caches()
        return file

    yield write
    sys.modules.pop("changing_module", None)


def value_and_slope(f: Callable[[Any], Any]) -> tuple[float, float]:
    value, slope = fg.jit(fg.value_and_grad(f))(0.5)
    return float(value), float(slope)


def times_sine(factor: float) -> Any:
    return pytest.approx((factor * np.sin(0.5), factor * np.cos(0.5)), rel=1e-14)


def test_a_file_that_was_edited_is_not_what_runs(written: Callable[[str], Path]) -> None:
    written(BRANCHES.format(factor=2.0))
    module = importlib.import_module("changing_module")
    written(BRANCHES.format(factor=3.0))
    linecache.checkcache()
    assert float(module.f(0.5)) == float(fg.jit(module.f)(0.5)) == 2.0 * np.sin(0.5)
    assert value_and_slope(module.f) == times_sine(2.0)
    with pytest.raises(NoSource, match="has changed since it was loaded"):
        definition_of(module.f.__code__)


@pytest.mark.parametrize("before", ["", "# a line more\n"], ids=["same lines", "other lines"])
def test_a_module_that_was_loaded_again_is_what_runs(written: Callable[[str], Path], before: str) -> None:
    written(BRANCHES.format(factor=2.0))
    module = importlib.import_module("changing_module")
    assert value_and_slope(module.f) == times_sine(2.0)
    written(before + BRANCHES.format(factor=3.0))
    importlib.reload(module)
    assert value_and_slope(module.f) == times_sine(3.0)
    assert CODES.rewritten(module.f.__code__)


CHECKED = """
def f(x):
    assert x > 0.0, "{note}"
    return {factor} * x
"""


def test_code_in_place_of_assert_leaves_the_rest_to_be_compared(written: Callable[[str], Path]) -> None:
    written(CHECKED.format(note="one", factor="0.0"))
    module = importlib.import_module("changing_module")
    # As pytest does: the statement becomes others, the lines stay.
    text = CHECKED.format(note="one", factor="0.0").replace('assert x > 0.0, "one"', "x > 0.0 or g()")
    found: dict[str, Any] = {}
    exec(compile(text, module.__file__ or "", "exec"), found)
    assert definition_of(found["f"].__code__).node.name == "f"
    for other in ("1.0", "-0.0"):
        written(CHECKED.format(note="one", factor=other))
        linecache.checkcache()
        with pytest.raises(NoSource, match="has changed since it was loaded"):
            definition_of(found["f"].__code__)


def with_assert(x: Any) -> Any:
    assert x.shape == (), f"shape {x.shape}"
    return x * 2.0


class Base:
    def method(self, x: Any) -> Any:
        return x


class Derived(Base):
    __factor = 2.0

    @fg.checkpoint
    def method(self, x: Any, *rest: Any, power: int = 2, **named: Any) -> Any:
        """Says something."""
        inner = [self.__factor * y for y in (x, *rest)]
        return super().method(sum(inner)) ** power


def around(a: float) -> tuple[Any, Any]:
    def closing(x: Any) -> Any:
        nonlocal a
        a = a + 1.0
        scaled = [lambda: a * x]
        return scaled[0]()

    return closing, lambda x: closing(x + 1.0)


PAIR = (lambda x: x + 1.0, lambda x: x + 2.0)


PLAIN = (lambda *a, **k: sum(a) * k["factor"], lambda *a: sum(a), lambda **k: k["factor"], lambda a, b: a * b)


@pytest.mark.parametrize("which", range(4))
def test_lambdas_of_one_line_are_told_apart_by_their_stars(which: int) -> None:
    f = PLAIN[which]
    args = [(1.0, 2.0), (1.0, 2.0), (), (1.0, 3.0)][which]
    named = {"factor": 3.0} if which in (0, 2) else {}
    assert float(fg.jit(f)(*args, **named)) == f(*args, **named)
    found = definition_of(f.__code__).node.args
    assert (found.vararg is None, found.kwarg is None) == (which > 1, which in (1, 3))


def functions() -> dict[str, FunctionType]:
    closing, short = around(1.0)
    return {
        "with assert": with_assert,
        "in assert": LAST[0],
        "method": Derived.method.__wrapped__,  # type: ignore[attr-defined]
        "closing": closing,
        "short": short,
        "first of two": PAIR[0],  # type: ignore[dict-item]
        "second of two": PAIR[1],  # type: ignore[dict-item]
    }


LAST: list[Any] = []
assert LAST.append(lambda x: x * 3.0) is None


@pytest.mark.parametrize("name", functions())
def test_definitions_are_found(name: str) -> None:
    code = functions()[name].__code__
    node, owner, _ = definition_of(code)
    assert owner == ("Derived" if name == "method" else None)
    columns = {column for _, _, column, _ in code.co_positions() if column}
    assert node.col_offset <= min(columns)
    assert max(columns) <= node.end_col_offset or node.end_lineno > node.lineno


def test_statements_compiled_one_after_another_are_found_as_in_notebooks() -> None:
    """Beside its import a module's function is called in another way than where the import is elsewhere."""
    text = "import math\nimport numpy as np\ndef f(x):\n    return np.sin(x) * math.sqrt(4.0)\n"
    file = "<cell of a notebook>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    cell: dict[str, Any] = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), file, "exec"), cell)
    assert definition_of(cell["f"].__code__).node.name == "f"
    np.testing.assert_allclose(fg.jit(fg.grad(cell["f"]))(0.5), 2.0 * np.cos(0.5))
    whole: dict[str, Any] = {}
    exec(compile(text, file, "exec"), whole)
    assert definition_of(whole["f"].__code__).node.name == "f"
