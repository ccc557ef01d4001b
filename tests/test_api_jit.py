"""`jit`: what may be compiled, how it is called, and what it mixes with."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.binaries import COUNTS
from funcgrad.errors import StaticArgumentError, TracedBranchError
from funcgrad.ops.signal.fft import SMALL


def wave(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


X = np.linspace(0.1, 1.0, 7)


def test_jit_computes_what_the_function_does() -> None:
    compiled = fg.jit(wave)
    for _ in range(3):
        value = compiled(X)
        assert isinstance(value, np.float64)
        np.testing.assert_allclose(value, wave(X), rtol=1e-14)


def test_jit_of_grad_and_grad_of_jit() -> None:
    expected = fg.grad(wave)(X)
    np.testing.assert_allclose(fg.jit(fg.grad(wave))(X), expected, rtol=1e-14)
    np.testing.assert_allclose(fg.grad(fg.jit(wave))(X), expected, rtol=1e-14)
    np.testing.assert_allclose(fg.jit(fg.grad(fg.jit(wave)))(X), expected, rtol=1e-14)


def test_jit_of_vmap_of_value_and_grad() -> None:
    rows = np.stack([X, 2 * X, 3 * X])
    values, gradients = fg.jit(fg.vmap(fg.value_and_grad(wave)))(rows)
    for row, value, gradient in zip(rows, values, gradients, strict=True):
        np.testing.assert_allclose(value, wave(row), rtol=1e-13)
        np.testing.assert_allclose(gradient, fg.grad(wave)(row), rtol=1e-13)


def test_vmap_hessian_and_jvp_of_jit() -> None:
    compiled = fg.jit(wave)
    np.testing.assert_allclose(fg.hessian(compiled)(X), fg.hessian(wave)(X), atol=1e-13)
    np.testing.assert_allclose(fg.vmap(compiled)(np.stack([X, X])), [wave(X)] * 2)
    value, tangent = fg.jvp(compiled, (X,), (np.ones(7),))
    np.testing.assert_allclose((value, tangent), (wave(X), fg.grad(wave)(X).sum()))


def test_jit_as_decorator_with_and_without_options() -> None:
    @fg.jit
    def plain(x: Any) -> Any:
        """Twice."""
        return 2 * x

    @fg.jit(static_argnums=1)
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    assert plain(3.0) == 6.0
    assert plain.__doc__ == "Twice."
    assert power(2.0, 5) == 32.0
    assert fg.grad(power)(2.0, 3) == 12.0


def test_static_names_and_keyword_arguments() -> None:
    @fg.jit(static_argnames="mode")
    def chosen(x: Any, *, mode: str, scale: Any = 1.0) -> Any:
        return scale * (np.sin(x) if mode == "sin" else np.cos(x))

    assert chosen(0.5, mode="sin") == pytest.approx(np.sin(0.5))
    assert chosen(0.5, mode="cos", scale=2.0) == pytest.approx(2 * np.cos(0.5))


def test_static_arguments_may_be_passed_by_place_and_by_name() -> None:
    @fg.jit(static_argnames="mode")
    def chosen(x: Any, mode: str = "sin") -> Any:
        return np.sin(x) if mode == "sin" else np.cos(x)

    @fg.jit(static_argnums=1)
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n=n - 1)

    assert chosen(0.5, "cos") == chosen(0.5, mode="cos") == pytest.approx(np.cos(0.5))
    assert chosen(0.5) == pytest.approx(np.sin(0.5))
    assert power(2.0, n=3) == power(n=3, x=2.0) == power(2.0, 3) == 8.0


def test_static_arguments_are_counted_from_the_end_of_the_signature() -> None:
    @fg.jit(static_argnums=-1)
    def power(x: Any, n: int = 2) -> Any:
        return x**n

    assert fg.grad(power)(3.0) == 6.0
    assert [len(power.program(*args).inputs) for args in [(3.0,), (3.0, 3)]] == [1, 1]


def test_static_argument_without_hash_is_refused() -> None:
    with pytest.raises(StaticArgumentError, match="has no hash"):
        fg.jit(lambda x, n: x, static_argnums=1)(1.0, [1])


def test_argument_that_is_no_array_is_refused_with_the_remedy() -> None:
    with pytest.raises(StaticArgumentError, match="a str is not an array") as caught:
        fg.jit(lambda x: x)("a")
    assert "static_argnums" in str(caught.value)


def test_methods_can_be_jitted() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @fg.jit(static_argnums=0)
        def __call__(self, x: Any) -> Any:
            return self.scale * x

    assert Model(3.0)(2.0) == 6.0
    assert Model(4.0)(2.0) == 8.0


def test_pytrees_in_and_out() -> None:
    @fg.jit
    def step(params: dict[str, Any], x: Any) -> Any:
        return {"w": params["w"] - 0.1 * x, "norm": [np.sum(x), (x * 2, None)]}

    out = step({"w": np.ones(3)}, np.arange(3.0))
    np.testing.assert_allclose(out["w"], [1.0, 0.9, 0.8])
    assert out["norm"][0] == 3.0
    assert out["norm"][1][1] is None


def test_python_scalars_are_weak() -> None:
    halve = fg.jit(lambda x, s: x * s)
    assert halve(np.ones(2, np.float32), 0.5).dtype == np.float32
    assert halve(np.ones(2, np.float32), np.float64(0.5)).dtype == np.float64
    assert halve(np.ones(2, np.float32), 2).dtype == np.float32


def test_kinds_of_arguments_do_not_mix() -> None:
    double = fg.jit(lambda x: x + x)
    for x in (1, 1.0, True, np.int8(100), np.float32(1), 1j, np.ones(3), np.ones((2, 2), np.complex64)):
        got = double(x)
        want = np.asarray(x) + np.asarray(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(double(x), want)


def test_names_are_read_once_and_arrays_at_every_call() -> None:
    data = np.arange(3.0)

    def function(x: Any) -> Any:
        return np.sum(x * data)

    total = fg.jit(function)
    assert total(np.ones(3)) == 3.0
    data[:] = 5.0
    assert total(np.ones(3)) == 15.0, "the array that was closed over, as it is now"
    data = np.zeros(3)
    assert total(np.ones(3)) == 15.0, "the array that the name stood for when the function was recorded"


def test_branch_on_a_value_is_refused_with_the_remedy() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    with pytest.raises(TracedBranchError, match="cond"):
        fg.jit(f, control_flow=False)(1.0)
    assert fg.jit(f)(1.0) == 1.0
    assert fg.grad(f)(-1.0) == -1.0


def test_strided_and_read_only_arguments() -> None:
    compiled = fg.jit(wave)
    wide = np.linspace(0, 1, 14)
    np.testing.assert_allclose(compiled(wide[::2]), wave(wide[::2]), rtol=1e-14)
    X.flags.writeable = False
    try:
        np.testing.assert_allclose(compiled(X), wave(X), rtol=1e-14)
    finally:
        X.flags.writeable = True


def test_outer_tracers_may_be_closed_over() -> None:
    def outer(a: Any) -> Any:
        return fg.jit(lambda x: np.sum(x * a))(X)

    assert fg.grad(outer)(2.0) == pytest.approx(X.sum())
    inner = fg.grad(lambda a: fg.grad(fg.jit(lambda y: y * y * a))(3.0))(1.0)
    assert inner == 6.0


def test_another_batch_size_compiles_nothing() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return np.mean((np.tanh(x @ w) - y) ** 2)

    step = fg.jit(fg.value_and_grad(loss))
    rng = np.random.default_rng(0)
    w = rng.normal(size=13)
    step(w, rng.normal(size=(37, 13)), rng.normal(size=37))
    before = COUNTS.built + COUNTS.found
    for n in (17, 50, 61):
        x, y = rng.normal(size=(n, 13)), rng.normal(size=n)
        value, gradient = step(w, x, y)
        expected = fg.value_and_grad(loss)(w, x, y)
        np.testing.assert_allclose(value, expected[0])
        np.testing.assert_allclose(gradient, expected[1])
    assert COUNTS.built + COUNTS.found == before


def test_index_out_of_bounds_is_numpys_error() -> None:
    pick = fg.jit(lambda x, i: x[i])
    np.testing.assert_array_equal(pick(X, np.array([0, -1])), X[[0, -1]])
    with pytest.raises(IndexError, match="out of bounds"):
        pick(X, np.array([0, 7]))


def test_donated_arguments_may_hold_results() -> None:
    @fg.jit(donate_argnums=0)
    def sort_of(x: Any, order: Any) -> Any:
        return np.cumsum(x)[order] * 2

    x, order = np.arange(200.0), np.arange(200)[::-1].copy()
    expected = np.cumsum(x)[order] * 2
    np.testing.assert_array_equal(sort_of(x, order), expected)


def test_donated_arguments_are_whole_when_numpy_runs_the_program_again() -> None:
    @fg.jit(donate_argnums=0)
    def picked(x: Any, order: Any) -> Any:
        return np.cumsum(np.cumsum(x))[order] * 2

    x = np.arange(200.0)
    with pytest.raises(IndexError, match="out of bounds"):
        picked(x, np.full(200, 200))
    np.testing.assert_array_equal(x, np.arange(200.0))


@pytest.mark.parametrize(("size", "taken"), [(8, False), (200, True)])
def test_small_donated_arguments_keep_their_memory(size: int, taken: bool) -> None:
    """Straight text might write a result before it has read what LLVM takes for other memory."""
    f = fg.jit(lambda x: np.cumsum(np.cumsum(np.cumsum(x) - 1.0)), donate_argnums=0)
    x = np.arange(1.0, size + 1.0)
    np.testing.assert_array_equal(f(x), np.cumsum(np.cumsum(np.cumsum(np.arange(1.0, size + 1.0)) - 1.0)))
    assert np.array_equal(x, np.arange(1.0, size + 1.0)) is not taken


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_narrow_donated_arguments_are_read_before_they_are_written(dtype: str) -> None:
    """Few vectors hold all of their elements, so that LLVM may leave no loops."""

    def f(x: Any) -> Any:
        total = np.cumsum(x).astype(x.dtype)
        return np.roll(total, 32) + total[::-1]

    x = np.arange(64).astype(dtype) % 5
    expected = fg.jit(f)(x)
    given = x.copy()
    found = fg.jit(f, donate_argnums=0)(given)
    assert np.shares_memory(found, given)
    np.testing.assert_array_equal(found, expected)


def test_what_has_no_native_form_is_left_to_numpy() -> None:
    def mixed(x: Any) -> Any:
        return np.sum(np.abs(np.fft.rfft(np.exp(x), SMALL)) ** 2)

    compiled = fg.jit(fg.value_and_grad(mixed))
    expected = fg.value_and_grad(mixed)(X)
    for got, want in zip(compiled(X), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    report = fg.explain(fg.value_and_grad(mixed))(X)
    assert any("fft" in reason.words for reason in report.reasons)


def test_kinds_do_not_mix_where_a_part_is_left_to_numpy() -> None:
    spectrum = fg.jit(lambda x: np.abs(np.fft.fft(x, SMALL)))
    in_a_tree = fg.jit(lambda tree: np.abs(np.fft.fft(tree["x"], SMALL)))
    x = np.arange(4.0)
    for value in (x, np.arange(8.0), x + 1j, x.astype(np.float32), x.astype(">f8"), np.arange(8.0)[::2], x):
        expected = np.abs(np.fft.fft(value, SMALL))
        for got in (spectrum(value), spectrum(value), in_a_tree({"x": value}), in_a_tree({"x": value})):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_numbers_of_another_kind_where_a_part_is_left_to_numpy() -> None:
    scaled = fg.jit(lambda x, s: np.abs(np.fft.fft(x, SMALL)) * s)
    x = np.arange(4, dtype=np.float32)
    for s in (2.0, np.float64(2.0), 2, np.float32(2.0), 2j, True):
        expected = np.abs(np.fft.fft(x, SMALL)) * s
        for got in (scaled(x, s), scaled(x, s)):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_pickle_of_a_jitted_function() -> None:
    again = pickle.loads(pickle.dumps(fg.jit(wave)))
    np.testing.assert_allclose(again(X), wave(X))


def test_kernel_source_shows_the_users_lines() -> None:
    source = fg.jit(fg.grad(wave)).kernel_source(X)
    assert "# test_api_jit.py:" in source
    assert "np.sin(x) * x" in source
    assert "for i in range(" in source


def test_results_are_the_callers_own() -> None:
    same = fg.jit(lambda x: (x, x, np.reshape(x, (7, 1))))
    first, second, third = same(X)
    first[0] = second[1] = third[2] = 99.0
    assert X.max() <= 1.0
    assert second[0] != 99.0


def test_chain_of_operations_needs_no_memory_in_between() -> None:
    def chain(x: Any) -> Any:
        for _ in range(25):
            x = np.sin(x) + 0.1 * x
        return np.sum(x)

    x = np.ones(100_000)
    specialized = fg.jit(fg.grad(chain)).specialized(x)
    (kernel,) = specialized.executable.kernels
    assert kernel.scratch_bytes <= 3 * x.nbytes


def test_stages():
    def f(x, power, *, scale):
        return {"y": scale * np.sum(x**power)}

    jitted = fg.jit(f, static_argnames="power")
    lowered = jitted.lower(fg.ShapeDtypeStruct((3,), float), power=2, scale=2.0)
    assert "sum" in lowered.as_text()
    assert str(lowered.out_info["y"]) == "f64[]"
    compiled = lowered.compile()
    assert compiled(np.arange(3.0), power=2, scale=3.0)["y"] == 15.0
    assert "def " in compiled.as_text()
    assert compiled.cost_analysis()["flops"] >= 6.0
    assert compiled.out_tree == fg.tree.structure({"y": 0})
    assert repr(compiled) == "Compiled(f: f64[3], f64*[])"
    with pytest.raises(TypeError, match="compiled for"):
        compiled(np.ones(4), power=2, scale=1.0)
    with pytest.raises(TypeError, match=r"static.*power.*3"):
        compiled(np.ones(3), power=3, scale=1.0)


def test_what_is_noted_on_a_function_stays():
    def f(x):
        return 2.0 * x

    f.note = "kept"
    made = fg.jit(fg.grad(fg.jit(f)))
    assert fg.jit(f).note == fg.grad(f).note == "kept"
    assert made(1.0) == 2.0
