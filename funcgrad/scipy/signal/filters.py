"""Linear filters: recursions along an axis, their states, and filtering forwards and backwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.movement import flip
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.signal.all_pole import AllPole
from funcgrad.ops.signal.windowed_sums import WindowedSums
from funcgrad.scipy.originals import at_hand, known_value
from funcgrad.scipy.signal.arguments import back, last, scipys, traced_signals
from funcgrad.source import Source, user_location
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays

__all__ = ["filtfilt", "lfilter", "lfilter_zi", "lfiltic", "sosfilt", "sosfilt_zi", "sosfiltfilt"]


def lfilter(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis: int = -1, zi: ArrayLike = None) -> Arrays:
    """A signal filtered by ``b(z) / a(z)``; with the state `zi` before it, also the state behind it.

    >>> slope = fg.grad(lambda a: fg.scipy.signal.lfilter([1.0], [1.0, a], np.ones(3)).sum())(-0.5)
    >>> print(slope)
    -3.0
    """
    operands = traced_signals(b, stacked(a), x, zi)
    if operands is None:
        return scipys("lfilter")(b, a, x, axis, zi)
    b, a, x, zi = operands
    b, a = fnp.atleast_1d(b), fnp.atleast_1d(a)
    if len(shape_of(a)) != 1 or not shape_of(a)[0]:
        raise ValueError(f"Parameter a is not a non-empty 1d array, since a.shape={shape_of(a)}!")
    first = known_value(a[0])
    if first is not None and first == 0.0:
        raise ValueError("the first coefficient of a, by which all are divided, is zero")
    x = last(x, axis)
    if zi is not None:
        zi = last(zi, axis)
        delays = max(shape_of(b)[0], shape_of(a)[0]) - 1
        if len(shape_of(zi)) != len(shape_of(x)) or shape_of(zi)[-1] != delays:
            raise ValueError(f"Unexpected shape for zi: expected {(delays,)}, found {shape_of(zi)}.")
    y, state = filtered(b, a, x, zi)
    return back(y, axis) if zi is None else (back(y, axis), back(state, axis))


def stacked(a: ArrayLike) -> Array:
    """A list of numbers and tracers as one array."""
    return fnp.stack([fnp.asarray(v) for v in a]) if holds_tracer(a) else a


def holds_tracer(a: object) -> bool:
    """Whether a list holds a tracer."""
    return isinstance(a, list | tuple) and any(isinstance(v, Tracer) for v in a)


def filtered(b: ArrayLike, a: ArrayLike, x: ArrayLike, zi: ArrayLike) -> tuple[Any, Any]:
    """The signal filtered along its last axis, and the state behind it where there is one before it.

    A state adds to the first sums of the half that is no recursion; the state behind is what those sums,
    continued beyond the end, and the recursion from the last results would make of silence.
    """
    first = a[0]
    if isinstance(first, Tracer) or first != 1:
        b, a = b / first, a / first
    n = shape_of(x)[-1]
    delays = 0 if zi is None else shape_of(zi)[-1]
    summed = weighted(b, x, delays)
    if zi is not None:
        outer = np.broadcast_shapes(shape_of(zi)[:-1], shape_of(x)[:-1])
        rest = n + delays - min(delays, n + delays)
        zeros = np.zeros((*outer, rest), aval(zi).dtype)
        summed = summed + fnp.concatenate([fnp.broadcast_to(zi, (*outer, delays)), zeros], -1)
    poles = a[1:]
    y = AllPole(False).bind(poles, summed[..., :n]) if shape_of(poles)[0] else summed[..., :n]
    if zi is None:
        return y, None
    state = summed[..., n:]
    order = shape_of(poles)[0]
    before = fnp.concatenate([np.zeros((*shape_of(y)[:-1], order), aval(y).dtype), y], -1)
    moved = []
    for k in range(delays):
        total = state[..., k]
        for j in range(k + 1, order + 1):
            total = total - poles[j - 1] * before[..., order + n + k - j]
        moved.append(total)
    return y, fnp.stack(moved, -1) if moved else state


def weighted(b: ArrayLike, x: ArrayLike, beyond: int) -> Array:
    """``b[0] x[t] + b[1] x[t-1] + ...``, also for so many times beyond the end."""
    taps, shape = shape_of(b)[0], shape_of(x)
    if not beyond and taps == 1:
        return b[0] * x
    if not shape[-1] + beyond:
        return x
    axis = len(shape) - 1
    sums = WindowedSums(axis)
    return sums.bind(sums.widened(x, taps - 1, beyond), flip(b, (0,)))


def lfilter_zi(b: ArrayLike, a: ArrayLike) -> Array:
    """The state in which a filter of a constant 1 stays.

    >>> print(fg.jit(fg.scipy.signal.lfilter_zi)(np.array([1.0]), np.array([1.0, -0.5])))
    [1.]
    """
    operands = traced_signals(b, stacked(a))
    if operands is None:
        return scipys("lfilter_zi")(b, a)
    b, a = [fnp.atleast_1d(v) for v in operands]
    b, a = b / a[0], a / a[0]
    n = max(shape_of(a)[0], shape_of(b)[0])
    a, b = [fnp.concatenate([v, np.zeros(n - shape_of(v)[0], aval(v).dtype)]) for v in (a, b)]
    # The companion matrix, transposed, of which 1 is subtracted.
    dtype = aval(a).dtype
    shifts = np.eye(n - 1, dtype=dtype) - np.eye(n - 1, k=1, dtype=dtype)
    first = np.zeros(n - 1, dtype)
    first[:1] = 1.0
    return fnp.linalg.solve(shifts + a[1:, None] * first, b[1:] - a[1:] * b[0])


def lfiltic(b: ArrayLike, a: ArrayLike, y: ArrayLike, x: ArrayLike = None) -> Array:
    """The state of a filter whose last results were `y` and whose last input was `x`, the latest first.

    >>> print(fg.jit(lambda y: fg.scipy.signal.lfiltic([1.0], [1.0, -0.5], y))(np.array([2.0])))
    [1.]
    """
    operands = traced_signals(b, stacked(a), y, x)
    if operands is None:
        return scipys("lfiltic")(b, a, y, x)
    b, a, y, x = operands
    b, a, y = fnp.atleast_1d(b), fnp.atleast_1d(a), fnp.atleast_1d(y)
    n, m = shape_of(a)[0] - 1, shape_of(b)[0] - 1
    dtype = aval(y).dtype
    y = fnp.concatenate([y, np.zeros(max(n - shape_of(y)[0], 0), dtype)])
    x = np.zeros(m, dtype) if x is None else fnp.concatenate([x, np.zeros(max(m - shape_of(x)[0], 0), dtype)])
    state = []
    for k in range(max(m, n)):
        total: Any = 0.0
        total = total + fnp.sum(b[k + 1 :] * x[: m - k]) if k < m else total
        total = total - fnp.sum(a[k + 1 :] * y[: n - k]) if k < n else total
        state.append(total / a[0])
    return fnp.stack(state) if state else np.zeros(0, dtype)


def filtfilt(
    b: ArrayLike,
    a: ArrayLike,
    x: ArrayLike,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Array:
    """A signal filtered forwards and backwards, so that nothing is delayed.

    >>> b, a = fg.scipy.signal.butter(2, 0.3)
    >>> x = np.sin(np.arange(20.0))
    >>> print(fg.grad(lambda x: fg.scipy.signal.filtfilt(b, a, x)[10])(x).round(3)[9:12])
    [0.248 0.313 0.248]
    """
    operands = traced_signals(b, stacked(a), x)
    if operands is None:
        return scipys("filtfilt")(b, a, x, axis, padtype, padlen, method, irlen)
    if method != "pad":
        if method != "gust":
            raise ValueError(f"filtfilt: method={method!r} is neither 'pad' nor 'gust'")
        raise unsupported(f"filtfilt with method={method!r}", 'Use method="pad".')
    b, a, x = operands
    b, a, x = fnp.atleast_1d(b), fnp.atleast_1d(a), last(x, axis)
    edge, extended = padded(padtype, padlen, x, max(shape_of(a)[0], shape_of(b)[0]))
    zi = lfilter_zi(b, a)
    y, _ = filtered(b, a, extended, zi * extended[..., :1])
    y, _ = filtered(b, a, y[..., ::-1], zi * y[..., -1:])
    return back(y[..., ::-1][..., edge : shape_of(y)[-1] - edge], axis)


def padded(padtype: str | None, padlen: int | None, x: ArrayLike, taps: int) -> tuple[int, Any]:
    """How far a signal is continued at its ends, and the signal continued."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None."
        )
    edge = 0 if padtype is None else taps * 3 if padlen is None else padlen
    if shape_of(x)[-1] <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    return edge, extension(x, edge, padtype)


def extension(x: ArrayLike, edge: int, kind: str | None) -> Array:
    """A signal continued by so many samples at both ends."""
    if kind is None or edge == 0:
        return x
    n = shape_of(x)[-1]
    first, final = x[..., :1], x[..., n - 1 :]
    if kind == "zeros":
        ends = [np.zeros((*shape_of(x)[:-1], edge), aval(x).dtype)] * 2
    elif kind == "constant":
        ends = [fnp.broadcast_to(v, (*shape_of(x)[:-1], edge)) for v in (first, final)]
    else:
        left, right = x[..., edge:0:-1], x[..., n - 2 : None if n - 2 - edge < 0 else n - 2 - edge : -1]
        ends = [left, right] if kind == "even" else [2.0 * first - left, 2.0 * final - right]
    return fnp.concatenate([ends[0], x, ends[1]], -1)


def sosfilt(sos: ArrayLike, x: ArrayLike, axis: int = -1, zi: ArrayLike = None) -> Arrays:
    """A signal filtered by sections of second order, one after the other.

    >>> sos = fg.scipy.signal.butter(2, 0.3, output="sos")
    >>> print(fg.grad(lambda x: fg.scipy.signal.sosfilt(sos, x)[2])(np.ones(3)).round(3))
    [0.365 0.36  0.131]
    """
    operands = traced_signals(sos, x, zi)
    if operands is None:
        return scipys("sosfilt")(sos, x, axis, zi)
    sos, x, zi = operands
    x = last(x, axis)
    if zi is not None:
        wanted = (shape_of(sos)[0], *shape_of(x)[:-1], 2)
        zi = np.moveaxis(zi, axis if axis < 0 else axis + 1, -1) if len(shape_of(zi)) == len(wanted) else zi
        if shape_of(zi) != wanted:
            raise ValueError(
                f"Invalid zi shape. With axis={axis} last, zi has the shape {wanted}, not {shape_of(zi)}."
            )
    parts = sections(sos)
    known = at_hand(sos)
    if known is not None and not np.all(known[:, 3] == 1):
        raise ValueError("sos[:, 3] should be all ones")
    y, states = in_sections(parts, x, zi)
    return (
        back(y, axis)
        if zi is None
        else (back(y, axis), np.moveaxis(states, -1, axis if axis < 0 else axis + 1))
    )


def sections(sos: ArrayLike) -> list[tuple[Any, Any]]:
    """Numerator and denominator of each section."""
    shape = shape_of(sos)
    if len(shape) != 2 or shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    return [(sos[k, :3], sos[k, 3:]) for k in range(shape[0])]


def in_sections(parts: list[tuple[Any, Any]], x: ArrayLike, zi: ArrayLike) -> tuple[Any, Any]:
    """The signal behind all sections, and their states."""
    states = []
    for k, (b, a) in enumerate(parts):
        x, state = filtered(b, a, x, None if zi is None else zi[k])
        states.append(state)
    return x, None if zi is None else fnp.stack(states)


def sosfilt_zi(sos: ArrayLike) -> Array:
    """The states in which sections fed with a constant 1 stay.

    >>> fg.scipy.signal.sosfilt_zi(fg.scipy.signal.butter(2, 0.3, output="sos")).shape
    (1, 2)
    """
    operands = traced_signals(sos)
    if operands is None:
        return scipys("sosfilt_zi")(sos)
    scale: Any = 1.0
    found = []
    for b, a in sections(operands[0]):
        found.append(scale * lfilter_zi(b, a))
        scale = scale * (fnp.sum(b) / fnp.sum(a))
    return fnp.stack(found)


def sosfiltfilt(
    sos: ArrayLike, x: ArrayLike, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    """A signal filtered forwards and backwards by sections of second order.

    >>> sos = fg.scipy.signal.butter(2, 0.3, output="sos")
    >>> print(fg.grad(lambda x: fg.scipy.signal.sosfiltfilt(sos, x)[10])(np.ones(20)).round(3)[9:12])
    [0.248 0.313 0.248]
    """
    operands = traced_signals(sos, x)
    if operands is None:
        return scipys("sosfiltfilt")(sos, x, axis, padtype, padlen)
    sos, x = operands
    x = last(x, axis)
    parts = sections(sos)
    taps = 2 * len(parts) + 1
    if padlen is None and padtype is not None:
        known = known_value(sos)
        if known is None:
            raise unsupported(
                "sosfiltfilt by its sections under jit",
                "Give padlen=, which depends on how many of their coefficients are zero.",
            )
        taps -= min(int(np.sum(known[:, column] == 0)) for column in (2, 5))
    edge, extended = padded(padtype, padlen, x, taps)
    zi = fnp.reshape(sosfilt_zi(sos), (len(parts), *[1] * (len(shape_of(x)) - 1), 2))
    y, _ = in_sections(parts, extended, zi * extended[None, ..., :1])
    y, _ = in_sections(parts, y[..., ::-1], zi * y[None, ..., -1:])
    return back(y[..., ::-1][..., edge : shape_of(y)[-1] - edge], axis)


def unsupported(what: str, remedy: str) -> UnsupportedFunctionError:
    """The error for a way of calling that has no derivative here."""
    return UnsupportedFunctionError(
        f"scipy.signal.{what} is not supported on traced values",
        source=Source(*user_location()),
        remedy=remedy,
    )
