"""Functions of Numba's that are called and not traced: by their dispatcher, and by address in native code.

Their derivative is a rule's, of `custom_vjp` or `custom_jvp`. Nothing is known of what they compute but the
types and shapes of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.njit.kinds import is_njit, python_function
from funcgrad.api.python.seen import seen
from funcgrad.errors import FuncgradError, UnsupportedFunctionError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.later import Later
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.lists import asoperand
from funcgrad.transforms.host_call import HostCall
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Array, NumbaFunction, Result, Tree

# Numba is behind it.
njit_calls = Later("funcgrad.compile.runtime.addresses.njit_calls")

DECLARED: WeakValueDictionary[int, Callable[..., Any]] = WeakValueDictionary()
"""Functions with a rule of the user's, by the id of their dispatcher, which Numba's code calls."""


class NjitCall:
    """A function of Numba's as one of flat arrays, with its machine code."""

    __slots__ = ("_avals", "_dispatcher", "_in_tree")

    def __init__(self, dispatcher: NumbaFunction, in_tree: TreeDef, avals: tuple[Aval, ...]) -> None:
        self._dispatcher = dispatcher
        self._in_tree = in_tree
        self._avals = avals

    @property
    def _key(self) -> tuple[Any, ...]:
        return self._dispatcher, self._in_tree, self._avals

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NjitCall) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def __name__(self) -> str:
        return python_function(self._dispatcher).__name__

    def result(self, values: Sequence[Any]) -> Result:
        """What the dispatcher returns; it may write into its arguments, which are copies."""
        given = [np.array(x, a.dtype)[()] for x, a in zip(values, self._avals, strict=True)]
        return self._dispatcher(*tree.unflatten(self._in_tree, given))

    def __call__(self, *values: Array) -> list[Any]:
        return tree.leaves(self.result(values))

    def example(self) -> object:
        """What it returns for ones, which have the types and shapes that it is given."""
        try:
            return self.result([np.ones(a.shape, a.dtype) for a in self._avals])
        except Exception as error:
            raise UnsupportedFunctionError(
                f"{self.__name__} is called in one piece, and to learn what it returns it was called with "
                f"ones, where it raised {type(error).__name__}: {error}",
                source=here(),
                remedy="Let it return for ones too, with results of the shapes that it has otherwise.",
            ) from error

    def machine_code(self) -> int:
        """The address of a C function of pointers, to the arguments and then to the results."""
        return int(njit_calls.address_of(self._dispatcher, self._in_tree, self._avals, self.example()))


def called_in_one(dispatcher: object) -> Callable[..., Any]:
    """The function of Numba's as one operation, of which nothing else is known."""

    def calling(*args: Tree) -> Result:
        leaves, in_tree = tree.flatten(args)
        operands = [asoperand(x) for x in plain_leaves(leaves)]
        avals = tuple([aval_of_any(x).strong for x in operands])
        call = NjitCall(dispatcher, in_tree, avals)
        results, out_tree = tree.flatten(call.example())
        announced = tuple([aval_of(x).strong for x in results])
        return tree.unflatten(out_tree, HostCall(call, announced).bind(*operands))

    calling.__name__ = python_function(dispatcher).__name__
    return calling


def rule_of(function: Anything) -> Callable[..., Any]:
    """A function of Numba's as a rule: traced where it can be, so that it has derivatives too; else called.

    Any other function is itself.
    """
    return traced_or_called(function, called_in_one) if is_njit(function) else function


def jvp_rule_of(function: Anything) -> Callable[..., Any]:
    """The same of a rule ``(primals, tangents) -> value, tangent``."""
    return traced_or_called(function, called_in_two) if is_njit(function) else function


def called_in_two(dispatcher: object) -> Callable[..., Any]:
    """A forward rule that is called: its value without tangents, so that reverse mode knows it before them.

    With numbers for tangents their factors are found by calls, too, and reverse mode needs no more. It cannot
    turn around what arrays of tangents go through in one piece.
    """
    call = called_in_one(dispatcher)

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        given, in_tree = tree.flatten(tangents)
        zeros = [np.zeros(a.shape, a.dtype)[()] for a in map(aval_of_any, given)]

        def along(k: int) -> Array:
            return call(
                primals, tree.unflatten(in_tree, [*zeros[:k], np.ones_like(zeros[k]), *zeros[k + 1 :]])
            )

        value, _ = call(primals, tree.unflatten(in_tree, zeros))
        if any(zero.shape for zero in zeros):
            return value, call(primals, tangents)[1]
        parts = [tree.map(lambda slope, t=t: slope * t, along(k)[1]) for k, t in enumerate(given)]
        return value, reduce(lambda a, b: tree.map(add, a, b), parts)

    rule.__name__ = python_function(dispatcher).__name__
    return rule


def traced_or_called(
    function: NumbaFunction, calling: Callable[[Any], Callable[..., Any]]
) -> Callable[..., Any]:
    """What traces a function of Numba's, and where it cannot calls it in a way."""
    traced, called = seen(function), calling(function)

    def rule(*args: Array) -> Array:
        try:
            return traced(*args)
        except FuncgradError:
            return called(*args)

    rule.__name__ = python_function(function).__name__
    return rule
