"""Jacobians whose zeros are known beforehand have the elements that computing everything gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api.derivatives import jacobians
from funcgrad.transforms.known_zeros import columns_in_groups

N = 70
X = np.linspace(0.3, 1.7, N)


def tridiagonal(x: Any) -> Any:
    return np.concatenate([x[:1] - 1, -x[:-2] + 2 * x[1:-1] ** 2 - x[2:] * np.sin(x[1:-1]), x[-1:] * 2])


def padded(x: Any) -> Any:
    y = np.zeros(N + 2)
    y[1:-1] = x
    y[0] += x[3]
    return y[:-2] * y[2:] + np.exp(y[1:-1])


def of_a_grid(x: Any) -> Any:
    u = np.reshape(x, (10, 7))
    out = np.stack([u[1:, :] - u[:-1, :], (u * u)[::-1].T[:, 1:].T])
    return out, np.where(x > 1.0, x, x**2).astype(np.float32)


def cubes(x: Any) -> Any:
    y = x * 1.0
    y[2:40:2] += x[1:39:2] ** 2
    return {"y": y, "none": x[:0], "constant": x[:2] * 0.0}


def infinite(x: Any) -> Any:
    return np.log(x * 0.0) + x[::-1]


FUNCTIONS = [tridiagonal, padded, of_a_grid, cubes, infinite]


def in_full(transform: Callable[..., Any], f: Callable[..., Any], *args: Any) -> Any:
    """The matrix by a product for each column."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jacobians, "FEWEST_COLUMNS", 1 << 62)
        return transform(f)(*args)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was found out meanwhile."""
    kept: list[Any] = []

    def noted(*args: Any) -> Any:
        kept.append(columns_in_groups(*args))
        return kept[-1]

    monkeypatch.setattr(jacobians, "columns_in_groups", noted)
    jacobians.CACHE.clear()
    return kept


@pytest.mark.parametrize("transform", [fg.jacfwd, fg.jacrev])
@pytest.mark.parametrize("f", FUNCTIONS[:-1])
def test_the_elements_are_those_of_the_full_matrix(
    f: Callable[..., Any], transform: Callable[..., Any], found: list[Any]
) -> None:
    expected = fg.tree.leaves(in_full(transform, f, X))
    for run in (transform(f), fg.jit(transform(f))):
        for got, full in zip(fg.tree.leaves(run(X)), expected, strict=True):
            assert got.dtype == full.dtype
            np.testing.assert_allclose(got, full, rtol=1e-13 if full.dtype == np.float64 else 1e-6)
    assert found
    assert all(groups is not None and groups.number < 10 for groups in found)


def test_several_arguments(rng: np.random.Generator, found: list[Any]) -> None:
    def f(x: Any, y: Any) -> Any:
        return x[:, 1:] * y[:-1], y**2

    args = rng.normal(size=(2, 50)), rng.normal(size=50)
    for transform in (fg.jacfwd, fg.jacrev):
        both = lambda g, t=transform: t(g, (0, 1))  # noqa: E731
        for got, full in zip(
            fg.tree.leaves(both(f)(*args)), fg.tree.leaves(in_full(both, f, *args)), strict=True
        ):
            np.testing.assert_array_equal(got, full)
    assert [groups.number for groups in found] == [2, 3]


def test_hessians_batches_and_derivatives_of_a_banded_matrix(found: list[Any]) -> None:
    def rosenbrock(x: Any) -> Any:
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    np.testing.assert_array_equal(fg.hessian(rosenbrock)(X), in_full(fg.hessian, rosenbrock, X))
    assert found[-1].number == 3
    batch = np.stack([X, X[::-1]])
    np.testing.assert_array_equal(
        fg.vmap(fg.jacfwd(tridiagonal))(batch), [fg.jacfwd(tridiagonal)(x) for x in batch]
    )

    def weighted(x: Any) -> Any:
        return np.sum(fg.jacrev(tridiagonal)(x) ** 2)

    np.testing.assert_allclose(
        fg.grad(weighted)(X), fg.grad(lambda x: np.sum(in_full(fg.jacrev, tridiagonal, x) ** 2))(X)
    )


def test_a_zero_is_a_zero_beside_an_infinity() -> None:
    matrix = fg.jacfwd(infinite)(X)
    assert not matrix[0, 1:-1].any()
    assert np.isnan(matrix[0, 0])


@pytest.mark.parametrize("f", [np.cumsum, lambda x: x / np.sum(x), lambda x: np.sort(x) ** 2])
def test_what_is_not_known_is_computed(f: Callable[..., Any], found: list[Any]) -> None:
    np.testing.assert_array_equal(fg.jacfwd(f)(X), in_full(fg.jacfwd, f, X))
    assert found == [None]


def test_exported_jacobians_are_of_all_sizes() -> None:
    exported = fg.export(fg.jacfwd(lambda x: x[1:] * x[:-1]), engine="numpy")(X).function
    for n in (5, N, 90):
        x = np.linspace(0.1, 1.0, n)
        np.testing.assert_array_equal(
            exported(x), np.eye(n)[:-1] * x[1:, None] + np.eye(n)[1:] * x[:-1, None]
        )
