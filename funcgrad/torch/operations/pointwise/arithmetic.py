"""Arithmetic of two operands: the shortest path from an operator to a remembered result.

Two tensors of one floating-point dtype, or such a tensor and a Python number, go straight to NumPy and a
node of the history. Everything else is promoted as PyTorch does first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import UNCHANGING, apply, make_node
from funcgrad.torch.core.backward.history import Node, Op
from funcgrad.torch.core.backward.plans import pointwise_mask
from funcgrad.torch.core.dtypes import promote_all, weak_dtype, without_its_dtype
from funcgrad.torch.core.errors import broadcast_error
from funcgrad.torch.core.meta import require_one_device
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE, SETTINGS, quiet
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Array, Arrays

__all__ = [
    "Binary",
    "numbers_of",
    "of_one_dtype",
    "operator_method",
    "remember_two",
    "result_dtype",
    "tensor_beside",
]

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
_new = object.__new__
_NUMBERS = (bool, int, float, complex)


def result_dtype(*operands: Operand) -> np.dtype[Any]:
    """The dtype of an operation on tensors, arrays and Python numbers."""
    with_axes: list[Any] = []
    without: list[Any] = []
    weak: list[Any] = []
    for x in operands:
        if isinstance(x, Tensor):
            value = x._value
            (with_axes if value.shape else without).append(value.dtype)
        elif isinstance(x, (*_NUMBERS, np.generic)):
            weak.append(weak_dtype(x))
        else:
            (with_axes if x.shape else without).append(x.dtype)
    return promote_all(with_axes, without, weak)


def remember_two(  # noqa: PLR0912 - the hot path of all operators: in one piece
    op: Op, t: Tensor, needs: int, x: Operand, y: Operand, a: Operand, b: Operand
) -> None:
    """Give the result of an operation on two operands of one floating-point dtype its history.

    `x` and `y` are the operands (`y` may be a number), `a` and `b` their values.
    """
    if not MODES.fast:
        _remember_two_slowly(op, t, needs, x, y, a, b)
        return
    is_number = y is None
    mask = op.masks.get(needs)
    if mask is None:
        mask = pointwise_mask(op, needs, (a, a.dtype.type(b) if is_number else b), t._value)
    node: Node = _new(op.node_class)
    if needs == 1:
        node.edges = (x._node or x, None)
    elif needs == 3:
        node.needs = 3
        node.edges = (x._node or x, y._node or y)
    else:
        node.needs = 2
        node.edges = (None, y._node or y)
    node.specs = (a.shape, () if is_number else b.shape)
    if mask:
        if x._inference or (not is_number and y._inference):
            _remember_two_slowly(op, t, needs, x, y, a, b)
            return
        if is_number:
            b = a.dtype.type(b)
            if mask == 2:
                node.saved = (b,)
            else:
                _save(node, mask, ((x, a), (y, b)), t)
        elif mask == 3:
            box, box2 = x._version_box, y._version_box
            node.saved, node.checks = (a, b), (box, box[0], box2, box2[0])
        elif mask == 1:
            box = x._version_box
            node.saved, node.checks = (a,), (box, box[0])
        elif mask == 2:
            box = y._version_box
            node.saved, node.checks = (b,), (box, box[0])
        else:
            _save(node, mask, ((x, a), (y, b)), t)
    node.seq = next(SEQUENCE)
    t._node = node
    t._rg = True


def _save(node: Node, mask: int, operands: Arrays, t: Tensor) -> None:
    saved: list[Any] = []
    checks: list[Any] = []
    for k, (tensor, value) in enumerate((*operands, (t, t._value))):
        if mask >> k & 1:
            saved.append(value)
            if isinstance(tensor, Tensor):
                box = tensor._version_box
                checks += (box, box[0])
            else:
                checks += (UNCHANGING, 0)
    node.saved, node.checks = tuple(saved), tuple(checks)


def _remember_two_slowly(op: Op, t: Tensor, needs: int, x: Array, y: Array, a: Array, b: Array) -> None:
    t._inference = MODES.inference
    if not MODES.grad:
        return
    if type(b) is float or type(b) is int:
        b = a.dtype.type(b)
    t._node = make_node(op, (x, y), (a, b), (), (t._value,), (t._version_box,), needs)
    t._rg = True


class Binary:
    """A pointwise operation of two operands: its fast path and its promotion."""

    __slots__ = ("checked", "op", "result", "wide")

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        result: str = "same",
        checked: Callable[..., None] | None = None,
        wide: str = "",
    ) -> None:
        self.op = Op(name, function)
        self.op.cast_op = Op(name, _after_casting(function))
        self.result = result
        """"same": of the promoted dtype; "float": integers become the default dtype; "bool": a comparison."""
        self.checked = checked
        """Refuses operands, in PyTorch's words."""
        self.wide = wide

    def promoted(self, x: Operand, y: Operand) -> Tensor:
        """The operation on operands of any dtypes."""
        a, b = operand(x), operand(y)
        dtype = result_dtype(a, b)
        if self.checked is not None:
            self.checked(a, b, dtype)
        if self.result == "float" and dtype.kind in "iub":
            dtype = SETTINGS.default_dtype
        inputs = [t if isinstance(t, Tensor) else number_as(t, dtype) for t in (a, b)]
        try:
            if all((t._value if isinstance(t, Tensor) else t).dtype == dtype for t in inputs):
                return apply(self.op, inputs)  # type: ignore[no-any-return]
            assert self.op.cast_op is not None
            return apply(self.op.cast_op, inputs, (dtype,))  # type: ignore[no-any-return]
        except ValueError as error:
            raise broadcast_error(a, b, error) from None


def of_one_dtype(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors in the dtype that PyTorch computes with them in."""
    dtype = result_dtype(*tensors)
    return tuple([t if t._value.dtype == dtype else t.to(dtype) for t in tensors])


def number_as(x: Operand, dtype: np.dtype[Any]) -> Operand:
    """A Python number (or array) in a dtype; integers wrap as PyTorch's do."""
    if isinstance(x, np.ndarray):
        return x
    x = without_its_dtype(x)
    if dtype.kind in "iu" and not isinstance(x, complex):
        return np.array(int(x)).astype(dtype) if -(1 << 63) <= x < 1 << 63 else np.array(int(x), dtype)
    return np.asarray(x, dtype)


def _after_casting(function: Callable[..., Any]) -> Callable[..., Any]:
    def cast_first(a: Array, b: Array, dtype: np.dtype[Any]) -> Array:
        return function(a.astype(dtype), b.astype(dtype))

    return cast_first


def operand(x: Operand) -> Operand:
    """What may stand beside a tensor: a tensor, a number, or an array (then a constant tensor)."""
    if isinstance(x, np.ndarray):
        return wrap(x)
    if isinstance(x, (Tensor, *_NUMBERS, np.generic)):
        return without_its_dtype(x)
    raise TypeError(f"unsupported operand type(s): a tensor and '{type(x).__name__}'")


def tensor_beside(x: Operand, other: Operand) -> Tensor:
    """`x` as a tensor: a number in the dtype that an operation on it and on `other` has."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, np.ndarray):
        return wrap(x)
    return wrap(np.asarray(number_as(x, result_dtype(x, other))))


def numbers_of(x: Operand) -> bool:
    """Whether `x` may stand beside a tensor."""
    return isinstance(x, (Tensor, *_NUMBERS, np.ndarray, np.generic))


def operator_method(binary: Binary, name: str) -> Callable[[Any, Any], Any]:  # noqa: C901 - hot: in one piece
    """The operator ``x <op> y`` of tensors."""
    op, promoted, tensor_class, traced = binary.op, binary.promoted, Tensor, Tracer
    function, modes, enter, leave = op.function, MODES, quiet.enter, quiet.leave

    def method(self: Operand, other: Operand) -> Operand:  # noqa: PLR0912 - likewise
        a = self._value
        kind = type(other)
        if (dtype := a.dtype) is F32 or dtype is F64:
            if kind is tensor_class or isinstance(other, tensor_class):
                b = other._value
                if b.dtype is dtype:
                    token = enter()
                    try:
                        value = function(a, b)
                    except ValueError as error:
                        raise broadcast_error(self, other, error) from None
                    finally:
                        leave(token)
                    if type(value) is traced:
                        require_one_device((a, b))
                    t = _new(tensor_class)
                    t._value = value
                    t._version_box = [0]
                    if self._rg:
                        remember_two(op, t, 3 if other._rg else 1, self, other, a, b)
                    elif other._rg:
                        remember_two(op, t, 2, self, other, a, b)
                    elif modes.inference:
                        t._inference = True
                    return t
            elif kind is float or kind is int:
                token = enter()
                try:
                    value = function(a, other)
                finally:
                    leave(token)
                t = _new(tensor_class)
                t._value = value
                t._version_box = [0]
                if self._rg:
                    remember_two(op, t, 1, self, None, a, other)
                elif modes.inference:
                    t._inference = True
                return t
        return promoted(self, other) if numbers_of(other) else NotImplemented

    method.__name__ = name
    return method
