"""Arrays that a traced function closes over: reused buffers stay right, the caller's arrays stay theirs."""

from __future__ import annotations

import array
import contextlib
import pickle
from collections.abc import Callable
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import funcgrad as fg
from funcgrad.tracing.recorder import active_recorder


def test_a_small_buffer_may_be_reused() -> None:
    def loss(x: Any) -> Any:
        buffer = np.empty(3)
        total = 0.0
        for k in range(4):
            buffer[:] = k
            total = total + (x * buffer).sum()
        return total

    np.testing.assert_array_equal(fg.grad(loss)(np.ones(3)), np.full(3, 6.0))


# -- what is overwritten while it is recorded -------------------------------------------------------------

N = 20_000
"""Long enough that arrays are not copied for being small."""

WORK = np.empty(N)
PLAIN = np.ones(N)


def refilled(x: Any) -> Any:
    buffer = np.empty(N)
    total = 0.0
    for k in range(4):
        buffer[:] = k
        total = total + (x * buffer).sum()
    return total


def refilled_outside(x: Any) -> Any:
    total = 0.0
    for k in range(4):
        WORK[:] = k
        total = total + (x * WORK).sum()
    return total


def change_work() -> None:
    WORK[:] = 7.0


def by_another_function(x: Any) -> Any:
    product = x * WORK
    change_work()
    return product.sum()


def by_element(x: Any) -> Any:
    product = x * WORK
    WORK[3] = 9.0
    return product.sum()


def by_element_in_place(x: Any) -> Any:
    product = x * WORK
    WORK[3] += 1.0
    return product.sum()


def in_place(x: Any) -> Any:
    global WORK  # noqa: PLW0603 - a statement that users write
    product = x * WORK
    WORK += 1.0
    return product.sum()


def by_method(x: Any) -> Any:
    product = x * WORK
    WORK.fill(3.0)
    return product.sum()


def by_out(x: Any) -> Any:
    product = x * WORK
    np.exp(PLAIN, out=WORK)
    return product.sum()


def by_copyto(x: Any) -> Any:
    product = x * WORK
    np.copyto(WORK, PLAIN)
    return product.sum()


def by_another_name(x: Any) -> Any:
    product = x * WORK
    other = WORK
    other[:] = 5.0
    return product.sum()


def by_a_view(x: Any) -> Any:
    product = x * WORK
    part = WORK[2:]
    part[:] = 5.0
    return product.sum()


def by_rows(x: Any) -> Any:
    product = x * WORK
    for row in WORK.reshape(4, -1):
        row[:] = 2.0
    return product.sum()


def by_a_callback(x: Any, change: Callable[[], None] = change_work) -> Any:
    product = x * WORK
    change()
    return product.sum()


def by_shuffling(x: Any) -> Any:
    product = x * WORK
    np.random.default_rng(0).shuffle(WORK)
    return product.sum()


def by_numba(x: Any) -> Any:
    product = x * WORK
    zero_in_place(WORK)
    return product.sum()


@numba.njit
def zero_in_place(a: Any) -> None:
    for k in range(a.size):
        a[k] = 0.0


class Model:
    """Keeps a buffer that one method fills and another uses."""

    def __init__(self) -> None:
        self.buffer = np.ones(N)

    def step(self, k: int) -> None:
        self.buffer[:] = k

    def loss(self, x: Any) -> Any:
        total = 0.0
        for k in range(4):
            self.step(k)
            total = total + (x * self.buffer).sum()
        return total


def by_closure() -> Callable[[Any], Any]:
    buffer = np.zeros(N)

    def update() -> None:
        buffer[:] = buffer + 1.0

    def loss(x: Any) -> Any:
        total = 0.0
        for _ in range(3):
            update()
            total = total + (x * buffer).sum()
        return total

    return loss


OVERWRITING = [
    *(refilled, refilled_outside, by_another_function, by_element, by_element_in_place, in_place, by_method),
    *(by_out, by_copyto, by_another_name, by_a_view, by_rows, by_a_callback, by_shuffling, by_numba),
]


@pytest.mark.parametrize("loss", OVERWRITING, ids=lambda f: f.__name__)
def test_an_array_that_is_overwritten_afterwards_counts_as_it_was(loss: Callable[[Any], Any]) -> None:
    """The functions are linear in x: the gradient is what the array held when it was used."""
    WORK[:] = np.arange(1.0, N + 1)
    expected = WORK.copy() if "refilled" not in loss.__name__ else np.full(N, 6.0)
    np.testing.assert_array_equal(fg.grad(loss)(np.ones(N)), expected)
    assert WORK.flags.writeable


def test_buffers_of_objects_and_closures() -> None:
    np.testing.assert_array_equal(fg.grad(Model().loss)(np.ones(N)), np.full(N, 6.0))
    np.testing.assert_array_equal(fg.grad(by_closure())(np.ones(N)), np.full(N, 6.0))


def test_large_constant_data_are_not_copied() -> None:
    """Data that nothing writes into are read where they lie, though other arrays are written."""
    data, targets = np.ones((N, 4)), np.ones(N)
    seen: list[Any] = []

    def loss(w: Any) -> Any:
        marks = np.zeros(3)
        marks[0] = 1.0
        residuals = np.tanh(data @ w) - targets
        counts = {"calls": 0}
        counts["calls"] += 1
        seen.append(active_recorder())
        return (residuals**2).sum() * marks.sum()

    fg.grad(loss)(np.ones(4))
    held = [x for x in seen[0].operand_values if isinstance(x, np.ndarray)]
    assert any(x is data for x in held)
    assert any(x is targets for x in held)


# -- other people's memory --------------------------------------------------------------------------------


def of_every_kind(values: Any) -> dict[str, Any]:
    """The values as arrays of every kind of memory."""
    shifted = np.empty(values.nbytes + 1, np.uint8)[1:].view(np.float64)
    shifted[:] = values
    records = np.zeros(values.size, dtype=[("mark", "i1"), ("a", "f8"), ("b", ">f4")])
    records["a"] = records["b"] = values
    locked = values.copy()
    locked.flags.writeable = False
    kinds = {
        "plain": values.copy(),
        "pickled": pickle.loads(pickle.dumps(values, 4)),
        "pickled, protocol 5": pickle.loads(pickle.dumps(values, 5)),
        "strided": np.repeat(values, 2)[::2],
        "reversed": values[::-1].copy()[::-1],
        "unaligned": shifted,
        "field": records["a"],
        "foreign field": records["b"],
        "record array": np.rec.fromarrays([values], names="a").a,
        "subclass": values.copy().view(Labelled),
        "locked": locked,
        "of bytes": np.frombuffer(values.tobytes()),
        "of a bytearray": np.frombuffer(bytearray(values.tobytes())),
        "of an array": np.asarray(array.array("d", values)),
        "broadcast": np.broadcast_to(2.0, values.shape),
    }
    return kinds | {kind: values.astype(kind) for kind in (">f8", ">f4", ">i4", ">c16", ">i8", "f4", "c8")}


class Labelled(np.ndarray):
    """A subclass of NumPy's array."""


def uses_of(a: Any, x: Any) -> dict[str, Callable[[], Any]]:
    """Ways to compute ``sum(x * a)`` by a function that closes over `a`."""
    zero = 0.0j if a.dtype.kind == "c" else 0.0

    @fg.custom_jvp
    def ruled(x: Any) -> Any:
        return np.sum(x * a)

    ruled.defjvp(lambda primals, tangents: (ruled(*primals), np.sum(tangents[0] * a)))

    def in_scan(x: Any) -> Any:
        return fg.scan(lambda total, _: (total + np.sum(x * a), None), zero, np.arange(1))[0]

    def rows(x: Any) -> Any:
        return fg.scan(lambda total, row: (total + row[0] * row[1], None), zero, (x, a))[0]

    ways: dict[str, Callable[[], Any]] = {
        "vjp": lambda: fg.vjp(lambda x: np.sum(x * a), x)[0],
        "jit": lambda: fg.jit(lambda x: np.sum(x * a))(x),
        "matmul": lambda: fg.jit(lambda x: x @ a)(x),
        "scan": lambda: in_scan(x),
        "jit of scan": lambda: fg.jit(in_scan)(x),
        "rows": lambda: fg.jit(rows)(x),
        "jit of cond": lambda: fg.jit(lambda x: fg.cond(x[0] > 0, lambda: np.sum(x * a), lambda: zero))(x),
        "jit of vmap": lambda: np.sum(fg.jit(fg.vmap(lambda t, u: t * u))(x, a)),
        "njit": lambda: fg.njit_callable(lambda x: np.sum(x * a), x)(x),
        "rule": lambda: ruled(x),
        "jit of a rule": lambda: fg.jit(ruled)(x),
    }
    if a.dtype.kind != "c":
        ways |= {
            "grad": lambda: np.sum(x * fg.grad(lambda x: np.sum(x * a))(x)),
            "jit of grad": lambda: np.sum(x * fg.jit(fg.grad(lambda x: np.sum(x * a)))(x)),
            "grad of jit": lambda: np.sum(x * fg.grad(fg.jit(lambda x: np.sum(x * a)))(x)),
            "grad of a rule": lambda: np.sum(x * fg.grad(ruled)(x)),
        }
    return ways


KINDS = tuple(of_every_kind(np.arange(1.0, 4.0)))


@pytest.mark.parametrize("size", [5, 3000])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.at_length
def test_arrays_of_every_kind_of_memory(kind: str, size: int) -> None:
    a = of_every_kind(np.arange(1.0, size + 1))[kind]
    flags = a.flags.writeable
    x = np.linspace(0.5, 1.5, size)
    expected = np.sum(x * a)
    for name, way in uses_of(a, x).items():
        np.testing.assert_allclose(way(), expected, rtol=2e-6, err_msg=name)
    assert a.flags.writeable == flags


@pytest.mark.parametrize("size", [5, 3000])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("locked", "of bytes", "broadcast")])
@pytest.mark.at_length
def test_compiled_code_reads_what_it_closes_over_at_every_call(kind: str, size: int) -> None:
    a = of_every_kind(np.arange(1.0, size + 1))[kind]
    x = np.linspace(0.5, 1.5, size)
    weights = np.arange(1.0, size + 1)
    functions: dict[str, tuple[Any, Callable[[], Any]]] = {
        "sum": (fg.jit(lambda x: np.sum(x * a)), lambda: np.sum(x * a)),
        "plus": (fg.jit(lambda x: x + a), lambda: x + a),
        "matmul": (fg.jit(lambda x: x @ a), lambda: x @ a),
        "outer": (fg.jit(fg.vmap(lambda t: t * a)), lambda: np.outer(x, a)),
        "grad": (fg.jit(fg.grad(lambda x: np.sum(x * x * a).real)), lambda: 2.0 * x * a.real),
        "scan": (
            fg.jit(lambda x: fg.scan(lambda c, w: (c + np.sum(w * a).real, None), 0.0, x)[0]),
            lambda: np.sum(np.outer(x, a)).real,
        ),
        "cond": (
            fg.jit(lambda x: fg.cond(x[0] > 0, lambda: np.sum(x * a).real, lambda: 0.0)),
            lambda: np.sum(x * a).real,
        ),
        "where": (fg.jit(lambda x: np.where(x > 1.0, a, x)), lambda: np.where(x > 1.0, a, x)),
        "concatenate": (fg.jit(lambda x: np.concatenate([x, a])), lambda: np.concatenate([x, a])),
    }
    for name, (function, expected) in functions.items():
        function(x)
        function(x)
        a[:] = weights[::-1]
        np.testing.assert_allclose(function(x), expected(), rtol=2e-6, err_msg=name)
        a[:] = weights


def test_transposed_data_are_read_where_they_lie() -> None:
    data = np.ones((300, 200))
    function = fg.jit(lambda x: x @ data.T)
    np.testing.assert_allclose(function(np.ones(200)), np.full(300, 200.0))
    (held,) = [x for _, x in function.program(np.ones(200)).captured]
    assert np.shares_memory(held, data)
    data[:] = 2.0
    np.testing.assert_allclose(function(np.ones(200)), np.full(300, 400.0))


def test_a_function_that_overwrites_what_it_closes_over_is_recorded_as_it_was() -> None:
    work = np.zeros(3)

    def f(x: Any) -> Any:
        total = 0.0
        for k in range(4):
            work[:] = k
            total = total + (x * work).sum()
        return total

    np.testing.assert_array_equal(fg.jit(fg.grad(f))(np.ones(3)), np.full(3, 6.0))


def uses_shared_memory(a: Any) -> None:
    a[:] = 2.0
    function = fg.jit(lambda x: np.sum(x * a))
    assert function(np.ones(N)) == 2.0 * N
    assert fg.grad(lambda x: np.sum(x * a))(np.ones(N))[0] == 2.0
    a[:] = 3.0
    assert function(np.ones(N)) == 3.0 * N


def test_memory_shared_with_other_processes() -> None:
    shared = shared_memory.SharedMemory(create=True, size=N * 8)
    try:
        uses_shared_memory(np.ndarray((N,), buffer=shared.buf))
    finally:
        with contextlib.suppress(BufferError):  # compiled code may still hold the array
            shared.close()
        shared.unlink()


def test_memory_maps(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    np.arange(float(N)).tofile(file)
    for mode in ("r", "r+", "c"):
        a = np.memmap(file, dtype=float, mode=mode, shape=(N,))
        np.testing.assert_array_equal(fg.grad(lambda x, a=a: np.sum(x * a))(np.ones(N)), np.arange(float(N)))
        assert fg.jit(lambda x, a=a: np.sum(x * a))(np.ones(N)) == np.arange(float(N)).sum()


def test_a_changed_capture_is_read_again() -> None:
    weights = np.ones(3)

    def loss(x: Any) -> Any:
        return (x * weights).sum()

    gradient = fg.grad(loss)
    np.testing.assert_array_equal(gradient(np.ones(3)), np.ones(3))
    weights *= 5.0
    np.testing.assert_array_equal(gradient(np.ones(3)), np.full(3, 5.0))


def test_inputs_are_never_modified_nor_returned() -> None:
    x = np.arange(3.0)
    value, (x_bar,) = fg.vjp(np.copy, x)[0], fg.vjp(lambda v: v, x)[1](x)
    assert not np.shares_memory(value, x)
    assert not np.shares_memory(x_bar, x)
    np.testing.assert_array_equal(x, np.arange(3.0))


def test_what_a_function_makes_is_captured_once_until_it_is_written() -> None:
    def loss(x: Any) -> Any:
        a = np.array([[1.0, 2.0], [0.0, 1.0]])
        for _ in range(x.shape[0]):
            x = a @ x @ a.T + a @ x
        before = (a * x).sum()
        a[0, 0] = 3.0
        return before + (a * x).sum()

    x = np.ones((2, 2))
    whole = fg.jit(loss).lower(x).program
    held = [np.array(array).tolist() for _, array in whole.captured]
    # `a` and what `a.T` shows, then `a` as it was written.
    assert sorted(held) == [[[1.0, 2.0], [0.0, 1.0]]] * 2 + [[[3.0, 2.0], [0.0, 1.0]]]
    np.testing.assert_allclose(fg.jit(loss)(x), loss(x))
