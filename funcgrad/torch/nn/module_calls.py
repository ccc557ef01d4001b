"""Calling a module: its forward function, and the hooks before, after and behind it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from funcgrad.torch.core.backward.hooks import RemovableHandle, added_hook, registered
from funcgrad.torch.nn.backward_hooks import watched_inputs, watched_outputs
from funcgrad.types import Anything

__all__ = [
    "HOOK_TABLES",
    "Calls",
    "hooks_of",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]

HOOK_TABLES = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


_BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one "
    "of them."
)


class Hook(NamedTuple):
    """A hook with how it is to be called."""

    call: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False


GLOBAL: dict[str, dict[int, Any]] = {name: OrderedDict() for name in HOOK_TABLES[:4]}
"""Hooks of all modules, as in PyTorch: they come before those of a module."""


class Calls:
    """A module as what is called, and all hooks that can be registered with one."""

    forward: Callable[..., Any]
    _forward_pre_hooks: dict[int, Hook]
    _forward_hooks: dict[int, Hook]
    _backward_hooks: dict[int, Callable[..., Any]]
    _backward_pre_hooks: dict[int, Callable[..., Any]]

    def __call__(self, *args: Anything, **kwargs: Anything) -> Anything:
        held = self.__dict__
        if not (
            held["_forward_hooks"]
            or held["_forward_pre_hooks"]
            or held["_backward_hooks"]
            or held["_backward_pre_hooks"]
            or any(GLOBAL.values())
        ):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Anything:
        for hook in hooks_of(self, "_forward_pre_hooks"):
            args, kwargs = _before(self, hook, args, kwargs)
        hooks, pre_hooks = hooks_of(self, "_backward_hooks"), hooks_of(self, "_backward_pre_hooks")
        if hooks or pre_hooks:
            watch, args = watched_inputs(self, hooks, pre_hooks, args)
            return watched_outputs(watch, self._forward_with_hooks(args, kwargs))
        return self._forward_with_hooks(args, kwargs)

    def _forward_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Anything:
        try:
            out = self.forward(*args, **kwargs)
        except Exception:
            for hook in hooks_of(self, "_forward_hooks"):
                if hook.always_call:
                    _after_an_error(self, hook, args, kwargs)
            raise
        for hook in hooks_of(self, "_forward_hooks"):
            out = _after(self, hook, args, kwargs, out)
        return out

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        return registered(self._forward_pre_hooks, Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        return registered(self._forward_hooks, Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in the backward pass; it may return others."""
        if getattr(self, "_is_full_backward_hook", None) is False:
            raise RuntimeError(_BOTH_KINDS)
        self._is_full_backward_hook = True
        return registered(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The old name of `register_full_backward_hook`, which is not mixed with it."""
        if getattr(self, "_is_full_backward_hook", None) is True:
            raise RuntimeError(_BOTH_KINDS)
        self._is_full_backward_hook = False
        return registered(self._backward_hooks, hook, False)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's backward; it may return others."""
        return registered(self._backward_pre_hooks, hook, prepend)


def hooks_of(module: Calls, table: str) -> list[Any]:
    """The hooks of all modules and of this one."""
    return [*GLOBAL[table].values(), *module.__dict__[table].values()]


def _global_hook(name: str, table: str, doc: str) -> Callable[..., RemovableHandle]:
    takes_options = table.startswith("_forward")

    def register(hook: Callable[..., Any], **options: bool) -> RemovableHandle:
        entry: Any = Hook(hook, **options) if takes_options else hook
        return added_hook(GLOBAL[table], entry)

    register.__name__ = register.__qualname__ = name
    register.__doc__ = doc
    return register


register_module_forward_pre_hook = _global_hook(
    "register_module_forward_pre_hook",
    "_forward_pre_hooks",
    "Call ``hook(module, args)`` before the forward of every module.",
)
register_module_forward_hook = _global_hook(
    "register_module_forward_hook",
    "_forward_hooks",
    "Call ``hook(module, args, output)`` after the forward of every module.",
)
register_module_full_backward_pre_hook = _global_hook(
    "register_module_full_backward_pre_hook",
    "_backward_pre_hooks",
    "Call ``hook(module, grad_output)`` before the backward of every module.",
)
register_module_full_backward_hook = _global_hook(
    "register_module_full_backward_hook",
    "_backward_hooks",
    "Call ``hook(module, grad_input, grad_output)`` in the backward pass of every module.",
)


def _before(module: Calls, hook: Hook, args: Anything, kwargs: Anything) -> tuple[Any, Any]:
    if hook.with_kwargs:
        found = hook.call(module, args, kwargs)
        if found is None:
            return args, kwargs
        if not (isinstance(found, tuple) and len(found) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {found}."
            )
        return found
    found = hook.call(module, args)
    if found is None:
        return args, kwargs
    return found if isinstance(found, tuple) else (found,), kwargs


def _after_an_error(module: Calls, hook: Hook, args: Anything, kwargs: Anything) -> None:
    """A hook that is always called; what it raises itself is only told of."""
    try:
        _after(module, hook, args, kwargs, None)
    except Exception as error:  # noqa: BLE001 - the error of forward is the one that goes on
        warnings.warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced as another "
            f"error was raised in forward: {error}",
            stacklevel=2,
        )


def _after(module: Calls, hook: Hook, args: Anything, kwargs: Anything, out: Anything) -> Anything:
    found = hook.call(module, args, kwargs, out) if hook.with_kwargs else hook.call(module, args, out)
    return out if found is None else found
