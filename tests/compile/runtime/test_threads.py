"""The pool of threads: every index once, from several threads, after a fork, with Python's signals."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from funcgrad.compile.engines.build import build
from funcgrad.compile.runtime import threads as module
from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.threads import placed, set_threads, threads
from funcgrad.processors import available_processors

F8 = np.dtype(float)
SOURCE = """
def stage(p, n, begin, end):
    x = as_f64(p[0])
    y = as_f64(p[1])
    for i in range(begin, end):
        s = x[i]
        for k in range(n[2]):
            s = s * 0.5 + 1.0
        y[i] = s

def run(p, n):
    y = as_f64(p[1])
    for i in range(n[0]):
        y[i] = -1.0
    parallel(stage, p, n, 0, n[0], n[1])
"""


@pytest.fixture(autouse=True)
def four_threads():
    before = threads()
    if before == 1 and available_processors() > 1:
        pytest.skip("no pool of threads here")
    set_threads(4)
    yield
    set_threads(before)


@pytest.fixture(scope="module")
def loaded():
    return placed(build(SOURCE, ["run", "stage"]))


def make(loaded, size: int, grain: int, steps: int = 1):
    layout = CallLayout(
        (Input(0, F8, (size,)),),
        (Output(1, F8, (size,)),),
        sizes=(size, grain, steps),
        long=True,
        single=True,
    )
    return make_caller(loaded.addresses["run"], layout, loaded)


def expected(x: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        x = x * 0.5 + 1.0
    return x


@pytest.mark.parametrize("size", [0, 1, 7, 1000, 50_000])
@pytest.mark.parametrize("grain", [0, 1, 3, 64, 100_000])
def test_every_index_is_done(loaded, size, grain):
    if size // max(grain, 1) > 5000:
        grain = 10
    x = np.arange(float(size))
    call = make(loaded, size, grain)
    for _ in range(5):
        np.testing.assert_array_equal(call(x), expected(x, 1))


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_any_number_of_threads(loaded, count):
    set_threads(count)
    assert threads() == count
    x = np.arange(5000.0)
    call = make(loaded, 5000, 64, 10)
    for _ in range(20):
        np.testing.assert_array_equal(call(x), expected(x, 10))


def test_a_number_of_threads_below_one_is_refused():
    with pytest.raises(ValueError, match="at least one thread, not 0"):
        set_threads(0)


def test_several_python_threads_at_once(loaded):
    x = np.arange(2000.0)
    call = make(loaded, 2000, 50, 20)
    right = expected(x, 20)
    wrong = []

    def work():
        wrong.extend(1 for _ in range(100) if not np.array_equal(call(x), right))

    several = [threading.Thread(target=work) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert wrong == []


def test_workers_that_slept_wake_up(loaded):
    x = np.arange(2000.0)
    call = make(loaded, 2000, 50, 20)
    for _ in range(5):
        call(x)
        time.sleep(0.01)
    np.testing.assert_array_equal(call(x), expected(x, 20))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="affinity cannot be set")
@pytest.mark.skipif(available_processors() < 2, reason="one processor")
def test_a_worker_that_wakes_on_the_callers_processor_goes_to_another(loaded):
    set_threads(2)
    x = np.arange(2000.0)
    call = make(loaded, 2000, 50, 20)
    call(x)
    own = {thread.native_id for thread in threading.enumerate()}
    allowed = os.sched_getaffinity(0)
    tasks = [int(task) for task in os.listdir("/proc/self/task")]
    apart = 0
    for _ in range(20):
        for task in tasks:
            os.sched_setaffinity(task, {min(allowed)})
        time.sleep(0.002)  # all sleep there
        for task in set(tasks) - own:
            os.sched_setaffinity(task, allowed)
        for _ in range(20):
            call(x)
        apart += any(processor_of(task) != min(allowed) for task in set(tasks) - own)
    for task in tasks:
        os.sched_setaffinity(task, allowed)
    assert apart > 0
    assert all(os.sched_getaffinity(task) == allowed for task in tasks)


def processor_of(task: int) -> int:
    """The processor on which a thread of this process ran last."""
    return int(Path(f"/proc/self/task/{task}/stat").read_text().rpartition(") ")[2].split()[36])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_both_halves_of_a_fork_go_on(loaded):
    x = np.arange(2000.0)
    call = make(loaded, 2000, 50, 20)
    right = expected(x, 20)
    call(x)
    child = os.fork()
    if child == 0:
        fine = all(np.array_equal(call(x), right) for _ in range(20)) and threads() == 4
        os._exit(0 if fine else 1)
    assert np.array_equal(call(x), right)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of threads")
def test_signals_stay_with_pythons_own_threads(loaded):
    call = make(loaded, 2000, 50, 20)
    call(np.zeros(2000))
    own = {thread.native_id for thread in threading.enumerate()}
    workers = [task for task in Path("/proc/self/task").iterdir() if int(task.name) not in own]
    masks = [
        int(line.split()[1], 16)
        for task in workers
        for line in (task / "status").read_text().splitlines()
        if line.startswith("SigBlk:")
    ]
    bit = 1 << (signal.SIGINT - 1)
    assert sum(bool(mask & bit) for mask in masks) >= 3


def test_stages_run_serially_where_there_is_no_pool(monkeypatch):
    monkeypatch.setattr(module, "_pool", lambda: None)
    loaded = placed(build(SOURCE, ["run", "stage"]))
    x = np.arange(100.0)
    np.testing.assert_array_equal(make(loaded, 100, 8)(x), expected(x, 1))
    assert threads() == 1
