"""The differences that `docs/howto/from-pytorch.md` states, run against PyTorch and the facade."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as fg

pytestmark = pytest.mark.peers("torch")

ROWS: dict[str, Callable[[], None]] = {}


def row(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def register(check: Callable[[], None]) -> Callable[[], None]:
        ROWS[title] = check
        return check

    return register


def both() -> tuple:
    import torch

    return torch, fg.torch


def slope(module, f, start):
    """The gradient of a function of one tensor, as NumPy's."""
    x = module.tensor(start, requires_grad=True)
    f(x).backward()
    return x.grad.numpy()


def test_every_row_is_run(table):
    assert [cells[0] for cells in table("howto/from-pytorch.md", "Differences")] == list(ROWS)


@row("default dtype of numbers")
def default_dtype():
    for module in both():
        assert module.tensor([1.0]).dtype == module.float32
    assert fg.grad(lambda x: np.sum(x**2))(np.array([1.0])).dtype == np.float64


@row("`where(x > 0, sqrt(x), 0)` at 0")
def branch_not_taken():
    for module in both():
        zero = module.tensor(0.0)
        assert np.isnan(slope(module, lambda x: module.where(x > 0, x.sqrt(), zero), 0.0))  # noqa: B023 - called here
    assert fg.grad(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0) == 0.0


@row("gradient of a real loss by complex `z`")
def complex_gradients():
    for module in both():
        np.testing.assert_allclose(slope(module, lambda z: z.abs().pow(2), 1.0 + 2.0j), 2.0 + 4.0j, rtol=1e-6)
    np.testing.assert_allclose(fg.grad(lambda z: np.abs(z) ** 2)(1.0 + 2.0j), 2.0 - 4.0j)


@row("`max` along an axis, tied")
def tied_maxima():
    for module in both():
        np.testing.assert_array_equal(slope(module, lambda x: x.max(0).values, [1.0, 1.0]), [1.0, 0.0])
    np.testing.assert_array_equal(fg.grad(lambda x: np.max(x, axis=0))(np.ones(2)), [0.5, 0.5])


@row("functions of `eigh` with repeated eigenvalues")
def repeated_eigenvalues():
    torch, facade = both()

    def squared(module):
        def f(a):
            w, v = module.linalg.eigh(a)
            return ((v * w**2) @ v.T).trace()

        return f

    assert np.isnan(slope(torch, squared(torch), [[1.0, 0.0], [0.0, 1.0]])).any()
    np.testing.assert_allclose(
        slope(facade, squared(facade), [[1.0, 0.0], [0.0, 1.0]]), 2.0 * np.eye(2), rtol=1e-6
    )


@row('another device: `.to("cuda")`')
def devices():
    with pytest.raises(RuntimeError, match="cuda"):
        fg.torch.ones(2).to("cuda")


@row("`torch.compile`")
def compilation():
    torch, facade = both()
    assert callable(torch.compile)

    def double(x):
        return x + x

    assert facade.compile(double) is double


@row("a second `backward()`")
def twice():
    for module in both():
        x = module.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()
    _, pullback = fg.vjp(lambda x: x * x, 3.0)
    assert pullback(1.0) == pullback(1.0) == (6.0,)


@row("an in-place change of what backward needs")
def in_place():
    for module in both():
        x = module.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1.0
        z = (y * y).sum()
        y += 1.0
        with pytest.raises(RuntimeError, match="inplace"):
            z.backward()

    def f(x):
        y = x * 1.0
        z = np.sum(y * y)
        y += 1.0
        return z

    np.testing.assert_array_equal(fg.grad(f)(np.array([1.0, 2.0])), [2.0, 4.0])


@pytest.mark.parametrize("title", ROWS)
def test_the_difference(title):
    ROWS[title]()


def test_what_is_said_to_be_the_same():
    for module in both():
        one = module.tensor(1.0)
        assert slope(module, lambda x: module.maximum(x, one), 1.0) == 0.5  # noqa: B023 - called here
        np.testing.assert_array_equal(slope(module, lambda x: x.max(), [1.0, 1.0]), 0.5)
        assert slope(module, lambda x: x.abs(), 0.0) == slope(module, lambda x: x.relu(), 0.0) == 0.0
        np.testing.assert_array_equal(slope(module, lambda x: x.norm(), [0.0, 0.0]), 0.0)
        assert slope(module, lambda x: x.clamp(0.0, 1.0), 1.0) == 1.0
        with pytest.raises(RuntimeError):
            module.tensor(1, requires_grad=True)
    assert fg.grad(lambda x: np.maximum(x, 1.0))(1.0) == 0.5
    assert fg.grad(np.abs)(0.0) == fg.grad(fg.nn.relu)(0.0) == 0.0
    np.testing.assert_array_equal(fg.grad(np.max)(np.ones(2)), 0.5)
    np.testing.assert_array_equal(fg.grad(np.linalg.norm)(np.zeros(2)), 0.0)
    assert fg.grad(lambda x: np.clip(x, 0.0, 1.0))(1.0) == 1.0
