"""A small convolutional network, images with channels last, and the same for peers that say it otherwise."""

from __future__ import annotations

import math
from typing import Any

SEED = 0


def conv_net(np: Any, parameters: Any, x: Any, labels: Any) -> Any:
    """Two layers of 3×3 convolution, rectifier and the largest of 2×2, a dense layer, the cross entropy."""
    from funcgrad import nn  # noqa: PLC0415 - other contenders do without

    kernel1, bias1, kernel2, bias2, dense, bias3 = parameters
    h = nn.max_pool(nn.relu(nn.conv(x, kernel1, padding="same") + bias1), 2)
    h = nn.max_pool(nn.relu(nn.conv(h, kernel2, padding="same") + bias2), 2)
    scores = np.reshape(h, (len(labels), -1)) @ dense + bias3
    scores = scores - np.max(scores, axis=1, keepdims=True)
    picked = scores[np.arange(len(labels)), labels]
    return np.mean(np.log(np.sum(np.exp(scores), axis=1)) - picked)


def torch_conv_net(torch: Any, parameters: Any, x: Any, labels: Any) -> Any:
    """The same on views with channels last."""
    functional = torch.nn.functional
    kernel1, bias1, kernel2, bias2, dense, bias3 = parameters
    h = x.permute(0, 3, 1, 2)
    for kernel, bias in ((kernel1, bias1), (kernel2, bias2)):
        h = functional.conv2d(h, kernel.permute(3, 2, 0, 1), bias, padding=1)
        h = functional.max_pool2d(functional.relu(h), 2)
    flat = h.permute(0, 2, 3, 1).reshape(len(labels), -1)
    return functional.cross_entropy(flat @ dense + bias3, labels)


def jax_conv_net(jnp: Any, parameters: Any, x: Any, labels: Any) -> Any:
    """The same with XLA's convolution and windows."""
    from jax import lax, nn  # noqa: PLC0415 - likewise

    orders = ("NHWC", "HWIO", "NHWC")
    kernel1, bias1, kernel2, bias2, dense, bias3 = parameters
    h = x
    for kernel, bias in ((kernel1, bias1), (kernel2, bias2)):
        h = nn.relu(lax.conv_general_dilated(h, kernel, (1, 1), "SAME", dimension_numbers=orders) + bias)
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    scores = jnp.reshape(h, (len(labels), -1)) @ dense + bias3
    return -jnp.mean(nn.log_softmax(scores)[jnp.arange(len(labels)), labels])


def conv_net_inputs(np: Any) -> tuple[Any, ...]:
    """Parameters for 8 and 16 channels and ten classes, 32 images of 28×28, their classes."""
    rng = np.random.default_rng(SEED)

    def floats(*shape: int) -> Any:
        return (rng.normal(size=shape) / math.prod(shape[:-1]) ** 0.5).astype(np.float32)

    parameters = [
        *(floats(3, 3, 1, 8), floats(8), floats(3, 3, 8, 16), floats(16)),
        *(floats(7 * 7 * 16, 10), floats(10)),
    ]
    return parameters, rng.normal(size=(32, 28, 28, 1)).astype(np.float32), rng.integers(0, 10, 32)
