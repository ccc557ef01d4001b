"""Small results as notebooks show them: jitted functions, linear maps, the state of the disk cache."""

from __future__ import annotations

from typing import Any

from funcgrad.api.calling.specialization import Specialization
from funcgrad.api.derivatives.linear_maps import Pullback, Pushforward
from funcgrad.api.jit import JittedFunction
from funcgrad.compile.runtime.cache import CacheInfo
from funcgrad.display.bars import Bar, bars
from funcgrad.display.costs import bytes_of, size_words
from funcgrad.display.html import Markup, joined, tag
from funcgrad.display.listing import Listing, Page, counted, signature
from funcgrad.display.program import document, totals

RESULTS_CSS = """
ul.fg-kinds {margin:2px 0 2px 1.6em; padding:0}
table.fg-state {border-collapse:collapse; border:0; margin:2px 0; font:inherit; color:inherit; width:auto}
table.fg-state tr {background:none}
table.fg-state td {
    padding:1px 18px 1px 6px; border:0; text-align:left; font:inherit; color:inherit; background:none;
}
table.fg-state td:first-child {color:var(--fg-dim)}
"""


def jitted_html(jitted: JittedFunction[..., Any]) -> str:
    """What has been compiled so far: a line for each kind of arguments."""
    kinds = list(jitted._kinds.values())
    name = tag("span", repr(jitted), class_="fg-name")
    if not kinds:
        words = ": not called yet, it compiles at the first call"
        return str(document(tag("div", name, words, class_="fg-head")))
    head = tag("div", name, f": {counted(len(kinds), 'kind')} of arguments so far", class_="fg-head")
    items = [tag("li", kind_words(kind)) for kind in kinds]
    return str(document(joined([head, tag("ul", joined(items), class_="fg-kinds")]), css=RESULTS_CSS))


def kind_words(kind: Specialization) -> Markup:
    """The types of a kind of arguments, and what was made of it."""
    words = counted(len(kind.program), "equation")
    made = kind._executable
    if made is None:
        words += ", recorded, not compiled yet"
    else:
        words += f", {counted(made.kernel_count, 'kernel')}"
        words += f", {counted(len(made.reasons), 'equation')} left to NumPy" if made.reasons else ""
    return joined([signature(kind.program), tag("span", f": {words}", class_="fg-type")])


def linear_map_html(linear: Pullback[Any] | Pushforward[Any]) -> str:
    """The linear Program of one point, and what is kept for it."""
    page = Page()
    program = linear.program
    listing = Listing(program, page, backward=isinstance(linear, Pullback))
    kept = sum([bytes_of(v.aval) for v in program.inputs[: linear.n_residuals]])
    words = f": {counted(linear.n_residuals, 'residual')} kept, {size_words(kept)}"
    name = tag("span", repr(linear), class_="fg-name")
    head = tag("div", name, words, class_="fg-head")
    signed = tag("div", listing.signature(program.name), class_="fg-head")
    return str(document(joined([head, signed, totals(program, page), listing.rows()]), page))


def cache_html(info: CacheInfo) -> str:
    """The place of the disk cache, how full it is, and what this process had of it."""
    if not info.enabled:
        words = "The disk cache of compiled code is off: every process compiles anew."
        return str(document(tag("div", words, class_="fg-head")))
    rows = [
        ("place", info.directory),
        ("entries", f"{info.entries:,}"),
        ("this process", f"{info.hits} found, {info.misses} not found, {info.stores} stored"),
    ]
    cells = [tag("tr", tag("td", name), tag("td", words)) for name, words in rows]
    full = f"{size_words(info.bytes)} of {size_words(info.limit)}"
    chart = bars([Bar("size", float(info.bytes), full, "loop")], largest=float(info.limit))
    head = tag("div", tag("span", "disk cache of compiled code", class_="fg-name"), class_="fg-head")
    table = tag("table", tag("tbody", joined(cells)), class_="fg-state")
    chart = tag("div", chart, class_="fg-head")
    return str(document(joined([head, table, chart]), css=RESULTS_CSS))
