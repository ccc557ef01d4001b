"""The first call of a compiled gradient in a new process, import included, with an empty and a warm cache.

jax runs without its persistent cache on disk, which is its default, and with it, told to keep everything.
"""

from __future__ import annotations

import gc
from functools import partial
from importlib import import_module
from itertools import count
from time import process_time
from typing import Any

from benchmarks.compiled import first_gradients
from benchmarks.contenders import Function, bound
from benchmarks.model import OURS, Builder, Cache, Call, Contender, Linear, Target, Versus, Within, Workload
from benchmarks.problems import PROBLEMS, long_programs
from benchmarks.problems.convolutional import jax_conv_net
from benchmarks.workloads.chains import RECORDED, SLACK, awake, one_number, recorded_operations
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


# -- what comes before LLVM, and how it all grows ---------------------------------------------------------

PASSES = "funcgrad.compile.passes"

FRONT = {
    "mlp": 31,
    "unrolled_rnn100": 42,
    "unrolled_kalman30": 97,
    "unrolled_rk4_50": 97,
    "unrolled_layers50": 354,
    "transformer12": 2162,
    "hand": 547,
}
"""Programs whose front end is measured, and the equations of value and gradient, those in loops included."""

CHAIN = 2330
"""The equations of a chain of operations on a number."""

BLOCKS = {"1e3": (6, 1_124), "1e4": (56, 9_774)}
"""Blocks of a transformer, and the equations of its value and gradient."""


def funcgrad_front(function: Function, loops: bool) -> Builder:
    """Seconds of the processor from the call of `jit` to the steps of value and gradient.

    Recording, simplifying and scheduling, in a process that has done it before. Without `loops` each trip
    of a loop is recorded.
    """

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        collector, passes = import_module("funcgrad.collector"), import_module(f"{PASSES}.pipeline")
        transforms = import_module("funcgrad.api.calling.calls").CACHE
        dividing, tiling = [import_module(f"{PASSES}.arranging.{name}") for name in ("dividing", "tiling")]
        numbers = count()

        def call() -> tuple[float, Any]:
            objective = bound(function, np)
            # What was recorded under another name is transformed anew, and loops are that nothing holds.
            transforms.clear()
            gc.collect()
            objective.__name__ = f"objective{next(numbers)}"
            start = process_time()
            program = fg.jit(fg.value_and_grad(objective), control_flow=loops).lower(*inputs).program
            with collector.CollectorPaused():
                schedule = passes.scheduled(passes.rewritten(program))
                dtypes = {number: buffer.dtype for number, buffer in schedule.numbers}
                steps = dividing.shared_steps(schedule.steps, schedule.local, dtypes, program.name)
                tiling.tiled_steps(steps, schedule.created)
            return process_time() - start, program

        return call

    return build


def shallow_loss(np: Any, weights: Any, tokens: Any, following: Any) -> Any:
    """The loss of a transformer's first block."""
    words, places, blocks = weights
    return long_programs.transformer_loss(np, (words, places, blocks[:1]), tokens, following)


def front(
    name: str, title: str, equations: int, function: Function, inputs: Any, *, loops: bool = True
) -> Workload:
    """What an equation costs before LLVM has anything to do, but for writing the kernel."""
    return Workload(
        name=f"front-{name.replace('_', '-')}",
        title=f"recording, simplifying and scheduling one equation, processor time: {title}",
        contenders=(Contender(OURS, OURS, funcgrad_front(function, loops)),),
        targets=(Within(40e-6),),
        inputs=inputs,
        self_timed=True,
        operations=equations,
    )


def growth(size: str, targets: tuple[Target, ...] = ()) -> Workload:
    """The first call of a transformer's gradient, which is as long as it has blocks."""
    blocks, equations = BLOCKS[size]
    ours = [c for c in first_gradients(long_programs.transformer_loss) if c.name == OURS]
    others = [c for c in first_gradients(shallow_loss) if c.name == OURS]
    return Workload(
        name=f"growth-{size}",
        title=f"first compiled call, empty disk cache: transformer, {blocks} blocks, {equations:,} equations",
        contenders=awake(ours, others),
        targets=targets,
        inputs=partial(long_programs.transformer_inputs, blocks=blocks),
        measure="first call",
        spans=("first",),
        cache="empty",
        statistic="median",
        rounds=3,
        in_quick=False,
    )


WORKLOADS = (
    *[
        cold(problem, title, cache)
        for cache in ("warm", "empty")
        for problem, title in {**PROGRAMS, **UNROLLED}.items()
    ],
    front("chain", f"{RECORDED} operations on a number", CHAIN, recorded_operations, one_number, loops=False),
    *[
        front(name, {**PROGRAMS, **UNROLLED}[name], equations, PROBLEMS[name].function, PROBLEMS[name].inputs)
        for name, equations in FRONT.items()
    ],
    growth("1e3"),
    growth("1e4", (Linear("growth-1e3", BLOCKS["1e4"][1] / BLOCKS["1e3"][1], SLACK),)),
)
