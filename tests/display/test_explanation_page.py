"""What `explain` and `kernel_source` show in a notebook."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import special

import funcgrad as fg
from funcgrad.compile.measure.explain import Pass
from funcgrad.display.explanation import ROWS, appeared, explanation_page, pass_folds, vanished
from funcgrad.display.html import joined
from funcgrad.display.listing import Page
from funcgrad.ir.text.parsing import parse
from funcgrad.ir.text.source_text import SourceText

X = np.linspace(0.1, 1.0, 50)


def smooth(x):
    return np.sum(fg.nn.softmax(x) * np.sin(x))


def ripple(x):
    return np.sum(special.eval_legendre(3, np.exp(x)) * x)


@pytest.fixture(scope="module")
def whole():
    return fg.explain(fg.grad(smooth))(X)


@pytest.fixture(scope="module")
def mixed():
    return fg.explain(ripple)(X)


def test_the_page_and_its_text(whole) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, _ = formatters.DisplayFormatter().format(whole)
    assert shown["text/plain"] == str(whole)
    assert shown["text/html"] == whole._repr_html_() == explanation_page(whole)._repr_html_()


def test_what_explain_makes_says_what_it_is() -> None:
    assert repr(fg.explain(smooth)) == "explain(smooth)"


def test_every_pass_is_a_section_with_what_changed(whole, read) -> None:
    page = read(whole._repr_html_())
    for number, each in enumerate(whole.passes, 1):
        assert f"{number}. {each.name}: " in page.text
    assert "5. emit: 1 kernel, " in page.text
    gone = vanished(whole.passes[1].program, whole.passes[2].program)
    new = appeared(whole.passes[1].program, whole.passes[2].program)
    assert f"{len(gone)} vanished" in page.text
    assert f"{len(new)} appeared" in page.text
    assert page.count("tr", "fg-vanished") >= len(gone) > 0
    assert page.count("tr", "fg-appeared") >= len(new) > 0


def test_like_equations_are_matched_one_to_one() -> None:
    before = parse("program f(x: f64[3]): a: f64[3] = sin(x) b: f64[3] = sin(a) c: f64[3] = cos(b) return c")
    after = parse("program f(x: f64[3]): b: f64[3] = sin(x) d: f64[3] = tan(b) return d")
    assert [e.primitive.name for e in vanished(before, before)] == []
    assert sorted(e.primitive.name for e in vanished(before, after)) == ["cos", "sin"]
    assert [e.primitive.name for e in appeared(before, after)] == ["tan"]


def test_kernels_show_steps_and_highlighted_source(whole, read) -> None:
    page = read(whole._repr_html_())
    (kernel,) = whole.kernels
    assert page.count("details", "fg-kernel") == 1
    assert page.count("pre", "fg-code") == 1
    assert kernel.source.strip() in page.text
    assert page.count("span", "fg-k") > 0
    steps = [part for part in kernel.parts if part.shape]
    assert f"over {steps[0].shape[0]}" in page.text
    assert any(part.sources for part in kernel.parts)


def test_time_and_memory_are_charts_of_what_was_measured(whole, read) -> None:
    page = read(whole._repr_html_())
    assert page.count("div", "fg-bars") == 2
    (kernel,) = whole.kernels
    assert 0 < kernel.seconds < 1
    assert "all of it by NumPy" in page.text
    assert re.search(r"a call takes [\d.]+ \w+ · by NumPy [\d.]+ \w+, [\w,. ]+ as long", page.text)


def test_what_is_left_to_numpy_has_its_time_and_reason(mixed, read) -> None:
    page = read(mixed._repr_html_())
    (reason,) = mixed.reasons
    assert [part.equation is None for part in mixed.parts] == [True, False, True]
    assert all(part.seconds > 0 for part in mixed.parts)
    assert next(part for part in mixed.parts if part.equation).equation is reason.equation
    assert "special by NumPy, test_explanation_page.py:" in page.text
    assert "special of i64*[], f64[50] has no native form (test_explanation_page.py:" in page.text
    assert "the whole call" in page.text
    assert len(mixed.kernels) == 2
    assert all(kernel.seconds > 0 for kernel in mixed.kernels)


def test_the_text_says_measured_times(mixed) -> None:
    text = str(mixed)
    assert re.search(r"kernel \w+: .* of scratch memory, [\d.]+ us", text)
    assert re.search(r"special of .* has no native form \(.*\): [\d.]+ us", text)


def test_kernel_source_is_a_string_that_notebooks_colour(read) -> None:
    source = fg.jit(smooth).kernel_source(X)
    assert isinstance(source, str)
    compile(source, "<kernel>", "exec")
    page = read(source._repr_html_())
    assert page.text.strip() == source.strip()
    assert page.count("span", "fg-f") >= 1


def test_a_program_as_numpy_is_a_string_that_notebooks_colour(read) -> None:
    source = fg.make_program(np.sin)(X).to_numpy_source()
    assert type(source) is SourceText
    assert read(source._repr_html_()).text.strip() == source.strip()
    assert str(source) == source


def test_every_program_of_a_long_explanation_is_shown(read) -> None:
    def long(x, length):
        for _ in range(length):
            x = np.sin(x)
        return x

    programs = [fg.make_program(long, static_argnums=1)(1.0, length) for length in (600, 500, 400)]
    page = Page()
    folds = pass_folds([Pass("some", program, 0.0) for program in programs], page)
    shown = read(joined(folds))
    assert shown.count("tr", "fg-forward") == 5 * ROWS
    assert shown.count("tr", "fg-vanished") > 0
    assert "100 vanished" in shown.text
    assert len(joined(folds)) < 1_000_000
