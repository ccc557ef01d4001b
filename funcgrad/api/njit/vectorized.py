"""Functions of ``numba.vectorize`` and ``guvectorize``: one example is traced, and mapped over the others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.api.batch import vmap
from funcgrad.api.calling.arguments import here
from funcgrad.api.njit.kinds import python_function
from funcgrad.errors import ShapeError, UnsupportedFunctionError
from funcgrad.ops.arrays.structure import broadcast_to, reshape
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import active_recorder, captured
from funcgrad.types import Array, NumbaFunction, Result, Tree

Function = Callable[..., Any]


class Core(NamedTuple):
    """The shapes of one example, as names of sizes, and which inputs of no axes come as arrays of one."""

    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]
    boxed: tuple[bool, ...]
    dtypes: tuple[Any, ...]
    """Of the outputs; None where the inputs say."""


def core_of(vectorized: NumbaFunction) -> Core | None:
    """What a ``guvectorize`` function says of one example; None where an example is of numbers."""
    builder = getattr(vectorized, "gufunc_builder", None)
    if builder is None:
        return None
    inputs, outputs = [named_shapes(side) for side in vectorized.signature.split("->")]
    signatures = list(builder._sigs)
    types = list(signatures[0].args) if signatures else [None] * (len(inputs) + len(outputs))
    boxed = tuple([hasattr(t, "ndim") and not shape for t, shape in zip(types, inputs, strict=False)])
    dtypes = tuple(
        [np.dtype(str(getattr(t, "dtype", t))) if t is not None else None for t in types[len(inputs) :]]
    )
    return Core(inputs, outputs, boxed, dtypes)


def named_shapes(text: str) -> tuple[tuple[str, ...], ...]:
    """The shapes of ``(n,m),(),(m)``."""
    parts = re.findall(r"\(([^)]*)\)", text.replace(" ", ""))
    return tuple([tuple([name for name in part.split(",") if name]) for part in parts])


def mapped(vectorized: NumbaFunction, example: Function) -> Function:
    """The function of arrays, from what one example of it computes."""
    name = python_function(vectorized).__name__

    def calling(*args: Tree, **kwargs: Tree) -> Result:
        core = core_of(vectorized)
        n_in = vectorized.nin if core is None else len(core.inputs)
        if kwargs or not n_in <= len(args) <= n_in + max(vectorized.nout, 1):
            raise UnsupportedFunctionError(
                f"{name} is called with {', '.join(kwargs) or f'{len(args)} arguments'}",
                source=here(),
                remedy=f"Give it {n_in} inputs, and after them arrays for what it writes, if you have some.",
            )
        inputs = [x if hasattr(x, "shape") else asoperand(np.asarray(x)) for x in args[:n_in]]
        results = over_examples(name, core, inputs, example)
        for target, result in zip(args[n_in:], results, strict=False):
            target[...] = result
        return results[0] if len(results) == 1 else tuple(results)

    calling.__name__ = name
    return calling


def over_examples(name: str, core: Core | None, inputs: Sequence[Any], example: Function) -> list[Any]:
    """The outputs: the example mapped over all axes of the inputs that are not its own."""
    n_core = [0] * len(inputs) if core is None else [len(shape) for shape in core.inputs]
    sizes = {} if core is None else core_sizes(name, core, inputs)
    loops = [x.shape[: len(x.shape) - n] for x, n in zip(inputs, n_core, strict=True)]
    loop = np.broadcast_shapes(*loops)

    def one(*given: Array) -> tuple[Any, ...]:
        if core is None:
            return (example(*given),)
        return outputs_of(core, sizes, given, example)

    if not loop:
        return list(one(*inputs))
    flat = []
    for x, mine, n in zip(inputs, loops, n_core, strict=True):
        own = x.shape[len(x.shape) - n :]
        flat.append(
            reshape(broadcast_to(asoperand(x), (*loop, *own)), (math.prod(loop), *own)) if mine else x
        )
    axes = tuple([0 if mine else None for mine in loops])
    found = vmap(one, in_axes=axes)(*flat)
    return [reshape(x, (*loop, *x.shape[1:])) for x in found]


def core_sizes(name: str, core: Core, inputs: Sequence[Any]) -> dict[str, int]:
    """The sizes that the inputs give to names; raises ShapeError where they differ."""
    sizes: dict[str, int] = {}
    for x, shape in zip(inputs, core.inputs, strict=True):
        own = x.shape[len(x.shape) - len(shape) :]
        for axis, size in zip(shape, own, strict=False):
            if len(own) != len(shape) or sizes.setdefault(axis, size) != size:
                raise ShapeError(f"{name}: {axis} is {sizes.get(axis)} in one input and {size} in another")
    return sizes


def outputs_of(core: Core, sizes: dict[str, int], given: Sequence[Any], example: Function) -> tuple[Any, ...]:
    """What an example writes into its outputs, which are arrays in any case."""
    inputs = [reshape(x, (1,)) if box else x for x, box in zip(given, core.boxed, strict=True)]
    outputs = []
    for shape, dtype in zip(core.outputs, core.dtypes, strict=True):
        filled = np.zeros([sizes[axis] for axis in shape] or [1], dtype or np.result_type(*given))
        outputs.append(captured(filled, active_recorder()))
    example(*inputs, *outputs)
    return tuple([x.frozen() if shape else x[0] for x, shape in zip(outputs, core.outputs, strict=True)])
