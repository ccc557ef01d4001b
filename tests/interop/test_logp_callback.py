"""Log-densities as C functions: called by address, from threads, and by a sampler."""

from __future__ import annotations

import ctypes
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
N = len(EFFECTS) + 2


def eight_schools(q: Any) -> Any:
    """A hierarchical model: of the schools' mean, the logarithm of their spread, and their places in it."""
    mean, log_spread, z = q[0], q[1], q[2:]
    spread = np.exp(log_spread)
    likelihood = -0.5 * np.sum(((EFFECTS - (mean + spread * z)) / ERRORS) ** 2)
    prior = -0.5 * np.sum(z**2) - 0.5 * (mean / 5.0) ** 2 - np.log1p((spread / 5.0) ** 2) + log_spread
    return likelihood + prior


def asked(density: Any, x: Any) -> tuple[int, float, Any]:
    """What the function returns and writes."""
    slope, value = np.full(len(x), np.inf), np.full(1, np.inf)
    code = density.ctypes(len(x), x.ctypes.data, slope.ctypes.data, value.ctypes.data, None)
    return code, float(value[0]), slope


def test_value_and_gradient() -> None:
    density = fg.logp_callback(eight_schools, np.zeros(N))
    x = np.linspace(-1.0, 1.0, N)
    code, value, slope = asked(density, x)
    wanted = fg.value_and_grad(eight_schools)(x)
    assert code == 0
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
    np.testing.assert_allclose(slope, wanted[1], rtol=1e-12)
    assert repr(density).startswith(f"<C function of a log-density of {N} numbers")


def test_by_address_alone() -> None:
    density = fg.logp_callback(lambda x: -0.5 * np.sum(x**2), np.zeros(3))
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, *[ctypes.c_void_p] * 4)
    gc.collect()
    x, slope, value = np.arange(3.0), np.zeros(3), np.zeros(1)
    data = [a.ctypes.data for a in (x, slope, value)]
    assert kind(density.address)(3, *data, None) == 0
    np.testing.assert_array_equal(slope, -x)
    assert value[0] == -2.5


def test_codes_where_there_is_no_answer() -> None:
    density = fg.logp_callback(lambda x: np.sum(np.log(x)), np.ones(2))
    assert asked(density, np.ones(3))[0] == -1
    assert asked(density, np.array([1.0, -1.0]))[0] == 4
    assert asked(density, np.array([1.0, 0.0]))[0] == 3
    assert asked(density, np.array([1.0, 2.0]))[0] == 0


def test_threads_ask_at_once() -> None:
    density = fg.logp_callback(eight_schools, np.zeros(N))
    points = np.random.default_rng(0).normal(size=(50, N))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: asked(density, x), points))
    for (code, value, slope), x in zip(found, points, strict=True):
        assert code == 0
        np.testing.assert_allclose(value, eight_schools(x), rtol=1e-12)
        np.testing.assert_allclose(slope, fg.grad(eight_schools)(x), rtol=1e-9, atol=1e-12)


def test_other_functions_are_refused() -> None:
    for function, example in ((np.sin, np.ones(3)), (np.sum, np.ones((2, 2)))):
        with pytest.raises(UnsupportedFunctionError, match="one vector that returns one number"):
            fg.logp_callback(function, example)


def test_nutpie_samples_a_hierarchical_model() -> None:
    nutpie = pytest.importorskip("nutpie", reason="nutpie is not installed: it needs Python 3.12")
    from nutpie.compile_pymc import CompiledPyMCModel

    density = fg.logp_callback(eight_schools, np.zeros(N))
    unpacked = fg.njit_callable(lambda q: np.concatenate([q[:1], np.exp(q[1:2])]), np.zeros(N))
    pointer = numba.types.CPointer(numba.types.float64)  # type: ignore[no-untyped-call]
    word = numba.types.uint64

    @numba.cfunc(numba.types.int64(word, word, pointer, pointer, numba.types.voidptr))
    def expanded(n, m, x, out, user):  # type: ignore[no-untyped-def]
        found = unpacked(numba.carray(x, (N,)))
        for k in range(m):
            out[k] = found[k]
        return 0

    names, shapes = ["mean", "spread"], [(), ()]
    model = CompiledPyMCModel(
        dims={},
        compiled_logp_func=density,
        compiled_expand_func=expanded,
        initial_point_func=lambda seed: np.random.default_rng(seed).normal(size=N),
        shared_data={},
        shared_var_keys={},
        user_data=np.zeros(1),
        n_expanded=2,
        shape_info=(names, [slice(0, 1), slice(1, 2)], shapes),
        logp_func=None,
        expand_func=None,
        _n_dim=N,
        _shapes=dict(zip(names, shapes, strict=True)),
        _coords={},
    )
    trace = nutpie.sample(model, draws=2000, tune=500, chains=4, cores=2, seed=1, progress_bar=False)
    # The posterior of this model is known: 4.4 and 3.6.
    assert abs(float(trace.posterior["mean"].mean()) - 4.4) < 0.4
    assert abs(float(trace.posterior["spread"].mean()) - 3.6) < 0.5
