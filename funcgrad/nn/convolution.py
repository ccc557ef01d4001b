"""Convolutions of images, signals and volumes as networks compute them: kernels are not flipped."""

from __future__ import annotations

from funcgrad.nn.windows import pairs, per_axis
from funcgrad.numpy.algebra.operands import promoted
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, permute, reshape, shape_of
from funcgrad.ops.signal.convolution import Convolution
from funcgrad.ops.signal.convolution_plan import Ints, Pairs, dilated
from funcgrad.types import AnyPrimitive, Array, ArrayLike, Padding, ShapeLike


def conv(
    x: ArrayLike,
    kernel: ArrayLike,
    strides: ShapeLike = 1,
    padding: Padding = "valid",
    *,
    input_dilation: ShapeLike = 1,
    kernel_dilation: ShapeLike = 1,
    groups: int = 1,
    channels_last: bool = True,
) -> Array:
    """The convolution of `x` (examples, *sizes, channels) with `kernel` (*window, channels, channels out).

    With ``channels_last=False`` they are (examples, channels, *sizes) and (channels out, channels, *window),
    as in PyTorch. Any number of spatial axes. With `groups` the kernel has the channels of one group.
    `padding` is ``"valid"``, ``"same"``, or numbers: for all axes, or for each an int or a pair.

    >>> x = np.array([1.0, 2.0, 4.0, 8.0]).reshape(1, 4, 1)
    >>> print(fg.nn.conv(x, np.array([-1.0, 1.0]).reshape(2, 1, 1))[0, :, 0])
    [1. 2. 4.]
    >>> fg.nn.conv(np.ones((32, 28, 28, 8)), np.ones((3, 3, 8, 16)), strides=2, padding="same").shape
    (32, 14, 14, 16)
    """
    x, kernel = promoted([as_array(x), as_array(kernel)])
    check(x, kernel)
    first, weights = (channels_first(x), kernel_first(kernel)) if channels_last else (x, kernel)
    sizes, window = shape_of(first)[2:], shape_of(weights)[2:]
    ndim = len(sizes)
    steps = per_axis(strides, ndim, "strides")
    spread, reach = (
        per_axis(input_dilation, ndim, "input_dilation"),
        per_axis(kernel_dilation, ndim, "kernel_dilation"),
    )
    around = pairs(
        padding, tuple([dilated(n, e) for n, e in zip(sizes, spread, strict=True)]), window, steps, reach
    )
    out = grouped(Convolution(steps, around, spread, reach), first, weights, groups)
    return channels_to_last(out) if channels_last else out


def conv_transpose(
    x: ArrayLike,
    kernel: ArrayLike,
    strides: ShapeLike = 1,
    padding: Padding = 0,
    *,
    output_padding: ShapeLike = 0,
    kernel_dilation: ShapeLike = 1,
    groups: int = 1,
    channels_last: bool = True,
) -> Array:
    """The transpose of `conv` by its input: what takes its results to shapes of its inputs.

    `kernel`, `strides` and `padding` are those of the convolution that it transposes, so that `x` has the
    kernel's channels out: ``grad`` of ``sum(conv(z, kernel) * x)`` by ``z``. `padding` (numbers only) takes
    away from both ends of the result; `output_padding` is what it has more at its end. With
    ``channels_last=False`` the kernel is (channels, channels out // groups, *window), as for PyTorch's
    ``conv_transpose2d``.

    >>> x, kernel = np.array([1.0, 10.0]).reshape(1, 2, 1), np.array([1.0, 2.0, 3.0]).reshape(3, 1, 1)
    >>> print(fg.nn.conv_transpose(x, kernel, strides=2)[0, :, 0])
    [ 1.  2. 13. 20. 30.]
    """
    x, kernel = promoted([as_array(x), as_array(kernel)])
    check(x, kernel)
    if isinstance(padding, str):
        raise refused("the padding of conv_transpose must be numbers: what 'same' leaves out is ambiguous")
    first, weights = (channels_first(x), kernel_first(kernel)) if channels_last else (x, kernel)
    positions, window = shape_of(first)[2:], shape_of(weights)[2:]
    ndim = len(window)
    steps, reach = per_axis(strides, ndim, "strides"), per_axis(kernel_dilation, ndim, "kernel_dilation")
    around = pairs(padding, window, window, steps, reach)
    more = [after for _, after in pairs(output_padding, window, window, steps, reach)]
    sizes = []
    for p, k, s, d, (low, high), extra in zip(positions, window, steps, reach, around, more, strict=True):
        sizes.append(dilated(p, s) + dilated(k, d) - 1 - low - high + extra)
    ends = tuple([(low, high - extra) for (low, high), extra in zip(around, more, strict=True)])
    transposed = transposing(steps, ends, reach, tuple(sizes))
    return (
        channels_to_last(transposed(first, weights, groups))
        if channels_last
        else transposed(first, weights, groups)
    )


def transposing(strides: Ints, padding: Pairs, dilation: Ints, sizes: Ints) -> AnyPrimitive:
    """The transpose of a convolution of inputs of these sizes, for operands with channels first."""
    forward: Convolution = Convolution(strides, padding, (1,) * len(strides), dilation)

    def transposed(x: Array, kernel: Array, groups: int) -> Array:
        x, kernel = split_channels(x, groups), split_kernel(kernel, groups)
        return joined_channels(forward.input_bar(x, kernel, sizes, None))

    return transposed


# -- groups and orders of axes --------------------------------------------------------------------------


def check(x: ArrayLike, kernel: ArrayLike) -> None:
    """Raise unless the ranks fit."""
    if len(shape_of(x)) != len(shape_of(kernel)) or len(shape_of(x)) < 2:
        raise refused(
            f"convolution of {aval(x)} with {aval(kernel)}: they need equally many axes",
            "Beside spatial axes, one has axes for examples and channels, the other for channels in and out.",
        )


def grouped(primitive: AnyPrimitive, x: ArrayLike, kernel: ArrayLike, groups: int) -> Array:
    """The convolution of operands with channels first, in groups of channels."""
    channels, own, out = shape_of(x)[1], shape_of(kernel)[1], shape_of(kernel)[0]
    if channels != own * groups or out % groups:
        raise refused(
            f"convolution of {channels} channels in {groups} groups with a kernel from {own} to {out}: "
            "these do not fit"
        )
    return joined_channels(primitive.bind(split_channels(x, groups), split_kernel(kernel, groups)))


def split_channels(x: ArrayLike, groups: int) -> Array:
    """``x[n, c, ...]`` as ``x[g, n, c // g, ...]``."""
    n, c, *sizes = shape_of(x)
    if groups == 1:
        return reshape(x, (1, n, c, *sizes))
    ndim = len(sizes) + 3
    return permute(reshape(x, (n, groups, c // groups, *sizes)), (1, 0, *range(2, ndim)))


def split_kernel(kernel: ArrayLike, groups: int) -> Array:
    """``kernel[o, c, ...]`` as ``kernel[g, o // g, c, ...]``."""
    o, *others = shape_of(kernel)
    return reshape(kernel, (groups, o // groups, *others))


def joined_channels(x: ArrayLike) -> Array:
    """``x[g, n, o, ...]`` as ``x[n, g * o, ...]``."""
    g, n, o, *sizes = shape_of(x)
    if g == 1:
        return reshape(x, (n, o, *sizes))
    return reshape(permute(x, (1, 0, *range(2, len(sizes) + 3))), (n, g * o, *sizes))


def channels_first(x: ArrayLike) -> Array:
    """``x[n, ..., c]`` as ``x[n, c, ...]``."""
    ndim = len(shape_of(x))
    return permute(x, (0, ndim - 1, *range(1, ndim - 1)))


def channels_to_last(x: ArrayLike) -> Array:
    """``x[n, c, ...]`` as ``x[n, ..., c]``."""
    return permute(x, (0, *range(2, len(shape_of(x))), 1))


def kernel_first(kernel: ArrayLike) -> Array:
    """``kernel[..., c, o]`` as ``kernel[o, c, ...]``."""
    ndim = len(shape_of(kernel))
    return permute(kernel, (ndim - 1, ndim - 2, *range(ndim - 2)))
