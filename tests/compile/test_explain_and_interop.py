"""Looking at compiled functions, and calling them from Numba's and SciPy's compiled code."""

from __future__ import annotations

import ctypes
import gc
from time import sleep
from typing import Any

import numba
import numpy as np
import pytest
from scipy import LowLevelCallable, integrate, special

import funcgrad as fg
from funcgrad import lax
from funcgrad.compile.measure.part_times import seconds_of
from funcgrad.compile.runtime.binaries import _LOADED
from funcgrad.errors import UnsupportedFunctionError

X = np.linspace(0.1, 1.0, 7)


def wave(x: Any) -> Any:
    y = np.sin(x) * x
    return np.sum(y)


def ripple(x: Any) -> Any:
    return np.sum(special.eval_legendre(3, x) * x)


# -- explain -------------------------------------------------------------------------------------------------


def test_a_slow_first_call_is_not_the_time() -> None:
    waits = iter([0.15, 0.0, 0.0])  # longer than what is measured of a long call
    assert seconds_of(lambda: sleep(next(waits, 0.0))) < 0.1


def test_explain_counts_every_pass() -> None:
    report = fg.explain(fg.grad(wave))(X)
    assert [each.name for each in report.passes] == ["record", "simplify", "expand", "simplify"]
    assert all(each.equations > 0 and each.seconds >= 0 for each in report.passes)
    (kernel,) = report.kernels
    assert kernel.flops > X.size
    # It reads x once and writes its gradient once.
    assert kernel.bytes_moved == 2 * X.nbytes
    assert kernel.scratch_bytes == 0
    assert [(part.kind, part.shape) for part in kernel.parts] == [("loop", (7,))]
    assert report.reasons == ()
    for seconds in (report.run_seconds, report.evaluated_seconds, report.estimated_seconds):
        assert 0 < seconds < 1


def test_explain_as_text() -> None:
    text = str(fg.explain(fg.grad(wave))(X))
    lines = text.splitlines()
    assert lines[0] == "wave: from Program to native code"
    assert "passes" in lines
    assert any(line.startswith("  1. record") and "equations" in line for line in lines)
    assert any(line.startswith("kernel wave: 112 B moved") for line in lines)
    assert any(line.startswith("  loop over 7,") for line in lines)
    assert lines[-1].startswith("time of a call: estimated ")


def test_explain_says_what_is_left_to_numpy_and_where() -> None:
    report = fg.explain(ripple)(X)
    assert report.reasons
    text = str(report)
    assert "left to NumPy" in text
    assert "test_explain_and_interop.py" in text
    assert "special" in text


def test_explain_of_a_jitted_function_does_not_touch_it() -> None:
    compiled = fg.jit(wave, static_argnums=())
    report = fg.explain(compiled)(X)
    assert len(report.kernels) == 1
    assert not compiled._kinds


def test_explain_takes_numbers_of_python() -> None:
    def repeated(x: Any, start: Any, stop: Any) -> Any:
        return lax.fori_loop(start, stop, lambda k, c: c * 0.5 + 0.1 * k, x)

    report = fg.explain(repeated)(X, 3, 9)
    assert report.reasons == ()
    assert report.evaluated_seconds > 0


def test_explain_of_pytrees_and_keywords() -> None:
    report = fg.explain(lambda p, *, scale: {"y": p["x"] * scale})({"x": X}, scale=2.0)
    assert len(report.kernels) == 1


def test_kernel_source_is_runnable_python_with_the_users_lines() -> None:
    source = fg.jit(wave).kernel_source(X)
    compile(source, "<kernel>", "exec")
    assert source.startswith("def wave(p, n):")
    assert "y = np.sin(x) * x" in source


def test_kernel_source_of_another_size_is_the_same() -> None:
    compiled = fg.jit(fg.grad(wave))
    assert compiled.kernel_source(X) == compiled.kernel_source(np.ones(1000))


# -- Numba ---------------------------------------------------------------------------------------------------


def test_a_gradient_inside_compiled_code_of_numbas() -> None:
    slope = fg.njit_callable(fg.grad(wave), X)

    @numba.njit
    def descended(x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = x - 0.1 * slope(x)
        return x

    x = X
    for _ in range(5):
        x = x - 0.1 * fg.grad(wave)(x)
    np.testing.assert_allclose(descended(X, 5), x, rtol=1e-13)
    np.testing.assert_allclose(slope(X), fg.grad(wave)(X), rtol=1e-13)


def test_code_that_numba_knows_the_address_of_stays() -> None:
    def known_to_numba(x: Any) -> Any:
        return np.sum(np.cos(x) * table)

    table = np.arange(7.0) ** 2

    def compiled_in() -> None:
        once = fg.njit_callable(known_to_numba, X)

        @numba.njit
        def twice(x: Any) -> Any:
            return once(x) * 2.0

        assert twice(X) == 2.0 * once(X)

    compiled_in()
    gc.collect()
    # Whatever else Numba has compiled may call the address, and holds nothing.
    assert any("def known_to_numba" in source for source in _LOADED)


def test_several_results_are_a_tuple() -> None:
    both = fg.njit_callable(fg.value_and_grad(wave), X)

    @numba.njit
    def norm(x: Any) -> Any:
        value, gradient = both(x)
        return value + np.sum(gradient)

    value, gradient = fg.value_and_grad(wave)(X)
    np.testing.assert_allclose(norm(X), value + gradient.sum(), rtol=1e-13)


def test_memory_of_arguments_and_scratch_lives_until_the_call_has_ended() -> None:
    # Numba frees an array after its last use, and the next one takes its place.
    def f(x: Any) -> Any:
        return x - 5.0, np.cumsum(x[::-1])

    x = np.linspace(0.1, 1.0, 500)
    both = fg.njit_callable(f, x)
    np.testing.assert_array_equal(both(x)[1], np.cumsum(x[::-1]))

    def g(x: Any) -> Any:
        y = np.cumsum(np.sin(x) @ table)
        return np.cumsum(y[::-1]) - 5.0, np.cumsum(np.cos(y)[::-1])

    table = np.cos(np.arange(250_000.0)).reshape(500, 500)
    both = fg.njit_callable(g, x)
    for found, wanted in zip(both(x), g(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_strided_arguments_other_dtypes_and_captured_arrays() -> None:
    table = np.arange(7.0)

    def f(x: Any, k: Any, on: Any) -> Any:
        return np.where(on, x * table, x), k + 1, np.any(x > 0.5)

    given = fg.njit_callable(f, X, 3, True)
    out, k, some = given(np.repeat(X, 2)[::2], 4, False)
    np.testing.assert_array_equal(out, X)
    assert (k, some) == (5, True)
    np.testing.assert_array_equal(given(X.astype(np.float32), 4, True)[0], X.astype(np.float32) * table)
    # What is changed in place counts, as for every function that closes over an array.
    table[:] = 0.0
    assert not np.any(given(X, 0, True)[0])


def test_scratch_memory_products_and_loops_within_numba() -> None:
    def f(w: Any, x: Any) -> Any:
        def step(h: Any, _: Any) -> Any:
            return np.tanh(w @ h), np.sum(h)

        return np.sum(lax.scan(step, x, None, length=20)[1]) + np.sum((w @ w) ** 2)

    w, x = 0.1 * np.cos(np.arange(900.0)).reshape(30, 30), np.ones(30)
    slope = fg.njit_callable(fg.grad(f, (0, 1)), w, x)
    for found, wanted in zip(slope(w, x), fg.grad(f, (0, 1))(w, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_unbounded_loops_within_numba() -> None:
    def root(a: Any) -> Any:
        return lax.while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), a)

    slope = fg.njit_callable(fg.grad(root), 2.0)
    np.testing.assert_allclose(slope(2.0), 0.5 / np.sqrt(2.0))
    np.testing.assert_allclose(slope(9.0), 1 / 6)


def test_wrong_shapes_and_indices_are_errors_within_numba() -> None:
    pick = fg.njit_callable(lambda x, i: x[i], X, np.array([1, 2]))
    np.testing.assert_array_equal(pick(X, np.array([6, -1])), X[[6, -1]])
    np.testing.assert_array_equal(pick(np.ones(8), np.array([0, 7, 1])), np.ones(3))
    fixed = fg.njit_callable(lambda x: x[0] * X, X)
    with pytest.raises(ValueError, match=r"argument 0 must have shape \(7,\)"):
        fixed(np.ones(8))
    with pytest.raises(IndexError, match="out of bounds"):
        pick(X, np.array([0, 7]))


def test_special_functions_are_called_from_numba_by_address() -> None:
    np.testing.assert_allclose(fg.njit_callable(ripple, X)(X), ripple(X), rtol=1e-12)


def test_what_has_no_native_form_cannot_be_called_from_numba() -> None:
    def power(x: Any) -> Any:
        return np.sum(fg.scipy.linalg.schur(np.outer(x, x))[0])

    with pytest.raises(
        UnsupportedFunctionError, match=r"power cannot be called from compiled code"
    ) as caught:
        fg.njit_callable(power, X)
    assert "Leave that part outside" in str(caught.value)


# -- SciPy ---------------------------------------------------------------------------------------------------


def gaussian(x: Any) -> Any:
    return np.exp(-x * x)


def test_quad_of_a_compiled_integrand() -> None:
    integrand = fg.low_level_callable(gaussian, 1.0)
    assert isinstance(integrand, LowLevelCallable)
    assert integrand.signature == "double (double)"
    np.testing.assert_allclose(integrate.quad(integrand, -8, 8)[0], np.sqrt(np.pi), rtol=1e-9)


def test_quad_of_a_compiled_derivative() -> None:
    slope = fg.low_level_callable(fg.grad(gaussian), 1.0)
    np.testing.assert_allclose(integrate.quad(slope, 0.0, 2.0)[0], np.exp(-4.0) - 1.0, rtol=1e-9)


def test_signature_with_user_data() -> None:
    integrand = fg.low_level_callable(gaussian, 1.0, signature="double (double, void *)")
    assert integrand.signature == "double (double, void *)"
    with_data = LowLevelCallable(integrand.function, ctypes.c_void_p(0))
    np.testing.assert_allclose(integrate.quad(with_data, -8, 8)[0], np.sqrt(np.pi), rtol=1e-9)


def test_nquad_of_a_function_of_a_vector() -> None:
    def density(x: Any) -> Any:
        return np.exp(-(x[0] ** 2) - x[1] ** 2) * x[2]

    integrand = fg.low_level_callable(density, np.ones(3))
    assert integrand.signature == "double (int, double *)"
    value, _ = integrate.nquad(integrand, [[-5, 5], [-5, 5], [0, 1]], opts={"epsabs": 1e-4, "epsrel": 1e-4})
    np.testing.assert_allclose(value, np.pi / 2, rtol=1e-4)


def test_vector_signature_with_user_data() -> None:
    integrand = fg.low_level_callable(
        lambda x: x[0] * x[1], np.ones(2), signature="double (int, double *, void *)"
    )
    np.testing.assert_allclose(integrate.quad(integrand, 0.0, 2.0, args=(3.0,))[0], 6.0)


@pytest.mark.parametrize(
    ("f", "args", "signature", "words"),
    [
        (wave, (np.ones((2, 2)),), None, "one number or one vector"),
        (np.sin, (X,), None, "one number or one vector"),
        (lambda x, y: x * y, (1.0, 2.0), None, "one number or one vector"),
        (gaussian, (1.0,), "double (int, double *)", "no signature"),
        (gaussian, (1.0,), "float (float)", "no signature"),
        (wave, (X,), "double (double)", "no signature"),
    ],
)
def test_refused(f: Any, args: Any, signature: str | None, words: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match=words):
        fg.low_level_callable(f, *args, signature=signature)
