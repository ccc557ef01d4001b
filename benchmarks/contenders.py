"""The same function of arrays in every library: builders of the calls that are timed.

A workload's function takes the array namespace first, ``f(np, x, *constants)``, and is handed
``numpy``, ``torch``, ``autograd.numpy`` or ``jax.numpy``; a library that spells something differently gets a
function of its own. Derivatives are taken by the first argument, which may be a list or tuple of arrays.
Inputs are converted, and put on jax's device, before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.model import Builder, Call, Contender

Function = Callable[..., Any]
"""``f(np, x, *constants)``."""

UNJITTED = ("funcgrad", "torch", "autograd", "jax", "jax.jit")


def gradients(
    function: Function,
    *,
    value: bool = False,
    names: tuple[str, ...] = UNJITTED,
    instead: Mapping[str, Function] | None = None,
) -> tuple[Contender, ...]:
    """Contenders for the gradient (with `value`, value and gradient) of a scalar function.

    `instead` holds the functions of libraries that need or deserve another than `function`, by library.
    """
    builders: dict[str, Callable[[Function, bool], Builder]] = {
        "funcgrad": funcgrad_gradient,
        "torch": torch_gradient,
        "autograd": autograd_gradient,
        "jax": jax_gradient,
        "jax.jit": jax_jitted_gradient,
    }
    return contenders({name: builders[name] for name in names}, function, value, instead or {})


def hessians(function: Function, names: tuple[str, ...] = UNJITTED) -> tuple[Contender, ...]:
    """Contenders for the Hessian of a scalar function of one array."""
    builders: dict[str, Callable[[Function, bool], Builder]] = {
        "funcgrad": funcgrad_hessian,
        "torch": torch_hessian,
        "autograd": autograd_hessian,
        "jax": jax_hessian,
        "jax.jit": jax_jitted_hessian,
    }
    return contenders({name: builders[name] for name in names}, function, False, {})


def contenders(
    builders: Mapping[str, Callable[[Function, bool], Builder]],
    function: Function,
    value: bool,
    instead: Mapping[str, Function],
) -> tuple[Contender, ...]:
    """One contender for each builder; a name like ``jax.jit`` belongs to the library before the dot."""
    made = []
    for name, builder in builders.items():
        library = name.partition(".")[0]
        made.append(Contender(name, library, builder(instead.get(library, function), value)))
    return tuple(made)


def bound(function: Function, namespace: Any) -> Function:
    """The user's function: `function` with its array namespace."""

    def objective(*args: Any) -> Any:
        return function(namespace, *args)

    return objective


def mapped(convert: Callable[[Any], Any], value: Any) -> Any:
    """`convert` of every array in nested tuples, lists and dictionaries."""
    if isinstance(value, dict):
        return {key: mapped(convert, x) for key, x in value.items()}
    if isinstance(value, tuple | list):
        return type(value)([mapped(convert, x) for x in value])
    return convert(value)


def leaves_of(value: Any) -> list[Any]:
    """The arrays in nested tuples, lists and dictionaries."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves_of(value[key])]
    if isinstance(value, tuple | list):
        return [leaf for x in value for leaf in leaves_of(x)]
    return [value]


def arrays_of(numpy: Any, results: Any) -> list[Any]:
    """The results of a call as NumPy arrays."""
    return [
        leaf.detach().numpy() if hasattr(leaf, "detach") else numpy.asarray(leaf)
        for leaf in leaves_of(results)
    ]


# -- gradients ------------------------------------------------------------------------------------------


def funcgrad_gradient(function: Function, value: bool) -> Builder:
    """Un-jitted funcgrad on NumPy."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        transform = fg.value_and_grad if value else fg.grad
        return partial(transform(bound(function, np)), *inputs)

    return build


def torch_gradient(function: Function, value: bool) -> Builder:
    """Eager torch: `backward` into ``.grad``; measured faster than `torch.autograd.grad`."""

    def build(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        tensors = mapped(torch.from_numpy, inputs)
        leaves = [leaf.requires_grad_() for leaf in leaves_of(tensors[0])]

        def call() -> Any:
            loss = function(torch, *tensors)
            loss.backward()
            found = [leaf.grad for leaf in leaves]
            for leaf in leaves:
                leaf.grad = None
            return (loss, found) if value else found

        return call

    return build


def autograd_gradient(function: Function, value: bool) -> Builder:
    """HIPS autograd."""

    def build(autograd: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        transform = autograd.value_and_grad if value else autograd.grad
        return partial(transform(bound(function, autograd.numpy)), *inputs)

    return build


def jax_gradient(function: Function, value: bool) -> Builder:
    """jax without `jit`."""

    def build(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        transform = jax.value_and_grad if value else jax.grad
        return waited_for(jax, transform(bound(function, jax.numpy)), inputs, value)

    return build


def jax_jitted_gradient(function: Function, value: bool) -> Builder:
    """jax compiled as a whole."""

    def build(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        transform = jax.value_and_grad if value else jax.grad
        return waited_for(jax, jax.jit(transform(bound(function, jax.numpy))), inputs, value)

    return build


def waited_for(jax: Any, function: Function, inputs: tuple[Any, ...], value: bool) -> Call:
    """The call on device arrays, until its results are there.

    The method of an array costs a microsecond less than `jax.block_until_ready`, which walks a tree.
    """
    arrays = mapped(jax.numpy.asarray, inputs)
    wait = jax.block_until_ready

    def one_array() -> Any:
        return function(*arrays).block_until_ready()

    def two_arrays() -> Any:
        first, second = function(*arrays)
        return first.block_until_ready(), second.block_until_ready()

    def tree() -> Any:
        return wait(function(*arrays))

    if isinstance(inputs[0], tuple | list | dict):
        return tree
    return two_arrays if value else one_array


# -- Hessians -------------------------------------------------------------------------------------------


def funcgrad_hessian(function: Function, value: bool) -> Builder:
    """Forward over reverse."""

    def build(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(fg.hessian(bound(function, np)), *inputs)

    return build


def torch_hessian(function: Function, value: bool) -> Builder:
    """Reverse over reverse, all rows at once: `vectorize` was the fastest of torch's four ways."""

    def build(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        x, *constants = mapped(torch.from_numpy, inputs)

        def objective(x: Any) -> Any:
            return function(torch, x, *constants)

        return partial(torch.autograd.functional.hessian, objective, x, vectorize=True)

    return build


def autograd_hessian(function: Function, value: bool) -> Builder:
    """Reverse over reverse, row by row."""

    def build(autograd: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return partial(autograd.hessian(bound(function, autograd.numpy)), *inputs)

    return build


def jax_hessian(function: Function, value: bool) -> Builder:
    """Forward over reverse, without `jit`."""

    def build(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return waited_for(jax, jax.hessian(bound(function, jax.numpy)), inputs, value)

    return build


def jax_jitted_hessian(function: Function, value: bool) -> Builder:
    """Forward over reverse, compiled as a whole."""

    def build(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        return waited_for(jax, jax.jit(jax.hessian(bound(function, jax.numpy))), inputs, value)

    return build
