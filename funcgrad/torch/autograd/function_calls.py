"""What goes in and out of a user's forward: its arguments in order, and its results with their history."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funcgrad.torch.core.backward.anomaly import note_traceback
from funcgrad.torch.core.backward.history import Output
from funcgrad.torch.core.inplace import replace_in_base
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, alias_of
from funcgrad.torch.core.views import CUSTOM, MULTIPLE, View

if TYPE_CHECKING:
    from funcgrad.torch.autograd.function import FunctionNode


def require_views(node: FunctionNode, args: tuple[Any, ...], out: Operands) -> None:
    """Raise RuntimeError for an input that is saved, and that a forward without a context returns as is."""
    outs = out if isinstance(out, tuple) else (out,)
    for t in node._to_save:
        if isinstance(t, Tensor) and all(any(t is x for x in xs) for xs in (args, outs)):
            if any(t is x for x in node._dirty):
                continue
            raise RuntimeError(
                "An input that has been returned as-is as output is being saved for backward. This is not "
                "supported if you override setup_context. You should return and save a view of the input "
                "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
            )


def with_history(
    node: FunctionNode, out: Operands, tensors: list[Tensor], edges: tuple[Any, ...], remembering: bool
) -> Operands:
    """What a user's forward returned, as results of its node."""
    outs = out if isinstance(out, tuple) else (out,)
    if remembering:
        require_dirty_allowed(node._dirty, outs)
    made = tuple([attached(x, node, k, tensors, remembering) for k, x in enumerate(outs)])
    if remembering:
        node.edges = edges
        node.outputs = len(made)
        for k, x in enumerate(made):
            if isinstance(x, Tensor) and x._rg and takes(x, node):
                # The last of several places counts, as in PyTorch.
                x._node = node if len(made) == 1 else Output(node, k)
        for t in node._dirty:
            if t._view is not None:
                replace_in_base(t, t)
        label_views(made, node)
    node._out_specs = tuple(
        [(x._value.shape, x._value.dtype) if isinstance(x, Tensor) else None for x in made]
    )
    if remembering:
        node._keep(made)
        if MODES.anomaly:
            note_traceback(node)
    else:
        node._kept = []
    return made if isinstance(out, tuple) else made[0]


def takes(x: Tensor, node: FunctionNode) -> bool:
    """Whether a result has no other history than this node's."""
    if any(x is t for t in node._dirty):
        return True
    return x._node is None or x._node is node or (type(x._node) is Output and x._node.node is node)


def with_defaults(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments of a user's forward: its `setup_context` is given those left to their defaults, too."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return (*bound.args, *bound.kwargs.values())


def by_position(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments of a user's forward that is given its `ctx`, in order, as its gradients are."""
    if not kwargs:
        return args
    left, placed = dict(kwargs), list(args)
    for name in list(inspect.signature(forward).parameters)[1 + len(args) :]:
        if not left:
            break
        if name not in left:
            if set(left) <= set(inspect.signature(forward).parameters):
                raise TypeError(f"forward() missing required argument: '{name}' (position {len(placed)})")
            break
        placed.append(left.pop(name))
    if left:
        raise TypeError(f"forward() got an unexpected keyword argument '{next(iter(left))}'")
    return tuple(placed)


def require_dirty_allowed(dirty: tuple[Any, ...], outs: tuple[Any, ...]) -> None:
    """Raise RuntimeError where what `forward` changed in place may not be, or is not returned."""
    if any(t._rg and t._node is None for t in dirty):
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if any(all(t is not x for x in outs) for t in dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs "
            "that are modified inplace must all be outputs of the Function."
        )


def label_views(made: tuple[Any, ...], node: FunctionNode) -> None:
    """Say of the views that a user's forward returned where they come from: they may not be changed."""
    several = sum(isinstance(x, Tensor) and x._rg for x in made) > 1
    for x in made:
        if isinstance(x, Tensor) and x._view is not None and all(x is not t for t in node._dirty):
            x._view.made = MULTIPLE if several else CUSTOM
            x._view.maker = node.function.__name__


def attached(x: Operand, node: FunctionNode, k: int, inputs: list[Tensor], remembering: bool) -> Operands:
    """An output of a user's forward, ready to take the node as its history."""
    if not isinstance(x, Tensor):
        return x
    dirty = any(x is d for d in node._dirty)
    if not dirty and any(x is t for t in inputs):
        source = x
        x = alias_of(source)
        x._version_box = source._version_box
        if remembering:
            x._view = View(source if source._view is None else source._view.base, (), CUSTOM, node._name())
    differentiable = x._value.dtype.kind in "fc" and not any(x is t for t in node._non_differentiable)
    if remembering and differentiable:
        if dirty:
            x._version_box[0] += 1
        x._node = node
        x._rg = True
    return x
