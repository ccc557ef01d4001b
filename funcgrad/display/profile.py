"""A profile as text and as a page: the user's lines with their times beside them, then every row.

Owns the layout. What is measured, and what belongs to which line, says `funcgrad.api.inspection.profile`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from funcgrad.display.costs import count_words, size_words
from funcgrad.display.highlight import SOURCE_CSS, highlighted
from funcgrad.display.html import EMPTY, Markup, joined, tag
from funcgrad.display.profile_lines import (
    FunctionLines,
    Shown,
    function_lines,
    percent,
    rate_words,
    row_place,
    time_words,
)
from funcgrad.display.sources import source_title
from funcgrad.display.theme import ROOT, scoped, variables
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.api.inspection.profile_result import Profile, Row


WIDTH = 100
BAR = 8
MOST_ROWS = 40
"""Rows of the table of text; the page shows all of them."""
OPEN_UP_TO = 60
"""Rows of the page's table up to which it is open at first."""

NEGLIGIBLE = 0.001
"""The share of what belongs to no line that is not worth a line."""

# -- text -------------------------------------------------------------------------------------------------


def profile_text(profile: Profile) -> str:
    """The profile as text, at most 100 columns wide unless the user's lines are wider."""
    total = profile.measured_seconds or 1.0
    lines = [headline(profile), *[f"  {line}" for line in summary(profile)]]
    for function in function_lines(profile):
        lines += ["", f"{'share':>7} {'forward':>9} {'backward':>9}  {'':<{BAR}}  {function.title}"]
        lines += [line_text(shown, total) for shown in function.lines]
    others = sum(found.seconds for found in profile.by_line() if not found.line)
    if others > NEGLIGIBLE * total:
        lines += ["", f"{percent(others / total):>7}  belongs to no line of yours"]
    lines += ["", *rows_text(profile, total), *notes(profile)]
    return "\n".join([line.rstrip() for line in lines])


def headline(profile: Profile) -> str:
    """What was measured, in a line."""
    how = "native code" if profile.compiled else "evaluated by NumPy"
    return f"{profile.name}: {time_words(profile.call_seconds)} a call, {how}"


def summary(profile: Profile) -> Iterator[str]:
    """The numbers of the whole call."""
    measured = profile.measured_seconds
    runs = f"medians of {profile.runs} runs"
    yield f"{time_words(measured)} in {counted(profile)}, {around(profile)}; {runs}"
    flops, moved = profile.flops, profile.bytes_moved
    rates = [rate_words(flops, measured, "flop"), rate_words(moved, measured, "B")]
    found = [f"{count_words(flops)} operations", f"{size_words(moved)} moved"]
    paired = [f"{words} ({rate})" if rate else words for words, rate in zip(found, rates, strict=True)]
    yield f"{', '.join(paired)}; at most {size_words(profile.peak_bytes)} of memory at once"


def counted(profile: Profile) -> str:
    """How many rows there are, and of what."""
    number = len(profile.rows)
    plural = "s" if number != 1 else ""
    return f"{number} step{plural} of kernels" if profile.compiled else f"{number} equation{plural}"


def around(profile: Profile) -> str:
    """What a call takes beside its rows, and for what."""
    rest = profile.overhead_seconds
    if not rest:
        return f"{time_words(profile.measured_seconds - profile.call_seconds)} more when measured"
    recording = not profile.compiled and profile.call_seconds != profile.run_seconds
    return f"{time_words(rest)} around them{' (recording, arguments)' if recording else ''}"


def line_text(shown: Shown, total: float) -> str:
    """A line of the user's with its times."""
    if not shown.line:
        return f"{'':>39}  ..."
    number = f"{shown.line:>5}"
    if shown.found is None:
        return f"{'':>{29 + BAR}}{number}  {shown.text}"
    found = shown.found
    share = found.seconds / total
    times = [time_words(t) if t else "" for t in (found.forward, found.backward)]
    numbered = f"{number}{'*' if found.fused else ' '}"
    bar = f"{text_bar(share):<{BAR}}"
    return f"{percent(share):>7} {times[0]:>9} {times[1]:>9}  {bar}{numbered} {shown.text}"


def text_bar(share: float) -> str:
    """A bar of eighths of a character."""
    eighths = round(share * BAR * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def rows_text(profile: Profile, total: float) -> list[str]:
    """The table of rows: all of them in order, or the longest ones."""
    rows = list(profile.rows)
    least = sorted([row.seconds for row in rows], reverse=True)[: MOST_ROWS + 1]
    kept = rows if len(rows) <= MOST_ROWS else [row for row in rows if row.seconds > least[-1]]
    columns = ("share", "time", "runs", "what", "line", "rate")
    table = [columns, *[row_cells(row, total) for row in kept]]
    widths = [max([len(cells[k]) for cells in table]) for k in range(len(columns))]
    widths[3] = min(widths[3], max(WIDTH - sum(widths) + widths[3] - 12, 20))
    lines = []
    for cells in table:
        parts = [f"{cells[k]:>{widths[k]}}" for k in range(3)]
        what = cells[3] if len(cells[3]) <= widths[3] else f"{cells[3][: widths[3] - 3]}..."
        lines.append("  ".join([*parts, f"{what:<{widths[3]}}", f"{cells[4]:<{widths[4]}}", cells[5]]))
    if len(kept) < len(rows):
        rest = sum(row.seconds for row in rows) - sum(row.seconds for row in kept)
        lines.append(f"{percent(rest / total):>{widths[0]}}  in {len(rows) - len(kept)} more")
    return lines


def row_cells(row: Row, total: float) -> tuple[str, ...]:
    """The cells of a row."""
    runs = "" if row.runs == 1 else f"{row.runs:g}"
    what = f"{'  ' * row.depth}{row.name} {row.detail}".rstrip()
    return percent(row.seconds / total), time_words(row.seconds), runs, what, row_place(row), best_rate(row)


def best_rate(row: Row) -> str:
    """Operations a second where they are what takes time, else bytes a second."""
    flops, moved = row.flops or 0.0, row.bytes_moved or 0.0
    if flops > 4 * moved / 8:
        return rate_words(flops, row.seconds, "flop")
    return rate_words(moved, row.seconds, "B")


def notes(profile: Profile) -> Iterator[str]:
    """What a reader has to know about the numbers."""
    if any(row.fused for row in profile.rows):
        yield ""
        yield "* fused: a loop computes several lines; its time is divided by estimated operations"
    if profile.reasons:
        yield ""
        yield "left to NumPy"
        for reason in profile.reasons:
            yield f"  {reason}"


# -- page -------------------------------------------------------------------------------------------------

KIND = "fg-profile"
PROFILE_CSS = """
& {color:var(--fg-ink);font:13px/1.45 system-ui,sans-serif;overflow-x:auto;max-width:100%}
.fg-head {font-weight:600;font-size:14px;margin:2px 0}
.fg-sum {color:var(--fg-dim);margin:0 0 2px}
.fg-title {margin:12px 0 2px;color:var(--fg-dim)}
table.fg-prof {border-collapse:collapse;border:0;margin:0;background:none;color:inherit;font:inherit}
table.fg-prof tr {background:none;border:0}
table.fg-prof th {font-weight:400;color:var(--fg-dim);text-align:right;padding:1px 8px;border:0}
table.fg-prof th {background:none}
table.fg-prof th.fg-left, table.fg-prof td.fg-left {text-align:left}
table.fg-prof td {padding:1px 8px;border:0;text-align:right;white-space:nowrap;color:inherit}
table.fg-prof td.fg-title {text-align:left;color:var(--fg-dim);padding:10px 8px 2px}
table.fg-prof td.fg-num {font-variant-numeric:tabular-nums}
table.fg-prof td.fg-none {color:var(--fg-dim)}
table.fg-prof td.fg-text {text-align:left;white-space:pre;font-family:ui-monospace,monospace;width:100%}
table.fg-prof td.fg-line {color:var(--fg-dim);border-right:1px solid var(--fg-faint)}
table.fg-prof tr.fg-row:hover td {background:var(--fg-raised)}
table.fg-prof td.fg-what {max-width:36em;overflow:hidden;text-overflow:ellipsis}
.fg-bar {display:flex;width:9em;height:0.8em;background:var(--fg-raised);border-radius:2px;overflow:hidden}
.fg-bar span {height:100%}
.fg-fw {background:var(--fg-forward)}
.fg-bw {background:var(--fg-backward)}
.fg-dim {color:var(--fg-dim)}
.fg-legend span.fg-key {display:inline-block;width:0.8em;height:0.8em;border-radius:2px}
.fg-legend span.fg-key {margin:0 4px 0 12px;vertical-align:-1px}
.fg-op {font-weight:600}
details.fg-all {margin-top:12px}
details.fg-all > summary {cursor:pointer;color:var(--fg-dim)}
"""


def profile_html(profile: Profile) -> Markup:
    """The profile as a page: the user's lines in heat colours, then every row."""
    total = profile.measured_seconds or 1.0
    parts = [
        tag("style", Markup(f"{variables()}\n{scoped(PROFILE_CSS, KIND)}\n{scoped(SOURCE_CSS)}")),
        tag("div", headline(profile), class_="fg-head"),
        *[tag("div", line, class_="fg-sum") for line in summary(profile)],
        legend(),
    ]
    parts.append(tag("table", joined(listing_rows(function_lines(profile), total)), class_="fg-prof"))
    others = sum(found.seconds for found in profile.by_line() if not found.line)
    if others > NEGLIGIBLE * total:
        parts.append(tag("div", f"{percent(others / total)} belongs to no line of yours", class_="fg-title"))
    parts.append(all_rows(profile, total))
    parts += [tag("div", note, class_="fg-sum") for note in notes(profile) if note]
    return tag("div", joined(parts), class_=f"{ROOT} {KIND}")


def legend() -> Markup:
    """Which colour is which."""
    keys = [
        joined([tag("span", class_=f"fg-key {name}"), words])
        for name, words in (("fg-fw", "forward"), ("fg-bw", "backward"))
    ]
    return tag("div", joined(keys), class_="fg-legend fg-dim")


def listing_rows(functions: Sequence[FunctionLines], total: float) -> Iterator[Markup]:
    """The lines of all functions, each below its name."""
    for function in functions:
        yield tag("tr", tag("td", function.title, class_="fg-title", colspan="5"))
        yield from [listing_row(shown, total) for shown in function.lines]


def listing_row(shown: Shown, total: float) -> Markup:
    """A line of the user's: its share, its time, a bar, its number and its text."""
    found = shown.found
    text = highlighted(shown.text) if shown.line else Markup("⋮")
    share = found.seconds / total if found is not None else 0.0
    cells = [
        tag("td", percent(share) if found is not None else EMPTY, class_="fg-num"),
        tag("td", time_words(found.seconds) if found is not None else EMPTY, class_="fg-num"),
        tag("td", stacked(found.forward / total, found.backward / total) if found is not None else EMPTY),
        tag("td", line_number(shown), class_="fg-line"),
        tag("td", text, class_="fg-text"),
    ]
    return tag("tr", joined(cells), class_="fg-row", style=heat(share), title=line_title(found))


def line_number(shown: Shown) -> str:
    """The number of a line, with a star where a loop computes it together with others."""
    fused = shown.found is not None and shown.found.fused
    return f"{shown.line}{'*' if fused else ''}" if shown.line else ""


def heat(share: float) -> str | None:
    """The background of a line: the more time it takes, the warmer."""
    if share < 0.005:
        return None
    strength = round(6 + 34 * share**0.7)
    return f"background:color-mix(in srgb, var(--fg-heat) {strength}%, transparent)"


def stacked(forward: float, backward: float) -> Markup:
    """A bar of two colours."""
    parts = [
        tag("span", class_=name, style=f"width:{100.0 * part:.1f}%")
        for name, part in (("fg-fw", forward), ("fg-bw", backward))
        if part > 0
    ]
    return tag("div", joined(parts), class_="fg-bar")


def line_title(found: Anything) -> str | None:
    """What a line consists of, for hovering."""
    if found is None:
        return None
    times = [f"forward {time_words(found.forward)}", f"backward {time_words(found.backward)}"]
    rows = sorted(found.rows, key=lambda row: -row.seconds)[:8]
    parts = [f"{time_words(row.seconds)}  {row.name} {row.detail}".rstrip() for row in rows]
    return "\n".join([", ".join(times), *parts])


def all_rows(profile: Profile, total: float) -> Markup:
    """Every row, folded where there are many."""
    names = ("share", "time", "", "runs", "what", "line", "flop/s", "B/s")
    head = [tag("th", name, class_="fg-left" if name in ("what", "line") else None) for name in names]
    rows = [tag("tr", joined(head)), *[row_markup(row, total) for row in profile.rows]]
    return tag(
        "details",
        tag("summary", f"{counted(profile)}, as they run"),
        tag("table", joined(rows), class_="fg-prof"),
        class_="fg-all",
        open="" if len(profile.rows) <= OPEN_UP_TO else None,
    )


def row_markup(row: Row, total: float) -> Markup:
    """A row of the table."""
    share = row.seconds / total
    what = [tag("span", row.name, class_="fg-op"), tag("span", f" {row.detail}", class_="fg-dim")]
    cells = [
        tag("td", percent(share), class_="fg-num"),
        tag("td", time_words(row.seconds), class_="fg-num", title=f"best {time_words(row.best)}"),
        tag("td", stacked(share * (1.0 - row.backward), share * row.backward)),
        tag("td", "" if row.runs == 1 else f"{row.runs:g}", class_="fg-num fg-none"),
        tag(
            "td",
            joined(what),
            class_="fg-left fg-what",
            title=f"{row.name} {row.detail}",
            style=f"padding-left:{8 + 16 * row.depth}px",
        ),
        tag("td", row_place(row), class_="fg-left fg-none", title=source_title(row.source)),
        *[tag("td", words, class_="fg-num fg-none") for words in rates(row)],
    ]
    return tag("tr", joined(cells), class_="fg-row")


def rates(row: Row) -> Sequence[str]:
    """Operations and bytes a second."""
    return [rate_words(row.flops, row.seconds, "flop"), rate_words(row.bytes_moved, row.seconds, "B")]
