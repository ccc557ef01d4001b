"""A sample is the same to the bit however it is asked for: every distribution, in every mode.

Each draw takes a key and a vector of three parameters between 0.2 and 0.8, which neighbours compute; so
compiled code may fuse what it likes, and samples may be of any length and either precision.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.random.rejection import ParameterError

R = fg.random
SINGLE = np.float32
P = np.array([0.25, 0.5, 0.75])
COVARIANCE = np.array([[1.3, 0.4, 0.2], [0.4, 0.9, -0.3], [0.2, -0.3, 1.1]])


def covariance(p: Any) -> Any:
    """A covariance that depends on the parameters."""
    return COVARIANCE + np.diag(p)


DIFFERENTIABLE: dict[str, Callable[[Any, Any], Any]] = {
    "uniform between": lambda k, p: R.uniform(k, (5, 3), minval=-p, maxval=p * 3.1),
    "uniform between, single": lambda k, p: R.uniform(k, (7, 3), SINGLE, p, 2.0),
    "gamma": lambda k, p: R.gamma(k, p * 4, (3, 3)),
    "gamma, single": lambda k, p: R.gamma(k, p, (5, 3), SINGLE),
    "loggamma": lambda k, p: R.loggamma(k, p * 0.1),
    "beta": lambda k, p: R.beta(k, p, 2.0, (4, 3)),
    "chisquare": lambda k, p: R.chisquare(k, p * 7),
    "student_t": lambda k, p: R.student_t(k, p * 5, (5, 3)),
    "student_t, single": lambda k, p: R.student_t(k, p * 5, (5, 3), SINGLE),
    "dirichlet": lambda k, p: R.dirichlet(k, p, (6,)),
    "dirichlet, long": lambda k, p: R.dirichlet(k, np.tile(p, 9), (2,)),
    "multivariate_normal": lambda k, p: R.multivariate_normal(k, p * 1.7, covariance(p), (5,)),
    "multivariate_normal, single": lambda k, p: R.multivariate_normal(k, p, covariance(p), (4,), SINGLE),
    "multivariate_normal, stacks": lambda k, p: R.multivariate_normal(
        k, p, np.stack([covariance(p), covariance(p * p)]), (5, 2)
    ),
    "multivariate_normal, eigh": lambda k, p: R.multivariate_normal(k, p, covariance(p), (5,), method="eigh"),
    "truncated_normal": lambda k, p: R.truncated_normal(k, p, p * 3.3, (11, 3)),
    "truncated_normal, single": lambda k, p: R.truncated_normal(k, -p, p * 3.3, (3, 3), SINGLE),
    "lognormal": lambda k, p: R.lognormal(k, p, (13, 3)),
    "lognormal, single": lambda k, p: R.lognormal(k, p, (13, 3), SINGLE),
    "pareto": lambda k, p: R.pareto(k, p * 3, (4, 3)),
    "rayleigh": lambda k, p: R.rayleigh(k, p, (5, 3)),
    "weibull_min": lambda k, p: R.weibull_min(k, p, p * 3, (6, 3)),
    "weibull_min, single": lambda k, p: R.weibull_min(k, p, p * 3, (6, 3), SINGLE),
}
OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "bits": lambda k, p: R.bits(k, (5,)),
    "split": lambda k, p: R.split(k, 3),
    "fold_in": lambda k, p: R.fold_in(k, 3),
    "uniform": lambda k, p: R.uniform(k, (9,)),
    "uniform from 1 to 3": lambda k, p: R.uniform(k, (9,), minval=1.0, maxval=3.1),
    "normal": lambda k, p: R.normal(k, (9,)),
    "normal, single": lambda k, p: R.normal(k, (17,), SINGLE),
    "normal, half": lambda k, p: R.normal(k, (5,), np.float16),
    "normal, complex": lambda k, p: R.normal(k, (5,), complex),
    "exponential": lambda k, p: R.exponential(k, (11,)),
    "exponential, single": lambda k, p: R.exponential(k, (19,), SINGLE),
    "exponential, half": lambda k, p: R.exponential(k, (3,), np.float16),
    "laplace": lambda k, p: R.laplace(k, (9,)),
    "laplace, single": lambda k, p: R.laplace(k, (21,), SINGLE),
    "logistic": lambda k, p: R.logistic(k, (9,)),
    "gumbel": lambda k, p: R.gumbel(k, (7,)),
    "gumbel, single": lambda k, p: R.gumbel(k, (33,), SINGLE),
    "cauchy": lambda k, p: R.cauchy(k, (9,)),
    "cauchy, single": lambda k, p: R.cauchy(k, (9,), SINGLE),
    "geometric": lambda k, p: R.geometric(k, p, (7, 3)),
    "multinomial": lambda k, p: R.multinomial(k, 20, p / 1.5),
    "poisson": lambda k, p: R.poisson(k, p * 31, (2, 3)),
    "binomial": lambda k, p: R.binomial(k, 90, p),
    "bernoulli": lambda k, p: R.bernoulli(k, p, (5, 3)),
    "rademacher": lambda k, p: R.rademacher(k, (9,)),
    "randint": lambda k, p: R.randint(k, (9,), -3, 30),
    "categorical": lambda k, p: R.categorical(k, p * 3, shape=(9,)),
    "permutation": R.permutation,
    "choice": lambda k, p: R.choice(k, p, (5,)),
    "choice by weight": lambda k, p: R.choice(k, 3, (9,), p=p / 1.5),
    "choice without repetition": lambda k, p: R.choice(k, 3, (2,), replace=False, p=p / 1.5),
}
DRAWS = DIFFERENTIABLE | OTHERS


def among_neighbours(draw: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """The draw amid arithmetic that compiled code fuses with whatever it may."""

    def drawn(key: Any, x: Any, y: Any) -> Any:
        sample = draw(key, x * y)
        return sample, sample * 3 + np.sum(x)

    return drawn


@pytest.mark.at_length
@pytest.mark.parametrize("name", DRAWS)
def test_every_mode_draws_the_same_bits(name: str) -> None:
    draw = DRAWS[name]
    keys = R.split(R.key(7), 3)
    wanted = np.stack([draw(k, P) for k in keys])
    same = np.testing.assert_array_equal
    program = fg.make_program(draw)(keys[0], P)
    same(program.evaluate(keys[0], P)[0], wanted[0])
    same(compiled(program).run(keys[0], P)[0], wanted[0])
    x = np.array([0.7, 1.1, 1.3])
    y = P / x
    nearby = among_neighbours(draw)

    def loop(k: Any, p: Any) -> Any:
        return fg.scan(lambda p, key: (p, draw(key, p)), p, k)[1]

    def every_mode(first: Any, second: Any, together: Any, one_by_one: Any, x: Any, y: Any) -> Any:
        """Compiled at once, of keys that are arguments of their own, so that nothing is shared."""
        batch = fg.vmap(nearby, (0, None, None))(together, x, y)
        return draw(first, P), nearby(second, x, y)[0], batch[0][1], loop(one_by_one, P)

    by_constants, alone, in_a_batch, in_a_loop = fg.jit(every_mode)(keys[0], keys[1], keys, keys.copy(), x, y)
    same(by_constants, wanted[0])
    same(alone, draw(keys[1], x * y))
    same(in_a_batch, alone)
    same(in_a_loop, wanted)
    same(fg.vmap(draw, (0, None))(keys, P), wanted)
    same(fg.vmap(draw)(keys, np.stack([P, P * 0.9, P]))[::2], wanted[::2])
    same(fg.vmap(draw, (None, 1))(keys[2], np.stack([P, P * 0.9], 1))[0], wanted[2])
    same(loop(keys, P), wanted)


@pytest.mark.at_length
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_values_that_derivatives_pass_are_the_same_bits(name: str) -> None:
    draw = DIFFERENTIABLE[name]
    key = R.key(3)
    wanted = draw(key, P)

    def loss(p: Any) -> Any:
        sample = draw(key, p)
        return np.sum(sample), sample

    def forwards(p: Any) -> Any:
        return fg.jvp(lambda p: draw(key, p), (p,), (np.ones(3),))[0]

    stored, again = [fg.value_and_grad(f, has_aux=True) for f in (loss, fg.checkpoint(loss))]

    def every_one(*p: Any) -> Any:
        """Of parameters that are arguments of their own, so that nothing is shared where it is compiled."""
        return stored(p[0]), again(p[1]), forwards(p[2])

    for run in (every_one, fg.jit(every_one)):
        *gradients, sample = run(P, P.copy(), P.copy())
        np.testing.assert_array_equal(sample, wanted)
        for (_, sample), slope in gradients:
            np.testing.assert_array_equal(sample, wanted)
            assert np.all(np.isfinite(slope))


@pytest.mark.parametrize("dtype", [np.float64, SINGLE])
@pytest.mark.parametrize("draw", [R.normal, R.exponential, R.gumbel, R.laplace, R.logistic, R.cauchy])
@pytest.mark.at_length
def test_every_length_and_many_threads(draw: Callable[..., Any], dtype: Any) -> None:
    keys = R.split(R.key(1), 9)
    sizes = [*range(19), 63, 64, 65, 8191, 8193, 40_000]
    quarters = [sizes[k::4] for k in range(4)]
    compiled_draws = [fg.jit(lambda k, q=q: [draw(k, (n,), dtype) for n in q]) for q in quarters]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda f: f(keys[0]), compiled_draws))
    for n, sample in zip(chain(*quarters), chain(*found), strict=True):
        np.testing.assert_array_equal(sample, draw(keys[0], (n,), dtype))
        if n < 100:
            batch = fg.vmap(lambda k, n=n: draw(k, (n,), dtype))(keys)
            np.testing.assert_array_equal(batch[0], sample)
            np.testing.assert_array_equal(batch[8], draw(keys[8], (n,), dtype))


def test_large_samples_by_parameters_shared_between_threads() -> None:
    """Many elements: compiled loops are divided, and NumPy's take other loops than for few."""
    key, scale = R.key(5), np.linspace(0.5, 2.0, 120_000)

    def draws(key: Any, scale: Any) -> Any:
        return (
            R.lognormal(key, scale),
            R.weibull_min(key, scale, 1.7),
            R.uniform(key, None, minval=-scale, maxval=scale * 1.1),
            R.truncated_normal(key, -scale, scale),
        )

    for ours, theirs in zip(fg.jit(draws)(key, scale), draws(key, scale), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    every_other = np.repeat(scale, 2)[::2]
    for ours, theirs in zip(draws(key, every_other), draws(key, scale), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_vectors_long_enough_for_blocks_and_threads_of_blas() -> None:
    keys, size = R.split(R.key(5), 3), 150
    a = np.cos(np.arange(size * size)).reshape(size, size)
    covariance, mean = a @ a.T / size + np.eye(size), np.sin(np.arange(size))

    def draw(key: Any, covariance: Any, mean: Any) -> Any:
        return R.multivariate_normal(key, mean, covariance, (400,)), R.dirichlet(
            key, np.abs(mean) + 0.5, (20,)
        )

    wanted = draw(keys[0], covariance, mean)
    compiled_draw = fg.jit(draw)
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(lambda _: compiled_draw(keys[0], covariance, mean), range(3)))
    batch = fg.vmap(draw, (0, None, None))(keys, covariance, mean)
    for samples in (*found, [x[0] for x in batch]):
        for ours, theirs in zip(samples, wanted, strict=True):
            np.testing.assert_array_equal(ours, theirs)


IN_A_PROCESS = """
import numpy as np, funcgrad as fg
R, key, p = fg.random, fg.random.key(2), np.array([0.25, 0.5, 0.75])
def draws(key, p):
    return [R.gamma(key, p), R.weibull_min(key, p, p + 1), R.gumbel(key, (5,)), R.beta(key, p, 1 - p)]
print(b"".join(x.tobytes() for x in draws(key, p)) == b"".join(x.tobytes() for x in fg.jit(draws)(key, p)))
print(b"".join(x.tobytes() for x in draws(key, p)).hex())
"""


def test_another_process_without_the_cache_on_disk() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS],
            env={**os.environ, **extra},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for extra in ({}, {"FUNCGRAD_CACHE": "0"})
    ]
    assert found[0] == found[1]
    assert found[0].startswith("True")


def test_what_no_distribution_has_is_refused_in_every_mode() -> None:
    for run in (R.poisson, fg.jit(R.poisson)):
        with pytest.raises(ParameterError, match="means must be numbers from 0"):
            run(R.key(0), -1.0)
