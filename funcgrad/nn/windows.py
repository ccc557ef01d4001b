"""What convolutions and pooling are told about windows: strides, dilation and padding for each axis."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.signal.convolution_plan import Ints, Pairs, dilated
from funcgrad.types import Padding, ShapeLike


def per_axis(given: ShapeLike, ndim: int, what: str) -> Ints:
    """An int for each of `ndim` axes, from one int or a sequence.

    >>> per_axis(2, 3, "strides"), per_axis([1, 2], 2, "strides")
    ((2, 2, 2), (1, 2))
    """
    if isinstance(given, Sequence):
        found = tuple([operator.index(n) for n in given])
        if len(found) != ndim:
            raise refused(f"{what} {found} has {len(found)} entries for {ndim} spatial axes")
    else:
        found = (operator.index(given),) * ndim
    if any(n < 1 for n in found):
        raise refused(f"{what} {found} must be at least 1")
    return found


def pairs(padding: Padding, sizes: Ints, window: Ints, strides: Ints, dilation: Ints) -> Pairs:
    """Padding before and after each spatial axis.

    ``"valid"`` is none; ``"same"`` gives ``ceil(size / stride)`` windows, with the odd zero at the end.
    Otherwise an int for all axes, or for each axis an int or a pair.

    >>> pairs("same", (28, 5), (3, 2), (1, 1), (1, 1)), pairs([1, (0, 2)], (5, 5), (3, 3), (1, 1), (1, 1))
    (((1, 1), (0, 1)), ((1, 1), (0, 2)))
    """
    if isinstance(padding, str):
        if padding.lower() == "valid":
            return ((0, 0),) * len(sizes)
        if padding.lower() != "same":
            raise refused(f"padding must be 'same', 'valid' or numbers, got {padding!r}")
        return tuple(
            [
                same(max(0, (-(-n // s) - 1) * s + dilated(k, d) - n))
                for n, k, s, d in zip(sizes, window, strides, dilation, strict=True)
            ]
        )
    entries = list(padding) if isinstance(padding, Sequence) else [padding] * len(sizes)
    if len(entries) != len(sizes):
        raise refused(f"padding {padding} has {len(entries)} entries for {len(sizes)} spatial axes")
    return tuple([pair(entry) for entry in entries])


def same(total: int) -> tuple[int, int]:
    """A total of padding as before and after."""
    return total // 2, total - total // 2


def pair(entry: Padding) -> tuple[int, int]:
    """One axis's padding: an int is the same on both sides."""
    if isinstance(entry, Sequence):
        before, after = entry
        return operator.index(before), operator.index(after)
    return operator.index(entry), operator.index(entry)
