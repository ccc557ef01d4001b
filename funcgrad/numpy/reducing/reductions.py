"""Reductions by ufuncs: sum, product, extremes, any and all; where extremes are; how many are not zero.

Accumulation dtypes are NumPy's: sums and products of small integers and booleans are int64 or uint64,
everything else stays as it is. Equal extremes share the derivative evenly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.steps import as_source
from funcgrad.numpy.dispatch import MET, MOST_MET, REDUCING, implements, implements_method
from funcgrad.numpy.elementwise.selection import limits_of
from funcgrad.numpy.reducing.axes import (
    Axes,
    given,
    mask_for,
    normalized_axes,
    normalized_axis,
    refused,
    stored,
    strong,
    traced,
    with_kept_axes,
)
from funcgrad.ops.arrays.structure import ReduceSum, aval, broadcast, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, mul, sub
from funcgrad.ops.elementwise.bivariate import logaddexp
from funcgrad.ops.elementwise.comparison import not_equal
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.selection import where as select
from funcgrad.ops.reducing import reductions as ops
from funcgrad.ops.reducing.extremes import fmax, fmin, maximum, minimum
from funcgrad.ops.reducing.softmax import LogSumExp
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import AnyPrimitive, Array, ArrayLike, AxisLike, DTypeLike

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "min",
    "prod",
    "ptp",
    "sum",
]

# -- the general case ---------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """How a ufunc reduces."""

    name: str
    primitive: Any
    """Makes the primitive from axes."""
    combine: Callable[[Any, Any], Any]
    identity: Any
    """The result for no elements; None where there is none."""
    dtypes: dict[str, np.dtype[Any]]
    """By kind, the dtype in which to reduce; others stay as they are."""


INT, UINT, BOOL, FLOAT = (np.dtype(t) for t in (np.int64, np.uint64, np.bool_, np.float64))
WIDE = {"b": INT, "i": INT, "u": UINT}
TRUTH = dict.fromkeys("iufc", BOOL)

SUM = Rule("sum", ReduceSum, add, 0, WIDE)
PROD = Rule("prod", ops.ReduceProd, mul, 1, WIDE)
MAX = Rule("max", ops.ReduceMax, maximum, None, {})
MIN = Rule("min", ops.ReduceMin, minimum, None, {})
FMAX = Rule("fmax", ops.ReduceFmax, fmax, None, {})
FMIN = Rule("fmin", ops.ReduceFmin, fmin, None, {})
ANY = Rule("any", ops.ReduceAny, logical_or, False, TRUTH)
ALL = Rule("all", ops.ReduceAll, logical_and, True, TRUTH)
LOGADDEXP = Rule("logaddexp", LogSumExp, logaddexp, -np.inf, dict.fromkeys("biu", FLOAT))


def reduced(rule: Rule, x: ArrayLike, axis: AxisLike, keepdims: bool) -> Array:
    """A reduction without further options."""
    plain = not keepdims and (axis is None or type(axis) is int)
    plain = plain and type(x) is Tracer and x.aval.dtype.kind not in rule.dtypes
    if plain and x._view is None:
        # The common case, on the shortest path: a reduction that has accepted this aval before.
        met = MET.get((rule.primitive, axis, x.aval))
        if met is not None and not x._recorder.closed:
            primitive, out = met
            return x._recorder.append_typed((primitive, x._index), out, 3)
    seen = aval(x)
    axes, primitive = plan_of(rule.primitive, axis, seen.ndim)
    dtype = rule.dtypes.get(seen.dtype.kind)
    if dtype is not None and dtype is not seen.dtype:
        x = cast(x, dtype)
    found = primitive.bind(x) if axes else strong(x)
    if plain and axes:
        if len(MET) >= MOST_MET:
            MET.clear()
        MET[rule.primitive, axis, seen] = primitive, found.aval
    return with_kept_axes(found, seen.shape, axes) if keepdims else found


REDUCING.update(
    {
        np.sum: SUM.primitive,
        np.prod: PROD.primitive,
        np.max: MAX.primitive,
        np.amax: MAX.primitive,
        np.min: MIN.primitive,
        np.amin: MIN.primitive,
    }
)


def plan_of(primitive: AnyPrimitive, axis: AxisLike, ndim: int) -> tuple[Axes, Any]:
    """The axes, and the primitive that reduces them."""
    if axis is None or type(axis) is int:
        return _remembered_plan(primitive, axis, ndim)
    axes = normalized_axes(axis, ndim)
    return axes, primitive(axes)


@lru_cache(maxsize=1024)
def _remembered_plan(primitive: AnyPrimitive, axis: int | None, ndim: int) -> tuple[Axes, Any]:
    axes = normalized_axes(axis, ndim)
    return axes, primitive(axes)


def reduced_with_options(
    rule: Rule,
    x: ArrayLike,
    axis: AxisLike,
    dtype: DTypeLike,
    keepdims: bool,
    initial: ArrayLike,
    where: ArrayLike,
) -> Array:
    """A reduction in a given dtype, from a given first value, or of a part of the elements."""
    if initial is None and where is True and dtype is None:
        return reduced(rule, x, axis, keepdims)
    if dtype is not None:
        x = cast(x, dtype)
        rule = rule._replace(dtypes={})
        if aval(x).dtype.kind == "b" and rule.name in ("sum", "prod"):
            # The sum of booleans is "any", their product "all".
            rule = ANY if rule.name == "sum" else ALL
    elif aval(x).dtype.kind in rule.dtypes:
        x = cast(x, rule.dtypes[aval(x).dtype.kind])
    seen = aval(x)
    if initial is not None:
        initial = cast(asoperand(initial), seen.dtype)
    if where is not True:
        if rule.identity is None and initial is None:
            raise refused(
                f"reduction operation {rule.name!r} does not have an identity, "
                "so to use a where mask one has to specify 'initial'"
            )
        left_out = rule.identity if rule.identity is not None else losing(rule, seen.dtype, initial)
        x = select(mask_for(where, seen.shape), x, cast(left_out, seen.dtype))
    if initial is None:
        return reduced(rule, x, axis, keepdims)
    axes = normalized_axes(axis, seen.ndim)
    if rule.identity is None and 0 in [seen.shape[a] for a in axes]:
        found = broadcast(initial, tuple([n for a, n in enumerate(seen.shape) if a not in axes]), ())
    else:
        found = rule.combine(reduced(rule, x, axes, False), initial)
    return with_kept_axes(found, seen.shape, axes) if keepdims else found


def losing(rule: Rule, dtype: np.dtype[Any], initial: ArrayLike) -> Array:
    """What never is the extreme, nor tied with it; for want of such a number the first value."""
    if dtype.kind not in "fiu":
        return initial
    least, greatest = limits_of(dtype)
    return least if rule.primitive in (ops.ReduceMax, ops.ReduceFmax) else greatest


# -- public functions ---------------------------------------------------------------------------------------


@implements(np.sum)
def sum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The sum over `axis`, by default of all elements.

    >>> print(fg.grad(lambda x: fg.numpy.sum(x**2))(np.array([1.0, 2.0])))
    [2. 4.]
    """
    if type(a) is Tracer and dtype is None and out is None and initial is None and where is True:
        return reduced(SUM, a, axis, keepdims)
    x = traced(a, out, initial, where)
    if x is None:
        return np.sum(a, axis, dtype, out, keepdims, where=where, **given(initial=initial))
    return stored(reduced_with_options(SUM, x, axis, dtype, keepdims, initial, where), out, "np.sum")


@implements(np.prod)
def prod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The product over `axis`; derivatives divide by nothing, so they are right where there are zeros.

    >>> print(fg.grad(fg.numpy.prod)(np.array([2.0, 0.0, 5.0])))
    [ 0. 10.  0.]
    """
    if type(a) is Tracer and dtype is None and out is None and initial is None and where is True:
        return reduced(PROD, a, axis, keepdims)
    x = traced(a, out, initial, where)
    if x is None:
        return np.prod(a, axis, dtype, out, keepdims, where=where, **given(initial=initial))
    return stored(reduced_with_options(PROD, x, axis, dtype, keepdims, initial, where), out, "np.prod")


@implements(np.max, np.amax)
def max(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The largest element over `axis`, NaN if any is; equal ones share the derivative evenly.

    >>> print(fg.grad(fg.numpy.max)(np.array([3.0, 1.0, 3.0])))
    [0.5 0.  0.5]
    """
    if type(a) is Tracer and out is None and initial is None and where is True:
        return reduced(MAX, a, axis, keepdims)
    x = traced(a, out, initial, where)
    if x is None:
        return np.max(a, axis, out, keepdims, where=where, **given(initial=initial))
    return stored(reduced_with_options(MAX, x, axis, None, keepdims, initial, where), out, "np.max")


@implements(np.min, np.amin)
def min(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The smallest element over `axis`, NaN if any is; equal ones share the derivative evenly.

    >>> print(fg.grad(fg.numpy.min)(np.array([3.0, 1.0, 3.0])))
    [0. 1. 0.]
    """
    if type(a) is Tracer and out is None and initial is None and where is True:
        return reduced(MIN, a, axis, keepdims)
    x = traced(a, out, initial, where)
    if x is None:
        return np.min(a, axis, out, keepdims, where=where, **given(initial=initial))
    return stored(reduced_with_options(MIN, x, axis, None, keepdims, initial, where), out, "np.min")


amax = max
amin = min


@implements(np.any)
def any(
    a: ArrayLike, axis: AxisLike = None, out: Array = None, keepdims: bool = False, *, where: ArrayLike = True
) -> Array:
    """Whether any element over `axis` is true, that is not zero.

    >>> print(fg.numpy.any([[0.0, 0.0], [0.0, 2.0]], axis=1))
    [False  True]
    """
    x = traced(a, out, where)
    if x is None:
        return np.any(a, axis, out, keepdims, where=where)
    return stored(reduced_with_options(ANY, x, axis, None, keepdims, None, where), out, "np.any")


@implements(np.all)
def all(
    a: ArrayLike, axis: AxisLike = None, out: Array = None, keepdims: bool = False, *, where: ArrayLike = True
) -> Array:
    """Whether all elements over `axis` are true, that is not zero.

    >>> print(fg.numpy.all([[1.0, 0.0], [1.0, 2.0]], axis=1))
    [False  True]
    """
    x = traced(a, out, where)
    if x is None:
        return np.all(a, axis, out, keepdims, where=where)
    return stored(reduced_with_options(ALL, x, axis, None, keepdims, None, where), out, "np.all")


@implements(np.count_nonzero)
def count_nonzero(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """How many elements over `axis` are not zero.

    >>> print(fg.numpy.count_nonzero([[1.0, 0.0], [1.0, 2.0]], axis=0))
    [2 1]
    """
    x = traced(a)
    if x is None:
        return np.count_nonzero(a, axis, keepdims=keepdims)
    return reduced(SUM, x if x.dtype.kind == "b" else not_equal(x, 0), axis, keepdims)


@implements(np.ptp)
def ptp(a: ArrayLike, axis: AxisLike = None, out: Array = None, keepdims: bool = False) -> Array:
    """The largest element over `axis` less the smallest.

    >>> print(fg.grad(fg.numpy.ptp)(np.array([3.0, 1.0, 2.0])))
    [ 1. -1.  0.]
    """
    x = traced(a, out)
    if x is None:
        return np.ptp(a, axis, out, keepdims)
    return stored(sub(reduced(MAX, x, axis, keepdims), reduced(MIN, x, axis, keepdims)), out, "np.ptp")


@implements(np.argmax)
def argmax(a: ArrayLike, axis: AxisLike = None, out: Array = None, *, keepdims: bool = False) -> Array:
    """The position of the largest element, the first of equal ones, or of the first NaN.

    >>> print(fg.numpy.argmax([[1.0, 5.0], [7.0, 7.0]], axis=1))
    [1 0]
    """
    x = traced(a, out)
    if x is None:
        return np.argmax(a, axis, out, keepdims=keepdims)
    return stored(position_of_extreme(ops.ArgMax, x, axis, keepdims), out, "np.argmax")


@implements(np.argmin)
def argmin(a: ArrayLike, axis: AxisLike = None, out: Array = None, *, keepdims: bool = False) -> Array:
    """The position of the smallest element, the first of equal ones, or of the first NaN.

    >>> print(fg.numpy.argmin([[1.0, 5.0], [7.0, 7.0]], axis=1))
    [0 0]
    """
    x = traced(a, out)
    if x is None:
        return np.argmin(a, axis, out, keepdims=keepdims)
    return stored(position_of_extreme(ops.ArgMin, x, axis, keepdims), out, "np.argmin")


def position_of_extreme(primitive: AnyPrimitive, x: ArrayLike, axis: AxisLike, keepdims: bool) -> Array:
    """The position along one axis, or in the flattened array."""
    shape = shape_of(x)
    axes: Axes = tuple(range(len(shape)))
    if axis is None or not shape:
        if axis is not None:
            normalized_axes(axis, 0)
        found = primitive(0).bind(reshape(x, (aval(x).size,)))
    else:
        axes = (normalized_axis(axis, len(shape)),)
        found = primitive(axes[0]).bind(x)
    return with_kept_axes(found, shape, axes) if keepdims else found


# -- methods of ufuncs --------------------------------------------------------------------------------------


def reduces(rule: Rule, ufunc: np.ufunc) -> None:
    """Answer ``ufunc.reduce`` of tracers, which reduces the first axis unless told otherwise."""

    def reduce(
        array: Array,
        axis: AxisLike = 0,
        dtype: DTypeLike = None,
        out: Array = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
    ) -> Array:
        x = traced(array, out, initial, where)
        if dtype is not None and rule.dtypes is TRUTH and np.dtype(dtype) != BOOL:
            raise DtypeError(
                f"np.{ufunc.__name__}.reduce answers with booleans, not {dtype}",
                source=as_source(user_location()),
            )
        found = reduced_with_options(rule, x, axis, dtype, keepdims, initial, where)
        return stored(found, out, f"np.{ufunc.__name__}.reduce")

    implements_method(ufunc, "reduce")(reduce)


for _rule, _ufunc in (
    (SUM, np.add),
    (PROD, np.multiply),
    (MAX, np.maximum),
    (MIN, np.minimum),
    (FMAX, np.fmax),
    (FMIN, np.fmin),
    (ANY, np.logical_or),
    (ALL, np.logical_and),
):
    reduces(_rule, _ufunc)


@implements_method(np.logaddexp, "reduce")
def logaddexp_reduce(
    array: ArrayLike,
    axis: AxisLike = 0,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """``log(sum(exp(x)))``, as NumPy spells it."""
    x = traced(array, out, initial, where)
    found = reduced_with_options(LOGADDEXP, x, axis, dtype, keepdims, initial, where)
    return stored(found, out, "np.logaddexp.reduce")


install(
    {
        "sum": sum,
        "prod": prod,
        "max": max,
        "min": min,
        "any": any,
        "all": all,
        "argmax": argmax,
        "argmin": argmin,
    }
)
