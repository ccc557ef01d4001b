"""Loops and products divided between threads: as evaluated, and the same for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from lawbook.numerics import assert_close

import funcgrad as fg
from funcgrad import lax
from funcgrad.compile.lower.linear_algebra import contractions
from funcgrad.compile.passes.arranging import dividing, tiling
from funcgrad.compile.runtime.threads import set_threads, threads
from funcgrad.ir.evaluate.runner import evaluate_by_numpy

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def short_work_is_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Divide everything that can be, between four threads."""
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")  # what was made of a Program otherwise is not this
    monkeypatch.setattr(dividing, "SHORTEST", 0.0)
    monkeypatch.setattr(contractions, "SHORTEST_FLOPS", 0.0)
    before = threads()
    set_threads(4)
    yield
    set_threads(before)


def assert_shared(f: Function, *args: Any, divided: bool = True) -> None:
    """Compiled `f` is divided, equals what is evaluated, and does not depend on the number of threads."""
    made = fg.jit(f).specialized(*args)
    leaves = fg.tree.leaves((args, {}))
    executable = made.executable
    assert [reason.words for reason in executable.reasons] == []
    (kernel,) = executable.kernels
    assert (len(kernel.functions) > 1) == divided, kernel.source
    wanted = evaluate_by_numpy(made.program, leaves)
    found = executable.run(*leaves)
    for x, y in zip(found, wanted, strict=True):
        assert (type(x), x.dtype, np.shape(x)) == (type(y), y.dtype, np.shape(y))
        assert_close(x, y)
    for count in (1, 2, 7):
        set_threads(count)
        for x, y in zip(executable.run(*leaves), found, strict=True):
            np.testing.assert_array_equal(x, y)
    set_threads(4)


def wave(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    return (np.cos(np.arange(float(np.prod(shape)))) + 0.1).reshape(shape).astype(dtype)


REDUCTIONS = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "any": lambda x, axis: np.any(x > 0.9, axis),
    "all": lambda x, axis: np.all(x > -2.0, axis),
    "prod": lambda x, axis: np.prod(1.0 + 1e-3 * x, axis),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1], ids=str)
def test_reductions(name: str, axis: int | None) -> None:
    # 37 and 67 divide evenly into nothing.
    assert_shared(lambda x: REDUCTIONS[name](np.sin(x), axis), wave(67, 37))


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2), 1], ids=str)
def test_sums_over_several_axes(axes: Any) -> None:
    assert_shared(lambda x: np.sum(np.sin(x), axes), wave(40, 5, 7))
    assert_shared(fg.grad(lambda x: np.sum(np.sum(np.sin(x), axes) ** 2)), wave(40, 5, 7))


@pytest.mark.parametrize("n", [32, 33, 1000, 4097, 70_001])
def test_long_sums(n: int) -> None:
    x = wave(n)
    assert_shared(lambda x: (np.sum(x * x), np.max(x), np.exp(x)), x)
    assert_shared(fg.value_and_grad(lambda x: np.mean(np.sin(x) * x)), x)


@pytest.mark.parametrize("dtype", ["f4", "c16", "i4", "u1"])
def test_dtypes(dtype: str) -> None:
    x = (10 * wave(67, 37)).astype(dtype)
    assert_shared(lambda x: (np.sum(x), np.sum(x, 0), np.sum(x, 1), x * x + x), x)


def test_too_few_turns_are_not_shared() -> None:
    assert_shared(lambda x: np.sum(np.sin(x)), wave(7), divided=False)


def test_fewer_turns_than_chunks_are_shared() -> None:
    assert_shared(fg.value_and_grad(lambda x: np.sum(np.sum(np.sin(x), 0) ** 2)), wave(9, 40))


def softmax(x: Any) -> Any:
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    return shifted / np.sum(shifted, axis=1, keepdims=True)


def normalized(x: Any) -> Any:
    centered = x - np.mean(x, axis=1, keepdims=True)
    return centered / np.sqrt(np.mean(centered**2, axis=1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("f", [softmax, normalized, fg.nn.softmax, fg.nn.log_softmax])
@pytest.mark.parametrize("columns", [5, 64, 200])
def test_rows_that_are_normalized(f: Function, columns: int) -> None:
    x, weights = wave(50, columns), wave(columns)
    assert_shared(f, x)
    assert_shared(fg.value_and_grad(lambda x: np.sum(f(x)[:, ::-1] * weights)), x)


def test_columns_that_are_normalized() -> None:
    x = wave(64, 70)
    assert_shared(lambda x: softmax(x.T).T, x)
    assert_shared(fg.grad(lambda x: np.sum(softmax(x.T) ** 2)), x)


def test_nests_joined_with_rows_of_their_own() -> None:
    def f(x: Any, y: Any) -> Any:
        a = np.exp(x - np.max(x, 1, keepdims=True))
        b = a / np.sum(a, 1, keepdims=True)
        c = np.sin(b) * y
        return np.sum(c, 1), b - np.mean(c, 1, keepdims=True)

    assert_shared(f, wave(48, 90), wave(90))


def test_numbers_made_before_and_sums_used_after() -> None:
    def f(x: Any, s: Any) -> Any:
        scale = np.sqrt(s) + x[0]
        y = x * scale
        total = np.sum(y)
        z = np.sin(y - total / x.size)
        return np.sum(z * z), z, total

    assert_shared(f, wave(999), 2.0)
    assert_shared(fg.grad(lambda x, s: f(x, s)[0], (0, 1)), wave(999), 2.0)


def test_numbers_of_a_loop_before() -> None:
    def f(x: Any) -> Any:
        end = lax.fori_loop(0, 5, lambda k, c: np.sin(c + k), x[1])
        return np.sum(np.cos(x * end))

    made = fg.jit(f).specialized(wave(999))
    np.testing.assert_allclose(made.executable.run(wave(999)), made.program.evaluate(wave(999)), rtol=1e-13)


def test_transposed_and_reversed_operands() -> None:
    assert_shared(lambda x, y: x.T[::-1] * y + x[:, ::-1].T, wave(45, 38), wave(38, 45))


def test_gathers_and_their_errors() -> None:
    x, k = wave(500), (7 * np.arange(400)) % 500
    picked = fg.jit(lambda x, k: np.sum(np.sin(x[k])) + np.sum(x[k] ** 2))
    np.testing.assert_allclose(picked(x, k), np.sum(np.sin(x[k])) + np.sum(x[k] ** 2))
    k[399] = 500
    with pytest.raises(IndexError, match="out of bounds"):
        picked(x, k)


def test_scattered_sums() -> None:
    x, k = wave(400, 6), (7 * np.arange(400)) % 50
    f = fg.value_and_grad(lambda t, k, x: np.sum(np.sin(t[k]) * x))
    value, gradient = fg.jit(f)(wave(50, 6), k, x)
    expected = f(wave(50, 6), k, x)
    assert_close(value, expected[0])
    assert_close(gradient, expected[1])


@pytest.mark.parametrize(
    "shapes", [((65, 33), (33, 29)), ((9, 40), (40, 203)), ((301, 8), (8, 7)), ((9, 301), (301, 11))], ids=str
)
def test_products(shapes: Any) -> None:
    a, b = wave(*shapes[0]), wave(*shapes[1])
    for f in (lambda a, b: a @ b, lambda a, b: (b.T @ a.T) * 2.0, lambda a, b: np.tanh(a @ b)):
        assert_shared(f, a, b)
    assert_shared(fg.grad(lambda a, b: np.sum((a @ b) ** 2), (0, 1)), a, b)
    assert_shared(lambda a, b: a @ b, a.astype("f4"), b.astype("f4"))


@pytest.mark.parametrize(
    ("labels", "shapes"),
    [
        ("kij,kjn->kin", ((19, 5, 6), (19, 6, 7))),
        ("kij,nkj->nki", ((25, 8, 4), (30, 25, 4))),
        ("kij,kj->ki", ((9, 33, 40), (9, 40))),
        ("abij,abjk->abik", ((8, 3, 5, 6), (8, 3, 6, 4))),
    ],
)
def test_products_of_a_batch(labels: str, shapes: Any) -> None:
    a, b = wave(*shapes[0]), wave(*shapes[1])
    assert_shared(lambda a, b: np.einsum(labels, a, b), a, b)
    assert_shared(fg.grad(lambda a, b: np.sum(np.sin(np.einsum(labels, a, b))), (0, 1)), a, b)


@pytest.mark.parametrize(
    ("labels", "shapes"),
    [
        ("ij,jk->ik", ((65, 33), (33, 29))),
        ("ij,jk->ik", ((9, 40), (40, 203))),
        ("ij,jk->ik", ((9, 11), (11, 403))),
        ("bij,jbk->bki", ((9, 33, 29), (29, 9, 31))),
    ],
    ids=str,
)
@pytest.mark.parametrize("place", [0, -1])
def test_strong_zeros_that_meet_infinity_in_a_part(labels: str, shapes: Any, place: int) -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        return np.sum(np.where(c, 0.0, np.einsum(labels, a, b)))

    a, b = wave(*shapes[0]), wave(*shapes[1])
    b.flat[place] = np.inf
    c = np.zeros(np.einsum(labels, a, b).shape, bool)
    gradient = fg.grad(f)
    assert_shared(gradient, a, wave(*shapes[1]), c)
    np.testing.assert_array_equal(fg.jit(gradient)(a, b, ~c), np.zeros(a.shape))
    assert_close(fg.jit(gradient)(a, b, c), gradient(a, b, c))


def test_terms_are_shared_where_results_are_few() -> None:
    """Who made rows of both operands of ``x.T @ d`` reads these alone."""
    x, d = wave(301, 9), wave(301, 11)
    (few,) = fg.jit(lambda x, d: x.T @ d).specialized(x, d).executable.kernels
    (many,) = fg.jit(lambda x, d: x @ d.T).specialized(x, wave(302, 9)).executable.kernels
    assert "parts" in few.source
    assert "parts" not in many.source


def test_what_a_batch_multiplies_is_stored_product_by_product() -> None:
    def f(q: Any, x: Any, m: Any) -> Any:
        return np.sum(np.tanh(np.einsum("kij,nkj->nki", q, x[:, None, :] - m)))

    args = wave(9, 32, 32), wave(40, 32), wave(9, 32)
    (kernel,) = fg.jit(f).specialized(*args).executable.kernels
    shapes = [b.shape for b in kernel.buffers]
    assert (9, 40, 32) in shapes
    assert (40, 9, 32) not in shapes
    assert_shared(f, *args)
    assert_shared(fg.grad(f, (0, 1, 2)), *args)


def test_what_was_seen_in_another_shape_is_stored_in_rows() -> None:
    def f(q: Any, x: Any, m: Any) -> Any:
        away = x[:, None, :] - m
        flat = np.reshape(away, (-1,))
        return np.einsum("kij,nkj->nki", q, away), np.cumsum(flat), np.sin(flat), away

    assert_shared(f, wave(9, 32, 32), wave(40, 32), wave(9, 32))


def test_a_network_and_its_gradient() -> None:
    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params[:-1]:
            x = np.tanh(x @ w + b)
        w, b = params[-1]
        return np.mean((x @ w + b - y) ** 2)

    sizes = (20, 48, 40, 24)
    params = [(0.1 * wave(m, n), wave(n)) for m, n in pairwise(sizes)]
    assert_shared(fg.value_and_grad(loss), params, wave(70, 20), wave(70, 24))


def test_products_in_a_loop_are_not_divided() -> None:
    def f(w: Any, x: Any) -> Any:
        return lax.scan(lambda h, _: (np.tanh(0.1 * (h @ w)), None), x, None, length=3)[0]

    made = fg.jit(f).specialized(wave(30, 30), wave(30, 30))
    values = (wave(30, 30), wave(30, 30))
    np.testing.assert_allclose(made.executable.run(*values)[0], made.program.evaluate(*values)[0], rtol=1e-12)


# -- tiles ---------------------------------------------------------------------------------------------------


def calls_of_threads(f: Function, *args: Any) -> int:
    """How often the kernel hands work to threads."""
    (kernel,) = fg.jit(f).specialized(*args).executable.kernels
    return kernel.source.count("parallel(")


def test_short_loops_after_products_that_threads_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are awake, and read what they have made."""

    def f(a: Any, b: Any) -> Any:
        c = a @ b
        return np.sum(c), (c * c) @ b.T

    a, b = wave(65, 33), wave(33, 29)
    monkeypatch.setattr(dividing, "SHORTEST", 1.0)
    monkeypatch.setattr(dividing, "SHORTEST_AFTER", 1.0)
    assert calls_of_threads(f, a, b) == 2
    monkeypatch.setattr(dividing, "SHORTEST_AFTER", 0.0)
    assert calls_of_threads(f, a, b) == 3
    assert calls_of_threads(lambda a, b: np.tanh(a) @ b, a, b) == 1
    assert_shared(f, a, b)


def logistic(w: Any, X: Any, y: Any) -> Any:
    z = X @ w
    return np.sum(np.logaddexp(0.0, z)) - y @ z


def scaled(w: Any, X: Any, y: Any) -> Any:
    """The second pass over the rows needs a sum over all of them."""
    z = X @ w
    return np.sum((z - np.max(z)) ** 2 * y)


def of_two(first: Any, last: Any, block: Any) -> Any:
    """Names that the functions of chunks have for themselves, and rows of both an array and a vector."""
    stop, chunk = last @ first, np.abs(block) * 2.0
    return np.sum(np.tanh(stop) * chunk), np.sum(np.exp(-(stop**2))), last.T @ chunk, np.cumsum(first)


@pytest.mark.parametrize(
    ("f", "together"),
    [
        (logistic, 1),
        (fg.value_and_grad(logistic), 1),
        (lambda w, X, y: fg.hvp(logistic, (w, X, y), (w, X, y))[1], 1),
        (fg.value_and_grad(scaled), 3),
        (of_two, 1),
    ],
    ids=["value", "value and gradient", "product", "maximum", "names"],
)
def test_steps_over_the_same_rows_are_done_tile_by_tile(
    f: Function, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = (wave(8), wave(1021, 8), wave(1021))
    monkeypatch.setattr(tiling, "MOST_ROWS", 16)
    monkeypatch.setattr(tiling, "LEAST_ROWS", 16)
    apart = calls_of_threads(f, *args)
    monkeypatch.setattr(tiling, "LEAST_BYTES", 0)
    assert calls_of_threads(f, *args) == together < apart
    assert_shared(f, *args)


def test_steps_that_touch_many_blocks_are_not_tiled(monkeypatch: pytest.MonkeyPatch) -> None:
    args = (wave(8), wave(1021, 8), wave(1021))
    monkeypatch.setattr(tiling, "MOST_ROWS", 16)
    monkeypatch.setattr(tiling, "LEAST_ROWS", 16)
    apart = calls_of_threads(logistic, *args)
    monkeypatch.setattr(tiling, "LEAST_BYTES", 0)
    monkeypatch.setattr(tiling, "MANY_STREAMS", 1)
    assert calls_of_threads(logistic, *args) == apart


def test_sums_of_several_kinds_in_one_loop() -> None:
    """Chunks of real, complex and whole numbers are added each in its own kind: 2 ** 53 + 1 stays exact."""

    def f(x: Any) -> Any:
        turned, counted = x * (1.0 + 2.0j), (x * 0.0).astype(int) + (2**53 + 1)
        return np.sum(x, axis=0), np.sum(turned, axis=0), np.sum(counted, axis=0)

    assert_shared(f, wave(33, 3))
    assert_shared(fg.grad(lambda x: np.sum(x.astype(complex) * np.sum(np.sin(x), 0)).real), wave(33, 3))


def test_columns_that_lie_side_by_side_are_not_shared() -> None:
    """Their elements lie in the same cache lines, for which threads would wait."""

    def f(a: Any, b: Any) -> Any:
        return np.sum(np.einsum("kij,nkj->nki", a, b) ** 2, 2)

    assert_shared(f, wave(25, 4, 4), wave(64, 25, 4), divided=False)
