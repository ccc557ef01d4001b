"""Fourier transforms: ``torch.fft``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.creating.data import finished
from funcgrad.torch.operations.registry import take_out
from funcgrad.types import Anything, Array, AxisLike, DTypeLike, Option

_TITLES = {"r": "FftR2CBackward0", "c": "FftC2CBackward0", "i": "FftC2RBackward0"}


def _kind(name: str) -> str:
    if name.startswith(("rfft", "ihfft")):
        return "r"
    return "i" if name.startswith(("irfft", "hfft")) else "c"


def _titled(name: str, function: Anything) -> Callable[[Tensor], Op]:
    """Which operation a tensor needs: the nodes of real and of complex inputs have different names."""
    kind = _kind(name)
    made = Op(_TITLES[kind], function)
    of_real = Op(_TITLES["r"], function) if kind == "c" else made
    return lambda x: made if x._value.dtype.kind == "c" else of_real


def _floating(x: Tensor) -> Tensor:
    return x.to(SETTINGS.default_dtype) if x._value.dtype.kind in "iub" else x


def _require_transformable(norm: str | None, sizes: tuple[int, ...]) -> None:
    """Raise RuntimeError for a normalisation of no known name and for sizes that hold nothing."""
    if norm not in (None, "forward", "backward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    for n in sizes:
        if n < 1 and n != -1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _of_one(name: str) -> Operand:
    function = getattr(np.fft, name)

    def transformed(x: Array, n: Option, axis: int, norm: Option) -> Array:
        found = function(x, n, axis, norm)
        single = x.dtype in (np.float32, np.complex64)
        if found.dtype.kind == "c":
            return found.astype(np.complex64) if single else found
        return found.astype(np.float32) if single else found

    made = _titled(name, transformed)

    def transform(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Operand:
        x = _floating(input)
        dim_of(dim, len(x._value.shape))
        _require_transformable(norm, () if n is None else (n,))
        return apply(made(x), (x,), (n, dim, norm))

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"`{name}` along one dimension."
    return transform


def _of_several(name: str, default: Option) -> Operand:
    function = getattr(np.fft, name)

    def transformed(x: Array, s: Option, axes: AxisLike, norm: Option) -> Array:
        found = function(x, s, axes, norm)
        single = x.dtype in (np.float32, np.complex64)
        if not single:
            return found
        return found.astype(np.complex64 if found.dtype.kind == "c" else np.float32)

    made = _titled(name, transformed)

    def transform(
        input: Tensor, s: Option = None, dim: AxisLike = default, norm: str | None = None
    ) -> Operand:
        axes = dim
        if axes is None:
            ndim = len(input._value.shape)
            axes = tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        sizes = None if s is None else tuple(s)
        x = _floating(input)
        _require_transformable(norm, sizes or ())
        return apply(made(x), (x,), (sizes, axes, norm))

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"`{name}` along several dimensions."
    return transform


fft, ifft, rfft, irfft, hfft, ihfft = [_of_one(n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")]
fft2, ifft2, rfft2, irfft2 = [_of_several(n, (-2, -1)) for n in ("fft2", "ifft2", "rfft2", "irfft2")]
fftn, ifftn, rfftn, irfftn = [_of_several(n, None) for n in ("fftn", "ifftn", "rfftn", "irfftn")]


def _shift(x: Array, axes: AxisLike) -> Array:
    return np.fft.fftshift(x, axes)


def _unshift(x: Array, axes: AxisLike) -> Array:
    return np.fft.ifftshift(x, axes)


_SHIFT, _UNSHIFT = Op("RollBackward0", _shift), Op("RollBackward0", _unshift)


def _axes(dim: AxisLike) -> AxisLike:
    return dim if dim is None or isinstance(dim, int) else tuple(dim)


def fftshift(input: Tensor, dim: AxisLike = None) -> Operand:
    """The frequencies in order, zero in the middle."""
    return apply(_SHIFT, (input,), (_axes(dim),))


def ifftshift(input: Tensor, dim: AxisLike = None) -> Operand:
    """The inverse of `fftshift`."""
    return apply(_UNSHIFT, (input,), (_axes(dim),))


def fftfreq(
    n: int, d: float = 1.0, *, dtype: DTypeLike = None, requires_grad: bool = False, **options: object
) -> Tensor:
    """The frequencies of `fft`."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.fft.fftfreq(n, d).astype(wanted), requires_grad, called="fftfreq", **options)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: DTypeLike = None, requires_grad: bool = False, **options: object
) -> Tensor:
    """The frequencies of `rfft`."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.fft.rfftfreq(n, d).astype(wanted), requires_grad, called="rfftfreq", **options)


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def _lengths(input: Operand, s: Option, dim: AxisLike) -> tuple[Any, Any]:
    """The lengths (or None) and the dimensions of a transform of several."""
    if dim is None:
        dim = tuple(range(-len(s if s is not None else input._value.shape), 0))
    dim = (dim,) if isinstance(dim, int) else tuple(dim)
    return (None,) * len(dim) if s is None else tuple(s), dim


def hfftn(input: Operand, s: object = None, dim: AxisLike = None, norm: str | None = None) -> Operand:
    """The real spectrum of a signal that is Hermitian in its last dimension."""
    sizes, dims = _lengths(input, s, dim)
    for n, d in zip(sizes[:-1], dims[:-1], strict=True):
        input = fft(input, n, d, norm)
    return hfft(input, sizes[-1], dims[-1], norm)


def ihfftn(input: Operand, s: object = None, dim: AxisLike = None, norm: str | None = None) -> Operand:
    """The inverse of `hfftn`."""
    sizes, dims = _lengths(input, s, dim)
    found = ihfft(input, sizes[-1], dims[-1], norm)
    for n, d in zip(sizes[:-1], dims[:-1], strict=True):
        found = ifft(found, n, d, norm)
    return found


def hfft2(input: Operand, s: object = None, dim: AxisLike = (-2, -1), norm: str | None = None) -> Operand:
    """`hfftn` of two dimensions."""
    return hfftn(input, s, dim, norm)


def ihfft2(input: Operand, s: object = None, dim: AxisLike = (-2, -1), norm: str | None = None) -> Operand:
    """`ihfftn` of two dimensions."""
    return ihfftn(input, s, dim, norm)


take_out(globals(), __all__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
