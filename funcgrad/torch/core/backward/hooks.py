"""Hooks: functions of the user's that the backward pass calls, and the handles that remove them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from funcgrad.types import Anything

_IDS = count()


class RemovableHandle:
    """What registering a hook returns: `remove` undoes it; also a context manager that does."""

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self._hooks = hooks
        self.id = number

    def remove(self) -> None:
        """Remove the hook; doing so again has no effect."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def added_hook(hooks: dict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    """Add a hook to a dict of them."""
    number = next(_IDS)
    hooks[number] = hook
    return RemovableHandle(hooks, number)


def hook_name(hook: object) -> str:
    """What PyTorch calls a hook in messages."""
    return getattr(hook, "__name__", None) or type(hook).__name__


def registered(hooks: Anything, hook: Anything, first: bool) -> RemovableHandle:
    """Add a hook after the others, or before all of them."""
    handle = added_hook(hooks, hook)
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle
