"""Writing into traced arrays: what NumPy's arrays would hold afterwards, and the gradient of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import funcgrad as fg
from funcgrad.errors import DtypeError, IndexingError, ShapeError

fnp = fg.numpy
X = np.arange(1.0, 7.0).reshape(2, 3)


def check(f: Callable[[Any], Any], *points: Any) -> None:
    """`f` writes into copies of its arguments: as NumPy runs it, traced, batched and differentiated."""
    points = points or (X,)
    wanted = np.asarray(f(*copy.deepcopy(points)))
    kept = copy.deepcopy(points)
    np.testing.assert_allclose(fg.make_program(f)(*points)(*points)[0], wanted)
    np.testing.assert_allclose(fg.vmap(f)(*[np.stack([x, x]) for x in points]), np.stack([wanted, wanted]))
    weights = np.cos(np.arange(wanted.size)).reshape(wanted.shape)
    gradients = fg.grad(lambda *p: np.sum(f(*p) * weights), tuple(range(len(points))))(*points)
    step = 1e-6
    for k, (x, gradient) in enumerate(zip(points, gradients, strict=True)):
        for place in np.ndindex(x.shape):
            moved = []
            for sign in (1, -1):
                other = copy.deepcopy(points)
                other[k][place] += sign * step
                moved.append(np.sum(f(*other) * weights))
            np.testing.assert_allclose(gradient[place], (moved[0] - moved[1]) / (2 * step), atol=1e-6)
    for before, after in zip(kept, points, strict=True):
        np.testing.assert_array_equal(before, after)


# -- y[index] = v ---------------------------------------------------------------------------------------

INDICES: dict[str, Any] = {
    "int": 1,
    "ints": (0, -1),
    "slice": np.s_[:, ::-2],
    "everything": np.s_[:],
    "ellipsis": ...,
    "new axis": np.s_[None, 1],
    "array": [1, 0],
    "repeated": [0, 0],
    "two arrays": ([0, 1], [2, 2]),
    "array and slice": np.s_[::-1, [2, 0]],
    "separated": np.s_[[0, 1], None, [1, 0]],
    "mask": np.array([[True, False, True], [False, False, True]]),
    "mask of rows": np.array([False, True]),
    "mask of columns": np.s_[:, [True, False, True]],
    "nothing": np.zeros((2, 3), bool),
    "true": True,
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("kind", ["scalar", "number", "full", "broadcast"])
def test_setitem(index: Any, kind: str) -> None:
    part = X[index]

    def f(x: Any, v: Any) -> Any:
        y = x * 2.0
        y[index] = 3.0 if kind == "number" else v
        return y * x

    shape = {"full": part.shape, "broadcast": part.shape[-1:]}.get(kind, ())
    check(f, X, np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape))


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_in_place_at_an_index(index: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        y[index] *= x[0, 1]
        y[index] += 1.0
        return y * x

    check(f)


def test_list_of_tracers_as_value() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y[0] = [x[1, 2], 4.0, x[0, 0]]
        return y

    check(f)


def test_last_of_repeated_positions_wins() -> None:
    def f(x: Any) -> Any:
        y = x * 0.0
        y[0, [1, 1, 2, 1]] = x[1, [0, 1, 2, 0]] * x[0, 0]
        return y

    check(f)


def test_unknown_mask_with_a_scalar() -> None:
    def f(x: Any) -> Any:
        y = x * x
        y[y > 8] = x[0, 0]
        return y

    np.testing.assert_allclose(fg.vmap(f)(np.stack([X, -X])), np.stack([f(X.copy()), f(-X)]))


def f_dtype(dtype: Any, value: Any) -> Any:
    y = fnp.zeros(2, dtype)
    y[0] = value
    return y


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(int, 2.7), (np.float32, 0.1), (bool, 2.0), (complex, 1), (np.int8, -3), (float, True)],
)
def test_values_are_converted(dtype: Any, value: Any) -> None:
    wanted = np.zeros(2, dtype)
    wanted[0] = value
    (found,) = fg.make_program(lambda x: f_dtype(dtype, value))(1.0)(1.0)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype
    if not isinstance(value, bool):
        (found,) = fg.make_program(lambda x: f_dtype(dtype, x))(value)(value)
        np.testing.assert_array_equal(found, wanted)


def test_complex_into_real() -> None:
    with pytest.raises(DtypeError, match="complex number"):
        fg.make_program(lambda x: f_dtype(float, 1j))(1.0)
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        fg.make_program(lambda x: f_dtype(float, x))(np.complex128(1j))


def write_wrong(index: Any, value: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x * 2.0
        y[index] = value
        return np.sum(y)

    return f


@pytest.mark.parametrize(
    ("index", "value", "error", "words"),
    [
        (0, np.ones(2), ShapeError, r"could not broadcast input array from shape \(2,\) into shape \(3,\)"),
        (np.s_[:, 0], np.ones((2, 2)), ShapeError, "could not broadcast"),
        (5, 1.0, IndexingError, "index 5 is out of bounds for axis 0 with size 2"),
        ([0, -3], 1.0, IndexingError, "index -3 is out of bounds"),
        (np.array([True]), np.ones(3), IndexingError, "boolean index did not match"),
        (np.array([True]), 1.0, IndexingError, "boolean index did not match"),
        ("a", 1.0, TypeError, "not numeric"),
    ],
)
def test_refused(index: Any, value: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        fg.grad(write_wrong(index, value))(X)
    assert "test_assignment.py" in str(caught.value)


# -- in-place operators -----------------------------------------------------------------------------------


def test_arrays_change_and_scalars_do_not() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        same = y
        y += x
        y -= 1.0
        y *= x
        y /= 2.0
        y **= 2
        total = y.sum()
        before = total
        total += 1.0
        first = y[0, 0]
        first *= 100.0
        return same * (total - before) + first

    check(f)


def test_identity_and_dtype_are_kept() -> None:
    def f(x: Any) -> Any:
        y = x + np.float32(0)
        same = y
        y += np.ones(3)
        assert y is same
        assert y.dtype == np.float32
        return y

    assert fg.make_program(f)(np.ones(3, np.float32)).out_avals[0].dtype == np.float32


def test_integers_and_booleans() -> None:
    def f(x: Any) -> Any:
        n = fnp.arange(1, 5)
        n //= 2
        n %= 2
        n <<= 3
        n >>= 1
        n |= 1
        n ^= 2
        n &= 7
        flags = n > 6
        flags |= n == 3
        return n, flags

    found = fg.make_program(f)(1.0)(1.0)
    n = (((np.arange(1, 5) // 2 % 2) << 3 >> 1 | 1) ^ 2) & 7
    np.testing.assert_array_equal(found[0], n)
    np.testing.assert_array_equal(found[1], (n > 6) | (n == 3))


def test_matrix_product_in_place() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y @= np.array([[0.0, 1.0], [1.0, 1.0]])
        return y

    check(f, X[:, :2].copy())


def add_float_to_int(x: Any) -> Any:
    n = fnp.arange(3)
    n += 0.5
    return x


def add_larger(x: Any) -> Any:
    y = x * 1.0
    y += np.ones((2, 3))
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        (add_float_to_int, DtypeError, "casting rule 'same_kind'"),
        (add_larger, ShapeError, r"non-broadcastable output operand with shape \(3,\)"),
    ],
)
def test_in_place_refused(f: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        fg.grad(f)(np.ones(3))
    assert "test_assignment.py" in str(caught.value)


# -- views ------------------------------------------------------------------------------------------------


def test_writes_through_views_reach_the_base() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        row = y[1:]
        row[0, ::2] = x[0, :2] ** 2
        part = row[..., 1]
        part *= x[1, 1]
        y.T[0] += 1.0
        np.transpose(y)[1, 0] = x[0, 0]
        y.reshape(-1)[2] = x[1, 0]
        y[:, None][0, 0, 0] *= 3.0
        np.flip(y)[0, 0] = 5.0 * x[0, 1]
        np.ravel(y)[1:3] += x[0, 1:]
        np.swapaxes(y, 0, 1)[2] *= 2.0
        np.squeeze(y[:1])[0] += 1.0
        np.rot90(y)[0, 0] *= x[1, 2]
        np.split(y, 3, axis=1)[1][...] *= 2.0
        y.flat[4] = x[0, 2]
        return y

    check(f)


def test_views_read_later_see_writes() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        row, column, whole, corner = y[0], y[:, 1], y[...], y[1:, 2:]
        diagonal = np.diagonal(y)
        copied = y[[0]]
        y[0] = x[1]
        column += row[0]
        whole[1, 2] *= 2
        return np.sum(row) * column[1] + np.sum(corner) + np.sum(diagonal) + np.sum(copied) + whole[0, 1]

    check(f)


def test_copies_do_not_see_writes() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        others = [
            y.copy(),
            y.flatten(),
            y.T.reshape(-1),
            y[[1]],
            y[:, [True, False, True]],
            y + 0,
            np.copy(y),
            copy.copy(y),
        ]
        y[...] = 0.0
        others[0][0] += x[1]
        return sum(np.sum(other) ** 2 for other in others) + np.sum(y)

    check(f)


def test_transposed_view_flattened_is_a_copy() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y.T.ravel()[0] = 100.0
        y[:, :1].reshape(2)[0] = x[1, 1]
        y[::-1].reshape(-1)[0] = 100.0
        return y

    check(f)


def test_parts_at_traced_numbers_are_views() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        k = np.argmax(y[0])
        y[k - 1][0] = 7.0
        y[np.array(1)][:] = y[k - 1, ...].reshape(3, 1)[:, 0].ravel() * 3.0  # a 0-d array takes a copy
        column = y[:, k]
        column *= x[0, 1]
        column.ravel()[0] = y[None, :, k - 2].ravel()[1] = 100.0  # and so does ravel where there are gaps
        return np.sum(column) * y

    check(f)
    np.testing.assert_array_equal(fg.jit(f)(X), f(X))


def test_real_and_imaginary_parts_are_views() -> None:
    def f(x: Any) -> Any:
        z = x * (1 + 2j)
        z.real[0] = x[1]
        z.imag *= 3.0
        z[1].real += 1.0
        return z.real * z.imag

    check(f)


def write_read_only(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        make(x * 1.0)[0] = 1.0
        return np.sum(x)

    return f


@pytest.mark.parametrize("make", [np.diagonal, lambda y: np.broadcast_to(y, (4, 2, 3))])
def test_read_only_views(make: Any) -> None:
    with pytest.raises(ValueError, match="read-only"):
        fg.grad(write_read_only(make))(X)


def test_the_function_s_own_argument_may_be_written() -> None:
    def f(x: Any) -> Any:
        x[0] *= 2.0
        x[1] += x[0]
        return x

    check(f)


def test_outputs_are_the_value_at_the_end() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        first = y[0]
        y[0, 0] = 5.0 * x[1, 1]
        return first

    check(f)


def test_inner_values_move_an_outer_array() -> None:
    """Writing a value of an inner trace into an outer array: the array belongs to the inner trace."""

    def f(x: Any) -> Any:
        def inner(t: Any) -> Any:
            y = x * 2.0
            y[0] = t * x[1]
            return np.sum(y**2)

        return fg.grad(inner)(x[0] * 1.0)

    # d/dt of sum((t * x1)^2) is 2 t x1^2
    jacobian = fg.jacrev(f)(X)
    wanted = np.zeros((3, 2, 3))
    for k in range(3):
        wanted[k, 0, k] = 2 * X[1, k] ** 2
        wanted[k, 1, k] = 4 * X[0, k] * X[1, k]
    np.testing.assert_allclose(jacobian, wanted)


def test_results_of_an_inner_transform_are_fresh() -> None:
    def f(x: Any) -> Any:
        y, pullback = fg.vjp(np.exp, x)
        y += 1.0
        (found,) = pullback(np.ones(3))
        same = fg.vmap(lambda t: t)(x)
        same *= 5.0
        return found * y + x + same

    x = np.array([0.1, 0.2, 0.3])
    (found,) = fg.make_program(f)(x)(x)
    np.testing.assert_allclose(found, np.exp(x) * (np.exp(x) + 1) + 6 * x)


OPERATIONS = ("view", "set", "add", "multiply", "copy", "fancy", "read")


@st.composite
def scripts(draw: Any) -> list[tuple[str, int, Any, float]]:
    """Random writes into an array, views of it, views of these, and copies."""
    shapes = [(3, 4)]
    steps: list[tuple[str, int, Any, float]] = []
    for _ in range(draw(st.integers(2, 9))):
        target = draw(st.integers(0, len(shapes) - 1))
        kind = draw(st.sampled_from(OPERATIONS))
        shape = shapes[target]
        if kind == "view":
            how = draw(st.sampled_from(["T", "flat", "flip", "index", "pair"]))
            if how == "index":
                how = draw(hnp.basic_indices(shape, allow_newaxis=True, min_dims=1))
            steps.append((kind, target, how, 0.0))
            shapes.append(np.shape(viewed(np.zeros(shape), how)))
        elif kind == "copy":
            steps.append((kind, target, None, 0.0))
            shapes.append(shape)
        elif kind == "fancy":
            if not shape or not shape[0]:
                continue
            picks = draw(st.lists(st.integers(-shape[0], shape[0] - 1), min_size=1, max_size=3))
            steps.append((kind, target, picks, draw(st.sampled_from([0.5, 2.0]))))
        else:
            index = draw(hnp.basic_indices(shape, min_dims=0))
            steps.append((kind, target, index, draw(st.sampled_from([0.5, 2.0]))))
    return steps


def viewed(y: Any, how: Any) -> Any:
    if how == "T":
        return y.T
    if how == "flat":
        return y.reshape(-1)
    if how == "pair":
        return np.reshape(y, (2, -1)) if y.size % 2 == 0 and y.size else y
    if how == "flip":
        return np.flip(y)
    return y[how]


def run_script(steps: list[tuple[str, int, Any, float]], x: Any) -> Any:
    arrays = [x * 2.0]
    for kind, target, index, number in steps:
        y = arrays[target]
        if kind == "view":
            arrays.append(viewed(y, index))
        elif kind == "copy":
            arrays.append(y.copy())
        elif kind == "set":
            y[index] = number * x[0, 0]
        elif kind == "add":
            y[index] += number * x[1, 1]
        elif kind == "multiply":
            y[index] *= number
        elif kind == "fancy":
            y[index] = y[index] * number + x[2, 2]
        elif kind == "read":
            np.sum(y[index])
    return [np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape)) for y in arrays]


@given(scripts())
@settings(max_examples=300)
def test_random_scripts(steps: list[tuple[str, int, Any, float]]) -> None:
    x = np.arange(1.0, 13.0).reshape(3, 4)
    try:
        wanted = run_script(steps, x)
    except (ValueError, TypeError):  # an element of rank 0, which NumPy does not let one write
        reject()
    program = fg.make_program(lambda x: run_script(steps, x))(x)
    for _ in range(2):  # by walking the equations, and by the function made of them
        np.testing.assert_allclose(program(x), wanted)
    jacobian = fg.jacrev(lambda x: np.stack(run_script(steps, x)))(x)
    direction = np.cos(x)
    moved = [run_script(steps, x + sign * 1e-6 * direction) for sign in (1, -1)]
    slope = (np.array(moved[0]) - np.array(moved[1])) / 2e-6
    np.testing.assert_allclose(np.sum(jacobian * direction, axis=(1, 2)), slope, rtol=1e-5, atol=1e-5)


# -- x.at -------------------------------------------------------------------------------------------------

UPDATES: dict[str, Callable[[Any, Any, Any], None]] = {
    "set": lambda y, i, v: y.__setitem__(i, v),
    "add": np.add.at,
    "subtract": np.subtract.at,
    "multiply": np.multiply.at,
    "mul": np.multiply.at,
    "divide": np.divide.at,
    "power": np.power.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("name", UPDATES)
def test_at(name: str, index: Any) -> None:
    values = 2.0 + np.cos(np.arange(X[index].size)).reshape(X[index].shape)
    wanted = X.copy()
    UPDATES[name](wanted, index, values)

    def f(x: Any, v: Any) -> Any:
        y = getattr(x.at[index], name)(v)
        assert y is not x
        return y

    (found,) = fg.make_program(f)(X, values)(X, values)
    np.testing.assert_allclose(found, wanted)

    def by_numpy(x: Any, v: Any) -> Any:
        y = x.copy()
        UPDATES[name](y, index, v)
        return y

    directions = np.cos(X), np.sin(values)
    _, tangent = fg.jvp(f, (X, values), directions)
    moved = [
        by_numpy(*[p + s * 1e-6 * d for p, d in zip((X, values), directions, strict=True)]) for s in (1, -1)
    ]
    np.testing.assert_allclose(tangent, (moved[0] - moved[1]) / 2e-6, rtol=1e-5, atol=1e-6)
    _, pullback = fg.vjp(f, X, values)
    pulled = sum(np.sum(bar * d) for bar, d in zip(pullback(np.sin(X)), directions, strict=True))
    np.testing.assert_allclose(pulled, np.sum(tangent * np.sin(X)))


def test_at_get_and_apply() -> None:
    np.testing.assert_allclose(fg.grad(lambda x: x.at[0].get().sum())(X), [[1, 1, 1], [0, 0, 0]])
    np.testing.assert_allclose(fg.grad(lambda x: x.at[0].apply(np.square).sum())(X), [[2, 4, 6], [1, 1, 1]])


def test_at_with_options() -> None:
    options = {"indices_are_sorted": True, "unique_indices": True, "mode": "promise_in_bounds"}
    fg.grad(lambda x: x.at[0].set(1.0, **options).sum())(X)
    with pytest.raises(ValueError, match="got 'nearest'"):
        fg.grad(lambda x: x.at[0].set(1.0, mode="nearest").sum())(X)
    with pytest.raises(NotImplementedError, match="mode='fill' at masks and new axes"):
        fg.grad(lambda x: x.at[x > 0].set(1.0, mode="drop").sum())(X)


def test_many_writes_take_linear_time() -> None:
    def f(x: Any) -> Any:
        y = fnp.zeros(len(x))
        for k in range(len(x)):
            y[k] = x[k] ** 2
        return np.sum(y * x)

    x = np.linspace(0.0, 1.0, 3000)
    np.testing.assert_allclose(fg.grad(f)(x), 3 * x**2, atol=1e-12)


def test_second_derivatives() -> None:
    def f(x: Any) -> Any:
        y = fnp.zeros(4)
        y[:3] = x**2
        y[1:] *= x[0]
        y[[0, 0, 2]] = y[[1, 2, 3]] * x
        return np.sum(y**2)

    fg.testing.check_grads(f, (np.array([0.5, 1.5, -1.0]),), order=2)


def test_place_counts_the_places_and_putmask_the_elements() -> None:
    x = np.arange(6.0)
    for write in (np.place, np.putmask):
        wanted = x.copy()
        write(wanted, wanted > 2, [44.0, 55.0])

        def written(t: Any, write: Any = write) -> Any:
            t = t * 1.0
            write(t, x > 2, np.array([44.0, 55.0]))
            return t

        np.testing.assert_array_equal(fg.make_program(written)(x).evaluate(x)[0], wanted)


@pytest.mark.parametrize(
    "part",
    [
        np.atleast_1d,
        np.ravel,
        lambda s: s[None],
        lambda s: np.expand_dims(s, 0),
        lambda s: np.asarray(s)[None],
    ],
    ids=["atleast_1d", "ravel", "[None]", "expand_dims", "asarray"],
)
def test_arrays_made_of_a_scalar_leave_it_as_it_is(part: Any) -> None:
    """NumPy's scalars have no memory; what was written into such an array changed them."""

    def f(x: Any) -> Any:
        scalar = x[0]
        array = part(scalar)
        array[0] = 5.0 * x[1]
        return scalar + 2.0 * array[0]

    at = np.array([3.0, 7.0])
    for way in (f, fg.jit(f)):
        value, slope = fg.value_and_grad(way)(at)
        assert value == 73.0
        np.testing.assert_allclose(slope, [1.0, 10.0])


def test_asarray_of_a_scalar_can_be_changed_in_place() -> None:
    def f(x: Any) -> Any:
        total = np.asarray(np.sum(x))
        other = total
        other += 1.0
        return total * other

    at = np.array([1.0, 2.0])
    assert f(at) == 16.0
    for way in (f, fg.jit(f)):
        value, slope = fg.value_and_grad(way)(at)
        assert value == 16.0
        np.testing.assert_allclose(slope, [8.0, 8.0])
