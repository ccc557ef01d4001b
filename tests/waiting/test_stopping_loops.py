"""Native loops can be left: on a signal, and where there is no more memory. What comes after still works.

Signals are real, in a process of its own: a timer sends SIGALRM, whose handler raises KeyboardInterrupt.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.emit.interruptible_loops import POLL_EVERY, trips_between_polls

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

BEGIN = """
import signal, sys, threading, time
import numpy as np
import funcgrad as fg

def after(seconds):
    def handler(number, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, handler)
    # Once more later: where Python ignores an exception (a callback, a finaliser) the first is lost.
    signal.setitimer(signal.ITIMER_REAL, seconds, 10.0)

def interrupted(call):
    after(0.15)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return False
"""


def run(script: str) -> str:
    """What a script prints in a process of its own, which must end by itself."""
    text = BEGIN + textwrap.dedent(script)
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@posix
def test_every_native_loop_can_be_interrupted_and_runs_again():
    found = run("""
    def product(x, n):
        return fg.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]
    endless = fg.jit(product)
    assert interrupted(lambda: endless(0.5, 1 << 60)), "while_loop"
    assert endless(0.5, 3) == 0.0625

    def taped(x, n):
        # A tape of one number in a million trips, for an inner loop.
        def body(c):
            inner = fg.while_loop(lambda d: d[0] < 1000, lambda d: (d[0] + 1, np.sin(d[1])), (0, c[1]))
            return c[0] + 1, inner[1] * 0.0 + x
        return fg.while_loop(lambda c: c[0] < n, body, (0, x))[1]

    slope = fg.jit(fg.grad(taped))
    assert interrupted(lambda: slope(0.5, 10_000_000)), "tapes"
    assert slope(0.5, 3) == 1.0

    long = fg.jit(lambda x: fg.fori_loop(0, 1 << 50, lambda k, c: c * x, x))
    assert interrupted(lambda: long(0.5)), "fori_loop"

    def heavy(w):
        step = lambda c, _: (np.tanh(w @ c), None)
        return fg.scan(step, np.ones((200, 200)), None, length=1_000_000)[0]
    matrices = fg.jit(heavy)
    w = np.eye(200) * 0.5
    assert interrupted(lambda: matrices(w)), "scan with matrices"

    h, w = np.ones((16, 40)), np.eye(40) * 0.5
    rows = fg.jit(lambda h, w: fg.fori_loop(0, 1 << 50, lambda k, h: np.tanh(h @ w), h))
    assert "parallel(trips" in rows.kernel_source(h, w)
    assert interrupted(lambda: rows(h, w)), "rows in tiles"

    def counted(x, n):
        return fg.while_loop(lambda c: c < n, lambda c: c + x, 0.0)
    both = fg.jit(lambda x, n: fg.cond(n > 0, lambda: counted(x, n), lambda: x))
    assert interrupted(lambda: both(1e-9, 1e9)), "cond"
    assert both(1.0, -1.0) == 1.0

    count = lambda x, n: fg.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1.0, c[1] * x), (0.0, x))[1]
    lanes = fg.jit(fg.vmap(count))
    x, n = np.full(20_000, 0.5), np.full(20_000, 3.0)
    n[7_000] = 1e15
    assert interrupted(lambda: lanes(x, n)), "lanes"
    n[7_000] = 3.0
    assert np.all(lanes(x, n) == 0.0625)
    print("all")
    """)
    assert found == "all\n"


@posix
def test_threads_and_children_are_not_disturbed():
    found = run("""
    import os
    f = fg.jit(lambda x, n: fg.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, np.sin(c[1])), (0, x))[1])
    expected = f(0.5, 3_000_000)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(f(0.5, 3_000_000)))
    thread.start()
    assert interrupted(lambda: f(0.5, 1 << 60)), "main thread"
    thread.join()
    assert seen == [expected]
    child = os.fork()
    if child == 0:
        os._exit(0 if interrupted(lambda: f(0.5, 1 << 60)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print("done")
    """)
    assert found == "done\n"


@posix
def test_a_loop_in_another_thread_does_not_stop_the_others():
    found = run("""
    def power(x, n):
        return fg.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, np.sin(c[1])), (0, x))[1]
    f = fg.jit(power)
    f(0.5, 3)
    threading.Thread(target=f, args=(0.5, 1 << 60), daemon=True).start()
    assert interrupted(lambda: time.sleep(60.0))
    print("heard", flush=True)
    """)
    assert found == "heard\n"


@posix
def test_a_handler_that_raises_nothing_only_interrupts_for_a_moment():
    found = run("""
    f = fg.jit(lambda x, n: fg.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, np.sin(c[1])), (0, x))[1])
    f(0.5, 3)
    ticks = []
    def handler(number, frame):
        ticks.append(f(0.5, 2))  # the kernel itself may be called meanwhile
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    value = f(0.5, 30_000_000)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    assert len(ticks) >= 2 and set(ticks) == {f(0.5, 2)}, ticks
    assert value == f(0.5, 30_000_000)
    print("done")
    """)
    assert found == "done\n"


@posix
def test_donated_arguments_are_whole_after_an_interrupt():
    found = run("""
    def steps(x, n):
        return fg.fori_loop(0, n, lambda k, c: c * 0.5, x)
    f = fg.jit(steps, donate_argnums=0)
    f(np.arange(1000.0), 10)
    x = np.arange(1000.0)
    assert interrupted(lambda: f(x, 1 << 50))
    assert np.array_equal(x, np.arange(1000.0))
    print("whole")
    """)
    assert found == "whole\n"


@posix
def test_a_tape_without_memory_is_a_memory_error():
    found = (
        run("""
    import resource
    def power(x, n):
        turn = lambda c: (c[0] + 1, np.sin(c[1])[::-1])
        return np.sum(fg.while_loop(lambda c: c[0] < n, turn, (0, np.stack([x, 0.0])))[1])
    f = fg.jit(fg.grad(power))
    f(0.5, 3)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
    try:
        f(0.5, 1 << 40)
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(f(0.5, 1) == np.cos(0.5))
    """)
        if sys.platform == "linux"
        else pytest.skip("sets a limit as Linux does")
    )
    assert found == "True\n"


@posix
def test_calls_through_ctypes_can_be_interrupted_too():
    found = run("""
    from funcgrad.compile.runtime.callers import caller
    caller._MOST_SLOTS = 0  # no table is short enough for the native caller
    def power(x, n):
        return fg.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, np.sin(c[1])), (0, x))[1]
    f = fg.jit(power)
    assert interrupted(lambda: f(0.5, 1 << 60))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(f(0.5, 3_000_000)))
    thread.start()
    thread.join()
    print(seen == [f(0.5, 3_000_000)])
    """)
    assert found == "True\n"


def test_evaluated_loops_are_pythons_own():
    def interrupting(k, c):
        if k == 3:
            raise KeyboardInterrupt
        return c

    def steps(x):
        for k in range(10):
            x = interrupting(k, x) * 2.0
        return x

    with pytest.raises(KeyboardInterrupt):
        fg.grad(steps)(1.0)
    assert fg.grad(lambda x: x * 2.0)(1.0) == 2.0


def test_polls_are_as_rare_as_trips_are_cheap():
    assert trips_between_polls(0.0) == trips_between_polls(1.0) <= POLL_EVERY
    assert trips_between_polls(POLL_EVERY * 10) == 1
    assert trips_between_polls(300.0) * 300 <= POLL_EVERY


@pytest.mark.parametrize("trips", [0, 1, 3, 4, 5, 100, 524_288, 999_999, 1_000_000, 1_000_001, 1_048_577])
def test_runs_of_trips_are_complete(trips):
    def count(x):
        return fg.scan(lambda c, _: (c + x, None), x * 0.0, None, length=trips)[0]

    assert fg.jit(count)(1.0) == trips


def test_the_text_of_a_loop_does_not_depend_on_its_length():
    def total(x):
        return fg.scan(lambda c, row: (c + np.sum(row * row), None), 0.0, x)[0]

    f = fg.jit(total)
    short, long = (f.specialized(np.ones(shape)).executable.kernels[0] for shape in ((50, 7), (60, 9)))
    assert short.code == long.code
