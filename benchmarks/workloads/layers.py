"""Layers of networks, un-jitted: value and gradient by input and parameters."""

from __future__ import annotations

from typing import Any

from benchmarks.compiled import OBJECTIVE, compiled_gradients
from benchmarks.contenders import gradients
from benchmarks.model import Call, Contender, Versus, Workload
from benchmarks.problems.convolutional import conv_net, conv_net_inputs, jax_conv_net, torch_conv_net

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


CONV_NET = Workload(
    name="jit-conv-net",
    title="compiled value and gradient of a convolutional network, 32×28×28, 8 and 16 channels, float32",
    contenders=compiled_gradients(
        conv_net,
        names=("funcgrad", OBJECTIVE, "torch", "torch.compile", "jax.jit"),
        instead={"torch": torch_conv_net, "jax": jax_conv_net},
    ),
    targets=(Versus(("torch.compile",), 1.2),),
    inputs=conv_net_inputs,
    rtol=1e-3,
    in_quick=False,
)


def facade_training_step(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """With ``funcgrad.torch``."""
    return training_step(fg.torch, np, inputs)


def training_step(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Forget gradients, loss, backward, a step of Adam."""
    model, optimizer, x, y = model_of(torch, inputs)

    def step() -> Any:
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def compiled_training_step(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Loss and gradients compiled, a step of Adam as it is."""
    model, optimizer, x, y = model_of(fg.torch, inputs)
    parameters = list(model.parameters())

    @fg.jit
    def gradients_of(model: Any, x: Any, y: Any) -> Any:
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        return loss, [p.grad for p in model.parameters()]

    def step() -> Any:
        loss, slopes = gradients_of(model, x, y)
        for p, slope in zip(parameters, slopes, strict=True):
            p.grad = slope
        optimizer.step()
        return loss

    return step


def model_of(torch: Any, inputs: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """The network, its optimiser, and the batch."""
    layers, x, y = inputs
    modules: list[Any] = []
    for weight, bias in layers:
        linear = torch.nn.Linear(*weight.T.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight))
            linear.bias.copy_(torch.from_numpy(bias))
        modules += [linear, torch.nn.Tanh()]
    model = torch.nn.Sequential(*modules[:-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return model, optimizer, torch.from_numpy(x), torch.from_numpy(y)


def mlp_inputs(np: Any) -> tuple[Any, ...]:
    """Three layers of width 64, a batch of 32, float32."""
    rng = np.random.default_rng(SEED)
    width, batch = 64, 32

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    scale = np.float32(width**-0.5)
    layers = [(floats(width, width) * scale, floats(width)) for _ in range(3)]
    return layers, floats(batch, width), floats(batch, width)


TRAINING_STEP = Workload(
    name="training-step",
    title="a training step with tensors and Adam: tanh MLP, 3 layers, batch 32, width 64, float32",
    contenders=(
        Contender("funcgrad", "funcgrad", facade_training_step),
        Contender("torch", "torch", training_step),
    ),
    targets=(Versus(("torch",), 1.0),),
    inputs=mlp_inputs,
    rtol=1e-3,
)

COMPILED_TRAINING_STEP = Workload(
    name="training-step-jit",
    title="the same training step with its loss and gradients compiled",
    contenders=(
        Contender("funcgrad", "funcgrad", compiled_training_step),
        Contender("torch", "torch", training_step),
    ),
    targets=(Versus(("torch",), 3.0),),
    inputs=mlp_inputs,
    rtol=1e-3,
)

WORKLOADS = (CONVOLUTION, CONV_NET, TRAINING_STEP, COMPILED_TRAINING_STEP)
