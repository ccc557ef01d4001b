"""Convolutions, unfolding, and the shuffling of pixels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.composed import Composed
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.operations.requiring import kind_of, long_word
from funcgrad.types import Array, DTypeLike, Padding, ShapeLike

__all__ = [
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
]


@op("ConvolutionBackward0", input_names=("input", "weight", "bias"), visible=3)
@Composed
def _convolution(x: Array, w: Array, *rest: Array) -> Array:
    *bias, stride, padding, dilation, groups = rest
    out = nn.conv(x, w, stride, padding, kernel_dilation=dilation, groups=groups, channels_last=False)
    return with_bias(out, bias)


@op("ConvolutionBackward0", input_names=("input", "weight", "bias"), visible=3)
@Composed
def _convolution_transpose(x: Array, w: Array, *rest: Array) -> Array:
    *bias, stride, padding, output_padding, groups, dilation = rest
    out = nn.conv_transpose(
        x,
        w,
        stride,
        padding,
        output_padding=output_padding,
        kernel_dilation=dilation,
        groups=groups,
        channels_last=False,
    )
    return with_bias(out, bias)


def with_bias(out: Operand, bias: list[Any]) -> Operand:
    """A bias for each channel, if there is one, added."""
    return out + bias[0].reshape((-1, *(1,) * (out.ndim - 2))) if bias else out


def numbers(given: Operand, ndim: int) -> tuple[int, ...]:
    """One int for each dimension."""
    if isinstance(given, int | np.integer):
        return (int(given),) * ndim
    found = tuple([int(n) for n in given])
    return found * ndim if len(found) == 1 else found


def batched(input: Operand, ndim: int, name: str) -> tuple[Any, bool]:
    """The input with a batch dimension, and whether it had one."""
    shape = input._value.shape
    if len(shape) == ndim + 2:
        return input, True
    if len(shape) == ndim + 1:
        return input.unsqueeze(0), False
    raise RuntimeError(
        f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got input of size: "
        f"{list(shape)}"
    )


def check_channels(input: Operand, weight: Operand, bias: Operand | None, groups: int) -> None:
    """Raise RuntimeError where channels and groups do not fit, in PyTorch's words."""
    x, w = input._value.shape, weight._value.shape
    if len(x) != len(w):
        raise RuntimeError(
            "weight should have at least three dimensions"
            if len(w) < 3
            else f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight {list(w)}, but got "
            f"{len(x)}-dimensional input of size {list(x)} instead"
        )
    if groups < 1:
        raise RuntimeError("non-positive groups is not supported")
    if w[0] % groups or w[0] < groups:
        kind, size = ("at least", list(w)) if w[0] < groups else ("divisible by", [list(w)])
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be {kind} {groups} at dimension 0, but got weight of "
            f"size {size} instead"
        )
    if x[1] != w[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(w)}, expected input{list(x)} to have "
            f"{w[1] * groups} channels, but got {x[1]} channels instead"
        )
    check_types(input, weight, bias, w[0])


def check_types(input: Operand, weight: Operand, bias: Operand | None, channels: int) -> None:
    """Raise RuntimeError for dtypes that differ, and for a bias that does not fit the result's channels."""
    if bias is not None and bias._value.dtype != input._value.dtype:
        raise RuntimeError(
            f"Input type ({long_word(input)}) and bias type ({long_word(bias)}) should be the same"
        )
    if input._value.dtype.kind == "b":
        kernel = "compute_columns3d" if len(weight._value.shape) == 5 else "slow_conv2d_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    if input._value.dtype != weight._value.dtype:
        if not {"c"} & {t._value.dtype.kind for t in (input, weight)}:
            raise RuntimeError(f"expected scalar type {kind_of(input)} but found {kind_of(weight)}")
        raise RuntimeError(
            f"Input type ({_type(input)}) and weight type ({_type(weight)}) should be the same"
        )
    if bias is not None and bias._value.shape != (channels,):
        raise RuntimeError(
            f"Given weight of size {list(weight._value.shape)}, expected bias to be 1-dimensional with "
            f"{channels} elements, but got bias of size {list(bias._value.shape)} instead"
        )


def _type(t: Operand) -> str:
    return f"CPU{kind_of(t)}Type" if t._value.dtype.kind == "c" else str(t.type())


def _forward(ndim: int) -> Callable[..., Any]:
    name = f"conv{ndim}d"

    def conv(
        input: Operand,
        weight: Operand,
        bias: Operand | None = None,
        stride: ShapeLike = 1,
        padding: Padding = 0,
        dilation: ShapeLike = 1,
        groups: int = 1,
    ) -> Operand:
        x, is_batch = batched(input, ndim, name)
        check_channels(x, weight, bias, groups)
        around = padding if isinstance(padding, str) else numbers(padding, ndim)
        steps = numbers(stride, ndim)
        if around == "same" and any(s != 1 for s in steps):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        reach = numbers(dilation, ndim)
        check_kernel(x, weight, steps, around, reach)
        tensors = (x, weight) if bias is None else (x, weight, bias)
        out = apply(_convolution, tensors, (steps, around, reach, groups))
        return out if is_batch else out.squeeze(0)

    conv.__name__ = conv.__qualname__ = name
    conv.__doc__ = f"The convolution of `input` with `weight` over {ndim} dimensions, plus `bias`."
    return conv


def check_kernel(
    input: Operand,
    weight: Operand,
    stride: tuple[int, ...],
    padding: str | tuple[int, ...],
    dilation: tuple[int, ...],
) -> None:
    """Raise RuntimeError for steps of nothing, and where the kernel is larger than the input."""
    if min(stride) < 1:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 1:
        raise RuntimeError("dilation should be greater than zero")
    if isinstance(padding, str):
        return
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    sizes = [n + 2 * p for n, p in zip(input._value.shape[2:], padding, strict=True)]
    kernel = [(k - 1) * d + 1 for k, d in zip(weight._value.shape[2:], dilation, strict=True)]
    if any(k > n for k, n in zip(kernel, sizes, strict=True)):
        per_channel, window = (" x ".join(map(str, v)) for v in (sizes, kernel))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({per_channel}). Kernel size: ({window}). Kernel "
            "size can't be greater than actual input size"
        )


def _backward(ndim: int) -> Callable[..., Any]:
    name = f"conv_transpose{ndim}d"

    def conv_transpose(
        input: Operand,
        weight: Operand,
        bias: Operand | None = None,
        stride: ShapeLike = 1,
        padding: Padding = 0,
        output_padding: ShapeLike = 0,
        groups: int = 1,
        dilation: ShapeLike = 1,
    ) -> Operand:
        x, is_batch = batched(input, ndim, name)
        if x._value.shape[1] != weight._value.shape[0]:
            raise RuntimeError(
                f"Given transposed=1, weight of size {list(weight._value.shape)}, expected "
                f"input{list(x._value.shape)} "
                f"to have {weight._value.shape[0]} channels, but got {x._value.shape[1]} channels instead"
            )
        check_types(x, weight, bias, weight._value.shape[1] * groups)
        params = [numbers(v, ndim) for v in (stride, padding, output_padding)]
        if any(e >= max(s, d) for e, s, d in zip(params[2], params[0], numbers(dilation, ndim), strict=True)):
            raise RuntimeError("output padding must be smaller than either stride or dilation")
        tensors = (x, weight) if bias is None else (x, weight, bias)
        out = apply(_convolution_transpose, tensors, (*params, groups, numbers(dilation, ndim)))
        return out if is_batch else out.squeeze(0)

    conv_transpose.__name__ = conv_transpose.__qualname__ = name
    conv_transpose.__doc__ = f"The transpose of `conv{ndim}d` by its input, plus `bias`."
    return conv_transpose


conv1d, conv2d, conv3d = (_forward(k) for k in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_backward(k) for k in (1, 2, 3))


# -- windows as columns ---------------------------------------------------------------------------------


@op("Im2ColBackward0")
def _unfold(x: Array, window: ShapeLike, dilation: ShapeLike, padding: Padding, stride: ShapeLike) -> Array:
    n, c = x.shape[:2]
    kernel = one_per_place(window, x.dtype)
    flat = x.reshape((n * c, 1, *x.shape[2:]))
    out = nn.conv(flat, kernel, stride, padding, kernel_dilation=dilation, channels_last=False)
    return out.reshape((n, c * kernel.shape[0], math.prod(out.shape[2:])))


def one_per_place(window: tuple[int, ...], dtype: DTypeLike) -> Array:
    """A kernel with one channel out for each place in the window."""
    size = int(np.prod(window))
    return np.eye(size, dtype=dtype).reshape((size, 1, *window))


def unfold(
    input: Operand,
    kernel_size: ShapeLike,
    dilation: ShapeLike = 1,
    padding: ShapeLike = 0,
    stride: ShapeLike = 1,
) -> Operand:
    """Every window of images as a column."""
    if input._value.dtype.kind == "b":
        return unfold(input.byte(), kernel_size, dilation, padding, stride).bool()
    x, is_batch = batched(input, 2, "unfold")
    out = apply(_unfold, (x,), tuple([numbers(v, 2) for v in (kernel_size, dilation, padding, stride)]))
    return out if is_batch else out.squeeze(0)


@op("Col2ImBackward0")
def _fold(
    x: Array, size: ShapeLike, window: ShapeLike, dilation: ShapeLike, padding: Padding, stride: ShapeLike
) -> Array:
    kernel = one_per_place(window, x.dtype)
    n, c = x.shape[0], x.shape[1] // kernel.shape[0]
    counts = [
        (m + 2 * p - d * (k - 1) - 1) // s + 1
        for m, k, d, p, s in zip(size, window, dilation, padding, stride, strict=True)
    ]
    flat = x.reshape((n * c, kernel.shape[0], *counts))
    reached = [
        (m - 1) * s + d * (k - 1) + 1 - 2 * p
        for m, k, d, p, s in zip(counts, window, dilation, padding, stride, strict=True)
    ]
    extra = tuple([m - r for m, r in zip(size, reached, strict=True)])
    out = nn.conv_transpose(
        flat, kernel, stride, padding, output_padding=extra, kernel_dilation=dilation, channels_last=False
    )
    return out.reshape((n, c, *size))


def fold(
    input: Operand,
    output_size: ShapeLike,
    kernel_size: ShapeLike,
    dilation: ShapeLike = 1,
    padding: ShapeLike = 0,
    stride: ShapeLike = 1,
) -> Operand:
    """Images from columns of windows: what overlaps is added."""
    if input._value.dtype.kind == "b":
        return fold(input.float(), output_size, kernel_size, dilation, padding, stride).bool()
    is_batch = len(input._value.shape) == 3
    x = input if is_batch else input.unsqueeze(0)
    params = [numbers(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)]
    out = apply(_fold, (x,), tuple(params))
    return out if is_batch else out.squeeze(0)


def channel_shuffle(input: Operand, groups: int) -> Operand:
    """Channels of groups taken in turn: (g c) becomes (c g)."""
    n, c, *sizes = input._value.shape
    if c % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups."
        )
    return input.reshape(n, groups, c // groups, *sizes).transpose(1, 2).reshape(n, c, *sizes)


@op("PixelShuffleBackward0")
def _shuffle(x: Array, r: int) -> Array:
    *lead, c, h, w = x.shape
    k = len(lead)
    split = x.reshape((*lead, c // (r * r), r, r, h, w))
    order = (*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return split.transpose(order).reshape((*lead, c // (r * r), h * r, w * r))


def pixel_shuffle(input: Operand, upscale_factor: int) -> Operand:
    """Channels moved into space: (c r², h, w) becomes (c, h r, w r)."""
    c, r = input._value.shape[-3], upscale_factor
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={c} is not divisible by {r * r}"
        )
    return apply(_shuffle, (input,), (r,))


@op("PixelUnshuffleBackward0")
def _unshuffle(x: Array, r: int) -> Array:
    *lead, c, h, w = x.shape
    k = len(lead)
    split = x.reshape((*lead, c, h // r, r, w // r, r))
    order = (*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return split.transpose(order).reshape((*lead, c * r * r, h // r, w // r))


def pixel_unshuffle(input: Operand, downscale_factor: int) -> Operand:
    """Space moved into channels: the inverse of `pixel_shuffle`."""
    return apply(_unshuffle, (input,), (downscale_factor,))
