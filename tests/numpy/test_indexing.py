"""Reading with every index NumPy knows: values and gradients against NumPy itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import funcgrad as fg
from funcgrad.errors import ConcretizationError, IndexingError

X = np.arange(1.0, 25.0).reshape(2, 3, 4)


def read_and_differentiate(x: Any, index: Any) -> tuple[Any, Any]:
    """``x[index]`` traced, and the gradient of a weighted sum of it."""
    weights = np.cos(np.arange(x[index].size)).reshape(x[index].shape)

    def weighted(x: Any) -> Any:
        part = x[index]
        return np.sum(part * weights), part

    (_, part), gradient = fg.value_and_grad(weighted, has_aux=True)(x)
    return part, gradient


def expected(x: Any, index: Any) -> tuple[Any, Any]:
    """The same from NumPy: the part, and its weights added up where they came from."""
    weights = np.cos(np.arange(x[index].size)).reshape(x[index].shape)
    gradient = np.zeros_like(x)
    np.add.at(gradient, index, weights)
    return x[index], gradient


def check(x: Any, index: Any) -> None:
    for found, wanted in zip(read_and_differentiate(x, index), expected(x, index), strict=True):
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted)


i, j = np.array([0, 1]), np.array([[2], [-1]])
INDICES = {
    "int": 1,
    "negative int": -1,
    "numpy int": np.int32(1),
    "ints": (1, -1, 2),
    "slice": np.s_[1:],
    "slices": np.s_[:, ::2, -1:0:-2],
    "empty slice": np.s_[2:1],
    "ellipsis": ...,
    "nothing": (),
    "ellipsis and int": np.s_[..., 1],
    "ints and ellipsis": np.s_[1, 2, 3, ...],
    "new axes": np.s_[None, 1, :, None],
    "array": i,
    "list": [1, 0, 1],
    "empty list": [],
    "matrix": j % 2,
    "two arrays": (i, j),
    "array and slice": np.s_[i, 1:],
    "slice and array": np.s_[:, j],
    "separated arrays": np.s_[i, :, i],
    "separated by int": np.s_[0, :, i],
    "int beside array": np.s_[:, 0, i],
    "separated by ellipsis": np.s_[i, ..., i],
    "separated by empty ellipsis": np.s_[:, i, ..., i],
    "separated by a new axis": np.s_[:, i, None, i],
    "new axis and array": np.s_[None, i, :, None],
    "negative steps and array": np.s_[::-1, i, ::-2],
    "mask": X % 3 == 1,
    "mask of leading axes": np.array([[True, False, True], [False, True, False]]),
    "mask of one axis": np.array([False, True]),
    "mask and slice": np.s_[:, [True, False, True], 1:],
    "mask and array": np.s_[np.array([True, True]), i],
    "mask of the last axes": np.s_[0, np.arange(12).reshape(3, 4) % 2 == 0],
    "no element": np.zeros((2, 3, 4), bool),
    "true": True,
    "false": np.False_,
    "true and array": np.s_[True, i],
    "array and true": np.s_[:, True, i],
    "int and true": np.s_[0, True],
    "array of rank 0": np.array(1),
    "int8 array": np.array([1, -2], np.int8),
    "empty array": np.zeros((0, 2), int),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_value_and_gradient(index: Any) -> None:
    check(X, index)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_under_vmap(index: Any) -> None:
    batch = np.stack([X, 2 * X, -X])
    np.testing.assert_allclose(fg.vmap(lambda x: x[index])(batch), np.stack([x[index] for x in batch]))


@given(st.data())
def test_basic_indices(data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    check(x, data.draw(hnp.basic_indices(shape, allow_newaxis=True)))


@given(st.data())
def test_integer_array_indices(data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    check(x, data.draw(hnp.integer_array_indices(shape)))


@given(st.data())
def test_mixed_indices(data: Any) -> None:
    """Any sequence of what may stand between brackets, arrays broadcast against each other."""
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=3))
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    broadcast = data.draw(st.sampled_from([(), (1,), (2,), (2, 1)]))
    index: list[Any] = []
    for n in shape[: data.draw(st.integers(1, len(shape)))]:
        kind = data.draw(st.sampled_from(["int", "slice", "array", "mask"]))
        if kind == "int":
            index.append(data.draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            index.append(data.draw(st.slices(n)))
        elif kind == "array":
            index.append(data.draw(hnp.arrays(np.intp, broadcast, elements=st.integers(-n, n - 1))))
        else:
            mask = np.zeros(n, bool)
            mask[data.draw(st.integers(0, n - 1))] = True
            index.append(mask)
    for extra in data.draw(st.lists(st.sampled_from(["none", "ellipsis"]), max_size=2, unique=True)):
        index.insert(data.draw(st.integers(0, len(index))), None if extra == "none" else ...)
    try:
        x[tuple(index)]
    except IndexError:  # a mask or an int moved by the ellipsis to an axis of another size
        reject()
    check(x, tuple(index))


def test_tracer_as_int_index() -> None:
    def pick(x: Any) -> Any:
        return x[np.argmax(x)] ** 2

    np.testing.assert_allclose(fg.grad(pick)(np.array([1.0, 3.0, 2.0])), [0.0, 6.0, 0.0])
    batch = np.array([[1.0, 3.0], [5.0, 2.0]])
    np.testing.assert_allclose(fg.vmap(fg.grad(pick))(batch), [[0.0, 6.0], [10.0, 0.0]])


def test_tracer_as_index_of_one_axis() -> None:
    rows = np.array([[0, 1], [1, 1]])
    found = fg.vmap(lambda r: fg.numpy.asarray(X[0])[r])(rows)
    np.testing.assert_array_equal(found, X[0][rows])
    found = fg.vmap(lambda x, r: x[r, :, -1])(np.stack([X, 2 * X]), rows)
    np.testing.assert_array_equal(found, np.stack([X[rows[0], :, -1], 2 * X[rows[1], :, -1]]))


def test_mask_computed_from_the_input() -> None:
    gradient = fg.grad(lambda x: np.sum(x[x > 1.5] ** 2))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(gradient, [0.0, 4.0, 6.0])


def test_repeated_reads_add_up() -> None:
    gradient = fg.grad(lambda x: np.sum(x[[0, 0, 2]] ** 3) + x[0] + x[-3])(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(gradient, [8.0, 0.0, 27.0])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: x[i, 1],
        lambda x, i: np.take(x, i, axis=0),
        lambda x, i: x.flat[i],
        lambda x, i: np.take_along_axis(x, i[:, None], axis=0),
    ],
)
def test_indices_of_few_bits_into_a_long_axis(read: Any, dtype: Any) -> None:
    index = np.array([3, 100, 3], dtype)
    x = np.linspace(0.1, 1.0, 600).reshape(300, 2)
    expected = fg.grad(lambda x: np.sum(read(x, index.astype(int)) ** 3))(x)
    for transformed in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        np.testing.assert_allclose(transformed(lambda x: np.sum(read(x, index) ** 3))(x), expected)


def test_second_derivatives() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[::-2] ** 3) * x[1] + np.sum(x[[0, 0, 3]] ** 2 * x[2])

    x = np.array([1.0, 2.0, 3.0, 4.0])
    hessian = fg.hessian(f)(x)
    step = 1e-5
    columns = [(fg.grad(f)(x + step * e) - fg.grad(f)(x - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(hessian, columns, rtol=1e-6, atol=1e-8)


def test_iteration_and_unpacking() -> None:
    def f(x: Any) -> Any:
        a, *rest = x
        return a * sum(rest) + max(x) + sorted(x)[0]

    np.testing.assert_allclose(fg.grad(f)(np.array([2.0, 3.0, 5.0])), [9.0, 2.0, 3.0])


def test_many_reads_take_linear_time() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for k in range(len(x)):
            total = total + x[k] * x[k]
        return total

    x = np.linspace(0.0, 1.0, 5000)
    np.testing.assert_allclose(fg.grad(f)(x), 2 * x)
    program = fg.make_program(fg.grad(f))(x)
    arrays = [e for e in program.equations if e.outputs[0].aval.shape == x.shape]
    assert {e.primitive.name for e in arrays} <= {"pad", "add_to_slice"}


def test_gradient_of_many_rows_writes_over_one_array() -> None:
    x = np.ones((50, 3))
    gradient = fg.grad(lambda x: sum(np.sum(row**2) for row in x))
    for _ in range(3):  # by walking the equations, and by the function made of them
        np.testing.assert_allclose(gradient(x), 2 * x)
    np.testing.assert_array_equal(x, 1.0)


WRONG = {
    "int out of bounds": (4, "index 4 is out of bounds for axis 0 with size 2"),
    "negative out of bounds": ((0, -4), "index -4 is out of bounds for axis 1 with size 3"),
    "array out of bounds": ([0, 5], "index 5 is out of bounds for axis 0 with size 2"),
    "too many": ((0, 0, 0, 0), "too many indices"),
    "two ellipses": ((..., 0, ...), "single ellipsis"),
    "float": (1.0, "only integers, slices"),
    "float array": (np.array([0.5]), "only integers, slices"),
    "mask of another shape": (np.array([True, False, True]), "boolean index did not match"),
    "arrays that do not broadcast": (([0, 1], [0, 1, 2]), "could not be broadcast together"),
}


@pytest.mark.parametrize(("index", "words"), WRONG.values(), ids=WRONG)
def test_refused(index: Any, words: str) -> None:
    with pytest.raises(IndexingError, match=words) as caught:
        fg.grad(lambda x: x[index].sum())(X)
    assert "test_indexing.py" in str(caught.value)


def test_unknown_mask_names_where() -> None:
    with pytest.raises(ConcretizationError, match=r"fg\.numpy\.where"):
        fg.make_program(lambda x: x[x > 0].sum())(np.ones(3))


@pytest.mark.parametrize("factors", [[1.5, 2.0, 3.0], [0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
@pytest.mark.parametrize("start", [0.0, 2.0])
def test_higher_derivatives_of_products_at_one_position(factors: list[float], start: float) -> None:
    """The zeros among the factors are constants to nobody: each of them has a derivative."""

    def scattered(v: Any) -> Any:
        y = fg.numpy.ones(2) * v[0]
        np.multiply.at(y, np.array([0, 0, 0, 1]), v[1:])
        return np.sum(y * np.array([1.0, 2.0]))

    def written_out(v: Any) -> Any:
        return v[0] * v[1] * v[2] * v[3] + 2.0 * v[0] * v[4]

    at = np.array([start, *factors, 5.0])
    for both in (
        fg.grad,
        fg.hessian,
        lambda f: fg.jacrev(fg.jacrev(f)),
        lambda f: fg.jacfwd(fg.jacfwd(f)),
        lambda f: fg.jit(fg.hessian(f)),
        lambda f: fg.jacfwd(fg.hessian(f)),
    ):
        np.testing.assert_allclose(both(scattered)(at), both(written_out)(at), atol=1e-12)
