"""Keys: where random numbers come from, and how one key makes others.

A key is an array of two words of 64 bits, so it can be traced, batched and carried through loops. The same
key always gives the same numbers; independent ones come of keys made by `split` or `fold_in`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Shape
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.movement import stack
from funcgrad.ops.arrays.structure import aval, reshape, shape_of
from funcgrad.ops.arrays.structure import cast as cast_to
from funcgrad.ops.elementwise.comparison import less
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.random.random_words import FOLDS, SAMPLES, SPLITS, WORD, RandomBits
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, DTypeLike, ShapeLike

__all__ = [
    "PRNGKey",
    "bits",
    "clone",
    "fold_in",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "split",
    "wrap_key_data",
]

FIRST = np.uint64(0)
MASK = (1 << 64) - 1
IMPLEMENTATION = "philox4x64"


def key(seed: ArrayLike) -> Array:
    """The key of a seed: any Python integer, of which 128 bits count, or a number of an integer dtype.

    >>> print(key(7))
    [7 0]
    """
    if isinstance(seed, int) and not isinstance(seed, bool):
        return np.array([seed & MASK, seed >> 64 & MASK], WORD)
    x = asoperand(seed)
    if shape_of(x) or aval(x).dtype.kind not in "iu":
        raise refused(
            f"a seed is one integer, got {aval(x)}", "For several keys use fg.random.split(key, n)."
        )
    low = cast_to(x, WORD)
    # Negative numbers continue to the left as they do in Python.
    high = where(less(x, 0), np.uint64(MASK), np.uint64(0)) if aval(x).dtype.kind == "i" else np.uint64(0)
    return stack([low, high], 0)


def PRNGKey(seed: ArrayLike) -> Array:
    """The same as `key`: there is one kind of keys.

    >>> bool((fg.random.PRNGKey(3) == fg.random.key(3)).all())
    True
    """
    return key(seed)


def split(key: ArrayLike, num: int | tuple[int, ...] = 2) -> Array:
    """New keys, `num` of them along first axes, independent of each other and of what the old one draws.

    >>> first, second = split(key(0))
    >>> split(key(0), (3, 2)).shape
    (3, 2, 2)
    """
    shape = shape_argument(num)
    words = RandomBits((math.prod(shape), 4), SPLITS).bind(checked(key), FIRST)
    return reshape(words[:, :2], (*shape, 2))


def fold_in(key: ArrayLike, data: ArrayLike) -> Array:
    """A new key that depends on the old one and on an integer, such as the number of a step.

    >>> bool(np.all(fold_in(key(0), 1) == fold_in(key(0), 2)))
    False
    """
    number = data & MASK if isinstance(data, int) else asoperand(data)
    if shape_of(number):
        raise refused(f"fold_in takes one integer, got {aval(number)}", "Use fg.vmap for several.")
    if type(number) is not int and aval(number).dtype.kind not in "iu":
        raise refused(f"fold_in takes an integer, got {aval(number)}")
    start = np.uint64(number) if type(number) is int else cast_to(number, WORD)
    return RandomBits((2,), FOLDS).bind(checked(key), start)


def bits(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = np.uint64) -> Array:
    """Random bits as unsigned integers.

    >>> bits(key(0), (2,), np.uint8).dtype
    dtype('uint8')
    """
    wanted = np.dtype(dtype)
    if wanted.kind != "u":
        raise refused(f"random bits are unsigned integers, not {wanted}")
    words = words_of(key, shape_argument(shape))
    unused = 64 - 8 * wanted.itemsize
    return cast_to(words >> np.uint64(unused), wanted) if unused else words


def words_of(key: ArrayLike, shape: Shape) -> Array:
    """Words of 64 random bits."""
    return RandomBits(shape, SAMPLES).bind(checked(key), FIRST)


# -- what keys are -------------------------------------------------------------------------------------------


def key_data(keys: ArrayLike) -> Array:
    """The words of keys, which are the keys themselves.

    >>> print(key_data(key(7)))
    [7 0]
    """
    found = asoperand(keys)
    if aval(found).dtype != WORD or shape_of(found)[-1:] != (2,):
        raise refused(f"keys are pairs of uint64, got {aval(found)}")
    return found


def wrap_key_data(key_bits_array: ArrayLike, *, impl: ArrayLike = None) -> Array:
    """Words as keys: pairs of uint64 along the last axis.

    >>> print(wrap_key_data(key_data(key(7))))
    [7 0]
    """
    if impl not in (None, IMPLEMENTATION):
        raise refused(f"there is one kind of keys, {IMPLEMENTATION!r}, and none of {impl!r}")
    return key_data(key_bits_array)


def key_impl(keys: ArrayLike) -> str:
    """The name of the generator.

    >>> key_impl(key(7))
    'philox4x64'
    """
    key_data(keys)
    return IMPLEMENTATION


def key_dtype(impl_spec: ArrayLike = None) -> np.dtype[Any]:
    """The dtype of keys.

    >>> key_dtype()
    dtype('uint64')
    """
    if impl_spec not in (None, IMPLEMENTATION):
        raise refused(f"there is one kind of keys, {IMPLEMENTATION!r}, and none of {impl_spec!r}")
    return WORD


def clone(key: ArrayLike) -> Array:
    """The same key, for programs that say where they use one again.

    >>> print(clone(key(7)))
    [7 0]
    """
    return key_data(key)


# -- arguments ----------------------------------------------------------------------------------------------


def checked(key: ArrayLike) -> Array:
    """The key as an operand; raises for what is no key, and for several."""
    x = key if type(key) is Tracer else np.asarray(key)
    seen = aval(x)
    if seen.dtype != WORD or seen.shape != (2,):
        raise ShapeError(
            f"a key is an array of two uint64, got {seen}",
            remedy="Make keys with fg.random.key(seed) and split(key); with several keys use fg.vmap.",
        )
    return x


def shape_argument(shape: ShapeLike) -> Shape:
    """A shape given as a number or as several."""
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    found = tuple([operator.index(n) for n in sizes])
    if any(n < 0 for n in found):
        raise refused(f"sizes cannot be negative: {found}")
    return found


def shape_for(shape: ShapeLike, *parameters: ArrayLike) -> Shape:
    """The shape of samples: what is asked for, to which parameters must broadcast, or theirs."""
    common = np.broadcast_shapes(*[shape_of(x) for x in parameters])
    if shape is None:
        return common
    wanted = shape_argument(shape)
    try:
        fits = np.broadcast_shapes(wanted, common) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise refused(f"parameters of shape {common} do not broadcast to samples of shape {wanted}")
    return wanted


def float_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype of real numbers."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found.kind != "f":
        raise refused(f"samples of this distribution are real numbers, not {found}")
    return found
