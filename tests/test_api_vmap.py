"""`vmap`: axes in every notation, nesting, derivatives, and what it refuses."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import grad, jvp, make_program, vjp, vmap
from funcgrad.errors import FuncgradError, TracedBranchError
from funcgrad.testing import check_vmap

A = np.arange(24.0).reshape(2, 3, 4)
B = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def test_one_argument() -> None:
    np.testing.assert_array_equal(vmap(np.sum)(A), np.sum(A, axis=(1, 2)))


def test_the_function_sees_one_example() -> None:
    seen = []
    vmap(lambda x: seen.append((x.shape, x.ndim, x.size)) or x)(A)
    assert seen == [((3, 4), 2, 12)]


# -- in_axes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_in_axes_int(axis: int) -> None:
    check_vmap(lambda x: np.sin(x) * 2.0, (A,), in_axes=axis)
    np.testing.assert_array_equal(vmap(np.sum, in_axes=axis)(A), np.sum(np.moveaxis(A, axis, 0), axis=(1, 2)))


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0), (1, 0), (-1, -2), [0, 0]])
def test_in_axes_per_argument(axes: Any) -> None:
    square = np.arange(9.0).reshape(3, 3)
    check_vmap(lambda x, y: x * y + x, (square, square.T), in_axes=axes)


def test_in_axes_prefix_covers_a_subtree() -> None:
    params = {"w": np.ones((5, 2)), "b": np.arange(5.0)}
    found = vmap(lambda p, x: p["w"] * x + p["b"], in_axes=(0, None))(params, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, np.array([1.0, 2.0]) + np.arange(5.0)[:, None])


def test_in_axes_inside_a_tree() -> None:
    def f(p: Any, pair: Any) -> Any:
        return p["w"] * p["b"] + pair[0] * pair[1]

    params = {"w": np.arange(6.0).reshape(2, 3), "b": 2.0}
    pair = (np.ones((3, 2)), np.ones(2))
    found = vmap(f, in_axes=({"w": 1, "b": None}, (0, None)))(params, pair)
    assert found.shape == (3, 2)
    np.testing.assert_array_equal(found, 2.0 * params["w"].T + 1.0)


def test_in_axes_namedtuple_and_none() -> None:
    Pair = namedtuple("Pair", "x y")
    found = vmap(lambda p, nothing: p.x * p.y, in_axes=(Pair(0, None), None))(Pair(np.arange(3.0), 2.0), None)
    np.testing.assert_array_equal(found, 2.0 * np.arange(3.0))


def test_keyword_arguments_are_mapped_over_axis_0() -> None:
    found = vmap(lambda x, y: x * np.sum(y), in_axes=None)(2.0, y=np.ones((3, 4)))
    np.testing.assert_array_equal(found, [8.0, 8.0, 8.0])


def test_unmapped_arguments_may_be_anything() -> None:
    found = vmap(lambda x, name, f: f(x) if name == "sin" else x, in_axes=(0, None, None))(
        np.zeros(2), "sin", np.cos
    )
    np.testing.assert_array_equal(found, [1.0, 1.0])


def test_axis_size() -> None:
    found = vmap(lambda x: x + 1.0, in_axes=None, axis_size=3)(1.0)
    np.testing.assert_array_equal(found, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(vmap(lambda: 1.0, axis_size=2)(), [1.0, 1.0])


# -- out_axes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_out_axes_int(axis: int) -> None:
    found = vmap(lambda x: x * 2.0, out_axes=axis)(A)
    np.testing.assert_array_equal(found, np.moveaxis(2.0 * A, 0, axis))


def test_out_axes_per_result() -> None:
    first, second = vmap(lambda x: (x, np.sum(x)), out_axes=(1, 0))(A)
    np.testing.assert_array_equal(first, np.moveaxis(A, 0, 1))
    assert second.shape == (2,)


def test_out_axes_in_a_tree() -> None:
    found = vmap(lambda x: {"a": x, "b": (x, x)}, out_axes={"a": -1, "b": 1})(A)
    assert found["a"].shape == (3, 4, 2)
    assert found["b"][0].shape == (3, 2, 4)


def test_out_axes_none_for_what_does_not_depend_on_the_example() -> None:
    found, constant = vmap(lambda x, y: (x * y, y + 1.0), in_axes=(0, None), out_axes=(0, None))(
        np.ones(3), 2.0
    )
    assert found.shape == (3,)
    assert constant == 3.0


def test_out_axes_none_for_a_mapped_result_is_refused() -> None:
    with pytest.raises((FuncgradError, ValueError), match="out_axes"):
        vmap(lambda x: x, out_axes=None)(np.arange(3.0))


def test_results_that_do_not_depend_on_the_example_are_repeated() -> None:
    np.testing.assert_array_equal(vmap(lambda x: 3.0)(np.ones(2)), [3.0, 3.0])
    np.testing.assert_array_equal(vmap(lambda x: np.arange(2.0))(np.ones(3)), np.tile(np.arange(2.0), (3, 1)))


def test_structure_of_the_result_is_kept() -> None:
    found = vmap(lambda x: {"a": [x, None], "b": ()})(np.arange(3.0))
    assert found["a"][1] is None
    assert found["b"] == ()
    np.testing.assert_array_equal(found["a"][0], np.arange(3.0))


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2])
def test_sizes_zero_and_one(size: int) -> None:
    x = np.ones((size, 3))
    assert vmap(lambda x: np.sum(np.exp(x)) * x)(x).shape == (size, 3)
    assert vmap(lambda x: np.sum(np.exp(x)))(x).shape == (size,)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.complex64, np.uint8])
def test_dtypes(dtype: Any) -> None:
    x = np.array([[1, 0], [1, 1], [0, 1]]).astype(dtype)
    found = vmap(lambda x: x)(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, x)


def test_matrix_products_in_every_batching() -> None:
    x, y = A, np.swapaxes(A, 1, 2)
    check_vmap(np.matmul, (x, y))
    check_vmap(np.matmul, (x, y[0]), in_axes=(0, None))
    check_vmap(np.matmul, (x[0], y), in_axes=(None, 0))
    check_vmap(np.dot, (x[:, 0], y[:, :, 0]))
    check_vmap(lambda x, y: x @ y, (x[:, 0], y[0]), in_axes=(0, None))
    np.testing.assert_allclose(vmap(vmap(np.dot, (None, 0)), (0, None))(B, B), B @ B.T)


def test_batched_indices() -> None:
    x, i = np.arange(12.0).reshape(3, 4), np.array([0, 3, 1])
    check_vmap(lambda x, i: x[i], (x, i))
    # NumPy itself reads an index of a real array, so an array that is not mapped needs our `take`.
    check_vmap(fg.numpy.take, (x[0], i), in_axes=(None, 0))
    check_vmap(lambda x, i: np.take_along_axis(x, i, 0), (x, np.stack([i, i, i])))


def test_conditions_become_selections() -> None:
    check_vmap(lambda x: np.where(x > 0.0, np.sqrt(np.abs(x)), -x), (np.array([-1.0, 4.0, 9.0]),))


def test_sorting_and_reductions() -> None:
    for f in (np.sort, np.max, np.argmax, np.cumsum, np.mean, np.std, np.prod, np.any):
        check_vmap(f, (A[0],))


def test_assignment_inside() -> None:
    def f(x: Any) -> Any:
        y = fg.numpy.zeros(3)
        y[0] = x[1] ** 2
        y[1:] += x[:2]
        return y

    check_vmap(f, (np.arange(6.0).reshape(2, 3),))


# -- nesting -----------------------------------------------------------------------------------


def test_nested_axes() -> None:
    found = vmap(vmap(lambda x, y: x * y, in_axes=(0, None)), in_axes=(None, 0))(
        np.arange(3.0), np.arange(4.0)
    )
    np.testing.assert_array_equal(found, np.outer(np.arange(4.0), np.arange(3.0)))
    found = vmap(vmap(np.sum, in_axes=1), in_axes=1, out_axes=1)(A)
    np.testing.assert_array_equal(found, np.sum(A, axis=0).T)


def test_nested_vmap_captures_the_outer_example() -> None:
    xs, ys = np.arange(2.0), np.arange(3.0)
    found = vmap(lambda x: vmap(lambda y: x - y)(ys))(xs)
    np.testing.assert_array_equal(found, xs[:, None] - ys)


def test_vmap_of_grad_jvp_and_vjp() -> None:
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(vmap(grad(np.sin))(x), np.cos(x))
    np.testing.assert_allclose(vmap(lambda x, t: jvp(np.sin, (x,), (t,))[1])(x, x), np.cos(x) * x)
    np.testing.assert_allclose(vmap(lambda x, b: vjp(np.sin, x)[1](b)[0])(x, x), np.cos(x) * x)


def test_jvp_and_vjp_of_vmap() -> None:
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(jvp(vmap(np.sin), (x,), (x,))[1], np.cos(x) * x)
    np.testing.assert_allclose(vjp(vmap(np.sin), x)[1](x)[0], np.cos(x) * x)


def test_value_and_structure_under_grad() -> None:
    def loss(p: Any) -> Any:
        return np.sum(vmap(lambda w, b: w * b**2, in_axes=(0, None))(p["w"], p["b"]))

    found = grad(loss)({"w": np.arange(3.0), "b": 2.0})
    np.testing.assert_array_equal(found["w"], [4.0, 4.0, 4.0])
    assert found["b"] == 12.0


def test_program_of_vmap() -> None:
    program = make_program(vmap(np.dot))(np.ones((3, 2)), np.ones((3, 2)))
    (value,) = program(np.ones((3, 2)), np.ones((3, 2)))
    np.testing.assert_array_equal(value, [2.0, 2.0, 2.0])


def test_vmap_as_decorator_keeps_the_name() -> None:
    @vmap
    def double(x: Any) -> Any:
        """Twice."""
        return 2.0 * x

    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    np.testing.assert_array_equal(double(np.arange(2.0)), [0.0, 2.0])


# -- refusals ----------------------------------------------------------------------------------


def test_branches_and_loops_of_an_example_are_recorded() -> None:
    """Where Python's control flow asks for a value, the function is recorded again, as under ``jit``."""
    table = np.arange(5.0) ** 2

    def f(x: Any) -> Any:
        k = 0
        while x < 3.0:
            x = x * 1.5
            k += 1
        return table[min(k, 4)] * x

    xs = np.array([0.1, 1.0, 4.0])
    np.testing.assert_allclose(vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_allclose(vmap(fg.grad(f))(xs), [fg.grad(f)(x) for x in xs])
    np.testing.assert_allclose(fg.grad(lambda x: vmap(f)(x).sum())(xs), [fg.grad(f)(x) for x in xs])
    np.testing.assert_allclose(vmap(vmap(f))(xs[:, None]), [[f(x)] for x in xs])


def test_an_array_of_numpy_at_an_index_of_each_example() -> None:
    table = np.arange(12.0).reshape(4, 3)
    xs = np.random.default_rng(0).normal(size=(5, 3))
    found = vmap(lambda x: table[np.argmax(x)] @ x + table[1, np.argmin(x)])(xs)
    np.testing.assert_allclose(found, [table[np.argmax(x)] @ x + table[1, np.argmin(x)] for x in xs])


def test_a_function_that_has_changed_something_is_not_run_again() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * len(calls) if x > 0.0 else x

    with pytest.raises(TracedBranchError, match="branch"):
        vmap(f)(np.array([1.0, -1.0]))
    assert calls == [1]


def test_branches_are_refused_where_control_flow_is_left_to_python() -> None:
    with pytest.raises(TracedBranchError, match="branch"):
        fg.jit(vmap(lambda x: x if x > 0.0 else -x), control_flow=False)(np.array([1.0, -1.0]))


@pytest.mark.parametrize(
    "convert", [float, int, bool, np.float64, complex, lambda x: x.item(), lambda x: [1, 2][x]]
)
def test_values_of_an_example_do_not_exist(convert: Any) -> None:
    with pytest.raises(TypeError):
        # The lambda: int itself has no __name__ to trace.
        fg.jit(vmap(lambda x: convert(x)), control_flow=False)(np.array([1, 2]))  # noqa: PLW0108


def test_sizes_must_agree() -> None:
    with pytest.raises(ValueError, match="size"):
        vmap(np.add)(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="size"):
        vmap(np.sin, axis_size=3)(np.ones(2))


def test_axes_must_exist() -> None:
    with pytest.raises(ValueError, match="axis"):
        vmap(np.sin)(1.0)
    with pytest.raises(ValueError, match="axis"):
        vmap(np.sin, in_axes=2)(np.ones((2, 2)))
    with pytest.raises(ValueError, match="out_axes"):
        vmap(np.sin, out_axes=1)(np.ones(2))


def test_axes_must_fit_the_arguments() -> None:
    with pytest.raises(ValueError, match="in_axes"):
        vmap(np.add, in_axes=(0,))(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="in_axes"):
        vmap(lambda p: p["a"], in_axes=({"b": 0},))({"a": np.ones(2)})
    with pytest.raises(ValueError, match="out_axes"):
        vmap(lambda x: (x, x), out_axes=(0, 0, 0))(np.ones(2))
    with pytest.raises((TypeError, ValueError), match="in_axes"):
        vmap(np.sin, in_axes="0")(np.ones(2))
    with pytest.raises((TypeError, ValueError), match="in_axes"):
        vmap(np.sin, in_axes=0.5)(np.ones(2))


def test_nothing_to_map() -> None:
    with pytest.raises(ValueError, match="map"):
        vmap(np.sin, in_axes=None)(np.ones(2))
    with pytest.raises(ValueError, match="map"):
        vmap(lambda: 1.0)()
