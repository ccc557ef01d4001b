"""What calls leave behind: a cache that holds structures, no state, no aliases, no recursion."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from funcgrad import (
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_program,
    tree,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.api.calling.calls import CACHE
from funcgrad.tracing.recorder import active_recorder

X = np.array([0.3, -0.4, 0.5])


def loss(x: Any) -> Any:
    return np.sum(np.sin(x) ** 2 + 0.5 * x)


# -- the cache ---------------------------------------------------------------------------------


class Misses:
    """Counts the Programs that are transformed inside the block."""

    def __enter__(self) -> Misses:
        self._before = CACHE.misses
        return self

    def __exit__(self, *exc: object) -> None:
        self.count = CACHE.misses - self._before


CALLS = {
    "grad": lambda: grad(loss)(X),
    "value_and_grad": lambda: value_and_grad(loss)(X),
    "vjp": lambda: vjp(np.sin, X)[1](X),
    "jvp": lambda: jvp(loss, (X,), (X,)),
    "linearize": lambda: linearize(loss, X)[1](X),
    "vmap": lambda: vmap(loss)(np.stack([X, X])),
    "jacfwd": lambda: jacfwd(np.sin)(X),
    "jacrev": lambda: jacrev(np.sin)(X),
    "hessian": lambda: hessian(loss)(X),
    "vmap_grad": lambda: vmap(grad(loss))(np.stack([X, X])),
    "grad_grad": lambda: grad(lambda x: np.sum(grad(loss)(x)))(X),
    "checkpoint": lambda: grad(checkpoint(loss))(X),
    "branch": lambda: grad(lambda x: loss(x) if np.sum(x) > 0.0 else np.sum(x))(X),
}


@pytest.mark.parametrize("name", CALLS)
def test_second_call_transforms_nothing(name: str) -> None:
    CALLS[name]()
    with Misses() as misses:
        CALLS[name]()
        CALLS[name]()
    assert misses.count == 0


def test_python_numbers_are_not_part_of_the_structure() -> None:
    def step(x: Any, rate: float) -> Any:
        return x - rate * grad(lambda x: np.sum(x**2) * rate + 0.1 * rate)(x)

    step(X, 0.1)
    with Misses() as misses:
        for rate in (0.2, 0.3, 1e-3, 5.0):
            np.testing.assert_allclose(step(X, rate), X - 2.0 * rate**2 * X)
    assert misses.count == 0


def test_captured_arrays_are_not_part_of_the_structure() -> None:
    def slope(data: Any) -> Any:
        return grad(lambda x: np.sum((x - data) ** 2))(X)

    slope(np.zeros(3))
    with Misses() as misses:
        for k in range(5):
            np.testing.assert_allclose(slope(np.full(3, float(k))), 2.0 * (X - k))
    assert misses.count == 0


def test_argument_values_are_not_part_of_the_structure() -> None:
    grad(loss)(X)
    with Misses() as misses:
        np.testing.assert_allclose(grad(loss)(2.0 * X), np.sin(4.0 * X) + 0.5)
    assert misses.count == 0


def test_shape_dtype_and_branch_are_part_of_the_structure() -> None:
    def f(x: Any) -> Any:
        return np.sum(x * 1.25) if np.sum(x) > 0.0 else np.sum(x / 4.0)

    with Misses() as first:
        grad(f)(np.ones(3))
    with Misses() as other_shape:
        grad(f)(np.ones(4))
    with Misses() as other_dtype:
        grad(f)(np.ones(3, np.float32))
    with Misses() as other_branch:
        found = grad(f)(-np.ones(3))
    assert [first.count, other_shape.count, other_dtype.count, other_branch.count] == [1, 1, 1, 1]
    np.testing.assert_array_equal(found, np.full(3, 0.25))


def test_static_integers_are_part_of_the_structure() -> None:
    def f(x: Any, n: int) -> Any:
        return np.sum(x**n) + x[n]

    np.testing.assert_allclose(grad(f)(X, 1), [1.0, 2.0, 1.0])
    np.testing.assert_allclose(grad(f)(X, 2), 2.0 * X + [0.0, 0.0, 1.0])
    np.testing.assert_allclose(grad(f)(X, 1), [1.0, 2.0, 1.0])


def test_two_functions_of_one_structure_are_independent() -> None:
    assert grad(lambda x: x * 2.0)(1.0) == 2.0
    assert grad(lambda x: x * 3.0)(1.0) == 3.0


def test_a_function_that_changes_is_recorded_again() -> None:
    power = 2

    def f(x: Any) -> Any:
        return x**power

    assert grad(f)(3.0) == 6.0
    power = 3
    assert grad(f)(3.0) == 27.0


def test_literals_of_different_dtypes_do_not_share() -> None:
    x = np.float32(1.0)
    assert grad(lambda x: x * 2.0)(x).dtype == np.float32
    assert value_and_grad(lambda x: x * np.float64(2.0))(x)[0].dtype == np.float64
    assert value_and_grad(lambda x: x * 2.0)(x)[0].dtype == np.float32
    assert value_and_grad(lambda x: x * True)(x)[0].dtype == np.float32


def test_the_cache_does_not_keep_arrays_alive() -> None:
    class Held(np.ndarray):
        pass

    data = np.ones(100_000).view(Held)
    reference = weakref.ref(data)
    grad(lambda x, data: np.sum(x * np.asarray(data)))(np.ones(100_000), data)
    del data
    gc.collect()
    assert reference() is None


def test_results_of_a_cached_program_are_fresh() -> None:
    first = grad(np.sum)(X)
    first[:] = 7.0
    np.testing.assert_array_equal(grad(np.sum)(X), np.ones(3))
    first = vjp(lambda x: np.zeros(3) + 0.0 * x, X)[0]
    first[:] = 7.0
    np.testing.assert_array_equal(vjp(lambda x: np.zeros(3) + 0.0 * x, X)[0], np.zeros(3))


# -- aliasing ----------------------------------------------------------------------------------

VIEWS = {
    "identity": lambda x: x,
    "reshape": lambda x: x.reshape(2, 3),
    "transpose": lambda x: x.T,
    "slice": lambda x: x[1:],
    "reverse": lambda x: x[::-1],
    "ravel": np.ravel,
    "newaxis": lambda x: x[None],
    "broadcast": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "twice": lambda x: (x, x),
    "captured": lambda x: X,
}


@pytest.mark.parametrize("name", VIEWS)
def test_results_share_no_memory_with_arguments_or_each_other(name: str) -> None:
    x = np.arange(6.0).reshape(3, 2)
    out, pullback = vjp(VIEWS[name], x)
    outs = out if isinstance(out, tuple) else (out,)
    bars = tuple(np.ones(o.shape) for o in outs)
    (x_bar,) = pullback(bars if isinstance(out, tuple) else bars[0])
    arrays = [x, *outs, *bars, x_bar, X]
    for i, a in enumerate(arrays):
        for b in arrays[i + 1 :]:
            assert not np.shares_memory(a, b)
    for result in (*outs, x_bar):
        assert result.flags.writeable


def test_arguments_are_not_modified_or_locked() -> None:
    x, data = X.copy(), np.arange(5000.0)
    before = x.tobytes(), data.tobytes()

    def f(x: Any) -> Any:
        assert active_recorder() is not None
        return np.sum(x) * np.sum(data)

    for way in (grad(f), jacfwd(f), lambda x: vjp(f, x)[1](1.0), lambda x: jvp(f, (x,), (x,)), hessian(f)):
        way(x)
    assert (x.tobytes(), data.tobytes()) == before
    assert x.flags.writeable
    assert data.flags.writeable


def test_buffer_reused_by_the_caller() -> None:
    """What is written into an argument or captured array after the call is not seen by the pullback."""
    x, data = X.copy(), np.ones(3)
    _, pullback = vjp(lambda x: x * data * x, x)
    _, push = linearize(lambda x: x * data * x, x)
    x[:], data[:] = 100.0, 100.0
    np.testing.assert_array_equal(pullback(np.ones(3))[0], 2.0 * X)
    np.testing.assert_array_equal(push(np.ones(3)), 2.0 * X)


def test_buffer_written_between_two_uses_inside_the_function() -> None:
    buffer = np.ones(3)

    def f(x: Any) -> Any:
        buffer[:] = 2.0
        first = x * buffer
        buffer[:] = 5.0
        return np.sum(first + x * buffer)

    np.testing.assert_array_equal(grad(f)(X), np.full(3, 7.0))


# -- exceptions --------------------------------------------------------------------------------


class Interrupt(Exception):
    pass


@pytest.mark.parametrize(
    "transform",
    [
        grad,
        value_and_grad,
        jacfwd,
        jacrev,
        vmap,
        hessian,
        make_program,
        lambda f: lambda x: vjp(f, x),
        lambda f: lambda x: jvp(f, (x,), (x,)),
    ],
)
def test_exception_inside_the_function_leaves_no_state(transform: Any) -> None:
    data = np.ones(5000)

    def f(x: Any) -> Any:
        y = grad(lambda z: np.sum(z) * np.sum(data))(x)
        if fails:
            raise Interrupt
        return np.sum(y)

    fails = True
    with pytest.raises(Interrupt):
        transform(f)(X)
    assert active_recorder() is None
    assert data.flags.writeable
    fails = False
    transform(f)(X)
    assert active_recorder() is None


def test_exception_caught_by_an_outer_function() -> None:
    def inner(y: Any) -> Any:
        raise Interrupt

    def outer(x: Any) -> Any:
        try:
            grad(inner)(x)
        except Interrupt:
            return x * 3.0
        return x

    assert grad(outer)(2.0) == 3.0


def test_error_in_a_transform_leaves_no_state() -> None:
    with pytest.raises(TypeError):
        grad(lambda x: x > 0.0)(1.0)
    with pytest.raises(TypeError):
        grad(lambda x: x[:, None] @ x)(X)
    assert active_recorder() is None
    assert grad(np.sin)(0.0) == 1.0


def test_generator_abandoned_inside_a_trace() -> None:
    def numbers(x: Any) -> Any:
        yield x
        yield x * 2.0

    def f(x: Any) -> Any:
        return next(numbers(x)) * x

    assert grad(f)(3.0) == 6.0


# -- threads -----------------------------------------------------------------------------------


def test_threads_differentiate_at_once() -> None:
    barrier = threading.Barrier(8)

    def work(k: int) -> list[Any]:
        barrier.wait()
        found = []
        for n in range(1, 20):
            slope = grad(lambda x: np.sum(x**n) * k + grad(lambda y: y * np.sum(x))(1.0))(X)  # noqa: B023 - called now
            found.append((k, n, slope))
            assert active_recorder() is None
        return found

    CACHE.clear()
    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(work, range(8)):
            for k, n, slope in results:
                np.testing.assert_allclose(slope, k * n * X ** (n - 1) + 1.0)


def test_a_pullback_is_called_from_several_threads() -> None:
    _, pullback = vjp(lambda x: np.sin(x) * x, X)
    expected = pullback(X)[0]
    with ThreadPoolExecutor(4) as pool:
        for (found,) in pool.map(lambda _: pullback(X), range(50)):
            np.testing.assert_array_equal(found, expected)


def test_a_thread_inside_a_traced_function_traces_on_its_own() -> None:
    def f(x: Any) -> Any:
        found = []
        thread = threading.Thread(target=lambda: found.append(grad(np.sin)(0.0)))
        thread.start()
        thread.join()
        return x * found[0] * 2.0

    assert grad(f)(1.0) == 2.0


# -- size --------------------------------------------------------------------------------------

LONG = 100_000


def chain(x: Any, length: int = LONG) -> Any:
    for _ in range(length):
        x = x * 1.00001
    return x


def test_a_hundred_thousand_operations_do_not_recurse() -> None:
    limit = sys.getrecursionlimit()
    np.testing.assert_allclose(grad(chain)(2.0), 1.00001**LONG, rtol=1e-9)
    assert sys.getrecursionlimit() == limit


SHORTER = 10_000


@pytest.mark.parametrize(
    "slope",
    [
        lambda f: lambda x: vjp(f, x)[1](1.0)[0],
        lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
        lambda f: lambda x: vmap(grad(f))(np.stack([x, x]))[0],
        lambda f: grad(lambda x: f(x) if f(x) > 0.0 else -f(x)),
        lambda f: lambda x: pickle.loads(pickle.dumps(make_program(grad(f))(x)))(x)[0],
    ],
    ids=["vjp", "jvp", "vmap", "values", "pickle"],
)
def test_long_chains_in_other_transforms(slope: Any) -> None:
    found = slope(lambda x: chain(x, SHORTER))(np.float64(2.0))
    np.testing.assert_allclose(found, 1.00001**SHORTER, rtol=1e-9)


def test_a_wide_sum_does_not_recurse() -> None:
    assert grad(lambda x: sum([x * float(k) for k in range(3000)], 0.0))(1.0) == sum(range(3000))


# -- copies and pickles ------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacfwd, jacrev, hessian, vmap, checkpoint])
def test_transformed_function_survives_pickle_and_copy(transform: Any) -> None:
    f = transform(loss)
    x = np.stack([X, X]) if transform is vmap else X
    for other in (pickle.loads(pickle.dumps(f)), copy.copy(f), copy.deepcopy(f)):
        for seen, wanted in zip(tree.leaves(other(x)), tree.leaves(f(x)), strict=True):
            np.testing.assert_array_equal(seen, wanted)


def test_pickled_program_computes_the_same() -> None:
    program = make_program(grad(loss))(X)
    again = pickle.loads(pickle.dumps(program))
    np.testing.assert_array_equal(again(X)[0], program(X)[0])
