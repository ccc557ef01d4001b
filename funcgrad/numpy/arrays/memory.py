"""How the elements of traced arrays lie in memory, as they would in NumPy's arrays.

Whether `ravel` and `reshape` give a view or a copy depends on it, and with that what a later write reaches.
Nobody records it: it is worked out of the recorded operations when somebody writes, and remembered. The
results of operations whose order is not known here are neither taken for views nor for copies: what was read
before a write is refused after it, by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.movement import Flip
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import Broadcast, Cast, Permute, Reshape
from funcgrad.ops.elementwise.identity import StopGradient
from funcgrad.ops.families import Pointwise
from funcgrad.tracing.aliasing import Lens
from funcgrad.tracing.primitive import Primitive
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, Result, Tree

Picture = np.ndarray[Any, Any]
Layout = str | Picture
"""ROWS, UNKNOWN, or a picture, where it takes one to say."""

ROWS = "rows"
"""Without gaps, the last index changing fastest: how nearly everything lies."""
UNKNOWN = "unknown"

_LENSES = (Permute, Flip, Slice, Broadcast, Reshape)
"""Operations whose results NumPy gives as views."""
_ELEMENTWISE = (Pointwise, Cast, StopGradient)
"""Operations whose results NumPy lays out as their operands lie."""
_ROWS_OF_ROWS = frozenset(
    [
        *("dot_general", "strong_zero_dot", "gather", "concatenate", "stack", "sort", "argsort", "pad"),
        *("take_along_axis", "cumsum", "cumprod", "cummax", "cummin", "fft", "inv", "searchsorted"),
        *("argmax", "argmin", "log_softmax", "softmax", "logsumexp"),
        *[f"reduce_{name}" for name in ("sum", "prod", "max", "min", "fmax", "fmin", "any", "all")],
    ]
)
"""Operations whose results lie in rows if all of their operands do."""
IN_ROWS = frozenset(["dot"])
"""NumPy's functions, recorded as several operations, whose results lie in rows."""
LIKE_OPERANDS = frozenset(
    [
        *("repeat", "pad", "insert", "delete", "take", "compress", "tile", "resize", "gradient", "select"),
        *("roll", "kron", "isreal", "vecdot", "outer", "append", "choose", "concatenate"),
    ]
)
"""NumPy's functions, recorded as several operations, whose results lie in rows if what they get does."""
IN_THEIR_OWN_WAY = frozenset(["einsum", "cross", "matrix_power", "histogram2d", "histogramdd", "multi_dot"])
"""NumPy's functions, recorded as several operations, whose results lie as it happens."""


def lie_as(x: Tracer, layout: Layout) -> Tracer:
    """`x`, of which it is known now how it lies; it must be the result of an operation of its own."""
    if x.aval.ndim:
        x._recorder.lies[x._index] = layout
    return x


def laid_out_by(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in for a function of NumPy's, with results that lie as NumPy's would."""
    if name not in IN_ROWS | LIKE_OPERANDS | IN_THEIR_OWN_WAY:
        return ours

    @wraps(ours)
    def laying(*args: Tree, **kwargs: Tree) -> Result:
        found = ours(*args, **kwargs)
        if type(found) is Tracer:
            return as_laid_out(name, found, args) if found.aval.ndim > 1 else found
        if type(found) in (tuple, list):
            return type(found)([as_laid_out(name, x, args) for x in found])
        return found

    return laying


def as_laid_out(name: str, made: Array, args: Sequence[Any]) -> Array:
    """A result that lies as NumPy's function lays it out, which is not known of all."""
    parts = [x for arg in args for x in (arg if type(arg) in (tuple, list) else (arg,))]
    if type(made) is not Tracer or made.aval.ndim < 2 or made._alias is not None:
        return made
    if any(made is x for x in parts):
        return made
    rows = name in IN_ROWS or (name in LIKE_OPERANDS and all(map(is_in_rows, parts)))
    wanted = ROWS if rows else UNKNOWN
    if layout_at(made._recorder, made._index) is wanted:
        return made
    return lie_as(distinct(made), wanted)


def is_in_rows(x: object) -> bool:
    """Whether an argument, if it is an array, lies in rows."""
    if type(x) is Tracer:
        return x.aval.ndim < 2 or layout_of(x) is ROWS
    return not isinstance(x, np.ndarray) or x.flags.c_contiguous


def distinct(x: Tracer) -> Tracer:
    """`x` as the result of an operation of its own: two arrays of one value may lie differently."""
    made: Tracer = Reshape(x.aval.shape).bind(x)
    return made


@lru_cache(maxsize=256)
def pictured(shape: Shape, strides: tuple[int, ...] | None = None) -> Picture:
    """An array of one byte that is made to look as if it lay in some way, and is never read."""
    if strides is None:
        strides = tuple([math.prod(shape[k + 1 :]) for k in range(len(shape))])
    return np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), shape, strides)


def summarised(picture: Picture) -> Layout:
    """The picture, or in one word that it shows rows."""
    return ROWS if picture.flags.c_contiguous else pictured(picture.shape, picture.strides)


def picture_of(layout: Layout, shape: Shape) -> Picture:
    """What a known layout looks like."""
    return pictured(shape) if isinstance(layout, str) else layout


# -- of what has been recorded ----------------------------------------------------------------------------


def layout_at(recorder: Recorder, index: int) -> Layout:
    """How the value at an index of a trace lies: ROWS, UNKNOWN, or a picture."""
    known: Layout | tuple[Recorder, int] | None = recorder.lies.get(index)
    if known is not None and not isinstance(known, tuple):
        return known
    waiting: list[tuple[Recorder, int]] = [(recorder, index)]
    begun: set[tuple[int, int]] = set()
    while waiting:
        here, i = waiting[-1]
        found = here.lies.get(i)
        if found is not None and type(found) is not tuple:
            waiting.pop()
            continue
        needed = [found] if found is not None else operands_at(here, i)
        missing = [p for p in needed if type(p[0].lies.get(p[1])) in (tuple, type(None))]
        if missing and (id(here), i) not in begun:
            begun.add((id(here), i))
            waiting += missing
            continue
        waiting.pop()
        if missing:  # what is to be found by itself
            here.lies[i] = UNKNOWN
        elif found is not None:
            there = found[0].lies[found[1]]
            # An example of a batch has an axis less than what it is an example of.
            same = isinstance(there, str) or there.ndim == here.avals[i].ndim
            here.lies[i] = there if same else UNKNOWN
        else:
            here.lies[i] = by_operation(here, i, [p[0].lies[p[1]] for p in needed])
    layout: Layout = recorder.lies[index]
    return layout


def is_flat(aval: Aval) -> bool:
    """Whether there is one way only to lie without gaps."""
    return not aval.size or sum([n > 1 for n in aval.shape]) < 2


def operands_at(recorder: Recorder, index: int) -> list[tuple[Recorder, int]]:
    """The values of which it has to be known how they lie, to know it of the one at an index."""
    step = recorder.steps[index]
    if type(step) is Aval:
        value = recorder.values.get(index)
        return [(value._recorder, value._index)] if type(value) is Tracer else []
    if type(step) is int or not recorder.avals[index].ndim:
        return []
    if type(step[0]) not in _LENSES and is_flat(recorder.avals[index]):
        return []
    return [(recorder, i) for i in step[1:] if recorder.avals[i].ndim]


def by_operation(recorder: Recorder, index: int, layouts: Sequence[Layout]) -> Layout:
    """How the result of an operation lies, if its operands lie as they are said to."""
    step, aval = recorder.steps[index], recorder.avals[index]
    if type(step) is Aval:
        return layouts[0] if layouts else of_value(recorder, index)
    primitive = None if type(step) is int else step[0]
    if isinstance(primitive, _LENSES):
        return through(primitive, layouts[0] if layouts else ROWS, recorder.avals[step[1]].shape)
    if is_flat(aval) or (aval.ndim == 2 and primitive and primitive.name == "dot_general"):
        return ROWS  # a product of two matrices lies in rows, however they do
    rows = all(isinstance(x, str) and x is ROWS for x in layouts)
    if rows or UNKNOWN in [x for x in layouts if isinstance(x, str)]:
        in_rows = isinstance(primitive, _ELEMENTWISE) or (primitive and primitive.name in _ROWS_OF_ROWS)
        return ROWS if rows and in_rows else UNKNOWN
    if isinstance(primitive, _ELEMENTWISE):
        shapes = [recorder.avals[i].shape for i in step[1:] if recorder.avals[i].ndim]
        return combined([picture_of(x, shape) for x, shape in zip(layouts, shapes, strict=True)])
    return UNKNOWN


def of_value(recorder: Recorder, index: int) -> Layout:
    """How an input or a captured array lies; in rows where nothing but its type is known."""
    value = recorder.values.get(index)
    if type(value) is not np.ndarray or value.flags.c_contiguous:
        return ROWS
    size = value.dtype.itemsize
    if any(step % size for step in value.strides):
        return UNKNOWN
    return pictured(value.shape, tuple([step // size for step in value.strides]))


def through(lens: Primitive, layout: Layout, shape: Shape) -> Layout:
    """How the part lies that a lens reads out of an array."""
    if layout is UNKNOWN or 0 in shape:
        return layout
    if isinstance(lens, Reshape):
        seen = can_see(layout, shape, lens.shape)
        return summarised(np.reshape(picture_of(layout, shape), lens.shape, copy=False)) if seen else ROWS
    return through_lens(lens, shape, None if isinstance(layout, str) else layout.strides)


@lru_cache(maxsize=256)
def through_lens(lens: Primitive, shape: Shape, strides: tuple[int, ...] | None) -> Layout:
    """How the part lies that a lens reads out of an array with these strides, in rows for None."""
    return summarised(lens.evaluate(pictured(shape, strides)))


def combined(pictures: Sequence[Picture]) -> Layout:
    """How NumPy lays out the result of an operation on elements."""
    return combined_strides(tuple([(x.shape, x.strides) for x in pictures]))


@lru_cache(maxsize=256)
def combined_strides(operands: tuple[tuple[Shape, tuple[int, ...]], ...]) -> Layout:
    """The same, of the operands' shapes and strides: NumPy's iterator makes a result, and says."""
    pictures = [pictured(*operand) for operand in operands]
    flags: Any = [*[["readonly"]] * len(pictures), ["writeonly", "allocate"]]
    with np.nditer(
        [*pictures, None],
        flags=["zerosize_ok"],
        op_flags=flags,
        op_dtypes=[np.dtype(np.int8)] * (len(pictures) + 1),
    ) as iterator:
        return summarised(iterator.operands[-1])


# -- of tracers, which may be views -----------------------------------------------------------------------


def layout_of(x: Tracer) -> Layout:
    """How the elements of an array lie, as far as it is a view in the chain of arrays that it is one of."""
    lenses: list[Any] = []
    base = x
    while base._alias is not None and base._alias.base is not None:
        lenses.append((base._alias.lens, base._alias.base.aval.shape, base._alias.shares is None))
        base = base._alias.base
    if not x.aval.size:
        return ROWS
    # By its last index, even where it is to be read again: how it lies does not change with that.
    found = layout_at(base._recorder, base._index)
    for lens, shape, is_view in reversed(lenses):
        if found is UNKNOWN:
            break
        if is_view and type(lens) is Reshape and not can_see(found, shape, lens.shape):
            return UNKNOWN
        found = seen_by(lens, found, shape)
    return found


def seen_by(lens: Lens, layout: Layout, shape: Shape) -> Layout:
    """As `through`, for any lens."""
    if isinstance(lens, _LENSES):
        return through(lens, layout, shape)
    evaluate = getattr(lens, "evaluate", None)
    return UNKNOWN if evaluate is None else summarised(evaluate(picture_of(layout, shape)))


def lie_like(x: Tracer, other: Array | None) -> None:
    """Have `x` lie as another array does, traced or not; nobody knows how, for None."""
    if other is None:
        lie_as(x, UNKNOWN)
    elif type(other) is Tracer:
        lie_as(x, layout_of(other))
    else:
        lie_as(x, ROWS if other.flags.c_contiguous else UNKNOWN)


def lie_alike(x: Tracer, other: Array) -> bool:
    """Whether two arrays lie in the same way, or nobody knows how the first does."""
    first = layout_of(x)
    if first is UNKNOWN or type(other) is not Tracer:
        return first is UNKNOWN or first is ROWS
    second = layout_of(other)
    if isinstance(first, str) or isinstance(second, str):
        return first is second
    return first.shape == second.shape and first.strides == second.strides


INSIDE.lie_like = lie_like
INSIDE.lie_alike = lie_alike


def lies_flat(x: Tracer, order: str) -> bool | None:
    """Whether an array lies without gaps in rows (C) or in columns (F); None where that is not known."""
    found = layout_of(x)
    if found is UNKNOWN:
        return None
    if isinstance(found, str):
        return order == "C" or is_flat(x.aval)
    return bool(found.flags.c_contiguous if order == "C" else found.flags.f_contiguous)


def sees_as(part: Tracer) -> bool | None:
    """Whether NumPy could see the elements of the base in the shape of the part without a copy."""
    base = part._alias.base if part._alias is not None else None
    assert base is not None, "a part of something"
    found = layout_of(base)
    return None if found is UNKNOWN else can_see(found, base.aval.shape, part.aval.shape)


def can_see(layout: Layout, before: Shape, shape: Shape) -> bool:
    """Whether what lies in a known way can be seen in another shape without a copy."""
    if isinstance(layout, str) or 0 in before:
        return True
    try:
        np.reshape(layout, shape, copy=False)
    except ValueError:
        return False
    return True


def sees_flat(part: Tracer) -> bool | None:
    """As `sees_as`, of what is a copy as well where elements do not follow each other without gaps."""
    found = sees_as(part)
    return found and lies_flat(part, "C")
