"""Jitted functions, pullbacks and the state of the cache in a notebook; arrays and sources in words."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.cache import CacheInfo
from funcgrad.display.arrays import array_words
from funcgrad.display.bars import Bar, bars
from funcgrad.display.highlight import highlighted
from funcgrad.display.html import Markup, escaped, joined, tag
from funcgrad.display.results import cache_html
from funcgrad.display.theme import COLOURS, scoped, variables


def loss(w, b):
    return np.sum(np.sin(w) * b)


def test_a_pullback_shows_its_backward_program(read) -> None:
    _, pullback = fg.vjp(loss, np.ones(3), 2.0)
    assert repr(pullback) == "<pullback: f64[] to f64[3], f64*[]>"
    page = read(pullback._repr_html_())
    assert page.text.startswith("<pullback: f64[] to f64[3], f64*[]>: ")
    assert "kept" in page.text
    assert page.count("tr", "fg-backward") == len(pullback.program) > 0
    assert page.count("tr", "fg-forward") == 0


def test_a_pushforward_shows_its_linear_program(read) -> None:
    _, pushforward = fg.linearize(loss, np.ones(3), 2.0)
    assert repr(pushforward) == "<pushforward: f64[3], f64*[] to f64[]>"
    page = read(pushforward._repr_html_())
    assert page.count("tr", "fg-forward") == len(pushforward.program) > 0


def test_a_jitted_function_says_what_it_is_compiled_for(read) -> None:
    step = fg.jit(loss)
    assert "jit(loss): not called yet" in read(step._repr_html_()).text
    step(np.ones(3), 2.0)
    step(np.ones((3, 2)), 2.0)
    text = read(step._repr_html_()).text
    assert "jit(loss): 2 kinds of arguments so far" in text
    assert "loss(f64[3], f64*[]) → f64[]: 3 equations, 1 kernel" in text


def test_the_state_of_the_cache(read) -> None:
    info = CacheInfo("<cache>", True, 1200, 50_000_000, 500_000_000, 3, 2, 1)
    page = read(info._repr_html_())
    assert "1,200" in page.text
    assert "50 MB of 500 MB" in page.text
    assert "3 found, 2 not found, 1 stored" in page.text
    assert "<cache>" in page.text
    off = CacheInfo("", False, 0, 0, 0, 0, 0, 0)
    assert "is off" in read(cache_html(off)).text


# -- pieces -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.float32(0.5), "0.5"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.arange(100), "0 to 99, first 0, 1, 2"),
        (np.arange(10) > 3, "6 of 10 true, first False, False, False"),
        (np.full(10, np.nan), "no finite number, first nan, nan, nan"),
        (np.r_[np.inf, np.arange(9.0)], "0 to 8, 1 not finite, first inf, 0, 1"),
        (np.arange(8) * 1j, "absolute values 0 to 7, first 0+0j, 0+1j, 0+2j"),
        (np.zeros((0, 3)), "[]"),
        (np.full(7, 2.5), "all 2.5"),
    ],
)
def test_arrays_in_words(array, words) -> None:
    assert array_words(array) == words


def test_text_is_escaped_once_and_markup_is_not() -> None:
    assert escaped(escaped("<")) == "&lt;"
    assert tag("p", Markup("<br>"), "<", title='<">') == '<p title="&lt;&quot;&gt;"><br>&lt;</p>'
    assert joined(["a", Markup("<b>")], "<") == "a&lt;<b>"


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x < 1  # small\n",
        "s = '''two\nlines'''\nt = f'{s!r:>{10}} {{}}'",
        "1 +",
        "    indented",
        "ends with a backslash \\",
        "emoji = 'π<🙂>' # 二",
        "",
        "\t\fx = 1\r\ny = 2",
        "x = $y ?",
    ],
)
def test_highlighting_changes_no_character(source, read) -> None:
    assert read(highlighted(source)).text == source


def test_bars_are_as_long_as_their_numbers(read) -> None:
    rows = [Bar("a", 4.0, "4"), Bar("b", 1.0, "1"), Bar("none", float("nan"), "?"), Bar("zero", 0.0, "0")]
    page = read(bars(rows))
    widths = [
        attrs["style"].partition(";")[0] for _, attrs in page.tags if "fg-fill" in attrs.get("class", "")
    ]
    assert widths == ["width:100.0%", "width:25.0%"]
    assert "width:40.0%" in bars([Bar("a", 4.0, "4")], largest=10.0)


def luminance(colour: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", [n for n in COLOURS if not n.endswith("-soft")])
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_can_be_read(name, theme) -> None:
    if name in ("faint", "paper", "raised", "mark"):
        return
    least = 3.0 if name in ("freed", "heat") else 4.5  # of shapes
    assert contrast(COLOURS[name][theme], COLOURS["paper"][theme]) >= least


@pytest.mark.parametrize("name", ["forward", "backward", "leaf", "constant", "warning"])
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_colour_can_be_read_on_its_own_background(name, theme) -> None:
    assert contrast(COLOURS[name][theme], COLOURS[f"{name}-soft"][theme]) >= 4.4
    assert contrast(COLOURS["ink"][theme], COLOURS["mark"][theme]) >= 4.5


def test_every_theme_of_every_host_is_known() -> None:
    css = variables()
    for place in ("prefers-color-scheme:dark", 'jp-theme-light="false"', ".vscode-dark", 'data-theme="dark"'):
        assert place in css


def test_rules_are_scoped_one_by_one() -> None:
    assert (
        scoped("a, &.b > c {x:y;\n  z:w}") == ".fg-display.fg-display a,.fg-display.fg-display.b > c{x:y;z:w}"
    )
