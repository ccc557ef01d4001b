"""The same function compiled by every library that compiles: builders of the calls that are timed.

As in `contenders`, a workload's function takes the array namespace first. A name such as ``jax.jit`` belongs
to the library before its dot. ``funcgrad`` here is `fg.jit` of the derivative; ``funcgrad.objective`` is
`fg.jit` of the function alone, on the same compiled path: what a gradient costs is judged against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.contenders import (
    Function,
    autograd_gradient,
    bound,
    contenders,
    jax_jitted_gradient,
    jax_jitted_hessian,
    mapped,
    torch_gradient,
    torch_hessian,
)
from benchmarks.libraries import use_threads
from benchmarks.model import OURS, Builder, Call, Contender, Versus, Workload

OBJECTIVE = "funcgrad.objective"

LIMIT = "funcgrad.limit"

ONE_THREAD = "funcgrad.one thread"

BLOCK = 4096
"""Elements that stay in the processor's first cache."""

COMPILED = ("funcgrad", OBJECTIVE, "torch", "torch.compile", "autograd", "jax.jit")

FUNCGRAD_CACHE = "FUNCGRAD_CACHE_DIR"

JAX_CACHE = "JAX_COMPILATION_CACHE_DIR"


def compiled_gradients(
    function: Function,
    *,
    names: tuple[str, ...] = COMPILED,
    instead: Mapping[str, Function] | None = None,
) -> tuple[Contender, ...]:
    """Contenders for value and gradient of a scalar function.

    `instead` holds the functions of libraries that need or deserve another than `function`, by library.
    """
    builders = {
        "funcgrad": funcgrad_jitted_gradient,
        OBJECTIVE: funcgrad_jitted_objective,
        "torch": torch_gradient,
        "torch.compile": torch_compiled_gradient,
        "autograd": autograd_gradient,
        "jax.jit": jax_jitted_gradient,
    }
    made = contenders({name: builders[name] for name in names}, function, True, instead or {})
    return tuple(replace(c, compared=c.name != OBJECTIVE) for c in made)


def compiled_hessians(function: Function) -> tuple[Contender, ...]:
    """Contenders for the Hessian of a scalar function of one array."""
    builders = {
        "funcgrad": funcgrad_jitted_hessian,
        "torch": torch_hessian,
        "torch.compile": torch_compiled_hessian,
        "jax.jit": jax_jitted_hessian,
    }
    return contenders(builders, function, False, {})


def first_gradients(function: Function, jax: Function | None = None) -> tuple[Contender, ...]:
    """Contenders for a first call in a new process: jax (by `jax`, if given) without and with its cache."""
    build = jax_jitted_gradient(jax or function, True)
    return (
        Contender("funcgrad", "funcgrad", funcgrad_jitted_gradient(function, True), cache=FUNCGRAD_CACHE),
        Contender("jax.jit", "jax", build),
        Contender("jax.cached", "jax", build, cache=JAX_CACHE),
    )


def with_second_thread(workload: Workload) -> Workload:
    """The workload beside itself on one thread: the second is to make it 1.7 times as fast."""
    (ours,) = (c for c in workload.contenders if c.name == OURS)

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        use_threads(1)  # in a process of its own, as every contender has one
        return ours.build(fg, np, inputs)

    alone = Contender(ONE_THREAD, "funcgrad", build)
    return replace(
        workload,
        contenders=(*workload.contenders, alone),
        targets=(*workload.targets, Versus((ONE_THREAD,), 1.7)),
    )


def funcgrad_jitted_gradient(function: Function, value: bool) -> Builder:
    """The gradient compiled as a whole."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        transform = fg.value_and_grad if value else fg.grad
        return partial(fg.jit(transform(bound(function, np))), *inputs)

    return build


def funcgrad_jitted_objective(function: Function, value: bool) -> Builder:
    """The function alone."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(fg.jit(bound(function, np)), *inputs)

    return build


def funcgrad_jitted_hessian(function: Function, value: bool) -> Builder:
    """Forward over reverse, compiled as a whole."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(fg.jit(fg.hessian(bound(function, np))), *inputs)

    return build


def vector_limit(names: tuple[str, ...], times: int) -> Contender:
    """The functions of a program one by one, each `times` times over blocks in cache: their arithmetic alone.

    What fuses them cannot be much faster than this, and should not be much slower.
    """

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        x = np.abs(inputs[0]) + inputs[0].dtype.type(0.1)
        blocks = [x[start : start + BLOCK] for start in range(0, len(x), BLOCK)]
        kernels = [fg.jit(bound(elementary(name), np)) for name in names] * times

        def call() -> Any:
            for block in blocks:
                for kernel in kernels:
                    kernel(block)

        return call

    return Contender(LIMIT, "funcgrad", build, compared=False)


def elementary(name: str) -> Function:
    """The function of that name of the array namespace."""

    def function(np: Any, x: Any) -> Any:
        return getattr(np, name)(x)

    return function


def torch_compiled_gradient(function: Function, value: bool) -> Builder:
    """One graph of value and gradient: measured up to five times as fast as `backward` of a compiled loss."""

    def build(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        # Compiled code is kept by code object, and every workload's function has the same one.
        torch._dynamo.reset()
        compiled = torch.compile(torch.func.grad_and_value(bound(function, torch)))
        tensors = mapped(torch.from_numpy, inputs)

        def call() -> Any:
            gradient, loss = compiled(*tensors)
            return (loss, gradient) if value else gradient

        return call

    return build


def torch_compiled_hessian(function: Function, value: bool) -> Builder:
    """Forward over reverse in one graph."""

    def build(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        torch._dynamo.reset()
        return partial(
            torch.compile(torch.func.hessian(bound(function, torch))), *mapped(torch.from_numpy, inputs)
        )

    return build
