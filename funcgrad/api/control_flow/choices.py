"""Choosing what runs: `cond` and `switch`.

The branches are recorded, inside a trace or outside of one, so they see no values; what they close over
becomes an input of the equation, and derivatives by it are right. Signatures are JAX's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.control_flow.binding import Function, boolean, bound, itself, scalar
from funcgrad.api.control_flow.control_types import Recorded, as_operand, common_results, recorded, typed
from funcgrad.api.python.blocks.recording import with_places, writing, written
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.errors import DtypeError
from funcgrad.ir.program import Program
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.step import with_inputs
from funcgrad.types import Number, Tree

T = TypeVar("T")
S = TypeVar("S")


class _NoOperand:
    """The default of `operand`, for which None is a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no operand>"


_NO_OPERAND = _NoOperand()


def cond(
    pred: object,
    true_fun: Callable[..., T],
    false_fun: Callable[..., S],
    *operands: object,
    operand: Tree = _NO_OPERAND,
) -> T | S:
    """``true_fun(*operands)`` if `pred`, else ``false_fun(*operands)``; only that one runs.

    `pred` is a scalar: a boolean, or a number that is compared with 0. Both functions must return the same
    structure, shapes and dtypes. Under `vmap` with a predicate that differs between examples both run.

    Raises TreeError, ShapeError or DtypeError where the results of the two do not agree.

    >>> def f(x):
    ...     return fg.cond(x > 0, np.sqrt, np.negative, x)
    >>> print(f(4.0), f(-4.0), fg.grad(f)(4.0))
    2.0 4.0 0.25
    """
    if not isinstance(operand, _NoOperand):
        operands = (*operands, operand)
    index = boolean(pred, "cond")
    roles = ("false_fun", "true_fun")
    chosen: T | S = chosen_branch("cond", index, (false_fun, true_fun), operands, roles, first=1)
    return chosen


def switch(
    index: Number, branches: Sequence[Function], *operands: object, operand: Tree = _NO_OPERAND
) -> Tree:
    """``branches[index](*operands)``, with the index clamped to the branches there are; only that one runs.

    Raises as `cond` does.

    >>> def f(i, x):
    ...     return fg.switch(i, [np.sin, np.cos, np.exp], x)
    >>> print(f(1, 0.0), f(-3, 0.0), f(7, 0.0))
    1.0 0.0 1.0
    """
    if not isinstance(operand, _NoOperand):
        operands = (*operands, operand)
    branches = tuple(branches)
    if not branches:
        raise ValueError("switch needs at least one branch")
    number = scalar(index, "the index of switch")
    seen = aval_of_any(number)
    if seen.dtype.kind not in "iu":
        raise DtypeError(f"the index of switch must be an integer, got {seen}", source=here())
    roles = tuple([f"branch {k}" for k in range(len(branches))])
    return chosen_branch("switch", typed(number, seen), branches, operands, roles)


def chosen_branch(
    what: str,
    index: Number,
    branches: tuple[Function, ...],
    operands: tuple[Any, ...],
    roles: tuple[str, ...],
    first: int = 0,
) -> Tree:
    """The result of the branch at `index`; messages compare the others with branch `first`."""
    branches = tuple([recordable_by_default(branch) for branch in branches])

    def attempt(places: list[Tracer], _: object) -> Tree:
        if not places:
            return chosen_once(what, index, branches, operands, roles, first)
        wider = tuple([writing(places, branch) for branch in branches])
        given = ([place.frozen() for place in places], *operands)
        result, values = chosen_once(what, index, wider, given, roles, first, places)
        written(places, values)
        return result

    return with_places(attempt)


def chosen_once(
    what: str,
    index: Number,
    branches: tuple[Function, ...],
    operands: tuple[Any, ...],
    roles: tuple[str, ...],
    first: int,
    places: Sequence[Tracer] = (),
) -> Tree:
    """`chosen_branch`, for branches that write no arrays of outer traces but these."""
    leaves, treedef = tree.flatten(operands)
    values = [as_operand(x, what, "an operand") for x in leaves]
    avals = [aval_of_any(x) for x in values]
    made = [
        recorded(branch, treedef, avals, what, role, places=places)._replace(name=role)
        for branch, role in zip(branches, roles, strict=True)
    ]
    results = common_results(what, [made[first], *made[:first], *made[first + 1 :]])
    constants, spots = shared_constants(made)
    n = len(values)

    def build(program: Program) -> Cond:
        others = [branch.transformed((what, k), itself, results) for k, branch in enumerate(made[1:], 1)]
        programs = []
        for k, one in enumerate([program, *others]):
            mine = {spot: n + i for i, spot in enumerate(spots[k])}
            spare = [aval_of_any(x).strong for x in constants]
            heads = [mine.get(spot, a) for spot, a in enumerate(spare)]
            programs.append(with_inputs(one, [*range(n), *heads]))
        choice: Cond = Cond(tuple(programs))
        return choice

    key = (what, *[branch.traced.recorder.fingerprint(branch.traced.outputs) for branch in made[1:]])
    names = tuple([branch.traced.recorder.name for branch in made])
    primitive = made[0].transformed((key, names, spots), build, results)
    outs = bound(primitive, [index, *[typed(x, a) for x, a in zip(values, avals, strict=True)], *constants])
    return tree.unflatten(made[0].out_tree, outs)


def shared_constants(made: Sequence[Recorded]) -> tuple[list[Any], tuple[tuple[int, ...], ...]]:
    """What any branch closes over, each outer value once, and where the constants of each branch are.

    A branch that holds one object twice (False, a small number) has two inputs for it, with a place each.
    """
    constants: list[Any] = []
    numbers: dict[Any, int] = {}
    places = []
    for branch in made:
        mine: list[int] = []
        for x in branch.constants:
            key = (id(x._recorder), x._index) if isinstance(x, Tracer) else (id(x), None)
            if numbers.setdefault(key, len(constants)) in mine:
                numbers[key] = len(constants)
            if numbers[key] == len(constants):
                constants.append(x)
            mine.append(numbers[key])
        places.append(tuple(mine))
    return constants, tuple(places)
