"""`make_program` and `eval_shape`: what they take, what they return, what they leave undone."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import eval_shape, make_program
from funcgrad.errors import FuncgradError, NotDifferentiableError, ShapeError

X = np.array([1.0, 2.0, 3.0])


def test_program_computes_the_function_on_flat_arguments() -> None:
    program = make_program(lambda p, k: {"y": p["w"] * k, "z": np.sum(p["w"])})({"w": X}, 2.0)
    y, z = program(X, 2.0)
    np.testing.assert_array_equal(y, 2.0 * X)
    assert z == 6.0
    assert [str(a) for a in program.in_avals] == ["f64[3]", "f64*[]"]
    assert [str(a) for a in program.out_avals] == ["f64[3]", "f64[]"]


def test_program_needs_only_shapes() -> None:
    spec = fg.ShapeDtypeStruct((3,), np.float32)
    program = make_program(lambda x, p: x @ p["y"])(spec, {"y": spec})
    assert program.out_avals == (fg.ShapeDtypeStruct((), np.float32),)
    assert program(X.astype(np.float32), X.astype(np.float32)) == (14.0,)


def test_inputs_are_named_after_the_parameters() -> None:
    def loss(weights: Any, data: Any, *, rate: float) -> Any:
        return np.sum(weights["first"][0] * data) * rate

    text = str(make_program(loss)({"first": [X]}, X, rate=0.5))
    assert text.splitlines()[0].startswith(
        "program loss(weights_first_0: f64[3], data: f64[3], rate: f64*[])"
    )


def test_names_of_a_gradient_are_those_of_its_function() -> None:
    def loss(weights: Any, data: Any) -> Any:
        return np.sum(weights * data)

    text = str(make_program(fg.grad(loss))(X, X))
    assert "weights: f64[3], data: f64[3]" in text


def test_static_arguments() -> None:
    def f(x: Any, n: int, name: str) -> Any:
        return x**n if name == "power" else x

    assert make_program(f, static_argnums=(1, 2))(3.0, 2, "power")(3.0) == (9.0,)
    assert make_program(f, static_argnums=(1, -1))(3.0, 2, "other")(3.0) == (3.0,)
    assert make_program(lambda x, n: x**n, static_argnums=1)(3.0, 3)(3.0) == (27.0,)


def test_return_shape() -> None:
    program, shapes = make_program(lambda x: {"a": x, "b": (np.sum(x), None)}, return_shape=True)(X)
    assert shapes == {
        "a": fg.ShapeDtypeStruct((3,), np.float64),
        "b": (fg.ShapeDtypeStruct((), np.float64), None),
    }
    assert len(program.outputs) == 2


def test_constants_and_inputs_as_results() -> None:
    program = make_program(lambda x, y: (x, 1.0, np.arange(2), x))(X, X)
    outs = program(X, X)
    np.testing.assert_array_equal(outs[0], X)
    assert outs[1] == 1.0
    np.testing.assert_array_equal(outs[2], [0, 1])
    assert not np.shares_memory(outs[0], X)
    assert not np.shares_memory(outs[0], outs[3])


def test_unused_operations_are_left_out() -> None:
    def f(x: Any) -> Any:
        np.sin(np.cos(x))
        return x * 2.0

    assert [e.primitive.name for e in make_program(f)(X)] == ["mul"]


def test_function_runs_once_and_computes_nothing() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(x)
        return x + 1.0

    make_program(f)(X)
    assert len(calls) == 1
    assert repr(calls[0]).startswith("Tracer(f64[3]")


def test_wrong_number_of_inputs_is_refused() -> None:
    program = make_program(np.add)(X, X)
    with pytest.raises((FuncgradError, TypeError, ValueError)):
        program(X)
    with pytest.raises((FuncgradError, TypeError, ValueError)):
        program(X, X, X)


def test_arguments_that_are_no_arrays_are_refused() -> None:
    with pytest.raises(NotDifferentiableError, match="make_program"):
        make_program(lambda x: x)("text")


# -- eval_shape --------------------------------------------------------------------------------


def test_eval_shape_of_structures() -> None:
    Pair = namedtuple("Pair", "a b")
    found = eval_shape(lambda p, k: Pair(p["x"] @ p["y"], k), {"x": np.ones((2, 3)), "y": np.ones((3, 4))}, 1)
    assert type(found) is Pair
    assert found.a.shape == (2, 4)
    assert found.a.dtype == np.float64
    assert found.b.shape == ()
    assert found.b.dtype == np.int64


def test_eval_shape_promotes_as_numpy_does() -> None:
    single = fg.ShapeDtypeStruct((2,), np.float32)
    assert eval_shape(lambda x: x * 2.0, single).dtype == np.float32
    assert eval_shape(lambda x: x * np.float64(2.0), single).dtype == np.float64
    assert eval_shape(lambda x: x > 0, single).dtype == np.bool_
    assert eval_shape(np.sum, fg.ShapeDtypeStruct((3,), np.bool_)).dtype == np.int64
    assert eval_shape(np.mean, fg.ShapeDtypeStruct((3,), np.int32)).dtype == np.float64


def test_eval_shape_computes_nothing_large() -> None:
    huge = fg.ShapeDtypeStruct((10**6, 10**6), np.float64)
    assert eval_shape(lambda x: (x @ x.T).sum(axis=0), huge).shape == (10**6,)


def test_eval_shape_of_transforms() -> None:
    assert eval_shape(fg.grad(lambda x: np.sum(x**2)), X).shape == (3,)
    assert eval_shape(fg.hessian(lambda x: np.sum(x**2)), X).shape == (3, 3)
    assert eval_shape(fg.vmap(np.outer), np.ones((5, 2)), np.ones((5, 3))).shape == (5, 2, 3)


def test_eval_shape_with_keywords() -> None:
    assert eval_shape(np.sum, np.ones((2, 3)), axis=None).shape == ()
    assert eval_shape(lambda x, *, y: x + y, 1.0, y=np.ones(4)).shape == (4,)


def test_eval_shape_says_what_does_not_fit() -> None:
    with pytest.raises(ShapeError):
        eval_shape(np.matmul, np.ones((2, 3)), np.ones((2, 3)))
