"""Hooks of optimisers: before and after steps, state dictionaries, and loading them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.backward.hooks import RemovableHandle, added_hook
from funcgrad.types import Anything

__all__ = ["Hooked", "StateDict", "with_hooks"]

StateDict = dict[str, Any]

_WRONG_RESULT = "{step} must return None or a tuple of (new_args, new_kwargs), but got {found}."


class Hooked:
    """What can be called around the work of an optimiser."""

    _opt_called = False

    def forget_hooks(self) -> None:
        """Begin without hooks."""
        self._pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._post_hooks: OrderedDict[int, Any] = OrderedDict()
        self._state_hooks: dict[str, OrderedDict[int, Any]] = {}

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every step; `args` begins with the optimizer."""
        return added_hook(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every step."""
        return added_hook(self._post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict` reads the state."""
        return self._added("before state_dict", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on what `state_dict` gives; a result takes its place."""
        return self._added("after state_dict", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`; a result takes its place."""
        return self._added("before load_state_dict", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return self._added("after load_state_dict", hook, prepend)

    def _added(self, when: str, hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
        hooks = self._state_hooks.setdefault(when, OrderedDict())
        handle = added_hook(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def run_hooks(self, when: str) -> None:
        """Call the hooks of a moment that see the optimizer alone."""
        for hook in list(self._state_hooks.get(when, {}).values()):
            hook(self)

    def after_hooks(self, when: str, state: StateDict) -> StateDict:
        """A state dictionary after the hooks of a moment."""
        for hook in list(self._state_hooks.get(when, {}).values()):
            found = hook(self, state)
            if found is not None:
                state = found
        return state


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """The `step` of an optimiser between the hooks."""

    def called(self: Hooked, *args: Anything, **kwargs: Anything) -> Anything:
        # As PyTorch's, hooks see the optimizer among the arguments, too.
        given: tuple[Any, ...] = (self, *args)
        for hook in list(self._pre_hooks.values()):
            found = hook(self, given, kwargs)
            if found is not None:
                if not isinstance(found, tuple) or len(found) != 2:
                    raise RuntimeError(_WRONG_RESULT.format(step=step, found=found))
                given, kwargs = found
        out = step(*given, **kwargs)
        self._opt_called = True
        for hook in list(self._post_hooks.values()):
            hook(self, given, kwargs)
        return out

    called.__name__ = called.__qualname__ = "step"
    called.__doc__ = step.__doc__
    return called
