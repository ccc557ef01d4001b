"""`rearrange`: dimensions by names in a pattern, as einops has it."""

from __future__ import annotations

import math
import re

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything

__all__ = ["rearrange"]


def _groups(side: str) -> list[list[str]]:
    """The names of each dimension of a side of a pattern; a dimension of size one has none."""
    found: list[list[str]] = []
    for inner, name in re.findall(r"\(([^()]*)\)|(\.\.\.|\w+)", side):
        found.append([name] if name and name != "1" else inner.split())
    return found


def rearrange(tensor: Tensor, pattern: str, **axes_lengths: int) -> Operand:
    """The tensor with its dimensions ordered, split and joined as a pattern says.

    `tensor` may have any shape and dtype; sizes of dimensions that are split are given by name, all but one
    of each. ValueError for a pattern that does not fit the tensor.

    >>> from funcgrad import torch
    >>> torch.func.rearrange(torch.arange(6).view(2, 3), "a b -> b a").shape
    torch.Size([3, 2])
    >>> torch.func.rearrange(torch.ones(2, 6), "a (b c) -> (a b) c", b=2).shape
    torch.Size([4, 3])
    """
    if pattern.count("->") != 1:
        raise ValueError("Pattern must contain exactly one '->' separator")
    left, right = [_groups(side) for side in pattern.split("->")]
    _require_same_names(left, right)
    shape = tuple(tensor._value.shape)
    left, names = _with_dots(left, len(shape))
    if len(left) != len(shape):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in "
            f"the tensor ({len(shape)})"
        )
    right = [
        [n for name in group for n in (names if name == "..." else [name])]
        for given in right
        for group in ([[name] for name in names] if given == ["..."] else [given])
    ]
    sizes: dict[str, int] = dict(axes_lengths)
    for group, n in zip(left, shape, strict=True):
        _fill(group, n, sizes)
    flat = [name for group in left for name in group]
    order = [flat.index(name) for group in right for name in group]
    whole = tensor.reshape([sizes[name] for name in flat]).permute(order)
    return whole.reshape([math.prod([sizes[name] for name in group]) for group in right])


def _require_same_names(left: list[list[str]], right: list[list[str]]) -> None:
    one, two = ({name for group in side for name in group} for side in (left, right))
    if one != two:
        raise ValueError(
            f"Identifiers only on one side of rearrange expression (should be on both): {one ^ two}"
        )


def _with_dots(groups: list[list[str]], rank: int) -> tuple[list[list[str]], list[str]]:
    """A side with names of their own for the dimensions that an ellipsis stands for, and those names."""
    if ["..."] not in groups:
        return groups, []
    count = rank - len(groups) + 1
    names = [f".{k}" for k in range(count)]
    at = groups.index(["..."])
    return [*groups[:at], *[[name] for name in names], *groups[at + 1 :]], names


def _fill(group: list[str], n: int, sizes: Anything) -> None:
    """Add the sizes of a dimension's parts; at most one of them is not known."""
    unknown = [name for name in group if name not in sizes]
    if len(unknown) > 1:
        raise ValueError(f"rearrange: the sizes of {unknown} cannot be told; give all but one of them")
    known = math.prod([sizes[name] for name in group if name in sizes])
    if unknown:
        sizes[unknown[0]] = n // known
    if math.prod([sizes[name] for name in group]) != n:
        raise ValueError(f"rearrange: a dimension of size {n} is not the product of {group}: {sizes}")
