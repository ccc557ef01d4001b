"""Arrays that share memory: what one name writes, the others see as in NumPy, or it is refused by name.

Arrays that a traced function makes itself, by NumPy's constructors, and traced ones; seen by views,
converted, handed to SciPy's classes, read as buffers. Everything against differences of the plain function.
"""

from __future__ import annotations

import array
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

import funcgrad as fg
from funcgrad.errors import FuncgradError

pd = pytest.importorskip("pandas")

Program = Callable[[Any], Any]
Y = np.array([0.7, 1.3, 0.4])
OTHER = np.array([1.1123, 0.6017, 0.9131])
WEIGHTS = np.arange(1.0, 10.0).reshape(3, 3)


def seen_through(see: Callable[[Any], Any], shape: Any = 3) -> Program:
    """Writes into what `see` gives of an array made inside, and into the array; reads both."""

    def program(y: Any) -> Any:
        a = np.zeros(shape)
        b = see(a)
        b[(0,) * b.ndim] = y[0]
        a[(-1,) * a.ndim] = y[1]
        return np.sum(a * a) * y[2] + np.sum(3.0 * b)

    return program


def seen_of_traced(see: Callable[[Any], Any]) -> Program:
    """As `seen_through`, of a traced array."""

    def program(y: Any) -> Any:
        a = np.outer(y, y**2)
        b = see(a)
        b[0] = y[::-1]
        a[2, 1] = y[1]
        return np.sum(a * WEIGHTS) * y[2] + np.sum(3.0 * b * b)

    return program


VIEWS: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray,
    "asarray(dtype)": lambda a: np.asarray(a, dtype=float),
    "asanyarray": np.asanyarray,
    "array(copy=None)": lambda a: np.array(a, copy=None),
    "array": np.array,
    "copy": np.copy,
    "ascontiguousarray": np.ascontiguousarray,
    "asfortranarray": np.asfortranarray,
    "require": lambda a: np.require(a, float, "C"),
    "asarray_chkfinite": np.asarray_chkfinite,
    "astype": lambda a: a.astype(float, copy=False),
    "atleast_1d": np.atleast_1d,
    "atleast_2d": np.atleast_2d,
    "ravel": np.ravel,
    "reshape": lambda a: np.reshape(a, (-1, 1)),
    "squeeze": np.squeeze,
    "real": np.real,
    "nan_to_num(copy=False)": lambda a: np.nan_to_num(a, copy=False),
    "flip": np.flip,
    "transpose": np.transpose,
    "expand_dims": lambda a: np.expand_dims(a, 0),
    "split": lambda a: np.split(a, 1)[0],
    "array_split": lambda a: np.array_split(a, 2)[0],
    "einsum": lambda a: np.einsum("i", a),
    "einsum(...)": lambda a: np.einsum("...j->j...", a),
    "tile": lambda a: np.tile(a, 1),
    "concatenate": lambda a: np.concatenate([a]),
    "fancy": lambda a: a[[0, 1]],
    "mask": lambda a: a[a == 0],
    "take": lambda a: np.take(a, [0, 1]),
    "ndarray(buffer)": lambda a: np.ndarray(3, float, a),
    "frombuffer": np.frombuffer,
    "from_dlpack": np.from_dlpack,
    "memoryview": lambda a: np.asarray(memoryview(a)),
    "sliding_window_view": lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, writeable=True),
    "as_strided": lambda a: np.lib.stride_tricks.as_strided(a, (2, 2), (8, 8)),
}
OF_TRACED: dict[str, Callable[[Any], Any]] = {
    "einsum": lambda a: np.einsum("ij->ji", a),
    "einsum(lists)": lambda a: np.einsum(a, [0, 1], [1, 0]),
    "einsum(...)": lambda a: np.einsum("...j->j...", a),
    "einsum(same)": lambda a: np.einsum("ij", a),
    "asarray": np.asarray,
    "split": lambda a: np.split(a, 3)[1],
    "rot90": np.rot90,
    "broadcast_arrays": lambda a: np.broadcast_arrays(a, np.ones((3, 1)))[0] * 1.0,
    "max(key=)": lambda a: max(a, key=lambda row: row[0]),
    "min(key=)": lambda a: min(list(a), key=lambda row: row[0]),
    "sorted(key=)": lambda a: sorted(a, key=lambda row: row[0])[0],
}


def of_rows(y: Any) -> Any:
    a, b, c = m = np.zeros((3, 2))
    a[0], c[:] = y[0], y[1]
    b += y[2]
    return np.sum(m**2 * np.arange(6.0).reshape(3, 2))


def of_halves(y: Any) -> Any:
    m = np.zeros(8)
    _, b = np.split(m, 2)
    _, d = np.split(b, 2)
    d[0] = y[0]
    m[7] = y[1]
    return d.sum() * b.sum() + m.sum()


def of_columns(y: Any) -> Any:
    m = np.zeros((2, 4))
    left, right = np.hsplit(m, 2)
    left += y[0]
    right[0] = y[1]
    return np.sum(m**2 * np.arange(8.0).reshape(2, 4))


def broadcast_together(y: Any) -> Any:
    b = np.zeros(3)
    a, _ = np.broadcast_arrays(b, np.zeros((2, 1)))
    b[0] = y[0]
    return np.sum(a * y)


def of_a_grid(y: Any) -> Any:
    b = np.zeros(3)
    a, _ = np.meshgrid(b, b, copy=False, indexing="ij")
    b[0] = y[0]
    return np.sum(a * y)


def of_a_diagonal(y: Any) -> Any:
    a = np.zeros((3, 3))
    d = np.diag(a)
    a[1, 1] = y[0]
    return np.sum(d * y)


def written_by_einsum(y: Any) -> Any:
    a = np.zeros((3, 3))
    np.einsum("ii->i", a)[:] = y
    return np.sum(a * WEIGHTS) * y[1]


def of_bytes(y: Any) -> Any:
    b = bytearray(24)
    a = np.ndarray(3, float, b)
    a[:] = y * y
    return np.frombuffer(b).sum()


def into_bytes(y: Any) -> Any:
    b = bytearray(24)
    a = np.frombuffer(b)
    a[:] = y * y
    return np.frombuffer(b).sum()


def of_an_array_of_pythons(y: Any) -> Any:
    b = array.array("d", [0.0, 0.0, 0.0])
    a = np.asarray(b)
    a[0] = y[0]
    return b[0] * y[1] + a[1]


def of_ctypes(y: Any) -> Any:
    b = (ctypes.c_double * 3)()
    a = np.ctypeslib.as_array(b)
    a[0] = y[0]
    return b[0] * y[1]


def by_address(y: Any) -> Any:
    b = np.zeros(3)

    class Holder:
        __array_interface__ = b.__array_interface__

    a = np.asarray(Holder())
    a[0] = y[0]
    return b.sum() * y[1]


def seen_late(y: Any) -> Any:
    a = np.zeros(3)
    v = a.view()
    a[0] = y[0]
    return v[0] * y[1] + a[0]


def iterator_kept(y: Any) -> Any:
    a = np.zeros(3)
    f = a.flat
    a[0] = y[0]
    return f[0] * y[1] + a[0]


def held_by_pandas(y: Any) -> Any:
    a = np.zeros(3)
    s = pd.Series(a, copy=False)
    a[0] = y[0]
    return s[0] * y[1] + a[0]


def written_by_nditer(y: Any) -> Any:
    m = np.zeros(3)
    for v in np.nditer(m, op_flags=["readwrite"]):
        v[...] = 2.0
    return np.sum(m * y) * y[0]


def sparse_of_dense(y: Any) -> Any:
    m = np.outer(y, y)
    s = scipy.sparse.csr_matrix(m)
    m[0, 0] = 5 * y[0]
    return (s @ y).sum() * m[0, 0]


def sparse_of_elements(y: Any) -> Any:
    d = y * 1.0
    s = scipy.sparse.coo_matrix((d, ([0, 1, 2], [0, 1, 2])))
    d[0] = 5 * y[1]
    return (s @ y).sum() * d[0]


def sparse_copied(y: Any) -> Any:
    s = scipy.sparse.csr_matrix((y * 1.0, ([0, 1, 2], [0, 1, 2])))
    t = s.copy()
    t.data[0] = 9.0
    return (s @ y).sum() * (t @ y).sum()


def sparse_turned(y: Any) -> Any:
    s = scipy.sparse.csr_matrix((y * 1.0, ([0, 1, 2], [1, 1, 2])))
    t = s.T
    s.data[0] = 9.0 * y[0]
    return (t @ y).sum()


def density_of_changed(y: Any) -> Any:
    v = y * 1.0
    f = scipy.stats.gaussian_kde(v)
    v[0] = 5 * y[1]
    return f(0.5)[0] * v[0]


def in_a_branch(y: Any) -> Any:
    a = np.zeros(3)
    b = np.asarray(a)
    if y[0] > 0.5:
        b[0] = y[0]
    return a[0] * y[1] + a.sum()


def in_a_loop(y: Any) -> Any:
    a = np.zeros(3)
    b = np.asarray(a)
    for i in range(3):
        b[i] = y[i] * i
    return np.sum(a * y)


def stopped_inside(y: Any) -> Any:
    a = np.zeros(3)
    a[0] = fg.stop_gradient(0 * y[0])
    b = np.asarray(a)
    b[0] = y[1]
    return a[0] * y[2]


OTHERS: list[Program] = [
    *(of_rows, of_halves, of_columns, broadcast_together, of_a_grid, of_a_diagonal, written_by_einsum),
    *(of_bytes, into_bytes, of_an_array_of_pythons, of_ctypes, by_address, seen_late, iterator_kept),
    *(held_by_pandas, written_by_nditer, sparse_of_dense, sparse_of_elements, sparse_copied, sparse_turned),
    *(density_of_changed, in_a_branch, in_a_loop, stopped_inside),
]
PROGRAMS: dict[str, Program] = {
    **{f"zeros: {name}": seen_through(see) for name, see in VIEWS.items()},
    **{f"traced: {name}": seen_of_traced(see) for name, see in OF_TRACED.items()},
    **{program.__name__: program for program in OTHERS},
}
RIGHT = {
    *(
        "zeros: asarray",
        "zeros: asarray(dtype)",
        "zeros: ravel",
        "zeros: array",
        "zeros: split",
        "zeros: real",
    ),
    *("zeros: atleast_1d", "zeros: atleast_2d", "zeros: asfortranarray", "zeros: require", "zeros: astype"),
    *("traced: einsum", "traced: einsum(lists)", "traced: split", "traced: sorted(key=)"),
    *("of_rows", "of_halves", "of_columns", "broadcast_together", "sparse_of_dense", "sparse_copied"),
    *("in_a_branch", "in_a_loop", "of_a_diagonal", "density_of_changed", "stopped_inside"),
}
"""Programs that are not only refused."""


def differences(f: Program, y: Any) -> Any:
    """Central differences of the plain function."""
    return np.array([(f(y + step) - f(y - step)) / 2e-6 for step in 1e-6 * np.eye(3)])


@pytest.mark.parametrize("way", ["grad", "jacfwd", "jit", "vmap", "hessian"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_writes_reach_what_shares_memory(name: str, way: str) -> None:
    f = PROGRAMS[name]
    try:
        wanted = np.array([differences(f, Y), differences(f, OTHER)])
    except (TypeError, ValueError):
        pytest.skip("NumPy does not do that")
    slope = fg.grad(f)
    try:
        if way == "jit":
            compiled = fg.jit(slope)
            found = [compiled(Y), compiled(OTHER)]
        elif way == "vmap":
            found = fg.vmap(slope)(np.stack([Y, OTHER]))
        elif way == "hessian":
            found = [fg.hessian(f)(Y) @ Y]
            wanted = np.array([(differences(f, Y + 1e-3 * Y) - differences(f, Y - 1e-3 * Y)) / 2e-3])
        else:
            found = [fg.jacfwd(f)(Y) if way == "jacfwd" else slope(Y), slope(OTHER)]
    except (FuncgradError, TypeError, AttributeError, ValueError):
        assert name not in RIGHT
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


def test_what_was_handed_to_a_library_may_be_written_when_that_has_let_it_go() -> None:
    def f(y: Any) -> Any:
        a = np.zeros(3)
        total = pd.Series(a).sum() + np.asarray(memoryview(a.tobytes())).size
        a[0] = y[0]
        return a[0] * y[1] + 0.0 * total

    np.testing.assert_allclose(fg.grad(f)(Y), [Y[1], Y[0], 0.0])
