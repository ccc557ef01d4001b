"""The differences that `docs/howto/from-autograd.md` states, run against autograd."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError

pytestmark = [pytest.mark.peers("autograd"), pytest.mark.filterwarnings("ignore")]

ROWS: dict[str, Callable[[], None]] = {}


def row(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def register(check: Callable[[], None]) -> Callable[[], None]:
        ROWS[title] = check
        return check

    return register


def test_every_row_is_run(table):
    assert [cells[0] for cells in table("howto/from-autograd.md", "Differences")] == list(ROWS)


@row("`y[0] = 1.0` inside the function")
def assignment():
    import autograd

    def f(x):
        y = 2.0 * x
        y[0] = 1.0
        return y.sum()

    with pytest.raises(TypeError):
        autograd.grad(f)(np.ones(3))
    np.testing.assert_array_equal(fg.grad(f)(np.ones(3)), [0.0, 2.0, 2.0])


@row("`make_vjp(f)(x)`")
def pullbacks():
    import autograd
    import autograd.numpy as anp

    their_pullback, their_value = autograd.make_vjp(anp.sin)(0.5)
    our_value, our_pullback = fg.vjp(np.sin, 0.5)
    assert their_value == our_value
    assert (their_pullback(1.0),) == our_pullback(1.0)


@row("`norm(x)` at 0")
def norm_at_zero():
    import autograd
    import autograd.numpy as anp

    assert np.isnan(autograd.grad(anp.linalg.norm)(np.zeros(2))).all()
    np.testing.assert_array_equal(fg.grad(np.linalg.norm)(np.zeros(2)), 0.0)


@row("`where(x > 0, sqrt(x), 0.0)` at 0")
def branch_not_taken():
    import autograd
    import autograd.numpy as anp

    x = np.zeros(1)
    assert np.isnan(autograd.grad(lambda x: anp.sum(anp.where(x > 0, anp.sqrt(x), 0.0)))(x)).all()
    assert fg.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(x) == 0.0


@row("`clip(x, 0, 1)` at 0")
def clip_at_a_bound():
    import autograd
    import autograd.numpy as anp

    assert autograd.grad(lambda x: anp.clip(x, 0.0, 1.0))(0.0) == 0.0
    assert fg.grad(lambda x: np.clip(x, 0.0, 1.0))(0.0) == 1.0


@row("functions of `eigh` with repeated eigenvalues")
def repeated_eigenvalues():
    import autograd
    import autograd.numpy as anp

    def theirs(a):
        w, v = anp.linalg.eigh(a)
        return anp.sum(anp.dot(v * w**2, v.T))

    def ours(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * w**2) @ v.T)

    assert np.isnan(autograd.grad(theirs)(np.eye(2))).any()
    # By the triangle that is read: both elements off the diagonal count there.
    np.testing.assert_allclose(fg.grad(ours)(np.eye(2)), [[2.0, 0.0], [4.0, 2.0]])


@row("results that are dictionaries")
def results_with_a_structure():
    import autograd

    with pytest.raises(TypeError):
        autograd.jacobian(lambda x: {"a": x})(1.0)
    assert fg.jacobian(lambda x: {"a": x})(1.0) == {"a": 1.0}


@row("Jacobian by a dictionary")
def arguments_with_a_structure():
    import autograd

    def f(params):
        return params["a"] * np.ones(2)

    with pytest.raises(TypeError):
        autograd.jacobian(f)({"a": 1.0})
    np.testing.assert_array_equal(fg.jacobian(f)({"a": 1.0})["a"], [1.0, 1.0])


@row("`isinstance(d, dict)` inside the function")
def python_types():
    import autograd

    def f(d):
        return d["a"] if isinstance(d, dict) else 0.0 * d["a"]

    assert autograd.grad(f)({"a": 1.0})["a"] == 0.0
    assert fg.grad(f)({"a": 1.0})["a"] == 1.0


@row("`float(x)` inside the function")
def values():
    import autograd

    with pytest.raises(TypeError):
        autograd.grad(lambda x: float(x) * x)(3.0)
    with pytest.raises(ConcretizationError):
        fg.grad(lambda x: float(x) * x)(3.0)
    assert fg.grad(lambda x: float(fg.stop_gradient(x)) * x)(3.0) == 3.0


@pytest.mark.parametrize("title", ROWS)
def test_the_difference(title):
    ROWS[title]()


def test_what_is_said_to_be_the_same():
    import autograd
    import autograd.numpy as anp

    def compare(theirs, ours, x):
        np.testing.assert_array_equal(autograd.grad(theirs)(x), fg.grad(ours)(x))

    compare(lambda z: anp.abs(z) ** 2, lambda z: np.abs(z) ** 2, 1.0 + 2.0j)
    compare(anp.max, np.max, np.ones(2))
    compare(lambda x: anp.maximum(x, 1.0), lambda x: np.maximum(x, 1.0), 1.0)
    compare(anp.abs, np.abs, 0.0)
    single = np.ones(2, np.float32)
    assert autograd.grad(lambda x: anp.sum(x**2))(single).dtype == np.float32
    assert fg.grad(lambda x: np.sum(x**2))(single).dtype == np.float32
    for grad in (autograd.grad, fg.grad):
        with pytest.raises(TypeError):
            grad(lambda x: x * 2.0)(3)
        assert len(grad(lambda x, y: x * y, (0, 1))(2.0, 3.0)) == 2
