"""``einsum``: reading its subscripts, and contracting operands two at a time along a good path.

Owns the subscripts (string and list forms, ellipsis, repeated and size-one indices) and the order of the
contractions, which is kept per subscripts and shapes. A contraction itself is
`funcgrad.ops.reducing.labelled`'s.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from functools import lru_cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Shape
from funcgrad.numpy.algebra.operands import promoted, stored
from funcgrad.numpy.arrays.views import diagonal, transpose
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.ops.arrays.structure import aval, cast, permute, reduce_sum, reshape, shape_of
from funcgrad.ops.contraction import contract
from funcgrad.ops.elementwise.comparison import not_equal
from funcgrad.ops.reducing.labelled import Labels, labels_left
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, DTypeLike, Option, UfuncOption

ELLIPSIS = "..."
INDEX_LETTERS = ascii_uppercase + ascii_lowercase
"""What the integers of the list form stand for, in the order in which an implicit output sorts them."""


class Subscripts(NamedTuple):
    """The subscripts of each operand and of the result, as text without spaces."""

    terms: tuple[str, ...]
    out: str

    def __str__(self) -> str:
        return f"{','.join(self.terms)}->{self.out}"


@implements(np.einsum)
def einsum(
    *operands: ArrayLike,
    out: Array = None,
    optimize: object = False,
    dtype: DTypeLike = None,
    casting: object = "safe",
    order: str = "K",
) -> Array:
    """Sums of products along axes named by letters, as `np.einsum`.

    Several operands are contracted two at a time: along a greedily chosen path, or as `optimize` says
    (``"optimal"``, or a path as `einsum_path` returns it).

    >>> x, y = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    >>> print(fg.grad(lambda x: fg.numpy.einsum("ij,ji->", x, y))(x))
    [[1. 1. 1.]
     [1. 1. 1.]]
    """
    if not any_traced(operands):
        result = np.einsum(*operands, optimize=optimize, dtype=dtype, casting=casting, order=order)  # type: ignore[call-overload]
        return stored(result, out, "np.einsum")
    if order not in ("K", "A", "C"):
        raise unsupported(f"np.einsum with order={order!r}")
    try:
        text, arrays = read_operands(operands)
        arrays = cast_operands(arrays, dtype, casting)
        plan = einsum_plan(text, tuple([shape_of(x) for x in arrays]), hashable(optimize))
    except (ShapeError, DtypeError) as error:
        raise located(error, user_location()) from None
    if aval(arrays[0]).dtype.kind == "b":
        # A sum of booleans is whether any holds.
        counts = run_plan(plan, [cast(x, np.int64) for x in arrays])
        return stored(not_equal(counts, 0), out, "np.einsum")
    if out is None and is_a_view(plan):
        return transpose(arrays[0], plan.order)
    return stored(run_plan(plan, arrays), out, "np.einsum")


def is_a_view(plan: EinsumPlan) -> bool:
    """Whether NumPy gives the only operand itself, seen with its axes in some order."""
    return len(plan.preparations) == 1 and plan.preparations[0].is_idle and not plan.summed


@implements(np.einsum_path)
def einsum_path(*operands: ArrayLike, optimize: Option = "greedy", einsum_call: bool = False) -> Array:
    """The order in which `einsum` would contract these operands, and a text about its cost.

    >>> path, _ = fg.numpy.einsum_path("ij,jk,kl", np.ones((2, 9)), np.ones((9, 9)), np.ones((9, 3)))
    >>> print(path)
    ['einsum_path', (0, 1), (0, 1)]
    """
    if einsum_call:
        raise unsupported("np.einsum_path with einsum_call=True")
    stand_ins = [stand_in(x.aval.shape, x.dtype) if isinstance(x, Tracer) else x for x in operands]
    return np.einsum_path(*stand_ins, optimize=optimize)


def stand_in(shape: Shape, dtype: DTypeLike = np.float64) -> Array:
    """An array of this shape without memory of its own."""
    return np.broadcast_to(np.zeros((), dtype), shape)


# -- operands ----------------------------------------------------------------------------------------------


def any_traced(operands: Sequence[Any]) -> bool:
    """Whether a tracer is among the operands, or inside a list that is one."""
    return Tracer in map(type, operands) or any(
        isinstance(x, Tracer) or (isinstance(x, list | tuple) and isinstance(asoperand(x), Tracer))
        for x in operands
        if not isinstance(x, str) and not is_index_list(x)
    )


def is_index_list(x: ArrayLike) -> bool:
    """Whether this is a list of indices of the list form."""
    return isinstance(x, list | tuple) and all(item is Ellipsis or isinstance(item, int) for item in x)


def read_operands(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The subscripts as text and the arrays of a call in string or list form."""
    if isinstance(operands[0], str):
        return operands[0], [asoperand(x) for x in operands[1:]]
    n_pairs = len(operands) // 2
    text = ",".join([index_letters(x) for x in operands[1 : 2 * n_pairs : 2]])
    if len(operands) % 2:
        text += "->" + index_letters(operands[-1])
    return text, [asoperand(x) for x in operands[0 : 2 * n_pairs : 2]]


def index_letters(indices: ArrayLike) -> str:
    """A list of integers and Ellipsis as letters."""
    letters = []
    for item in indices:
        if item is Ellipsis:
            letters.append(ELLIPSIS)
            continue
        k = operator.index(item)
        if not 0 <= k < len(INDEX_LETTERS):
            raise ShapeError(f"einsum: index {k} is not between 0 and {len(INDEX_LETTERS) - 1}")
        letters.append(INDEX_LETTERS[k])
    return "".join(letters)


def cast_operands(arrays: list[Any], dtype: DTypeLike, casting: UfuncOption) -> list[Any]:
    """The operands in one dtype: their common one, or the one asked for if `casting` allows it."""
    if dtype is None:
        return promoted(arrays)
    for x in arrays:
        if not np.can_cast(aval(x).dtype, dtype, casting):
            raise DtypeError(
                f"einsum: {aval(x)} cannot be cast to {np.dtype(dtype).name} by the rule {casting!r}",
                remedy="Cast it with .astype, or allow it with casting='same_kind' or 'unsafe'.",
            )
    return [cast(x, dtype) for x in arrays]


def hashable(optimize: Option) -> Hashable:
    """The `optimize` argument as a key."""
    if isinstance(optimize, list | tuple):
        return tuple([tuple(item) if isinstance(item, list) else item for item in optimize])
    return optimize  # type: ignore[no-any-return]


# -- subscripts --------------------------------------------------------------------------------------------


def read_subscripts(text: str, ndims: tuple[int, ...]) -> Subscripts:
    """The subscripts of each operand and the result; an implicit result is spelt out."""
    text = text.replace(" ", "")
    heads, arrow, out = text.partition("->")
    terms = tuple(heads.split(","))
    for term in (*terms, out):
        check_term(text, term)
    if len(terms) != len(ndims):
        raise ShapeError(f"einsum {text!r} names {len(terms)} operands, and there are {len(ndims)}")
    for term, ndim in zip(terms, ndims, strict=True):
        n_letters = len(term.replace(ELLIPSIS, ""))
        if n_letters != ndim and (ELLIPSIS not in term or n_letters > ndim):
            raise ShapeError(
                f"einsum {text!r}: subscripts {term!r} do not fit an operand of {ndim} axes",
                remedy=None if n_letters > ndim else "Write ... for axes that have no name.",
            )
    if not arrow:
        return Subscripts(terms, implicit_output(terms))
    missing = [c for c in out.replace(ELLIPSIS, "") if c not in heads]
    if missing:
        raise ShapeError(f"einsum {text!r}: index {missing[0]!r} of the result is in no operand")
    repeated = [c for c in out.replace(ELLIPSIS, "") if out.count(c) > 1]
    if repeated:
        raise ShapeError(f"einsum {text!r}: index {repeated[0]!r} is twice in the result")
    unnamed = any(
        ELLIPSIS in term and len(term) - len(ELLIPSIS) < ndim for term, ndim in zip(terms, ndims, strict=True)
    )
    if unnamed and ELLIPSIS not in out:
        raise ShapeError(f"einsum {text!r}: operands have axes behind ..., and the result has no ...")
    return Subscripts(terms, out)


def check_term(text: str, term: str) -> None:
    """Raise unless the term is letters and at most one ellipsis."""
    for c in term.replace(ELLIPSIS, "", 1):
        if c not in ascii_letters:
            what = "a second ellipsis or a lone '.'" if c == "." else f"{c!r}, which is not a letter"
            raise ShapeError(f"einsum {text!r}: subscripts {term!r} hold {what}")


def implicit_output(terms: tuple[str, ...]) -> str:
    """The ellipsis, then the indices that occur once, sorted."""
    together = "".join(terms)
    once = sorted([c for c in set(together) - {"."} if together.count(c) == 1])
    return (ELLIPSIS if "." in together else "") + "".join(once)


def labels_of(term: str, n_unnamed: int) -> Labels:
    """The labels of a term's axes; those behind the ellipsis are numbered from the right."""
    if ELLIPSIS not in term:
        return tuple(term)
    before, _, after = term.partition(ELLIPSIS)
    return (*before, *[str(k) for k in reversed(range(n_unnamed))], *after)


# -- plans -------------------------------------------------------------------------------------------------


class Preparation(NamedTuple):
    """What is done to one operand first: diagonals are taken, broadcast axes of size one dropped."""

    diagonals: tuple[tuple[int, int], ...]
    shape: Shape
    is_idle: bool
    labels: Labels


class Step(NamedTuple):
    """A contraction of two of the operands that are left; its result becomes the last of them."""

    first: int
    second: int
    x_labels: Labels
    y_labels: Labels
    out_labels: Labels


class EinsumPlan(NamedTuple):
    """All that subscripts and shapes determine."""

    preparations: tuple[Preparation, ...]
    steps: tuple[Step, ...]
    summed: tuple[int, ...]
    order: tuple[int, ...]
    """Sum and permutation at the end, which only a single operand needs."""


def run_plan(plan: EinsumPlan, arrays: Sequence[Any]) -> Array:
    """Carry out the plan."""
    left = [x if p.is_idle else prepared(x, p) for x, p in zip(arrays, plan.preparations, strict=True)]
    for step in plan.steps:
        y, x = left.pop(step.second), left.pop(step.first)
        left.append(contract(x, step.x_labels, y, step.y_labels, step.out_labels))
    (x,) = left
    return permute(reduce_sum(x, plan.summed), plan.order)


def prepared(x: ArrayLike, preparation: Preparation) -> Array:
    """The operand with its diagonals taken and without broadcast axes of size one."""
    for axes in preparation.diagonals:
        x = diagonal(x, 0, *axes)
    return reshape(x, preparation.shape)


@lru_cache(maxsize=1024)
def einsum_plan(text: str, shapes: tuple[Shape, ...], optimize: object) -> EinsumPlan:
    """The plan for these subscripts and shapes."""
    subscripts = read_subscripts(text, tuple([len(shape) for shape in shapes]))
    unnamed = [
        len(shape) - len(term.replace(ELLIPSIS, "")) if ELLIPSIS in term else 0
        for term, shape in zip(subscripts.terms, shapes, strict=True)
    ]
    out = labels_of(subscripts.out, max(unnamed))
    singled = []
    for k, (term, shape) in enumerate(zip(subscripts.terms, shapes, strict=True)):
        singled.append(without_repeats(subscripts, k, labels_of(term, unnamed[k]), shape))
    sizes = index_sizes(subscripts, [(labels, shape) for _, labels, shape in singled])
    preparations = []
    for diagonals, labels, shape in singled:
        kept = [(a, n) for a, n in zip(labels, shape, strict=True) if n == sizes[a]]
        is_idle = not diagonals and len(kept) == len(labels)
        preparations.append(
            Preparation(diagonals, tuple([n for _, n in kept]), is_idle, tuple([a for a, _ in kept]))
        )
    operand_labels = [p.labels for p in preparations]
    if len(operand_labels) == 1:
        (labels,) = operand_labels
        left = [a for a in labels if a in out]
        summed = tuple([k for k, a in enumerate(labels) if a not in out])
        return EinsumPlan(tuple(preparations), (), summed, tuple([left.index(a) for a in out]))
    path = contraction_path(operand_labels, out, sizes, optimize)
    steps = tuple(steps_along(path, operand_labels, out))
    return EinsumPlan(tuple(preparations), steps, (), tuple(range(len(out))))


def without_repeats(
    subscripts: Subscripts, k: int, labels: Labels, shape: Shape
) -> tuple[tuple[tuple[int, int], ...], Labels, Shape]:
    """The diagonals to take so that no label is left twice, and the labels and shape after them."""
    diagonals = []
    repeated = next((a for a in labels if labels.count(a) > 1), None)
    while repeated is not None:
        i = labels.index(repeated)
        j = labels.index(repeated, i + 1)
        if shape[i] != shape[j]:
            raise ShapeError(
                f"einsum '{subscripts}': index {repeated!r} stands for sizes {shape[i]} and {shape[j]} "
                f"in operand {k}"
            )
        diagonals.append((i, j))
        # The diagonal is the last axis.
        shape = (*shape[:i], *shape[i + 1 : j], *shape[j + 1 :], shape[i])
        labels = (*labels[:i], *labels[i + 1 : j], *labels[j + 1 :], repeated)
        repeated = next((a for a in labels if labels.count(a) > 1), None)
    return tuple(diagonals), labels, shape


def index_sizes(subscripts: Subscripts, operands: Sequence[tuple[Labels, Shape]]) -> dict[str, int]:
    """The size of each index; a size of one broadcasts."""
    sizes: dict[str, int] = {}
    for k, (labels, shape) in enumerate(operands):
        for label, n in zip(labels, shape, strict=True):
            seen = sizes.setdefault(label, n)
            if seen == 1:
                sizes[label] = n
            elif n not in (1, seen):
                what = "an axis behind ..." if label.isdigit() else f"index {label!r}"
                raise ShapeError(
                    f"einsum '{subscripts}' of shapes {', '.join(str(s) for _, s in operands)}: "
                    f"{what} has size {seen}, and {n} in operand {k}"
                )
    return sizes


def contraction_path(
    operands: Sequence[Labels], out: Labels, sizes: dict[str, int], optimize: Option
) -> list[tuple[int, ...]]:
    """Which operands to contract, one group after the other; each result becomes the last operand."""
    if len(operands) == 2:
        return [(0, 1)]
    if isinstance(optimize, tuple) and optimize and optimize[0] == "einsum_path":
        return [tuple(group) for group in optimize[1:]]
    if optimize in (False, None):
        # NumPy's default is a single loop over all operands; two at a time is never slower here.
        optimize = "greedy"
    letters = dict(zip(sizes, ascii_letters, strict=False))
    if len(letters) < len(sizes):
        raise ShapeError(f"einsum of {len(operands)} operands with more than {len(ascii_letters)} indices")
    terms = ["".join([letters[a] for a in labels]) for labels in (*operands, out)]
    stand_ins = [stand_in(tuple([sizes[a] for a in labels])) for labels in operands]
    path, _ = np.einsum_path(f"{','.join(terms[:-1])}->{terms[-1]}", *stand_ins, optimize=optimize)
    return path[1:]


def steps_along(path: Sequence[tuple[int, ...]], operands: Sequence[Labels], out: Labels) -> list[Step]:
    """The path as contractions of two operands each."""
    left = list(operands)
    steps: list[Step] = []
    for group in path:
        if len(set(group)) < 2 or not set(group) <= set(range(len(left))):
            raise ShapeError(
                f"einsum: {group} of the path {list(path)} are not two or more of {len(left)} operands"
            )
        # Those before the last stay where they are while the last are taken away.
        remaining = sorted(set(group))
        while len(remaining) > 1:
            j, i = remaining.pop(), remaining.pop()
            y, x = left.pop(j), left.pop(i)
            is_last = not left
            result = out if is_last else labels_left(x, y, frozenset(out).union(*left))
            steps.append(Step(i, j, x, y, result))
            left.append(result)
            remaining.append(len(left) - 1)
    if len(left) > 1:
        raise ShapeError(f"einsum: the path {list(path)} leaves {len(left)} operands uncontracted")
    return steps
