"""The first call of a compiled gradient in a new process, import included, with an empty and a warm cache.

jax runs without its persistent cache on disk, which is its default, and with it, told to keep everything.
"""

from __future__ import annotations

from benchmarks.compiled import first_gradients
from benchmarks.model import Cache, Target, Versus, Workload
from benchmarks.problems import PROBLEMS
from benchmarks.problems.convolutional import jax_conv_net
from benchmarks.workloads.compiled import SINGLE

TARGETS: dict[Cache, tuple[Target, ...]] = {
    "warm": (Versus(("jax.jit",), 1 / 0.7), Versus(("jax.cached",), 1 / 0.7)),
    "empty": (Versus(("jax.jit", "jax.cached"), 1 / 2, "jax, with its cache or without"),),
}

PROGRAMS = {
    "scalar": "scalar function",
    "chain30": "30 operations on each of 10⁶ elements",
    "mlp": "tanh MLP, batch 32, width 64, float32",
    "lstm": "LSTM, 500 steps, batch 1, hidden 16, float32",
    "van_der_pol": "Van der Pol by RK4, 10,000 steps",
    "gmm": "ADBench's Gaussian mixture",
    "pytree": "squares of 100 arrays of three numbers in a list",
}

UNROLLED = {
    **{f"unrolled_rnn{n}": f"recurrent network, {n} steps in a loop of Python's" for n in (10, 30, 100)},
    **{f"unrolled_kalman{n}": f"Kalman filter, {n} steps in a loop of Python's" for n in (5, 10, 30)},
    **{f"unrolled_rk4_{n}": f"Runge-Kutta, {n} steps in a loop of Python's, 6 numbers" for n in (10, 50)},
    **{f"unrolled_layers{n}": f"network of {n} equal layers" for n in (20, 50)},
    "conv_net": "convolutional network, 32×28×28, 8 and 16 channels, float32",
    "transformer12": "transformer of 12 blocks, 32 tokens, width 64",
    "hand": "GradBench's hand tracking, 22 bones, 120 vertices",
}
"""Programs whose length is Python's doing: what repeats must not be compiled again and again."""

FOR_JAX = {"conv_net": jax_conv_net}
"""What jax says in other words."""

BESIDE_JIT: dict[Cache, tuple[Target, ...]] = {
    "warm": (Versus(("jax.jit",), 1 / 0.4),),
    "empty": (Versus(("jax.jit",), 1 / 0.8),),
}
"""Few and many operations, one and many kernels, loops, and many arguments."""


def cold(problem: str, title: str, cache: Cache) -> Workload:
    """Everything from the start of the interpreter's first line to the first result."""
    found = PROBLEMS[problem]
    return Workload(
        name=f"cold-{cache}-{problem.replace('_', '-')}",
        title=f"first call in a new process, import included, {cache} disk cache: {title}",
        contenders=first_gradients(found.function, FOR_JAX.get(problem)),
        targets=(BESIDE_JIT if problem in UNROLLED else TARGETS)[cache],
        inputs=found.inputs,
        measure="first call",
        cache=cache,
        statistic="median",
        rounds=3,
        rtol=SINGLE,
        in_quick=False,
    )


WORKLOADS = tuple(
    cold(problem, title, cache)
    for cache in ("warm", "empty")
    for problem, title in {**PROGRAMS, **UNROLLED}.items()
)
