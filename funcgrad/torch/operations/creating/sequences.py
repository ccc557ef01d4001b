"""PyTorch's sequences of random numbers: the words of a Mersenne Twister, and how numbers are made of them.

A seed gives the numbers that PyTorch's generator of the CPU gives for it, to the rounding of logarithms and
cosines. How many words a number takes, and in which order they are used, is PyTorch's as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Kind: TypeAlias = np.dtype[Any]
Shape: TypeAlias = tuple[int, ...]

_LOW24 = np.uint64((1 << 24) - 1)
_LOW53 = np.uint64((1 << 53) - 1)
_MANY = 64
"""So many words at least are drawn at once for numbers that take as many words as they need."""

_FEW = 400
"""Below so many swaps, one after the other is faster than all at once."""


class Words:
    """Words of 32 bits from a seed, and numbers of given distributions made of them.

    >>> Words(0).uniform((2,), np.dtype(np.float32)).round(4)
    array([0.4963, 0.7682], dtype=float32)
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.MT19937(0)
        self._bits._legacy_seeding(int(seed) & 0xFFFFFFFF)
        self.drawn = False
        """Whether a word has been drawn."""
        self.kept: float | None = None
        """The second normal number of a pair, which the next draw of a single one gives."""

    @property
    def state(self) -> tuple[Array, int, float | None]:
        """The block of words, the position in it, and the normal number that is kept."""
        found = cast("dict[str, Any]", self._bits.state)["state"]
        return found["key"].copy(), int(found["pos"]), self.kept

    @state.setter
    def state(self, state: tuple[Array, int, float | None]) -> None:
        key, position, self.kept = state
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}

    def words(self, count: int) -> Array:
        """So many words, as `uint64`."""
        self.drawn = self.drawn or count > 0
        return np.asarray(self._bits.random_raw(count), np.uint64)

    def doubled(self, count: int) -> Array:
        """So many words of 64 bits."""
        drawn = self.words(2 * count)
        return np.asarray((drawn[::2] << np.uint64(32)) | drawn[1::2])

    def singles(self, count: int) -> Array:
        """Numbers in [0, 1) of 24 bits."""
        return np.asarray((self.words(count) & _LOW24).astype(np.float32) * np.float32(2.0**-24))

    def doubles(self, count: int) -> Array:
        """Numbers in [0, 1) of 53 bits."""
        return np.asarray((self.doubled(count) & _LOW53).astype(np.float64) * 2.0**-53)

    def uniform(self, shape: Shape, dtype: Kind, low: float = 0.0, high: float = 1.0) -> Array:
        """Uniformly distributed numbers of a floating or complex dtype."""
        count = math.prod(shape)
        if dtype.kind == "c":
            pairs = self.uniform((count, 2), _real(dtype), low, high)
            return np.asarray(pairs.view(dtype).reshape(shape))
        drawn = self.doubles(count) if dtype == np.float64 else self.singles(count)
        if low != 0.0 or high != 1.0:
            start = drawn.dtype.type(low)
            drawn = drawn * (drawn.dtype.type(high) - start) + start
        return np.asarray(drawn.astype(dtype, copy=False).reshape(shape))

    def normal(self, shape: Shape, dtype: Kind, *, contiguous: bool = True) -> Array:
        """Normally distributed numbers: sixteen at a time where there are as many, else in pairs."""
        count = math.prod(shape)
        if dtype.kind == "c":
            pairs = self.normal((count, 2), _real(dtype), contiguous=contiguous)
            return np.asarray((pairs * pairs.dtype.type(math.sqrt(0.5))).view(dtype).reshape(shape))
        if count < 16 or not contiguous:
            return self.normals(count).astype(dtype).reshape(shape)
        return self._by_sixteen(count, dtype).astype(dtype, copy=False).reshape(shape)

    def _by_sixteen(self, count: int, dtype: Kind) -> Array:
        draw = self.doubles if dtype == np.float64 else self.singles
        whole, left = divmod(count, 16)
        drawn = draw(16 * whole if dtype == np.float16 else count)
        found = np.empty(count, drawn.dtype)
        found[: 16 * whole] = _sixteens(drawn[: 16 * whole])
        if left:
            found[-16:] = _sixteens(draw(16))
        return found

    def normals(self, count: int) -> Array:
        """Normally distributed numbers in double precision, drawn in pairs; the odd one is kept."""
        found = np.empty(count)
        if not count:
            return found
        start = 0
        if self.kept is not None:
            found[0], self.kept, start = self.kept, None, 1
        pairs = (count - start + 1) // 2
        uniform = self.doubles(2 * pairs)
        radius = np.sqrt(-2.0 * np.log1p(-uniform[1::2]))
        angle = 2.0 * math.pi * uniform[::2]
        both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
        found[start:] = both[: count - start]
        if both.size > count - start:
            self.kept = float(both[-1])
        return found

    def integers(self, low: int, high: int, shape: Shape) -> Array:
        """Integers from `low` to below `high`."""
        count, span = math.prod(shape), high - low
        drawn = self.doubled(count) if span >= 1 << 28 else self.words(count)
        return np.asarray(((drawn % np.uint64(span)).view(np.int64) + low).reshape(shape))

    def full_range(self, shape: Shape, dtype: Kind) -> Array:
        """Numbers from 0 to the largest integer that the dtype holds, with all below it."""
        count = math.prod(shape)
        if dtype.kind == "b":
            return (self.words(count) & np.uint64(1)).astype(bool).reshape(shape)
        if dtype.kind == "f":
            span = (1 << {2: 11, 4: 24, 8: 53}[dtype.itemsize]) + 1
        else:
            span = int(np.iinfo(dtype).max) + 1
        drawn = self.doubled(count) if dtype.itemsize == 8 else self.words(count)
        return (drawn % np.uint64(span)).astype(dtype).reshape(shape)

    def permutation(self, count: int) -> Array:
        """The integers below `count` in random order: each place swaps with one that is drawn after it."""
        if count < 2:
            return np.arange(count)
        places = np.arange(count)
        partners = places.copy()
        drawn = self.words(count - 1) % np.arange(count, 1, -1, dtype=np.uint64)
        partners[:-1] += drawn.view(np.int64)
        return _swapped(partners) if count < _FEW else _all_swapped(places, partners)

    def exponential(self, rate: float, shape: Shape) -> Array:
        """Exponentially distributed numbers in double precision."""
        return np.asarray(-1.0 / rate * np.log1p(-self.doubles(math.prod(shape)))).reshape(shape)

    def geometric(self, p: float, shape: Shape) -> Array:
        """Geometrically distributed numbers: the number of trials."""
        with np.errstate(divide="ignore"):
            trials = np.ceil(np.log(self.doubles(math.prod(shape))) / math.log1p(-p))
        return np.asarray(trials.reshape(shape))

    def cauchy(self, median: float, sigma: float, shape: Shape) -> Array:
        """Cauchy distributed numbers."""
        drawn = self.doubles(math.prod(shape))
        return np.asarray(median + sigma * np.tan(math.pi * (drawn - 0.5))).reshape(shape)

    def chosen(self, weights: Array, count: int) -> Array:
        """Indices into the last axis of rows of weights, drawn with replacement."""
        rows, size = weights.shape
        found = np.empty((rows, count), np.int64)
        for k, row in enumerate(weights):
            sums = np.cumsum(row)
            sums /= sums[-1]
            sums[-1] = 1.0
            found[k] = np.searchsorted(sums, self.doubles(count), side="left")
        return found.clip(max=size - 1)

    def each(self, draw: Callable[..., float], *parameters: Array) -> Array:
        """`draw(source, a, ...)` for each element of the parameters, with as many words as each takes."""
        source = _OneByOne(self)
        flat = [p.reshape(-1).tolist() for p in parameters]
        found = [draw(source, *each) for each in zip(*flat, strict=True)]
        source.give_back()
        return np.asarray(found, np.float64).reshape(parameters[0].shape)

    def gamma(self, shape: Array) -> Array:
        """Gamma distributed numbers of these shapes and scale one."""
        return self.each(_gamma, shape)

    def poisson(self, rate: Array) -> Array:
        """Poisson distributed numbers."""
        return self.each(_poisson, rate)

    def binomial(self, count: Array, p: Array) -> Array:
        """Binomially distributed numbers."""
        return self.each(_binomial, count, p)


class _OneByOne:
    """Uniform and normal numbers one at a time; words drawn ahead are given back in the end."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._start = words.state
        self._ahead: list[float] = []
        self._used = self._drawn = 0

    def uniform(self) -> float:
        if self._used == self._drawn:
            more = max(_MANY, self._drawn)
            self._ahead += self._words.doubles(more).tolist()
            self._drawn += more
        self._used += 1
        return self._ahead[self._used - 1]

    def normal(self) -> float:
        kept = self._words.kept
        if kept is not None:
            self._words.kept = None
            return kept
        angle = 2.0 * math.pi * self.uniform()
        radius = math.sqrt(-2.0 * math.log1p(-self.uniform()))
        self._words.kept = radius * math.sin(angle)
        return radius * math.cos(angle)

    def give_back(self) -> None:
        key, position, _ = self._start
        self._words.state = key, position, self._words.kept
        self._words.words(2 * self._used)


def _real(dtype: Kind) -> Kind:
    return np.dtype(np.float64 if dtype == np.complex128 else np.float32)


def _sixteens(uniform: Array) -> Array:
    """Box and Muller's transform: of each sixteen numbers, eight are radii and eight are angles."""
    kind = uniform.dtype.type
    first, second = uniform.reshape(-1, 2, 8).swapaxes(0, 1)
    radius = np.sqrt(kind(-2.0) * np.log(kind(1.0) - first))
    angle = kind(2.0 * math.pi) * second
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


def _gamma(source: _OneByOne, shape: float) -> float:
    """Marsaglia and Tsang's method; of shapes below one by a power of a uniform number."""
    scale = 1.0
    if shape < 1.0:
        if shape == 0.0:
            return 0.0
        scale = (1.0 - source.uniform()) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        y = 0.0
        while y <= 0.0:
            x = source.normal()
            y = 1.0 + c * x
        v = y * y * y
        u = 1.0 - source.uniform()
        if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _poisson(source: _OneByOne, rate: float) -> float:
    """Products of uniform numbers at small rates, Hoermann's transformed rejection from 10 on."""
    if rate == 0.0:
        return 0.0
    if rate < 10.0:
        least, product, count = math.exp(-rate), source.uniform(), 0
        while product > least:
            product *= source.uniform()
            count += 1
        return float(count)
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_scale = math.log(1.1239 + 1.1328 / (b - 3.4))
    limit = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = source.uniform() - 0.5, source.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= limit:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + log_scale - math.log(a / (us * us) + b) <= -rate + k * log_rate - math.lgamma(k + 1):
            return float(k)


def _binomial(source: _OneByOne, count: float, p: float) -> float:
    if count <= 0.0 or p <= 0.0:
        return 0.0
    if p >= 1.0:
        return count
    q = min(p, 1.0 - p)
    found = (_by_rejection if count * q >= 10.0 else _by_waiting)(source, count, q)
    return found if p <= 0.5 else count - found


def _by_waiting(source: _OneByOne, count: float, p: float) -> float:
    """Sums of geometrically distributed waiting times."""
    waited, found, log_miss = 0.0, 0, math.log1p(-p)
    while True:
        waited += math.ceil(math.log(source.uniform()) / log_miss)
        if waited > count:
            return float(found)
        found += 1


_STIRLING = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def _stirling_rest(k: float) -> float:
    """What Stirling's formula leaves of the logarithm of a factorial."""
    if k <= 9:
        return _STIRLING[int(k)]
    square = (k + 1) ** 2
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _by_rejection(source: _OneByOne, count: float, p: float) -> float:
    """Hoermann's transformed rejection with squeeze (1993)."""
    spread = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = count * p + 0.5
    limit = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * spread
    mode = math.floor((count + 1) * p)
    while True:
        u, v = source.uniform() - 0.5, source.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= limit:
            return float(k)
        if k < 0 or k > count:
            continue
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _stirling_rest(mode)
            + _stirling_rest(count - mode)
            - _stirling_rest(k)
            - _stirling_rest(count - k)
        )
        if math.log(v * alpha / (a / (us * us) + b)) <= bound:
            return float(k)


def _swapped(partners: Array) -> Array:
    """The order that swapping every place with its partner leaves, one after the other."""
    order = list(range(len(partners)))
    for k, partner in enumerate(partners.tolist()):
        order[k], order[partner] = order[partner], order[k]
    return np.asarray(order, np.int64)


def _all_swapped(places: Array, partners: Array) -> Array:
    """The same, all at once.

    When a place has its turn it holds what the last swap that chose it brought, which is what the place of
    that swap held: chains, followed for all places together. It then takes what its partner holds, brought
    by the last swap before that chose the same partner.
    """
    held = places.copy()
    chosen = partners != places
    held[partners[chosen]] = places[chosen]
    while not np.array_equal(further := held[held], held):
        held = further
    bits = len(places).bit_length()
    by_partner = np.sort(partners << bits | places)
    swaps, partner = by_partner & ((1 << bits) - 1), by_partner >> bits
    again = partner[1:] == partner[:-1]
    order = partners.copy()
    order[swaps[1:][again]] = held[swaps[:-1][again]]
    return order
