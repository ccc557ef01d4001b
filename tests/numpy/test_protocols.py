"""How NumPy, Python and other libraries get at a traced array: what they receive and what is refused."""

from __future__ import annotations

import cmath
import copy
import math
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import (
    ConcretizationError,
    EscapedTracerError,
    TracerAssignmentError,
    UnsupportedFunctionError,
)

fnp = fg.numpy
X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def constructors_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds where NumPy's constructors are not seen: in other packages' code, and without a source."""
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")


class Holder:
    """Something with an attribute."""

    def __init__(self, x: Any) -> None:
        self.x = x


# -- np.asarray(t): the value, and a warning --------------------------------------------------------------


def by_variable(x: Any) -> Any:
    return np.asarray(x)


def by_keyword(x: Any) -> Any:
    return np.array(object=x)


def by_attribute(x: Any) -> Any:
    holder = Holder(x)
    return np.asarray(holder.x)


def by_element(x: Any) -> Any:
    items = [x, 1.0]
    return np.asarray(items[0])


def by_operator(x: Any) -> Any:
    return np.asarray(x * 1.0)


def by_call(x: Any) -> Any:
    return np.asarray(np.abs(x))


def by_method(x: Any) -> Any:
    return np.asarray(x.copy())


def with_dtype(x: Any) -> Any:
    return np.asarray(x, dtype=np.float32)


def by_closure(x: Any) -> Any:
    def inner() -> Any:
        return np.asarray(x)

    return inner()


PASSED = [
    by_variable,
    by_keyword,
    by_attribute,
    by_element,
    by_operator,
    by_call,
    by_method,
    with_dtype,
    by_closure,
]


@pytest.mark.parametrize("convert", PASSED)
def test_asarray_of_a_tracer_is_refused(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(ConcretizationError, match=r"takes the value of a traced f64\[3\]") as caught:
        fg.grad(lambda x: np.sum(convert(x) * x))(X)
    assert "keeps the gradient" in str(caught.value)
    assert os.path.basename(__file__) in str(caught.value)


@pytest.mark.parametrize("convert", PASSED)
def test_asarray_of_what_has_no_gradient_is_its_value(convert: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        value = convert(fg.stop_gradient(x))
        assert type(value) is np.ndarray
        assert value.dtype.kind == "f"
        value[0] = 100.0  # an array of its own
        return np.sum(value * x)

    np.testing.assert_array_equal(fg.grad(f)(X), [100.0, 2.0, 3.0])


@pytest.mark.parametrize("convert", PASSED)
def test_asarray_without_a_value(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(ConcretizationError, match=r"np\.(as)?array\(\) needs the value"):
        fg.make_program(lambda x: np.sum(convert(x)))(np.ones(3))


def test_asarray_without_copy() -> None:
    with pytest.raises(ValueError, match="no memory"):
        fg.grad(lambda x: np.sum(np.asarray(x, copy=False)))(X)


def test_integers_and_booleans_are_given_without_warning() -> None:
    def f(x: Any) -> Any:
        counts = np.zeros(2, int)
        counts[0] = np.sum(x > 1.5)
        table = np.array([10.0, 20.0, 30.0])
        return x[0] * table[np.asarray(np.sum(x > 0)) - 1] * counts[0]

    np.testing.assert_array_equal(fg.grad(f)(X), [60.0, 0.0, 0.0])


# -- np.array([t0, t1]): an array of objects, joined by the next operation --------------------------------


def numbers(count: int) -> Any:
    return [float(k) for k in range(count)]


LISTS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: np.array([x[0], x[1] ** 2, x[2]]),
    "list with a number": lambda x: np.array([x[0], 5.0, x[2]]),
    "tuple": lambda x: np.asarray((x[0], x[1], x[2])),
    "nested": lambda x: np.array([[x[0], x[1]], [2.0, x[2]]]),
    "vectors": lambda x: np.array([x, x**2]),
    "comprehension": lambda x: np.array([np.sin(y) for y in x]),
    "nested comprehension": lambda x: np.array([[y * z for z in x] for y in x]),
    "unpacked": lambda x: np.array([*x]),
    "list of a call": lambda x: np.array(list(map(np.sin, x))),
    "sum of lists": lambda x: np.array(list(x[:1]) + list(x[2:])),
    "conditional": lambda x: np.array([x[0], x[1]] if len(x) else x),
    "one element": lambda x: np.array([x[1]]),
    "as a sequence": lambda x: np.array(tuple(x)),
}


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_array_of_a_list_keeps_gradients(make: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        joined = make(x)
        assert joined.shape == make(X).shape
        return fnp.sum(fnp.cos(fnp.array(joined)) ** 2)

    fg.testing.check_grads(f, (X,), order=1)


def test_array_of_a_list_in_a_variable() -> None:
    def f(x: Any) -> Any:
        items = [y * x[0] for y in x]
        return np.array(items) @ np.array([1.0, 2.0, 3.0])

    np.testing.assert_allclose(fg.grad(f)(X), [15.0, 2.0, 3.0])


USES: dict[str, Callable[[Any, Any], Any]] = {
    "ufunc": lambda a, x: np.exp(a),
    "operator": lambda a, x: a * 2.0 + a,
    "with a tracer": lambda a, x: a * x,
    "tracer first": lambda a, x: x * a,
    "matrix product": lambda a, x: np.outer(x, x) @ a,
    "product with a tracer": lambda a, x: a @ np.outer(x, x),
    "array product": lambda a, x: np.ones((3, 3)) @ a,
    "sum": lambda a, x: a.sum(),
    "index": lambda a, x: a[1:] * a[0],
    "two ufuncs": lambda a, x: np.sqrt(np.abs(a)),
    "binary ufunc": lambda a, x: np.arctan2(a, 2.0 * x),
    "function": lambda a, x: np.linalg.norm(a),
    "where": lambda a, x: np.where(x > 1.5, a, 0.0),
    "concatenate": lambda a, x: np.concatenate([a, x]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_arrays_of_tracers_in_operations(use: Callable[[Any, Any], Any]) -> None:
    def by_list(x: Any) -> Any:
        return fnp.sum(fnp.asarray(use(np.array([x[0] * 2.0, x[1] ** 2, x[0] * x[2]]), x)))

    def by_stack(x: Any) -> Any:
        return fnp.sum(fnp.asarray(use(np.stack([x[0] * 2.0, x[1] ** 2, x[0] * x[2]]), x)))

    np.testing.assert_allclose(fg.grad(by_list)(X), fg.grad(by_stack)(X))


def test_a_function_may_return_an_array_of_tracers() -> None:
    np.testing.assert_allclose(
        fg.jacrev(lambda x: np.array([x[0] * x[1], x[2]]))(X), [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    )
    np.testing.assert_allclose(fg.vmap(lambda x: np.array([x, x * x]))(X), np.stack([X, X * X], axis=1))


def test_lists_as_operands() -> None:
    np.testing.assert_allclose(fg.grad(lambda x: np.sum([x[0], x[1] * x[0]]))(X), [3.0, 1.0, 0.0])
    np.testing.assert_allclose(fg.grad(lambda x: np.dot(x, [x[1], 1.0, x[0]]))(X), [5.0, 2.0, 1.0])
    np.testing.assert_allclose(fg.grad(lambda x: fnp.mean([x[0], x[1]]))(X), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(np.stack([x[:2], (x[2], 1.0)])))(X), [1.0, 1.0, 1.0])


# -- what would drop a gradient is refused ----------------------------------------------------------------


def list_with_dtype(x: Any) -> Any:
    return np.array([x[0], x[1]], dtype=float)


def element(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = x[0]
    return a


def whole(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = x
    return a


def fancy(x: Any) -> Any:
    a = np.zeros(3)
    a[[0, 1, 2]] = x
    return a


def masked(x: Any) -> Any:
    a = np.zeros(3)
    a[a == 0] = x
    return a


def list_of_tracers(x: Any) -> Any:
    a = np.zeros(3)
    a[:2] = [x[0], x[1]]
    return a


def added(x: Any) -> Any:
    a = np.zeros(3)
    a += x
    return a


def added_to_element(x: Any) -> Any:
    a = np.zeros(3)
    a[1] += x[1]
    return a


def out(x: Any) -> Any:
    return np.exp(x, out=np.zeros(3))


def filled(x: Any) -> Any:
    a = np.zeros(3)
    a.fill(x[0])
    return a


def copied_to(x: Any) -> Any:
    a = np.zeros(3)
    np.copyto(a, x)
    return a


def put(x: Any) -> Any:
    a = np.zeros(3)
    np.put(a, [0], x[0])
    return a


def added_at(x: Any) -> Any:
    a = np.zeros(3)
    np.add.at(a, [0, 0], x[0])
    return a


STORED = [
    element,
    whole,
    fancy,
    masked,
    list_of_tracers,
    added,
    added_to_element,
    out,
    filled,
    copied_to,
    put,
    added_at,
]


@pytest.mark.parametrize("store", [*STORED, list_with_dtype])
def test_stores_into_real_arrays_are_refused(store: Callable[[Any], Any]) -> None:
    for transform in (fg.grad, fg.vmap):
        with pytest.raises(TracerAssignmentError, match=r"test_protocols\.py") as caught:
            transform(lambda x: np.sum(store(x)))(X if transform is fg.grad else np.ones((2, 3)))
        assert store.__name__ in str(caught.value)


def test_functions_that_make_numbers_of_lists_are_refused() -> None:
    with pytest.raises(ConcretizationError, match=r"join the traced values with np\.stack"):
        fg.grad(lambda x: np.mean([x[0], x[1]]))(X)


def test_math_functions_are_refused_by_name() -> None:
    with pytest.raises(ConcretizationError, match=r"math\.sin\(\) takes the value(.|\n)*Use np\.sin,"):
        fg.grad(lambda x: math.sin(x) * x)(0.5)
    with pytest.raises(ConcretizationError, match=r"cmath\.exp\(\)(.|\n)*Use np\.exp,"):
        fg.grad(lambda x: cmath.exp(x).real * x)(0.0)
    assert fg.grad(lambda x: math.exp(fg.stop_gradient(x)) * x)(0.0) == 1.0
    with pytest.raises(ConcretizationError, match=r"math\.sin\(\) needs the value"):
        fg.make_program(lambda x: math.sin(x) * x)(1.0)


@pytest.mark.parametrize(
    "transform",
    [
        *(fg.jit, fg.grad, fg.jacfwd, fg.jacrev, fg.value_and_grad, fg.checkpoint),
        lambda f: lambda x: fg.vjp(f, x)[0],
        lambda f: lambda x: fg.linearize(f, x)[0],
        lambda f: lambda x: fg.jvp(f, (x,), (1.0,)),
        lambda f: lambda x: fg.jit(lambda y: f(x) + y)(1.0),
    ],
)
def test_an_escaped_tracer_does_not_come_back_without_a_word(transform: Any) -> None:
    kept: list[Any] = []
    fg.grad(lambda x: kept.append(x * 2.0) or x)(1.0)  # type: ignore[func-returns-value]
    with pytest.raises(EscapedTracerError, match="after its trace ended"):
        transform(lambda x: x)(kept[0])


def test_an_escaped_tracer_gives_no_value() -> None:
    kept: list[Any] = []
    fg.grad(lambda x: kept.append(x * 2.0) or x)(1.0)  # type: ignore[func-returns-value]
    for use in (np.asarray, float, bool, lambda t: t[...] + 1, lambda t: t.tolist()):
        with pytest.raises(EscapedTracerError):
            use(kept[0])


# -- Python's own protocols -------------------------------------------------------------------------------


def test_iteration_length_membership() -> None:
    def f(x: Any) -> Any:
        a, b, c = x
        assert len(x) == 3
        assert next(reversed(list(x))) is not None
        return a * min(b, c) * sum(x) * max(x) + sorted(x, reverse=True)[0]

    fg.testing.check_grads(f, (X,), order=1)
    assert fg.grad(lambda x: x[0] * ((2.0 in x) + 2 * (5.0 in x)))(X)[0] == 1.0
    with pytest.raises(TypeError, match="0-d"):
        fg.grad(list)(1.0)
    with pytest.raises(TypeError, match="unsized"):
        fg.grad(len)(1.0)


def test_copies() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        first, second = copy.copy(y), copy.deepcopy([y])[0]
        y[0] = 0.0
        return first[0] * 2.0 + second[0] * 3.0 + y[0]

    np.testing.assert_array_equal(fg.grad(f)(X), [5.0, 0.0, 0.0])
    with pytest.raises(ConcretizationError, match="cannot be pickled"):
        fg.grad(pickle.dumps)(X)


def test_hashing_is_refused() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        fg.grad(lambda x: {x: 1.0})(1.0)


def test_attributes() -> None:
    def f(x: Any) -> Any:
        assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize, x.nbytes) == ((2, 3), 2, 6, np.float64, 8, 48)
        assert not hasattr(x, "__array_interface__")
        assert not hasattr(x, "no_such_thing")
        with pytest.raises(AttributeError, match="Did you mean 'reshape'"):
            x.rehsape(2)
        return np.sum(x.T)

    fg.grad(f)(np.ones((2, 3)))
    with pytest.raises(AttributeError, match=r"ndarray\.tobytes is not supported"):
        fg.grad(lambda x: x.tobytes())(X)
    with pytest.raises(UnsupportedFunctionError, match=r"ndarray\.view"):
        fg.grad(lambda x: x.view(np.int64))(X)


def test_array_api() -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        assert xp is fnp
        return xp.sum(xp.exp(x))

    np.testing.assert_allclose(fg.grad(f)(X), np.exp(X))
    with pytest.raises(ConcretizationError, match="DLPack"):
        fg.grad(lambda x: np.from_dlpack(x).sum())(X)


def test_printing_and_formatting() -> None:
    seen: list[str] = []

    def f(x: Any) -> Any:
        seen.extend([f"{x * 2:.2f}", str(x), repr(x)])
        return x

    fg.grad(f)(1.0)
    assert seen == ["2.00", "Tracer(np.float64(1.0))", "Tracer(np.float64(1.0))"]


def test_like() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(3, like=x)
        y[0] = x[0]
        return np.sum(y) + np.sum(np.asarray([1.0], like=x))

    np.testing.assert_array_equal(fg.grad(f)(X), [1.0, 0.0, 0.0])


def test_ufunc_at() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        np.add.at(y, [0, 0], x[1])
        np.multiply.at(y, np.array([2]), x[:1])
        np.maximum.at(y, slice(0, 1), 100.0 * x[2])
        return np.sum(y)

    def by_numpy(x: Any) -> Any:
        return f(x.copy())

    fg.testing.check_grads(lambda x: f(x) if not isinstance(x, np.ndarray) else by_numpy(x), (X,), order=1)


@pytest.mark.parametrize(
    ("other", "remedy"),
    [
        (np.ma.array([1.0, 2.0], mask=[False, True]), r"its mask, and use np\.where"),
        (np.ones((2, 2)).view(np.matrix), "and use @"),
    ],
)
def test_arrays_with_arithmetic_of_their_own_are_refused(other: Any, remedy: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(x * x)

    plain = np.ones(other.shape)
    jitted = fg.jit(f)
    assert jitted(plain) == plain.size
    runs: list[Callable[[], Any]] = [
        lambda: fg.grad(f)(other),
        lambda: jitted(other),
        lambda: fg.grad(lambda x: np.sum(x * other))(plain),
        lambda: fg.grad(lambda x: np.sum(np.multiply(other, x)))(plain),
        lambda: fg.grad(lambda x: np.sum(np.where(other > 0, x, other)))(plain),
    ]
    for run in runs:
        with pytest.raises(TypeError, match=remedy):
            run()


def test_flags_are_those_of_a_new_array() -> None:
    def f(x: Any) -> Any:
        assert x.flags.writeable
        assert x.flags.c_contiguous
        assert not x.flags.f_contiguous
        return np.sum(x)

    assert fg.grad(f)(np.ones((2, 3))).sum() == 6.0
