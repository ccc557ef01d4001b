"""`jax.lax.fft`: the four transforms under one name."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from funcgrad.numpy import fft as transforms
from funcgrad.types import Array, ArrayLike

__all__ = ["FftType", "fft"]


class FftType(enum.IntEnum):
    """Which transform.

    >>> fg.lax.FftType.RFFT.name
    'RFFT'
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: ArrayLike, fft_type: FftType | int | str, fft_lengths: Sequence[int]) -> Array:
    """The Fourier transform along the last axes, as many as there are lengths.

    >>> print(fg.lax.fft(np.ones(4), "RFFT", (4,)))
    [4.+0.j 0.+0.j 0.+0.j]
    """
    kind = FftType[fft_type.upper()] if isinstance(fft_type, str) else FftType(fft_type)
    lengths = tuple(fft_lengths)
    function = getattr(transforms, kind.name.lower() + "n")
    return function(x, lengths, tuple(range(-len(lengths), 0)))
