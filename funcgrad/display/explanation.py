"""What `explain` found, as notebooks show it: time, memory, kernels, and every pass with its Programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from funcgrad.compile.measure.explain import (
    Explanation,
    KernelReport,
    Part,
    Pass,
    left_lines,
    milliseconds,
    origin_words,
)
from funcgrad.display.bars import Bar, bars
from funcgrad.display.costs import count_words, size_words
from funcgrad.display.highlight import source_block
from funcgrad.display.html import EMPTY, Html, Markup, joined, tag
from funcgrad.display.listing import Listing, Page, counted
from funcgrad.display.program import document
from funcgrad.display.sources import place_of, source_cell, source_title
from funcgrad.ir.program import Equation, Literal, Program

ROWS = 200
"""Equations of each Program, those inside it among them."""
FEW_KERNELS = 2

EXPLANATION_CSS = """
.fg-section {margin:10px 0 2px; font-weight:600; padding:0 6px}
.fg-chip {border-radius:3px; padding:0 5px; margin-left:0.7em}
.fg-chip.fg-vanished {background:var(--fg-warning-soft); color:var(--fg-warning)}
.fg-chip.fg-appeared {background:var(--fg-leaf-soft); color:var(--fg-leaf)}
details.fg-pass {margin:1px 0}
details.fg-pass > summary {cursor:pointer; padding:1px 6px}
details.fg-pass > summary:hover {background:var(--fg-raised)}
details.fg-pass > :not(summary) {margin-left:1.6em}
.fg-dim {color:var(--fg-dim)}
.fg-chart {padding:0 6px}
.fg-plain {color:var(--fg-dim); padding:1px 6px 1px 1.7em}
table.fg-parts {border-collapse:collapse; border:0; margin:4px 0; font:inherit; color:inherit; width:auto}
table.fg-parts tr {background:none; border:0}
table.fg-parts td {
    padding:1px 14px 1px 0; border:0; line-height:1.5; text-align:left; vertical-align:top;
    white-space:nowrap;    font:inherit; color:inherit; background:none;
}
table.fg-parts td.fg-number {text-align:right}
ul.fg-left {margin:2px 0 2px 1.6em; padding:0}
"""


def explanation_html(found: Explanation) -> str:
    """The page of an explanation."""
    return str(explanation_page(found).body)


def explanation_page(found: Explanation) -> Html:
    """The page as something that can also be printed and saved."""
    page = Page()
    name = tag("span", found.name, class_="fg-name")
    body = joined(
        [
            tag("div", name, ": from Program to native code", class_="fg-head"),
            tag("div", summary_words(found), class_="fg-totals"),
            section("time of a call"),
            tag("div", time_chart(found), class_="fg-chart"),
            section("memory"),
            tag("div", memory_chart(found), class_="fg-chart"),
            section("kernels"),
            joined([kernel_fold(kernel, few=len(found.kernels) <= FEW_KERNELS) for kernel in found.kernels]),
            left_to_numpy(found),
            section("passes"),
            joined(pass_folds(found.passes, page)),
            tag("div", emission_words(found), class_="fg-plain"),
        ]
    )
    return Html(document(body, page, EXPLANATION_CSS), str(found))


def section(title: str) -> Markup:
    """A headline."""
    return tag("div", title, class_="fg-section")


# -- time and memory ----------------------------------------------------------------------------------------


def summary_words(found: Explanation) -> str:
    """The times in a line."""
    words = [counted(len(found.kernels), "kernel")]
    if found.reasons:
        words.append(f"{counted(len(found.reasons), 'equation')} left to NumPy")
    words.append(f"a call takes {milliseconds(found.run_seconds)}")
    compared = f"by NumPy {milliseconds(found.evaluated_seconds)}"
    if found.run_seconds > 0.0 and not math.isnan(found.evaluated_seconds):
        compared += f", {ratio_words(found.evaluated_seconds / found.run_seconds)} as long"
    words.append(compared)
    return " · ".join(words)


def ratio_words(ratio: float) -> str:
    """How many times, as it is said.

    >>> ratio_words(153.2), ratio_words(2.34), ratio_words(1.02)
    ('153 times', '2.3 times', 'about')
    """
    if 0.95 < ratio < 1.05:
        return "about"
    return f"{ratio:,.0f} times" if ratio >= 10.0 else f"{ratio:.2g} times"


def emission_words(found: Explanation) -> Markup:
    """The last pass: what was made, and where the machine code came from."""
    made, time = counted(len(found.kernels), "kernel"), milliseconds(found.compile_seconds)
    return joined(
        [
            f"{len(found.passes) + 1}. ",
            tag("span", "emit", class_="fg-name"),
            f": {made}, {time}, {origin_words(found)}",
        ]
    )


def time_chart(found: Explanation) -> Markup:
    """Each kernel and each equation that is left to NumPy, as measured; the whole, and NumPy, to compare."""
    kernels = iter(found.kernels)
    rows = []
    for part in found.parts:
        if part.equation is None:
            kernel = next(kernels)
            estimate = f"{milliseconds(kernel.estimated_seconds)} by rule of thumb"
            row = Bar(kernel.name, part.seconds, milliseconds(part.seconds), "loop", f"measured; {estimate}")
        else:
            title = source_title(part.equation.source) or None
            place = place_of(part.equation.source)
            name = f"{part.equation.primitive.name} by NumPy{', ' if place else ''}{place}"
            row = Bar(name, part.seconds, milliseconds(part.seconds), "numpy", title)
        rows.append(row)
    if len(rows) != 1:
        rows.append(Bar("the whole call", found.run_seconds, milliseconds(found.run_seconds), "scalars"))
    words = milliseconds(found.evaluated_seconds)
    rows.append(Bar("all of it by NumPy", found.evaluated_seconds, words, "freed"))
    return bars(rows)


def memory_chart(found: Explanation) -> Markup:
    """Bytes that each kernel reads and writes, and its memory for what lies between."""
    rows = []
    for kernel in found.kernels:
        rows.append(Bar(kernel.name, kernel.bytes_moved, f"{size_words(kernel.bytes_moved)} moved", "leaf"))
        if kernel.scratch_bytes:
            words = f"{size_words(kernel.scratch_bytes)} of scratch memory"
            rows.append(Bar("", kernel.scratch_bytes, words, "constant"))
    return bars(rows) if rows else tag("div", "no kernel", class_="fg-dim")


# -- kernels ------------------------------------------------------------------------------------------------


def kernel_fold(kernel: KernelReport, *, few: bool) -> Markup:
    """A kernel: what it consists of, and its source. Where there are few, it is open."""
    name = tag("span", kernel.name, class_="fg-name")
    words = f": {counted(len(kernel.parts), 'step')}, {milliseconds(kernel.seconds)}, "
    words += f"{size_words(kernel.bytes_moved)} moved, {count_words(kernel.flops)} flops"
    lines = counted(kernel.source.count("\n"), "line")
    source = tag(
        "details", tag("summary", f"source, {lines}"), source_block(kernel.source), class_="fg-pass fg-source"
    )
    inside = joined([parts_table(kernel.parts), source])
    return tag(
        "details", tag("summary", name, words), inside, class_="fg-pass fg-kernel", open="" if few else None
    )


def parts_table(parts: Sequence[Part]) -> Markup:
    """The steps of a kernel, in order."""
    total = sum([part.estimated_seconds for part in parts]) or 1.0
    return tag("table", tag("tbody", joined([part_row(part, total) for part in parts])), class_="fg-parts")


def part_row(part: Part, total: float) -> Markup:
    """A step: its kind, what it runs over, its cost, its share by rule of thumb, and the lines it serves."""
    swatch = tag("span", class_="fg-swatch", style=f"--fg-colour:var(--fg-{kind_of(part.kind)})")
    over = f"over {' × '.join(map(str, part.shape))}" if part.shape else ""
    statements = counted(part.statements, "statement") if part.statements else ""
    share = f"{100.0 * part.estimated_seconds / total:.0f} %"
    lines = [source_cell(source) for source in part.sources[:1]]
    if len(part.sources) > 1:
        titles = "\n".join([str(source) for source in part.sources])
        more = f" and {counted(len(part.sources) - 1, 'line')} more"
        lines.append(tag("span", more, class_="fg-dim", title=titles))
    cells = [
        tag("td", swatch, part.kind),
        tag("td", over),
        tag("td", statements, class_="fg-dim"),
        tag("td", size_words(part.bytes_moved), class_="fg-number", title="bytes read and written"),
        tag("td", f"{count_words(part.flops)} flops", class_="fg-number"),
        tag("td", share, class_="fg-number fg-dim", title="share of the kernel's time, by rule of thumb"),
        tag("td", joined(lines)),
    ]
    return tag("tr", joined(cells))


def kind_of(step: str) -> str:
    """The colour of a kind of step, by its name.

    >>> kind_of("loop"), kind_of("dgemm"), kind_of("cholesky"), kind_of("while_loop")
    ('loop', 'product', 'factorization', 'control')
    """
    for kind, names in _KINDS.items():
        if step in names or (kind == "product" and step.endswith(("gemm", "gemv"))):
            return kind
    return "loop"


_KINDS = {
    "scalars": ("scalars",),
    "product": ("convolution", "dot_general"),
    "factorization": (
        *("cholesky", "lu_factors", "solve", "triangular_solve", "inverse"),
        *("determinant", "cofactors"),
    ),
    "sorting": ("sort", "argsort", "searchsorted", "take_along_axis", "add_along_axis"),
    "control": ("scan", "while_loop", "while_sweeps", "cond"),
}


def left_to_numpy(found: Explanation) -> Markup:
    """Why equations have no native form, if there are any."""
    if not found.reasons:
        return EMPTY
    items = [tag("li", line) for line in left_lines(found)]
    return joined([section("left to NumPy"), tag("ul", joined(items), class_="fg-left")])


# -- passes -------------------------------------------------------------------------------------------------


def pass_folds(passes: Sequence[Pass], page: Page) -> list[Markup]:
    """Each pass with the Program before and after."""
    folds = []
    before: Program | None = None
    for number, each in enumerate(passes, 1):
        folds.append(pass_fold(number, each, before, page))
        before = each.program
    return folds


def pass_fold(number: int, each: Pass, before: Program | None, page: Page) -> Markup:
    """A pass: how many equations went in and came out, and both Programs with the difference marked."""
    name = tag("span", each.name, class_="fg-name")
    after = each.program
    time = milliseconds(each.seconds)
    if before is None:
        summary = tag("summary", f"{number}. ", name, f": {counted(len(after), 'equation')}, {time}")
        return tag("details", summary, program_block(after, page), class_="fg-pass")
    gone, new = vanished(before, after), appeared(before, after)
    count = f": {len(before)} to {counted(len(after), 'equation')}, {time}"
    if not gone and not new:
        words = f"{count}, nothing changed"
        return tag("div", f"{number}. ", name, words, class_="fg-plain")
    summary = tag(
        "summary", f"{number}. ", name, count, chip(len(gone), "vanished"), chip(len(new), "appeared")
    )
    folds = [
        tag(
            "details",
            tag("summary", "before"),
            program_block(before, page, gone, "vanished"),
            class_="fg-pass",
        ),
        tag(
            "details",
            tag("summary", "after"),
            program_block(after, page, new, "appeared"),
            class_="fg-pass",
            open="",
        ),
    ]
    return tag("details", summary, joined(folds), class_="fg-pass")


def chip(count: int, mark: str) -> Markup:
    """How many equations changed in a way; nothing for none."""
    return tag("span", f"{count} {mark}", class_=f"fg-chip fg-{mark}") if count else EMPTY


def program_block(
    program: Program, page: Page, marked: frozenset[Equation] = frozenset(), mark: str = "vanished"
) -> Markup:
    """A Program with its signature, some of its equations marked."""
    page.rows = ROWS
    listing = Listing(program, page, marked, mark)
    head = tag("div", listing.signature(program.name), class_="fg-head")
    return tag("div", head, listing.rows())


def vanished(before: Program, after: Program) -> frozenset[Equation]:
    """The equations that have no like in the later Program."""
    return without_like(before.equations, after.equations)


def appeared(before: Program, after: Program) -> frozenset[Equation]:
    """The equations that have no like in the earlier Program."""
    return without_like(after.equations, before.equations)


def without_like(equations: Iterable[Equation], others: Iterable[Equation]) -> frozenset[Equation]:
    """The equations beyond those that the others can be matched with, one to one.

    Passes rename variables, so like is: the same operation on the same types and numbers for the same place.
    """
    left = Counter([likeness(equation) for equation in others])
    found = []
    for equation in equations:
        key = likeness(equation)
        if left[key]:
            left[key] -= 1
        else:
            found.append(equation)
    return frozenset(found)


def likeness(equation: Equation) -> Hashable:
    """What an equation keeps when its variables are renamed."""
    inputs = [
        (atom.aval, repr(atom.value)) if isinstance(atom, Literal) else atom.aval for atom in equation.inputs
    ]
    source = None if equation.source is None else (str(equation.source), equation.source.backward)
    return equation.primitive, tuple(inputs), source
