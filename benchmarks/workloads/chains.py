"""Long chains of scalar operations: the cost of recording one operation, and how it all grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

from benchmarks.contenders import Function, bound, gradients
from benchmarks.model import Builder, Call, Contender, Linear, Target, Versus, Within, Workload

RECORDED = 999

SLACK = 1.3
"""How far from linear still counts: caches of the processor fill up, and garbage collection looks further."""

NEAR_TORCH = Versus(("torch",), 1 / 1.3)
"""What records, transforms and evaluates in Python, beside what records in C++ and evaluates as it goes."""


def recorded_operations(np: Any, x: Any) -> Any:
    """Three kinds of operation: two traced operands, a function of NumPy, a Python number."""
    for _ in range(RECORDED // 3):
        x = x * x
        x = np.sin(x)
        x = x + 1.0
    return x


def timed(function: Function, laps: list[float]) -> Function:
    """The function, which notes how long its body took: recording, and nothing after it."""

    def body(x: Any) -> Any:
        start = perf_counter()
        out = function(x)
        laps.append(perf_counter() - start)
        return out

    return body


def recording_by(transform: Any, namespace: Any, x: Any) -> Call:
    """A call that returns the seconds its function ran while `transform` recorded it."""
    laps: list[float] = []
    run = transform(timed(bound(recorded_operations, namespace), laps))

    def call() -> tuple[float, None]:
        laps.clear()
        run(x)
        return sum(laps), None

    return call


def funcgrad_recording(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The recording inside of un-jitted `grad`."""
    return recording_by(fg.grad, np, inputs[0])


def torch_recording(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The forward pass on a leaf that requires its gradient."""
    leaf = torch.tensor(inputs[0], dtype=torch.float64, requires_grad=True)
    return recording_by(identity, torch, leaf)


def autograd_recording(autograd: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The forward pass inside of `grad`."""
    return recording_by(autograd.grad, autograd.numpy, inputs[0])


def jax_recording(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Tracing to a jaxpr, as `jit` does it. Every call traces: the function is a new one to jax."""
    laps: list[float] = []

    def call() -> tuple[float, None]:
        laps.clear()
        jax.make_jaxpr(timed(bound(recorded_operations, jax.numpy), laps))(inputs[0])
        return sum(laps), None

    return call


def identity(function: Function) -> Function:
    """The function itself."""
    return function


def one_number(np: Any) -> tuple[Any, ...]:
    """A float."""
    return (0.5,)


def zero_dimensional(np: Any) -> tuple[Any, ...]:
    """An array without axes, which every library takes."""
    return (np.array(0.5),)


RECORDING = Workload(
    name="recording",
    title=f"recording one operation (of {RECORDED}; torch and autograd also compute it)",
    contenders=(
        Contender("funcgrad", "funcgrad", funcgrad_recording),
        Contender("torch", "torch", torch_recording),
        Contender("autograd", "autograd", autograd_recording),
        Contender("jax", "jax", jax_recording),
    ),
    targets=(Within(1.0e-6),),
    inputs=one_number,
    self_timed=True,
    operations=RECORDED,
)


def chained(operations: int, np: Any, x: Any) -> Any:
    """Steps of four operations along a curve; value and gradient stay of order one at any length."""
    for _ in range(operations // 4):
        x = x + (np.sin(x) - x) * 1e-5
    return x


def other(np: Any, x: Any) -> Any:
    """Not the chain."""
    return np.cos(x) * x


def awake(contenders: Sequence[Contender], others: Sequence[Contender]) -> tuple[Contender, ...]:
    """The contenders, which have called the others before: what a library imports by need is there."""

    def builder(contender: Contender, before: Contender) -> Builder:
        def build(module: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
            before.build(module, np, inputs)()
            return contender.build(module, np, inputs)

        return build

    return tuple([replace(a, build=builder(a, b)) for a, b in zip(contenders, others, strict=True)])


def chain(exponent: int, targets: tuple[Target, ...] = ()) -> Workload:
    """Record, transform and run a chain that has never been seen: the first such call in a new process."""
    short = exponent <= 3
    eager = ("funcgrad", "torch", "autograd")
    names = (*eager, "jax") if short else eager
    return Workload(
        name=f"chain-1e{exponent}",
        title=f"chain of {10**exponent:,} operations: record, transform, run",
        contenders=awake(
            gradients(partial(chained, 10**exponent), names=names), gradients(other, names=names)
        ),
        targets=targets,
        inputs=zero_dimensional,
        measure="first call",
        spans=("first",),
        rounds=3,
        left_out={} if short else {"jax": "too slow without jit: measured at 1,000 operations only"},
        in_quick=short,
    )


WORKLOADS = (
    RECORDING,
    chain(3),
    chain(4, (NEAR_TORCH, Linear("chain-1e3", 10, SLACK))),
    chain(5, (NEAR_TORCH, Linear("chain-1e4", 10, SLACK))),
    replace(
        chain(4),
        name="chain-1e4-again",
        title="the chain of 10,000 operations, second call on",
        measure="warm",
    ),
)
