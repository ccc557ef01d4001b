"""A Program as notebooks show it: its signature, what it costs in all, and its equations."""

from __future__ import annotations

from funcgrad.display.bars import BARS_CSS
from funcgrad.display.costs import bytes_of, cost_of_program, size_words
from funcgrad.display.highlight import SOURCE_CSS
from funcgrad.display.html import Html, Markup, joined, tag
from funcgrad.display.listing import LISTING_CSS, Listing, Page, cost_words, counted
from funcgrad.display.sources import SOURCES_CSS, is_backward
from funcgrad.display.theme import ROOT, scoped, variables
from funcgrad.ir.program import Program

BASE_CSS = """
& {
    color:var(--fg-ink); font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
    font-size:12.5px; line-height:1.5; overflow-x:auto; text-align:left; max-width:100%;
}
details > summary {display:list-item}
.fg-head {padding:2px 6px 0; overflow-wrap:anywhere}
.fg-totals {color:var(--fg-dim); padding:0 6px 6px}
.fg-key {white-space:nowrap}
.fg-swatch {
    display:inline-block; width:0.8em; height:0.8em; border-radius:2px; margin-right:0.4em;
    background:var(--fg-colour,var(--fg-forward)); vertical-align:-0.05em;
}
"""


def program_html(program: Program) -> str:
    """The page of a Program: no script, nothing from elsewhere, nothing that reaches the notebook around it.

    >>> from funcgrad.ir.text.parsing import parse
    >>> text = program_html(parse("program f(x: f64[3]): y: f64[3] = mul(x, 2.0) return y"))
    >>> "mul" in text, "<script" in text
    (True, False)
    """
    return str(program_page(program).body)


def program_page(program: Program) -> Html:
    """The page as something that can also be printed and saved."""
    page = Page()
    listing = Listing(program, page)
    head = tag("div", listing.signature(program.name), class_="fg-head")
    body = joined([head, totals(program, page), listing.rows()])
    return Html(document(body, page), str(program))


def totals(program: Program, page: Page) -> Markup:
    """The line below the signature: how much there is of everything."""
    backward = sum([is_backward(e.source) for e in program.equations])
    count = counted(len(program), "equation")
    forward = len(program) - backward
    keys = [key(f"{forward} forward", "forward")] if forward and backward else []
    keys += [key(f"{backward} backward", "backward")] if backward else []
    count += ": " if keys else ""
    made = sum([bytes_of(v.aval) for e in program.equations for v in e.outputs])
    words = [counted(len(program.outputs), "output"), f"{size_words(made)} made"]
    words.append(cost_words(cost_of_program(program, page.costs)))
    if program.captured:
        held = sum([bytes_of(v.aval) for v, _ in program.captured])
        words.insert(0, f"{counted(len(program.captured), 'captured array')}, {size_words(held)}")
    return tag("div", count, joined(keys, ", "), " · ", " · ".join(words), class_="fg-totals")


def key(words: str, kind: str) -> Markup:
    """A colour and what it means."""
    swatch = tag("span", class_="fg-swatch", style=f"--fg-colour:var(--fg-{kind})")
    return tag("span", swatch, words, class_="fg-key")


def document(body: Markup, page: Page | None = None, css: str = "") -> Markup:
    """The body below a root of its own, with its style; `css` is more rules, which are scoped here."""
    own, marks = (None, "") if page is None else page.marks(body)
    rules = scoped(BASE_CSS + LISTING_CSS + SOURCES_CSS + SOURCE_CSS + BARS_CSS + css)
    style = f"{variables()}\n{rules}\n{marks}"
    classes = ROOT if own is None else f"{ROOT} {own}"
    return tag("div", tag("style", Markup(style)), body, class_=classes)
