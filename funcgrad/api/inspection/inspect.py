"""Looking at functions: `make_program` and `eval_shape`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, overload

from funcgrad import tree
from funcgrad.api.calling.arguments import leaf_aval
from funcgrad.api.calling.calls import trace
from funcgrad.api.calling.transformed import TransformedFunction, plain_transform
from funcgrad.api.python.seen import seen
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Anything, Result, Tree

Function = Callable[..., Any]


@overload
def make_program(
    fun: Function, static_argnums: int | Sequence[int] = (), return_shape: Literal[False] = False
) -> Callable[..., Program]: ...
@overload
def make_program(
    fun: Function, static_argnums: int | Sequence[int] = (), *, return_shape: Literal[True]
) -> TransformedFunction[..., tuple[Program, Any]]: ...
@overload
def make_program(
    fun: Function, static_argnums: int | Sequence[int] = (), return_shape: bool = False
) -> TransformedFunction[..., Any]: ...
@overload
def make_program(
    *, static_argnums: int | Sequence[int] = (), return_shape: bool = False
) -> Callable[[Function], Function]: ...
@plain_transform
def make_program(
    fun: Function, static_argnums: int | Sequence[int] = (), return_shape: bool = False
) -> Function:
    """A function that returns the Program of `fun` at its arguments (arrays, or their avals).

    Arguments at `static_argnums` are passed through as they are. With `return_shape` the result is
    ``(program, avals in the structure of the output)``.

    >>> import numpy as np
    >>> print(make_program(lambda x: np.sin(x) * 2.0)(np.ones(3)).text(sources=False))
    program function(x: f64[3]):
      a: f64[3] = sin(x)
      b: f64[3] = mul(a, 2.0)
      return b
    """
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    def program_of(*args: Tree, **kwargs: Tree) -> Anything:
        numbers = {n % len(args) for n in static}
        dynamic = [None if n in numbers else x for n, x in enumerate(args)]
        leaves, treedef = tree.flatten((dynamic, kwargs))
        leaves = plain_leaves(leaves)
        avals = [
            x if isinstance(x, Aval) else leaf_aval(x, lambda: "an argument", "make_program") for x in leaves
        ]
        structure: list[Any] = []

        def call(tracers: list[Tracer]) -> Result:
            given, named = tree.unflatten(treedef, tracers)
            return seen(fun)(*[args[n] if n in numbers else x for n, x in enumerate(given)], **named)

        def collect(result: Result) -> list[Any]:
            outs, out_tree = tree.flatten(result)
            structure.append(out_tree)
            return outs

        traced = trace(fun, call, leaves, "make_program", collect, with_values=False, avals=avals)
        program = simplify_program(traced.recorder.program(range(len(leaves)), traced.outputs))
        name_inputs(program, fun, args, kwargs, numbers)
        if return_shape:
            return program, tree.unflatten(structure[0], program.out_avals)
        return program

    return program_of


def name_inputs(
    program: Program, fun: Function, args: Sequence[Any], kwargs: dict[str, Any], static: set[int]
) -> None:
    """Give the inputs of a new Program the user's parameter names, where they are known."""
    names: list[str] = []
    code = getattr(inner_function(fun), "__code__", None)
    parameters = code.co_varnames[: code.co_argcount] if code is not None else ()
    for n, arg in enumerate(args):
        if n not in static:
            name = parameters[n] if n < len(parameters) else f"x{n}"
            names += leaf_names(name, arg)
    for key in sorted(kwargs):
        names += leaf_names(key, kwargs[key])
    for v, hint in zip(program.inputs, names, strict=True):
        v.hint = hint


def inner_function(fun: Function) -> Function:
    """The user's function inside the transforms that wrap it."""
    while hasattr(fun, "__wrapped__"):
        fun = fun.__wrapped__
    return fun


def leaf_names(name: str, value: object) -> list[str]:
    """A name for each leaf of an argument: its own for an array, with the path for a pytree."""
    names: list[str] = []
    for path, _ in tree.leaves_with_path(value):
        names.append(joined_words(name + tree.keystr(path) if path else name))
    return names


@lru_cache(maxsize=1024)
def joined_words(text: str) -> str:
    """Letters and digits of a text, with a line where there are others between them."""
    return "_".join("".join([c if c.isalnum() else " " for c in text]).split())


def eval_shape(fun: Function, *args: object, **kwargs: object) -> Tree:
    """The shapes and dtypes that `fun` would return, without computing anything.

    >>> import numpy as np
    >>> eval_shape(np.dot, np.ones((3, 4)), np.ones((4, 5)))
    f64[3,5]
    """
    _, shapes = make_program(fun, return_shape=True)(*args, **kwargs)
    return shapes
