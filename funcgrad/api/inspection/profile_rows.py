"""From measured places to the rows of a `Profile`: what each is called, which lines it serves, its cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from funcgrad.api.calling.transformed import TransformedFunction
from funcgrad.api.inspection.profile_result import Profile, Row, Share
from funcgrad.api.jit import JittedFunction
from funcgrad.compile.measure.explain import parts_of
from funcgrad.compile.measure.timed_evaluation import timed_evaluation
from funcgrad.compile.measure.timed_kernels import timed_kernels
from funcgrad.compile.measure.timings import MOST, Timing, median_seconds
from funcgrad.compile.passes.scheduling.nests import Nest, Special, Store
from funcgrad.compile.passes.segments import Reason
from funcgrad.ir.presenters import presenter
from funcgrad.ir.program import Equation, Program
from funcgrad.source import Source

WITHOUT_COUNT = ("while_loop", "while_sweeps")
"""Steps whose trips, and hence operations, are known to nobody before they run."""

FEW = 20
"""Calls at most of a function whose Python runs each time."""


def of_equations(name: str, program: Program, values: Sequence[Any], seconds: float) -> Profile:
    """The profile of a Program that NumPy evaluates."""
    found = timed_evaluation(program, values, seconds)
    rows = with_places([equation_row(timing) for timing in found.timings])
    return Profile(name, False, rows, 0.0, found.run_seconds, found.runs, found.peak_bytes)


def of_kernels(name: str, program: Program, values: Sequence[Any], seconds: float) -> Profile:
    """The profile of a Program that is compiled."""
    found = timed_kernels(program, values, seconds)
    rows = [
        equation_row(timing) if part.kernel is None else step_row(timing, part.kernel.name)
        for part in found.parts
        for timing in part.timings
    ]
    reasons = tuple(dict.fromkeys([reason_words(reason) for reason in found.reasons]))
    return Profile(
        name, True, with_places(rows), 0.0, found.run_seconds, found.runs, found.peak_bytes, reasons
    )


def call_seconds(
    fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float
) -> float | None:
    """The median time of a call of a transformed function, as its user makes it; None where that may harm.

    A plain function might change its arguments, and a jitted one those that it is given to keep.
    """
    if not isinstance(fun, TransformedFunction):
        return None
    if isinstance(fun, JittedFunction):
        return None if fun._donated else median_seconds(lambda: fun(*args, **kwargs), seconds / 4, MOST)
    # The user's Python runs in each of them.
    return median_seconds(lambda: fun(*args, **kwargs), seconds / 4, FEW)


def with_places(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows; those without a place of their own serve that of the loop or the call around them."""
    found: list[Row] = []
    around: dict[int, Row] = {}
    for row in rows:
        outer = around.get(row.depth - 1)
        placed = row
        if outer is not None and outer.source is not None and row.source is None:
            placed = replace(row, shares=(Share(outer.source, 1.0),))
        around[row.depth] = placed
        found.append(placed)
    return tuple(found)


def reason_words(reason: Reason) -> str:
    """Why an equation is left to NumPy, and where it stands."""
    source = reason.equation.source
    return reason.words if source is None else f"{reason.words} ({source})"


# -- equations --------------------------------------------------------------------------------------------


def equation_row(timing: Timing) -> Row:
    """The row of an equation that NumPy evaluates."""
    equation: Equation = timing.place.subject
    cost = presenter("costs", "cost_of")(equation)
    known = cost.complete and not timing.place.inside
    types = [str(a.aval) for a in equation.inputs], [str(v.aval) for v in equation.outputs]
    return Row(
        equation.primitive.name,
        " -> ".join([", ".join(part) for part in types]),
        "",
        timing.depth,
        timing.seconds,
        timing.best,
        timing.runs,
        (Share(equation.source, 1.0),),
        cost.flops * timing.runs if known else None,
        cost.bytes_moved * timing.runs if known else None,
    )


# -- steps of kernels -------------------------------------------------------------------------------------


def step_row(timing: Timing, kernel: str) -> Row:
    """The row of a step of a kernel."""
    place = timing.place
    step = place.subject
    parts = parts_of(step)
    holds = bool(place.inside) or getattr(step, "kind", "") in WITHOUT_COUNT
    moved = sum(part.bytes_moved for part in parts)
    return Row(
        step.kind if isinstance(step, Special) else parts[0].kind,
        "" if isinstance(step, Special) else detail_of(step, parts),
        kernel,
        timing.depth,
        timing.seconds,
        timing.best,
        timing.runs,
        shares_of([step] if place.inside or not place.unmeasured else place.unmeasured, step),
        None if holds else step.flops * timing.runs,
        None if holds else moved * timing.runs,
    )


def detail_of(step: object, parts: Sequence[Any]) -> str:
    """What loops run over, and how much they do there."""
    shapes = [" x ".join(map(str, part.shape)) for part in parts if part.shape]
    over = f"over {', '.join(dict.fromkeys(shapes))}" if shapes else ""
    words = [f"{len(parts)} in one pass"] if len(parts) > 1 else []
    if hasattr(step, "private"):
        words.append("by threads")
    statements = sum(part.statements for part in parts)
    words.append(f"{statements} statement{'s' if statements != 1 else ''}")
    return ", ".join([each for each in (over, *words) if each])


def shares_of(steps: Iterable[Any], whole: object) -> tuple[Share, ...]:
    """The places that steps serve, by their estimated operations."""
    weights: dict[tuple[str, int, bool], float] = {}
    sources: dict[tuple[str, int, bool], Source] = {}
    for source, weight in served(steps):
        place = source.file, source.line, source.backward
        sources.setdefault(place, source)
        weights[place] = weights.get(place, 0.0) + weight
    total = sum(weights.values())
    if not total:
        return (Share(getattr(whole, "source", None), 1.0),)
    return tuple([Share(sources[place], weight / total) for place, weight in weights.items()])


def served(steps: Iterable[Any]) -> Iterable[tuple[Source, float]]:
    """Every place that steps compute something for, and roughly how many operations."""
    for step in steps:
        if isinstance(step, Special):
            if step.source is not None:
                yield step.source, max(step.flops, 1.0)
            continue
        for nest in [step] if isinstance(step, Nest) else step.nests:
            size = math.prod(nest.shape)
            for statement in nest.body:
                if statement.source is not None:
                    weight = 1 if isinstance(statement, Store) else max(getattr(statement, "weight", 1), 1)
                    yield statement.source, float(weight * max(size, 1))
