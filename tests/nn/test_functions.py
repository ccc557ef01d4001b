"""Activations and normalisation by their definitions, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ShapeError

nn = fg.nn

ACTIVATIONS = (
    "celu",
    "elu",
    "exponential",
    "gelu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "soft_sign",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "tanh",
    "tanh_shrink",
)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name: str) -> None:
    f = getattr(nn, name)
    x = np.array([-3.7, -1.2, -0.6, -0.2, 0.3, 0.8, 1.7, 3.3, 6.5])
    fg.testing.check_grads(f, (x,))
    single = x.astype(np.float32)
    assert f(single).dtype == np.float32
    assert fg.grad(lambda x: np.sum(f(x)))(single).dtype == np.float32
    np.testing.assert_allclose(fg.vmap(f)(x), f(x), rtol=1e-14)
    with np.errstate(all="raise"):
        assert np.all(np.isfinite(fg.grad(lambda x: np.sum(f(x)))(np.array([-50.0, 0.0, 50.0]))))
    assert np.isnan(fg.jvp(f, (np.nan,), (1.0,))[0])


@pytest.mark.parametrize(
    ("name", "at", "slope"),
    [
        ("relu", 0.0, 0.0),
        ("relu6", 0.0, 0.0),
        ("relu6", 6.0, 0.0),
        ("leaky_relu", 0.0, 0.01),
        ("hard_tanh", 1.0, 0.0),
        ("hard_tanh", -1.0, 0.0),
        ("elu", 0.0, 1.0),
        ("softplus", 0.0, 0.5),
    ],
)
def test_slopes_at_kinks(name: str, at: float, slope: float) -> None:
    assert fg.grad(getattr(nn, name))(at) == pytest.approx(slope)


def test_no_nan_behind_a_rectifier() -> None:
    assert fg.grad(lambda x: nn.relu(np.log(x)))(0.0) == 0.0


def test_gradients_by_parameters() -> None:
    x = np.array([[-1.0, 2.0], [-0.5, 0.7]])
    fg.testing.check_grads(nn.prelu, (x, np.array([0.3, 0.1])))
    fg.testing.check_grads(nn.elu, (x, 0.7))
    fg.testing.check_grads(nn.glu, (x,))
    with pytest.raises(ShapeError, match="no halves"):
        nn.glu(np.ones(3))


def test_softmax_of_what_a_mask_holds_for(rng: np.random.Generator) -> None:
    x, mask = rng.normal(size=(3, 4)), np.array([True, False, True, True])
    out = nn.softmax(x, where=mask)
    np.testing.assert_allclose(out[:, mask], nn.softmax(x[:, mask]))
    assert not out[:, ~mask].any()
    fg.testing.check_grads(lambda x: nn.softmax(x, where=mask), (x,))


def test_one_hot_anywhere() -> None:
    classes = np.array([[0, 2], [5, 1]])
    np.testing.assert_array_equal(nn.one_hot(classes, 3, axis=0)[:, 0, 1], [0.0, 0.0, 1.0])
    assert not nn.one_hot(classes, 3)[1, 0].any()
    assert nn.one_hot(classes, 3, dtype=np.bool_).dtype == np.bool_
    with pytest.raises(ShapeError, match="integers"):
        nn.one_hot(np.ones(2), 3)


def test_normalisation(rng: np.random.Generator) -> None:
    x, w, b = rng.normal(size=(4, 3, 6)), rng.normal(size=6), rng.normal(size=6)
    out = nn.standardize(x, axis=(0, 1), epsilon=0.0)
    np.testing.assert_allclose(out, (x - x.mean((0, 1))) / x.std((0, 1)), atol=1e-12)
    np.testing.assert_allclose(nn.batch_norm(x, w, b, epsilon=0.0), out * w + b, atol=1e-12)
    kept = nn.batch_norm(x, mean=x.mean((0, 1)), variance=x.var((0, 1)), epsilon=0.0)
    np.testing.assert_allclose(kept, out, atol=1e-12)
    groups = nn.group_norm(x, 2, epsilon=0.0)[:, :, :3]
    half = x[:, :, :3]
    np.testing.assert_allclose(
        groups, (half - half.mean((1, 2), keepdims=True)) / half.std((1, 2), keepdims=True), atol=1e-12
    )
    for f in (nn.layer_norm, nn.batch_norm):
        fg.testing.check_grads(f, (x, w, b))
    fg.testing.check_grads(nn.rms_norm, (x, w))
    fg.testing.check_grads(lambda x, w, b: nn.group_norm(x, 3, w, b), (x, w, b))
    assert nn.layer_norm(x.astype(np.float32)).dtype == np.float32
    with pytest.raises(ShapeError, match="does not have the 2 axes"):
        nn.layer_norm(x, w, axis=(1, 2))
    with pytest.raises(ShapeError, match="4 equal parts"):
        nn.group_norm(x, 4)


def test_attention(rng: np.random.Generator) -> None:
    q, k, v = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 6))
    scores = np.einsum("bid,bjd->bij", q, k) / 2.0
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(nn.scaled_dot_product_attention(q, k, v), weights @ v)
    causal = nn.scaled_dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(causal[:, 0], v[:, 0])
    fg.testing.check_grads(nn.scaled_dot_product_attention, (q, k, v))
    with pytest.raises(ShapeError, match="last axes differ"):
        nn.scaled_dot_product_attention(q, v, v)


def test_dropout_by_a_mask() -> None:
    x = np.array([1.0, np.inf, 3.0])
    mask = np.array([True, False, True])
    np.testing.assert_allclose(nn.dropout(x, 0.75, mask=mask), [4.0, 0.0, 12.0])
    slopes = fg.grad(lambda x: np.sum(nn.dropout(x, 0.75, mask=mask)))(x)
    np.testing.assert_array_equal(slopes, [4.0, 0.0, 4.0])
    assert not nn.dropout(x, 1.0, mask=mask).any()
    with pytest.raises(TypeError, match="either a mask or a key"):
        nn.dropout(x, 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.dropout(x, 1.5, mask=mask)


def test_dropout_by_a_key() -> None:
    x = np.ones((100, 100), np.float32)
    out = nn.dropout(x, 0.2, key=fg.random.key(0))
    assert set(np.unique(out).tolist()) == {0.0, 1.25}
    assert abs(float(out.mean()) - 1.0) < 0.05
    slopes = fg.grad(lambda x: np.sum(nn.dropout(x, 0.2, key=fg.random.key(0))))(x)
    np.testing.assert_array_equal(slopes, out)


def test_everything_public_has_a_name_and_an_example() -> None:
    missing: list[Any] = [name for name in nn.__all__ if ">>>" not in (getattr(nn, name).__doc__ or "")]
    assert not missing


@pytest.mark.filterwarnings("error")
def test_softmax_of_nothing_selected() -> None:
    """Zeros and minus infinities, as in JAX, and no NaN in a gradient."""
    x, mask = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[False, False], [True, False]])
    for run in (lambda f: f(x), lambda f: fg.jit(f)(x)):
        np.testing.assert_array_equal(run(lambda x: nn.softmax(x, where=mask)), [[0.0, 0.0], [1.0, 0.0]])
        expected = [[-np.inf, -np.inf], [0.0, -np.inf]]
        np.testing.assert_array_equal(run(lambda x: nn.log_softmax(x, where=mask)), expected)
    wider = np.array([[True, True], [False, False]])
    for f in (nn.softmax, lambda x, where: np.where(where, nn.log_softmax(x, where=where), 0.0)):
        found = fg.grad(lambda x, f=f: np.sum(f(x, where=wider) * np.array([1.0, 2.0])))(x)
        np.testing.assert_array_equal(found[1], [0.0, 0.0])
        assert np.all(found[0] != 0.0)
        columns = fg.grad(lambda x, f=f: np.sum(f(x.T, where=wider)[0] * np.array([1.0, 2.0])))(x)
        assert np.all(np.isfinite(columns))


@pytest.mark.parametrize("approximate", [True, False])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gelu_of_large_numbers_in_any_precision(dtype: Any, approximate: bool) -> None:
    x = np.array([-300.0, -50.0, -20.0, -1.0, 0.0, 1.0, 20.0, 50.0, 300.0], dtype)
    expected = nn.gelu(x.astype(float), approximate)
    for f in (lambda x: nn.gelu(x, approximate), fg.jit(lambda x: nn.gelu(x, approximate))):
        found = f(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-6)
    slopes = fg.grad(lambda x: np.sum(nn.gelu(x, approximate)))(x)
    assert slopes.dtype == dtype
    np.testing.assert_allclose(slopes[[0, 1, 2, 6, 7, 8]], [0, 0, 0, 1, 1, 1], atol=1e-80)
