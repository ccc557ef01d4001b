"""Loops that show how far they are: `progress` around Python's, and `scan`, `fori_loop` and `while_loop`.

Bars are tqdm's, in a notebook its widgets. The loops of functions are cut into pieces, each one call of
compiled code, between which the bar moves; what they return is what `fg.scan` and the others return. A bar
shows what runs now: under an un-jitted `grad` that is the forward pass, piece by piece. Where there are no
values yet, as under `jit` and `vmap`, they are the plain loops and show nothing.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from funcgrad import tree
from funcgrad.api.control_flow import loops
from funcgrad.api.control_flow.control_types import as_operand
from funcgrad.api.jit import jit
from funcgrad.errors import MissingExtraError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, Foreign, Tree

__all__ = ["Progress", "fori_loop", "progress", "scan", "while_loop"]

Function = Callable[..., Any]
Report = Callable[[Any], Mapping[str, object]]
Item = TypeVar("Item")

PIECES, PIECES_OF_TRACES = 100, 20
"""Into how many pieces a loop is cut; fewer where each becomes an equation of a trace."""

PIECE_SECONDS = 0.1
"""How long a piece of a loop is to take whose trips nobody knows beforehand."""


def bar_class() -> Foreign:
    """The class of tqdm's bars, or MissingExtraError."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore] # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            "progress bars are drawn by tqdm, which is not installed",
            remedy="Install it with: pip install 'funcgrad[notebook]', or pip install tqdm.",
        ) from None
    return tqdm


class Progress(Generic[Item]):
    """An iterable that shows how far its loop is; made by `progress`."""

    def __init__(self, iterable: Iterable[Item], description: str, total: int | None) -> None:
        self._iterable = iterable
        self._make = bar_class()
        self._options = {"desc": description or None, "total": total}
        self._bar: Any = None
        self._said: dict[str, object] = {}
        self._due = 0.0

    def __iter__(self) -> Iterator[Item]:
        with self._make(self._iterable, **self._options) as bar:
            self._bar = bar
            try:
                # Over the iterable itself: a bar that is iterated closes before the last words.
                for item in self._iterable:
                    yield item
                    bar.update()
            finally:
                self._say()
                self._bar = None

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]

    def report(self, **values: object) -> None:
        """Show numbers beside the bar, such as ``loss=loss``; cheap enough for every step."""
        self._said.update(values)
        now = time.monotonic()
        if now >= self._due:
            self._due = now + PIECE_SECONDS
            self._say()

    def _say(self) -> None:
        if self._bar is not None and self._said:
            self._bar.set_postfix_str(postfix(self._said), refresh=False)


def postfix(values: Mapping[str, object]) -> str:
    """What a bar says of some numbers.

    >>> postfix({"loss": np.float64(0.123456), "kept": "all"})
    'loss=0.1235, kept=all'
    """
    return ", ".join([f"{name}={_short(value)}" for name, value in values.items()])


def _short(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return f"{value:.4g}"
    except (TypeError, ValueError):
        return str(value)


def progress(iterable: Iterable[Item], *, description: str = "", total: int | None = None) -> Progress[Item]:
    """`iterable`, with a bar that shows how far the loop over it is.

    `total` says how many there are, where the iterable has no length. ``report`` of the result shows numbers
    beside the bar. Raises MissingExtraError without tqdm.

    >>> steps = fg.loops.progress(range(3), description="fitting")
    >>> for step in steps:
    ...     steps.report(loss=1.0 / (1 + step))
    """
    return Progress(iterable, description, total)


def scan(
    f: Function,
    init: Tree,
    xs: Tree = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    progress: str = "",
    report: Report | None = None,
) -> Tree:
    """`fg.scan` with a bar named `progress`. ``report(carry)`` says what to show beside it, now and then.

    Raises as `fg.scan` does, and MissingExtraError without tqdm.

    >>> def halve(x, _):
    ...     return 0.5 * x, x
    >>> last, all_of_them = fg.loops.scan(halve, 1.0, length=4, progress="halving")
    >>> print(last, all_of_them)
    0.0625 [1.    0.5   0.25  0.125]
    """
    leaves, x_tree = tree.flatten(xs)
    avals = [aval_of_any(as_operand(x, "scan", "xs")) for x in leaves]
    trips = loops.common_length("scan", avals, x_tree, length)
    if not trips or not values_exist((init, leaves)):
        return loops.scan(f, init, xs, length, reverse)

    def piece(carry: Tree, rows: Tree, n: int) -> Tree:
        return loops.scan(f, carry, rows, n, reverse)

    piece.__name__ = getattr(f, "__name__", "scan")
    run = piece if active_recorder() is not None else jit(piece, static_argnums=2)
    carry, parts = init, []
    with Bar(progress, trips, report) as bar:
        for start, stop in pieces(trips, reverse):
            rows = tree.unflatten(x_tree, [_rows(x, start, stop) for x in leaves])
            carry, ys = run(carry, rows, stop - start)
            parts.append(evaluated(ys))
            bar.move(stop - start, evaluated(carry))
    if reverse:
        parts.reverse()
    return carry, tree.map(_joined, *parts)


def fori_loop(
    lower: int,
    upper: int,
    body_fun: Function,
    init_val: Tree,
    *,
    progress: str = "",
    report: Report | None = None,
) -> Array:
    """`fg.fori_loop` with a bar named `progress`. ``report(value)`` says what to show beside it.

    The bounds are integers that are known. Raises as `fg.fori_loop` does, and MissingExtraError without tqdm.

    >>> print(fg.loops.fori_loop(0, 5, lambda i, total: total + i, 0, progress="adding"))
    10
    """
    first = operator.index(lower)
    trips = max(operator.index(upper) - first, 0)

    def step(state: Tree, _: None) -> Tree:
        i, value = state
        return (i + 1, body_fun(i, value)), None

    step.__name__ = getattr(body_fun, "__name__", "body")
    said = None if report is None else _of_value(report)
    (_, out), _ = scan(step, (first, init_val), None, trips, progress=progress, report=said)
    return out


def while_loop(
    cond_fun: Function,
    body_fun: Function,
    init_val: Tree,
    *,
    progress: str = "",
    report: Report | None = None,
) -> Tree:
    """`fg.while_loop` with a count of its trips, named `progress`; ``report(value)`` is shown beside it.

    Raises as `fg.while_loop` does, and MissingExtraError without tqdm.

    >>> print(fg.loops.while_loop(lambda x: x < 100.0, lambda x: 2.0 * x, 1.0, progress="doubling"))
    128.0
    """
    if not values_exist(init_val):
        return loops.while_loop(cond_fun, body_fun, init_val)

    def piece(state: Tree, stop: Array) -> Tree:
        def goes_on(state: Tree) -> Array:
            going = cond_fun(state[1])
            is_boolean = aval_of_any(going).dtype.kind == "b"
            return going & (state[0] < stop) if is_boolean else going

        def step(state: Tree) -> Tree:
            return state[0] + 1, body_fun(state[1])

        step.__name__ = getattr(body_fun, "__name__", "body")
        return loops.while_loop(goes_on, step, state)

    piece.__name__ = getattr(body_fun, "__name__", "while_loop")
    run = piece if active_recorder() is not None else jit(piece)
    done, size, value = 0, 1, init_val
    with Bar(progress, None, None if report is None else report) as bar:
        while True:
            begin = time.monotonic()
            count, value = evaluated(run((np.int64(done), value), np.int64(done + size)))
            made = int(count) - done
            done += made
            bar.move(made, value)
            if made < size:
                return value
            if time.monotonic() - begin < PIECE_SECONDS:
                size *= 2


def _of_value(report: Report) -> Report:
    def report_value(state: Tree) -> Mapping[str, object]:
        return report(state[1])

    return report_value


class Bar:
    """A bar that is moved by hand, with what a function of the carry says beside it."""

    def __init__(self, description: str, total: int | None, report: Report | None) -> None:
        self._make = bar_class()
        self._options = {"desc": description or None, "total": total}
        self._report = report

    def __enter__(self) -> Bar:
        self._bar = self._make(**self._options)
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def move(self, trips: int, carry: Tree) -> None:
        """Show that so many more trips have been made."""
        if self._report is not None:
            self._bar.set_postfix_str(postfix(self._report(carry)), refresh=False)
        self._bar.update(trips)


def pieces(trips: int, reverse: bool) -> list[tuple[int, int]]:
    """Where the pieces of a loop begin and end, in the order in which they run.

    >>> pieces(5, True)
    [(4, 5), (3, 4), (2, 3), (1, 2), (0, 1)]
    """
    most = PIECES if active_recorder() is None else PIECES_OF_TRACES
    size = -(-trips // most)
    found = [(start, min(start + size, trips)) for start in range(0, trips, size)]
    return found[::-1] if reverse else found


def values_exist(arguments: Tree) -> bool:
    """Whether what is computed from these, in the trace that is open, has values."""
    if not all(x.has_value() for x in tree.leaves(arguments) if isinstance(x, Tracer)):
        return False
    recorder = active_recorder()
    return recorder is None or _inputs_have_values(recorder)


def _inputs_have_values(recorder: Recorder) -> bool:
    for index, step in enumerate(recorder.steps):
        if type(step) is Aval:
            value = recorder.values.get(index)
            if value is None or (isinstance(value, Tracer) and not value.has_value()):
                return False
    return True


def evaluated(result: Tree) -> Tree:
    """The result, computed now and not when it is first asked for."""
    for x in tree.leaves(result):
        if isinstance(x, Tracer):
            x.concrete()
    return result


def _rows(x: Array, start: int, stop: int) -> Array:
    rows: Any = x if isinstance(x, Tracer | np.ndarray) else np.asarray(x)
    return rows[start:stop]


def _joined(*parts: Array) -> Array:
    if any(isinstance(part, Tracer) for part in parts):
        return concatenate(parts, 0)
    return np.concatenate(parts)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
