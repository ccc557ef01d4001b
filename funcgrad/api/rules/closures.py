"""`closure_convert` and `custom_gradient`: functions that close over traced values, without them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import tree
from funcgrad.api.calling.arguments import leaf_aval
from funcgrad.api.calling.calls import run, trace
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.api.rules.custom import custom_vjp
from funcgrad.ir.program import Program
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.simplify import simplify_program
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Result, Tree


class Converted:
    """A recorded function that takes what it closed over as further arguments.

    Functions of one Program and equal structure are equal, so they may be static arguments.
    """

    __slots__ = ("_fixed", "_in_tree", "_out_tree", "_program", "_slots", "n_hoisted")

    def __init__(
        self,
        program: Program,
        in_tree: TreeDef,
        out_tree: TreeDef,
        fixed: Sequence[Any],
        slots: tuple[int, ...],
    ) -> None:
        self._program = program
        self._in_tree = in_tree
        self._out_tree = out_tree
        self._fixed = tuple(fixed)
        self._slots = slots
        self.n_hoisted = len(slots)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Converted):
            return NotImplemented
        same = self._program is other._program and self._slots == other._slots
        pairs = zip(self._fixed, other._fixed, strict=False)
        trees = self._in_tree == other._in_tree and self._out_tree == other._out_tree
        return same and trees and all(x is y for x, y in pairs)

    def __hash__(self) -> int:
        return hash((id(self._program), self._slots))

    def __call__(self, *args: Tree) -> Tree:
        """The function at arguments and the hoisted values, in their order."""
        given = args[len(args) - self.n_hoisted :]
        leaves, treedef = tree.flatten(args[: len(args) - self.n_hoisted])
        if treedef != self._in_tree:
            raise TypeError(
                "a converted function takes arguments of the structure that it was converted with: "
                f"{tree.explain_mismatch(self._in_tree, treedef)}"
            )
        rest = list(self._fixed)
        for slot, value in zip(self._slots, given, strict=True):
            rest[slot] = value
        return tree.unflatten(self._out_tree, run(self._program, [*leaves, *rest]))


def closure_convert(fun: Callable[..., Any], *example_args: Tree) -> tuple[Callable[..., Any], list[Any]]:
    """`fun` as a function that takes the traced values it closes over as arguments, and these values.

    It is recorded at arguments like `example_args`, and is called with as many and the values after them. A
    custom rule, which must not close over traced values, may be given both.

    >>> def scaled(a):
    ...     f, hoisted = fg.closure_convert(lambda x: np.sin(a * x), 1.0)
    ...     return f(2.0, *hoisted)
    >>> print(round(fg.grad(scaled)(0.0), 6))
    2.0
    """
    leaves, in_tree = tree.flatten(example_args)
    avals = [leaf_aval(x, lambda: "an example argument", "closure_convert") for x in leaves]
    structure: list[Any] = []
    body = recordable_by_default(fun)

    def call(tracers: list[Tracer]) -> Result:
        return body(*tree.unflatten(in_tree, tracers))

    def collect(result: Result) -> list[Any]:
        outs, out_tree = tree.flatten(result)
        structure.append(out_tree)
        return outs

    traced = trace(fun, call, leaves, "closure_convert", collect, avals=avals, with_values=False)
    program = traced.transformed("closure_convert", simplify_program)
    constants = traced.operands[traced.n_inputs :]
    slots = tuple([k for k, x in enumerate(constants) if type(x) is Tracer])
    fixed = [None if k in slots else x for k, x in enumerate(constants)]
    return Converted(program, in_tree, structure[0], fixed, slots), [constants[k] for k in slots]


class Kept:
    """What a forward pass keeps of a gradient function: the function, and the values it closed over."""

    __slots__ = ("converted", "hoisted")

    def __init__(self, converted: Anything, hoisted: Sequence[Any]) -> None:
        self.converted = converted
        self.hoisted = tuple(hoisted)


def taken_apart(kept: Kept) -> tuple[tuple[Any, ...], Any]:
    """The values, and the function."""
    return kept.hoisted, kept.converted


def put_together(converted: object, hoisted: Sequence[Any]) -> Kept:
    """The inverse of `taken_apart`."""
    return Kept(converted, hoisted)


tree.register_node(Kept, taken_apart, put_together)


def custom_gradient(fun: Callable[..., Any]) -> custom_vjp[..., Any]:
    """A function that returns its value and its gradient function, as one that returns its value.

    The gradient function may close over values of the computation. It maps a cotangent of the value to a
    cotangent for each argument: a tuple, or one cotangent for a function of one argument.

    >>> @fg.custom_gradient
    ... def clipped(x):
    ...     return x**2, lambda bar: np.clip(2.0 * bar * x, -1.0, 1.0)
    >>> print(clipped(3.0), fg.grad(clipped)(3.0), fg.grad(clipped)(0.25))
    9.0 1.0 0.5
    """

    def value(*args: Tree) -> Tree:
        return recordable_by_default(fun)(*args)[0]

    def forward(*args: Tree) -> tuple[Any, Kept]:
        found, rule = recordable_by_default(fun)(*args)
        return found, Kept(*closure_convert(rule, found))

    def backward(kept: Kept, bar: Tree) -> tuple[Any, ...]:
        bars = kept.converted(bar, *kept.hoisted)
        return bars if isinstance(bars, tuple) else (bars,)

    functools.update_wrapper(value, fun)
    made = custom_vjp(value)
    made.defvjp(forward, backward)
    return made
