"""Which elements of a Jacobian are zero whatever the numbers are, and how few products find the others.

A linear Program is followed with numbers of elements in the place of its inputs: what moves numbers moves
these, what combines elements unites them. Columns that no row has in common are found by one product
(Curtis, Powell and Reid, 1974). Operations that nothing is known of here, and results in which too much
meets, give no answer. Takes no derivative and runs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Literal, Program
from funcgrad.ops.arrays.movement import Concatenate, Flip, Stack
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice, UpdateSlice
from funcgrad.ops.arrays.structure import Broadcast, Cast, Permute, ReduceSum, Reshape
from funcgrad.ops.families import Pointwise
from funcgrad.types import AnyPrimitive

if TYPE_CHECKING:
    from funcgrad.ir.program import Equation


FEWEST_COLUMNS = 64
"""Below this the whole matrix is soon computed."""

MOST_TERMS = 24
"""How many inputs an element may depend on."""

MOST_GROUPS = 1 / 4
"""Groups for each column from which the whole matrix is computed as well."""

MOST_ELEMENTS = 100_000
"""Elements that may differ from zero above which finding groups takes as long as the matrix."""

MOST_FOLLOWED = 2_000_000
"""Numbers of inputs for one value, all elements together, above which it is not followed."""

MOVES = (Broadcast, Concatenate, Flip, Pad, Permute, Reshape, Slice, Stack, UpdateSlice)
"""Operations that put elements elsewhere, and zeros between them."""

Terms = list[np.ndarray[Any, np.dtype[np.int64]]]
"""For each element the numbers of the inputs that it depends on, from one, one in each array; 0 is none."""


class Groups(NamedTuple):
    """Columns of a Jacobian in groups that no row has in common, and where its elements then are."""

    of_column: np.ndarray[Any, np.dtype[np.int64]]
    """The group of each column."""
    number: int
    """How many groups there are."""
    places: tuple[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]], ...]
    """For each result the rows and the columns of the elements that may differ from zero."""


def columns_in_groups(program: Program, n_residuals: int) -> Groups | None:
    """Groups for a linear Program's Jacobian by what follows its residuals; None where they do not pay."""
    inputs = program.inputs[n_residuals:]
    total = sum(v.aval.size for v in inputs)
    followed = terms_of(program, inputs)
    if followed is None:
        return None
    places = [
        elements_of([] if type(atom) is Literal else followed.get(atom, [])) for atom in program.outputs
    ]
    if sum(len(rows) for rows, _ in places) > MOST_ELEMENTS:
        return None
    starts = np.cumsum([0, *[atom.aval.size for atom in program.outputs]])
    all_rows = np.concatenate([rows + start for (rows, _), start in zip(places, starts, strict=False)])
    all_columns = np.concatenate([columns for _, columns in places])
    of_column = grouped(all_rows, all_columns, int(starts[-1]), total)
    count = int(of_column.max()) + 1
    return Groups(of_column, count, tuple(places)) if count <= total * MOST_GROUPS else None


def terms_of(program: Program, inputs: Sequence[Any]) -> dict[Any, Terms] | None:
    """What every value that depends on the inputs depends on; None where that is not known, or too much."""
    found: dict[Any, Terms] = {}
    first = 1
    for v in inputs:
        found[v] = [np.arange(first, first + v.aval.size).reshape(v.aval.shape)]
        first += v.aval.size
    for equation in program.equations:
        given = [[] if type(atom) is Literal else found.get(atom, []) for atom in equation.inputs]
        if not any(given):
            continue
        size = equation.outputs[0].aval.size * sum(len(terms) for terms in given)
        if equation.primitive.multiple or size > MOST_FOLLOWED:
            return None
        terms = terms_after(equation.primitive, given, [atom.aval for atom in equation.inputs], equation)
        if terms is None:
            return None
        found[equation.outputs[0]] = terms
    return found


def terms_after(
    primitive: AnyPrimitive, given: list[Terms], avals: Sequence[Aval], equation: Equation
) -> Terms | None:
    """The terms of an operation's result; None where nothing is known of it, or where they are too many."""
    shape = equation.outputs[0].aval.shape
    if isinstance(primitive, Pointwise | Cast):
        return distinct([np.broadcast_to(term, shape) for terms in given for term in terms])
    if isinstance(primitive, MOVES):
        return distinct(moved(primitive, given, avals))
    if isinstance(primitive, AddToSlice):
        # One after the other: the numbers of the two must not be added.
        return distinct([*moved(primitive, [given[0], []], avals), *moved(primitive, [[], given[1]], avals)])
    if isinstance(primitive, ReduceSum):
        return summed(primitive.axes, given[0])
    return None


def moved(primitive: AnyPrimitive, given: list[Terms], avals: Sequence[Aval]) -> Terms:
    """The operation on the first terms of all operands, then on the second, as far as there are any."""
    count = max(len(terms) for terms in given)
    return [primitive.evaluate(*nth_terms(given, avals, k)) for k in range(count)]


def summed(axes: tuple[int, ...], terms: Terms) -> Terms | None:
    """The terms of sums over axes: those of all that is added."""
    shape = terms[0].shape
    added = math.prod([shape[axis] for axis in axes])
    if added * len(terms) > MOST_TERMS:
        return None
    kept = [n for axis, n in enumerate(shape) if axis not in axes]
    ahead = [np.moveaxis(term, axes, range(len(axes))).reshape(added, *kept) for term in terms]
    return distinct([part for term in ahead for part in term])


def nth_terms(given: list[Terms], avals: Sequence[Aval], k: int) -> Terms:
    """The k-th term of each operand, none where it has fewer."""
    return [
        terms[k] if k < len(terms) else np.zeros(aval.shape, np.int64)
        for terms, aval in zip(given, avals, strict=True)
    ]


def distinct(terms: Terms) -> Terms | None:
    """The terms without repetitions and without arrays of nothing; None where they are too many."""
    if len(terms) > 1:
        stacked = np.sort(np.stack(terms), axis=0)
        stacked[1:][stacked[1:] == stacked[:-1]] = 0
        terms = [term for term in np.sort(stacked, axis=0) if term.any()]
    return terms if len(terms) <= MOST_TERMS else None


def elements_of(terms: Terms) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The rows and columns of the elements that may differ from zero, each once."""
    if not terms:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    columns = np.stack([np.reshape(term, -1) for term in terms])
    _, rows = there = np.nonzero(columns)
    return rows, columns[there] - 1


def grouped(
    rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any], n_rows: int, n_columns: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The first group for each column, in order, with which it shares no row."""
    columns_of: list[list[int]] = [[] for _ in range(n_rows)]
    rows_of: list[list[int]] = [[] for _ in range(n_columns)]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        columns_of[row].append(column)
        rows_of[column].append(row)
    groups = [-1] * n_columns
    for column in range(n_columns):
        taken = {groups[other] for row in rows_of[column] for other in columns_of[row]}
        group = 0
        while group in taken:
            group += 1
        groups[column] = group
    return np.array(groups, np.int64)
