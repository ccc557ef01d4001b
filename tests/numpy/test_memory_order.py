"""Fresh arrays lie in memory as NumPy's: what `ravel` and `reshape` share with them is what NumPy's share.

Every cell of the grid (how an array is made, how it is seen, what is written, what is read) equals NumPy's or
is refused by name; what lies row by row, which is nearly everything, is never refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.arrays.memory import UNKNOWN, layout_of, picture_of
from tests.laws.lawbook import functions

X = np.arange(12.0).reshape(4, 3) / 7 + 0.5

MADE: dict[str, Callable[[Any], Any]] = {
    "product": lambda a: a * 2.0,
    "transposed product": lambda a: a.T * 2.0,
    "sine": lambda a: np.sin(a.T),
    "both ways": lambda a: a.T[:3, :3] + a[:3, :3],
    "transposed sum": lambda a: a.T + a.T,
    "with a row": lambda a: a.T + a[:, 0],
    "with a constant": lambda a: a.T * np.arange(12.0).reshape(3, 4),
    "with a transposed constant": lambda a: a * np.arange(12.0).reshape(3, 4).T,
    "columns": lambda a: np.asfortranarray(a) * 3.0,
    "zeros like": lambda a: np.zeros_like(a.T) + 0.0 * a.T,
    "zeros like, written": lambda a: filled(np.zeros_like(a.T), a.T),
    "empty like, written": lambda a: filled(np.empty_like(a.T), a.T),
    "full like, in C's": lambda a: filled(np.full_like(a.T, 7.0, order="C"), a.T),
    "zeros, by columns": lambda a: filled(np.zeros((4, 3), order="F"), a),
    "ones, by columns": lambda a: filled(np.ones((4, 3), order="F"), a),
    "empty": lambda a: filled(np.empty((4, 3)), a),
    "written as a whole": lambda a: filled(np.empty((4, 3)), np.asfortranarray(a)),
    "in place": lambda a: increased(a.T * 2.0),
    "in place, in rows": lambda a: increased(a * 2.0),
    "where": lambda a: np.where(a.T > 1.0, a.T, 0.5),
    "clip": lambda a: np.clip(a.T, 0.6, 1.45),
    "product of matrices": lambda a: a.T @ a,
    "dot": lambda a: a.T.dot(a),
    "einsum": lambda a: np.einsum("ij,ik->kj", a, a),
    "outer": lambda a: np.outer(a[0], a[1]),
    "picked rows": lambda a: a[[2, 0, 1]],
    "picked columns": lambda a: a[:, [2, 0, 1]],
    "take": lambda a: np.take(a, [2, 0, 1], axis=1),
    "concatenated": lambda a: np.concatenate([a, a]),
    "concatenated columns": lambda a: np.concatenate([a.T, a.T]),
    "stack": lambda a: np.stack([a[0], a[1]]),
    "array of rows": lambda a: np.array([a[0], a[1]]),
    "stack of columns": lambda a: np.stack([a.T, a.T], axis=1),
    "cumulated": lambda a: np.cumsum(a.T, axis=0),
    "sorted": lambda a: np.sort(a.T, axis=0),
    "summed": lambda a: (a[None] * a[:2, :1, None]).sum(axis=0),
    "rolled": lambda a: np.roll(a.T, 1, axis=0),
    "repeated": lambda a: np.repeat(a.T, 2, axis=1),
    "tiled": lambda a: np.tile(a, (2, 1)),
    "padded": lambda a: np.pad(a.T, 1),
    "differences": lambda a: np.diff(a.T, axis=0),
    "gradient": lambda a: np.gradient(a.T)[0],
    "inverse": lambda a: np.linalg.inv(a[:3] @ a[:3].T + np.eye(3)),
    "cast": lambda a: a.T.astype(float),
    "negative steps": lambda a: a[::-1, ::-1] * 2.0,
    "broadcast": lambda a: np.broadcast_to(a[0], (4, 3)) * 2.0,
    "triangle": lambda a: np.tril(a.T),
    "three axes": lambda a: a.reshape(2, 2, 3).transpose(1, 2, 0) * 2.0,
    "real parts": lambda a: np.real(a * (1.0 + 2.0j)),
    "copy of columns": lambda a: (a.T * 2.0).copy(),
    "copy as it is": lambda a: np.copy(a.T * 2.0),
}

SEEN: dict[str, Callable[[Any], Any]] = {
    "ravel": lambda z: z.ravel(),
    "reshape": lambda z: z.reshape(-1),
    "reshape upright": lambda z: z.reshape(-1, 1),
    "ravel F": lambda z: z.ravel(order="F"),
    "reshape F": lambda z: z.reshape(-1, order="F"),
    "ravel of T": lambda z: z.T.ravel(),
    "ravel of rows": lambda z: z[1:].ravel(),
    "reshape of a column": lambda z: z[:, 0].reshape(-1),
    "as rows": np.ascontiguousarray,
    "as columns": np.asfortranarray,
    "view of a view": lambda z: z.T.reshape(-1)[1:],
}


def filled(z: Any, value: Any) -> Any:
    z[...] = value
    return z


def increased(z: Any) -> Any:
    z += 1.0
    return z


def write_view(z: Any, r: Any) -> None:
    r[...] = 3.0 * r + 1.0


def write_base(z: Any, r: Any) -> None:
    z[0] = 2.0 * z[0] + 1.0


def write_both(z: Any, r: Any) -> None:
    z *= 2.0
    r[:1] = 5.0


WRITTEN = {"view": write_view, "base": write_base, "both": write_both}
DOUBTFUL = {
    "einsum",
    "sorted",
    "stack of columns",
    "rolled",
    "repeated",
    "padded",
    "gradient",
    "cumulated",
    "tiled",
} | {*("inverse", "concatenated columns", "summed")}
"""What may be refused."""


def program(made: str, seen: str, write: str) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        z = MADE[made](x)
        r = SEEN[seen](z)
        WRITTEN[write](z, r)
        return np.sum(np.sin(z)) + np.sum(np.cos(r)) + np.sum(x)

    return f


CELLS = [
    (made, seen, [*WRITTEN][(k + n) % len(WRITTEN)])
    for n, made in enumerate(MADE)
    for k, seen in enumerate(SEEN)
]
"""Each way to make with each way to see; the ways to write take turns."""


@pytest.mark.parametrize(("made", "seen", "write"), CELLS)
def test_equal_or_refused(made: str, seen: str, write: str) -> None:
    f = program(made, seen, write)
    try:
        value, gradient = fg.value_and_grad(f)(X)
    except UnsupportedFunctionError:
        if made not in DOUBTFUL:
            raise
        return
    np.testing.assert_allclose(value, f(X.copy()))
    d = 1e-6 * np.cos(X)
    np.testing.assert_allclose(np.sum(gradient * d), (f(X + d) - f(X - d)) / 2, rtol=1e-5, atol=1e-11)


@pytest.mark.at_length
@pytest.mark.parametrize("made", MADE)
def test_the_same_in_jit_and_vmap(made: str) -> None:
    for seen in SEEN:
        f = program(made, seen, "view")
        for transformed, expected in (
            (lambda f=f: fg.jit(f)(X), lambda f=f: f(X.copy())),
            (lambda f=f: fg.vmap(f)(np.stack([X, X + 1.0])), lambda f=f: [f(X.copy()), f(X + 1.0)]),
        ):
            try:
                found = transformed()
            except UnsupportedFunctionError:
                if made not in DOUBTFUL:
                    raise
                continue
            np.testing.assert_allclose(found, expected())


def test_an_argument_that_lies_by_columns() -> None:
    def f(x: Any) -> Any:
        z = 2.0 * x
        r = z.ravel()
        r[:] = 1.0 + r**2
        return np.sum(np.sin(z)) + np.sum(r)

    for x in (X, np.asfortranarray(X), X.T, X[::2], X[:, ::2]):
        value, gradient = fg.value_and_grad(f)(x)
        np.testing.assert_allclose(value, f(x))
        d = 1e-6 * np.cos(x)
        np.testing.assert_allclose(np.sum(gradient * d), (f(x + d) - f(x - d)) / 2, rtol=1e-5)


def test_parts_of_complex_numbers_do_not_lie_one_after_the_other() -> None:
    def f(x: Any) -> Any:
        z = x * (1.0 + 2.0j)
        r = z.real.ravel()
        r[:] = 0.0
        np.real(z)[0] = 4.0
        return np.sum(np.abs(z) ** 2) + np.sum(r)

    value, gradient = fg.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X))
    d = 1e-6 * np.cos(X)
    np.testing.assert_allclose(np.sum(gradient * d), (f(X + d) - f(X - d)) / 2, rtol=1e-5)


def test_doubt_is_refused_by_name() -> None:
    def f(x: Any) -> Any:
        z = np.einsum("ij,ik->kj", x, x)
        r = z.ravel()
        r[0] = 1.0
        return np.sum(z)

    with pytest.raises(UnsupportedFunctionError, match="a view or a copy depending on how its elements lie"):
        fg.grad(f)(X)
    # What is read only, or never read again, is not in doubt.
    assert np.all(np.isfinite(fg.grad(lambda x: np.sum(np.einsum("ij,ik->kj", x, x).ravel() ** 2))(X)))


@pytest.mark.parametrize(
    "entry", [e for e in functions.ENTRIES if any(np.ndim(a) > 1 for a in e.args)], ids=repr
)
def test_what_is_known_is_true(entry: functions.Entry) -> None:
    """The strides of results, worked out of what is recorded, are those of NumPy's results."""
    found: list[Any] = []
    for order in (np.ascontiguousarray, np.asfortranarray):
        args = [order(a) if np.ndim(a) > 1 else np.asarray(a) for a in entry.args]
        result = entry.function(np, *args)
        if np.ndim(result) < 2:
            return

        def noted(*xs: Any) -> Any:
            out = entry.function(fg.numpy, *xs)
            found[:] = [(layout_of(out.frozen() if out._view is not None else out), out.aval.shape)]
            return np.sum(out)

        floats = tuple([k for k, a in enumerate(args) if a.dtype.kind == "f"])
        fg.grad(noted, argnums=floats)(*args)
        layout, shape = found[0]
        if layout is not UNKNOWN:
            seen = [
                (n, step) for n, step in zip(shape, picture_of(layout, shape).strides, strict=True) if n > 1
            ]
            size = result.itemsize
            assert seen == [
                (n, s // size) for n, s in zip(result.shape, result.strides, strict=True) if n > 1
            ]


def test_arguments_of_jitted_functions_in_columns_are_read_as_they_lie(rng):
    def copied(a):
        b = a * 2.0
        v = b.ravel()
        v[0] = a[0, 1] ** 2
        return np.sum(b) + np.sum(v)

    def written(a):
        v = a.ravel()
        v[0] = 5.0
        return np.sum(a**2)

    def by_path(a):
        v = (a + 1.0).ravel()
        found = [t for t in v if t > 0]
        v[0] = 3.0
        return np.sum(v) + len(found) * found[0]

    rows = rng.normal(size=(3, 4))
    columns = np.asfortranarray(rows)
    for f in (copied, written, by_path):
        jitted, gradient = fg.jit(f), fg.jit(fg.grad(f))
        for x in (rows, columns, rows[::-1], columns, rows):
            np.testing.assert_allclose(jitted(x.copy("K")), f(x.copy("K")), rtol=1e-12)
            np.testing.assert_allclose(gradient(x.copy("K")), fg.grad(f)(x.copy("K")), rtol=1e-12)


def test_examples_of_vmap_that_lie_in_another_way_are_refused(rng):
    def f(a):
        b = a * 2.0
        v = b.ravel()
        v[0] = a[0, 1] ** 2
        return np.sum(b) + np.sum(v)

    rows = rng.normal(size=(5, 3, 4))
    expected = [f(x) for x in rows]
    turned = np.ascontiguousarray(rows.transpose(0, 2, 1)).transpose(0, 2, 1)
    for g in (fg.vmap(f), fg.jit(fg.vmap(f)), fg.vmap(fg.jit(f)), fg.vmap(fg.value_and_grad(f))):
        for x in (rows, turned, np.asfortranarray(rows), rows):
            if x is rows:
                found = g(x)
                np.testing.assert_allclose(found[0] if type(found) is tuple else found, expected)
            else:
                with pytest.raises(fg.errors.FuncgradError, match="how its elements lie in memory"):
                    g(x)
    np.testing.assert_allclose(fg.vmap(f, in_axes=1)(np.moveaxis(rows, 0, 1)), expected)
