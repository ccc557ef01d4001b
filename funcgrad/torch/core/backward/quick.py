"""The backward pass that nearly all are: from one number, on arrays, no hooks, no user's functions.

Does what `engine` does, in one loop. It looks at the whole history first, and leaves what it does not know
to the general pass before anything has happened.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.backward.history import FREED, Node, Output
from funcgrad.torch.core.backward.plans import late_plan
from funcgrad.torch.core.backward.saved import require_unchanged
from funcgrad.torch.core.layout import laid_as_leaf
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, quiet
from funcgrad.torch.core.tensor import Tensor, ndarray, wrap
from funcgrad.types import ArrayLike

_by_sequence = attrgetter("seq")
_ONES: dict[Any, Any] = {}
"""Cotangents of results of one element; nobody writes into them."""


def quick_backward(root: Tensor, keep: bool) -> bool:
    """Run the pass and return True, or return False if it needs the general one."""
    node, value = root._node, root._value
    # A result that is not traced was computed from nothing that is.
    if not isinstance(node, Node) or value.size != 1 or not MODES.fast or type(value) is Tracer:
        return False
    nodes = plain_nodes(node)
    if nodes is None:
        return False
    dtype = value.dtype
    one = _ONES.get((value.shape, dtype))
    if one is None:
        if dtype.kind != "f":
            return False
        one = np.ones(value.shape, dtype)[()]
        if value.shape:
            one.flags.writeable = False
        _ONES[value.shape, dtype] = one
    token = quiet.enter()
    try:
        for leaf, g in sent_back(nodes, node, one, keep).items():
            receive(leaf, g)
    finally:
        quiet.leave(token)
    return True


def plain_nodes(root: Node) -> list[Node] | None:
    """The nodes behind one, newest first; None where one of them is more than an operation."""
    found = {root}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.extra is not None or node.is_python:
            return None
        for e in node.edges:
            if e is None:
                continue
            if isinstance(e, Node):
                if e not in found:
                    found.add(e)
                    stack.append(e)
            elif type(e) is Output:
                if e.node not in found:
                    found.add(e.node)
                    stack.append(e.node)
            elif e._hooks or e._post_hooks or e._accumulator is not None:
                return None
    return sorted(found, key=_by_sequence, reverse=True) if len(found) > 1 else [root]


def sent_back(nodes: list[Node], root: Node, one: Operand, keep: bool) -> dict[Tensor, Any]:
    """The gradients of the leaves."""
    grads: dict[Node, Any] = {root: one}
    leaves: dict[Tensor, Any] = {}
    for node in nodes:
        g = grads.pop(node, None)
        if g is None:
            continue
        checks = node.checks
        if (checks and checks[0][0] != checks[1]) or len(checks) > 2:
            require_unchanged(node)
        # Read once: hooks may compute it.
        saved = node.saved
        if saved is None:
            raise RuntimeError(FREED)
        plan = node.plan or late_plan(node, g)
        if node.outputs == 1:
            found = plan.evaluate(*saved, g)
        else:
            specs = plan.out_specs
            cotangents = [g[k] if g[k] is not None else np.zeros(*specs[k]) for k in plan.active_outputs]
            found = plan.evaluate(*saved, *cotangents)
        edges = node.edges
        for k, x in zip(plan.needed, found, strict=True):
            e = edges[k]
            if isinstance(e, Node) and e.outputs == 1:
                before = grads.get(e)
                grads[e] = x if before is None else before + x
            elif isinstance(e, Tensor):
                before = leaves.get(e)
                leaves[e] = x if before is None else before + x
            else:
                slots = grads.setdefault(e.node, [None] * e.node.outputs)
                before = slots[e.number]
                slots[e.number] = x if before is None else before + x
        if not keep and saved:
            node.saved = None
    return leaves


def receive(leaf: Tensor, g: ArrayLike) -> None:
    """Add a gradient to a leaf's."""
    if not leaf._rg:
        # It stopped asking for gradients after it was used.
        return
    mine = leaf._value
    if g.dtype is not mine.dtype:
        g = g.astype(mine.dtype)
    before = leaf._grad
    if before is None:
        leaf._grad = wrap(g if g.strides == mine.strides else laid_as_leaf(g, mine))
        return
    memory = before._value
    if type(memory) is ndarray:
        np.add(memory, g, out=memory)
    else:
        before._value = memory + g
    before._version_box[0] += 1
