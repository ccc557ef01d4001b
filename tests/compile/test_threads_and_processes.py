"""Compiled functions in several threads, in both halves of a fork, and in processes with a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.api.calling.calls import CACHE
from funcgrad.api.python.seen import TWINS
from funcgrad.compile.passes.arranging import dividing
from funcgrad.compile.runtime.threads import set_threads, threads
from funcgrad.ops.sparse.systems import _FACTORING
from funcgrad.tracing.primitive import _INTERNING

X = np.linspace(0.1, 1.0, 40)

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
may_warn = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def wave(x: Any, k: Any) -> Any:
    return np.sum(np.sin(x * k) * x)


def wave_slope(x: Any, k: Any) -> Any:
    return np.sin(x * k) + x * k * np.cos(x * k)


def at_once(n: int, work: Callable[[int], None]) -> None:
    """Run `work` in several threads that start together; the first error is raised here."""
    errors: list[BaseException] = []
    gate = threading.Barrier(n)

    def guarded(k: int) -> None:
        try:
            gate.wait()
            work(k)
        except BaseException as error:  # noqa: BLE001 - raised in the main thread
            errors.append(error)

    several = [threading.Thread(target=guarded, args=(k,)) for k in range(n)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join(60)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in several)


def in_a_child(work: Callable[[], bool]) -> bool:
    """Whether `work` is true in a forked process, which is killed if it hangs."""
    child = os.fork()
    if child == 0:
        fine = False
        try:
            import signal

            signal.alarm(300)
            fine = work()
        finally:
            os._exit(0 if fine else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# -- threads -------------------------------------------------------------------------------------------------


def test_one_function_traced_compiled_and_called_by_many_threads() -> None:
    slope = fg.jit(fg.grad(wave))

    def work(k: int) -> None:
        for turn in range(20):
            x = X[: 20 + (k + turn) % 5]
            np.testing.assert_allclose(slope(x, 1.0 + k), wave_slope(x, 1.0 + k), rtol=1e-12)

    at_once(6, work)


def test_functions_of_their_own_in_many_threads() -> None:
    def work(k: int) -> None:
        for turn in range(4):
            factor = 1.0 + 0.01 * k + 0.1 * turn
            f = fg.jit(fg.vmap(fg.grad(lambda x, factor=factor: np.tanh(x * factor) * x)))
            expected = np.tanh(X * factor) + X * factor / np.cosh(X * factor) ** 2
            np.testing.assert_allclose(f(X), expected, rtol=1e-12)

    at_once(6, work)


def test_large_results_in_many_threads_are_apart() -> None:
    double = fg.jit(lambda x: (x * 2.0, x + 1.0))
    results: dict[int, list[Any]] = {}

    def work(k: int) -> None:
        results[k] = [double(np.full(30_000, float(k + turn))) for turn in range(10)]

    at_once(4, work)
    for k, found in results.items():
        for turn, (twice, more) in enumerate(found):
            assert twice[0] == twice[-1] == 2.0 * (k + turn)
            assert more[0] == more[-1] == k + turn + 1.0


def test_shared_loops_called_by_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")  # what was made of a Program otherwise is not this
    monkeypatch.setattr(dividing, "SHORTEST", 0.0)
    before = threads()
    set_threads(3)
    try:
        total = fg.jit(lambda x: np.sum(np.sin(x) * x))
        x = np.linspace(0.0, 9.0, 20_000)
        expected = np.sum(np.sin(x) * x)

        def work(k: int) -> None:
            for _ in range(20):
                np.testing.assert_allclose(total(x), expected, rtol=1e-12)

        at_once(4, work)
    finally:
        set_threads(before)


def test_a_slow_trace_does_not_keep_other_threads_waiting() -> None:
    tracing, go_on = threading.Event(), threading.Event()

    @fg.jit
    def f(x: Any) -> Any:
        if x.ndim == 2:
            tracing.set()
            assert go_on.wait(300)
        return x * 2.0

    slow = threading.Thread(target=f, args=(np.ones((2, 2)),))
    slow.start()
    try:
        assert tracing.wait(300)
        found: list[Any] = []
        quick = threading.Thread(target=lambda: found.append(f(3.0)))
        quick.start()
        quick.join(300)
        assert found == [6.0]
    finally:
        go_on.set()
        slow.join(300)


# -- forks ---------------------------------------------------------------------------------------------------


@can_fork
@may_warn
def test_both_halves_of_a_fork_call_compile_and_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")  # what was made of a Program otherwise is not this
    monkeypatch.setattr(dividing, "SHORTEST", 0.0)
    before = threads()
    set_threads(2)
    try:
        slope = fg.jit(fg.grad(wave))
        loop = fg.jit(lambda x: lax.scan(lambda c, v: (np.sin(c + v), c), x[0], x))
        wanted, rows = slope(X, 2.0), loop(X)[1]

        def checked() -> bool:
            # What was compiled before, for another shape, and something new.
            new = fg.jit(lambda x: np.cumsum(np.cos(x)) * os.getpid())
            return (
                np.allclose(slope(X, 2.0), wanted)
                and np.allclose(loop(X)[1], rows)
                and np.allclose(slope(np.ones((7, 9)), 2.0), wave_slope(np.ones((7, 9)), 2.0))
                and np.allclose(new(X), np.cumsum(np.cos(X)) * os.getpid())
            )

        child_is_right = in_a_child(lambda: checked() and in_a_child(checked))
        assert checked()
        assert child_is_right
    finally:
        set_threads(before)


@can_fork
@may_warn
def test_a_fork_while_another_thread_records_leaves_the_child_able_to() -> None:
    tracing, go_on = threading.Event(), threading.Event()

    @fg.jit
    def f(x: Any) -> Any:
        if not tracing.is_set():
            tracing.set()
            assert go_on.wait(300)
        return x * 2.0

    thread = threading.Thread(target=f, args=(1.0,))
    thread.start()
    try:
        assert tracing.wait(300)
        assert in_a_child(lambda: bool(f(3.0) == 6.0))
    finally:
        go_on.set()
        thread.join(300)


@can_fork
@may_warn
@pytest.mark.parametrize(
    "lock",
    [_INTERNING, CACHE._lock, TWINS._cache._reading, _FACTORING],
    ids=["interning", "cache", "reading", "factoring"],
)
def test_a_fork_waits_for_locks_that_other_threads_hold(lock: Any) -> None:
    held = threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            sleep(0.1)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(300)
    child_is_right = in_a_child(
        lambda: bool(fg.grad(lambda x: np.sum(np.tile(x, os.getpid() % 97 + 1)))(X)[0] > 0)
    )
    thread.join(300)
    assert child_is_right


# -- processes -----------------------------------------------------------------------------------------------

SCRIPT = """
import sys, warnings
warnings.simplefilter("error")
import numpy as np
import funcgrad as fg

def loss(w, x, y):
    end, _ = fg.lax.scan(lambda c, v: (np.tanh(c * v), None), 0.5, w)
    return np.mean((np.logaddexp(0.0, x @ w) - y) ** 2) + end

step = fg.jit(fg.value_and_grad(loss))
w, x, y = np.linspace(-1, 1, 5), np.cos(np.arange(400.0)).reshape(80, 5), np.sin(np.arange(80.0))
value, gradient = step(w, x, y)
from funcgrad.compile.runtime.binaries import COUNTS
info = fg.cache_info()
front = "funcgrad.compile.engines.direct.translate"
lazy = [name for name in ("numba", "scipy", front) if name in sys.modules]
bits = value.hex(), gradient.tobytes().hex()
print(COUNTS.built, COUNTS.found, info.entries > 0, info.directory, lazy, *bits, sep="|")
"""


def run_with_cache(directory: Path, **environment: str) -> list[str]:
    place = Path(fg.__file__).parent.parent
    given = {**os.environ, "FUNCGRAD_CACHE_DIR": str(directory), "PYTHONPATH": str(place), **environment}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=given, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("|")


def test_a_second_process_builds_nothing_and_imports_no_compiler(tmp_path: Path) -> None:
    first, second = (run_with_cache(tmp_path / "cache") for _ in range(2))
    assert int(first[0]) > 0
    assert second[:2] == ["0", first[0]]
    assert second[2:5] == ["True", str(tmp_path / "cache"), "[]"]
    assert second[5:] == first[5:], "the same to the bit"


def test_a_disabled_cache_is_neither_read_nor_written(tmp_path: Path) -> None:
    found = run_with_cache(tmp_path / "cache", FUNCGRAD_CACHE="0")
    assert int(found[0]) > 0
    assert found[2] == "False"
    assert not (tmp_path / "cache").exists()
