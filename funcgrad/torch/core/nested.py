"""Tensors in nested containers, for ``torch.func``: taken out, put back, and what else stands among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Tree


def taken_out(x: Tree, found: list[Tensor]) -> Tree:
    """The tensors in nested containers, in order, and how to put others in their place."""
    if isinstance(x, Tensor):
        found.append(x)
        return None
    if isinstance(x, dict):
        return (type(x), [(k, taken_out(v, found)) for k, v in x.items()])
    if isinstance(x, list | tuple):
        return (x, [taken_out(v, found) for v in x])
    return Fixed(x)


class Fixed:
    """A part of a tree that is no tensor."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def put_back(shape: Tree, tensors: Iterator[Any]) -> Tree:
    """The containers again, with these tensors in them."""
    if shape is None:
        return next(tensors)
    if type(shape) is Fixed:
        return shape.value
    kind, parts = shape
    if isinstance(kind, type):
        return kind([(k, put_back(p, tensors)) for k, p in parts])
    values = [put_back(p, tensors) for p in parts]
    if isinstance(kind, tuple) and hasattr(kind, "_fields"):
        return type(kind)(*values)
    return type(kind)(values) if type(kind) in (list, tuple) else tuple(values)


def with_each(f: Callable[..., Any], x: Tree, *more: Tree) -> Tree:
    """`f` applied to every tensor of a tree, with those of trees like it."""
    found: list[Tensor] = []
    shape = taken_out(x, found)
    others: list[list[Tensor]] = []
    for other in more:
        parts: list[Tensor] = []
        taken_out(other, parts)
        others.append(parts)
    return put_back(shape, iter([f(*each) for each in zip(found, *others, strict=True)]))


def fixed_in(shape: Tree) -> Iterator[object]:
    """The parts of a tree that are no tensors."""
    if type(shape) is Fixed:
        yield shape.value
    elif shape is not None:
        kind, parts = shape
        for part in parts:
            yield from fixed_in(part[1] if isinstance(kind, type) else part)


def require_tensors_given(x: Tree) -> None:
    """Raise ValueError where what is differentiated by has parts that are no tensors."""
    for other in fixed_in(taken_out(x, [])):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(other)}")


def require_only_tensors(x: Tree, what: str) -> None:
    """Raise RuntimeError where primals or tangents of `jvp` have other parts, or none."""
    found: list[Tensor] = []
    for other in fixed_in(taken_out(x, found)):
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected {what} to only contain Tensors, got {type(other)}"
        )
    if not found:
        raise RuntimeError(f"jvp(f, primals, tangents): Expected {what} to contain at least one Tensor.")


def require_tensors_returned(out: Tree, call: str) -> None:
    """Raise RuntimeError where a function returns nothing, or something that is no tensor."""
    found: list[Tensor] = []
    others = list(fixed_in(taken_out(out, found)))
    if out is None or not (found or others):
        returned = [None] if out is None else []
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {returned})"
        )
    if others:
        raise RuntimeError(
            f"{call}: expected f(*primals) to return only tensors, got unsupported type {type(others[0])}"
        )


def require_numbers(outs: Sequence[Tensor]) -> None:
    """Raise RuntimeError for outputs that have no cotangents."""
    for out in outs:
        if out._value.dtype.kind not in "fc":
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, "
                f"got Tensor with dtype {out.dtype}"
            )
