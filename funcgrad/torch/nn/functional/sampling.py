"""What draws at random, and what moves elements: dropout, padding, interpolation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.inplace import require_castable
from funcgrad.torch.core.layout import filled_as
from funcgrad.torch.core.meta import is_meta, meta_array
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn.functional.activations import finished, softmax
from funcgrad.torch.nn.functional.grids import cubic_weights, resampled, smooth_weights
from funcgrad.torch.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from funcgrad.torch.operations.creating.random import generator_of
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.types import Anything, Array, ShapeLike

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "gumbel_softmax",
    "interpolate",
    "pad",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def check_share(p: float) -> None:
    """Raise ValueError unless `p` is a probability."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False) -> Operand:
    """In training, a share `p` of the elements set to 0 and the others divided by ``1 - p``.

    >>> from funcgrad import torch
    >>> torch.nn.functional.dropout(torch.ones(2), training=False)
    tensor([1., 1.])
    """
    check_share(p)
    if not training or p == 0.0:
        return input
    return finished(input, inplace, input * kept(input, p, input._value.shape))


def kept(input: Operand, p: float, shape: ShapeLike) -> Tensor:
    """``1 / (1 - p)`` for elements that stay and 0 for those that go."""
    dtype = input._value.dtype
    if dtype.kind == "c":
        raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{kind_of(input)}'")
    require_castable(SETTINGS.default_dtype, dtype)
    if is_meta(input):
        return wrap(meta_array(shape, dtype))
    if p == 1.0:
        return wrap(np.zeros(shape, dtype))
    rng = generator_of(None)

    def drawn(shape: tuple[int, ...]) -> Array:
        return rng.doubles(math.prod(shape)).reshape(shape)

    value = input._value
    stays = (filled_as(value, drawn) if tuple(shape) == value.shape else drawn(tuple(shape))) < 1.0 - p
    return wrap(stays.astype(dtype) * dtype.type(1.0 / (1.0 - p)))


def _channels(ndim: int) -> Callable[..., Any]:
    def dropout_channels(
        input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Operand:
        check_share(p)
        if not training or p == 0.0:
            return input
        shape = input._value.shape
        lead = 2 if len(shape) == ndim + 2 else 1
        mask = kept(input, p, (*shape[:lead], *(1,) * (len(shape) - lead)))
        return finished(input, inplace, input * mask)

    dropout_channels.__name__ = dropout_channels.__qualname__ = f"dropout{ndim}d"
    dropout_channels.__doc__ = "In training, a share `p` of the channels set to 0 and the others scaled."
    return dropout_channels


dropout1d, dropout2d, dropout3d = (_channels(k) for k in (1, 2, 3))

_LOWEST = -1.7580993408473766
"""Where `selu` ends for large negative numbers."""


def _alpha(input: Operand, p: float, training: bool, inplace: bool, shape: Anything) -> Operand:
    check_share(p)
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return finished(input, inplace, input * 0)
    stays = (kept(input, p, shape) > 0).to(input.dtype)
    a = ((1 - p) * (1 + p * _LOWEST**2)) ** -0.5
    return finished(input, inplace, (input * stays + (1 - stays) * _LOWEST) * a - a * p * _LOWEST)


def alpha_dropout(input: Operand, p: float = 0.5, training: bool = False, inplace: bool = False) -> Operand:
    """Dropout that keeps mean and variance after `selu`."""
    return _alpha(input, p, training, inplace, input._value.shape)


def feature_alpha_dropout(
    input: Operand, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Operand:
    """`alpha_dropout` of whole channels."""
    shape = input._value.shape
    return _alpha(input, p, training, inplace, (*shape[:2], *(1,) * (len(shape) - 2)))


def gumbel_softmax(
    logits: Operand, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Operand:
    """A differentiable sample of classes: the softmax of logits plus Gumbel noise, or that rounded."""
    noise = -logits.new_empty(logits.shape).exponential_().log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    chosen = FUNCTIONS["zeros_like"](soft).scatter_(dim, index, 1.0)
    return chosen - soft.detach() + soft


# -- padding --------------------------------------------------------------------------------------------


@op("ConstantPadNdBackward0")
def _pad(x: Anything, widths: tuple[tuple[int, int], ...], value: float) -> Array:
    inside = tuple([slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(widths, x.shape, strict=True)])
    around = tuple([(max(0, a), max(0, b)) for a, b in widths])
    return np.pad(x[inside], around, constant_values=x.dtype.type(value))


def _pad_with_elements(x: Anything, widths: tuple[tuple[int, int], ...], mode: Anything) -> Array:
    return np.pad(x, widths, mode=mode)


_MODES = {
    "reflect": ("Reflection", "reflect"),
    "replicate": ("Replication", "edge"),
    "circular": ("Circular", "wrap"),
}
_PADS: dict[tuple[str, int], Op] = {
    (mode, k): Op(f"{title}Pad{k}DBackward0", _pad_with_elements)
    for mode, (title, _) in _MODES.items()
    for k in (1, 2, 3)
}


def require_padding(mode: str, shape: tuple[int, ...], widths: tuple[tuple[int, int], ...]) -> None:
    """Raise RuntimeError for more elements around an input than it has itself."""
    for axis, (n, (a, b)) in enumerate(zip(shape, widths, strict=True)):
        if mode == "reflect" and max(a, b) >= n and (a or b):
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({a}, {b}) at dimension {axis} of input {list(shape)}"
            )
        if mode == "circular" and max(a, b) > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")


_UNPADDED = (
    "Padding size {} is not supported for {}D input tensor.\nSupported combinations for non-constant "
    "padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: padding size "
    "= 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)


def pad(input: Operand, pad: ShapeLike, mode: str = "constant", value: float | None = None) -> Operand:
    """The input with elements around it, the last dimension first: ``(left, right, top, bottom, ...)``.

    >>> from funcgrad import torch
    >>> torch.nn.functional.pad(torch.ones(1, 2), (1, 0))
    tensor([[0., 1., 1.]])
    """
    numbers = [int(n) for n in pad]
    shape = input._value.shape
    if len(numbers) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(numbers) > 2 * len(shape):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(numbers)} and input of dimension {len(shape)}"
        )
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))[::-1]
    widths = ((0, 0),) * (len(shape) - len(pairs)) + tuple(pairs)
    if mode == "constant":
        for n, (a, b) in zip(shape, widths, strict=True):
            if n + a + b < 0:
                raise RuntimeError(
                    f"The input size {n}, plus negative padding {a} and {b}, resulted in a negative output "
                    "size, which is invalid."
                )
        return apply(_pad, (input,), (widths, 0.0 if value is None else value))
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(shape) - len(pairs) not in (1, 2) or len(pairs) > 3:
        raise NotImplementedError(_UNPADDED.format(len(numbers), len(shape)))
    if mode == "replicate" and min(numbers, default=0) < 0:
        for axis, (n, (a, b)) in enumerate(zip(shape, widths, strict=True)):
            nearest = np.clip(np.arange(-a, n + b), 0, n - 1)
            input = input if a == b == 0 else input.index_select(axis, wrap(nearest))
        return input
    require_padding(mode, shape, widths)
    if min(numbers, default=0) < 0:
        # Elements that are taken away are not reflected either.
        taken = [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(shape, widths, strict=True)]
        input = input[tuple(taken)]
        widths = tuple([(max(a, 0), max(b, 0)) for a, b in widths])
    return apply(_PADS[mode, len(pairs)], (input,), (widths, _MODES[mode][1]))


# -- interpolation --------------------------------------------------------------------------------------


def _nearest(x: Anything, indices: tuple[tuple[int, ...], ...]) -> Array:
    for axis, index in enumerate(indices, 2):
        x = np.take(x, np.array(index), axis=axis)
    return x


_NEAREST = {
    (mode, count): Op(f"Upsample{word}{count}DBackward0", _nearest)
    for mode, word in (("nearest", "Nearest"), ("nearest-exact", "NearestExact"))
    for count in (1, 2, 3)
}


def _linear(x: Anything, weights: tuple[Any, ...]) -> Array:
    for axis, rows in enumerate(weights, 2):
        matrix = np.zeros((len(rows), x.shape[axis]), x.dtype)
        for i, terms in enumerate(rows):
            for j, share in terms:
                matrix[i, j] += share
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.T, -1, axis)
    return x


_LINEAR = {
    count: Op(f"Upsample{word}{count}DBackward0", _linear)
    for count, word in enumerate(("Linear", "Bilinear", "Trilinear"), 1)
}
_COUNTS = {"linear": 1, "bilinear": 2, "trilinear": 3}
_KERNELS = ("nearest", "linear", "bilinear", "bicubic", "trilinear", "nearest-exact")


def require_numbers(input: Tensor, mode: str) -> None:
    """Raise NotImplementedError for dtypes that PyTorch does not resample: all but real numbers and bytes."""
    dtype = input._value.dtype
    if dtype.kind == "f" or (dtype == np.uint8 and mode not in ("linear", "trilinear")):
        return
    word = "nearest" if mode.startswith("nearest") else "cubic" if mode == "bicubic" else "linear"
    raise NotImplementedError(f"\"compute_indices_weights_{word}\" not implemented for '{kind_of(input)}'")


def require_mode(mode: str, antialias: bool, count: int) -> None:
    """Raise NotImplementedError or ValueError for a mode that inputs of so many sizes do not have."""
    if mode not in _KERNELS or (mode == "bicubic" and count != 2):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {count + 2}D) for the modes: "
            f"nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if _COUNTS.get(mode, count) != count:
        raise NotImplementedError(f"Got {count + 2}D input, but {mode} mode needs {_COUNTS[mode] + 2}D input")
    if antialias and (mode not in ("bilinear", "bicubic") or count != 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor"
        )


def _by_area(input: Operand, size: Anything, scale: Anything) -> Operand:
    """The means over the parts of the input that become one element."""
    sizes = input._value.shape[2:]
    count = len(sizes)
    if size is None:
        scales = (scale,) * count if isinstance(scale, int | float) else tuple(scale)
        size = tuple([int(n * s) for n, s in zip(sizes, scales, strict=True)])
    pools = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
    return pools[count](input, size)


def interpolate(
    input: Operand,
    size: ShapeLike = None,
    scale_factor: ShapeLike = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Operand:
    """The input with other sizes of its spatial dimensions: the nearest elements, or linear between them.

    >>> from funcgrad import torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    sizes = input._value.shape[2:]
    if not 1 <= len(sizes) <= 3:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{len(input._value.shape)}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | "
            f"lanczos | area | nearest-exact (got {mode})"
        )
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size
            else "either size or scale_factor should be defined"
        )
    if mode == "area":
        return _by_area(input, size, scale_factor)
    require_mode(mode, antialias, len(sizes))
    require_numbers(input, mode)
    if mode.startswith("nearest") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic "
            "| trilinear"
        )
    wanted, factors = _spacing(sizes, size, scale_factor, bool(recompute_scale_factor))
    triples = list(zip(sizes, wanted, factors, strict=True))
    if mode.startswith("nearest"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        indices = [tuple([min(int((i + half) * f), n - 1) for i in range(m)]) for n, m, f in triples]
        return apply(_NEAREST[mode, len(sizes)], (input,), (tuple(indices),))
    align, is_cubic = bool(align_corners), mode == "bicubic"
    if antialias:
        matrices = [smooth_weights(n, m, f, align, is_cubic) for n, m, f in triples]
        return resampled(input, matrices, is_cubic, antialias)
    if is_cubic:
        return resampled(input, [cubic_weights(n, m, f, align) for n, m, f in triples], is_cubic, antialias)
    return _between_two(input, tuple([linear_weights(n, m, f, align) for n, m, f in triples]))


def _spacing(
    sizes: Anything, size: Anything, scale_factor: Anything, again: bool
) -> tuple[tuple[int, ...], list[float]]:
    """The sizes of the result, and how far its elements are from each other in elements of the input."""
    count = len(sizes)
    for word, given in (("output size", size), ("scale_factor", scale_factor)):
        if given is not None and not isinstance(given, int | float) and len(given) != count:
            form = "output size in (o1, o2, ...,oK)" if given is size else "scale_factor in (s1, s2, ...,sK)"
            raise ValueError(
                "Input and "
                f"{'output' if given is size else 'scale_factor'} must have the same number of spatial "
                f"dimensions, but got input with spatial dimensions of {list(sizes)} and {word} of "
                f"{'' if given is size else 'shape '}{given}. Please provide input tensor in (N, C, d1, d2, "
                f"...,dK) format and {form} format."
            )
    if size is not None:
        wanted = (int(size),) * count if isinstance(size, int) else tuple([int(n) for n in size])
        if min(wanted) <= 0:
            raise RuntimeError(
                f"Input and output sizes should be greater than 0, but got input {_words(sizes)} and output "
                f"{_words(wanted)}"
            )
    else:
        scales = (scale_factor,) * count if isinstance(scale_factor, int | float) else tuple(scale_factor)
        wanted = tuple([int(n * s) for n, s in zip(sizes, scales, strict=True)])
        if not again:
            return wanted, [1.0 / s for s in scales]
    return wanted, [n / m for n, m in zip(sizes, wanted, strict=True)]


def _words(sizes: Anything) -> str:
    """Sizes by the letters of their dimensions."""
    letters = "DHW"[-len(sizes) :]
    return f"({', '.join([f'{c}: {n}' for c, n in zip(letters, sizes, strict=True)])})"


def _between_two(input: Tensor, weights: tuple[Any, ...]) -> Operand:
    """What lies between two elements of each dimension."""
    kind = input._value.dtype
    if kind.kind not in "iub":
        return apply(_LINEAR[len(weights)], (input,), (weights,))
    # Shares are added as real numbers, and halves are rounded up.
    mixed = apply(_LINEAR[len(weights)], (input.to(np.dtype(np.float32)),), (weights,))
    return (mixed + 0.5).floor().to(kind)


def linear_weights(n: int, m: int, factor: float, align: bool) -> tuple[Any, ...]:
    """For each of `m` results, the elements among `n` beside it and their shares."""
    rows = []
    for i in range(m):
        corners = i * (n - 1) / (m - 1) if m > 1 else 0.0
        at = corners if align else max(0.0, (i + 0.5) * factor - 0.5)
        low = min(int(at), n - 1)
        share = at - low
        rows.append(((low, 1.0 - share), (min(low + 1, n - 1), share)))
    return tuple(rows)


def _warn_of_name(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
        stacklevel=4,
    )


def upsample(
    input: Operand,
    size: ShapeLike = None,
    scale_factor: ShapeLike = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Operand:
    """`interpolate`, under its old name."""
    _warn_of_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Operand, size: ShapeLike = None, scale_factor: ShapeLike = None) -> Operand:
    """`interpolate` by the nearest elements, under its old name."""
    _warn_of_name("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Operand, size: ShapeLike = None, scale_factor: ShapeLike = None) -> Operand:
    """`interpolate`, linear between corners, under its old name."""
    _warn_of_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)
