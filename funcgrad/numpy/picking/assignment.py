"""Writing into tracers: ``y[index] = v``, in-place operators, and ``x.at[index]``.

Arrays are written by functional update: the tracer takes a new value, and so does every array that it is
a view of. A tracer of rank 0 that is no view is a scalar, and ``+=`` gives its name to a new one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, FuncgradError, ShapeError
from funcgrad.ir.avals import Shape
from funcgrad.later import Later
from funcgrad.numpy.arrays.memory import distinct
from funcgrad.numpy.dispatch import unsupported
from funcgrad.numpy.picking.indexing import getitem, has_traced_lengths, plan_of
from funcgrad.numpy.picking.plans import BasicPlan, Plan, basic_key, basic_plan
from funcgrad.numpy.picking.ragged import Ragged, write_part
from funcgrad.ops.arrays.structure import aval, broadcast_to, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg
from funcgrad.ops.elementwise.bivariate import pow as power_of
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.reducing.extremes import maximum, minimum
from funcgrad.source import user_location, user_stacklevel
from funcgrad.tracing.aliasing import assign, is_view
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Arrays, Index

# For `x.at[i]` with a mode.
modes = Later("funcgrad.numpy.picking.modes")

# -- y[index] = v ---------------------------------------------------------------------------------------


def setitem(x: Tracer, index: Index, value: ArrayLike) -> None:
    """``x[index] = value``; of repeated positions the last wins, as in NumPy."""
    try:
        if type(value) is Ragged:
            write_part(x, index, value)
            return
        value = converted(value, x.aval.dtype)
        key = (index,) if type(index) is int else basic_key(index)
        if key is None:
            if has_traced_lengths(x.aval.shape, index):
                write_part(x, index, value)
                return
            mask = lone_mask(x, index)
            if mask is not None and len(shape_of(value)) <= x.aval.ndim - mask.ndim:
                assign(x, as_traced(x, where(spread_mask(mask, x.aval.shape), value, x)))
                return
        plan = plan_of(x, index) if key is None else basic_plan(x.aval.shape, key)
        if type(value) is Tracer and is_current_part(value, x, plan):
            return
        made = as_traced(x, plan.put(x, fitted(value, plan.shape)))
        if type(value) is Tracer and made._index == value._index and made.aval.ndim > 1:
            made = distinct(made)
        assign(x, made)
    except FuncgradError as error:
        raise located(error, user_location()) from None


def is_current_part(value: Tracer, x: Tracer, plan: Plan) -> bool:
    """Whether the value is what stands there already: ``y[1:] *= 2`` ends by assigning the view to itself."""
    alias = value._alias
    return (
        alias is not None
        and alias.base is x
        and isinstance(plan, BasicPlan)
        and alias.lens is plan.slice
        and not plan.has_new_axes
    )


def converted(value: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """The value in the dtype of the array it is assigned into, converted as NumPy does; numbers as scalars.

    Real parts of complex arrays are kept with NumPy's ComplexWarning; Python complex numbers are refused.
    """
    if type(value) is float and dtype.kind in "fc":
        return dtype.type(value)
    value = asoperand(value)
    if type(value) is Tracer and value.aval.dtype is dtype and not value.aval.weak:
        return value
    kind = aval(value).dtype.kind
    if kind == "c" and dtype.kind not in "cb":
        if isinstance(value, complex) and not isinstance(value, np.generic):
            raise DtypeError(f"a complex number cannot be assigned into an array of dtype {dtype}")
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
            stacklevel=user_stacklevel(),
        )
    return cast(value, dtype)


def fitted(value: ArrayLike, shape: Shape) -> Array:
    """The value in the shape of the part, or a scalar; leading axes of size one may be too many."""
    seen = shape_of(value)
    if not seen or seen == shape:
        return value
    extra = len(seen) - len(shape)
    inner = seen[max(extra, 0) :]
    fits = all(n == 1 for n in seen[: max(extra, 0)]) and all(
        n in (1, m) for n, m in zip(reversed(inner), reversed(shape), strict=False)
    )
    if not fits:
        raise ShapeError(f"could not broadcast input array from shape {seen} into shape {shape}")
    return broadcast_to(reshape(value, inner), shape)


def as_traced(x: Tracer, value: ArrayLike) -> Tracer:
    """The new value of `x` as a tracer; arrays enter its trace."""
    if type(value) is Tracer:
        return value if value._alias is None else value.frozen()
    recorder = x._recorder
    index = recorder.index_of(value)
    return Tracer(recorder, index, recorder.avals[index])


def lone_mask(x: Tracer, index: Index) -> Array | None:
    """The boolean array that is the whole index, traced or not; None for any other index."""
    if type(index) is tuple:
        if len(index) != 1:
            return None
        index = index[0]
    if type(index) not in (Tracer, np.ndarray, list) or not len(
        shape_of(index) if type(index) is not list else index
    ):
        return None
    mask = asoperand(index)
    seen = aval(mask)
    if seen.dtype.kind != "b" or seen.shape != x.aval.shape[: seen.ndim]:
        return None
    return mask


def spread_mask(mask: ArrayLike, shape: Shape) -> Array:
    """A mask of the leading axes for all of them."""
    return reshape(mask, shape_of(mask) + (1,) * (len(shape) - len(shape_of(mask))))


# -- in-place operators -----------------------------------------------------------------------------------

_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)


def _in_place(name: str) -> Callable[[Tracer, Any], Any]:
    def operate(self: Tracer, other: ArrayLike) -> Arrays:
        result = getattr(self, f"__{name}__")(other)
        if result is NotImplemented or (not self.aval.shape and not is_view(self)):
            return result
        overwrite(self, result, name)
        return self

    operate.__name__ = operate.__qualname__ = f"__i{name}__"
    return operate


def overwrite(x: Tracer, result: object, name: str) -> None:
    """Write a result into `x`, which keeps its shape and dtype; raises as NumPy's ``out=`` does."""
    seen = aval(result)
    if seen.shape != x.aval.shape:
        raise located(
            ShapeError(
                f"non-broadcastable output operand with shape {x.aval.shape} doesn't match the "
                f"broadcast shape {seen.shape}"
            ),
            user_location(),
        )
    if not np.can_cast(seen.dtype, x.aval.dtype, "same_kind"):
        raise located(
            DtypeError(
                f"in-place {name}: cannot cast a result of dtype {seen.dtype} to {x.aval.dtype} "
                f"with casting rule 'same_kind'",
                remedy="Use x = x + y, which may change the dtype, or x.astype(...) first.",
            ),
            user_location(),
        )
    assign(x, as_traced(x, cast(result, x.aval.dtype)))


# -- x.at[index] ------------------------------------------------------------------------------------------


class At:
    """``x.at``: updates at an index that give a new array and leave `x` as it is.

    >>> fg.make_program(lambda x: x.at[0].add(1.0))(np.zeros(3)).out_avals
    (f64[3],)
    """

    __slots__ = ("_x",)

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, index: Index) -> AtIndex:
        return AtIndex(self._x, index)

    def __repr__(self) -> str:
        return f"At({self._x!r})"


class AtIndex:
    """``x.at[index]``: repeated positions are all counted, except by `set` and `apply`.

    ``indices_are_sorted`` and ``unique_indices`` are promises that change nothing here. Positions out of
    bounds are errors; with ``mode="clip"`` they are the nearest end, with ``"drop"`` or ``"fill"`` nothing is
    written there, and `get` gives ``fill_value`` (NaN, or the extreme integer).
    """

    __slots__ = ("_index", "_x")

    def __init__(self, x: Array, index: Index) -> None:
        self._x = x
        self._index = index

    def get(self, **options: object) -> Array:
        """``x[index]``."""
        fill = options.pop("fill_value", None)
        mode = checked_mode("get", options)
        if mode is None:
            return getitem(self._x, self._index)
        entries = self._entries("get", mode)
        index, inside = modes.moved_inside(entries, self._x.aval.shape)
        found = getitem(self._x, index)
        if mode == "clip" or inside is True:
            return found
        fill = modes.filling(self._x.aval.dtype) if fill is None else fill
        return where(modes.spread_inside(inside, entries, found), found, self._x.aval.dtype.type(fill))

    def set(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x with ``values`` at the index."""
        if options and (mode := checked_mode("set", options)) is not None:
            return self._by_mode("set", mode, values)
        y = self._x.frozen()
        setitem(y, self._index, values)
        return y

    def apply(self, func: Callable[[Any], Any], **options: object) -> Array:
        """A copy of x with ``func(x[index])`` at the index."""
        if options and (mode := checked_mode("apply", options)) is not None:
            return self._by_mode("apply", mode, func)
        return self.set(func(getitem(self._x, self._index)))

    def add(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x with ``values`` added at the index."""
        if options and (mode := checked_mode("add", options)) is not None:
            return self._by_mode("add", mode, values)
        return self._combined("add", values)

    def subtract(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x with ``values`` subtracted at the index."""
        if options and (mode := checked_mode("subtract", options)) is not None:
            return self._by_mode("subtract", mode, values)
        return self._combined("add", neg(values))

    def multiply(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x multiplied by ``values`` at the index."""
        if options and (mode := checked_mode("multiply", options)) is not None:
            return self._by_mode("multiply", mode, values)
        return self._combined("mul", values)

    def divide(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x divided by ``values`` at the index."""
        if options and (mode := checked_mode("divide", options)) is not None:
            return self._by_mode("divide", mode, values)
        ones = broadcast_to(aval(self._x).dtype.type(1), shape_of(self._x))
        return div(self._x, AtIndex(as_traced(self._x, ones), self._index)._combined("mul", values))

    def power(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x raised to ``values`` at the index."""
        if options and (mode := checked_mode("power", options)) is not None:
            return self._by_mode("power", mode, values)
        ones = broadcast_to(aval(self._x).dtype.type(1), shape_of(self._x))
        return power_of(self._x, AtIndex(as_traced(self._x, ones), self._index)._combined("mul", values))

    def min(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x with the minimum of x and ``values`` at the index."""
        if options and (mode := checked_mode("min", options)) is not None:
            return self._by_mode("min", mode, values)
        return self._combined("min", values)

    def max(self, values: ArrayLike, **options: object) -> Array:
        """A copy of x with the maximum of x and ``values`` at the index."""
        if options and (mode := checked_mode("max", options)) is not None:
            return self._by_mode("max", mode, values)
        return self._combined("max", values)

    mul = multiply

    def _entries(self, name: str, mode: str) -> list[Any]:
        entries: list[Any] | None = modes.entries_of(self._index, self._x.aval.shape)
        if entries is None:
            raise unsupported(f"x.at[...].{name} with mode={mode!r} at masks and new axes")
        return entries

    def _by_mode(self, name: str, mode: str, values: ArrayLike) -> Array:
        """An update whose positions may be out of bounds: those to be left out go behind the end."""
        shape = self._x.aval.shape
        entries = self._entries(name, mode)
        if mode == "clip":
            return getattr(AtIndex(self._x, modes.moved_inside(entries, shape)[0]), name)(values)
        index, widths = modes.moved_behind(entries, shape)
        longer = np.pad(self._x, widths, mode="edge" if self._x.aval.size else "constant")
        updated = getattr(AtIndex(longer, index), name)(values)
        return updated[tuple([slice(n) for n in shape])]

    def _combined(self, mode: str, values: ArrayLike) -> Array:
        x = self._x
        try:
            values = converted(values, x.aval.dtype)
            mask = lone_mask(x, self._index)
            if mask is not None and len(shape_of(values)) <= x.aval.ndim - mask.ndim:
                return where(spread_mask(mask, x.aval.shape), COMBINATIONS[mode](x, values), x)
            plan = plan_of(x, self._index)
            values = fitted(values, plan.shape)
            if isinstance(plan, BasicPlan) and mode != "add":
                return plan.put(x, COMBINATIONS[mode](plan.get(x), values))
            return plan.combine(mode, x, values)
        except FuncgradError as error:
            raise located(error, user_location()) from None


def checked_mode(name: str, options: dict[str, Any]) -> str | None:
    """What positions out of bounds mean, None where they are errors; raise by name for other options."""
    unknown = [key for key in options if key not in ("indices_are_sorted", "unique_indices", "mode")]
    if unknown:
        raise unsupported(f"x.at[...].{name} with {unknown[0]}")
    mode = options.get("mode")
    found = None if mode is None else modes.mode_of(mode)
    return None if found == "promise_in_bounds" else found


COMBINATIONS: dict[str, Callable[[Any, Any], Any]] = {"add": add, "mul": mul, "min": minimum, "max": maximum}


def _at(self: Tracer) -> At:
    """Functional updates: ``x.at[index].set(v)``, ``add``, ``multiply``, ``min``, ``max`` and more."""
    return At(self)


install({"__setitem__": setitem, "at": property(_at)})
install({f"__i{name}__": _in_place(name) for name in _OPERATORS})
