"""Layers of networks, un-jitted: value and gradient by input and parameters."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import gradients
from benchmarks.model import Versus, Workload

SEED = 0
CHANNELS_OUT = 8


def conv_layer(np: Any, arrays: Any) -> Any:
    """A 3×3 convolution that keeps the size, bias, rectifier; the mean square of the result."""
    from funcgrad import nn  # noqa: PLC0415 - other contenders do without

    x, kernel, bias = arrays
    return np.mean(nn.relu(nn.conv(x, kernel, padding="same") + bias) ** 2)


def torch_conv_layer(torch: Any, arrays: Any) -> Any:
    """The same; these views of arrays with channels last are what torch is fastest with."""
    x, kernel, bias = arrays
    out = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), bias, padding=1)
    return torch.mean(torch.relu(out) ** 2)


def jax_conv_layer(jnp: Any, arrays: Any) -> Any:
    """The same with XLA's convolution."""
    from jax import lax, nn  # noqa: PLC0415 - likewise

    x, kernel, bias = arrays
    orders = ("NHWC", "HWIO", "NHWC")
    out = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=orders)
    return jnp.mean(nn.relu(out + bias) ** 2)


def images(np: Any) -> tuple[Any, ...]:
    """A batch of 32 images of 28×28 with 8 channels, a kernel and a bias."""
    rng = np.random.default_rng(SEED)

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    return ([floats(32, 28, 28, 8), floats(3, 3, 8, CHANNELS_OUT) * np.float32(0.1), floats(CHANNELS_OUT)],)


CONVOLUTION = Workload(
    name="convolution",
    title="un-jitted value and gradient of a 3×3 convolution layer, 32×28×28×8 to 8 channels, float32",
    contenders=gradients(
        conv_layer,
        value=True,
        names=("funcgrad", "torch", "jax.jit"),
        instead={"torch": torch_conv_layer, "jax": jax_conv_layer},
    ),
    targets=(Versus(("torch", "jax.jit"), 1.0),),
    inputs=images,
    rtol=1e-3,
)

WORKLOADS = (CONVOLUTION,)
