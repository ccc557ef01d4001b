"""Products of vectors and matrices: values, types and derivatives are NumPy's, for every rank and dtype."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import numpy as fnp
from funcgrad.errors import DtypeError, ShapeError, TracerAssignmentError, UnsupportedFunctionError
from funcgrad.ir.text.numpy_source import equation_source

Function = Callable[..., Any]
Shape = tuple[int, ...]

TOLERANCE = {np.dtype(np.float32): 2e-5, np.dtype(np.complex64): 2e-5}


def draw(rng: np.random.Generator, shape: Shape, dtype: Any = np.float64) -> Any:
    """Normal values in any dtype; integers from -3 to 3."""
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    if np.dtype(dtype).kind in "iu":
        x = rng.integers(-3 if np.dtype(dtype).kind == "i" else 0, 4, shape)
    return np.asarray(x > 0 if np.dtype(dtype).kind == "b" else x).astype(dtype)


def recorded(f: Function, *args: Any) -> Any:
    """The result of running the recorded Program of `f`, twice: by walking it and by its source."""
    program = fg.make_program(f)(*args)
    (walked,) = program(*args)
    (compiled,) = program(*args)
    # Not bit for bit: NumPy's loops round differently when they write over an operand.
    np.testing.assert_allclose(
        walked, compiled, rtol=1e-6 if walked.dtype in (np.float32, np.complex64) else 1e-13
    )
    assert walked.dtype == compiled.dtype
    return walked


def assert_like_numpy(f: Function, *args: Any) -> None:
    """Recorded, `f` gives the value, shape and dtype that NumPy gives."""
    expected = np.asarray(f(*args))
    found = np.asarray(recorded(f, *args))
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = TOLERANCE.get(expected.dtype, 1e-12)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 10)


# Every function on every combination of ranks worth telling apart.
CASES: list[tuple[str, Function, Shape, Shape]] = [
    ("matmul", np.matmul, (3,), (3,)),
    ("matmul", np.matmul, (2, 3), (3,)),
    ("matmul", np.matmul, (3,), (3, 4)),
    ("matmul", np.matmul, (2, 3), (3, 4)),
    ("matmul", np.matmul, (5, 2, 3), (3,)),
    ("matmul", np.matmul, (3,), (5, 3, 4)),
    ("matmul", np.matmul, (5, 2, 3), (3, 4)),
    ("matmul", np.matmul, (2, 3), (5, 3, 4)),
    ("matmul", np.matmul, (5, 2, 3), (5, 3, 4)),
    ("matmul", np.matmul, (1, 2, 3), (5, 3, 4)),
    ("matmul", np.matmul, (5, 2, 3), (1, 3, 4)),
    ("matmul", np.matmul, (1, 2, 3), (1, 3, 4)),
    ("matmul", np.matmul, (6, 1, 2, 3), (5, 3, 4)),
    ("matmul", np.matmul, (6, 5, 2, 3), (6, 1, 3, 4)),
    ("matmul", np.matmul, (2, 5, 2, 3), (2, 5, 3, 4)),
    ("matmul", np.matmul, (2, 0), (0, 4)),
    ("matmul", np.matmul, (0, 3), (3, 4)),
    ("matmul", np.matmul, (2, 1), (1, 4)),
    ("matmul", np.matmul, (0, 2, 3), (0, 3, 4)),
    ("dot", np.dot, (), (2, 3)),
    ("dot", np.dot, (2, 3), ()),
    ("dot", np.dot, (), ()),
    ("dot", np.dot, (3,), (3,)),
    ("dot", np.dot, (2, 3), (3,)),
    ("dot", np.dot, (3,), (3, 4)),
    ("dot", np.dot, (2, 3), (3, 4)),
    ("dot", np.dot, (5, 2, 3), (3,)),
    ("dot", np.dot, (5, 2, 3), (3, 4)),
    ("dot", np.dot, (2, 3), (5, 3, 4)),
    ("dot", np.dot, (2, 2, 3), (5, 3, 4)),
    ("dot", np.dot, (0,), (0,)),
    ("inner", np.inner, (), (3,)),
    ("inner", np.inner, (3,), (3,)),
    ("inner", np.inner, (2, 3), (3,)),
    ("inner", np.inner, (2, 3), (4, 3)),
    ("inner", np.inner, (5, 2, 3), (4, 3)),
    ("vdot", np.vdot, (3,), (3,)),
    ("vdot", np.vdot, (2, 3), (3, 2)),
    ("vdot", np.vdot, (), ()),
    ("outer", np.outer, (3,), (4,)),
    ("outer", np.outer, (2, 3), (4,)),
    ("outer", np.outer, (), (4,)),
    ("outer", np.outer, (0,), (4,)),
    ("linalg.outer", np.linalg.outer, (3,), (4,)),
    ("multiply.outer", np.multiply.outer, (2, 3), (4,)),
    ("multiply.outer", np.multiply.outer, (), (4,)),
    ("vecdot", np.vecdot, (3,), (3,)),
    ("vecdot", np.vecdot, (5, 3), (5, 3)),
    ("vecdot", np.vecdot, (5, 3), (3,)),
    ("vecdot", np.vecdot, (4, 1, 3), (5, 3)),
    ("linalg.vecdot", np.linalg.vecdot, (5, 3), (5, 3)),
    ("linalg.matmul", np.linalg.matmul, (5, 2, 3), (3, 4)),
    ("linalg.tensordot", np.linalg.tensordot, (2, 3, 4), (3, 4, 5)),
    ("kron", np.kron, (2,), (3,)),
    ("kron", np.kron, (2, 3), (4, 5)),
    ("kron", np.kron, (2, 3), (4,)),
    ("kron", np.kron, (2,), (3, 2, 2)),
    ("kron", np.kron, (), (3,)),
    ("cross", np.cross, (3,), (3,)),
    ("cross", np.cross, (4, 3), (3,)),
    ("cross", np.cross, (5, 1, 3), (4, 3)),
    ("linalg.cross", np.linalg.cross, (4, 3), (4, 3)),
]
if hasattr(np, "matvec"):
    CASES += [
        ("matvec", np.matvec, (2, 3), (3,)),
        ("matvec", np.matvec, (5, 2, 3), (4, 1, 3)),
        ("vecmat", np.vecmat, (3,), (3, 2)),
        ("vecmat", np.vecmat, (4, 1, 3), (5, 3, 2)),
    ]


def name_of_case(value: Any) -> str | None:
    """Names and shapes say which case it is; functions need not."""
    return "" if callable(value) else str(value).replace(" ", "")


every_case = pytest.mark.parametrize(("name", "f", "x_shape", "y_shape"), CASES, ids=name_of_case)

DTYPES = [
    (np.float64, np.float64),
    (np.float32, np.float32),
    (np.float32, np.float64),
    (np.complex64, np.complex64),
    (np.complex128, np.float64),
    (np.float64, np.complex128),
    (np.int8, np.int8),
    (np.int64, np.float32),
    (np.uint8, np.int16),
    (np.bool_, np.float32),
    (np.bool_, np.bool_),
]


@every_case
@pytest.mark.parametrize("dtypes", DTYPES, ids=lambda pair: "-".join(np.dtype(t).name for t in pair))
def test_values_and_dtypes(
    name: str, f: Function, x_shape: Shape, y_shape: Shape, dtypes: Any, rng: np.random.Generator
) -> None:
    if "cross" in name and dtypes == (np.bool_, np.bool_):
        pytest.skip("NumPy subtracts no booleans")
    assert_like_numpy(f, draw(rng, x_shape, dtypes[0]), draw(rng, y_shape, dtypes[1]))


@every_case
def test_functions_of_the_namespace_are_those(
    name: str, f: Function, x_shape: Shape, y_shape: Shape, rng: np.random.Generator
) -> None:
    """`fg.numpy` has the same functions, which take plain arrays too."""
    if name == "multiply.outer":
        pytest.skip("a method of NumPy's own ufuncs")
    ours: Any = fnp
    for part in name.split("."):
        ours = getattr(ours, part)
    x, y = draw(rng, x_shape), draw(rng, y_shape)
    np.testing.assert_allclose(ours(x, y), f(x, y), rtol=1e-14)
    np.testing.assert_allclose(recorded(ours, x, y), f(x, y), rtol=1e-14)
    assert type(ours(x, y)) is type(f(x, y))


@every_case
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives(
    name: str, f: Function, x_shape: Shape, y_shape: Shape, dtype: Any, rng: np.random.Generator
) -> None:
    fg.testing.check_grads(f, (draw(rng, x_shape, dtype), draw(rng, y_shape, dtype)), order=2)


@every_case
def test_derivatives_in_single_precision(
    name: str, f: Function, x_shape: Shape, y_shape: Shape, rng: np.random.Generator
) -> None:
    x, y = draw(rng, x_shape, np.float32), draw(rng, y_shape, np.float32)
    single = fg.grad(lambda x, y: np.sum(f(x, y) ** 2), argnums=(0, 1))(x, y)
    double = fg.grad(lambda x, y: np.sum(f(x, y) ** 2), argnums=(0, 1))(x.astype(float), y.astype(float))
    for found, expected in zip(single, double, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_mixed_dtypes_give_each_gradient_its_own(rng: np.random.Generator) -> None:
    x, y = draw(rng, (2, 3), np.float32), draw(rng, (3,), np.complex128)
    x_bar, y_bar = fg.grad(lambda x, y: np.sum((x @ y).real), argnums=(0, 1))(x, y)
    assert x_bar.dtype == np.float32
    assert y_bar.dtype == np.complex128
    np.testing.assert_allclose(x_bar, np.tile(y.real, (2, 1)), rtol=1e-6)


@every_case
@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0), (-1, 0), (0, -1), (None, -1)])
def test_vmap_is_a_loop(
    name: str, f: Function, x_shape: Shape, y_shape: Shape, in_axes: Any, rng: np.random.Generator
) -> None:
    x, y = (
        draw(rng, s if axis is None else (*s[: len(s) + 1 + axis], 3, *s[len(s) + 1 + axis :]))
        if axis != 0
        else draw(rng, (3, *s))
        for s, axis in zip((x_shape, y_shape), in_axes, strict=True)
    )
    fg.testing.check_vmap(f, (x, y), in_axes=in_axes)


@every_case
def test_vmap_of_gradients_is_a_loop(
    name: str, f: Function, x_shape: Shape, y_shape: Shape, rng: np.random.Generator
) -> None:
    def loss(x: Any, y: Any) -> Any:
        return np.sum(f(x, y) ** 2)

    gradient = fg.grad(loss, argnums=(0, 1))
    x, y = draw(rng, (3, *x_shape)), draw(rng, (3, *y_shape))
    fg.testing.check_vmap(gradient, (x, y))
    fg.testing.check_vmap(gradient, (x, y[0]), in_axes=(0, None))
    fg.testing.check_vmap(gradient, (x[0], y), in_axes=(None, 0))


def test_nested_vmap_with_one_operand_each(rng: np.random.Generator) -> None:
    """A batch axis of one operand inside a batch axis of the other, and of both."""
    x, y = draw(rng, (4, 2, 3)), draw(rng, (5, 3, 2))
    pairs = fg.vmap(fg.vmap(np.matmul, (None, 0)), (0, None))(x, y)
    np.testing.assert_allclose(pairs, np.einsum("aij,bjk->abik", x, y), rtol=1e-12)
    z = draw(rng, (4, 5, 3, 2))
    found = fg.vmap(fg.vmap(np.matmul, (None, 0)), (0, 0))(x, z)
    np.testing.assert_allclose(found, np.einsum("aij,abjk->abik", x, z), rtol=1e-12)
    found = fg.vmap(fg.vmap(np.matmul, (0, None)), (0, 0))(z.swapaxes(-1, -2), y[:4])
    np.testing.assert_allclose(found, np.einsum("abji,ajk->abik", z.swapaxes(-1, -2).swapaxes(-1, -2), y[:4]))


# -- other arguments -----------------------------------------------------------------------------------------


TENSORDOT: list[tuple[Shape, Shape, Any]] = [
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3), (3, 2), 1),
    ((2,), (3,), 0),
    ((2, 3), (2, 3), 2),
    ((2, 3, 4), (4, 3, 2), ([0, 1], [2, 1])),
    ((2, 3, 4), (4, 3, 2), ((1, 0), (1, 2))),
    ((2, 3, 4), (4, 5), (2, 0)),
    ((2, 3, 4), (4, 5), (-1, -2)),
    ((2, 3, 4), (5, 4, 3, 2), ([-1, -3], [1, 3])),
    ((2, 3), (4, 5), ([], [])),
    ((2, 3), (3, 2), np.array([[1, 0], [0, 1]])),
]


@pytest.mark.parametrize(("x_shape", "y_shape", "axes"), TENSORDOT, ids=str)
def test_tensordot(x_shape: Shape, y_shape: Shape, axes: Any, rng: np.random.Generator) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.tensordot(x, y, axes=axes)

    x, y = draw(rng, x_shape), draw(rng, y_shape)
    assert_like_numpy(f, x, y)
    fg.testing.check_grads(f, (x, y))
    fg.testing.check_vmap(f, (draw(rng, (3, *x_shape)), y), in_axes=(0, None))


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_vecdot_along_an_axis(axis: int, rng: np.random.Generator) -> None:
    x, y = draw(rng, (3, 3), np.complex128), draw(rng, (3, 3), np.complex128)
    assert_like_numpy(lambda x, y: np.linalg.vecdot(x, y, axis=axis), x, y)
    assert_like_numpy(lambda x, y: fnp.vecdot(x, y, axis=axis), x, y)
    assert_like_numpy(lambda x, y: np.vecdot(x, y, axis=axis), x, y)
    fg.testing.check_grads(lambda x, y: fnp.vecdot(x, y, axis=axis), (x, y))


@pytest.mark.parametrize(
    "axes", [{"axisa": 0}, {"axisb": 0, "axisc": 0}, {"axis": 1}, {"axisa": -2, "axisc": -2}]
)
def test_cross_along_axes(axes: dict[str, int], rng: np.random.Generator) -> None:
    x, y = draw(rng, (3, 3)), draw(rng, (3, 3))
    assert_like_numpy(lambda x, y: np.cross(x, y, **axes), x, y)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional:DeprecationWarning")
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((4, 2), (3,)), ((3,), (4, 2)), ((5, 2), (5, 2))])
def test_cross_of_vectors_of_two_elements(shapes: tuple[Shape, Shape], rng: np.random.Generator) -> None:
    x, y = (draw(rng, s) for s in shapes)
    if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
        for f in (np.cross, fg.numpy.cross, fg.jit(np.cross), fg.make_program(np.cross)):
            with pytest.raises(ValueError, match="3-dimensional vectors"):
                f(x, y)
        return
    expected = np.cross(x, y)
    with pytest.warns(DeprecationWarning, match="two elements"):
        (found,) = fg.make_program(np.cross)(x, y)(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("offset", [0, 1, -1, 2, -2, 5])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (0, 3)])
def test_trace_and_diagonal(shape: Shape, offset: int, rng: np.random.Generator) -> None:
    x = draw(rng, shape)
    assert_like_numpy(lambda x: np.trace(x, offset), x)
    assert_like_numpy(lambda x: np.linalg.diagonal(x, offset=offset), x)
    fg.testing.check_grads(lambda x: np.trace(x * x, offset), (x,))


def test_trace_of_stacks(rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3, 4, 3))
    for axes in ((0, 1), (1, 3), (3, 1), (-1, 0)):
        assert_like_numpy(lambda x, axes=axes: np.trace(x, 1, *axes), x)
    assert_like_numpy(lambda x: np.linalg.trace(x, offset=1), x)
    assert_like_numpy(lambda x: x.trace(0, 1, 3), x)
    assert_like_numpy(lambda x: np.trace(x, dtype=np.float32), x)
    assert_like_numpy(np.trace, draw(rng, (3, 3), np.int8))


def test_python_scalars_are_arrays_of_their_dtype() -> None:
    x = np.ones(3, np.float32)
    for f in (
        lambda x: np.dot(2.0, x),
        lambda x: np.dot(x, 2),
        lambda x: np.inner(2.0, x),
        lambda x: np.kron(2.0, x),
        lambda x: np.outer(2.0, x),
        lambda x: np.tensordot(2.0, x, 0),
    ):
        assert_like_numpy(f, x)


def test_lists_are_arrays(rng: np.random.Generator) -> None:
    x = draw(rng, (2,))
    rows = [[1.0, 2.0], [3.0, 4.0]]
    assert_like_numpy(lambda x: np.matmul(rows, x), x)
    assert_like_numpy(lambda x: np.dot([1, 2], x), x)
    np.testing.assert_allclose(recorded(lambda x: rows @ x, x), np.array(rows) @ x)
    np.testing.assert_allclose(recorded(lambda x: x @ rows, x), x @ np.array(rows))
    np.testing.assert_allclose(recorded(lambda x: np.array(rows) @ x, x), np.array(rows) @ x)


def test_lists_of_traced_numbers(rng: np.random.Generator) -> None:
    x = draw(rng, (2,))
    gradient = fg.grad(lambda x: fnp.dot([x[0], x[1] ** 2], [3.0, 4.0]))(x)
    np.testing.assert_allclose(gradient, [3.0, 8.0 * x[1]])


def test_methods(rng: np.random.Generator) -> None:
    x, y = draw(rng, (2, 3)), draw(rng, (3, 2))
    assert_like_numpy(lambda x, y: x.dot(y), x, y)
    assert_like_numpy(lambda x, y: x @ y, x, y)
    assert_like_numpy(lambda x, y: x.T @ y.T, x, y)
    assert_like_numpy(lambda x, y: (x @ y).trace(), x, y)


def test_options_of_ufuncs(rng: np.random.Generator) -> None:
    x, y = draw(rng, (2, 3)), draw(rng, (3, 2))
    for matmul in (fnp.matmul, np.matmul):
        found = recorded(lambda x, y, f=matmul: f(x, y, dtype=np.float32, casting="same_kind"), x, y)
        assert found.dtype == np.float32
        with pytest.raises(UnsupportedFunctionError, match=r"np\.matmul with axes"):
            recorded(lambda x, y, f=matmul: f(x, y, axes=[(0, 1), (0, 1), (0, 1)]), x, y)
    out = np.zeros((2, 2))
    assert fnp.matmul(x, y, out=out) is out
    np.testing.assert_array_equal(out, x @ y)


def test_out_may_be_traced(rng: np.random.Generator) -> None:
    x, y = draw(rng, (2, 3)), draw(rng, (3, 2))

    def f(x: Any, y: Any, function: Function) -> Any:
        out = fnp.zeros((2, 2)) * x[0, 0]
        function(x, y, out=out)
        return out

    for function in (np.matmul, np.dot, fnp.dot):
        np.testing.assert_allclose(recorded(lambda x, y, g=function: f(x, y, g), x, y), x @ y)


# -- how it evaluates ----------------------------------------------------------------------------------------


def sources(f: Function, *args: Any) -> list[str]:
    """The right-hand sides of the recorded Program as NumPy source; inputs are named a, b, ..."""
    program = fg.make_program(f)(*args)
    names: dict[Any, str] = dict(zip(program.inputs, "abcdef", strict=False))
    names |= {v: f"captured{k}" for k, (v, _) in enumerate(program.captured)}
    lines = []
    for k, equation in enumerate(program.equations):
        lines.append(equation_source(equation, names, {}))
        names |= dict.fromkeys(equation.outputs, f"v{k}")
    return lines


def test_gradient_of_a_linear_model_is_one_product() -> None:
    x, w = np.ones((7, 3)), np.ones(3)
    lines = sources(fg.grad(lambda w, x: np.sum((x @ w) ** 2)), w, x)
    assert [line for line in lines if "@" in line] == ["b @ a", "v1 @ b"]


def test_gradient_of_a_matrix_product_is_two_products() -> None:
    lines = sources(
        lambda a, b, bar: fg.vjp(np.matmul, a, b)[1](bar), np.ones((2, 3)), np.ones((3, 4)), np.ones((2, 4))
    )
    assert sorted(lines) == ["a.T @ c", "c @ b.T"]


@pytest.mark.parametrize(
    ("x_shape", "y_shape", "axes", "source"),
    [
        ((5, 2), (5,), ([0], [0]), "a.T @ b"),
        ((5,), (2, 5), ([0], [1]), "b @ a"),
        ((2, 5), (3, 5), ([1], [1]), "a @ b.T"),
        ((4, 2, 5), (5, 3), ([2], [0]), "(a.reshape(8, 5) @ b).reshape(4, 2, 3)"),
        ((2, 5), (4, 5, 3), ([1], [1]), "(a @ b).transpose(1, 0, 2)"),
        ((2, 5), (2, 5), ([0, 1], [0, 1]), "a.reshape(10) @ b.reshape(10)"),
        ((2,), (3,), ([], []), "a.reshape(2, 1) * b"),
    ],
)
def test_source_has_no_needless_steps(x_shape: Shape, y_shape: Shape, axes: Any, source: str) -> None:
    assert sources(lambda a, b: np.tensordot(a, b, axes), np.ones(x_shape), np.ones(y_shape)) == [source]


def test_vmap_of_matrix_times_vector_is_one_matrix_product() -> None:
    x, w = np.ones((7, 3)), np.ones((5, 3))
    assert sources(fg.vmap(np.matmul, (None, 0)), x, w) == ["b @ a.T"]
    batches = np.ones((5, 7, 3))
    lines = sources(fg.vmap(np.matmul, (0, None)), batches, w[0])
    assert lines == ["(a.reshape(35, 3) @ b).reshape(5, 7)"]


def test_gradient_of_a_square_needs_one_product(rng: np.random.Generator) -> None:
    x = draw(rng, (4,))
    np.testing.assert_allclose(fg.grad(lambda x: x @ x)(x), 2 * x)
    assert len(fg.make_program(lambda x: fg.jvp(lambda x: x @ x, (x,), (x,))[1])(x)) == 2


# -- what a selection keeps out ------------------------------------------------------------------------------


OUTSIDE = np.zeros((2, 2))
BAD = np.array([[1.0, 2.0], [np.inf, np.nan], [3.0, -np.inf]])


def test_rows_not_selected_contribute_nothing() -> None:
    """The cotangent of rows that `where` masks is zero, and stays so against infinity and NaN."""
    rows = np.array([True, False, False])
    w = np.array([0.5, 2.0])
    np.testing.assert_array_equal(fg.grad(lambda w: np.sum(np.where(rows, BAD @ w, 0.0)))(w), [1.0, 2.0])
    np.testing.assert_array_equal(fg.grad(lambda w: np.sum((BAD @ w)[:1]))(w), [1.0, 2.0])
    np.testing.assert_array_equal(fg.grad(lambda w: np.sum(np.where(rows, w @ BAD.T, 0.0)))(w), [1.0, 2.0])


def test_elements_not_selected_contribute_nothing() -> None:
    """As above where zeros and infinities share rows and columns, so no row can be left out as a whole."""
    mask = np.array([[True, False, True], [False, False, True]])
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    y = np.array([[1.0, np.inf, 2.0], [3.0, np.nan, 4.0]])
    found = fg.grad(lambda x: np.sum(np.where(mask, x @ y, 0.0)))(x)
    expected = np.where(mask, 1.0, 0.0)[:, [0, 2]] @ y[:, [0, 2]].T
    np.testing.assert_array_equal(found, expected)


def test_selected_infinities_are_kept() -> None:
    x = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, -np.inf]])
    w = np.array([0.5, 2.0])
    found = fg.grad(lambda w: np.sum(np.where(np.array([True, False, True]), x @ w, 0.0)))(w)
    np.testing.assert_array_equal(found, [4.0, -np.inf])


def test_second_derivatives_keep_masked_rows_out() -> None:
    rows = np.array([True, False, False])

    def f(w: Any) -> Any:
        return np.sum(np.where(rows, (BAD @ w) ** 3, 0.0))

    w = np.array([0.5, 2.0])
    expected = 6.0 * 4.5 * np.outer(BAD[0], BAD[0])
    np.testing.assert_allclose(fg.hessian(f)(w), expected)
    np.testing.assert_allclose(fg.jacrev(fg.jacrev(f))(w), expected)
    found = fg.vmap(fg.grad(f))(np.stack([w, w]))
    np.testing.assert_allclose(found, np.stack([fg.grad(f)(w)] * 2))


# -- refusals ------------------------------------------------------------------------------------------------


REFUSED: list[tuple[Function, Shape, Shape, str]] = [
    (np.matmul, (3, 4), (5, 6), "matmul of f64[3,4] and f64[5,6]: the inner sizes 4 and 5 differ"),
    (np.matmul, (4,), (5, 6), "matmul of f64[4] and f64[5,6]: the inner sizes 4 and 5 differ"),
    (np.matmul, (2, 3, 4), (5, 4, 6), "leading axes (2,) and (5,) do not broadcast"),
    (np.matmul, (), (3,), "matmul of f64[] and f64[3]: f64[] has 0 axes and needs at least 1"),
    (np.dot, (3, 4), (5, 6), "dot of f64[3,4] and f64[5,6]: the inner sizes 4 and 5 differ"),
    (np.inner, (3, 4), (5, 6), "inner of f64[3,4] and f64[5,6]: the inner sizes 4 and 6 differ"),
    (np.vdot, (3,), (4,), "vdot of f64[3] and f64[4]: the inner sizes 3 and 4 differ"),
    (np.vecdot, (3,), (4,), "vecdot of f64[3] and f64[4]: the inner sizes 3 and 4 differ"),
    (np.tensordot, (3, 4), (5, 6), "tensordot of f64[3,4] and f64[5,6]: the inner sizes 3 and 5 differ"),
    (np.cross, (4,), (3,), "cross of f64[4] and f64[3]: vectors of 4 and 3 elements, and not 2 or 3"),
    (np.linalg.cross, (2,), (3,), "needs vectors of three elements"),
    (np.linalg.outer, (2, 2), (3,), "needs two vectors"),
    (lambda x, y: np.tensordot(x, y, ([0], [0, 1])), (3,), (3, 3), "are not pairs"),
    (lambda x, y: np.tensordot(x, y, ([0, 0], [0, 1])), (3,), (3, 3), "are not distinct"),
    (lambda x, y: np.tensordot(x, y, ([4], [0])), (3,), (3, 3), "axis 4 is out of bounds"),
    (lambda x, y: np.trace(x), (3,), (3,), "trace of f64[3]: needs at least two axes"),
    (lambda x, y: np.trace(x, 0, 0, 0), (3, 3), (3,), "axis1 and axis2 cannot be the same"),
]


@pytest.mark.parametrize(("f", "x_shape", "y_shape", "words"), REFUSED, ids=name_of_case)
def test_refusals_say_what_was_seen(f: Function, x_shape: Shape, y_shape: Shape, words: str) -> None:
    with pytest.raises(ShapeError) as caught:
        fg.make_program(f)(np.ones(x_shape), np.ones(y_shape))
    assert words in str(caught.value)
    with pytest.raises((ValueError, IndexError)):
        f(np.ones(x_shape), np.ones(y_shape))


def test_refusal_shows_the_line_and_the_next_step() -> None:
    with pytest.raises(ShapeError) as caught:
        fg.grad(lambda x: np.sum(x @ np.ones((5, 6))))(np.ones((3, 4)))
    text = str(caught.value)
    assert "x @ np.ones((5, 6))" in text
    assert "^" in text
    assert "x.T exchanges the axes of a matrix" in text


def test_results_are_stored_in_arrays_of_the_trace_alone() -> None:
    for f, x in ((np.dot, np.eye(2)), (np.matmul, np.eye(2)), (np.outer, np.ones(2))):
        gradient = fg.grad(lambda x, f=f: np.sum(f(x, x, out=np.zeros((2, 2)))))(x)
        np.testing.assert_array_equal(gradient, fg.grad(lambda x, f=f: np.sum(f(x, x)))(x))
        with pytest.raises(TracerAssignmentError, match="out="):
            fg.grad(lambda x, f=f: np.sum(f(x, x, out=OUTSIDE)))(x)


def test_strings_are_not_operands() -> None:
    with pytest.raises((DtypeError, TypeError)):
        fg.grad(lambda x: np.dot(x, "abc"))(np.ones(3))


def test_the_gradient_of_a_sum_repeats_no_number() -> None:
    """The cotangent of a sum is one number: it is multiplied as such."""
    x, y = np.ones((3, 2)), np.ones(3)
    program = fg.make_program(fg.grad(lambda y: np.sum(np.einsum("ij,i->ij", x, y))))(y)
    assert "broadcast" not in str(program)
    np.testing.assert_array_equal(program(y)[0], [2.0, 2.0, 2.0])


# -- peers ---------------------------------------------------------------------------------------------------


@pytest.mark.peers("jax")
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_gradients_are_those_of_jax(dtype: Any, rng: np.random.Generator) -> None:
    """On the last case of each function: jax compiles every one of them."""
    import jax
    import jax.numpy as jnp

    for name, f, x_shape, y_shape in {case[0]: case for case in CASES if case[3]}.values():
        if not hasattr(jnp, name.split(".")[-1]) or name == "multiply.outer":
            continue
        theirs: Any = jnp
        for part in name.split("."):
            theirs = getattr(theirs, part)
        x, y = draw(rng, x_shape, dtype), draw(rng, y_shape, dtype)
        expected = jax.grad(lambda x, y, g=theirs: jnp.sum(jnp.abs(g(x, y)) ** 2), (0, 1))(x, y)
        found = fg.grad(lambda x, y, g=f: np.sum((z := g(x, y)).real ** 2 + z.imag**2), (0, 1))(x, y)
        for ours, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, np.asarray(other), rtol=1e-10, atol=1e-10, err_msg=name)


def test_batched_axes_in_any_place(rng: np.random.Generator) -> None:
    """Every place of a batch axis in every operand, against NumPy's einsum."""
    for x_axis, y_axis in product(range(3), range(3)):
        x = np.moveaxis(draw(rng, (4, 2, 3)), 0, x_axis)
        y = np.moveaxis(draw(rng, (4, 3, 5)), 0, y_axis)
        found = fg.vmap(np.matmul, in_axes=(x_axis, y_axis))(x, y)
        np.testing.assert_allclose(found, np.moveaxis(x, x_axis, 0) @ np.moveaxis(y, y_axis, 0), rtol=1e-12)
