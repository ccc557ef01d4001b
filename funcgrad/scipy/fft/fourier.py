"""Fourier transforms with SciPy's signatures: SciPy's, or on traced arrays those of `fg.numpy.fft`.

`overwrite_x`, `workers` and `plan` say how SciPy computes; on traced arrays they mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from funcgrad.numpy import fft as ours
from funcgrad.numpy.dispatch import unsupported
from funcgrad.numpy.fft import fftshift, ifftshift
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.originals import originals_of
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, AxisLike, Number, ShapeLike

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def frequencies(name: str, n: int, d: Number, xp: ModuleType | None, device: str | None) -> Array:
    """SciPy's frequencies, or those of `fg.numpy.fft` for a traced distance of samples."""
    if recorder_of([asoperand(d)]) is None:
        return originals_of("fft")(name)(n, d, xp=xp, device=device)
    if xp not in (None, np) or device is not None:
        raise unsupported(f"scipy.fft.{name} with xp= or device=")
    return getattr(ours, name)(n, d)


def fftfreq(n: int, d: Number = 1.0, *, xp: ModuleType | None = None, device: str | None = None) -> Array:
    """The frequencies of a Fourier transform of `n` samples that are `d` apart.

    >>> print(fg.scipy.fft.fftfreq(4, 0.5))
    [ 0.   0.5 -1.  -0.5]
    """
    return frequencies("fftfreq", n, d, xp, device)


def rfftfreq(n: int, d: Number = 1.0, *, xp: ModuleType | None = None, device: str | None = None) -> Array:
    """The frequencies of a Fourier transform of `n` real samples that are `d` apart.

    >>> print(fg.scipy.fft.rfftfreq(4, 0.5))
    [0.  0.5 1. ]
    """
    return frequencies("rfftfreq", n, d, xp, device)


Transform = Callable[..., Any]


scipys = originals_of("fft")
"""SciPy's functions and classes by name."""


def traced_array(x: ArrayLike) -> Array:
    """The operand as an array if it is traced, else None."""
    value = asoperand(x)
    if recorder_of([value]) is None:
        return None
    return value if isinstance(value, Tracer) else np.asarray(value)


def line(name: str, example: str) -> Transform:
    """A transform along one axis."""
    transform = getattr(ours, name)

    def function(
        x: Array,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: object = None,
    ) -> Array:
        value = traced_array(x)
        if value is None:
            return scipys(name)(x, n, axis, norm, overwrite_x, workers, plan=plan)
        return transform(value, n, axis, norm)

    return described(function, name, example)


def several(name: str, example: str, axes_of_all: bool) -> Transform:
    """A transform along several axes: all of them, or the last two."""
    transform = getattr(ours, name)
    usual = None if axes_of_all else (-2, -1)

    def function(
        x: Array,
        s: ShapeLike = None,
        axes: AxisLike = usual,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: object = None,
    ) -> Array:
        value = traced_array(x)
        if value is None:
            return scipys(name)(x, s, axes, norm, overwrite_x, workers, plan=plan)
        if s is not None and axes is None:  # NumPy leaves this to the future; SciPy means the last ones
            axes = tuple(range(-len(s), 0))
        rank = aval_of(value).ndim
        if axes is not None and len({a % rank for a in axes}) < len(tuple(axes)):
            raise ValueError("all axes must be unique")
        return transform(value, s, axes, norm)

    return described(function, name, example)


def described(function: Transform, name: str, example: str) -> Transform:
    """The function under its name, with a docstring."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"`scipy.fft.{name}`, with derivatives; see `fg.numpy.fft.{name}`.\n\n{example}"
    return function


def shown(call: str, result: str) -> str:
    """An example, indented as in a docstring."""
    return f"    >>> print({call})\n    {result}\n    "


VECTOR = "np.array([1.0, 2.0, 0.0, 1.0])"

fft = line("fft", shown(f"fg.scipy.fft.fft({VECTOR}).real", "[ 4.  1. -2.  1.]"))
ifft = line("ifft", shown(f"fg.scipy.fft.ifft({VECTOR}).real", "[ 1.    0.25 -0.5   0.25]"))
rfft = line("rfft", shown(f"fg.scipy.fft.rfft({VECTOR}).real", "[ 4.  1. -2.]"))
irfft = line("irfft", shown("fg.scipy.fft.irfft(np.array([4.0, 1.0, -2.0]))", "[1.  1.5 0.  1.5]"))
hfft = line("hfft", shown("fg.scipy.fft.hfft(np.array([1.0, 0.5, 0.0]))", "[2. 1. 0. 1.]"))
ihfft = line("ihfft", shown(f"fg.scipy.fft.ihfft({VECTOR}).real", "[ 1.    0.25 -0.5 ]"))
fft2 = several("fft2", shown("fg.scipy.fft.fft2(np.eye(2)).real", "[[2. 0.]\n     [0. 2.]]"), False)
ifft2 = several("ifft2", shown("fg.scipy.fft.ifft2(np.eye(2)).real", "[[0.5 0. ]\n     [0.  0.5]]"), False)
rfft2 = several("rfft2", shown("fg.scipy.fft.rfft2(np.eye(2)).real", "[[2. 0.]\n     [0. 2.]]"), False)
irfft2 = several("irfft2", shown("fg.scipy.fft.irfft2(np.eye(2))", "[[0.5 0. ]\n     [0.  0.5]]"), False)
fftn = several("fftn", shown("fg.scipy.fft.fftn(np.eye(2)).real", "[[2. 0.]\n     [0. 2.]]"), True)
ifftn = several("ifftn", shown("fg.scipy.fft.ifftn(np.eye(2)).real", "[[0.5 0. ]\n     [0.  0.5]]"), True)
rfftn = several("rfftn", shown("fg.scipy.fft.rfftn(np.eye(2)).real", "[[2. 0.]\n     [0. 2.]]"), True)
irfftn = several("irfftn", shown("fg.scipy.fft.irfftn(np.eye(2))", "[[0.5 0. ]\n     [0.  0.5]]"), True)
