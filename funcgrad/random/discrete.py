"""Samples of discrete distributions, random orders and choices: counts and choices have no derivatives."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.numpy.picking.positions import take
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.ops.arrays.sorting import ArgSort, SearchSorted, TakeAlongAxis
from funcgrad.ops.arrays.structure import aval, broadcast_to, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, mul, sub
from funcgrad.ops.elementwise.comparison import greater, less
from funcgrad.ops.elementwise.rounding import remainder
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.random.draws import SampledCumSum, sampled_add, sampled_log
from funcgrad.ops.random.random_words import WORD
from funcgrad.ops.random.rejection import RandomBinomial, RandomPoisson
from funcgrad.ops.reducing.extremes import minimum
from funcgrad.random.continuous import gumbel, parameter, standard_uniform
from funcgrad.random.keys import checked, shape_argument, shape_for, words_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, DTypeLike, Number, ShapeLike

__all__ = [
    "bernoulli",
    "binomial",
    "categorical",
    "choice",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
]

FLOAT = np.dtype(np.float64)

# -- numbers ------------------------------------------------------------------------------------------------


def randint(
    key: ArrayLike, shape: ShapeLike, minval: ArrayLike, maxval: ArrayLike, dtype: DTypeLike = np.int64
) -> Array:
    """Whole numbers from `minval` up to, not including, `maxval`.

    Each is likelier than another by no more than the range over 2**64.

    >>> x = fg.random.randint(fg.random.key(0), (100,), -3, 4)
    >>> print(x.min(), x.max())
    -3 3
    """
    kind: np.dtype[Any] = np.dtype(dtype)
    low, high = asoperand(minval), asoperand(maxval)
    if kind.kind not in "iu" or any(aval(x).dtype.kind not in "iu" for x in (low, high)):
        raise refused("randint: bounds and samples are whole numbers")
    known = all(isinstance(x, int) for x in (minval, maxval))
    if known and minval >= maxval:
        raise refused(f"randint: the range from {minval} up to {maxval} is empty")
    words = words_of(key, shape_for(shape, low, high))
    # The subtraction and the addition wrap around, so that the whole range of 64 bits can be asked for.
    start = np.uint64(minval & (2**64 - 1)) if known else cast(low, WORD)
    end = np.uint64(maxval & (2**64 - 1)) if known else cast(high, WORD)
    if known:
        width = np.uint64((maxval - minval) & (2**64 - 1))
        found = remainder(words, width) if width else words
    else:
        found = remainder(words, sub(end, start))
    return cast(add(found, start), kind)


def rademacher(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = np.int64) -> Array:
    """1 or -1, equally likely.

    >>> sorted(set(fg.random.rademacher(fg.random.key(0), (50,)).tolist()))
    [-1, 1]
    """
    signs = cast(words_of(key, shape_argument(shape)) >> np.uint64(63), np.int64)
    return cast(sub(1, mul(signs, 2)), dtype)


def bernoulli(key: ArrayLike, p: ArrayLike = 0.5, shape: ShapeLike = None) -> Array:
    """True with probability `p`.

    >>> fg.random.bernoulli(fg.random.key(0), 0.5, (3,)).dtype
    dtype('bool')
    """
    chance = parameter(p, FLOAT)
    return less(standard_uniform(key, shape_for(shape, chance), FLOAT), chance)


def binomial(
    key: ArrayLike, n: Number, p: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = np.int64
) -> Array:
    """How many of `n` trials succeed, each with probability `p`.

    >>> x = fg.random.binomial(fg.random.key(0), 10, 0.5, (100,))
    >>> bool(np.all((0 <= x) & (x <= 10)))
    True
    """
    trials, chance = parameter(n, FLOAT), parameter(p, FLOAT)
    full = shape_for(shape, trials, chance)
    drawn = RandomBinomial().bind(checked(key), broadcast_to(trials, full), broadcast_to(chance, full))
    return cast(drawn, dtype)


def poisson(key: ArrayLike, lam: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = np.int64) -> Array:
    """How many events happen, of which `lam` happen on average.

    >>> bool(fg.random.poisson(fg.random.key(0), 3.0) >= 0)
    True
    """
    mean = parameter(lam, FLOAT)
    return cast(RandomPoisson().bind(checked(key), broadcast_to(mean, shape_for(shape, mean))), dtype)


def categorical(key: ArrayLike, logits: ArrayLike, axis: int = -1, shape: ShapeLike = None) -> Array:
    """The number of a category, whose probabilities have these logarithms but for a constant.

    `shape` is that of the samples; that of `logits` without `axis` must broadcast to it.

    >>> int(fg.random.categorical(fg.random.key(0), np.array([-np.inf, 0.0, -np.inf])))
    1
    """
    scores = parameter(logits, FLOAT)
    axis = normalized_axis(axis, len(shape_of(scores)))
    scores = np.moveaxis(scores, axis, -1)
    count, batch = shape_of(scores)[-1], shape_of(scores)[:-1]
    full = shape_for(shape, np.empty(batch))
    # The largest of the logarithms, each with noise of its own, is that of a category with its probability.
    return np.argmax(sampled_add(gumbel(key, (*full, count)), scores), axis=-1)


# -- orders and choices -------------------------------------------------------------------------------------


def permutation(key: ArrayLike, x: ArrayLike, axis: int = 0, independent: bool = False) -> Array:
    """The elements along an axis in random order, or the numbers below `x` where that is one number.

    With ``independent`` every line along the axis has an order of its own.

    >>> print(np.sort(fg.random.permutation(fg.random.key(0), 4)))
    [0 1 2 3]
    """
    items = asoperand(x)
    if not shape_of(items):
        items = np.arange(operator.index(x))
    axis = normalized_axis(axis, len(shape_of(items)))
    shape = shape_of(items)
    if independent:
        return TakeAlongAxis(axis, True).bind(items, ArgSort(axis).bind(words_of(key, shape)))
    return take(items, ArgSort(0).bind(words_of(key, (shape[axis],))), axis=axis)


def choice(
    key: ArrayLike,
    a: ArrayLike,
    shape: ShapeLike = (),
    replace: bool = True,
    p: ArrayLike = None,
    axis: int = 0,
) -> Array:
    """Elements along an axis (or numbers below `a`), with or without repetitions, with probabilities `p`.

    >>> x = fg.random.choice(fg.random.key(0), np.array([2.0, 3.0, 5.0]), (10,), p=[0.5, 0.0, 0.5])
    >>> sorted(set(x.tolist()))
    [2.0, 5.0]
    """
    items = asoperand(a)
    if not shape_of(items):
        items = np.arange(operator.index(a))
    axis = normalized_axis(axis, len(shape_of(items)))
    count, full = shape_of(items)[axis], shape_argument(shape)
    size = int(np.prod(full, dtype=int))
    if not count and size:
        raise refused("choice: there is nothing to choose from")
    if not replace and size > count:
        raise refused(f"choice: {size} of {count} without repetitions")
    places = reshape(places_of(key, count, size, replace, p), full)
    return take(items, places, axis=axis)


def places_of(key: ArrayLike, count: int, size: int, replace: bool, p: ArrayLike) -> Array:
    """The positions that `choice` takes."""
    if p is None:
        if replace:
            return randint(key, (size,), 0, max(count, 1))
        return ArgSort(0).bind(words_of(key, (count,)))[:size]
    chances = parameter(p, FLOAT)
    if shape_of(chances) != (count,):
        raise refused(f"choice: {shape_of(chances)} probabilities for {count} elements")
    if not replace:
        # The largest sums of a logarithm and noise come in the order of drawing without putting back.
        possible = greater(chances, 0.0)
        logits = where(possible, sampled_log(where(possible, chances, 1.0)), -np.inf)
        scores = sampled_add(logits, gumbel(key, (count,)))
        return ArgSort(0).bind(mul(scores, -1.0))[:size]
    total = SampledCumSum(0, False).bind(chances)
    u = mul(standard_uniform(key, (size,), FLOAT), total[count - 1])
    return minimum(SearchSorted("right").bind(total, u), count - 1)
