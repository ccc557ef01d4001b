"""What only shows in the long run: memory that grows, threads that meet. A program of five trials.

    python tests/compile/endurance.py functions 2000

Trials, and their numbers: ``compiler STEPS`` compiles a long program; ``functions COUNT`` compiles functions
and drops them; ``shapes COUNT`` calls one jitted function with many shapes; ``threads SECONDS SEED`` traces,
compiles, calls, drops and collects in eight threads; ``pool SECONDS SEED`` hands ranges to a pool of 1 to 16
threads. Each ends with one line that says what was done (and how many MB it took), and with an error if
anything was wrong.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import resource
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad as fg

X = np.linspace(0.25, 0.75, 6)
THREADS = 8
MOST_TO_COMPILE = 500.0


def resident() -> float:
    """The megabytes of memory that this process has now; where nobody says, the most that it has had."""
    gc.collect()
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return most_resident(resource.RUSAGE_SELF)


def most_resident(who: int) -> float:
    """The megabytes that this process, or the largest that it has waited for, has had at most.

    Linux counts what the process that started this one had until then, so it is asked for this one's own.
    """
    if who == resource.RUSAGE_SELF and sys.platform == "linux":
        with open("/proc/self/status") as file:
            found = [int(line.split()[1]) for line in file if line.startswith("VmHWM:")]
        if found:
            return found[0] / 1e3
    return resource.getrusage(who).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def function_of(number: int) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """A function whose kernel is like no other's, and its derivative by a formula of its own."""
    bits = f"{number:b}"[1:]

    def f(x: Any) -> Any:
        y = x
        for bit in bits:
            y = y * x if bit == "1" else y + x
        return np.sum(y)

    def slope(x: Any) -> Any:
        y, d = x, np.ones_like(x)
        for bit in bits:
            y, d = (y * x, d * x + y) if bit == "1" else (y + x, d + 1.0)
        return d

    return f, slope


def held(what: str, before: float, most: float) -> str:
    """How many megabytes there are more than before; an AssertionError where they reach the most."""
    more = resident() - before
    assert more < most, f"{what}: {more:.1f} MB"
    return f"{what}: {more:.1f} MB"


def functions(count: int) -> str:
    """Compile so many functions and drop them: most of what stays of 2,000 are the last 1,000 Programs."""

    def one(number: int) -> None:
        f, slope = function_of(number)
        np.testing.assert_allclose(fg.jit(fg.grad(f))(X), slope(X), rtol=1e-12)

    for k in range(40):
        one((1 << 14) + k)
    before = resident()
    for k in range(count):
        one(2 + k)
    return held(f"{count} functions", before, max(12.0, count * 0.03))


def compiler(steps: int) -> str:
    """Compile the gradient of an unrolled program whose steps differ, in less memory than is asked."""

    def step(a: Any, x: Any, number: int) -> Any:
        for k in range(8):
            x = np.tanh(a @ x) if number >> k & 1 else x * np.sum(np.sin(x)) + x[::-1]
        return x

    def f(a: Any, x: Any) -> Any:
        for number in range(steps):
            x = step(a, x, number) + np.exp(-x)
        return np.sum(x)

    start = resident()
    a = np.eye(6) * 0.5
    jitted = fg.jit(fg.grad(f))(a, X)
    np.testing.assert_allclose(jitted, fg.grad(f)(a, X), rtol=1e-9)
    here, beside = most_resident(resource.RUSAGE_SELF) - start, most_resident(resource.RUSAGE_CHILDREN)
    assert 0.0 < beside < MOST_TO_COMPILE, f"{beside:.0f} MB"
    assert here < MOST_TO_COMPILE, f"{here:.0f} MB"
    return f"{steps} steps compiled: {here:.0f} MB here, {beside:.0f} MB where LLVM ran"


def shapes(count: int) -> str:
    """Call one function with so many shapes, of which each that is kept takes some ten kilobytes."""
    f = fg.jit(lambda x: np.sum(x * x))

    def one(size: int) -> None:
        assert f(np.ones(size)) == size

    for k in range(1, 1101):
        one(k)
    before = resident()
    for k in range(1101, 1101 + count):
        one(k)
    one(7)
    return held(f"{count} shapes", before, 5.0)


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Run work in threads; the first error ends the process."""
    errors: list[str] = []

    def guarded(k: int) -> None:
        try:
            work(k)
        except BaseException:  # noqa: BLE001 - reported by the main thread
            errors.append(traceback.format_exc())

    several = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    if errors:
        sys.exit(errors[0])


def threads(seconds: float, seed: int) -> str:
    """Eight threads that trace, compile, call, drop and collect at random, and check what they get."""
    end = time.monotonic() + seconds
    done = [0] * THREADS
    shared: list[Any] = [None] * 12

    def work(k: int) -> None:
        chance = random.Random(seed * THREADS + k)
        while time.monotonic() < end:
            number = chance.randrange(2, 1 << chance.randrange(2, 9))
            f, slope = function_of(number)
            x = chance.uniform(0.2, 0.8) + np.linspace(0.0, 0.1, chance.choice([1, 3, 6, 6, 6, 40, 20_000]))
            way = chance.randrange(7)
            if way == 0:
                shared[chance.randrange(len(shared))] = (fg.jit(fg.grad(f)), slope)
            elif way == 1:
                shared[chance.randrange(len(shared))] = None
            elif way == 2:
                gc.collect()
            elif way == 3:
                np.testing.assert_allclose(fg.grad(f)(x), slope(x), rtol=1e-10)
            elif way == 4:
                rows = fg.jit(fg.vmap(fg.grad(f)))(np.stack([x, x * 0.5]))
                np.testing.assert_allclose(rows[1], slope(x * 0.5), rtol=1e-10)
            else:
                found = shared[chance.randrange(len(shared))]
                if found is not None:
                    np.testing.assert_allclose(found[0](x), found[1](x), rtol=1e-10)
            done[k] += 1

    at_once(THREADS, work)
    return f"{sum(done)} steps of {THREADS} threads in {seconds:g} s"


POOL_SOURCE = """
def stage(p, n, begin, end):
    x = as_f64(p[0])
    y = as_f64(p[1])
    for i in range(begin, end):
        y[i] += x[i]

def run(p, n):
    y = as_f64(p[1])
    for i in range(n[0]):
        y[i] = 1.0
    for k in range(n[2]):
        parallel(stage, p, n, 0, n[0], n[1])
"""


def pool(seconds: float, seed: int) -> str:
    """Ranges handed over again and again: every index once, whoever is awake, asleep or late."""
    from funcgrad.compile.engines.build import build
    from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output
    from funcgrad.compile.runtime.callers.caller import make_caller
    from funcgrad.compile.runtime.threads import placed, set_threads

    loaded = placed(build(POOL_SOURCE, ["run", "stage"]))
    kind = np.dtype(float)
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    handed = 0
    while time.monotonic() < end:
        set_threads(chance.randrange(1, 17))
        size = chance.choice([1, 2, 17, 256, 5000])
        grain, times = chance.choice([1, 1, 5, 100]), chance.choice([1, 20, 300])
        x = np.arange(1.0, size + 1.0)
        ends = (Input(0, kind, (size,)),), (Output(1, kind, (size,)),)
        layout = CallLayout(*ends, sizes=(size, grain, times), long=True, single=True)
        call = make_caller(loaded.addresses["run"], layout, loaded)
        expected = 1.0 + times * x

        def work(_: int, call: Any = call, x: Any = x, expected: Any = expected) -> None:
            for _ in range(10):
                np.testing.assert_array_equal(call(x), expected)

        callers = chance.choice([1, 1, 2, 5])
        at_once(callers, work)
        handed += 10 * callers * times
        if chance.random() < 0.2:
            time.sleep(0.002)  # until the workers sleep
    return f"{handed} ranges handed to 1 to 16 threads in {seconds:g} s"


def main(name: str, *numbers: str) -> None:
    """Run one trial, with a cache of its own, and show where threads are if it hangs."""
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["FUNCGRAD_CACHE_DIR"] = directory
        trial: Any = {trial.__name__: trial for trial in (compiler, functions, shapes, threads, pool)}[name]
        if name in ("threads", "pool"):
            faulthandler.dump_traceback_later(3 * float(numbers[0]) + 60, exit=True)
            said = trial(float(numbers[0]), int(numbers[1]))
        else:
            said = trial(int(numbers[0]))
    sys.stdout.write(said + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
