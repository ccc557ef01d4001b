"""Every row of the kernel language: what it means in Python is what both engines make of it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import funcgrad.compile.language as language
from funcgrad.compile.engines.binary import Binary
from funcgrad.compile.engines.choice import engine_by_name
from funcgrad.compile.engines.linked_functions import modules_called_by
from funcgrad.compile.engines.llvm import compile_ir
from funcgrad.compile.language.pointers import DTYPES, sizes, table
from funcgrad.compile.language.rows import CONSTANTS, NAMES, OF_PYTHON, WORDS
from funcgrad.compile.language.word import Sample, Word
from funcgrad.compile.runtime.callers.call_layout import CallLayout, Constant
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.threads import placed
from tests.scripts import module_at

SAMPLES = [
    pytest.param(word, sample, id=f"{word.name}-{k}")
    for word in WORDS.values()
    for k, sample in enumerate(word.samples)
]
ELEMENTARY = {name for name, word in WORDS.items() if "polynomials" in word.summary}


def source_of(sample: Sample) -> str:
    """A kernel that runs the statement for each element."""
    arrays = "abcd"[: len(sample.arrays)]
    views = [
        f"{name} = as_{one.kind}(p[{k}])"
        for k, (name, one) in enumerate(zip(arrays, sample.arrays, strict=True))
    ]
    views.append(f"out = as_{sample.out}(p[{len(arrays)}])")
    body = textwrap.indent(sample.statement, " " * 8)
    return (
        "def run(p, n):\n"
        + "".join([f"    {line}\n" for line in views])
        + f"    for i in range(n[0]):\n{body}\n"
    )


def staged(sample: Sample) -> str:
    """The kernel as a stage that is run over a range of one, on the pool."""
    text = source_of(sample).replace("def run(p, n)", "def run_part(p, n, begin, end)")
    return text + "\n\ndef run(p, n):\n    parallel(run_part, p, n, 0, 1, 1)\n"


def memory_of(sample: Sample) -> list[np.ndarray]:
    """Its arrays, and a result that is not set."""
    with np.errstate(over="ignore"):
        arrays = [np.array(one.values).astype(DTYPES[one.kind]) for one in sample.arrays]
    return [*arrays, np.zeros(len(arrays[0]), DTYPES[sample.out])]


def numbers_of(sample: Sample) -> list[int]:
    """How many elements there are, and addresses."""
    addresses = [find() for find in sample.addresses]
    if addresses and not addresses[0]:
        pytest.skip("this process has no such routine")
    return [len(sample.arrays[0].values), *addresses]


def run_by_python(source: str, arrays: Sequence[np.ndarray], numbers: Sequence[int]) -> None:
    """Run the text as it stands."""
    names: dict[str, Any] = {**CONSTANTS, **{name: word.python for name, word in WORDS.items()}}
    exec(source, names)
    with np.errstate(all="ignore"):
        names["run"](table(*arrays), sizes(*numbers))


def run_by_engine(engine: str, source: str, arrays: Sequence[np.ndarray], numbers: Sequence[int]) -> None:
    """Compile the text and run it."""
    functions = ["run", "run_part"] if "run_part" in source else ["run"]
    modules = engine_by_name(engine)(source, functions, frozenset())
    texts = "\n".join([module for module in modules if isinstance(module, str)])
    code, needs = compile_ir([*modules, *modules_called_by(texts)], functions)
    loaded = placed(Binary(code, tuple(functions), needs))
    constants = tuple([Constant(k, array) for k, array in enumerate(arrays)])
    layout = CallLayout((), (), constants, (), 0, tuple(numbers))
    make_caller(loaded.addresses["run"], layout, loaded)()


def texts_of(word: Word, sample: Sample) -> str:
    return staged(sample) if word.name == "parallel" else source_of(sample)


@pytest.mark.parametrize(("word", "sample"), SAMPLES)
@pytest.mark.at_length
def test_what_a_word_means_is_what_each_engine_makes_of_it(word: Word, sample: Sample) -> None:
    source, numbers = texts_of(word, sample), numbers_of(sample)
    python, direct, by_numba = (memory_of(sample) for _ in range(3))
    run_by_python(source, python, numbers)
    run_by_engine("direct", source, direct, numbers)
    run_by_engine("numba", source, by_numba, numbers)
    for mine, other in zip(direct, by_numba, strict=True):
        assert mine.tobytes() == other.tobytes() or _both_nan(mine, other)
    for mine, meant in zip(direct, python, strict=True):
        if word.name in ELEMENTARY:
            np.testing.assert_allclose(mine, meant, rtol=3e-6 if mine.dtype == np.float32 else 5e-14)
        else:
            np.testing.assert_array_equal(mine, meant)
            assert np.array_equal(np.signbit(mine.real), np.signbit(meant.real)) or np.isnan(mine).any()


def _both_nan(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether arrays are the same but for the bits of NaN, of which nobody says what they are."""
    known = ~np.isnan(x)
    return np.array_equal(known, ~np.isnan(y)) and x[known].tobytes() == y[known].tobytes()


def test_every_word_has_samples_types_and_a_sentence() -> None:
    for name, word in WORDS.items():
        assert word.samples, name
        assert word.summary.endswith("."), name
        assert "->" in word.types.words, name
        assert any(name in sample.statement or "as_" in name or name == "parallel" for sample in word.samples)


def test_the_names_of_the_language_are_those_of_its_rows() -> None:
    assert set(NAMES) == {*WORDS, *CONSTANTS, *OF_PYTHON}
    assert set(language.__all__) == {*WORDS, *CONSTANTS, "table", "sizes"}
    with pytest.raises(AttributeError, match="no_such_word"):
        language.no_such_word  # noqa: B018


PASTED = """
import numba
from funcgrad.compile.language import *

@numba.njit
def run(p, n):
    x = as_f64(p[0])
    out = as_f64(p[1])
    total = f64(0)
    for i in range(n[0]):
        y = exp(x[i]) * x[i]
        out[i] = y
        total = plus(total, y)
    out[0] = total
"""


def test_text_under_numbas_decorator_computes_the_same() -> None:
    names: dict[str, Any] = {}
    exec(PASTED, names)
    x, out = np.linspace(0.0, 1.0, 5), np.zeros(5)
    names["run"](table(x, out), sizes(5))
    np.testing.assert_allclose(out[1:], (np.exp(x) * x)[1:], rtol=1e-14)
    np.testing.assert_allclose(out[0], (np.exp(x) * x).sum(), rtol=1e-14)
    assert isinstance(names["run"], numba.core.dispatcher.Dispatcher)


def test_the_page_of_words_is_current() -> None:
    path = Path(__file__).parents[2] / "docs" / "words.py"
    module = module_at(path, "words_page")
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run: python docs/words.py"
