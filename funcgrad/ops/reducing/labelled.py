"""Contractions by labels, as `einsum` writes them: from the labels of two operands and a result to axes.

Owns the reading and writing of subscripts such as ``"ij,jk->ik"`` and the choice of sums, operand order and
permutation that give any result from them. A label stands for one axis of each operand at most, and for one
size. Knows no arrays and records nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from string import ascii_letters
from typing import NamedTuple

from funcgrad.errors import ShapeError

Labels = tuple[str, ...]
Axes = tuple[int, ...]
AxisPairs = tuple[Axes, Axes]

LETTERS = "ijklmnopqrstuvwxyzabcdefgh" + ascii_letters[26:]
"""What canonical subscripts use, from the first."""


class ContractionLabels(NamedTuple):
    """The labels of operands and result: batch axes, then free axes of x, then free axes of y."""

    x: Labels
    y: Labels
    out: Labels
    contracting: AxisPairs
    """The axes that are summed, in x and in y."""
    batch: AxisPairs
    """The axes that both operands and the result have."""


@lru_cache(maxsize=4096)
def contraction_labels(text: str) -> ContractionLabels:
    """The labels that subscripts say; raises ShapeError for what is no contraction in canonical order.

    >>> contraction_labels("bij,bjk->bik").contracting
    ((2,), (1,))
    """
    terms, _, last = text.partition("->")
    x_term, _, y_term = terms.partition(",")
    x, y, out = tuple(x_term), tuple(y_term), tuple(last)
    shared = [a for a in x if a in y]
    batch = [a for a in out if a in shared]
    contracted = [a for a in shared if a not in out]
    free = [a for a in x if a not in y] + [a for a in y if a not in x]
    is_distinct = all(len(set(labels)) == len(labels) for labels in (x, y, out))
    if not is_distinct or [*batch, *free] != list(out):
        raise ShapeError(
            f"{text!r} is no contraction: the result must have the shared axes it keeps, "
            "then all axes of one operand alone, in order"
        )
    return ContractionLabels(x, y, out, axis_pairs(contracted, x, y), axis_pairs(batch, x, y))


def written(x: Iterable[str], y: Iterable[str], out: Iterable[str]) -> str:
    """The subscripts of operands and result with letters in the order of their first use.

    >>> written("bmk", "bkn", "bmn")
    'ijk,ikl->ijl'
    """
    names: dict[str, str] = {}
    for label in (*x, *y):
        k = len(names)
        names.setdefault(label, LETTERS[k] if k < len(LETTERS) else chr(0x100 + k))
    return "{},{}->{}".format(*("".join([names[a] for a in labels]) for labels in (x, y, out)))


def axis_pairs(labels: Iterable[str], x: Labels, y: Labels) -> AxisPairs:
    """Where each label stands in the one and in the other."""
    return positions(labels, x), positions(labels, y)


def positions(labels: Iterable[str], among: Labels) -> Axes:
    """Where each label stands among others."""
    return tuple([among.index(a) for a in labels])


class Recipe(NamedTuple):
    """What to do with two labelled operands."""

    x_summed: Axes
    y_summed: Axes
    """Axes that only one operand has and the result has not, summed first."""
    x: Labels
    y: Labels
    """The labels left."""
    subscripts: str | None
    """The contraction; None where nothing is summed and one operand has all axes of the other."""
    swapped: bool
    """Whether the contraction takes the operands in the other order: so their own axes are as wanted."""
    order: Axes | None
    """The permutation of the contraction's axes to those of the result, if there is one."""


@lru_cache(maxsize=4096)
def recipe(x_labels: Labels, y_labels: Labels, out: Labels) -> Recipe:
    """How operands with these labels give the result with those."""
    x = tuple([a for a in x_labels if a in y_labels or a in out])
    y = tuple([a for a in y_labels if a in x_labels or a in out])
    x_free = [a for a in x if a not in y]
    y_free = [a for a in y if a not in x]
    shared = [a for a in x if a in y]
    batch = [a for a in out if a in shared]
    is_product = len(batch) == len(shared) and not (x_free and y_free)
    free = [a for a in out if a not in batch]
    is_swapped = x_free + y_free != free == y_free + x_free
    found = tuple(batch + (y_free + x_free if is_swapped else x_free + y_free))
    first, second = (y, x) if is_swapped else (x, y)
    return Recipe(
        tuple([k for k, a in enumerate(x_labels) if a not in x]),
        tuple([k for k, a in enumerate(y_labels) if a not in y]),
        x,
        y,
        None if is_product else written(first, second, found),
        is_swapped,
        None if found == out else positions(out, found),
    )


def labels_left(x: Labels, y: Labels, kept: frozenset[str]) -> Labels:
    """The labels of a contraction that keeps those in `kept`, in the order that costs nothing."""
    shared = [a for a in x if a in y and a in kept]
    x_free = [a for a in x if a not in y and a in kept]
    y_free = [a for a in y if a not in x and a in kept]
    return (*shared, *x_free, *y_free)


@lru_cache(maxsize=4096)
def labels_of_axes(
    contracting: AxisPairs, batch: AxisPairs, x_ndim: int, y_ndim: int
) -> tuple[Labels, Labels, Labels]:
    """Labels of operands and result for pairs of axes; the others are free, and come last."""
    x = [LETTERS[k] if k < len(LETTERS) else chr(0x100 + k) for k in range(x_ndim)]
    y = [chr(0x1000 + k) for k in range(y_ndim)]
    for a, b in (*zip(*contracting, strict=True), *zip(*batch, strict=True)):
        y[b] = x[a]
    x_free = [x[a] for a in range(x_ndim) if a not in contracting[0] and a not in batch[0]]
    y_free = [y[b] for b in range(y_ndim) if b not in contracting[1] and b not in batch[1]]
    return tuple(x), tuple(y), (*[x[a] for a in batch[0]], *x_free, *y_free)
