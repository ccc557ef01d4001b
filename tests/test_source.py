"""The user's line: found past library frames, shown with carets, kept through pickles and tracebacks."""

from __future__ import annotations

import contextlib
import copy
import functools
import linecache
import os
import pickle
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

import numpy as np
import pytest
import scipy

import funcgrad as fg
import funcgrad.source
from funcgrad.source import Source, is_library_code, strip_library_frames, user_location, user_stacklevel

PACKAGE = Path(funcgrad.source.__file__).parent
STANDARD_LIBRARY = Path(os.__file__).parent


def run(text: str, file: str | Path, **names: Any) -> dict[str, Any]:
    """The names that the text defines when it runs as the contents of the file."""
    exec(compile(text, str(file), "exec"), names)
    return names


def here() -> Source:
    """The source of the line that calls this test helper, as the library would find it."""
    frame = sys._getframe(1)
    return Source(frame.f_code, frame.f_lasti)


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Writes the text into a file, runs it with `here` in reach and returns the name asked for."""

    def script(text: str, name: str = "found", file: str = "train.py") -> Any:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return run(text, path, here=here)[name]

    yield script
    linecache.checkcache()


# -- what a source shows --------------------------------------------------------------------------------


def test_a_source_names_file_line_and_function(script: Any, tmp_path: Path) -> None:
    source = script("def loss(err):\n    return (1.0, here())\n\nfound = loss(0.5)[1]\n")
    assert source.file == str(tmp_path / "train.py")
    assert (source.line, source.end_line) == (2, 2)
    assert (source.column, source.end_column) == (17, 23)
    assert source.function == "loss"
    assert source.text == "    return (1.0, here())"
    assert str(source) == "train.py:2 in loss"
    assert repr(source) == "<Source train.py:2 in loss>"


def test_carets_stand_under_exactly_the_expression(script: Any) -> None:
    code = script(
        "def loss(err):\n    scale = 2.0 * abs(err) + err\n    return scale\n", name="loss"
    ).__code__
    assert source_at(code, 2, (12, 26)).caret() == (
        "  train.py:2 in loss\n    scale = 2.0 * abs(err) + err\n            ^^^^^^^^^^^^^^"
    )


def source_at(code: CodeType, line: int, columns: tuple[int, int]) -> Source:
    """The source of the first instruction whose expression stands at these columns."""
    found = [(first, start, end) for first, _, start, end in code.co_positions()]
    return Source(code, 2 * found.index((line, *columns)))


class Condition:
    """Keeps the line that asks for its truth; its operators give itself."""

    asked: Source

    def __bool__(self) -> bool:
        frame = sys._getframe(1)
        self.asked = Source(frame.f_code, frame.f_lasti)
        return False

    def __lt__(self, other: object) -> Condition:
        return self

    def __call__(self, *args: object) -> Condition:
        return self


@pytest.mark.parametrize(
    ("statement", "expression"),
    [
        ("if err < 1.0: pass", "err < 1.0"),
        ("if err: pass", "err"),
        ("if not err: pass", "err"),
        ("if err(1.0, 2.0): pass", "err(1.0, 2.0)"),
        ("if True and err(): pass", "err()"),
        ("while err(1): pass", "err(1)"),
        ("a = 1.0 if err() else 2.0", "err()"),
        ("a = err() and 2.0", "err()"),
        ("a = not err", "not err"),
        ("a = [x for x in 'a' if err(x)]", "err(x)"),
        ("assert not err()", "err()"),
        ("if 0 < 1 and (err < 4): pass", "err < 4"),
    ],
)
@pytest.mark.parametrize("padding", [0, 300], ids=["near", "far"])
def test_a_branch_points_at_its_condition(
    tmp_path: Path, statement: str, expression: str, padding: int
) -> None:
    condition = Condition()
    # A long body makes the jump's distance too large for one instruction.
    text = "def loss(err):\n    " + statement.replace("pass", "b = 1; " * padding + "pass")
    path = tmp_path / "train.py"
    path.write_text(text)
    run(text, path)["loss"](condition)
    shown = condition.asked.caret().splitlines()
    start, stop = shown[2].index("^"), len(shown[2])
    assert shown[1][start:stop] == expression


def test_an_expression_of_several_lines_shows_its_first_line_to_the_end(script: Any) -> None:
    text = "def f(x):\n    return 1.0 + min(x,   \n             x,\n    )\n"
    outer = source_at(script(text, name="f").__code__, 2, (17, 5))
    assert (outer.line, outer.end_line) == (2, 4)
    assert outer.text == "    return 1.0 + min(x,   \n             x,\n    )"
    assert outer.caret() == "  train.py:2 in f\n    return 1.0 + min(x,\n                 ^^^^^^"


def test_carets_line_up_after_wide_combining_and_tab_characters(script: Any) -> None:
    text = 'if True:\n\tname = "数e\u0301",\there()\nfound = name[1]\n'
    assert script(text).caret() == (
        '  train.py:2 in <module>\n    name = "数e\u0301", here()\n                  ^^^^^^'
    )


def test_carets_under_wide_characters_are_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    code = compile("found = 関数()\n", "wide.py", "exec")
    monkeypatch.setitem(linecache.cache, "wide.py", (0, None, ["found = 関数()\n"], "wide.py"))
    source = source_at(code, 1, (8, 16))
    assert source.caret().splitlines()[2] == "            ^^^^^^"


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("found = here()", "<module>"),
        ("found = (lambda: here())()", "<lambda>"),
        ("class Model:\n  def loss(self): return here()\nfound = Model().loss()", "Model.loss"),
        ("def outer():\n  def inner(): return here()\n  return inner()\nfound = outer()", "inner"),
        ("found = [here() for _ in 'a'][0]", "<listcomp>" if sys.version_info < (3, 12) else "<module>"),
    ],
)
def test_functions_are_named_without_the_functions_around_them(script: Any, text: str, function: str) -> None:
    assert script(text).function == function


def test_package_entry_files_are_shown_with_their_folder(script: Any) -> None:
    assert str(script("found = here()", file="model/__init__.py")) == "model/__init__.py:1 in <module>"


def test_a_frame_without_source_shows_its_place_only() -> None:
    source = run("def f(): return here()\nfound = f()", "/nowhere/gone.py", here=here)["found"]
    assert source.text == ""
    assert source.caret() == "  gone.py:1 in f"


def test_executed_code_shows_its_place_only() -> None:
    source = run("\nfound = here()", "<string>", here=here)["found"]
    assert source.caret() == "  <string>:2 in <module>"


def test_a_cell_that_linecache_knows_shows_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, file = "def f(x):\n    return here()\nfound = f(1)\n", "<ipython-input-3-8f1c>"
    monkeypatch.setitem(linecache.cache, file, (len(cell), None, cell.splitlines(True), file))
    source = run(cell, file, here=here)["found"]
    assert source.caret() == "  <ipython-input-3-8f1c>:2 in f\n    return here()\n           ^^^^^^"


def test_a_notebook_cell_is_called_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, file = "found = (here(), 1)[0]\n", "/tmp/ipykernel_41/1897364.py"
    monkeypatch.setitem(linecache.cache, file, (len(cell), None, [cell], file))
    names = {file: ("Cell", "In[3]")}
    compiler = types.SimpleNamespace(format_code_name=names.get)
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    source = run(cell, file, here=here)["found"]
    assert source.caret() == "  Cell In[3]:1 in <module>\n    found = (here(), 1)[0]\n             ^^^^^^"
    assert source.file == file
    assert str(run(cell, "other.py", here=here)["found"]) == "other.py:1 in <module>"


def test_ipython_outside_a_notebook_changes_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))  # type: ignore[arg-type]
    assert str(run("found = here()", "a/train.py", here=here)["found"]) == "train.py:1 in <module>"


def test_an_edited_file_is_read_again(script: Any, tmp_path: Path) -> None:
    assert script("found = here()").text == "found = here()"
    assert script("# edited\nfound = here()").text == "found = here()"


def test_a_file_that_shrank_gets_no_carets(script: Any, tmp_path: Path) -> None:
    source = script("found = (1.0, 2.0, here())[2]")
    (tmp_path / "train.py").write_text("found = 1\n")
    linecache.checkcache()
    assert source.caret() == "  train.py:1 in <module>\n    found = 1"


def test_code_without_columns_shows_its_line_without_carets(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "from funcgrad.source import Source, user_location\n"
        "source = Source(*user_location())\n"
        "print(source.column, source.end_line)\n"
        "print(source.caret())\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert output == "None 2\n  train.py:2 in <module>\n    source = Source(*user_location())\n"


def test_a_frame_that_has_not_started_points_at_its_first_instruction() -> None:
    def generator() -> Iterator[int]:
        yield 1

    assert Source(generator.__code__, -1).line == generator.__code__.co_firstlineno


def test_a_label_goes_before_the_place(script: Any) -> None:
    source = script("found = here()")
    assert source.caret("made here") == (
        "  made here: train.py:1 in <module>\n    found = here()\n            ^^^^^^"
    )


# -- equality, copies, pickles --------------------------------------------------------------------------


def test_sources_are_equal_when_file_line_column_and_function_are(script: Any) -> None:
    first, again, beside = script("def f(): return here(), here()\nfound = f()[0], *f()")
    assert first == again
    assert hash(first) == hash(again)
    assert first != beside
    assert first != "train.py:1 in f"


def test_equal_code_in_two_files_makes_two_sources() -> None:
    text = "def f(): return here()\n"
    ours, theirs = run(text, "ours.py", here=here)["f"], run(text, "theirs.py", here=here)["f"]
    assert ours.__code__ == theirs.__code__  # this is why nothing is keyed by code objects
    assert ours() != theirs()
    inside = run(text, PACKAGE / "made_up.py", here=here)["f"]
    assert is_library_code(inside.__code__)
    assert not is_library_code(ours.__code__)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_holds_text_and_outlives_the_file(script: Any, tmp_path: Path, protocol: int) -> None:
    source = script("def f(): return (1, here())[1]\nfound = f()")
    shown = source.caret()
    data = pickle.dumps(source, protocol)
    (tmp_path / "train.py").unlink()
    linecache.checkcache()
    loaded = pickle.loads(data)
    assert loaded == source
    assert hash(loaded) == hash(source)
    assert loaded.caret() == shown
    assert (loaded.text, loaded.end_column) == (source.text, source.end_column)
    assert pickle.loads(pickle.dumps(loaded, protocol)).caret() == shown


def test_copies_are_the_same_object() -> None:
    source = here()
    assert copy.copy(source) is source
    assert copy.deepcopy([source])[0] is source


# -- whose frame is it? ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "is_library"),
    [
        (PACKAGE / "tracing" / "tracer.py", True),
        (PACKAGE / "__init__.py", True),
        (PACKAGE / "__main__.py", True),
        (PACKAGE / "command" / "tour.py", False),
        (PACKAGE.parent / "tests" / "test_source.py", False),
        (PACKAGE.parent / "benchmarks" / "table.py", False),
        (PACKAGE.parent / "notebooks" / "tour.ipynb", False),
        (PACKAGE.parent / "funcgrad_extras" / "model.py", False),
        (Path(np.__file__).parent / "lib" / "_shape_base_impl.py", True),
        (Path(scipy.__file__).parent / "optimize" / "_optimize.py", True),
        (STANDARD_LIBRARY / "functools.py", True),
        (STANDARD_LIBRARY / "contextlib.py", True),
        (STANDARD_LIBRARY / "site-packages" / "model" / "loss.py", False),
        (STANDARD_LIBRARY / "dist-packages" / "model.py", False),
        ("<__array_function__ internals>", True),
        ("<frozen runpy>", True),
        ("<stdin>", False),
        ("<string>", False),
        ("<ipython-input-1-abc>", False),
        ("train.py", False),
    ],
)
def test_library_code_is_told_by_its_file(file: str | Path, is_library: bool) -> None:
    assert is_library_code(compile("0", str(file), "exec")) is is_library


def library(text: str, **names: Any) -> dict[str, Any]:
    """The names that the text defines when it runs as a module of funcgrad."""
    return run(text, PACKAGE / "made_up.py", **names)


def test_the_walk_passes_every_library_frame() -> None:
    names = library(
        "def record(): return user_location()\n"
        "def bind(*_): return record()\n"
        "class Tracer:\n"
        "    __mul__ = bind\n",
        user_location=user_location,
    )
    tracer = names["Tracer"]()
    source = Source(*(tracer * 2.0))
    assert source.text == "    source = Source(*(tracer * 2.0))"
    assert source.caret().splitlines()[2] == "                      ^^^^^^^^^^^^"


def test_the_walk_passes_numpy_and_the_standard_library() -> None:
    found: list[Any] = []
    probe = library(
        "def probe(x=0.0):\n    found.append(user_location())\n    return x\n",
        user_location=user_location,
        found=found,
    )["probe"]
    np.apply_along_axis(probe, 0, np.ones(3))
    functools.singledispatch(probe)(1.0)
    with contextlib.ExitStack() as stack:
        stack.callback(probe)
    assert [code for code, _ in found] == [sys._getframe().f_code] * 3


def test_a_depth_starts_the_walk_further_out() -> None:
    names = library(
        "def record(depth): return user_location(depth)\ndef bind(depth): return record(depth)\n",
        user_location=user_location,
    )
    for depth in (1, 2, 3):
        assert names["bind"](depth)[0] is sys._getframe().f_code


def test_a_stack_of_library_code_alone_answers_with_its_outermost_frame() -> None:
    found: list[Any] = []
    probe = library("def probe(): found.append(user_location())", user_location=user_location, found=found)
    thread = threading.Thread(target=probe["probe"])
    thread.start()
    thread.join()
    assert Source(*found[0]).file == threading.__file__


def test_the_memory_of_file_names_is_bounded() -> None:
    for number in range(funcgrad.source._MOST_FILES + 10):
        is_library_code(compile("0", f"<cell {number}>", "exec"))
    assert len(funcgrad.source.library_files) <= funcgrad.source._MOST_FILES


def test_threads_find_places_of_codes_met_first_at_the_same_time() -> None:
    codes = [compile(f"x = {number}", f"<cell {number}>", "exec") for number in range(2000)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            lines = list(pool.map(lambda code: str(Source(code, 2)), codes))
    finally:
        sys.setswitchinterval(before)
    assert lines == [f"<cell {number}>:1 in <module>" for number in range(2000)]


def test_a_warning_at_the_user_stacklevel_names_the_users_line() -> None:
    probe = library(
        "def inner(): warnings.warn('seen', stacklevel=user_stacklevel())\ndef probe(): inner()\n",
        warnings=warnings,
        user_stacklevel=user_stacklevel,
    )["probe"]
    with pytest.warns(UserWarning, match="seen") as caught:
        probe()
    assert caught[0].filename == __file__


# -- tracebacks -----------------------------------------------------------------------------------------

API = """
def api(f, full=None):
    try:
        return run(f)
    except Exception as error:
        strip_library_frames(error, full=full)
        raise

def run(f):
    return f()

def operation():
    return rule()

def rule():
    raise ValueError("does not fit")

def wrapped():
    try:
        operation()
    except ValueError as error:
        raise TypeError("no derivative") from error
"""


def functions_of(trace: TracebackType | None) -> list[str]:
    return [entry.tb_frame.f_code.co_name for entry in entries_of(trace)]


def entries_of(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.delenv("FUNCGRAD_TRACEBACKS", raising=False)
    return library(API, strip_library_frames=strip_library_frames)


def test_only_user_frames_and_the_raising_frame_remain(api: dict[str, Any]) -> None:
    def loss() -> None:
        api["operation"]()

    def train() -> None:
        api["api"](loss)

    with pytest.raises(ValueError, match="does not fit") as caught:
        train()
    trace = caught.value.__traceback__
    assert functions_of(trace)[1:] == ["train", "loss", "rule"]
    lines = [entry.tb_lineno - entry.tb_frame.f_code.co_firstlineno for entry in entries_of(trace)]
    assert lines[1:] == [1, 1, 1]


def test_nested_calls_leave_no_library_frame_between_them(api: dict[str, Any]) -> None:
    def inner() -> None:
        api["operation"]()

    def outer() -> None:
        api["api"](inner)

    with pytest.raises(ValueError, match="does not fit") as caught:
        api["api"](outer)
    assert functions_of(caught.value.__traceback__)[1:] == ["outer", "inner", "rule"]


def test_an_error_of_the_user_keeps_its_own_frames(api: dict[str, Any]) -> None:
    def loss() -> float:
        return 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        api["api"](loss)
    assert functions_of(caught.value.__traceback__)[1:] == ["loss"]


def test_causes_are_stripped_and_contexts_are_not(api: dict[str, Any]) -> None:
    def loss() -> None:
        api["wrapped"]()

    handled: Exception | None = None
    try:
        api["operation"]()
    except ValueError as error:
        handled = error
        before = functions_of(error.__traceback__)
        with pytest.raises(TypeError, match="no derivative") as caught:
            api["api"](loss)
    assert handled is not None
    assert functions_of(handled.__traceback__) == before
    assert caught.value.__cause__ is not None
    assert functions_of(caught.value.__cause__.__traceback__) == ["rule"]


@pytest.mark.parametrize(("variable", "full"), [("full", None), ("short", True), ("full", True)])
def test_full_tracebacks_can_be_asked_for(
    api: dict[str, Any], monkeypatch: pytest.MonkeyPatch, variable: str, full: bool | None
) -> None:
    monkeypatch.setenv("FUNCGRAD_TRACEBACKS", variable)
    with pytest.raises(ValueError, match="does not fit") as caught:
        api["api"](api["operation"], full)
    assert functions_of(caught.value.__traceback__)[1:] == ["api", "run", "operation", "rule"]


def test_the_parameter_wins_over_the_environment(
    api: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNCGRAD_TRACEBACKS", "full")
    with pytest.raises(ValueError, match="does not fit") as caught:
        api["api"](api["operation"], False)
    assert functions_of(caught.value.__traceback__)[1:] == ["rule"]


def test_an_error_that_was_never_raised_and_a_loop_of_causes_are_harmless() -> None:
    error, cause = ValueError("a"), ValueError("b")
    error.__cause__, cause.__cause__ = cause, error
    strip_library_frames(error)
    assert error.__traceback__ is None


# -- cost -----------------------------------------------------------------------------------------------


def test_importing_errors_and_source_loads_nothing_heavy() -> None:
    program = (
        "import gc, importlib, re, sys, types, linecache, opcode, typing, unicodedata\n"
        "before = set(sys.modules)\n"
        "package = types.ModuleType('funcgrad')\n"
        f"package.__path__ = [{str(PACKAGE)!r}]\n"
        "sys.modules['funcgrad'] = package\n"
        "import funcgrad.errors\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    loaded = [
        "__future__",
        "funcgrad",
        *[f"funcgrad.{x}" for x in ("collector", "config", "errors", "later", "shared", "source", "types")],
    ]
    assert output == f"{loaded}\n"


def test_what_reverse_mode_computes_is_marked_and_keeps_its_line() -> None:
    def loss(x):
        y = np.tanh(x)
        return np.sum(y * y)

    program = fg.make_program(fg.grad(loss))(np.ones(3))
    for each in (program, pickle.loads(pickle.dumps(program))):
        forward = [e.source for e in each if not e.source.backward]
        backward = [e.source for e in each if e.source.backward]
        assert next(s.expression for s in forward) == "np.tanh(x)"
        assert backward
        assert {s.expression for s in backward} <= {"np.tanh(x)", "y * y"}
    assert not any(e.source.backward for e in fg.make_program(loss)(np.ones(3)))
    restored = pickle.loads(pickle.dumps(forward[0]))
    assert restored.in_reverse() == restored
    assert restored.in_reverse().backward


def test_a_long_function_is_gone_through_once_for_the_places_of_all_its_lines() -> None:
    code = compile("x = 1.0\n" + "x = -x\n" * 200, "<a long file>", "exec")
    passes = []

    def note(frame: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ == "co_positions":
            passes.append(called)

    sys.setprofile(note)
    try:
        lines = [Source(code, offset).line for offset in range(0, len(code.co_code), 2)]
    finally:
        sys.setprofile(None)
    assert lines == [line for line, *_ in code.co_positions()]
    assert len(passes) == 1
