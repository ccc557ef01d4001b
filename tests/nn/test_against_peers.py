"""Values and gradients beside torch's and jax's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad as fg

nn = fg.nn
quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning")

AROUND = np.array([-30.0, -6.0, -3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0, 6.0, 25.0])


def assert_torch_agrees(ours: Callable[..., Any], theirs: Callable[..., Any], *args: Any) -> None:
    import torch

    weights = np.random.default_rng(1)

    def loss(*xs: Any) -> Any:
        out = ours(*xs)
        return np.sum(out * np.random.default_rng(1).normal(size=out.shape))

    value, slopes = fg.value_and_grad(loss, tuple(range(len(args))))(*args)
    leaves = [torch.tensor(x, requires_grad=True) for x in args]
    out = theirs(*leaves)
    (out * torch.tensor(weights.normal(size=tuple(out.shape)))).sum().backward()
    np.testing.assert_allclose(ours(*args), out.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert np.isfinite(value)
    for x_bar, leaf in zip(slopes, leaves, strict=True):
        np.testing.assert_allclose(
            x_bar, leaf.grad.numpy(), rtol=1e-7, atol=1e-12
        )  # torch has a 1/6 in float32


TORCH_NAMES = {
    "celu": "celu",
    "elu": "elu",
    "hard_shrink": "hardshrink",
    "hard_sigmoid": "hardsigmoid",
    "hard_silu": "hardswish",
    "hard_tanh": "hardtanh",
    "leaky_relu": "leaky_relu",
    "log_sigmoid": "logsigmoid",
    "mish": "mish",
    "relu": "relu",
    "relu6": "relu6",
    "selu": "selu",
    "sigmoid": "sigmoid",
    "silu": "silu",
    "soft_shrink": "softshrink",
    "soft_sign": "softsign",
    "tanh": "tanh",
    "tanh_shrink": "tanhshrink",
}


@quiet
@pytest.mark.peers("torch")
@pytest.mark.parametrize("name", TORCH_NAMES)
def test_activations_are_torchs(name: str) -> None:
    from torch.nn import functional

    # torch's hardswish keeps the slope of the line above it at its upper kink.
    x = AROUND[AROUND != 3.0] if name == "hard_silu" else AROUND
    assert_torch_agrees(getattr(nn, name), getattr(functional, TORCH_NAMES[name]), x)


JAX_NAMES = (
    "celu",
    "elu",
    "gelu",
    "glu",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "squareplus",
    "standardize",
)


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", JAX_NAMES)
def test_functions_are_jaxs(name: str) -> None:
    import jax

    x = AROUND[AROUND != 0.0][:10]
    ours, theirs = getattr(nn, name), getattr(jax.nn, name)
    np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-9, atol=1e-12)
    expected = jax.grad(lambda x: (theirs(x) ** 2).sum())(x)
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(ours(x) ** 2))(x), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.peers("jax")
def test_exact_gelu_is_jaxs() -> None:
    import jax

    x = AROUND / 4
    np.testing.assert_allclose(
        nn.gelu(x, approximate=False), jax.nn.gelu(x, approximate=False), rtol=1e-9, atol=1e-14
    )


class Layer(NamedTuple):
    """A convolution in torch's words."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    groups: int = 1


LAYERS = {
    "line": Layer((2, 4, 9), (6, 4, 3), padding=1),
    "image": Layer((2, 4, 8, 10), (6, 4, 3, 3), padding=1),
    "strided": Layer((2, 4, 9, 10), (6, 4, 3, 3), stride=2, padding=1),
    "dilated": Layer((2, 4, 9, 10), (6, 4, 2, 3), dilation=2, padding=2),
    "groups": Layer((2, 4, 8, 7), (6, 2, 3, 2), groups=2, padding=1),
    "depthwise": Layer((2, 4, 8, 7), (8, 1, 3, 3), groups=4),
    "volume": Layer((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), padding=1, stride=2),
    "one": Layer((2, 4, 5, 5), (3, 4, 1, 1)),
}


@quiet
@pytest.mark.peers("torch")
@pytest.mark.parametrize("name", LAYERS)
def test_conv_is_torchs(name: str, rng: np.random.Generator) -> None:
    from torch.nn import functional

    x, w, stride, padding, dilation, groups = LAYERS[name]
    theirs = getattr(functional, f"conv{len(x) - 2}d")
    assert_torch_agrees(
        lambda x, w: nn.conv(
            x, w, stride, padding, kernel_dilation=dilation, groups=groups, channels_last=False
        ),
        lambda x, w: theirs(x, w, None, stride, padding, dilation, groups),
        rng.normal(size=x),
        rng.normal(size=w),
    )


@quiet
@pytest.mark.peers("torch")
@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv_transpose_is_torchs(extra: int, groups: int, rng: np.random.Generator) -> None:
    from torch.nn import functional

    assert_torch_agrees(
        lambda x, w: nn.conv_transpose(
            x, w, 2, 1, output_padding=extra, kernel_dilation=2, groups=groups, channels_last=False
        ),
        lambda x, w: functional.conv_transpose2d(x, w, None, 2, 1, extra, groups, 2),
        rng.normal(size=(2, 4, 5, 6)),
        rng.normal(size=(4, 3, 3, 2)),
    )


@pytest.mark.peers("jax")
@pytest.mark.parametrize("padding", ["same", "valid", ((2, 0), (-1, 3))])
def test_conv_and_second_derivatives_are_jaxs(padding: Any, rng: np.random.Generator) -> None:
    import jax

    x, w, v = rng.normal(size=(2, 7, 6, 3)), rng.normal(size=(3, 2, 3, 4)), rng.normal(size=(3, 2, 3, 4))
    numbers = ("NHWC", "HWIO", "NHWC")

    spread = (1, 1) if isinstance(padding, str) else (1, 2)  # jax has names for padding only without

    def ours(w: Any) -> Any:
        return np.sum(np.tanh(nn.conv(x, w, (2, 1), padding, input_dilation=spread, kernel_dilation=(2, 1))))

    def theirs(w: Any) -> Any:
        around = padding.upper() if isinstance(padding, str) else padding
        out = jax.lax.conv_general_dilated(x, w, (2, 1), around, spread, (2, 1), dimension_numbers=numbers)
        return jax.numpy.tanh(out).sum()

    np.testing.assert_allclose(ours(w), theirs(w), rtol=1e-10)
    np.testing.assert_allclose(fg.grad(ours)(w), jax.grad(theirs)(w), atol=1e-10)
    second = fg.jvp(fg.grad(ours), (w,), (v,))[1]
    np.testing.assert_allclose(second, jax.jvp(jax.grad(theirs), (w,), (v,))[1], atol=1e-9)


@quiet
@pytest.mark.peers("torch")
@pytest.mark.parametrize(("window", "stride", "padding"), [(2, 2, 0), (3, 2, 1), ((2, 3), (1, 2), (1, 0))])
def test_pools_are_torchs(window: Any, stride: Any, padding: Any, rng: np.random.Generator) -> None:
    from torch.nn import functional

    x = np.round(rng.normal(size=(2, 3, 7, 8)))  # with many equal elements
    assert_torch_agrees(
        lambda x: nn.max_pool(x, window, stride, padding, channels_last=False),
        lambda x: functional.max_pool2d(x, window, stride, padding),
        x,
    )
    for counted in (True, False):
        assert_torch_agrees(
            lambda x, c=counted: nn.avg_pool(
                x, window, stride, padding, count_padding=c, channels_last=False
            ),
            lambda x, c=counted: functional.avg_pool2d(x, window, stride, padding, count_include_pad=c),
            x,
        )


@quiet
@pytest.mark.peers("torch")
def test_normalisation_and_attention_are_torchs(rng: np.random.Generator) -> None:
    from torch.nn import functional

    x, w, b = rng.normal(size=(4, 6, 5)), rng.normal(size=5), rng.normal(size=5)
    assert_torch_agrees(nn.layer_norm, lambda x, w, b: functional.layer_norm(x, (5,), w, b), x, w, b)
    channels = rng.normal(size=6), rng.normal(size=6)
    assert_torch_agrees(
        lambda x, w, b: nn.batch_norm(x, w, b, axis=1),
        lambda x, w, b: functional.batch_norm(x, None, None, w, b, training=True),
        x,
        *channels,
    )
    assert_torch_agrees(
        lambda x, w, b: nn.group_norm(x, 3, w, b, axis=1),
        lambda x, w, b: functional.group_norm(x, 3, w, b),
        x,
        *channels,
    )
    q, k, v = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(2, 3, 6, 7))
    mask = rng.normal(size=(4, 6)) > -0.5
    mask[:, 0] = True
    import torch

    assert_torch_agrees(
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, mask),
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, torch.tensor(mask)),
        q,
        k,
        v,
    )
    assert_torch_agrees(
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7),
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7),
        q,
        k,
        v,
    )
