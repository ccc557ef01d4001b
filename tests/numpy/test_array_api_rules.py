"""The rules of the Array API standard on drawn arguments, in the manner of its public suite.

That suite (``data-apis/array-api-tests``) is not on the package index; its subjects are restated here: names,
signatures and defaults, dtypes, shapes with axes of no elements and with no axes, special values, axes and
``keepdims``, operators in place, indexing, copies and exchange. NumPy, which conforms to the standard itself,
says what is right. Arguments are drawn by the strategies that the public suite uses, whose arrays this
namespace makes. Every call is made on arrays, on traced arrays, and as a recorded program.
"""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace
from hypothesis.extra.numpy import array_shapes, basic_indices, mutually_broadcastable_shapes

import funcgrad as fg

xp = fg.numpy
with warnings.catch_warnings():
    # It remarks that arrays which are not traced are NumPy's, which is the design.
    warnings.simplefilter("ignore")
    xps = make_strategies_namespace(xp, api_version="2024.12")

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGRAL = (*SIGNED, *UNSIGNED)
FLOATING = (*REAL, *COMPLEX)
ORDERED = (*INTEGRAL, *REAL)
NUMERIC = (*INTEGRAL, *FLOATING)
ALL = ("bool", *NUMERIC)

few = settings(max_examples=12)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def fresh_copy(x: Any) -> Any:
    """An array that a call may write to."""
    return x.copy() if isinstance(x, np.ndarray) else x


def agrees(call: Callable[..., Any], *arrays: Any, exactly: bool = False, signs: bool = True) -> None:
    """``call(namespace, *arrays)`` is NumPy's, on arrays and traced: structure, dtypes, shapes, values."""
    with np.errstate(all="ignore"):
        theirs = fg.tree.leaves(call(np, *map(fresh_copy, arrays)))
        ours = fg.tree.leaves(call(xp, *map(fresh_copy, arrays)))
        program = fg.make_program(lambda *a: call(xp, *a))(*map(fresh_copy, arrays))
        recorded = fg.tree.leaves(program.evaluate(*map(fresh_copy, arrays)))
    for found in (ours, recorded):
        assert len(found) == len(theirs)
        for x, y in zip(found, theirs, strict=True):
            same(np.asarray(x), np.asarray(y), exactly, signs)


def same(x: Any, y: Any, exactly: bool = False, signs: bool = True) -> None:
    """Two arrays are equal, but for rounding; real zeros have the same signs, unless these do not matter."""
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    if exactly or y.dtype.kind not in "fc":
        np.testing.assert_array_equal(x, y)
        return
    eps = np.finfo(y.dtype).eps
    np.testing.assert_allclose(x, y, rtol=64 * eps, atol=64 * eps)
    if y.dtype.kind == "f" and signs:
        number = ~np.isnan(y)
        np.testing.assert_array_equal(np.signbit(x)[number & (y == 0)], np.signbit(y)[number & (y == 0)])


@st.composite
def arrays(draw: Any, dtypes: Iterable[str] = ALL, shapes: Any = None, small: bool = False) -> Any:
    """An array of one of these dtypes, made by the strategies of the public suite."""
    dtype = draw(st.sampled_from(list(dtypes)))
    shape = draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3) if shapes is None else shapes)
    elements: dict[str, Any] = {}
    if small:
        kind = np.dtype(dtype).kind
        if kind in "iu":
            elements = {"min_value": 0 if kind == "u" else -5, "max_value": 5}
        elif kind == "f":
            elements = {"min_value": -4.0, "max_value": 4.0, "allow_subnormal": False}
        elif kind == "c":
            part = arrays((f"float{np.dtype(dtype).itemsize * 4}",), st.just(shape), small=True)
            return np.asarray(draw(part) + 1j * draw(part)).astype(dtype)
    return np.asarray(draw(xps.arrays(dtype, shape, elements=elements or None)))


# -- element by element: every dtype that the standard lists, any shape -------------------------------------

UNARY = {
    **dict.fromkeys(("abs", "negative", "positive", "sign", "square"), NUMERIC),
    **dict.fromkeys(("isfinite", "isinf", "isnan"), NUMERIC),
    **dict.fromkeys(("ceil", "floor", "trunc"), ORDERED),
    **dict.fromkeys(("real", "conj"), NUMERIC),
    "round": NUMERIC,
    "imag": COMPLEX,
    "signbit": REAL,
    "reciprocal": FLOATING,
    "logical_not": ("bool",),
    "bitwise_invert": ("bool", *INTEGRAL),
    **dict.fromkeys(
        (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log"),
            *("log1p", "log10", "log2", "sin", "sinh", "sqrt", "tan", "tanh"),
        ),
        FLOATING,
    ),
}


@pytest.mark.parametrize("name", UNARY)
@few
@given(data=st.data())
def test_functions_of_one_array(name: str, data: Any) -> None:
    agrees(lambda xp, x: getattr(xp, name)(x), data.draw(arrays(UNARY[name], small=True)))


BINARY = {
    **dict.fromkeys(("add", "multiply", "subtract"), NUMERIC),
    **dict.fromkeys(("equal", "not_equal"), ALL),
    **dict.fromkeys(("greater", "greater_equal", "less", "less_equal", "maximum", "minimum"), ORDERED),
    **dict.fromkeys(("atan2", "copysign", "hypot", "logaddexp", "nextafter"), REAL),
    "divide": FLOATING,
    **dict.fromkeys(("floor_divide", "remainder"), ORDERED),
    "pow": (*UNSIGNED, *FLOATING),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), ("bool", *INTEGRAL)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), ("bool",)),
}


def of_one_kind(first: str, dtypes: Iterable[str]) -> list[str]:
    """The dtypes with which the standard defines a mixture."""
    kind = np.dtype(first).kind
    found = [
        d for d in dtypes if np.dtype(d).kind in {"i": "iu", "u": "iu", "f": "fc", "c": "fc"}.get(kind, kind)
    ]
    return [d for d in found if {first[:3], d[:3]} != {"uin", "int"} or "uint64" not in (first, d)]


def no_zeros(x: Any) -> Any:
    """The array with ones for zeros, by which nothing may be divided."""
    return np.where(x == 0, x.dtype.type(1), x)


@pytest.mark.parametrize("name", BINARY)
@few
@given(data=st.data())
def test_functions_of_two_arrays(name: str, data: Any) -> None:
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3))
    first, second = shapes.input_shapes
    x = data.draw(arrays(BINARY[name], st.just(first), small=True))
    y = data.draw(arrays(of_one_kind(x.dtype.name, BINARY[name]), st.just(second), small=True))
    if name in ("floor_divide", "remainder", "divide"):
        y = no_zeros(y)
    if name == "pow":
        x = np.abs(no_zeros(x)).astype(x.dtype)
    agrees(lambda xp, x, y: getattr(xp, name)(x, y), x, y)


@pytest.mark.parametrize("name", BINARY)
@few
@given(data=st.data())
def test_functions_of_an_array_and_a_number(name: str, data: Any) -> None:
    x = data.draw(arrays(BINARY[name], small=True))
    number = {"b": True, "i": 3, "u": 3, "f": 1.5, "c": 1.5 - 2j}[x.dtype.kind]
    if name == "pow":
        x = np.abs(no_zeros(x)).astype(x.dtype)
    agrees(lambda xp, x: getattr(xp, name)(x, number), x)
    if name not in ("floor_divide", "remainder", "divide", "pow"):
        agrees(lambda xp, x: getattr(xp, name)(number, x), x)


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
@few
@given(data=st.data())
def test_shifts(name: str, data: Any) -> None:
    x = data.draw(arrays(INTEGRAL, small=True))
    by = np.full(x.shape, 2, x.dtype)
    agrees(lambda xp, x, y: getattr(xp, name)(x, y), x, by)


COMPLEX_SPECIAL = [
    complex(a, b) for a in (0.0, -0.0, 1.0, np.inf, -np.inf, np.nan) for b in (0.0, 2.0, np.inf, np.nan)
]


@pytest.mark.parametrize("name", [name for name, dtypes in UNARY.items() if COMPLEX[0] in dtypes])
def test_special_complex_numbers(name: str) -> None:
    agrees(lambda xp, x: getattr(xp, name)(x), np.array(COMPLEX_SPECIAL))


@few
@given(data=st.data())
def test_clip(data: Any) -> None:
    x = data.draw(arrays(ORDERED, small=True))
    low, high = x.dtype.type(1), x.dtype.type(3)
    agrees(lambda xp, x: (xp.clip(x, low, high), xp.clip(x, max=high), xp.clip(x, 1, None), xp.clip(x)), x)
    bounds = np.full(x.shape, low)
    agrees(lambda xp, x, b: xp.clip(x, min=b), x, bounds)


@few
@given(data=st.data())
def test_where(data: Any) -> None:
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=3, max_dims=3, min_side=0, max_side=3))
    chosen = data.draw(arrays(("bool",), st.just(shapes.input_shapes[0])))
    x = data.draw(arrays(ALL, st.just(shapes.input_shapes[1])))
    y = data.draw(arrays(of_one_kind(x.dtype.name, ALL), st.just(shapes.input_shapes[2])))
    agrees(lambda xp, c, x, y: xp.where(c, x, y), chosen, x, y, exactly=True)


# -- dtypes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ALL)
def test_promotion_casting_and_kinds(first: str) -> None:
    for second in ALL:
        x, y = np.zeros(2, first), np.zeros((), second)
        assert xp.can_cast(getattr(xp, first), getattr(xp, second)) == np.can_cast(first, second)
        assert xp.can_cast(x, getattr(xp, second)) == np.can_cast(first, second)
        agrees(lambda xp, x, second=second: xp.astype(x, getattr(xp, second)), np.ones((2, 0), first))
        if second in of_one_kind(first, ALL):
            wanted = np.promote_types(first, second)
            assert xp.result_type(x, y) == xp.result_type(x, getattr(xp, second)) == wanted
            fg.make_program(lambda x, y, w=wanted: (x, y)[xp.result_type(x, y) != w] + 0)(x, y)
    groups = {
        "bool": ("bool",),
        "signed integer": SIGNED,
        "unsigned integer": UNSIGNED,
        "integral": INTEGRAL,
        "real floating": REAL,
        "complex floating": COMPLEX,
        "numeric": NUMERIC,
    }
    for kind, members in groups.items():
        assert xp.isdtype(getattr(xp, first), kind) == (first in members)
    assert xp.isdtype(getattr(xp, first), ("bool", "numeric", getattr(xp, first)))


def test_limits() -> None:
    for name in FLOATING:
        found, wanted = xp.finfo(getattr(xp, name)), np.finfo(name)
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            assert float(getattr(found, field)) == float(getattr(wanted, field))
        assert found.dtype == wanted.dtype
    for name in INTEGRAL:
        found, wanted = xp.iinfo(getattr(xp, name)), np.iinfo(name)
        assert (found.bits, found.max, found.min, found.dtype) == (
            wanted.bits,
            wanted.max,
            wanted.min,
            np.dtype(name),
        )


# -- making arrays ------------------------------------------------------------------------------------------


@few
@given(
    shape=array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    name=st.sampled_from(ALL),
    data=st.data(),
)
def test_new_arrays(shape: Any, name: str, data: Any) -> None:
    value = {"b": True, "i": 3, "u": 3, "f": 1.5, "c": 1.5 - 2j}[np.dtype(name).kind]
    dtype = getattr(xp, name)
    for ours, theirs in (
        (xp.zeros(shape, dtype=dtype, device="cpu"), np.zeros(shape, name)),
        (xp.ones(shape, dtype=dtype), np.ones(shape, name)),
        (xp.full(shape, value, dtype=dtype, device=None), np.full(shape, value, name)),
        (xp.full(shape, value), np.full(shape, value)),
        (xp.zeros(shape), np.zeros(shape)),
        (xp.ones(3), np.ones(3)),
    ):
        same(ours, theirs)
    assert xp.empty(shape, dtype=dtype).dtype == name
    like = data.draw(arrays(ALL))
    agrees(
        lambda xp, x: (xp.zeros_like(x), xp.ones_like(x), xp.full_like(x, 1), xp.zeros_like(x, dtype=dtype)),
        like,
    )
    agrees(
        lambda xp, x: xp.empty_like(x) * 0 if x.dtype.kind != "f" else xp.zeros_like(x, device="cpu"), like
    )


@few
@given(
    n=st.integers(-5, 9),
    stop=st.integers(-5, 9),
    step=st.sampled_from([-2, -1, 1, 3]),
    name=st.sampled_from(NUMERIC),
)
def test_ranges(n: int, stop: int, step: int, name: str) -> None:
    same(xp.arange(n), np.arange(n))
    same(xp.arange(n, stop, step), np.arange(n, stop, step))
    same(xp.arange(n, stop=stop + 0.5), np.arange(n, stop + 0.5))
    if name not in COMPLEX and name not in UNSIGNED:
        same(xp.arange(n, stop, step, dtype=getattr(xp, name)), np.arange(n, stop, step, name))
    for count in (0, 1, 4):
        for endpoint in (True, False):
            if name in FLOATING:
                same(
                    xp.linspace(n, stop, count, dtype=getattr(xp, name), endpoint=endpoint),
                    np.linspace(n, stop, count, endpoint, dtype=name),
                )
    rows, columns = abs(n), abs(stop)
    same(xp.eye(rows, columns, k=step, dtype=getattr(xp, name)), np.eye(rows, columns, step, name))
    same(xp.eye(rows), np.eye(rows))


@few
@given(x=arrays())
def test_asarray_and_exchange(x: Any) -> None:
    copied = xp.asarray(x, copy=True)
    same(copied, x)
    assert not x.size or not np.shares_memory(copied, x)
    assert np.shares_memory(xp.asarray(x, copy=False), x) or not x.size
    same(xp.asarray(x.tolist(), dtype=x.dtype), np.asarray(x.tolist(), x.dtype))
    agrees(lambda xp, x: xp.asarray(x, copy=True), x, exactly=True)
    if x.ndim:
        same(xp.from_dlpack(x), x)
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy's own words
        xp.asarray(x, dtype=xp.complex64 if x.dtype != xp.complex64 else xp.float64, copy=False)


def test_numbers_take_the_dtype_asked_for_at_once() -> None:
    large = 2**63 + 1
    for make in (xp.asarray, xp.array):
        for x in (large, [large], [1, large]):
            same(make(x, dtype=xp.uint64), np.asarray(x, np.uint64))
        for x in (300, [1, 300]):
            with pytest.raises(OverflowError, match="out of bounds for int8"):
                make(x, dtype=xp.int8)


@few
@given(data=st.data())
def test_triangles_and_meshes(data: Any) -> None:
    x = data.draw(arrays(shapes=array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=3)))
    k = data.draw(st.integers(-3, 3))
    agrees(lambda xp, x: (xp.tril(x, k=k), xp.triu(x, k=k)), x, exactly=True)
    lines = [
        data.draw(arrays((x.dtype.name,), array_shapes(max_dims=1, min_side=0, max_side=3))) for _ in range(3)
    ]
    for indexing in ("xy", "ij"):
        agrees(
            lambda xp, *a, indexing=indexing: tuple(xp.meshgrid(*a, indexing=indexing)), *lines, exactly=True
        )


# -- over axes ----------------------------------------------------------------------------------------------


@st.composite
def axes_of(draw: Any, ndim: int) -> Any:
    """None, one axis, several, or none of them."""
    if ndim == 0:
        return draw(st.sampled_from([None, ()]))
    single = st.integers(-ndim, ndim - 1)
    several = st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim).map(tuple)
    return draw(st.none() | single | several)


REDUCTIONS = {
    **dict.fromkeys(("sum", "prod"), NUMERIC),
    **dict.fromkeys(("max", "min"), ORDERED),
    **dict.fromkeys(("mean",), FLOATING),
    **dict.fromkeys(("std", "var"), REAL),
    **dict.fromkeys(("all", "any", "count_nonzero"), ALL),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@few
@given(data=st.data())
def test_reductions(name: str, data: Any) -> None:
    needs_some = name in ("max", "min", "mean", "std", "var")
    shapes = array_shapes(min_dims=0, max_dims=3, min_side=1 if needs_some else 0, max_side=3)
    x = data.draw(arrays(REDUCTIONS[name], shapes, small=True))
    axis, keepdims = data.draw(axes_of(x.ndim)), data.draw(st.booleans())
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if name in ("std", "var"):
        options["correction"] = data.draw(st.sampled_from([0, 0.0]))
    if name in ("sum", "prod") and data.draw(st.booleans()):
        options["dtype"] = np.dtype(data.draw(st.sampled_from(of_one_kind(x.dtype.name, NUMERIC)[-1:])))
    agrees(lambda xp, x: getattr(xp, name)(x, **options), x)


def test_reductions_of_nothing() -> None:
    x = np.zeros((2, 0))
    agrees(lambda xp, x: (xp.sum(x), xp.prod(x, axis=1), xp.all(x, axis=-1), xp.any(x, keepdims=True)), x)
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=r"zero-size|empty"):
            getattr(xp, name)(x)
        with pytest.raises(ValueError, match=r"zero-size|empty|no elements"):
            fg.make_program(lambda x, name=name: getattr(xp, name)(x))(x)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@few
@given(data=st.data())
def test_cumulative_functions(name: str, data: Any) -> None:
    x = data.draw(arrays(NUMERIC, array_shapes(max_dims=3, min_side=0, max_side=3), small=True))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    initial = data.draw(st.booleans())
    agrees(lambda xp, x: getattr(xp, name)(x, axis=axis, include_initial=initial), x)
    if x.ndim == 1:
        agrees(lambda xp, x: getattr(xp, name)(x, dtype=np.dtype(x.dtype)), x)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@few
@given(data=st.data())
def test_positions_of_extremes(name: str, data: Any) -> None:
    x = data.draw(arrays(ORDERED, array_shapes(max_dims=3, max_side=3), small=True))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    keepdims = data.draw(st.booleans())
    agrees(lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=keepdims), x)


@few
@given(data=st.data())
def test_sorting_and_searching(data: Any) -> None:
    x = data.draw(arrays(ORDERED, array_shapes(max_dims=3, min_side=0, max_side=4), small=True))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    agrees(lambda xp, x: (xp.sort(x, axis=axis), xp.argsort(x, axis=axis, stable=True)), x, exactly=True)
    same(xp.argsort(x, axis=axis), np.argsort(x, axis=axis, kind="stable"))
    falling = xp.sort(x, axis=axis, descending=True)
    same(falling, np.flip(np.sort(x, axis=axis), axis), exactly=True)
    order = xp.argsort(x, axis=axis, descending=True)
    same(np.take_along_axis(x, order, axis), falling, exactly=True)
    line = np.sort(x.reshape(-1))
    for side in ("left", "right"):
        agrees(lambda xp, a, b, side=side: xp.searchsorted(a, b, side=side), line, x)
    agrees(
        lambda xp, a, b: (
            xp.searchsorted(a, b, sorter=np.argsort(a))
            if xp is np
            else xp.searchsorted(a, b, sorter=xp.argsort(a))
        ),
        x.reshape(-1),
        x,
    ) if x.size else None
    # In which order different elements come is not said.
    same(np.sort(xp.unique_values(x)), np.unique(x))
    for found, wanted in ((xp.nonzero(x), np.nonzero(x)),):
        for ours, theirs in zip(fg.tree.leaves(found), fg.tree.leaves(wanted), strict=True):
            same(ours, theirs)
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        found, wanted = getattr(xp, name)(x), getattr(np, name)(x)
        assert found._fields == wanted._fields
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs)
    agrees(lambda xp, x: (xp.isin(x, x.reshape(-1)[:2]), xp.isin(x, x.reshape(-1)[:1], invert=True)), x)


@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable_unless_another_kind_is_asked_for(descending: bool) -> None:
    x = np.arange(200.0) % 3
    order = np.argsort(-x if descending else x, kind="stable")
    for call in (
        lambda x: xp.argsort(x, descending=descending),
        lambda x: xp.argsort(x, descending=descending, stable=True),
    ):
        same(call(x), order)
        same(fg.make_program(call)(x).evaluate(x)[0], order)


# -- shapes -------------------------------------------------------------------------------------------------


@few
@given(data=st.data())
def test_movements(data: Any) -> None:
    x = data.draw(arrays(shapes=array_shapes(max_dims=3, min_side=0, max_side=3)))
    n = x.ndim
    axis, source, target = (data.draw(st.integers(-n, n - 1)) for _ in range(3))
    order = tuple(data.draw(st.permutations(range(n))))
    shift = data.draw(st.integers(-4, 4))
    agrees(
        lambda xp, x: (
            xp.flip(x),
            xp.flip(x, axis=axis),
            xp.moveaxis(x, source, target),
            xp.permute_dims(x, order),
            xp.roll(x, shift),
            xp.roll(x, shift, axis=axis),
            xp.roll(x, (shift, 1), axis=(axis, 0)),
            xp.expand_dims(x, axis=axis),
            xp.squeeze(xp.expand_dims(x, axis=0), axis=(0,)),
            xp.reshape(x, (-1,)) if x.size else x,
            xp.reshape(x, (*x.shape, 1), copy=True),
            xp.tile(x, (2, 1)),
            xp.repeat(x, 2),
            xp.repeat(x, 2, axis=axis),
            xp.broadcast_to(x, (2, *x.shape)),
            tuple(xp.unstack(x, axis=axis)),
            xp.concat((x, x), axis=axis),
            xp.concat([x, x[:0]], axis=0),
            xp.concat([x, x], axis=None),
            xp.stack([x, x, x], axis=axis),
            xp.matrix_transpose(x) if n > 1 else x,
        ),
        x,
        exactly=True,
    )
    counts = np.arange(x.shape[0])
    agrees(lambda xp, x: xp.repeat(x, counts, axis=0), x, exactly=True)
    same(np.array(xp.broadcast_shapes((3, 1), (2,))), np.array([3, 2]))
    assert [a.shape for a in xp.broadcast_arrays(x, np.zeros((2, *x.shape)))] == [(2, *x.shape)] * 2
    for call in (
        lambda x: xp.squeeze(x, axis=0) if x.shape[0] != 1 else xp.squeeze(x, axis=n),
        lambda x: xp.expand_dims(x, axis=n + 1),
        lambda x: xp.reshape(x, (x.size + 1,)),
    ):
        for run in (call, fg.make_program(call)):
            with pytest.raises((ValueError, IndexError)):
                run(x)


@few
@given(data=st.data())
def test_take(data: Any) -> None:
    x = data.draw(arrays(shapes=array_shapes(max_dims=3, max_side=3)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    count = x.shape[axis]
    places = np.array(data.draw(st.lists(st.integers(-count, count - 1), max_size=4)), np.int64)
    agrees(lambda xp, x: xp.take(x, places, axis=axis), x, exactly=True)
    along = np.argsort(np.real(x), axis=axis)
    agrees(lambda xp, x: xp.take_along_axis(x, along, axis=axis), x, exactly=True)


@few
@given(data=st.data())
def test_diff(data: Any) -> None:
    x = data.draw(arrays((*INTEGRAL, *FLOATING), array_shapes(max_dims=3, max_side=4), small=True))
    axis, n = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.integers(0, 2))
    if n <= x.shape[axis]:
        agrees(lambda xp, x: xp.diff(x, axis=axis, n=n), x)
    agrees(lambda xp, x: xp.diff(x, axis=axis, prepend=x, append=x), x)


# -- indexing -----------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(data=st.data())
def test_reading_and_writing_parts(data: Any) -> None:
    x = data.draw(arrays(shapes=array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
    kept = data.draw(basic_indices(x.shape, allow_newaxis=True, allow_ellipsis=True, max_dims=5))
    agrees(lambda xp, x: x[kept], x, exactly=True)
    mask = data.draw(arrays(("bool",), st.just(x.shape)))

    def write(xp: Any, x: Any) -> Any:
        x[kept] = x.dtype.type(1)
        y = xp.asarray(x, copy=True)
        y[mask] = x.dtype.type(0)
        return x, y

    agrees(write, x, exactly=True)
    same(fg.numpy.asarray(x)[mask], x[mask])
    if x.ndim > 1 and min(x.shape):
        rows = np.array(data.draw(st.lists(st.integers(-x.shape[0], x.shape[0] - 1), min_size=1, max_size=3)))
        agrees(
            lambda xp, x: (x[rows], x[rows, 0], x[0, ..., None], x[rows[:, None], rows * 0]), x, exactly=True
        )


# -- operators ----------------------------------------------------------------------------------------------

OPERATORS = {
    **dict.fromkeys(("add", "sub", "mul"), NUMERIC),
    "truediv": FLOATING,
    **dict.fromkeys(("floordiv", "mod"), ORDERED),
    "pow": (*UNSIGNED, *REAL),
    **dict.fromkeys(("and_", "or_", "xor"), ("bool", *INTEGRAL)),
    **dict.fromkeys(("lshift", "rshift"), INTEGRAL),
}


@pytest.mark.parametrize("name", OPERATORS)
@few
@given(data=st.data())
def test_operators_and_their_forms_in_place(name: str, data: Any) -> None:
    plain, in_place = getattr(operator, name), getattr(operator, "i" + name.rstrip("_"))
    x = data.draw(arrays(OPERATORS[name], small=True))
    y = np.abs(no_zeros(data.draw(arrays((x.dtype.name,), st.just(x.shape), small=True)))).astype(x.dtype)
    if name == "pow":
        x = np.abs(no_zeros(x)).astype(x.dtype)
    number = {"b": True, "i": 2, "u": 2, "f": 2.0, "c": 2j}[x.dtype.kind]
    agrees(
        lambda xp, x, y: (
            plain(x, y),
            plain(x, number),
            plain(y, x) if name[0] in "asmox" and name != "mod" else plain(x, y),
        ),
        x,
        y,
    )
    agrees(lambda xp, x: plain(number, xp.ones_like(x)), x)

    def changed(xp: Any, x: Any, y: Any) -> Any:
        x = in_place(x, y)
        before = x
        x = in_place(x, number)
        if x.ndim:
            assert before is x
        return x

    agrees(changed, x, y)


@few
@given(data=st.data())
def test_comparisons_and_signs(data: Any) -> None:
    x = data.draw(arrays(ORDERED))
    y = data.draw(arrays((x.dtype.name,), st.just(x.shape)))
    agrees(lambda xp, x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y, x > 1, x >= 1), x, y)
    agrees(lambda xp, x: (-x, +x, abs(x)), x)
    whole = data.draw(arrays(("bool", *INTEGRAL)))
    agrees(lambda xp, x: ~x, whole)


@few
@given(data=st.data())
def test_products(data: Any) -> None:
    shapes = data.draw(
        mutually_broadcastable_shapes(signature="(m,n),(n,p)->(m,p)", max_dims=2, min_side=0, max_side=3)
    )
    x = data.draw(arrays(NUMERIC, st.just(shapes.input_shapes[0]), small=True))
    y = data.draw(arrays(of_one_kind(x.dtype.name, NUMERIC), st.just(shapes.input_shapes[1]), small=True))
    agrees(lambda xp, x, y: (x @ y, xp.matmul(x, y), xp.linalg.matmul(x, y)), x, y, signs=False)
    a = data.draw(arrays(NUMERIC, st.just((2, 3)), small=True))
    agrees(
        lambda xp, a: (
            xp.vecdot(a, a),
            xp.vecdot(a, a, axis=0) if xp is not np else np.vecdot(a, a, axis=0),
            xp.tensordot(a, a, axes=2),
            xp.tensordot(a, a, axes=0),
            xp.tensordot(a, a, axes=((0, 1), (0, 1))),
            a @ a[0],
            xp.linalg.outer(a[0], a[1]),
            xp.linalg.cross(a, a[::-1]),
            xp.linalg.trace(a, offset=1),
            xp.linalg.diagonal(a, offset=-1),
        ),
        a,
        signs=False,
    )


def test_operators_that_the_standard_refuses_to_guess() -> None:
    for f in (lambda x: x @ 2.0, lambda x: operator.index(x[0] * 1.5)):
        with pytest.raises((TypeError, ValueError), match=r"matmul|no integer"):
            fg.make_program(f)(np.ones(2))


CONVERSIONS = [
    (bool, np.array(True)),
    (int, np.array(3)),
    (float, np.array(1.5)),
    (complex, np.array(1 + 2j)),
]


@pytest.mark.parametrize(("kind", "x"), CONVERSIONS)
def test_conversions_to_python(kind: Any, x: Any) -> None:
    seen = []

    def f(t: Any, x: Any) -> Any:
        seen.append(kind(x if kind in (bool, int) else fg.stop_gradient(x)))
        if kind is int:
            assert operator.index(x) == 3
        return t * t

    fg.vjp(f, np.float64(2.0), x)
    assert seen[0] == x


ATTRIBUTES = ("T", "device", "dtype", "mT", "ndim", "shape", "size", "to_device", "__setitem__")
DUNDERS = (
    *(
        [
            "abs",
            "add",
            "and",
            "array_namespace",
            "bool",
            "complex",
            "dlpack",
            "dlpack_device",
            "eq",
            "float",
            "floordiv",
            "ge",
            "getitem",
            "gt",
        ]
    ),
    *(
        [
            "index",
            "int",
            "invert",
            "le",
            "lshift",
            "lt",
            "matmul",
            "mod",
            "mul",
            "ne",
            "neg",
            "or",
            "pos",
            "pow",
            "rshift",
            "sub",
            "truediv",
            "xor",
        ]
    ),
)
BOTH_SIDES = [
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
]


def test_traced_arrays_have_every_attribute() -> None:
    def f(x: Any) -> Any:
        for name in ATTRIBUTES:
            assert hasattr(x, name), name
        for name in DUNDERS:
            assert hasattr(type(x), f"__{name}__"), name
        for name in BOTH_SIDES:
            assert hasattr(type(x), f"__r{name}__"), name
        return x

    fg.make_program(f)(np.ones((2, 2)))


# -- signatures ---------------------------------------------------------------------------------------------

DEFAULTS = {
    **{name: {"axis": -1, "descending": False} for name in ("argsort", "sort")},
    "concat": {"axis": 0},
    "stack": {"axis": 0},
    "unstack": {"axis": 0},
    "vecdot": {"axis": -1},
    "tensordot": {"axes": 2},
    "take_along_axis": {"axis": -1},
    "meshgrid": {"indexing": "xy"},
    "searchsorted": {"side": "left", "sorter": None},
    "diff": {"axis": -1, "n": 1, "prepend": None, "append": None},
    "linalg.qr": {"mode": "reduced"},
    "linalg.svd": {"full_matrices": True},
    "linalg.matrix_norm": {"ord": "fro", "keepdims": False},
    "linalg.vector_norm": {"ord": 2, "axis": None, "keepdims": False},
    "linalg.cross": {"axis": -1},
    "linalg.cholesky": {"upper": False},
    "linalg.trace": {"offset": 0},
    "linalg.diagonal": {"offset": 0},
    **{f"fft.{n}": {"n": None, "axis": -1} for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{n}": {"s": None, "axes": None} for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: {"d": 1.0, "device": None} for name in ("fft.fftfreq", "fft.rfftfreq")},
    **{name: {"k": 0} for name in ("tril", "triu", "eye")},
    **{name: {"axis": None} for name in ("std", "var")},
    **{
        name: {"axis": None}
        for name in ("sum", "prod", "max", "min", "mean", "all", "any", "argmax", "argmin")
    },
    "isin": {"invert": False},
    "astype": {"copy": True, "device": None},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name: str) -> None:
    function = operator.attrgetter(name)(xp)
    found = inspect.signature(function).parameters
    for parameter, wanted in DEFAULTS[name].items():
        if parameter in found:
            given_default = found[parameter].default
            is_open = type(given_default).__name__ in ("_NoValueType", "NoValue", "type", "object")
            assert is_open or given_default == wanted, (name, parameter, given_default)
            assert found[parameter].kind is not inspect.Parameter.POSITIONAL_ONLY
        else:
            kinds = [p.kind for p in found.values()]
            assert inspect.Parameter.VAR_KEYWORD in kinds, (name, parameter)


# -- linalg and fft -----------------------------------------------------------------------------------------


@st.composite
def matrices(draw: Any, square: bool = True, dtypes: Any = FLOATING) -> Any:
    """Stacks of well-conditioned matrices, also stacks of none and matrices of no rows."""
    stack = draw(st.sampled_from([(), (2,), (0,), (2, 1)]))
    rows = draw(st.integers(0, 4))
    columns = rows if square else draw(st.integers(1, 4))
    dtype = np.dtype(draw(st.sampled_from(list(dtypes))))
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    x = generator.normal(size=(*stack, rows, columns)) + (3 * np.eye(rows, columns))
    if dtype.kind == "c":
        x = x + 1j * generator.normal(size=x.shape)
    return x.astype(dtype)


@few
@given(x=matrices())
def test_square_matrices(x: Any) -> None:
    adjoint = np.conj(np.swapaxes(x, -1, -2))
    agrees(
        lambda xp, x: (
            xp.linalg.det(x),
            xp.linalg.inv(x),
            tuple(xp.linalg.slogdet(x)),
            xp.linalg.matrix_power(x, 2),
            xp.linalg.matrix_power(x, -1),
            xp.linalg.matrix_power(x, 0),
            xp.linalg.matrix_transpose(x),
            xp.linalg.trace(x),
            xp.linalg.solve(x, x),
        ),
        x,
        signs=False,
    )
    agrees(
        lambda xp, a: (xp.linalg.cholesky(a), xp.linalg.eigvalsh(a), xp.linalg.eigh(a).eigenvalues),
        x @ adjoint + np.eye(x.shape[-1], dtype=x.dtype),
    )
    assert xp.linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert xp.linalg.eigh(x @ adjoint)._fields == ("eigenvalues", "eigenvectors")
    assert xp.linalg.eig(x)._fields == ("eigenvalues", "eigenvectors")
    assert xp.linalg.eig(x).eigenvalues.dtype.kind == xp.linalg.eigvals(x).dtype.kind == "c"
    upper = xp.linalg.cholesky(x @ adjoint + np.eye(x.shape[-1], dtype=x.dtype), upper=True)
    same(np.tril(upper, -1), np.zeros_like(upper))


@few
@given(x=matrices(square=False))
def test_rectangular_matrices(x: Any) -> None:
    def call(xp: Any, x: Any) -> Any:
        q, r = xp.linalg.qr(x)
        u, s, vh = xp.linalg.svd(x, full_matrices=False)
        return (
            *(xp.abs(q), xp.abs(r), s, xp.abs(u), xp.abs(vh), xp.linalg.svdvals(x)),
            xp.linalg.vector_norm(x),
            xp.linalg.vector_norm(x, axis=-1, keepdims=True, ord=1),
            xp.linalg.vector_norm(x, axis=(-2, -1), ord=3),
            *[
                xp.linalg.matrix_norm(x, ord=o)
                for o in ("fro", "nuc", 2, *((1, np.inf) if x.shape[-2] else ()))
            ],
        )

    if x.shape[-2]:
        agrees(call, x, signs=False)
        agrees(lambda xp, x: (xp.linalg.pinv(x), xp.linalg.matrix_rank(x)), x, signs=False)
    assert xp.linalg.qr(x)._fields == ("Q", "R")
    assert xp.linalg.svd(x)._fields == ("U", "S", "Vh")


@few
@given(data=st.data())
def test_fourier_transforms(data: Any) -> None:
    x = data.draw(arrays(FLOATING, array_shapes(max_dims=3, min_side=2, max_side=4), small=True))
    axis, norm = (
        data.draw(st.integers(-x.ndim, x.ndim - 1)),
        data.draw(st.sampled_from(["forward", "backward", "ortho"])),
    )
    n = data.draw(st.none() | st.integers(1, 5))
    names = ["fft", "ifft", "irfft", "hfft", *(["rfft", "ihfft"] if x.dtype.kind == "f" else [])]
    agrees(lambda xp, x: tuple([getattr(xp.fft, f)(x, n=n, axis=axis, norm=norm) for f in names]), x)
    several = ["fftn", "ifftn", "irfftn", *(["rfftn"] if x.dtype.kind == "f" else [])]
    agrees(lambda xp, x: tuple([getattr(xp.fft, f)(x, norm=norm) for f in several]), x)
    agrees(lambda xp, x: (xp.fft.fftshift(x), xp.fft.ifftshift(x, axes=axis)), x)
    for count in (1, 4, 5):
        same(xp.fft.fftfreq(count, d=0.5), np.fft.fftfreq(count, 0.5))
        same(xp.fft.rfftfreq(count, d=0.5, dtype=xp.float32), np.fft.rfftfreq(count, 0.5).astype(np.float32))
