"""What a node keeps for its backward: unchanged since, as tensors, and by the names that PyTorch shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.torch.core.backward.anomaly import warn_of_error
from funcgrad.torch.core.backward.history import FREED, Node, Output, changed_message, node_method
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Anything

__all__ = ["require_unchanged", "saved_names", "saved_tensors"]


def require_unchanged(node: Node) -> None:
    """Raise RuntimeError if a saved value is gone or was changed in place."""
    if node.is_freed:
        raise RuntimeError(FREED)
    checks = node.checks
    if not checks:
        return
    saved = node.saved
    assert saved is not None
    for k in range(0, len(checks), 2):
        if checks[k][0] != checks[k + 1]:
            if MODES.anomaly:
                warn_of_error(node)
            raise RuntimeError(
                changed_message(saved[k // 2], checks[k], checks[k + 1], *saved_edge(node, k // 2))
            )


def saved_edge(node: Node, k: int) -> tuple[Any, bool]:
    """Where the saved value with this number came from, and whether it is a result of the node itself."""
    if node.plan is not None:
        used: Sequence[int] = node.plan.used_inputs
    else:
        mask = node.op.masks.get(node.needs, 0)
        used = [j for j in range(len(node.edges)) if mask >> j & 1]
    return (node.edges[used[k]], False) if k < len(used) else (node, True)


def saved_tensors(node: Node, used_inputs: Sequence[int], used_outputs: Sequence[int]) -> list[Tensor]:
    """The saved values as tensors with the history that they had."""
    saved = node.saved
    assert saved is not None
    tensors = []
    for k, value in zip(used_inputs, saved, strict=False):
        edge = node.edges[k]
        if isinstance(edge, Tensor):
            tensors.append(edge)
            continue
        t = wrap(value)
        if edge is not None:
            t._node, t._rg = edge, True
        tensors.append(t)
    for k, value in zip(used_outputs, saved[len(used_inputs) :], strict=True):
        t = wrap(value)
        if value.dtype.kind in "fc":
            t._node, t._rg = (node if node.outputs == 1 else Output(node, k)), True
        tensors.append(t)
    return tensors


def saved_attribute(node: Node, name: str) -> Anything:
    """What PyTorch shows as ``_saved_self``, ``_saved_result`` and so on."""
    op = getattr(type(node), "op", None)
    if op is None:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")
    if name in op.param_names:
        return node.params[op.param_names.index(name)]
    if name == "self_sym_sizes" and (node.specs or node.plan is not None):
        return node.specs[0] if node.specs else node.plan.in_specs[0][0]  # type: ignore[union-attr]
    if node.saved is None:
        raise RuntimeError(FREED)
    names = saved_names(node)
    if name in names:
        return saved_tensors(node, *_used(node))[names.index(name)]
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


def saved_names(node: Node) -> list[str]:
    """What PyTorch calls the values that a node keeps, in their order; also once they are freed."""
    op = getattr(type(node), "op", None)
    if op is None:
        return []
    used_in, used_out = _used(node)
    names = [op.input_names[k] if k < len(op.input_names) else str(k) for k in used_in]
    return names + [op.output_names[k] if k < len(op.output_names) else str(k) for k in used_out]


def _used(node: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of the inputs and of the outputs that a node keeps."""
    plan = node.plan
    if plan is not None:
        return plan.used_inputs, plan.used_outputs
    mask, n = node.op.masks.get(node.needs, 0), len(node.edges)
    return tuple([k for k in range(n) if mask >> k & 1]), (0,) if mask >> n else ()


@node_method("__getattr__")
def computed_attribute(self: Node, name: str) -> Anything:
    """The saved values, under PyTorch's names."""
    if name.startswith(("_saved_", "_raw_saved_")):
        return saved_attribute(self, name.removeprefix("_raw").removeprefix("_saved_"))
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


@node_method("__dir__")
def all_attributes(self: Node) -> list[str]:
    """The attributes, with those that are computed: what was saved, as PyTorch's nodes list it."""
    params = self.op.param_names if hasattr(type(self), "op") else ()
    names = [f"_saved_{name}" for name in (*saved_names(self), *params)]
    return sorted({*object.__dir__(self), *names})
