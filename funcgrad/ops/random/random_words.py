"""Random words, and uniform and normal numbers made of them, as functions of a key and nothing else.

The generator is Philox4x64-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
2011), a cipher that turns a counter into four words of 64 bits. A key is two words. NumPy's C implementation
evaluates it; the counter's highest word says what the words are for, so that keys made of a key, and samples
drawn with it, share none.

Keys may have axes before their last one: every key then draws for itself, as under ``vmap``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.structure import broadcast, shape_of
from funcgrad.ops.random import philox
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import Draw, ErrorSample, Sample, fixed, integers, normal
from funcgrad.types import Anything, Array

WORD = np.dtype(np.uint64)
SAMPLES, SPLITS, FOLDS = 0, 1, 2
"""What the highest word of the counter is for samples, for keys split off, and for numbers folded in."""

BLOCK = 1 << 13
"""How many words are made into numbers at a time: as many as stay in the cache."""

DIGITS = {np.dtype(np.float16): 11, np.dtype(np.float32): 24, np.dtype(np.float64): 53}
"""Binary digits of the mantissa."""


def generator(key: Array, start: int = 0, stream: int = SAMPLES) -> np.random.Philox:
    """NumPy's Philox before its first block, which is number `start` of the stream."""
    # NumPy counts before it makes a block.
    before = (start + (stream << 192) - 1) % (1 << 256)
    counter = [(before >> shift) & 0xFFFFFFFFFFFFFFFF for shift in (0, 64, 128, 192)]
    return np.random.Philox(counter=np.array(counter, WORD), key=np.array(key, WORD))


FEW_WORDS, MANY_KEYS = 256, 4
"""With no more words for each key, it pays to encipher the counters of this many keys together."""


def is_many(keys: Array, count: int) -> bool:
    """Whether many keys make few words each."""
    return bool(keys.size >= 2 * MANY_KEYS and 0 < count <= FEW_WORDS)


class Drawn(Primitive):
    """A draw with a key. A concrete class says what one key draws."""

    kinds: ClassVar[str] = "f"

    def check_key(self, key: Aval, *others: Aval) -> Shape:
        """The axes before the key's own; raises for what is no key, and for inputs without these axes."""
        if key.dtype != WORD or key.shape[-1:] != (2,):
            raise DtypeError(f"{self.name}: a key is two words of dtype uint64, got {key}")
        prefix = key.shape[:-1]
        for x in others:
            if x.shape[: len(prefix)] != prefix:
                raise ShapeError(f"{self.name}: {x} does not start with the axes of the keys {key}")
        return prefix

    def drawn(self, key: Array, *parameters: Array) -> Array:
        """What one key draws."""
        raise NotImplementedError(f"{self.name}: drawn")

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return 50.0 * outputs[0].size

    def evaluate(self, *values: Array) -> Array:
        keys, *rest = values
        prefix = keys.shape[:-1]
        if not prefix:
            return self.drawn(keys, *rest)
        drawn = [self.drawn(keys[k], *[x[k] for x in rest]) for k in np.ndindex(prefix)]
        if not drawn:
            return np.zeros(self.infer(*[Aval(x.shape, x.dtype) for x in values]).shape)
        return np.reshape(np.stack(drawn), (*prefix, *np.shape(drawn[0])))

    def infer(self, *avals: Aval) -> Aval:
        raise NotImplementedError(f"{self.name}: infer")

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        # The path from parameters to samples has jumps, where proposals are rejected. Where samples have
        # derivatives, `fg.random` says them by rules of its own.
        return self.bind(*primals), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        full = [
            x if flag else broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
            for x, flag in zip(inputs, batched, strict=True)
        ]
        return self.bind(*full), True

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = cls.samples()[0].params
        rest = cls.samples()[0].inputs[1:]
        return (ErrorSample(normal(2), *rest, params=params, words="a key is two words", error=DtypeError),)


def some_key(*shape: int) -> Draw:
    """Keys for samples."""
    return integers(0, 1 << 62, *shape, 2, dtype=WORD)


class RandomBits(Drawn):
    """Words of 64 random bits, from block number `start` of a stream of the key."""

    name = "random_bits"
    parameters = ("shape", "stream")
    shape: Shape
    stream: int

    def infer(self, *avals: Aval) -> Aval:
        key, start = avals
        prefix = self.check_key(key, start)
        if start.dtype != WORD or start.shape != prefix:
            raise DtypeError(f"{self.name}: the first block is a number of dtype uint64, got {start}")
        return Aval((*prefix, *self.shape), WORD)

    def drawn(self, key: Array, *parameters: Array) -> Array:
        words = generator(key, int(parameters[0]), self.stream).random_raw(math.prod(self.shape))
        return words.reshape(self.shape)[()]

    def evaluate(self, *values: Array) -> Array:
        keys, start = values
        count = math.prod(self.shape)
        if not is_many(keys, count):
            return np.asarray(super().evaluate(*values), WORD)[()]
        found = philox.words(keys.reshape(-1, 2), np.reshape(start, -1), self.stream, count)
        return found.reshape((*keys.shape[:-1], *self.shape))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        zero = fixed(np.uint64(0))
        return (
            Sample(some_key(), zero, params={"shape": (3, 2), "stream": 0}, differentiable=False),
            Sample(
                some_key(),
                fixed(np.uint64((1 << 64) - 1)),
                params={"shape": (), "stream": 2},
                differentiable=False,
            ),
            Sample(
                some_key(2),
                fixed(np.array([3, 4], WORD)),
                params={"shape": (5,), "stream": 1},
                differentiable=False,
            ),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"shape": (3,), "stream": 0}
        zero = fixed(np.uint64(0))
        return (
            ErrorSample(normal(2), zero, params=params, words="a key is two words", error=DtypeError),
            ErrorSample(some_key(3), zero, params=params, words="axes of the keys", error=ShapeError),
            ErrorSample(some_key(), normal(), params=params, words="the first block", error=DtypeError),
        )


class Standard(Drawn):
    """Numbers of a standard distribution, block by block."""

    parameters = ("shape", "dtype")
    shape: Shape
    dtype: np.dtype[Any]

    def infer(self, *avals: Aval) -> Aval:
        prefix = self.check_key(*avals)
        if self.dtype not in DIGITS:
            raise DtypeError(f"{self.name} of dtype {self.dtype}: it must be float16, float32 or float64")
        return Aval((*prefix, *self.shape), self.dtype)

    def evaluate(self, *values: Array) -> Array:
        [keys] = values
        count = self.words_of(math.prod(self.shape))
        if not is_many(keys, count):
            return np.asarray(super().evaluate(keys), self.dtype)[()]
        flat = keys.reshape(-1, 2)
        found = self.of_rows(philox.words(flat, np.zeros(len(flat), WORD), SAMPLES, count))
        return found.reshape((*keys.shape[:-1], *self.shape))

    def words_of(self, count: int) -> int:
        """How many words that many numbers take."""
        return count if self.dtype == np.float64 else (count + 1) // 2

    def of_rows(self, words: Array) -> Array:
        """The numbers made of each row of words."""
        raise NotImplementedError(f"{self.name}: of_rows")

    @classmethod
    def samples(cls) -> Sequence[Any]:
        double, single, half = (np.dtype(t) for t in (np.float64, np.float32, np.float16))
        return (
            Sample(some_key(), params={"shape": (3, 5), "dtype": double}, differentiable=False),
            Sample(some_key(), params={"shape": (), "dtype": single}, differentiable=False),
            Sample(some_key(2), params={"shape": (4,), "dtype": half}, differentiable=False),
            Sample(some_key(), params={"shape": (0,), "dtype": double}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"shape": (), "dtype": np.dtype(np.int8)}
        return (
            *super().error_samples(),
            ErrorSample(some_key(), params=params, words="must be float16", error=DtypeError),
        )


class ByLoops(NamedTuple):
    """How kernels make a number of a uniform one, by NumPy's loops, with what is exact before and after them.

    In texts ``{uniform}`` is a number from 0 up to 1, ``{inner}`` one between 0 and 1, ``{symmetric}`` one
    between -1 and 1, ``{0}`` what the last loop gave, and numbers are named: ``{half}``, ``{one}``, ``{pi}``.
    """

    ufuncs: tuple[str, ...]
    before: str
    """What the first loop is given."""
    after: str
    """The sample."""
    between: str = "{0}"
    """What the next loop is given of the last one's results."""


class RandomUniform(Standard):
    """Numbers from 0 up to, not including, 1: all multiples of the precision are equally likely."""

    name = "random_uniform"
    by_loops: ClassVar[ByLoops | None] = None

    def drawn(self, key: Array, *parameters: Array) -> Array:
        out, source = np.empty(math.prod(self.shape), self.dtype), generator(key)
        with np.errstate(all="ignore"):
            for first in range(0, len(out), BLOCK):
                part = out[first : first + BLOCK]
                self.fill(part, source.random_raw(self.words_of(len(part))))
                self.mapped(part)
        return out.reshape(self.shape)

    def of_rows(self, words: Array) -> Array:
        out = np.empty((len(words), math.prod(self.shape)), self.dtype)
        self.fill(out, words)
        with np.errstate(all="ignore"):
            self.mapped(out)
        return out

    def mapped(self, u: Array) -> None:
        """Turn uniform numbers into those of another distribution, where they are."""

    @classmethod
    def samples(cls) -> Sequence[Any]:
        # The distributions made of it draw as it does, so one sample each is enough.
        return super().samples() if cls is RandomUniform else super().samples()[:1]

    def fill(self, out: Array, words: Array) -> None:
        """Make numbers of the words along the last axis."""
        digits = DIGITS[self.dtype]
        if self.dtype != np.float64:
            words = half_words(words)[..., : out.shape[-1]]
        out[...] = words >> (8 * words.itemsize - digits)
        np.multiply(out, self.dtype.type(0.5**digits), out=out)


class RandomExponential(RandomUniform):
    """Exponential numbers with mean 1."""

    name = "random_exponential"
    by_loops = ByLoops(("log1p",), "-({uniform})", "-{0}")

    def mapped(self, u: Array) -> None:
        np.negative(u, out=u)
        np.log1p(u, out=u)
        np.negative(u, out=u)


class OfInner(RandomUniform):
    """Distributions whose inverse distribution function is infinite at both ends."""

    def mapped(self, u: Array) -> None:
        np.maximum(u, smallest(self.dtype), out=u)
        self.inverted(u)

    def inverted(self, u: Array) -> None:
        """Apply the inverse distribution function to numbers between 0 and 1, where they are."""
        raise NotImplementedError(f"{self.name}: inverted")


def smallest(dtype: np.dtype[Any]) -> Array:
    """What stands for 0 among numbers between 0 and 1."""
    return dtype.type(0.5 ** (DIGITS[dtype] + 1))


class RandomGumbel(OfInner):
    """Gumbel numbers with location 0 and scale 1."""

    name = "random_gumbel"
    by_loops = ByLoops(("log", "log"), "{inner}", "-{0}", between="-{0}")

    def inverted(self, u: Array) -> None:
        for _ in range(2):
            np.log(u, out=u)
            np.negative(u, out=u)


class RandomLogistic(OfInner):
    """Logistic numbers with location 0 and scale 1."""

    name = "random_logistic"
    by_loops = ByLoops(("log",), "{inner} / ({one} - {inner})", "{0}")

    def inverted(self, u: Array) -> None:
        np.divide(u, 1 - u, out=u)
        np.log(u, out=u)


class RandomLaplace(OfInner):
    """Laplace numbers with location 0 and scale 1: exponential to both sides."""

    name = "random_laplace"
    by_loops = ByLoops(("log1p",), "-fabs({symmetric})", "copysign({0}, {symmetric})")

    def inverted(self, u: Array) -> None:
        np.multiply(u, 2, out=u)
        np.subtract(u, 1, out=u)
        size = np.abs(u)
        np.negative(size, out=size)
        np.log1p(size, out=size)
        np.copysign(size, u, out=u)


class RandomCauchy(OfInner):
    """Cauchy numbers with location 0 and scale 1."""

    name = "random_cauchy"
    by_loops = ByLoops(("tan",), "({inner} - {half}) * {pi}", "{0}")  # nothing can be fused

    def inverted(self, u: Array) -> None:
        np.subtract(u, self.dtype.type(0.5), out=u)
        np.multiply(u, self.dtype.type(math.pi), out=u)
        np.tan(u, out=u)


def half_words(words: Array) -> Array:
    """Words of 32 bits: the lower half of each word, then the higher one."""
    return np.ascontiguousarray(words, "<u8").view("<u4")


class RandomNormal(Standard):
    """Normal numbers with mean 0 and variance 1, in pairs after Box and Muller.

    The angle of a pair is twice one between -pi/4 and pi/4, whose sine is a short polynomial, or the opposite
    one. Of n numbers the first half are the cosines, the others the sines.
    """

    name = "random_normal"

    def drawn(self, key: Array, *parameters: Array) -> Array:
        return self.of_source(generator(key), 1).reshape(self.shape)

    def words_of(self, count: int) -> int:
        return 2 * ((count + 1) // 2) if self.dtype == np.float64 else (count + 1) // 2

    def of_rows(self, words: Array) -> Array:
        return self.of_source(GivenWords(words.reshape(-1)), len(words))

    def of_source(self, source: Anything, rows: int) -> Array:
        """Rows of numbers, from the words of a source one after the other."""
        count = math.prod(self.shape)
        work = np.dtype(np.float32) if self.dtype == np.float16 else self.dtype
        pairs = rows * ((count + 1) // 2)
        out, room = np.empty((2, pairs), work), np.empty((4, min(BLOCK, pairs)), work)
        for first in range(0, pairs, BLOCK):
            cosines, sines = out[:, first : first + BLOCK]
            of_pairs(source, cosines, sines, room[:, : len(cosines)])
        if rows > 1:
            out = out.reshape(2, rows, -1).swapaxes(0, 1)
        return out.reshape(rows, -1)[:, :count].astype(self.dtype, copy=False)


class GivenWords:
    """Words that are there already, as a generator's."""

    def __init__(self, words: Array) -> None:
        self.words, self.first = words, 0

    def random_raw(self, count: int) -> Array:
        """The next words."""
        self.first += count
        return self.words[self.first - count : self.first]


SINE = tuple([(-1) ** k / math.factorial(2 * k + 1) for k in range(8)])
"""Taylor's coefficients of the sine: up to pi/4 the first eight leave 5e-17, the first five 2e-9."""


def of_pairs(source: Anything, cosines: Array, sines: Array, room: Anything) -> None:
    """Fill both parts of as many pairs as there is room for."""
    radius, angle, square, sine = room
    if cosines.dtype == np.float64:
        words = source.random_raw(2 * len(cosines))
        first, second, unused, digits = words[0::2], words[1::2], 11, 53
        terms = SINE
    else:
        halves = half_words(source.random_raw(len(cosines)))
        first, second, unused, digits = halves[0::2], halves[1::2], 8, 24
        terms = SINE[:5]
    radius[...] = first >> unused
    # Half a step above a multiple of the precision, and so never 0.
    np.add(radius, 0.5, out=radius)
    np.multiply(radius, 0.5**digits, out=radius)
    np.log(radius, out=radius)
    np.multiply(radius, -2.0, out=radius)
    np.sqrt(radius, out=radius)
    angle[...] = second >> unused
    np.multiply(angle, 0.5**digits * (math.pi / 2), out=angle)
    np.subtract(angle, math.pi / 4, out=angle)
    # The lowest bit, which the angle has no use for, turns the pair by half a circle.
    sine[...] = second & 1
    np.subtract(sine, 0.5, out=sine)
    np.multiply(radius, sine, out=radius)  # half of it, for the two that follow
    np.multiply(angle, angle, out=square)
    np.multiply(square, terms[-1], out=sine)
    for term in terms[-2:0:-1]:
        np.add(sine, term, out=sine)
        np.multiply(sine, square, out=sine)
    np.add(sine, 1.0, out=sine)
    np.multiply(sine, angle, out=sine)
    np.multiply(sine, sine, out=square)
    # cos 2a = 1 - 2 sin(a)**2 and sin 2a = 2 sin(a) cos(a), the cosine of a being positive.
    np.subtract(0.5, square, out=angle)
    np.multiply(angle, 4.0, out=angle)
    np.multiply(angle, radius, out=cosines)
    np.subtract(1.0, square, out=square)
    np.sqrt(square, out=square)
    np.multiply(sine, square, out=sine)
    np.multiply(sine, 4.0, out=sine)
    np.multiply(sine, radius, out=sines)
