"""Draws in compiled code: all of a program is native, and its samples are the evaluated ones to the bit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.lower.random import draws
from funcgrad.compile.lower.random.draws import SHARED
from funcgrad.compile.runtime.addresses import ufuncs
from funcgrad.compile.runtime.executable import compiled
from funcgrad.ops.random.draws import (
    sampled_add,
    sampled_exp,
    sampled_log,
    sampled_log1p,
    sampled_logaddexp,
    sampled_sub,
)

R = fg.random
SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
KEY = R.key(11)
KEYS = R.split(KEY, 6)


def assert_native_and_equal(f: Callable[..., Any], *args: Any) -> None:
    """Nothing of the function is left to the evaluator, and the bits are the evaluator's."""
    program = fg.make_program(f)(*args)
    native = compiled(program)
    assert [reason.words for reason in native.reasons] == []
    arrays = fg.tree.leaves(args)
    wanted, found = program.evaluate(*arrays), native.run(*arrays)
    for ours, theirs in zip(map(np.asarray, found), map(np.asarray, wanted), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tobytes() == theirs.tobytes()


WHOLE: dict[str, Callable[[Any], Any]] = {
    "bits": lambda k: R.bits(k, (5,)),
    "one word": R.bits,
    "bytes": lambda k: R.bits(k, (9,), np.uint8),
    "split": R.split,
    "split often": lambda k: R.split(k, (3, 7)),
    "fold_in": lambda k: R.fold_in(k, 3),
    "fold_in a number below zero": lambda k: R.fold_in(k, -1),
    "fold_in what is computed": lambda k: R.fold_in(k, k[1] >> np.uint64(3)),
    "randint": lambda k: R.randint(k, (9,), -3, 30),
    "bernoulli": lambda k: R.bernoulli(k, 0.3, (3, 3)),
    "rademacher": lambda k: R.rademacher(k, (7,)),
    "permutation": lambda k: R.permutation(k, 9),
    "uniform": R.uniform,
}


@pytest.mark.parametrize("name", WHOLE)
def test_keys_and_whole_numbers(name: str) -> None:
    draw = WHOLE[name]

    def every_way(key: Any, row: Any, table: Any, keys: Any) -> Any:
        in_a_loop = fg.scan(lambda c, k: (c, draw(k)), 0, keys)[1]
        return draw(key), fg.vmap(draw)(row), fg.vmap(fg.vmap(draw))(table), in_a_loop

    assert_native_and_equal(every_way, KEY, KEYS[::2], KEYS.reshape(2, 3, 2).swapaxes(0, 1), KEYS)


STANDARD: dict[str, Callable[..., Any]] = {
    "uniform": R.uniform,
    "normal": R.normal,
    "exponential": R.exponential,
    "gumbel": R.gumbel,
    "laplace": R.laplace,
    "cauchy": R.cauchy,
    "logistic": R.logistic,
}
"""Distributions without parameters."""


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE], ids=str)
@pytest.mark.parametrize("name", STANDARD)
@pytest.mark.at_length
def test_numbers_of_every_length(name: str, dtype: Any) -> None:
    draw = STANDARD[name]
    shapes = [(n,) for n in (0, 1, 2, 3, 1023, 1025, 2048, 2049, 16_383, 16_386)]
    assert_native_and_equal(lambda k: [draw(k, shape, dtype) for shape in (*shapes, (), (3, 0, 2))], KEY)
    of_rows = fg.vmap(lambda k: [draw(k, (n,), dtype) for n in (1, 5, 1030)])
    of_columns = fg.vmap(lambda k: [draw(k, (n, 1), dtype) for n in (1, 5, 1030)], 1)
    assert_native_and_equal(lambda *k: (of_rows(k[0]), of_columns(k[1])), KEYS, KEYS.T[:, ::-2])
    assert_native_and_equal(fg.vmap(lambda k: draw(k, (5,), dtype)), KEYS[:0])


@pytest.mark.parametrize("name", STANDARD)
def test_draws_in_loops_and_branches(name: str) -> None:
    draw = STANDARD[name]

    def walk(key: Any, x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            key, x = carry
            key, own = R.split(key)
            sample = draw(own, (3,))
            return (key, x + 0.1 * sample), (own, sample)

        return fg.scan(step, (key, x), None, length=50)

    def counted(key: Any, x: Any) -> Any:
        return fg.fori_loop(0, 20, lambda i, x: x * 0.9 + draw(R.fold_in(key, i)), x)

    def until(key: Any, x: Any) -> Any:
        def more(state: Any) -> Any:
            return np.sum(state[1]) < 9

        return fg.while_loop(more, lambda s: (R.fold_in(s[0], 1), s[1] + draw(s[0], (5,)) ** 2), (key, x))

    def either(key: Any, x: Any) -> Any:
        return fg.cond(x[0] > 0, lambda: draw(key, (4,)), lambda: -draw(key, (4,)))

    def all_of_them(key: Any, *x: Any) -> Any:
        return [f(key, y) for f, y in zip((walk, counted, until, either), x, strict=True)]

    start = np.zeros(3), np.float64(0.0), np.zeros(5), np.ones(1)
    program = fg.make_program(all_of_them)(KEY, *start)
    native = compiled(program)
    assert not native.reasons
    found, wanted = native.run(KEY, *start), program.evaluate(KEY, *start)
    for ours, theirs in zip(found, wanted, strict=True):
        # Sums around a sample may be fused; keys may not differ at all.
        if ours.dtype.kind == "u":
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)
    for own, sample in zip(*found[2:4], strict=True):
        np.testing.assert_array_equal(sample, draw(own, (3,)))


@pytest.mark.parametrize("name", STANDARD)
def test_slopes_by_parameters_keep_the_sample(name: str) -> None:
    draw = STANDARD[name]

    def loss(scale: Any, key: Any) -> Any:
        sample = draw(key, (9,))
        return np.sum((scale * sample) ** 2), sample

    for run in (fg.value_and_grad(loss, has_aux=True), fg.jit(fg.value_and_grad(loss, has_aux=True))):
        (value, sample), slope = run(0.7, KEY)
        np.testing.assert_array_equal(sample, draw(KEY, (9,)))
        np.testing.assert_allclose(slope, 2 * value / 0.7)


@pytest.mark.parametrize("name", STANDARD)
def test_many_threads_draw_at_once(name: str) -> None:
    draw = STANDARD[name]
    f = fg.jit(lambda k: draw(k, (5000,)))
    wanted = [draw(k, (5000,)) for k in KEYS]
    with ThreadPoolExecutor(4) as threads:
        for ours, theirs in zip(threads.map(f, [*KEYS] * 5), wanted * 5, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE], ids=str)
@pytest.mark.parametrize("name", STANDARD)
@pytest.mark.at_length
def test_threads_share_large_draws(name: str, dtype: Any) -> None:
    draw = STANDARD[name]
    for n in (SHARED - 1, SHARED, 2 * SHARED + 1, 150_002):
        f = fg.jit(lambda k, n=n: draw(k, (n,), dtype))
        assert ("parallel(" in f.kernel_source(KEY)) == (n >= SHARED)
        np.testing.assert_array_equal(f(KEY), draw(KEY, (n,), dtype))
    wanted = draw(KEY, (150_002,), dtype)
    with ThreadPoolExecutor(3) as threads:
        for found in threads.map(f, [KEY] * 6):
            np.testing.assert_array_equal(found, wanted)
    assert_native_and_equal(lambda k: fg.lax.map(lambda k: draw(k, (SHARED,), dtype)[::999], k), KEYS[:2])


def test_blocks_are_counted_past_the_end_of_a_word() -> None:
    """The lowest word of the counter wraps around, and the next one counts on."""
    draw = R.keys.RandomBits((11,), 0)
    assert_native_and_equal(draw.bind, KEY, np.uint64(2**64 - 2))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_shifts_of_bits(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 1, 5, 77, limits.max // 3], dtype)[:, None]
    counts = np.arange(70).astype(dtype) if limits.min == 0 else np.arange(-3, 70).astype(dtype)
    assert_native_and_equal(lambda x, k: (x << k, x >> k, x >> 2, x << 1), x, counts)


PROCESS = """
import numpy as np, funcgrad as fg
from funcgrad.compile.runtime import binaries
R, key = fg.random, fg.random.key(2)
def draws(key):
    return R.normal(key, (9,)), R.normal(key, (5,), np.float32), R.gumbel(key, (7,)), R.bits(key, (3,))
print(binaries.COUNTS.built)
found, wanted = fg.jit(draws)(key), draws(key)
print(binaries.COUNTS.built, b"".join(map(bytes, found)) == b"".join(map(bytes, wanted)), len(found))
"""


def test_another_process_finds_the_code_but_not_the_addresses(tmp_path: Path) -> None:
    """Addresses of loops differ between processes: they are not part of what is kept on disk."""
    found = [
        subprocess.run(
            [sys.executable, "-c", PROCESS],
            env={**os.environ, "FUNCGRAD_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert int(found[0][1]) > int(found[0][0])
    assert found[1][1] == found[1][0]
    assert found[0][2:] == found[1][2:] == ["True", "4"]


def test_a_ufunc_whose_loop_is_not_known_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "loop", lambda name, dtype: None)
    program = fg.make_program(lambda k: R.normal(k, (4,)))(KEY)
    native = compiled(program)
    assert [r.words for r in native.reasons] == ["the loop of np.log for float64 is not known by address"]
    np.testing.assert_array_equal(native.run(KEY)[0], R.normal(KEY, (4,)))


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE], ids=str)
def test_loops_of_ufuncs(dtype: Any) -> None:
    assert ufuncs.loop("log", dtype) is not None
    assert ufuncs.loop("logaddexp", dtype) is not None
    assert ufuncs.loop("frexp", dtype) is None
    assert ufuncs.loop("log", dtype.newbyteorder()) is None
    assert ufuncs.loop("log", np.dtype(np.complex128)) is None


P = np.array([0.25, 0.5, 0.75])
BY_PARAMETERS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": lambda k, p: R.uniform(k, (5, 3), minval=-p, maxval=p * 3.1),
    "uniform, single": lambda k, p: R.uniform(k, (5, 3), SINGLE, -p, p * 3.1),
    "uniform from 1 to 3": lambda k, p: R.uniform(k, (9,), minval=1.0, maxval=3.1),
    "lognormal": lambda k, p: R.lognormal(k, p, (13, 3)),
    "lognormal, single": lambda k, p: R.lognormal(k, p[0], (), SINGLE),
    "weibull_min": lambda k, p: R.weibull_min(k, p, p * 3, (6, 3)),
    "pareto": lambda k, p: R.pareto(k, p * 3, (4, 3)),
    "rayleigh": lambda k, p: R.rayleigh(k, p, (5, 3)),
    "categorical": lambda k, p: R.categorical(k, p * 3, shape=(9,)),
    "bernoulli": lambda k, p: R.bernoulli(k, p, (5, 3)),
    "geometric": lambda k, p: R.geometric(k, p, (7, 3)),
    "beta": lambda k, p: R.beta(k, p, 3 * p, (3, 3)),
    "dirichlet": lambda k, p: R.dirichlet(k, p, (2,)),
    "truncated_normal": lambda k, p: R.truncated_normal(k, -p, 9 * p, (2, 3)),
    "multivariate_normal": lambda k, p: R.multivariate_normal(k, p, np.diag(p) + 0.1, (4,)),
    "choice": lambda k, p: R.choice(k, p, (5,)),
    "choice by weight": lambda k, p: R.choice(k, 3, (9,), p=p / 1.5),
    "choice without repetition": lambda k, p: R.choice(k, 3, (2,), replace=False, p=p / 1.5),
}


@pytest.mark.at_length
@pytest.mark.parametrize("name", BY_PARAMETERS)
def test_samples_by_parameters(name: str) -> None:
    draw = BY_PARAMETERS[name]

    def every_way(key: Any, batch: Any, keys: Any, p: Any) -> Any:
        in_a_loop = fg.scan(lambda p, k: (p, draw(k, p)), p, keys)[1]
        return draw(key, p), fg.vmap(draw, (0, None))(batch, p), in_a_loop

    assert_native_and_equal(every_way, KEY, KEYS, KEYS, P)


def test_what_numpy_computes_for_samples() -> None:
    x = np.array([[0.0, 1e-300, 0.3, 1.0, 7.0, np.inf], [np.nan, -1.0, -0.0, 1e5, 2.0, 800.0]])
    for dtype in (DOUBLE, SINGLE):
        values = [np.ascontiguousarray(v, dtype) for v in (x, x.T[::-1], x[:, ::2], x[0, 2], x[:0], x[1, :1])]
        for function in (sampled_exp, sampled_log, sampled_log1p):
            with np.errstate(all="ignore"):
                assert_native_and_equal(
                    lambda *v, f=function: [g for x in v for g in (f(x), f(x.T))], *values
                )
        y = np.linspace(-2, 3, 12, dtype=dtype).reshape(2, 6)
        pairs = ((y, y[::-1] * 3), (y, dtype.type(0.1)), (dtype.type(7.3), y), (y[0, 0], y[1, 1]))
        for function in (sampled_logaddexp, sampled_add, sampled_sub):
            assert_native_and_equal(lambda *p, f=function: [f(a, b) for a, b in p], *pairs)
            assert_native_and_equal(lambda *p, f=function: [f(a * 1.7, b * 0.3) for a, b in p], *pairs)


SHAPES = np.array([0.0, 1e-5, 0.3, 1.0, 2.5, 40.0, -0.5, -0.9, np.nan, np.inf])
MEANS = np.array([0.0, 0.3, 4.0, 9.99, 10.0, 25.0, 4e4])
TRIALS = np.array([0.0, 5.0, 30.0, 30.0, 100.0, 1e6, 7.9])
CHANCES = np.array([0.5, 0.3, 0.9, 0.0, 1.0, 0.5, 0.4])
REJECTED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "loggamma": (R.loggamma, (SHAPES,)),
    "gamma": (R.gamma, (SHAPES,)),
    "chisquare": (R.chisquare, (SHAPES,)),
    "student_t": (R.student_t, (SHAPES,)),
    "poisson": (R.poisson, (MEANS,)),
    "binomial": (R.binomial, (TRIALS, CHANCES)),
}
"""Distributions whose samples are accepted or rejected."""


@pytest.mark.parametrize("name", REJECTED)
def test_rejected_samples_of_every_kind_of_parameter(name: str) -> None:
    draw, parameters = REJECTED[name]
    many = [np.resize(x, (3, 300)) for x in parameters]

    def every_way(key: Any, keys: Any, parameters: Any, many: Any) -> Any:
        one = draw(key, *[x[4] for x in parameters])
        in_a_loop = fg.map(lambda k: draw(k, *parameters), keys)
        return draw(key, *parameters), one, fg.vmap(draw)(keys[:3], *many), in_a_loop

    assert_native_and_equal(every_way, KEY, KEYS, parameters, many)


@pytest.mark.parametrize(
    ("draw", "parameter"), [(R.poisson, -1.0), (lambda k, p: R.binomial(k, 5.0, p), 1.5)]
)
def test_parameters_that_no_distribution_has_are_refused_in_loops_too(draw: Any, parameter: float) -> None:
    f = fg.jit(lambda k, p: fg.scan(lambda c, q: (c, draw(k, q)), 0.0, p)[1])
    np.testing.assert_array_equal(f(KEY, np.array([0.5, 0.7])), [draw(KEY, 0.5), draw(KEY, 0.7)])
    with pytest.raises(ValueError, match="must be numbers from 0"):
        f(KEY, np.array([0.5, parameter]))


def test_a_walk_with_gamma_samples_has_a_native_gradient() -> None:
    def walk(a: Any, key: Any) -> Any:
        def step(c: Any, i: Any) -> Any:
            g = R.gamma(R.fold_in(key, i), np.stack([c, 40.0 * c]))
            return 0.5 * c + 0.5 * g[0] / (1.0 + g[0]) + 0.5, np.sum(g)

        return np.sum(fg.scan(step, a, np.arange(9))[1])

    program = fg.make_program(fg.value_and_grad(walk))(1.5, KEY)
    native = compiled(program)
    assert not native.reasons
    np.testing.assert_allclose(native.run(1.5, KEY), program.evaluate(1.5, KEY), rtol=1e-11)
