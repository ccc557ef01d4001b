"""The same functions in funcgrad and in autograd, on the functions that autograd has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lawbook.functions import ENTRIES, Entry

import funcgrad as fg

pytestmark = [
    pytest.mark.peers("autograd"),
    # autograd's own use of what NumPy has deprecated is not ours to mend.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

each_entry = pytest.mark.parametrize("entry", [e for e in ENTRIES if "autograd" not in e.avoids], ids=repr)


def assert_near(ours: Any, theirs: Any, rtol: float = 1e-10) -> None:
    theirs = np.asarray(theirs)
    scale = float(np.abs(theirs).max(initial=0.0))
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * max(1.0, scale))


@each_entry
def test_value_and_gradient_in_every_argument(entry: Entry) -> None:
    import autograd
    import autograd.numpy as anp

    for n in range(len(entry.args)):
        value, slope = fg.value_and_grad(entry.loss(np), n)(*entry.args)
        their_value, their_slope = autograd.value_and_grad(entry.loss(anp), n)(*entry.args)
        assert_near(value, their_value)
        assert_near(slope, their_slope)


@each_entry
def test_hessian_vector_product(entry: Entry) -> None:
    import autograd
    import autograd.numpy as anp

    x, *rest = entry.args
    t = np.cos(np.arange(float(np.size(x)))).reshape(np.shape(x))[()]
    ours = fg.hvp(lambda x: entry.loss(np)(x, *rest), (x,), (t,))
    theirs = autograd.hessian_vector_product(lambda x: entry.loss(anp)(x, *rest))(x, t)
    assert_near(ours, theirs, 1e-9)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "matmul", "slices", "perceptron"])
def test_jacobian(name: str) -> None:
    import autograd
    import autograd.numpy as anp

    (entry,) = [e for e in ENTRIES if e.name == name]
    x, *rest = entry.args
    theirs = autograd.jacobian(lambda x: entry.function(anp, x, *rest))(x)
    for jacobian in (fg.jacfwd, fg.jacrev):
        assert_near(jacobian(lambda x: entry.function(np, x, *rest))(x), theirs)


def test_containers() -> None:
    import autograd
    import autograd.numpy as anp

    def loss(np: Any) -> Any:
        return lambda p: np.sum(np.tanh(p["w"] @ p["pair"][0]) * p["pair"][1])

    p = {"w": np.arange(6.0).reshape(2, 3), "pair": (np.ones(3) / 3.0, np.array([1.0, -1.0]))}
    ours, theirs = fg.grad(loss(np))(p), autograd.grad(loss(anp))(p)
    assert_near(ours["w"], theirs["w"])
    for x, y in zip(ours["pair"], theirs["pair"], strict=True):
        assert_near(x, y)


def test_checkpoint() -> None:
    import autograd
    import autograd.numpy as anp

    x = np.linspace(0.1, 1.0, 5)
    ours = fg.grad(lambda x: np.sum(fg.checkpoint(lambda y: np.sin(y) * y)(x)))(x)
    theirs = autograd.grad(lambda x: anp.sum(autograd.checkpoint(lambda y: anp.sin(y) * y)(x)))(x)
    assert_near(ours, theirs)


def test_complex_gradients_follow_one_convention() -> None:
    import autograd
    import autograd.numpy as anp

    z = np.array([1.0 + 2.0j, -0.5 + 0.1j])
    ours = fg.grad(lambda z: np.sum(np.abs(z * z + 1.0)))(z)
    theirs = autograd.grad(lambda z: anp.sum(anp.abs(z * z + 1.0)))(z)
    assert_near(ours, theirs)
