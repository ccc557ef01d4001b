"""Builtin functions and operators of Python's where a traced value meets them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from sys import _getframe
from types import CodeType
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks import items
from funcgrad.api.python.blocks.branches import condition, recorded_choice
from funcgrad.api.python.blocks.cells import is_undecided
from funcgrad.api.python.blocks.numbered import ITERTOOLS
from funcgrad.api.python.blocks.recording import current_block, note_made
from funcgrad.api.python.changing import advanced
from funcgrad.api.python.elements import element_of
from funcgrad.api.python.guarded.decisions import note_comparison
from funcgrad.api.python.identity import shares_extreme
from funcgrad.api.python.sequences import COMPARISONS, holds_undecided, ordered
from funcgrad.errors import ConcretizationError, TracedBranchError
from funcgrad.ir.catalog import CATALOG
from funcgrad.ops.arrays.windows import has_traced_bounds, may_be_outside
from funcgrad.ops.elementwise.selection import where
from funcgrad.tracing.guarded import is_awaited, may_divide
from funcgrad.tracing.kinds import KINDS
from funcgrad.tracing.lists import FEW, asoperand, rows_of_one
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Arrays, Index, Number, Result

# -- truth -------------------------------------------------------------------------------------------------


def negated(x: object) -> Array:
    """``not x``, traced."""
    return CATALOG["logical_not"]().bind(condition(x))


def both(first: Array, other: Callable[[], Any]) -> Array:
    """``first and other()``, where the first is traced."""
    if is_truth(first) and is_plain(other):
        second = other()
        if is_truth(second):
            return CATALOG["logical_and"]().bind(condition(first), condition(second))
        return recorded_choice(first, other, constant(first), line_of(other))
    return recorded_choice(first, other, constant(first), line_of(other))


def either(first: Array, other: Callable[[], Any]) -> Array:
    """``first or other()``, where the first is traced."""
    if is_truth(first) and is_plain(other):
        second = other()
        if is_truth(second):
            return CATALOG["logical_or"]().bind(condition(first), condition(second))
    return recorded_choice(first, constant(first), other, line_of(other))


def constant(x: object) -> Callable[[], Any]:
    """A function that returns `x`."""

    def value() -> Anything:
        return x

    return value


def is_truth(x: object) -> bool:
    """Whether `x` is a boolean scalar."""
    return isinstance(x, bool | np.bool_) or (
        type(x) is Tracer and not x.aval.shape and x.aval.dtype.kind == "b"
    )


def is_plain(function: Callable[[], Any]) -> bool:
    """Whether an operand of ``and`` only compares numbers, so that it may be computed in any case."""
    held = [x.cell_contents for x in function.__closure__ or ()]
    cells = [x for x in held if callable(x)]
    cells += [f for x in held if isinstance(x, tuple | list) for f in x]
    codes = [x.__code__ for x in cells if hasattr(x, "__code__")]
    return not any(asks_for_more(code) for code in (function.__code__, *codes))


def asks_for_more(code: CodeType) -> bool:
    """Whether code of the user's calls something or reads an element."""
    names = {"function", "item"} & set(code.co_names)
    return bool(names) or any(asks_for_more(x) for x in code.co_consts if isinstance(x, CodeType))


def line_of(function: Callable[..., Any]) -> int:
    """The line that a function of ours stands for."""
    return function.__code__.co_firstlineno


def compared(name: str, first: object, second: object) -> Anything:
    """``first < second`` and its kin; ``in`` where something is traced."""
    if name in ("is_", "is_not"):
        check_identity(first, second)
    if name in COMPARISONS:
        found = ordered(name, first, second)
    else:
        found = contained(first, second)
        found = found if name == "in_" else negated(found) if is_undecided(found) else not found
    note_comparison(name, first, second, found)
    return found


def check_identity(first: Anything, second: Anything) -> None:
    """Raise where ``is`` would compare what only stands for the objects that it means."""
    traced = [x for x in (first, second) if is_undecided(x)]
    plain = any(x is True or x is False for x in (first, second))
    if (len(traced) == 1 and plain) or (len(traced) == 2 and current_block() is not None):
        raise TracedBranchError(
            f"`is` asks whether a traced {traced[0].aval} is a certain object, which a recording cannot tell",
            source=here(),
            remedy="Compare values with ==, or use the condition itself.",
        )


def contained(x: Anything, container: Anything) -> Array:
    """``x in container``"""
    if isinstance(container, list | tuple) and holds_undecided((x, *container)):
        found: Any = False
        for y in container:
            found = CATALOG["logical_or"]().bind(condition(ordered("eq", x, y)), found)
        return found
    if isinstance(container, Tracer) or (isinstance(container, np.ndarray) and is_undecided(x)):
        return np.any(x == container if isinstance(x, Tracer) else container == x)
    return x in container


def refuse_half_return() -> None:
    """Raise for a function that returns a value on some traced paths, and comes to its end on others."""
    raise TracedBranchError(
        "this function returns a value on one path and None on another, and what decides is traced",
        source=here(),
        remedy="End it with a return of the same type.",
    ).on_one_path()


# -- elements ------------------------------------------------------------------------------------------------


def is_traced_index(index: Index) -> bool:
    """Whether a traced value without a value of its own stands in an index."""
    if isinstance(index, tuple):
        return any(is_traced_index(x) for x in index)
    if isinstance(index, slice):
        return has_traced_bounds(index)
    return is_undecided(index)


def require_within(x: Anything, index: Index) -> None:
    """Raise IndexError for a traced index beyond the end of a list, where the user's code waits for it.

    Arrays that are indexed in traced code ask for themselves.
    """
    if not isinstance(x, list | tuple) or not is_undecided(index) or not may_be_outside(index, len(x)):
        return
    if is_awaited((IndexError,), _getframe(1)) and np.any(np.logical_or(index >= len(x), index < -len(x))):
        raise IndexError(f"index is out of bounds for a {type(x).__name__} of length {len(x)}")


def item_of(x: Anything, index: Index) -> Anything:
    """``x[index]`` with a traced index: of an array, or of a list of numbers or arrays of one type."""
    require_within(x, index)
    if isinstance(x, builtins.range):
        return items.spaced(x.start, x.step, index)
    if isinstance(x, np.ndarray):
        return element_of(x, index)
    return element_of(x, index) if isinstance(x, list | tuple) and not isinstance(index, slice) else x[index]


# -- functions -----------------------------------------------------------------------------------------------


def shortest(*args: object, **kwargs: object) -> Anything:
    """``min``"""
    return extreme(builtins.min, "lt", args, kwargs)


def longest(*args: object, **kwargs: object) -> Anything:
    """``max``"""
    return extreme(builtins.max, "gt", args, kwargs)


def extreme(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Anything:
    """``min`` and ``max``: the first of the extreme values, as in Python."""
    values = args
    if len(args) == 1:
        values = tuple(args[0])
        args = (values,)
    key = kwargs.get("key")
    members = [y for x in values for y in (x if isinstance(x, tuple) else (x,))]
    if not any(is_undecided(x) for x in members) and key is None:
        found = function(*args, **kwargs)
        for x in values:
            if x is not found:
                note_comparison("le" if name == "lt" else "ge", found, x, True)
        return found
    if not values:
        return function(*args, **kwargs)
    best = values[0]
    asked = best if key is None else key(best)
    for x in values[1:]:
        other = x if key is None else key(x)
        better = ordered(name, other, asked)
        if is_undecided(better):
            better = condition(better)
            best, asked = chosen_of(better, x, best), chosen_of(better, other, asked)
        elif better:
            best, asked = x, other
    return best


def chosen_of(test: object, x: object, y: object) -> Arrays:
    """``x`` or ``y``, numbers or tuples of them."""
    if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
        return tuple([chosen_of(test, one, other) for one, other in zip(x, y, strict=True)])
    found = where(test, x, y)
    shares_extreme(found, test, (x, y), here().line)
    return found


def total(iterable: Iterable[Any], start: ArrayLike = 0) -> Array:
    """``sum``; of a traced array it is NumPy's, along the first axis."""
    if type(iterable) is Tracer and iterable.aval.shape:
        summed = np.sum(iterable, axis=0)
        return summed if isinstance(start, int) and start == 0 else summed + start
    if type(iterable) is list and len(iterable) > FEW:
        rows = rows_of_one(iterable)
        if rows is not None:
            return np.sum(rows, axis=0) + start
    return builtins.sum(iterable, start)


def summed(
    function: object, add_up: Callable[[Any], Any], iterable: object, otherwise: Callable[[], Any]
) -> Result:
    """``sum(x for ... in iterable)``: by a loop, unless `sum` is somebody else's."""
    return add_up(iterable) if function is builtins.sum else otherwise()


def counted(
    function: object, count: Callable[[Any], Any], iterable: object, otherwise: Callable[[], Any]
) -> Result:
    """``len([x for ... in iterable if ...])``: by a loop, unless `len` is somebody else's."""
    return count(iterable) if function is builtins.len else otherwise()


def rounded_down(x: ArrayLike = 0, *args: object) -> Number:
    """``int``, towards zero."""
    if not is_undecided(x) or args:
        return builtins.int(x, *args)
    if x.aval.dtype.kind == "i":
        return x
    if x.aval.dtype.kind == "f" and is_awaited((OverflowError, ValueError), _getframe(1)):
        if np.isnan(x):
            raise ValueError("cannot convert float NaN to integer")
        if np.isinf(x):
            raise OverflowError("cannot convert float infinity to integer")
    return x.astype(np.int64) if x.aval.dtype.kind == "b" else np.trunc(x).astype(np.int64)


def as_float(x: ArrayLike = 0.0) -> Number:
    """``float``, which keeps what is traced."""
    if not is_undecided(x):
        return builtins.float(x)
    if is_awaited((ZeroDivisionError,), _getframe(1)) and may_divide(_getframe(1)):
        raise TracedBranchError(
            "float() makes a number of Python's, which raises ZeroDivisionError, and a handler waits for it",
            source=here(),
            remedy="Ask for what the handler is for: if x != 0.",
        )
    return x if x.aval.dtype == np.float64 else x.astype(np.float64)


def as_complex(real: ArrayLike = 0, imag: ArrayLike = None) -> Number:
    """``complex``, of a number or of two parts, which keeps what is traced."""
    if not is_undecided(real) and not is_undecided(imag):
        return builtins.complex(real) if imag is None else builtins.complex(real, imag)
    return real + (0j if imag is None else 1j * imag)


def as_text(*args: Anything, **kwargs: Anything) -> str:
    """``str``: a text for people to read, which whole numbers have none of, as they become parts of names."""
    if args and is_undecided(args[0]) and is_number(args[0]) and args[0].aval.dtype.kind in "iu":
        raise ConcretizationError(
            f"str() needs the value of a traced {args[0].aval}, and no value exists under jit",
            source=here(),
            remedy="Loop over a range that is short enough to be unrolled, or keep numbers.",
        )
    return builtins.str(*args, **kwargs)


def rounded(x: ArrayLike, ndigits: int | None = None) -> Number:
    """``round``, to even as Python and NumPy do."""
    if not is_undecided(x):
        return builtins.round(x, ndigits)
    if ndigits is not None:
        return np.round(x, ndigits)
    return x if x.aval.dtype.kind in "iu" else np.rint(x).astype(np.int64)


def in_order(iterable: Anything, **kwargs: Anything) -> list[Any]:
    """``sorted``, of traced numbers."""
    values = [*iterable] if not isinstance(iterable, Tracer) else iterable
    numbers = isinstance(values, Tracer) and len(values.aval.shape) == 1
    if not numbers and not any(is_undecided(x) for x in values):
        return note_made(builtins.sorted(values, **kwargs))
    if kwargs.get("key") is not None or not (numbers or all(is_number(x) for x in values)):
        return builtins.sorted(values, **kwargs)
    found = np.sort(asoperand(values))
    return note_made([*(found[::-1] if kwargs.get("reverse") else found)])


def is_number(x: object) -> bool:
    """Whether `x` is a number, traced or not."""
    return not x.aval.shape if isinstance(x, Tracer) else isinstance(x, float | int | np.number)


def truth(x: object = False) -> Number:
    """``bool``"""
    return condition(x) if is_undecided(x) else builtins.bool(x)


def every(iterable: Iterable[Any]) -> Array:
    """``all``"""
    if type(iterable) is Tracer:
        return np.all(iterable)
    found: Any = True
    for x in iterable:
        if is_undecided(x) or is_undecided(found):
            found = CATALOG["logical_and"]().bind(condition(x) if isinstance(x, Tracer) else bool(x), found)
        elif not x:
            return False
    return found


def some(iterable: Iterable[Any]) -> Array:
    """``any``"""
    if type(iterable) is Tracer:
        return np.any(iterable)
    found: Any = False
    for x in iterable:
        if is_undecided(x) or is_undecided(found):
            found = CATALOG["logical_or"]().bind(condition(x) if isinstance(x, Tracer) else bool(x), found)
        elif x:
            return True
    return found


def length_of(x: Anything) -> Number:
    """``len``, also of a range and of a part of an array whose lengths are traced."""
    if isinstance(x, items.TracedRange):
        return x.length()
    traced = getattr(type(x), "traced_length", None)
    return builtins.len(x) if traced is None else traced(x)


BUILTINS: dict[Any, Any] = {
    builtins.min: shortest,
    builtins.max: longest,
    builtins.sum: total,
    builtins.len: length_of,
    builtins.int: rounded_down,
    builtins.float: as_float,
    builtins.complex: as_complex,
    builtins.bool: truth,
    builtins.all: every,
    builtins.any: some,
    builtins.range: items.traced_range,
    builtins.zip: items.zipped,
    builtins.enumerate: items.enumerated,
    builtins.reversed: items.backwards,
    builtins.next: advanced,
    builtins.str: as_text,
    builtins.round: rounded,
    builtins.sorted: in_order,
    np.ndindex: items.positions,
    np.ndenumerate: items.elements,
    **ITERTOOLS,
    **KINDS,
}
"""What is called instead of a builtin."""
