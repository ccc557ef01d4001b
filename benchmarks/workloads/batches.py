"""What a second thread is good for where no loop is long: `vmap` of small solvers, dense Jacobians.

And a neural differential equation, beside jax with and without `jax.checkpoint` put on its step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.compiled import with_second_thread
from benchmarks.contenders import Function, bound, jax_jitted_gradient, mapped
from benchmarks.model import Call, Contender, Versus, Workload
from benchmarks.problems import PROBLEMS, batches
from benchmarks.workloads.compiled import compiled

SLOW = "seconds a call"

WITHOUT = {"autograd": "no `vmap`", "torch": SLOW}


def solver(name: str, title: str) -> Workload:
    """Value and gradient of a small solver by `vmap`."""
    row = compiled(f"vmap-{name}", title, 1.0, f"vmap_{name}", left_out=WITHOUT)
    return with_second_thread(row)


def jacobian(name: str, title: str, make: Callable[[Any, Any], Function], inputs: Any) -> Workload:
    """A Jacobian: ``make(library, numpy)`` returns the function of the inputs that computes it."""

    def by_funcgrad(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(fg.jit(make(fg, np)), *inputs)

    def by_jax(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        found, arrays = jax.jit(make(jax, jax.numpy)), mapped(jax.numpy.asarray, inputs)
        return lambda: found(*arrays).block_until_ready()

    def by_torch(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        torch._dynamo.reset()
        return partial(torch.compile(make(torch.func, torch)), *mapped(torch.from_numpy, inputs))

    row = Workload(
        name=f"jit-{name}",
        title=title,
        contenders=(
            Contender("funcgrad", "funcgrad", by_funcgrad),
            Contender("jax.jit", "jax", by_jax),
            Contender("torch.compile", "torch", by_torch),
        ),
        targets=(Versus(("jax.jit", "torch.compile"), 1.0, "the best peer"),),
        inputs=inputs,
        in_quick=False,
    )
    return with_second_thread(row)


def forward(library: Any, np: Any) -> Function:
    """Column by column."""
    found: Function = library.jacfwd(bound(batches.two_layers, np))
    return found


def reverse(library: Any, np: Any) -> Function:
    """Row by row."""
    found: Function = library.jacrev(bound(batches.two_layers, np))
    return found


def of_examples(library: Any, np: Any) -> Function:
    """Those of a network, one for each example."""

    def every(x: Any, layers: Any) -> Any:
        return library.vmap(library.jacrev(lambda x: batches.small_network(np, x, layers)))(x)

    return every


def neural_equation(name: str, title: str) -> Workload:
    """A differential equation, with one more contender."""
    function = PROBLEMS[name].function

    def checkpointed(np: Any, *args: Any) -> Any:
        return function(np, *args, checkpoint=import_module("jax").checkpoint)

    absent = {"autograd": SLOW, "torch": SLOW, "torch.compile": "no answer after 90 s"}
    row = compiled(name.replace("_", "-"), title, 1.2, name, left_out=absent)
    by_hand = Contender("jax.checkpoint", "jax", jax_jitted_gradient(checkpointed, True))
    return replace(
        row,
        contenders=(*row.contenders, by_hand),
        targets=(*row.targets, Versus(("jax.checkpoint",), 1.2)),
    )


WORKLOADS = (
    solver("newton", "cube roots by 20 steps of Newton's method, 10,000 numbers by `vmap`"),
    solver("rk4", "Van der Pol by RK4, 50 steps, 10,000 oscillators by `vmap`"),
    solver("loop", "a loop of 200 short trips, 20,000 numbers by `vmap`"),
    solver("solve", "`solve` of 10,000 3×3 systems by `vmap`"),
    solver("kalman", "a step of Kalman's filter, 10,000 points by `vmap`"),
    jacobian(
        "jacfwd-dense", "Jacobian of two dense tanh layers, n = 200", forward, batches.two_layers_inputs
    ),
    jacobian("jacrev-dense", "the same in reverse mode", reverse, batches.two_layers_inputs),
    jacobian(
        "jacrev-vmap",
        "Jacobians of three tanh layers, 64 to 64, of 256 examples by `vmap`",
        of_examples,
        batches.small_network_inputs,
    ),
    neural_equation("neural_field", "20 steps of RK4 of 10⁴ states, moved by a network of three neighbours"),
    neural_equation("neural_spirals", "20 steps of RK4 of 5,000 points in the plane, moved by a network"),
)
