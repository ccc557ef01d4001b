"""Hooks of what histories save: values are packed when they are kept, and unpacked when a pass needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad.torch.core.backward.history import Node
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Array

__all__ = ["Packed", "disabled", "hooked", "pack", "pack_saved"]


class Packed:
    """What a pack hook made of a value, and the hook that undoes it."""

    __slots__ = ("content", "unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any]) -> None:
        self.content = content
        self.unpack = unpack

    def value(self) -> Array:
        """The value that the unpack hook returns; TypeError for what is not a tensor."""
        found = self.unpack(self.content)
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}"
            )
        return found._value


def pack(value: object) -> Packed:
    """A value after the innermost pack hook, which may not keep a history itself."""
    pack_hook, unpack_hook = MODES.saved_hooks[-1]
    before, MODES.saved_hooks = MODES.saved_hooks, ()
    MODES.settle()
    try:
        return Packed(pack_hook(wrap(value)), unpack_hook)
    finally:
        MODES.saved_hooks = before
        MODES.settle()


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


_CLASSES: dict[Any, Any] = {}


def _packed_class(cls: Any) -> Any:
    """The class of nodes that are like those of a class, with packed values."""
    found = _CLASSES.get(cls)
    if found is None:
        found = _CLASSES[cls] = type(cls.__name__, (PackedNode, cls), {"__module__": cls.__module__})
    return found


def pack_saved(node: Node, values: Sequence[Any], are_tensors: Sequence[bool]) -> None:
    """Let a node keep these values packed; numbers and indices are kept as they are."""
    node.__class__ = _packed_class(type(node))
    node.saved = tuple([pack(x) if is_one else x for x, is_one in zip(values, are_tensors, strict=True)])
    node.checks = ()


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
