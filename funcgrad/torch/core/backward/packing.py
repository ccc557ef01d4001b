"""Hooks of what histories save: values are packed when they are kept, and unpacked when a pass needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.backward.history import Node, Output
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Anything, Array


class Packed:
    """What a pack hook made of a value, and the hook that undoes it."""

    __slots__ = ("content", "shape", "unpack")

    def __init__(self, content: Anything, unpack: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self.content = content
        self.unpack = unpack
        self.shape = shape

    def value(self) -> Array:
        """The value that the unpack hook returns; TypeError for what is not a tensor."""
        found = self.unpack(self.content)
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}"
            )
        if found._value.shape != self.shape:
            raise RuntimeError(
                f"Output of saved tensor unpack_hook has shape {list(found._value.shape)}; the tensor that "
                f"was packed had {list(self.shape)}"
            )
        return found._value


def pack(value: Array, edge: Anything = None, hooks: tuple[Any, Any] | None = None) -> Packed:
    """A value after a pack hook (the innermost one), which keeps no history and may not change it.

    `edge` says where the value came from: hooks are given a leaf itself.
    """
    pack_hook, unpack_hook = MODES.saved_hooks[-1] if hooks is None else hooks
    given = edge if isinstance(edge, Tensor) and edge._value is value else wrap(value)
    if given is not edge and isinstance(edge, Node | Output):
        given._node, given._rg = edge, True
    version = given._version_box[0]
    before, MODES.saved_hooks = MODES.saved_hooks, ()
    MODES.settle()
    try:
        with no_grad():
            content = pack_hook(given)
    finally:
        MODES.saved_hooks = before
        MODES.settle()
    if given._version_box[0] != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
            "hook can not be modified by in-place operations as this can lead to unexpected side-effects. "
            "Clone the tensor in the hook, and modify the clone."
        )
    return Packed(content, unpack_hook, value.shape)


class PackedNode(Node):
    """A node whose saved values are packed."""

    packs: tuple[Any, ...] | None

    @property
    def saved(self) -> tuple[Any, ...] | None:
        """The values, unpacked; None once freed."""
        packs = self.packs
        if packs is None:
            return None
        return tuple([x.value() if type(x) is Packed else x for x in packs])

    @saved.setter
    def saved(self, given: tuple[Any, ...] | None) -> None:
        self.packs = given

    @property
    def is_freed(self) -> bool:
        """Whether the saved values are gone; asks no hook."""
        return self.packs is None

    def release(self) -> None:
        """Free the saved values."""
        if self.packs:
            self.packs = None

    def keep_copy(self, k: int) -> None:
        """Copy what a hook kept as it is, before its memory is written."""
        packs = list(self.packs or ())
        kept = packs[k]
        if type(kept) is not Packed:
            packs[k] = np.array(kept) if type(kept) is np.ndarray else kept
        elif isinstance(kept.content, Tensor):
            packs[k] = Packed(kept.content.detach().clone(), kept.unpack, kept.shape)
        self.packs = tuple(packs)


_CLASSES: dict[Any, Any] = {}


def _packed_class(cls: Anything) -> Anything:
    """The class of nodes that are like those of a class, with packed values."""
    found = _CLASSES.get(cls)
    if found is None:
        found = _CLASSES[cls] = type(cls.__name__, (PackedNode, cls), {"__module__": cls.__module__})
    return found


def pack_saved(node: Node, values: Sequence[Any], edges: Sequence[Any]) -> None:
    """Let a node keep these values packed; numbers and indices, whose edge is ``...``, are kept as they are.

    Memory that a hook kept as it is must not be changed, as that of other saved values.
    """
    node.__class__ = _packed_class(type(node))
    checks = list(node.checks)
    packs: list[Any] = []
    for k, (x, edge) in enumerate(zip(values, edges, strict=True)):
        given = x if MODES.written is None or MODES.written._value is not x else x.copy()
        packs.append(x if edge is ... else pack(given, edge))
        kept = getattr(packs[-1], "content", None)
        if not (isinstance(kept, Tensor) and kept._value is x):
            checks[2 * k : 2 * k + 2] = [[0], 0]
    node.saved = tuple(packs)
    node.checks = tuple(checks)


def pack_number(node: Node, k: int, edge: Anything, hooks: tuple[Any, Any]) -> None:
    """Let a node keep one of its saved values packed by these hooks."""
    packs = list(node.packs or ()) if isinstance(node, PackedNode) else list(node.saved or ())
    value = packs[k]
    packs[k] = once_packed(value, edge, hooks)
    checks = list(node.checks)
    kept = packs[k].content
    if checks and not (isinstance(kept, Tensor) and kept._value is value):
        checks[2 * k : 2 * k + 2] = [[0], 0]
    if not isinstance(node, PackedNode):
        node.__class__ = _packed_class(type(node))
    node.saved, node.checks = tuple(packs), tuple(checks)


def once_packed(value: Anything, edge: Anything, hooks: tuple[Any, Any]) -> Packed:
    """A value packed by its own hooks; RuntimeError for one that is packed already."""
    if type(value) is Packed:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair "
            "of hooks is allowed at a time."
        )
    return pack(value, edge, hooks)


@contextmanager
def hooked(pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> Iterator[None]:
    """Pack what histories save inside of this context. RuntimeError where that has been disabled."""
    if MODES.hooks_refused is not None:
        raise RuntimeError(MODES.hooks_refused)
    before = MODES.saved_hooks
    MODES.saved_hooks = (*before, (pack_hook, unpack_hook))
    MODES.settle()
    try:
        yield
    finally:
        MODES.saved_hooks = before
        MODES.settle()


@contextmanager
def disabled(message: str) -> Iterator[None]:
    """Refuse hooks of saved tensors inside of this context, with a message."""
    if MODES.saved_hooks:
        raise RuntimeError(message)
    before, MODES.hooks_refused = MODES.hooks_refused, message
    try:
        yield
    finally:
        MODES.hooks_refused = before
