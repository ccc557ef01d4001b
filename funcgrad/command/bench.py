"""``python -m funcgrad bench``: a handful of gradients on this machine, beside the peers that are installed.

Quick rather than careful: a minute at most, everything in one process. Peers are imported by name, only here,
and only when they are asked for; where a gradient differs from ours, the table says so.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.command.page import paragraph, table_lines
from funcgrad.types import Anything, Array

PEERS = ("autograd", "torch", "jax")
COLUMNS = ("gradient of", "value, NumPy", "fg.grad", "fg.jit", *PEERS)
FIRST, EACH = 22, 13
SECONDS = 0.3
"""How long each number is measured for."""

NOTE = (
    "Median time of a call in float64, after the first. The first number is the function alone, by NumPy. "
    "fg.grad compiles itself where it is called for long enough; fg.jit is fg.jit(fg.grad(f)){peers}. All "
    "in one process, one after the other: to judge by, there are the benchmarks of the repository."
)
MEANING = {
    "autograd": "autograd is autograd.grad(f)",
    "torch": "torch is autograd.grad of tensors",
    "jax": "jax is jax.jit(jax.grad(f))",
}


@dataclass(frozen=True)
class Case:
    """A function of an array namespace and arrays; its gradient by the first array is measured."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]


# -- what is differentiated ---------------------------------------------------------------------------------


def small(xp: ModuleType, x: Array) -> Array:
    """Four operations on ten numbers: what a call costs."""
    return xp.sum(xp.tanh(x) ** 2 * 0.5)


def rosenbrock(xp: ModuleType, x: Array) -> Array:
    """The banana valley in many dimensions."""
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def logistic(xp: ModuleType, w: Array, X: Array, y: Array) -> Array:
    """The mean logistic loss of a linear model."""
    return xp.mean(xp.log1p(xp.exp(-y * (X @ w))))


def network(xp: ModuleType, w: Array, V: Array, X: Array) -> Array:
    """Two layers, the first of which is fitted."""
    return xp.mean((xp.tanh(X @ w) @ V) ** 2)


def elementwise(xp: ModuleType, x: Array) -> Array:
    """A long row of functions of each element."""
    return xp.sum(xp.exp(-(x**2)) * xp.sin(3.0 * x) / (1.0 + x**2))


def recurrence(xp: ModuleType, a: Array, h: Array) -> Array:
    """A Python loop of small steps."""
    for _ in range(30):
        h = xp.tanh(a @ h) + 0.1 * h
    return xp.sum(h**2)


def cases() -> tuple[Case, ...]:
    """The functions with their arguments, the same every time."""
    rng = np.random.default_rng(0)
    normal = rng.normal
    y = np.sign(normal(size=500))
    return (
        Case("4 ops on 10 numbers", small, (normal(size=10),)),
        Case("Rosenbrock, 1,000", rosenbrock, (normal(size=1000),)),
        Case("logistic, 500 x 20", logistic, (normal(size=20), normal(size=(500, 20)), y)),
        Case(
            "2 layers, 128 x 64",
            network,
            (normal(size=(64, 64)), normal(size=(64, 8)), normal(size=(128, 64))),
        ),
        Case("elementwise, 100,000", elementwise, (normal(size=100_000),)),
        Case("loop of 30 steps", recurrence, (normal(size=(16, 16)) / 8.0, normal(size=16))),
    )


CASES = cases()

# -- who differentiates it ----------------------------------------------------------------------------------


def with_numpy(case: Case) -> Callable[[], Any]:
    """The value alone."""
    return lambda: case.function(np, *case.arguments)


def with_grad(case: Case) -> Callable[[], Any]:
    """Ours as it stands."""
    gradient = fg.grad(lambda *args: case.function(np, *args))
    return lambda: gradient(*case.arguments)


def with_jit(case: Case) -> Callable[[], Any]:
    """Ours compiled."""
    gradient = fg.jit(fg.grad(lambda *args: case.function(np, *args)))
    return lambda: gradient(*case.arguments)


def with_autograd(case: Case) -> Callable[[], Any]:
    """Autograd, which has no compiled form."""
    xp = importlib.import_module("autograd.numpy")
    gradient = importlib.import_module("autograd").grad(lambda *args: case.function(xp, *args))
    return lambda: gradient(*case.arguments)


def with_torch(case: Case) -> Callable[[], Any]:
    """PyTorch, eagerly."""
    xp = importlib.import_module("torch")
    first, *others = [xp.from_numpy(x.copy()) for x in case.arguments]
    first.requires_grad_()

    def call() -> Anything:
        (found,) = xp.autograd.grad(case.function(xp, first, *others), first)
        return found

    return call


def with_jax(case: Case) -> Callable[[], Any]:
    """JAX, compiled."""
    jax, xp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    gradient = jax.jit(jax.grad(lambda *args: case.function(xp, *args)))
    arguments = [xp.asarray(x) for x in case.arguments]
    return lambda: gradient(*arguments).block_until_ready()


CONTENDERS: dict[str, Callable[[Case], Callable[[], Any]]] = {
    "value, NumPy": with_numpy,
    "fg.grad": with_grad,
    "fg.jit": with_jit,
    "autograd": with_autograd,
    "torch": with_torch,
    "jax": with_jax,
}

# -- the table ----------------------------------------------------------------------------------------------


def bench(peers: Sequence[str] = PEERS, seconds: float = SECONDS) -> None:
    """Measure and print, a row at a time."""
    there = [peer for peer in peers if find_spec(peer) is not None]
    columns = [name for name in COLUMNS if name not in PEERS or name in there]
    start = perf_counter()
    print("\n".join(table_lines(columns, columns, FIRST, EACH)), flush=True)
    for case in CASES:
        row = [case.name, *cells(case, columns[1:], seconds)]
        print("\n".join(table_lines(columns, row, FIRST, EACH)), flush=True)
    print()
    paragraph(NOTE.format(peers="".join([f", {MEANING[peer]}" for peer in there])))
    missing = [peer for peer in peers if peer not in there]
    if missing:
        paragraph(f"Not installed: {', '.join(missing)}.")
    print(f"{perf_counter() - start:.0f} s in all")


def cells(case: Case, names: Sequence[str], seconds: float) -> Iterator[str]:
    """The times of a case; whoever's gradient is another is named as such."""
    expected = np.asarray(with_grad(case)())
    for name in names:
        progress(f"{case.name}: {name}")
        call = CONTENDERS[name](case)
        found = np.asarray(call())
        agrees = name == "value, NumPy" or np.allclose(found, expected, rtol=1e-6, atol=1e-9)
        yield time_words(median_time(call, seconds)) if agrees else "differs"
    progress("")


def median_time(call: Callable[[], Any], seconds: float) -> float:
    """The median time of a call after a few, measured for so many seconds."""
    start = perf_counter()
    for _ in range(3):
        call()
    repeats = max(1, min(1000, int(2e-4 * 3 / (perf_counter() - start))))
    samples: list[float] = []
    while len(samples) < 3 or (perf_counter() - start < seconds and len(samples) < 1000):
        before = perf_counter()
        for _ in range(repeats):
            call()
        samples.append((perf_counter() - before) / repeats)
    return float(np.median(samples))


def time_words(seconds: float) -> str:
    """Microseconds, or milliseconds where there are many."""
    return f"{seconds * 1e6:.3g} us" if seconds < 9.995e-4 else f"{seconds * 1e3:.3g} ms"


def progress(words: str) -> None:
    """Say at the terminal what is measured now; nothing where standard error is no terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{words:<60}\r")
        sys.stderr.flush()
