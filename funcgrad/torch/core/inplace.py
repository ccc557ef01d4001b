"""Changes in place: the checks PyTorch makes, the write, the version, and the new history.

An operation in place is the same operation out of place followed by `assign`: the memory of the tensor
takes the result, and its history becomes the result's. Where the tensor is a view, its base takes a history
in which the view's elements are replaced, and all views are read out of it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import make_node
from funcgrad.torch.core.backward.history import Node, short_name
from funcgrad.torch.core.dtypes import TYPE_NAMES
from funcgrad.torch.core.meta import NO_DATA, is_shape_only, on_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.core.views import (
    CUSTOM,
    INFERENCE,
    MULTIPLE,
    NO_GRAD,
    copy_slices,
    followed,
    regenerate_views,
    stopped_retaining,
)
from funcgrad.types import Anything, ArrayLike, DTypeLike

_MULTIPLE = (
    "Output {number} of {maker} is a view and is being modified inplace. This view is the output of a "
    "function that returns multiple views. Such functions do not allow the output views to be modified "
    "inplace. You should replace the inplace operation by an out-of-place one."
)
_NO_GRAD = (
    "A view was created in {mode} mode and is being modified inplace with grad mode enabled. Given that "
    "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {mode} block (if you don't want the inplace to be "
    "tracked) or both outside (if you want the inplace to be tracked)."
)
_CUSTOM = (
    "Output {number} of {maker} is a view and is being modified inplace. This view was created inside a "
    "custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace "
    "would override the custom backward associated with the custom Function, leading to incorrect "
    "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)
_INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
    "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)
_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
_WINDOWS = (
    "unsupported operation: some elements of the written-to tensor refer to a single memory location, as "
    "those of overlapping windows do; PyTorch writes them one after the other. Please clone() the tensor."
)
_PARTLY = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
    "memory location. Please clone() the tensor before performing the operation."
)


def require_writeable(t: Tensor, incoming: bool = False) -> None:
    """Raise RuntimeError, as PyTorch does, where a tensor may not be changed in place.

    `incoming` says that what is written requires grad.
    """
    if t._inference and not MODES.inference:
        raise RuntimeError(_INFERENCE)
    if not MODES.grad or not (t._rg or incoming or _base_requires(t)):
        return
    view = t._view
    if view is not None:
        base = view.base
        if view.made != 0 and (t._rg or base._rg or incoming):
            _refuse_view(t)
        if base._node is None and (base._rg or t._rg):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation."
            )
    elif t._rg and t._node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def _base_requires(t: Tensor) -> bool:
    return t._view is not None and t._view.base._rg


def _refuse_view(t: Tensor) -> None:
    view = t._view
    number = t.output_nr
    if view.made == NO_GRAD:
        raise RuntimeError(_NO_GRAD.format(mode="no_grad"))
    if view.made == INFERENCE:
        raise RuntimeError(
            _NO_GRAD.format(mode="inference_mode")
            .replace("in inference_mode mode", "in inference mode")
            .replace("with grad mode enabled", "in normal mode")
        )
    if view.made == MULTIPLE:
        raise RuntimeError(_MULTIPLE.format(number=number, maker=view.maker.removesuffix("Backward0")))
    if view.made == CUSTOM:
        raise RuntimeError(_CUSTOM.format(number=number, maker=view.maker))


def assign(t: Tensor, result: Tensor) -> Tensor:
    """Write a result into the memory of a tensor, which also takes its history."""
    value, memory = result._value, own(t)
    if value.shape != memory.shape:
        broadcast = np.broadcast_shapes(value.shape, memory.shape)
        raise RuntimeError(
            f"output with shape {list(memory.shape)} doesn't match the broadcast shape {list(broadcast)}"
        )
    if value.dtype != memory.dtype:
        require_castable(value.dtype, memory.dtype)
        result = result.to(t.dtype)
        value = result._value
    tracked = MODES.grad and (result._rg or t._rg)
    if tracked and result._rg:
        keep_old(result, t)
    write(t, memory, value)
    box = t._version_box
    box[0] += 1
    if tracked:
        box[1:] = [short_name(result.grad_fn) if result.grad_fn is not None else None]
        if t._view is None:
            _become(t, result)
        else:
            replace_in_base(t, result)
    elif t._views is not None or t._view is not None:
        base = t if t._view is None else t._view.base
        if type(base._value) is Tracer:
            regenerate_views(base)
    return t


def write(t: Tensor, memory: ArrayLike, value: ArrayLike) -> None:
    """Put a value into the memory; NotImplementedError for a value without numbers into what has some."""
    if is_shape_only(memory) and not is_shape_only(value):
        value = on_meta(value)
    if is_shape_only(value) and not is_shape_only(memory):
        raise NotImplementedError(NO_DATA)
    if type(memory) is np.ndarray and type(value) is not Tracer:
        require_apart(memory)
        if not memory.flags.c_contiguous and is_seen_twice(memory) and any(value.strides):
            raise RuntimeError(_WINDOWS)
        memory[...] = value
        return
    if t._view is not None:
        # Traced memory is shared through the base only: it is replaced there and read again.
        base = t._view.base
        base._value = copy_slices.function(base._value, value, t._view.chain)
        t._value = followed(base._value, t._view.chain)
    elif type(memory) is Tracer:
        # Others may hold the same memory: tensors that were detached, and the caller of a compiled function.
        memory[...] = value  # type: ignore[index]
    else:
        t._value = value


def require_no_history(t: Tensor, name: str) -> None:
    """Raise RuntimeError for a tensor whose gradient a Python function of elements would lose."""
    if t._rg:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )


def require_apart(memory: ArrayLike) -> None:
    """Raise RuntimeError where elements of an array share memory, as those of an expanded tensor do."""
    if 0 in memory.strides and memory.size > 1:
        repeated = any(n > 1 and not step for n, step in zip(memory.shape, memory.strides, strict=True))
        if repeated:
            raise RuntimeError(_OVERLAP)
    if not memory.flags.writeable:
        raise RuntimeError(_OVERLAP)


def is_seen_twice(memory: ArrayLike) -> bool:
    """Whether elements of an array share memory, as those of overlapping windows do."""
    spread = 0
    for step, count in sorted(zip(map(abs, memory.strides), memory.shape, strict=True)):
        if count > 1:
            if step <= spread:
                break
            spread += step * (count - 1)
    else:
        return False
    at = np.zeros((), np.intp)
    for step, count in zip(memory.strides, memory.shape, strict=True):
        at = np.add.outer(at, step * np.arange(count))
    return bool(np.unique(at).size < at.size)


def require_same_or_apart(memory: ArrayLike, read: ArrayLike) -> None:
    """Raise RuntimeError where what is written and what is read share some of their memory.

    All of it in the same order is allowed. As PyTorch, only arrays without gaps are looked at.
    """
    if type(memory) is not np.ndarray or type(read) is not np.ndarray or memory is read:
        return
    if not np.may_share_memory(memory, read) or not (is_dense(memory) and is_dense(read)):
        return
    starts = [a.__array_interface__["data"][0] for a in (memory, read)]
    if starts[0] != starts[1] or memory.nbytes != read.nbytes or memory.strides != read.strides:
        raise RuntimeError(_PARTLY)


def is_dense(value: ArrayLike) -> bool:
    """Whether the elements of an array fill its memory without gaps and without sharing, in any order."""
    if value.flags.c_contiguous or value.flags.f_contiguous:
        return True
    expected = value.itemsize
    for step, count in sorted(zip(value.strides, value.shape, strict=True)):
        if count > 1 and step != expected:
            return False
        expected *= count
    return True


def keep_old(result: Tensor, t: Tensor) -> None:
    """Let the result's node keep copies of what it saved of the memory that is now written."""
    node = result.grad_fn
    assert node is not None
    box, checks = t._version_box, list(node.checks)
    for k in range(len(checks) // 2):
        if checks[2 * k] is box and used_input(node, k) == 0:
            node.keep_copy(k)
            checks[2 * k : 2 * k + 2] = [[0], 0]
        elif checks[2 * k] is result._version_box:
            # A saved result is what the tensor holds from now on: later changes are noticed.
            checks[2 * k : 2 * k + 2] = [box, box[0] + 1]
    node.checks = tuple(checks)


def used_input(node: Node, k: int) -> int:
    """The number of the input that the saved value with this number is."""
    if node.plan is not None:
        used = node.plan.used_inputs
    else:
        mask = node.op.masks.get(node.needs, 0)
        used = tuple([j for j in range(len(node.edges)) if mask >> j & 1])
    return used[k] if k < len(used) else -1


def _become(t: Tensor, result: Tensor) -> None:
    """Give a tensor that is no view the history of the result."""
    kept = stopped_retaining(t)
    t._node = result._node
    t._rg = result._rg
    if kept and t._node is not None:
        t.retain_grad()
    if t._views is not None:
        regenerate_views(t)


def replace_in_base(t: Tensor, result: Tensor) -> None:
    """Give the base of a view a history in which the elements of the view are the result."""
    base = t._view.base
    inputs = (base, result)
    old = base._value
    needs = (1 if base._rg else 0) | (2 if result._rg else 0)
    if needs:
        values = (old, result._value)
        node: Node = make_node(
            copy_slices, inputs, values, (t._view.chain,), (old,), (base._version_box,), needs
        )
        kept = stopped_retaining(base)
        base._node = node
        base._rg = True
        base._version_box[1:] = [node._name()]
        if kept:
            base.retain_grad()
    regenerate_views(base)


def require_castable(found: DTypeLike, wanted: DTypeLike) -> None:
    """Raise RuntimeError where PyTorch refuses to store a result in a tensor of a lower category."""
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    if rank[found.kind] > rank[wanted.kind]:
        raise RuntimeError(
            f"result type {TYPE_NAMES[found.name]} can't be cast to the desired output type "
            f"{TYPE_NAMES[wanted.name]}"
        )


def before_writing(
    function: Callable[..., Any], t: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    """The result of an operation that is written into `t` next: what it saves of `t` is a copy."""
    before, MODES.written = MODES.written, t
    try:
        return function(t, *args, **kwargs)  # type: ignore[no-any-return]
    finally:
        MODES.written = before


def in_place(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The method that runs `function` and keeps its result in the tensor itself."""

    def method(self: Tensor, *args: Operand, **kwargs: Anything) -> Tensor:
        incoming = MODES.grad and any(isinstance(x, Tensor) and x._rg for x in args)
        require_writeable(self, incoming)
        for x in args:
            if isinstance(x, Tensor) and x is not self:
                require_same_or_apart(self._value, x._value)
        result = (
            function(self, *args, **kwargs) if MODES.fast else before_writing(function, self, args, kwargs)
        )
        if exact and result._value.dtype != self._value.dtype:
            raise RuntimeError(f"{name}(): the result is {result.dtype}, which {self.dtype} cannot hold")
        return assign(self, result)

    # What else is cast to the tensor's dtype as PyTorch casts it.
    exact = name in ("abs_", "absolute_", "float_power_")
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As `{name.removesuffix('_')}`, in place; returns the tensor."
    return method
