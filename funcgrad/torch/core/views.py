"""Views: tensors that share the memory of a base, and how their histories follow changes in place.

A view knows its base and the chain of functions that takes the base to it. After the base (or another view
of it) was changed in place with a history, every live view gets a new node that reads it out of the base.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
from numpy.lib.stride_tricks import as_strided

from funcgrad.extend import Tracer
from funcgrad.torch.core.apply import results
from funcgrad.torch.core.backward.anomaly import note_traceback
from funcgrad.torch.core.backward.history import Node, Op, Output
from funcgrad.torch.core.backward.plans import plan_for
from funcgrad.torch.core.layout import own_copy
from funcgrad.torch.core.meta import is_shape_only
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE, quiet
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.types import Array, ArrayLike, DTypeLike

__all__ = [
    "MULTIPLE",
    "View",
    "copy_slices",
    "live_views",
    "lying",
    "lying_in_base",
    "regenerate_views",
    "register_view",
    "view_outputs",
    "viewed",
]

_new = object.__new__
DEFAULT, NO_GRAD, MULTIPLE, INFERENCE, CUSTOM = range(5)
"""Where a view was made, which decides whether it may be changed in place."""


class View:
    """What makes a tensor a view."""

    __slots__ = ("base", "chain", "made", "maker", "version")

    def __init__(self, base: Tensor, chain: tuple[Any, ...], made: int, maker: str) -> None:
        self.base = base
        self.chain = chain
        """``(op, params)`` of every step from the base to the view."""
        self.made = made
        self.version = base._version_box[0]
        """When the node of the view was made: a later change asks for a new one."""
        self.maker = maker
        """The name of the node that made it, for messages."""

    def refresh(self, t: Tensor) -> None:
        """What looking at the history of a view does after its memory was changed behind it."""
        if self.made == MULTIPLE:
            raise RuntimeError(_POISONED.format(number=t.output_nr, maker=self.maker))
        if self.made in (NO_GRAD, INFERENCE) and self.base._rg:
            mode = "no_grad" if self.made == NO_GRAD else "inference"
            raise RuntimeError(_MADE_QUIETLY.format(mode=mode))
        if self.made == DEFAULT and self.chain:
            regenerate(t)


def register_view(t: Tensor, source: Tensor, step: tuple[Any, ...], made: int, maker: str) -> None:
    """Make `t` a view of `source` (or of what that is a view of)."""
    t._version_box = source._version_box
    of = source._view
    if of is None:
        base, chain = source, (step,)
    else:
        base, chain = of.base, (*of.chain, step)
        if made == DEFAULT and of.made in (NO_GRAD, INFERENCE, MULTIPLE):
            made = of.made
    t._view = View(base, chain, made, maker)
    views = base._views
    if views is None:
        base._views = [ref(t)]
        return
    if len(views) > 16 and not len(views) & (len(views) - 1):
        views[:] = [r for r in views if r() is not None]
    views.append(ref(t))


def viewed(op: Op, source: Tensor, params: tuple[Any, ...] = (), value: ArrayLike = None) -> Tensor:
    """The view of a tensor that `op` makes; `value` is its array where the caller has it."""
    t: Tensor = _new(Tensor)
    t._value = op.function(own(source), *params) if value is None else value
    rg = source._rg
    if source._inference:
        t._inference = True
    if MODES.fast:
        register_view(t, source, (op, params), DEFAULT, op.name)
        if rg:
            view_node(t, source, op, params)
        return t
    made = DEFAULT if MODES.grad else NO_GRAD
    if MODES.inference:
        made = INFERENCE
    register_view(t, source, (op, params), made, op.name)
    if rg and MODES.grad:
        view_node(t, source, op, params)
    elif rg and made in (NO_GRAD, INFERENCE) and t._value.dtype.kind in "fc":
        # As in PyTorch: a view made without history still requires grad, as a leaf.
        t._rg = True
    return t


def view_node(t: Tensor, source: Tensor, op: Op, params: tuple[Any, ...]) -> None:
    """Give a view its history: views keep no values."""
    node: Node = _new(op.node_class)
    node.params = params
    node.edges = (source._node or source,)
    from_value, value = source._value, t._value
    node.specs = (from_value.shape,)
    if from_value.dtype is not value.dtype:
        specs = ((from_value.shape, from_value.dtype),)
        node.plan = plan_for(op, params, 1, specs, ((value.shape, value.dtype),))
    node.seq = next(SEQUENCE)
    t._node = node
    t._rg = True
    if MODES.anomaly:
        note_traceback(node)


def view_outputs(
    op: Op, parts: Op, source: Tensor, params: tuple[Any, ...], count: int
) -> tuple[Tensor, ...]:
    """The views that an operation with several results makes; `parts` makes the one with a number."""
    memory = own(source)
    outs = op.function(memory, *params)
    needs = 1 if source._rg and MODES.grad else 0
    tensors = results(op, (source,), (memory,), params, outs, needs) if count else ()
    made = MULTIPLE if MODES.grad else NO_GRAD
    if MODES.inference:
        made = INFERENCE
    maker = op.title or op.name.removesuffix("Backward0")
    for k, t in enumerate(tensors):
        register_view(t, source, (parts, (*params, k)), made, maker)
        # As in PyTorch: a view of an ordinary tensor is one, whatever mode it is made in.
        t._inference = source._inference
        if source._rg and made in (NO_GRAD, INFERENCE) and t._value.dtype.kind in "fc":
            t._rg = True
    return tensors


def live_views(base: Tensor) -> list[Tensor]:
    """The views of a base that somebody still holds."""
    if base._views is None:
        return []
    return [t for r in base._views if (t := r()) is not None]


def followed(value: object, chain: tuple[Any, ...]) -> Array:
    """What a chain of view functions makes of an array."""
    for op, params in chain:
        value = op.function(value, *params)
    return value


def lying(t: Tensor) -> Array:
    """An array whose elements lie in memory as those of the tensor do; that of a meta tensor has none."""
    return lying_in_base(t)[1]


def lying_in_base(t: Tensor) -> tuple[Array, Array]:
    """An array that lies as the base of a tensor does (as itself where it is no view), and its part.

    What an operation on meta tensors gives is taken to lie in rows, and a view of it as NumPy's view would.
    """
    base, chain = (t, ()) if t._view is None else (t._view.base, t._view.chain)
    if not is_shape_only(t._value):
        return base._value, own(t)
    memory = without_memory(base._value.shape, base._value.dtype)
    return memory, followed(memory, chain)


def without_memory(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """An array in rows of any size that nobody may read: there is one element behind it."""
    steps = np.cumprod([1, *[max(n, 1) for n in shape[:0:-1]]])[::-1] if shape else ()
    element = np.empty(1, dtype)
    return as_strided(element, shape, [int(step) * element.itemsize for step in steps], writeable=False)


def regenerate_views(base: Tensor) -> None:
    """Give every live view of a base a history that reads it out of the base as it is now."""
    for t in live_views(base):
        if type(base._value) is Tracer:
            t._value = followed(base._value, t._view.chain)
        if not base._rg:
            continue
        if t._view.made == MULTIPLE:
            t._node, t._rg = Poisoned(t.output_nr, t._view.maker), True
        elif t._view.made == DEFAULT:
            kept = stopped_retaining(t)
            regenerate(t)
            if kept:
                t.retain_grad()


def stopped_retaining(t: Tensor) -> bool:
    """Let the node of a tensor, which gets another one, no longer keep its gradient; whether it did."""
    node = t._node.node if type(t._node) is Output else t._node
    if node is None or not t._retains:
        return False
    node.more().retained.pop(t.output_nr, None)
    t._retains = False
    return True


def regenerate(t: Tensor) -> None:
    """Give a view a history that reads it out of its base as it is now."""
    base = t._view.base
    view_node(t, base, _AS_STRIDED, (t._view.chain,))
    t._view.version = base._version_box[0]


_MADE_QUIETLY = (
    "A view was created in {mode} mode and its base or another view of its base has been modified inplace "
    "with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You "
    "can clarify your code by moving both the view and the inplace either both inside the {mode} block (if "
    "you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)


class Poisoned(Node):
    """The history of one of several views made together, after its base was changed in place."""

    is_python = True

    def __init__(self, number: int, maker: str) -> None:
        self.number = number
        self.maker = maker
        self.seq = next(SEQUENCE)

    def backward_python(self, cotangents: object) -> Array:
        """Refuse."""
        raise RuntimeError(_POISONED.format(number=self.number, maker=self.maker))


_POISONED = (
    "Output {number} of {maker} is a view and its base or another view of its base has been modified "
    "inplace. This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)


_AS_STRIDED = Op("AsStridedBackward0", followed)


def positions(shape: tuple[int, ...], chain: tuple[Any, ...]) -> Array:
    """Where in the flat base the elements of a view lie."""
    size = int(np.prod(shape))
    return np.array(followed(np.arange(size).reshape(shape), chain))


def _replaced(base: Operand, value: Array, chain: tuple[Any, ...]) -> Array:
    """The base with the elements of a view replaced."""
    if type(base) is np.ndarray and type(value) is not Tracer:
        out = base.copy()
        followed(out, chain)[...] = value
        return out
    # A scatter serves every chain, also those that NumPy makes read-only.
    shape = base.shape
    flat = own_copy(np.reshape(base, (-1,)), value)
    where = positions(shape, chain)
    flat[where.reshape(-1)] = np.reshape(value, (-1,))
    return np.reshape(flat, shape)


copy_slices = Op("CopySlices", _replaced)


def _copy_slices_name(node: Node) -> str:
    return "torch::autograd::CopySlices"


setattr(copy_slices.node_class, "_name", _copy_slices_name)  # noqa: B010 - a class made for it


def quietly(function: Callable[..., Any], *values: Operand) -> Array:
    """A call without NumPy's warnings."""
    token = quiet.enter()
    try:
        return function(*values)
    finally:
        quiet.leave(token)


def output_of(node: Node, number: int) -> Node | Output:
    """The edge of one result of a node."""
    return node if node.outputs == 1 else Output(node, number)
