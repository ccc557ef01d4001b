"""Questions about traced arrays, printing, functions along axes, and what makes the module be NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

fnp = fg.numpy
M = np.arange(1.0, 7.0).reshape(2, 3)


def test_questions_need_no_values() -> None:
    def f(x: Any) -> Any:
        assert np.shape(x) == (2, 3)
        assert np.ndim(x) == 2
        assert (np.size(x), np.size(x, 1), fnp.size(x, (0, 1))) == (6, 3, 6)
        assert np.result_type(x, np.float32) == np.float64
        assert fnp.result_type(x.astype(np.float32), 1.0) == np.float32
        assert np.can_cast(x, np.complex128)
        assert not np.can_cast(x, np.int64)
        assert np.common_type(x, np.ones(2, np.float32)) is np.float64
        assert np.shares_memory(x, x[0])
        assert np.may_share_memory(x.T[1:], x[0])
        assert not np.shares_memory(x, x.copy())
        assert not np.shares_memory(x, M)
        assert np.triu_indices_from(x)[0].tolist() == [0, 0, 0, 1, 1]
        assert np.tril_indices_from(x)[0].tolist() == [0, 1, 1]
        assert len(np.diag_indices_from(x[:, :2])) == 2
        assert np.array_str(x[0]).startswith("Tracer")
        return x

    fg.make_program(f)(M)


def test_printing_shows_values() -> None:
    def f(x: Any) -> Any:
        assert np.array_str(x) == "[1. 2.]"
        assert np.array2string(x, precision=1) == "[1. 2.]"
        assert np.array_repr(x) == "array([1., 2.])"
        return np.sum(x)

    fg.grad(f)(np.array([1.0, 2.0]))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("function", [np.sum, np.cumsum, lambda v: np.outer(v, v[:2])])
def test_apply_along_axis(function: Any, axis: int) -> None:
    def f(x: Any) -> Any:
        return np.apply_along_axis(function, axis, x)

    np.testing.assert_allclose(fg.make_program(f)(M)(M)[0], f(M))
    fg.testing.check_grads(f, (M,), order=1)


def test_apply_over_axes() -> None:
    def f(x: Any) -> Any:
        return np.apply_over_axes(np.sum, x, [0, 1]) * np.apply_over_axes(np.cumsum, x, 1)

    np.testing.assert_allclose(fg.make_program(f)(M)(M)[0], f(M))
    fg.testing.check_grads(f, (M,), order=1)


@pytest.mark.parametrize(
    ("positions", "mode"), [([0, 1, 1], "raise"), ([0, 5, -1], "wrap"), ([0, 5, -1], "clip")]
)
def test_choose(positions: Any, mode: Any) -> None:
    def f(x: Any) -> Any:
        return np.choose(positions, [x[0], x[1] * 2], mode=mode)

    np.testing.assert_allclose(fg.make_program(f)(M)(M)[0], f(M))
    fg.testing.check_grads(f, (M,), order=1)
    with pytest.raises(ValueError, match="invalid entry"):
        fg.grad(lambda x: np.choose([3], [x[0], x[1]])[0])(M)


def test_joining_by_brackets() -> None:
    np.testing.assert_array_equal(fnp.r_[0:3, 7.0, [1, 2]], np.r_[0:3, 7.0, [1, 2]])
    np.testing.assert_array_equal(fnp.r_[0:1:3j], np.r_[0:1:3j])
    np.testing.assert_array_equal(fnp.c_[[1, 2], M], np.c_[[1, 2], M])
    np.testing.assert_allclose(fg.grad(lambda x: fnp.r_[x, 1.0, x[:1]].sum())(np.ones(2)), [2.0, 1.0])
    np.testing.assert_allclose(fg.grad(lambda x: (fnp.c_[x, x] * M[:, :2]).sum())(np.ones(2)), [3.0, 9.0])
    for text in ("0,3,0", "0,3,1", "0,3,-1", "0,3,-2", "-1,3,0", "1", "0,2"):
        np.testing.assert_array_equal(fnp.r_[text, M, M], np.r_[text, M, M])
        np.testing.assert_array_equal(fnp.c_[text, M, M], np.c_[text, M, M])
    np.testing.assert_array_equal(fnp.r_["0,3,-2", [1, 2], 0:2], np.r_["0,3,-2", [1, 2], 0:2])
    np.testing.assert_allclose(fg.grad(lambda x: np.r_["0,2", x, x].prod())(np.ones(2) * 2), [16.0, 16.0])
    with pytest.raises(NotImplementedError, match="makes a matrix"):
        fnp.r_["r", 1]
    with pytest.raises(ValueError, match="no place 5"):
        fnp.r_["0,2,5", [1, 2], [3, 4]]


def test_the_module_stands_for_numpy() -> None:
    """A function written for NumPy runs with this module under NumPy's name."""
    np_names = fnp

    def f(x: Any) -> Any:
        y = np_names.zeros((2, x.shape[0]), dtype=np_names.float64)
        y[0] = np_names.exp(x) * np_names.pi
        y[1, np_names.newaxis] = x
        return np_names.sum(y[np_names.s_[:, 1:]])

    np.testing.assert_allclose(fg.grad(f)(np.ones(3)), [0.0, *[np.e * np.pi + 1] * 2])


def test_every_exported_name_exists() -> None:
    for name in fnp.__all__:
        assert hasattr(fnp, name), name
    assert sorted(set(fnp.__all__)) == sorted(fnp.__all__)
