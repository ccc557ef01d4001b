"""Pointwise functions as rows: from each come a function, a method, a form in place, ``out=``, and a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from funcgrad.torch.core.apply import apply, make_node
from funcgrad.torch.core.backward.history import Node, Op
from funcgrad.torch.core.backward.plans import pointwise_mask
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE, SETTINGS, quiet
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import F32, F64, Binary, operand, result_dtype
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Anything, Array

_new = object.__new__


class Row(NamedTuple):
    """A function of one array or of two, as one of tensors, as a method and a method in place."""

    name: str
    node: str
    function: Callable[..., Array]
    doc: str
    keeps_result: bool = False
    """Whether the backward pass needs the result alone."""
    also: tuple[str, ...] = ()
    """Its other names."""
    result: str = "float"
    """"float": integers are converted first; "same": they stay what they are."""
    inplace: bool = True
    """Whether there is a form in place."""


def as_floating(x: Tensor) -> Tensor:
    """A tensor of integers in the default dtype, any other as it is."""
    return x.to(SETTINGS.default_dtype) if x._value.dtype.kind in "iub" else x


def _remember(op: Op, t: Tensor, x: Tensor, a: Array) -> None:
    if not MODES.fast or x._inference:
        t._inference = MODES.inference
        if MODES.grad:
            t._node = make_node(op, (x,), (a,), (), (t._value,), (t._version_box,), 1)
            t._rg = True
        return
    mask = op.masks.get(1)
    if mask is None:
        mask = pointwise_mask(op, 1, (a,), t._value)
    node: Node = _new(op.node_class)
    node.edges = (x._node or x,)
    node.specs = (a.shape,)
    if mask == 1:
        box = x._version_box
        node.saved, node.checks = (a,), (box, box[0])
    elif mask == 2:
        node.saved, node.checks = (t._value,), (t._version_box, 0)
    elif mask:
        box = x._version_box
        node.saved, node.checks = (a, t._value), (box, box[0], t._version_box, 0)
    node.seq = next(SEQUENCE)
    t._node = node
    t._rg = True


F16 = np.dtype(np.float16)
_OF_HALVES: WeakKeyDictionary[Op, Op] = WeakKeyDictionary()


def in_single(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of arrays in half precision, computed in single as in PyTorch."""

    def rounded(*operands: Anything) -> Array:
        single = [a.astype(np.float32) if getattr(a, "dtype", None) == F16 else a for a in operands]
        return function(*single).astype(F16)

    return rounded


def op_of_halves(op: Op) -> Op:
    """The operation for half precision."""
    found = _OF_HALVES.get(op)
    if found is None:
        found = Op(
            op.name,
            in_single(op.function),
            keeps_result=op.keeps_result,
            inverse=op.inverse,
            input_names=op.input_names,
            output_names=op.output_names,
        )
        _OF_HALVES[op] = found
    return found


def unary(op: Op, name: str, doc: str | None = None, floating: bool = True) -> Callable[[Operand], Operand]:
    """The function of one tensor; with `floating` integers are converted first."""
    function = op.function
    modes, enter, leave = MODES, quiet.enter, quiet.leave

    def elementwise(input: Operand) -> Operand:
        a = input._value
        dtype = a.dtype
        if dtype is F32 or dtype is F64:
            token = enter()
            value = function(a)
            leave(token)
            t = _new(Tensor)
            t._value = value
            t._version_box = [0]
            if input._rg:
                _remember(op, t, input, a)
            elif modes.inference:
                t._inference = True
            return t
        if dtype == F16:
            return apply(op_of_halves(op), (input,))
        if floating and dtype.kind in "iub":
            input = as_floating(input)
        return apply(op, (input,))

    elementwise.__name__ = elementwise.__qualname__ = name
    elementwise.__doc__ = doc
    return elementwise


def of_one(row: Row) -> Callable[[Operand], Operand]:
    """The function of one tensor that a row says."""
    op = Op(row.node, row.function, keeps_result=row.keeps_result, input_names=("self",))
    return unary(op, row.name, row.doc, row.result == "float")


def of_two(row: Row) -> Callable[[Operand, Operand], Tensor]:
    """The function of two tensors, or of a tensor and a number, that a row says."""
    promoted = Binary(row.node, row.function, result=row.result).promoted
    of_halves = Binary(row.node, in_single(row.function), result=row.result).promoted

    def pairwise(input: Operand, other: Operand) -> Tensor:
        if isinstance(input, Tensor) and input._value.dtype == F16 == result_dtype(input, operand(other)):
            return of_halves(input, other)
        return promoted(input, other)

    pairwise.__name__ = pairwise.__qualname__ = row.name
    pairwise.__doc__ = row.doc
    return pairwise


def publish(
    make: Callable[[Row], Callable[..., Operand]], rows: tuple[Row, ...]
) -> dict[str, Callable[..., Operand]]:
    """Make the functions of rows and give them all of their names; the functions by their first."""
    made = {row.name: make(row) for row in rows}
    for row in rows:
        operation(row.name, *row.also, inplace=row.inplace)(made[row.name])
    return made
