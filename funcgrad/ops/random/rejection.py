"""Gamma, Poisson and binomial samples, by acceptance and rejection: all at once, then again those rejected.

Each takes an array of parameters and draws one sample for every element. Rounds of proposals take their words
one after the other from the key's stream, so the samples are a function of the key and the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from funcgrad.errors import DtypeError, FuncgradError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.random.random_words import Drawn, generator, some_key
from funcgrad.tracing.samples import ErrorSample, Sample, fixed, normal
from funcgrad.types import Array

FLOAT, COUNT = np.dtype(np.float64), np.dtype(np.int64)

log_factorial_of = LazyUfunc("scipy.special", "gammaln")


def log_factorial(k: Array) -> Array:
    """``log(k!)``."""
    return log_factorial_of(k + 1.0)


class ParameterError(FuncgradError, ValueError):
    """Raised for parameters that no distribution has."""


class Uniforms:
    """Numbers between 0 and 1, neither of them included, from the words of a key one after the other."""

    def __init__(self, key: Array) -> None:
        self.source = generator(key)

    def take(self, count: int) -> Array:
        """The next numbers."""
        return ((self.source.random_raw(count) >> 12) + 0.5) * 0.5**52


class OfParameters(Drawn):
    """One sample for each element of the parameters, which are in double precision."""

    result: ClassVar[np.dtype[Any]] = FLOAT

    def infer(self, *avals: Aval) -> Aval:
        key, *parameters = avals
        self.check_key(key, *parameters)
        if any(x.shape != parameters[0].shape for x in parameters):
            raise ShapeError(f"{self.name}: the parameters differ in shape")
        if any(x.dtype != FLOAT for x in parameters):
            raise DtypeError(f"{self.name}: parameters must be cast to float64, got {parameters[0]}")
        return Aval(parameters[0].shape, self.result)

    def drawn(self, key: Array, *parameters: Array) -> Array:
        flat = [np.reshape(np.asarray(x, FLOAT), -1) for x in parameters]
        with np.errstate(all="ignore"):
            return self.flat(Uniforms(key), *flat).reshape(np.shape(parameters[0]))[()]

    def flat(self, uniforms: Uniforms, *parameters: Array) -> Array:
        """The samples for vectors of parameters."""
        raise NotImplementedError(f"{self.name}: flat")

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(super().evaluate(*values), self.result)[()]

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        count = len(cls.samples()[0].inputs) - 1
        whole = [fixed(np.arange(3))] * count
        return (
            ErrorSample(normal(2), *[normal(3)] * count, words="a key is two words", error=DtypeError),
            ErrorSample(some_key(4), *[normal(3)] * count, words="axes of the keys", error=ShapeError),
            ErrorSample(some_key(), *whole, words="must be cast", error=DtypeError),
        )


def accepted(count: int, propose: Callable[[Any], tuple[Any, Any]]) -> Array:
    """The first accepted proposals; `propose(rows)` gives proposals for these rows, and which to accept."""
    out = np.empty(count)
    rows = np.arange(count)
    while len(rows):
        found, is_accepted = propose(rows)
        out[rows[is_accepted]] = found[is_accepted]
        rows = rows[~is_accepted]
    return out


# -- gamma --------------------------------------------------------------------------------------------------


class RandomLogGamma(OfParameters):
    """Logarithms of gamma samples, after Marsaglia and Tsang (2000).

    A shape below 1 is raised by 1 and the sample multiplied by a power of a uniform number; in logarithms
    nothing underflows, however small the shape.
    """

    name = "random_log_gamma"

    def flat(self, uniforms: Uniforms, *parameters: Array) -> Array:
        [shape] = parameters
        small = np.where(shape < 1)[0]
        raised = shape.copy()
        raised[small] += 1
        third = raised - 1 / 3
        slope = 1 / np.sqrt(9 * third)

        def propose(rows: Array) -> tuple[Any, Any]:
            first, second, u = uniforms.take(3 * len(rows)).reshape(3, -1)
            x = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
            cube = 1 + slope[rows] * x
            v = np.log(np.maximum(cube, 0)) * 3
            d = third[rows]
            inside = (cube > 0) & (np.log(u) < 0.5 * x * x + d * (1 - np.exp(v) + v))
            # What is not a number is no shape, and stays what it is; nothing below zero would be accepted.
            is_shape = d > 0
            return np.where(is_shape, v + np.log(d), np.nan), inside | ~is_shape | np.isinf(d)

        out = accepted(len(shape), propose)
        out[small] += np.log(uniforms.take(len(small))) / shape[small]
        return np.where(
            shape > 0, np.where(np.isinf(shape), np.inf, out), np.where(shape == 0, -np.inf, np.nan)
        )

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(some_key(), fixed(np.array([[0.3, 1.0], [2.5, 40.0]])), differentiable=False),
            Sample(some_key(), fixed(np.float64(1.5)), differentiable=False),
            Sample(some_key(2), fixed(np.full((2, 3), 0.7)), differentiable=False),
        )


# -- Poisson ------------------------------------------------------------------------------------------------

LARGEST = 2.0**53
"""Up to here a float64 holds every count."""

FEW = 10.0
"""Below this mean, counts are found by going through the distribution function."""


def counted_up(u: Array, first: Array, ratio: Callable[[int, Any], Any]) -> Array:
    """The first count at which the distribution function exceeds `u`.

    `first` is the probability of 0, and ``ratio(k, rows)`` that of k over that of k - 1.
    """
    out = np.zeros(len(u))
    rows, left, probability, k = np.arange(len(u)), u - first, first, 0
    while True:
        more = left >= 0
        rows, left, probability = rows[more], left[more], probability[more]
        k += 1
        if not len(rows):
            return out
        out[rows] = k
        probability = probability * ratio(k, rows)
        # Where rounding leaves a remainder after all that is likely, this is the count.
        left = np.where(probability > 0, left - probability, -1.0)


class RandomPoisson(OfParameters):
    """Poisson samples: transformed rejection (Hörmann 1993, algorithm PTRS), small means by inversion."""

    name = "random_poisson"
    result = COUNT

    def flat(self, uniforms: Uniforms, *parameters: Array) -> Array:
        [mean] = parameters
        if not np.all((mean >= 0) & (mean < LARGEST)):
            raise ParameterError(f"{self.name}: means must be numbers from 0 to {LARGEST:g}")
        out = np.zeros(len(mean))
        few = np.flatnonzero((mean > 0) & (mean < FEW))
        out[few] = counted_up(
            uniforms.take(len(few)), np.exp(-mean[few]), lambda k, rows: mean[few[rows]] / k
        )
        many = np.flatnonzero(mean >= FEW)
        out[many] = accepted(len(many), poisson_proposals(uniforms, mean[many]))
        return out

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(some_key(), fixed(np.array([[0.3, 4.0], [25.0, 4e4]])), differentiable=False),
            Sample(some_key(2), fixed(np.full((2, 3), 0.7)), differentiable=False),
        )


class Hat(NamedTuple):
    """The parameters of transformed rejection for a unimodal distribution of counts."""

    a: Any
    b: Any
    centre: Any
    squeeze: Any


def proposal(uniforms: Uniforms, hat: Hat, rows: Array) -> tuple[Any, Any, Any, Any]:
    """Counts, the uniform numbers that decide, and where they are accepted and rejected at once."""
    u, v = uniforms.take(2 * len(rows)).reshape(2, -1)
    u = u - 0.5
    us = 0.5 - np.abs(u)
    a, b = hat.a[rows], hat.b[rows]
    k = np.floor((2 * a / us + b) * u + hat.centre[rows])
    at_once = (us >= 0.07) & (v <= hat.squeeze[rows])
    return k, v / (a / (us * us) + b), at_once, (k < 0) | ((us < 0.013) & (v > us))


def poisson_proposals(uniforms: Uniforms, mean: Array) -> Callable[[Any], tuple[Any, Any]]:
    """Proposals for large means."""
    b = 0.931 + 2.53 * np.sqrt(mean)
    hat = Hat(-0.059 + 0.02483 * b, b, mean + 0.43, 0.9277 - 3.6224 / (b - 2))
    scale = 1.1239 + 1.1328 / (b - 3.4)

    def propose(rows: Array) -> tuple[Any, Any]:
        k, height, at_once, never = proposal(uniforms, hat, rows)
        bound = k * np.log(mean[rows]) - mean[rows] - log_factorial(k)
        return k, at_once | (~never & (np.log(height * scale[rows]) <= bound))

    return propose


# -- binomial -----------------------------------------------------------------------------------------------


class RandomBinomial(OfParameters):
    """Binomial samples: transformed rejection (Hörmann 1993, algorithm BTRS), small means by inversion."""

    name = "random_binomial"
    result = COUNT

    def flat(self, uniforms: Uniforms, *parameters: Array) -> Array:
        trials, chance = parameters
        if not np.all((trials >= 0) & (trials < LARGEST) & (chance >= 0) & (chance <= 1)):
            raise ParameterError(
                f"{self.name}: trials must be numbers from 0 to {LARGEST:g}, chances from 0 to 1"
            )
        trials = np.floor(trials)
        # The rarer outcome is counted.
        swaps = chance > 0.5
        rare = np.where(swaps, 1 - chance, chance)
        out = np.zeros(len(trials))
        few = np.flatnonzero((rare > 0) & (trials * rare < FEW))
        n, odds = trials[few], rare[few] / (1 - rare[few])
        out[few] = counted_up(
            uniforms.take(len(few)),
            np.exp(n * np.log1p(-rare[few])),
            lambda k, rows: np.maximum(n[rows] - k + 1, 0) / k * odds[rows],
        )
        out[few] = np.minimum(out[few], n)
        many = np.flatnonzero(trials * rare >= FEW)
        out[many] = accepted(len(many), binomial_proposals(uniforms, trials[many], rare[many]))
        return np.where(swaps, trials - out, out)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        trials = fixed(np.array([[5.0, 30.0], [100.0, 1e6]]))
        return (
            Sample(some_key(), trials, fixed(np.array([[0.3, 0.9], [0.2, 0.5]])), differentiable=False),
            Sample(
                some_key(2), fixed(np.full((2, 3), 7.0)), fixed(np.full((2, 3), 0.5)), differentiable=False
            ),
        )


def binomial_proposals(uniforms: Uniforms, n: Array, p: Array) -> Callable[[Any], tuple[Any, Any]]:
    """Proposals for large means, `p` being at most a half."""
    spread = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    hat = Hat(-0.0873 + 0.0248 * b + 0.01 * p, b, n * p + 0.5, 0.92 - 4.2 / b)
    scale = (2.83 + 5.1 / b) * spread
    mode = np.floor((n + 1) * p)
    at_mode = log_factorial(mode) + log_factorial(n - mode)
    log_odds = np.log(p / (1 - p))

    def propose(rows: Array) -> tuple[Any, Any]:
        k, height, at_once, never = proposal(uniforms, hat, rows)
        never |= k > n[rows]
        rest = np.maximum(n[rows] - k, 0)
        bound = at_mode[rows] - log_factorial(k) - log_factorial(rest) + (k - mode[rows]) * log_odds[rows]
        return k, (at_once & (k >= 0) & (k <= n[rows])) | (~never & (np.log(height * scale[rows]) <= bound))

    return propose
