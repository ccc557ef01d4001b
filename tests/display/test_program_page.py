"""The page of a Program: what stands where, what is folded, and that nothing of it can do harm."""

from __future__ import annotations

import re
from time import process_time

import numpy as np
import pytest
from lawbook.cases import cases

import funcgrad as fg
from funcgrad.display.listing import HEAD, ROWS, TAIL
from funcgrad.display.program import program_html, program_page
from funcgrad.ir.text.parsing import parse


def logistic(w, x):
    return np.sum(np.log(1.0 + np.exp(-(x @ w))))


@pytest.fixture(scope="module")
def gradient():
    return fg.make_program(fg.grad(logistic))(np.ones(3), np.ones((20, 3)))


def test_a_program_displays_itself_and_its_text_is_the_fallback(gradient) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, _ = formatters.DisplayFormatter().format(gradient)
    assert shown["text/html"] == program_html(gradient)
    assert shown["text/plain"] == str(gradient)


def test_head_says_signature_and_totals(gradient, read) -> None:
    text = read(program_html(gradient)).text
    assert text.startswith("logistic(w: f64[3], x: f64[20,3]) → f64[3]")
    assert re.search(rf"{len(gradient)} equations: \d+ forward, \d+ backward · ", text)
    assert "1 output" in text
    assert re.search(r"700 flops, [\d.]+ kB moved", text)


def test_every_equation_has_a_row_with_types_and_the_users_line(gradient, read) -> None:
    page = read(program_html(gradient))
    rows = page.count("tr", "fg-forward") + page.count("tr", "fg-backward")
    assert rows == len(gradient)
    assert "a: f64[20]= dot_general(x, w, subscripts='ij,j->i')x @ w test_" in page.text
    assert "np.exp(-(x @ w))" in page.text
    assert f"test_program_page.py:{logistic.__code__.co_firstlineno + 1}" in page.text


def test_forward_and_backward_differ(gradient, read) -> None:
    page = read(program_html(gradient))
    backward = sum(e.source.backward for e in gradient.equations)
    assert page.count("tr", "fg-backward") == backward > 0
    assert page.count("span", "fg-swatch") == 2
    only = read(program_html(fg.make_program(logistic)(np.ones(3), np.ones((2, 3)))))
    assert only.count("tr", "fg-backward") == only.count("span", "fg-swatch") == 0


def test_hover_says_types_bytes_flops_and_carets(gradient, read) -> None:
    titles = read(program_html(gradient)).titles()
    (product,) = [t for t in titles if t.startswith("dot_general(f64[20,3], f64[3])")]
    assert "→ f64[20] (160 B)" in product
    assert "120 flops, 664 B moved" in product
    assert "    return np.sum(np.log(1.0 + np.exp(-(x @ w))))" in product
    assert "^^^^^" in product
    assert "w: f64[3], 24 B, an input, used 1 time" in titles


def test_hovering_a_variable_marks_it_everywhere(gradient, read) -> None:
    page = read(program_html(gradient))
    numbers = {c for _, a in page.tags for c in a.get("class", "").split() if re.fullmatch(r"fv\d+", c)}
    root = page.tags[0][1]["class"].split()[1]
    for number in numbers:
        assert f".{root}:has(.{number}:hover) .{number}" in page.styles[0]


def test_every_rule_is_scoped(gradient, read) -> None:
    (style,) = read(program_html(gradient)).styles
    flat = re.sub(r"@media[^{]*\{(.*?\})\}", r"\1", style, flags=re.DOTALL)
    for rule in re.findall(r"([^{}]+)\{[^{}]*\}", flat):
        for selector in rule.split(","):
            assert ".fg-display" in selector or selector.strip().startswith(".fg-"), selector


def test_the_users_source_is_escaped(read) -> None:
    def small(x):
        return np.where(x < 1.0, x, "<b>" and x * 2.0)

    page = read(program_html(fg.make_program(small)(np.ones(3))))
    assert "x < 1.0" in page.text
    assert page.count("b") == 0


def test_names_and_text_parameters_are_escaped(read) -> None:
    program = fg.make_program(np.sin)(1.0)
    renamed = fg.Program(program.inputs, (), program.equations, program.outputs, "<img src=x>")
    page = read(program_html(renamed))
    assert page.text.startswith("<img src=x>(")
    assert page.count("img") == 0


# -- Programs inside --------------------------------------------------------------------------------------


def stepping(xs):
    def step(c, x):
        c = np.tanh(c + x)
        return c, c

    return np.sum(fg.scan(step, 0.0, xs)[1])


def test_programs_inside_are_folded(read) -> None:
    page = read(program_html(fg.make_program(stepping)(np.ones(4))))
    assert page.count("details", "fg-held") == 1
    assert re.search(r"body step: 2 inputs → 2 outputs, \d equations", page.text)
    assert "np.tanh(c + x)" in page.text


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: fg.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x),
        lambda x: fg.cond(x > 1.0, np.exp, np.sin, x),
        lambda x: fg.checkpoint(np.sin)(x) * 2.0,
        fg.grad(lambda x: fg.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)),
    ],
    ids=["while", "cond", "checkpoint", "while, backward"],
)
def test_whatever_holds_a_program_shows_it(fun, read) -> None:
    assert read(program_html(fg.make_program(fun)(1.5))).count("details", "fg-held") >= 1


def test_custom_rules_show_their_programs(read) -> None:
    @fg.custom_vjp
    def double(x):
        return 2.0 * x

    double.defvjp(lambda x: (2.0 * x, x), lambda x, c: (2.0 * c,))
    assert read(program_html(fg.make_program(double)(1.0))).count("details", "fg-held") >= 1


def test_a_backward_loop_is_backward_inside_where_there_is_no_source(read) -> None:
    program = fg.make_program(fg.grad(stepping))(np.ones(4))
    page = read(program_html(program))
    assert page.count("tr", "fg-backward") > sum(e.source.backward for e in program.equations)


# -- much of everything ------------------------------------------------------------------------------------


def test_long_constants_are_summarised(read) -> None:
    table = np.linspace(-1.0, 1.0, 10_001)
    page = read(program_html(fg.make_program(lambda x: x * table)(np.ones(10_001))))
    assert "captured a: f64[10001] = -1 to 1, first -1, -0.9998, -0.9996" in page.text
    assert "1 captured array, 80 kB" in page.text


def chain(x, length):
    for _ in range(length):
        x = np.sin(x)
    return x


def test_the_middle_of_a_long_program_is_folded(read) -> None:
    page = read(program_html(fg.make_program(chain, static_argnums=1)(1.0, 300)))
    assert f"… {300 - HEAD - TAIL} equations more: 3.6 k flops" in page.text
    assert page.count("tr", "fg-forward") == 300


def test_thousands_of_equations_neither_flood_nor_wait(read) -> None:
    program = fg.make_program(chain, static_argnums=1)(1.0, 5000)
    start = process_time()  # not that of other processes
    text = program_html(program)
    assert process_time() - start < 10.0
    assert len(text) < 1_000_000
    page = read(text)
    assert page.count("tr", "fg-forward") == ROWS
    assert f"… {5000 - ROWS} equations not shown here; print the Program for all of them" in page.text


def test_many_results_are_folded(read) -> None:
    page = read(program_html(fg.make_program(lambda xs: [x * 2.0 for x in xs])([1.0] * 30)))
    assert page.count("details", "fg-more") == 3
    assert "18 more" in page.text


def test_empty_and_sourceless_programs(read) -> None:
    assert "return x" in read(program_html(fg.make_program(lambda x: x)(1.0))).text
    assert "0 equations" in read(program_html(fg.make_program(lambda: ())())).text
    assert (
        "mul(x, 2.0)"
        in read(program_html(parse("program f(x: f64[]): y: f64[] = mul(x, 2.0) return y"))).text
    )


def test_pages_are_the_same_each_time_and_can_be_saved(gradient, tmp_path, read) -> None:
    assert program_html(gradient) == program_html(gradient)
    shown = program_page(gradient)
    assert str(shown) == str(gradient)
    assert shown._repr_html_() == program_html(gradient)
    saved = shown.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert saved.startswith("<!DOCTYPE html>")
    assert program_html(gradient) in saved
    read(saved.removeprefix("<!DOCTYPE html>\n"))


SAMPLES = sorted({case.cls.name: case for case in cases() if case.dtype == np.float64}.items())


@pytest.mark.parametrize("case", [case for _, case in SAMPLES], ids=[name for name, _ in SAMPLES])
def test_every_primitive_can_be_shown(case, rng, read) -> None:
    page = read(program_html(case.program(case.values(rng))))
    assert case.cls.name in page.text
