"""Moving, joining, creating: the same as NumPy, on arrays, traced, batched and differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import assert_agrees

import funcgrad as fg
from funcgrad.errors import ConcretizationError, ShapeError, UnsupportedFunctionError
from funcgrad.testing import check_grads

fnp = fg.numpy
Function = Callable[..., Any]

V = np.array([1.0, -2.0, 3.0])
M = np.arange(1.0, 7.0).reshape(2, 3)
C = np.arange(1.0, 13.0).reshape(2, 3, 2)
S = np.float64(1.5)


def with_ends(line: Any, width: tuple[int, int], axis: int, options: dict[str, Any]) -> None:
    """What `np.pad` may be given as its mode: writes outside of a line, and changes nothing else."""
    if width[0]:
        line[: width[0]] = line[width[0]] * (axis + 1)
    if width[1]:
        line[-width[1] :] = options["end"]


def leaves(result: Any) -> list[Any]:
    return [y for x in result for y in leaves(x)] if isinstance(result, list | tuple) else [result]


def check(f: Function, *points: Any) -> None:
    """`f` with the module as first argument: NumPy's functions and ours agree, and derivatives are right."""
    wanted = leaves(f(np, *points))

    def traced(*points: Any) -> Any:
        return leaves(f(np, *points))

    for found in (
        leaves(f(fnp, *points)),
        fg.make_program(lambda *p: leaves(f(fnp, *p)))(*points)(*points),
        fg.make_program(traced)(*points)(*points),
    ):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            assert np.shape(x) == np.shape(y)
            assert np.asarray(x).dtype == np.asarray(y).dtype
            np.testing.assert_allclose(x, y)
    batches = [np.stack([x, 2 * x]) for x in points]
    batched = fg.vmap(traced)(*batches)
    for k in range(2):
        one = leaves(f(np, *[x[k] for x in batches]))
        for x, y in zip(batched, one, strict=True):
            np.testing.assert_allclose(x[k], y)
    fg.testing.check_grads(traced, points, order=1)


MOVES: dict[str, tuple[Any, ...]] = {
    # shapes
    "reshape": (lambda np, x: np.reshape(x, (3, -1)), M),
    "reshape to int": (lambda np, x: np.reshape(x, 6), M),
    "reshape in Fortran order": (lambda np, x: np.reshape(x, (3, 4), order="F"), C),
    "reshape method": (lambda np, x: x.reshape(3, 2) * x.reshape((3, 2)), M),
    "reshape scalar": (lambda np, x: np.reshape(x, (1, 1)), S),
    "ravel": (lambda np, x: np.ravel(x) * x.flatten(), M),
    "ravel in Fortran order": (lambda np, x: np.ravel(x, order="F"), M),
    "squeeze": (lambda np, x: np.squeeze(x[None, :, None]), V),
    "squeeze axis": (lambda np, x: np.squeeze(x[None, :, None], axis=(0,)), V),
    "squeeze method": (lambda np, x: x[:1].squeeze(), M),
    "expand_dims": (lambda np, x: np.expand_dims(x, (0, -1)), M),
    "atleast_1d": (lambda np, x, y: np.atleast_1d(x, y), S, M),
    "atleast_2d": (lambda np, x: np.atleast_2d(x), V),
    "atleast_3d": (lambda np, x, y, z: [np.atleast_3d(a) for a in (x, y, z)], S, V, M),
    # order of axes
    "transpose": (lambda np, x: np.transpose(x), C),
    "transpose axes": (lambda np, x: np.transpose(x, (1, -1, 0)), C),
    "transpose method": (lambda np, x: x.transpose(2, 0, 1) * x.transpose((2, 0, 1)), C),
    "T": (lambda np, x: x.T, C),
    "mT": (lambda np, x: x.mT * np.matrix_transpose(x), C),
    "permute_dims": (lambda np, x: np.permute_dims(x, (1, 0)), M),
    "swapaxes": (lambda np, x: np.swapaxes(x, 0, -1) * x.swapaxes(0, -1), C),
    "moveaxis": (lambda np, x: np.moveaxis(x, 0, -1), C),
    "moveaxis several": (lambda np, x: np.moveaxis(x, (0, 1), (-1, 0)), C),
    "rollaxis": (lambda np, x: np.rollaxis(x, 2, 1), C),
    # reversal and broadcasting
    "flip": (lambda np, x: np.flip(x), M),
    "flip axes": (lambda np, x: np.flip(x, (0, -1)), C),
    "flipud and fliplr": (lambda np, x: np.flipud(x) + np.fliplr(x), M),
    "rot90": (lambda np, x: [np.rot90(x, k) for k in range(-1, 4)], M),
    "rot90 axes": (lambda np, x: np.rot90(x, 1, (1, 2)), C),
    "broadcast_to": (lambda np, x: np.broadcast_to(x, (2, 2, 3)), M),
    "broadcast_arrays": (lambda np, x, y: list(np.broadcast_arrays(x, y)), V, M),
    "diagonal": (lambda np, x: [np.diagonal(x, k) for k in (-1, 0, 1, 2, 7)], M),
    "diagonal axes": (lambda np, x: np.diagonal(x, 1, 2, 1) * x.diagonal(1, 2, 1), C),
    "diag of a vector": (lambda np, x: [np.diag(x, k) for k in (-1, 0, 2)], V),
    "diag of a matrix": (lambda np, x: np.diag(x, 1), M),
    "diagflat": (lambda np, x: np.diagflat(x, -1), M),
    "tril": (lambda np, x: [np.tril(x, k) for k in (-1, 0, 1)], M),
    "triu": (lambda np, x: [np.triu(x, k) for k in (-1, 0, 1)], C),
    "tril of a vector": (lambda np, x: np.tril(x), V),
    # joining
    "concatenate": (lambda np, x, y: np.concatenate([x, y, x]), V, V[:2]),
    "concatenate axis": (lambda np, x: np.concatenate((x, x[:, :1]), axis=-1), M),
    "concatenate flat": (lambda np, x, y: np.concatenate([x, y], axis=None), M, V),
    "concatenate rows": (lambda np, x: np.concatenate(x), C),
    "concatenate with ints": (lambda np, x: np.concatenate([[1, 2], x]), V),
    "stack": (lambda np, x, y: np.stack([x, y, [1, 2, 3]], axis=1), V, V),
    "stack scalars": (lambda np, x: np.stack([x, 2.0, x * x]), S),
    "vstack": (lambda np, x, y: np.vstack([x, y]), V, M),
    "hstack": (lambda np, x: np.hstack([x, x[:, :2]]), M),
    "hstack vectors": (lambda np, x, y: np.hstack([x, y]), V, S),
    "dstack": (lambda np, x: np.dstack([x, x * 2]), M),
    "column_stack": (lambda np, x: np.column_stack([x, np.ones((3, 2)), x]), V),
    "block": (lambda np, x, y: np.block([[x, y[:, None]], [np.zeros((1, 3)), 7.0]]), M, V[:2]),
    "append": (lambda np, x: [np.append(x, 1.0), np.append(x, x, axis=0)], M),
    # splitting
    "split": (lambda np, x: np.split(x, 3), V),
    "split at indices": (lambda np, x: np.split(x, [1, 1, 5, -1], axis=1), M),
    "array_split": (lambda np, x: np.array_split(x, 2, axis=1), M),
    "vsplit, hsplit": (lambda np, x: [*np.vsplit(x, 2), *np.hsplit(x, [1]), *np.hsplit(x[0], 3)], M),
    "dsplit": (lambda np, x: np.dsplit(x, 2), C),
    "unstack": (lambda np, x: list(np.unstack(x, axis=1)), M),
    # repetition
    "tile": (lambda np, x: [np.tile(x, 2), np.tile(x, (2, 1, 3)), np.tile(x, (0,))], M),
    "repeat": (lambda np, x: [np.repeat(x, 2), np.repeat(x, 3, axis=0), x.repeat(2, axis=1)], M),
    "repeat each": (lambda np, x: np.repeat(x, [0, 2, 1], axis=-1), M),
    "roll": (lambda np, x: [np.roll(x, k) for k in (-4, 0, 1, 8)], M),
    "roll axes": (lambda np, x: [np.roll(x, 1, axis=0), np.roll(x, (1, -1), axis=(0, 1))], M),
    "resize": (lambda np, x: [np.resize(x, (3, 3)), np.resize(x, 2)], M),
    # selecting
    "take": (lambda np, x: [np.take(x, [0, -1, 0]), np.take(x, [[1, 0]], axis=0), x.take(2)], M),
    "take modes": (lambda np, x: [np.take(x, [-7, 9], mode=m) for m in ("wrap", "clip")], M),
    "compress": (lambda np, x: [np.compress([0, 1, 1], x, axis=1), x.compress([True, False, True])], M),
    "extract": (lambda np, x: np.extract(np.arange(6).reshape(2, 3) % 2 == 0, x), M),
    "delete": (lambda np, x: [np.delete(x, 1, axis=1), np.delete(x, [0, -1]), np.delete(x, slice(1, 3))], M),
    "insert": (lambda np, x: [np.insert(x, 1, 7.0, axis=1), np.insert(x, [0, 2, 2], x[0], axis=None)], M),
    "insert rows": (lambda np, x, y: [np.insert(x, 1, y, axis=0), np.insert(x, [0, 2], y, axis=0)], M, V),
    "insert columns": (lambda np, x: np.insert(x, 1, x, axis=1), M[:, :2]),
    "ix_": (lambda np, x: x[np.ix_([1, 0], [0, 2])], M),
    "flat": (lambda np, x: x.flat[1:4] * 1.0, M),
    # padding
    "pad": (lambda np, x: [np.pad(x, 1), np.pad(x, (0, 2)), np.pad(x, ((1, 0), (0, 2)))], M),
    "pad with values": (lambda np, x: np.pad(x, 1, constant_values=((5.0, 6.0), (7.0, 8.0))), M),
    "pad with its own": (lambda np, x, y: np.pad(x, ((0, 0), (1, 2)), constant_values=y), M, S),
    "pad edge": (lambda np, x: np.pad(x, ((2, 1), (0, 3)), mode="edge"), M),
    "pad reflect": (lambda np, x: np.pad(x, ((1, 3), (5, 2)), mode="reflect"), M),
    "pad symmetric": (lambda np, x: np.pad(x, ((1, 3), (7, 2)), mode="symmetric"), M),
    "pad wrap": (lambda np, x: np.pad(x, ((1, 3), (4, 2)), mode="wrap"), M),
    "pad reflect odd": (lambda np, x: np.pad(x, ((1, 3), (5, 2)), mode="reflect", reflect_type="odd"), M),
    "pad symmetric odd": (lambda np, x: np.pad(x, (3, 8), mode="symmetric", reflect_type="odd"), V),
    "pad one element": (lambda np, x: np.pad(x, 2, mode="reflect", reflect_type="odd"), V[:1]),
    "pad linear_ramp": (lambda np, x: np.pad(x, ((2, 1), (0, 3)), mode="linear_ramp", end_values=(4, -1)), M),
    "pad mean": (lambda np, x: np.pad(x, ((2, 1), (1, 3)), mode="mean"), M),
    "pad mean of some": (lambda np, x: np.pad(x, 1, mode="mean", stat_length=((1, 2), (2, 9))), M),
    "pad median": (lambda np, x: np.pad(x, ((2, 1), (1, 3)), mode="median"), M),
    "pad median of some": (lambda np, x: np.pad(x, (1, 2), mode="median", stat_length=2), V),
    "pad by a function": (lambda np, x: np.pad(x, ((2, 1), (0, 3)), with_ends, end=2.0), M),
    "pad maximum": (lambda np, x: np.pad(x, 1, mode="maximum"), M),
    "pad minimum": (lambda np, x: np.pad(x, (1, 2), mode="minimum", stat_length=2), V),
    # making
    "like": (
        lambda np, x: [np.zeros_like(x), np.ones_like(x) * x, np.full_like(x, 3), np.zeros_like(x, int)],
        M,
    ),
    "full": (lambda np, x: [np.full((2, 2), 3.5), np.full(3, 1) * x], V),
    "linspace": (lambda np, x, y: [np.linspace(x, y, 5), np.linspace(0.0, y, 3, endpoint=False)], S, -S),
    "linspace of arrays": (lambda np, x: np.linspace(x, 2 * x + 1, 4, axis=-1), V),
    "linspace of one": (lambda np, x: [np.linspace(x, 2.0, 1), np.linspace(x, 2.0, 0)], S),
    "linspace with step": (lambda np, x: list(np.linspace(x, 2.0, 4, retstep=True)), S),
    "logspace": (lambda np, x: [np.logspace(0.0, x, 4), np.logspace(x, 1.0, 3, base=2.0)], S),
    "geomspace": (lambda np, x: [np.geomspace(x, 7.0, 4), np.geomspace(-x, -3.0, 3)], S),
    "arange": (lambda np, x: [np.arange(3) * x, np.arange(1, 7, 2.0) * x, np.arange(0.5, 3.0) * x], V),
    "eye": (lambda np, x: [np.eye(3) @ x, np.identity(3) * x, np.tri(2, 3, 1) * x], V),
    "vander": (lambda np, x: [np.vander(x), np.vander(x, 2, increasing=True)], V),
    "meshgrid": (lambda np, x, y: [*np.meshgrid(x, y), *np.meshgrid(x, y, indexing="ij")], V, V[:2]),
    "meshgrid sparse": (lambda np, x, y: list(np.meshgrid(x, y, sparse=True)), V, V[:2]),
    "copy": (lambda np, x: np.copy(x) + x.copy(), M),
    "astype": (lambda np, x: np.astype(x, complex).real + x.astype(float), M),
}


@pytest.mark.parametrize(("f", "points"), [(f, p) for f, *p in MOVES.values()], ids=MOVES)
def test_same_as_numpy(f: Function, points: list[Any]) -> None:
    check(f, *points)


def test_arrays_that_are_made_can_be_written() -> None:
    makers: list[Callable[[Any], Any]] = [
        lambda x: fnp.zeros(3),
        lambda x: fnp.ones(3),
        lambda x: fnp.empty(3),
        lambda x: fnp.full(3, 2.0),
        lambda x: fnp.full(3, x[0]),
        lambda x: fnp.arange(3.0),
        lambda x: fnp.linspace(0.0, 1.0, 3),
        lambda x: fnp.eye(3)[0],
        np.zeros_like,
        np.empty_like,
        lambda x: fnp.array([1.0, 2.0, 3.0]),
        lambda x: fnp.array([x[0], 1.0, 2.0]),
        lambda x: fnp.asarray(V),
        fnp.array,
        fnp.copy,
        lambda x: fnp.broadcast_to(x, (3,)).copy(),
        lambda x: fnp.meshgrid(x, x)[0][0],
        lambda x: fnp.fromfunction(lambda i: i, (3,)),
    ]
    for make in makers:

        def f(x: Any, make: Callable[[Any], Any] = make) -> Any:
            y = make(x)
            y[0] = x[1] * 4.0
            y[1:] *= 0.0
            return np.sum(y)

        np.testing.assert_array_equal(fg.grad(f)(V), [0.0, 4.0, 0.0])
    np.testing.assert_array_equal(V, [1.0, -2.0, 3.0])


def test_arrays_of_rank_0_can_be_written() -> None:
    def f(x: Any) -> Any:
        total = fnp.zeros(())
        same = total
        total += x
        total[...] = total * x
        other = np.zeros_like(x)
        other[()] = same
        return other

    assert fg.grad(f)(3.0) == 6.0


def test_outside_of_traces_arrays_are_numpy_s_own() -> None:
    for made in (
        fnp.zeros((2, 3)),
        fnp.ones(2, int),
        fnp.array([1, 2.5]),
        fnp.asarray(V),
        fnp.arange(3),
        fnp.linspace(0, 1, 3),
        fnp.eye(2),
        fnp.full(2, 1.0),
        fnp.stack([V, V]),
        fnp.pad(V, 1),
    ):
        assert type(made) is np.ndarray
    assert fnp.asarray(V) is V
    assert fnp.array(V) is not V
    made = fnp.array([1.0, 2.0], dtype=np.float32, ndmin=2)
    assert (made.dtype, made.shape) == (np.float32, (1, 2))


def test_positions_of_what_is_not_zero() -> None:
    def f(x: Any) -> Any:
        (large,) = np.nonzero(x > 0)
        assert isinstance(large, np.ndarray)
        rows = np.argwhere(x.reshape(3, 1) < 0)
        flat = np.flatnonzero(x > 0)
        (again,) = np.where(x > 0)
        return np.sum(x[large] * x[flat] * x[again]) + x[rows[0, 0]] + x[x.nonzero()[0][0]]

    np.testing.assert_allclose(fg.grad(f)(V), [4.0, 1.0, 27.0])
    with pytest.raises(ConcretizationError, match=r"fg\.numpy\.where"):
        fg.make_program(lambda x: np.nonzero(x)[0])(V)


def test_flat_positions_of_traced_indices() -> None:
    def f(k: Any) -> Any:
        i, j = np.unravel_index(k, (3, 4))
        return np.ravel_multi_index((i, j), (3, 4)), i, j

    places = np.arange(12)
    found = fg.vmap(f)(places)
    np.testing.assert_array_equal(found[0], places)
    np.testing.assert_array_equal(found[1:], np.unravel_index(places, (3, 4)))
    assert fnp.ravel_multi_index((1, 2), (3, 4), order="F") == 7


def test_writing_functions() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        np.copyto(y, x)
        np.put(y, [0, 5], x[0, :2] * 2.0)
        np.putmask(y, y > 100, 0.0)
        np.put_along_axis(y, np.array([[1], [0]]), x[:, :1] * 3.0, axis=1)
        z = fnp.zeros((3, 3))
        np.fill_diagonal(z, x[0])
        np.fill_diagonal(z[1:], x[1, 0])
        y.put([2], x[1, 1])
        return np.sum(y[:, None] * np.cos(M)) + np.sum(z * np.arange(9.0).reshape(3, 3))

    fg.testing.check_grads(f, (M,), order=1)


def test_views_of_static_methods_are_views() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        first, *rest = np.split(y, 3)
        first *= first
        rest[0] *= rest[0]
        rest[1] *= rest[1]
        return np.sum(y)

    np.testing.assert_allclose(fg.grad(f)(V), 2 * V)


def test_stacked_scalars_are_one_operation() -> None:
    program = fg.make_program(lambda x: np.array([x[k] for k in range(3)]))(V)
    assert [e.primitive.name for e in program.equations] == ["slice", "slice", "slice", "stack"]


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "reshape": (
        lambda x: np.reshape(x, (4, 2)),
        ShapeError,
        r"cannot reshape array of size 6 into shape \(4, 2\)",
    ),
    "two unknown sizes": (lambda x: x.reshape(-1, -1), ShapeError, "cannot reshape"),
    "squeeze": (lambda x: np.squeeze(x, 0), ShapeError, "squeeze out"),
    "transpose": (lambda x: np.transpose(x, (0,)), ShapeError, "don't match"),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 2), np.exceptions.AxisError, "out of bounds"),
    "concatenate": (lambda x: np.concatenate([x, x.T]), ShapeError, "all other axes must agree"),
    "concatenate scalars": (lambda x: np.concatenate([x[0, 0], x[0, 1]]), ShapeError, "zero-dimensional"),
    "stack": (lambda x: np.stack([x, x[0]]), ShapeError, "same shape"),
    "stack nothing": (lambda x: fnp.stack([]), ShapeError, "at least one"),
    "split": (lambda x: np.split(x, 4, axis=1), ShapeError, "equal division"),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 2)), ShapeError, "cannot be broadcast"),
    "repeat": (lambda x: np.repeat(x, [1, 2], axis=1), ShapeError, "could not be broadcast"),
    "take": (lambda x: np.take(x, 7), IndexError, "out of bounds"),
    "uneven list": (lambda x: fnp.array([x[0], x[0, 0]]), ShapeError, "different shapes"),
    "words": (lambda x: fnp.array([x[0, 0], "a"]), TypeError, "not numeric"),
    "ravel as it lies": (
        lambda x: np.ravel(np.stack([x, x]), order="K"),
        UnsupportedFunctionError,
        "order='C'",
    ),
    "flatten as it lies": (lambda x: np.stack([x, x]).flatten("A"), UnsupportedFunctionError, "order='C'"),
    "reshape order": (lambda x: np.reshape(x, 6, order="Q"), UnsupportedFunctionError, "order='Q'"),
    "unknown pad mode": (lambda x: np.pad(x, 1, mode="nope"), ValueError, "not supported"),
    "pad option": (lambda x: np.pad(x, 1, mode="edge", end_values=0), ValueError, "unsupported keyword"),
}


@pytest.mark.parametrize(("f", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(f: Function, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        fg.grad(lambda x: np.sum(f(x)))(M)
    if isinstance(caught.value, fg.errors.FuncgradError):
        assert "test_movement.py" in str(caught.value)


def test_traced_shift_and_count_need_values() -> None:
    assert fg.grad(lambda x: np.roll(x, np.sum(x > 0))[0])(V) is not None
    with pytest.raises(ConcretizationError):
        fg.make_program(lambda x: fnp.arange(np.sum(x > 0)))(V)


def test_empty_arrays() -> None:
    empty = np.zeros((0, 3))
    check(
        lambda np, x: [
            np.concatenate([x, np.ones((1, 3))]),
            np.stack([x, x]),
            x.T,
            np.flip(x),
            np.roll(x, 1),
        ],
        empty,
    )
    check(lambda np, x: [np.tile(x, 2), np.repeat(x, 2, axis=1), np.pad(x, 1), np.reshape(x, (3, 0))], empty)


def test_dtypes_are_kept() -> None:
    for dtype in (np.float32, np.complex64, np.complex128):
        x = M.astype(dtype)

        def f(x: Any) -> Any:
            y = np.concatenate([x.T, np.flip(x.T)])[1:, ::-1]
            return np.sum(np.abs(np.stack([y, 2 * y])) ** 2)

        gradient = fg.grad(f)(x)
        assert gradient.dtype == dtype
        wide = fg.grad(f)(x.astype(np.result_type(dtype, np.float64)))
        np.testing.assert_allclose(gradient, wide, rtol=1e-5)


@pytest.mark.parametrize("windows", [(2, 0), ((2, 3), None), ((2, 2), (0, 0)), ((2, 2), (1, 0))])
def test_sliding_windows(windows: Any) -> None:
    table = np.sin(np.arange(12.0)).reshape(3, 4)

    def largest(x: Any) -> Any:
        seen = np.lib.stride_tricks.sliding_window_view(x, *windows)
        x[1] *= 2.0
        return np.max(seen, axis=-1)

    wanted = largest(table.copy())
    assert_agrees(lambda x: largest(x * 1.0), table)
    check_grads(lambda x: largest(x * 1.0), (table,))
    np.testing.assert_array_equal(fg.vmap(largest)(table[None].copy())[0], wanted)


def test_windows_are_read_only_and_fit() -> None:
    def sliding(size: int) -> Any:
        return fg.grad(lambda x: np.lib.stride_tricks.sliding_window_view(x, size).fill(0.0) or np.sum(x))

    with pytest.raises(ValueError, match="read-only"):
        sliding(2)(np.ones(3))
    with pytest.raises(ValueError, match="window shape cannot be larger"):
        sliding(4)(np.ones(3))
