"""What a node keeps for its backward: unchanged since, as tensors, and by the names that PyTorch shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.torch.core.backward.anomaly import warn_of_error
from funcgrad.torch.core.backward.history import FREED, Node, Output, changed_message, node_method
from funcgrad.torch.core.backward.packing import pack_number
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Anything, Array


def require_unchanged(node: Node) -> None:
    """Raise RuntimeError if a saved value is gone or was changed in place."""
    if node.is_freed:
        raise RuntimeError(FREED)
    checks = node.checks
    if not checks:
        return
    for k in range(0, len(checks), 2):
        if checks[k][0] != checks[k + 1]:
            if follows_its_tensor(node, k // 2):
                continue
            if MODES.anomaly:
                warn_of_error(node)
            saved = node.saved
            assert saved is not None
            raise RuntimeError(
                changed_message(saved[k // 2], checks[k], checks[k + 1], *saved_edge(node, k // 2))
            )


def follows_its_tensor(node: Node, k: int) -> bool:
    """Whether all that happened to a saved value is that a leaf in its memory got other data.

    The node then keeps what the leaf has become; tensors that were detached from the leaf stay. Of tensors
    that require no gradient aliases cannot be told: they count as changed.
    """
    box, version = node.checks[2 * k : 2 * k + 2]
    moved = box[2] if len(box) > 2 else None
    if moved is None or box[0] != version + 1 or moved.version != version:
        return False
    edge, leaf = saved_edge(node, k)[0], moved.tensor()
    if leaf is None or not leaf._rg or leaf._node is not None or edge not in (None, leaf):
        return False
    saved, checks = list(node.saved or ()), list(node.checks)
    checks[2 * k] = [version] if edge is None else leaf._version_box
    if edge is not None:
        saved[k] = _in_place_of(saved[k], leaf._value)
    node.saved, node.checks = tuple(saved), tuple(checks)
    return bool(checks[2 * k][0] == version)


def _in_place_of(before: Array, now: Array) -> Array:
    """Other data as a saved value; RuntimeError where the shape is another one."""
    for axis, (a, b) in enumerate(zip(before.shape, now.shape, strict=False)):
        if a != b:
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton "
                f"dimension {axis}"
            )
    if before.shape != now.shape:
        raise RuntimeError(f"data of shape {list(before.shape)} became {list(now.shape)} before backward")
    return now.astype(before.dtype, copy=False)


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


class SavedTensor:
    """One value that a node keeps, for hooks of its own."""

    __slots__ = ("_node", "_number")
    __module__ = "funcgrad.torch"

    def __init__(self, node: Node, number: int) -> None:
        self._node = node
        self._number = number

    def register_hooks(self, pack_hook: object, unpack_hook: object) -> None:
        """Pack the value now, and unpack it when it is needed.

        Raises RuntimeError where the value is gone or has hooks already, TypeError for what is no function.
        """
        node = self._node
        if node.is_freed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
                "of the graph are freed when you call .backward() or autograd.grad(). Specify "
                "retain_graph=True if you need to backward through the graph a second time or if you need to "
                "access saved variables after calling backward."
            )
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): both hooks have to be functions")
        node.pack_one(self._number, (pack_hook, unpack_hook))


@node_method("pack_one")
def pack_one(self: Node, k: int, hooks: tuple[Any, Any]) -> None:
    """Keep one saved value packed by these hooks."""
    pack_number(self, k, None if saved_edge(self, k)[1] else saved_edge(self, k)[0], hooks)


def saved_attribute(node: Node, name: str, raw: bool) -> Anything:
    """What PyTorch shows as ``_saved_self``, ``_saved_result`` and so on; `raw` as ``_raw_saved_self``."""
    op = getattr(type(node), "op", None)
    if op is None:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")
    if name in op.param_names:
        return node.params[op.param_names.index(name)]
    if name == "self_sym_sizes" and (node.specs or node.plan is not None):
        return node.specs[0] if node.specs else node.plan.in_specs[0][0]  # type: ignore[union-attr]
    names = saved_names(node)
    if raw and name in names:
        return SavedTensor(node, names.index(name))
    if node.is_freed:
        raise RuntimeError(FREED)
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
        raw = name.startswith("_raw")
        return saved_attribute(self, name.removeprefix("_raw").removeprefix("_saved_"), raw)
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


@node_method("__dir__")
def all_attributes(self: Node) -> list[str]:
    """The attributes, with those that are computed: what was saved, as PyTorch's nodes list it."""
    params = self.op.param_names if hasattr(type(self), "op") else ()
    names = [f"_saved_{name}" for name in (*saved_names(self), *params)]
    raw = [f"_raw_saved_{name}" for name in saved_names(self)]
    return sorted({*object.__dir__(self), *names, *raw} - {"saved"})
