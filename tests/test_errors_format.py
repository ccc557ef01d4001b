"""The layout of errors: what was seen, the user's line with carets, further lines, the next step."""

from __future__ import annotations

import copy
import linecache
import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest

from funcgrad import errors
from funcgrad.errors import FuncgradError, TracedBranchError, did_you_mean
from funcgrad.source import Source, user_location

ERRORS = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]

BUILTINS = {
    "ArgnumsError": (ValueError, TypeError),
    "ConcretizationError": (TypeError,),
    "CustomRuleError": (TypeError,),
    "DistributedError": (RuntimeError,),
    "DtypeError": (TypeError,),
    "EscapedTracerError": (RuntimeError, TypeError),
    "FuncgradError": (Exception,),
    "IndexingError": (IndexError,),
    "LostDataError": (RuntimeError,),
    "MissingExtraError": (ImportError,),
    "NonScalarGradError": (TypeError,),
    "NotDifferentiableError": (TypeError,),
    "ProgramError": (ValueError,),
    "ShapeError": (ValueError, TypeError),
    "ShardError": (RuntimeError,),
    "StaticArgumentError": (ValueError, TypeError),
    "TracedBranchError": (TypeError,),
    "TracedAttributeError": (AttributeError,),
    "TracerAssignmentError": (TypeError,),
    "TreeError": (ValueError, TypeError),
    "UnsupportedFunctionError": (TypeError, NotImplementedError),
    "WorkerVersionError": (RuntimeError,),
}


class Traced:
    """Stands for a traced value: branching on it raises, comparing and adding give another one."""

    def __bool__(self) -> bool:
        raise TracedBranchError(
            "this branch depends on a traced f64[]",
            source=Source(*user_location(2)),
            remedy="Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run.",
        )

    def __lt__(self, other: object) -> Traced:
        return self

    def __add__(self, other: object) -> Traced:
        return self


def error_of(text: str, file: str | Path) -> FuncgradError:
    """The error that ``loss`` raises when the text runs as the contents of the file."""
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)
    with pytest.raises(FuncgradError) as caught:
        names["loss"](Traced())
    return caught.value


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def source_in(path: Path) -> Source:
    """The source of ``state.append(x * 2)`` in a file of its own."""
    text = "def step(x):\n    return here()\n"
    names: dict[str, Any] = {"here": user_location}
    exec(compile(text, str(write(path, text)), "exec"), names)
    return Source(*names["step"](1))


# -- the whole text -------------------------------------------------------------------------------------


def test_an_error_shows_what_was_seen_the_line_and_the_next_step(tmp_path: Path) -> None:
    text = "def loss(err):\n    if err < 1.0:\n        return err\n"
    error = error_of(text, write(tmp_path / "train.py", text))
    assert "".join(traceback.format_exception_only(error)) == (
        "funcgrad.errors.TracedBranchError: this branch depends on a traced f64[]\n"
        "  train.py:2 in loss\n"
        "    if err < 1.0:\n"
        "       ^^^^^^^^^\n"
        "  Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run.\n"
    )


def test_a_condition_of_several_lines_shows_its_first_line(tmp_path: Path) -> None:
    text = "def loss(err):\n    while (err + [\n        1.0,\n    ]):\n        return err\n"
    error = error_of(text, write(tmp_path / "train.py", text))
    assert str(error) == (
        "this branch depends on a traced f64[]\n"
        "  train.py:2 in loss\n"
        "    while (err + [\n"
        "           ^^^^^^^\n"
        "  Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run."
    )


def test_a_notebook_cell_shows_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, file = "def loss(err):\n    return 0.0 if err else 1.0\n", "<ipython-input-7-5e1d>"
    monkeypatch.setitem(linecache.cache, file, (len(cell), None, cell.splitlines(True), file))
    assert str(error_of(cell, file)) == (
        "this branch depends on a traced f64[]\n"
        "  <ipython-input-7-5e1d>:2 in loss\n"
        "    return 0.0 if err else 1.0\n"
        "                  ^^^\n"
        "  Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run."
    )


@pytest.mark.parametrize(("file", "label"), [("<string>", "<string>"), ("/nowhere/gone.py", "gone.py")])
def test_code_without_source_shows_its_place(file: str, label: str) -> None:
    assert str(error_of("def loss(err):\n    return not err\n", file)) == (
        "this branch depends on a traced f64[]\n"
        f"  {label}:2 in loss\n"
        "  Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run."
    )


def test_notes_show_further_lines_between_the_line_and_the_next_step(tmp_path: Path) -> None:
    error = errors.EscapedTracerError(
        "a traced f64[3] is used after its trace ended",
        source=source_in(tmp_path / "use.py"),
        notes=[("the tracer was made here", source_in(tmp_path / "make.py"))],
        remedy="Return it from the traced function.\nDo not store it elsewhere.",
    )
    assert str(error) == (
        "a traced f64[3] is used after its trace ended\n"
        "  use.py:2 in step\n"
        "    return here()\n"
        "           ^^^^^^\n"
        "  the tracer was made here: make.py:2 in step\n"
        "    return here()\n"
        "           ^^^^^^\n"
        "  Return it from the traced function.\n"
        "  Do not store it elsewhere."
    )


def test_an_error_with_nothing_more_to_say_is_one_line() -> None:
    assert str(errors.DtypeError("cannot shift f64[]")) == "cannot shift f64[]"
    assert repr(errors.DtypeError("cannot shift f64[]")) == "DtypeError('cannot shift f64[]')"


def test_the_line_may_be_attached_later(tmp_path: Path) -> None:
    error = errors.ShapeError("shapes (3,) and (4,) do not broadcast", remedy="Reshape one of them.")
    assert str(error) == "shapes (3,) and (4,) do not broadcast\n  Reshape one of them."
    error.source = source_in(tmp_path / "train.py")
    assert str(error) == (
        "shapes (3,) and (4,) do not broadcast\n"
        "  train.py:2 in step\n"
        "    return here()\n"
        "           ^^^^^^\n"
        "  Reshape one of them."
    )


# -- every class ----------------------------------------------------------------------------------------


def test_the_table_of_builtins_names_every_class() -> None:
    assert sorted(BUILTINS) == sorted(kind.__name__ for kind in ERRORS)


@pytest.mark.parametrize("kind", ERRORS)
def test_the_expected_builtins_catch_it(kind: type[FuncgradError]) -> None:
    for builtin in (FuncgradError, *BUILTINS[kind.__name__]):
        with pytest.raises(builtin):
            raise kind("seen")


@pytest.mark.parametrize("kind", ERRORS)
def test_pickles_and_copies_say_the_same(kind: type[FuncgradError], tmp_path: Path) -> None:
    source = source_in(tmp_path / "train.py")
    error = kind("seen", source=source, remedy="Next.", notes=[("also here", source)])
    error.add_note("added by the user")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
        assert twin.args == ("seen",)
        assert (twin.seen, twin.source, twin.remedy) == ("seen", source, "Next.")
        assert twin.notes == (("also here", source),)
        assert twin.__notes__ == ["added by the user"]


@pytest.mark.parametrize("kind", [kind for kind in ERRORS if kind is not FuncgradError])
def test_its_docstring_is_a_sentence_that_says_when_it_is_raised(kind: type[FuncgradError]) -> None:
    assert kind.__doc__ is not None
    assert kind.__doc__.startswith("Raised when ")
    assert kind.__doc__.endswith(".")
    assert "\n" not in kind.__doc__


# -- misspelt names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("tahn", "Did you mean 'tanh'?"),
        ("cosh2", "Did you mean 'cosh' or 'cos'?"),
        ("xyzzy", ""),
        ("", ""),
    ],
)
def test_did_you_mean_offers_what_is_close(name: str, question: str) -> None:
    assert did_you_mean(name, ["tanh", "cos", "cosh", "reshape", "cos"]) == question


def test_did_you_mean_takes_any_iterable() -> None:
    assert did_you_mean("axs", (name for name in ("axis", "keepdims"))) == "Did you mean 'axis'?"
