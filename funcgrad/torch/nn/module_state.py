"""State dictionaries: what a module has by path, given out and taken back."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from funcgrad.torch.core.backward.hooks import RemovableHandle, registered
from funcgrad.torch.core.meta import NO_DATA, is_meta
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.types import Anything

__all__ = ["LoadResult", "State"]


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class LoadResult(_Keys):
    """Which names of a state dictionary and of a module had no partner."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class State:
    """A module's side that is stored and loaded."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _state_dict_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: dict[int, Callable[..., Any]]

    def state_dict(
        self, *args: Anything, destination: Anything = None, prefix: str = "", keep_vars: bool = False
    ) -> Anything:
        """Parameters and persistent buffers by path: tensors on the same memory, without history."""
        if args:
            destination = args[0]
            prefix = args[1] if len(args) > 1 else prefix
            keep_vars = args[2] if len(args) > 2 else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            found = hook(self, destination, prefix, metadata)
            if found is not None:
                destination = found
        return destination

    def get_extra_state(self) -> Anything:
        """More state for the state dictionary, for modules that define it."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: object) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def _save_to_state_dict(self, destination: Anything, prefix: str, keep_vars: bool) -> None:
        for table, skipped in (("_parameters", ()), ("_buffers", self._non_persistent_buffers_set)):
            for name, t in self.__dict__[table].items():
                if t is not None and name not in skipped:
                    destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> LoadResult:
        """Copy tensors by path into parameters and buffers; with `strict` the paths must be the same.

        Raises RuntimeError, with all of them, for paths without partner and shapes that differ.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        _load_into(self, state, "", metadata, assign, strict, missing, unexpected, errors)
        if strict:
            for what, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            text = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        return LoadResult(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Anything,
        prefix: str,
        local_metadata: Anything,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Copy what belongs to this module alone; notes what does not fit."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = bool(local_metadata.get("assign_to_params_buffers", False))
        members = {k: v for k, v in self._parameters.items() if v is not None}
        skipped = self._non_persistent_buffers_set
        members |= {k: v for k, v in self._buffers.items() if v is not None and k not in skipped}
        for name, held in members.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
            else:
                self._load_one(name, held, key, state_dict[key], assign, error_msgs)
        self._load_extra_state(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            for key in state_dict:
                rest = key.removeprefix(prefix).split(".")
                if not key.startswith(prefix) or key == f"{prefix}_extra_state":
                    continue
                if rest[0] not in (self._modules if len(rest) > 1 else members):
                    unexpected_keys.append(key)

    def _load_one(
        self, name: str, held: Tensor, key: str, given: Anything, assign: bool, errors: list[str]
    ) -> None:
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                "from "
                f"checkpoint but received {type(given)}"
            )
            return
        if given._value.shape != held._value.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the "
                f"shape in current model is {held.shape}."
            )
            return
        if assign:
            if isinstance(held, Parameter) and not isinstance(given, Parameter):
                given = Parameter(given, held.requires_grad)
            setattr(self, name, given)
            return
        if is_meta(given) and not is_meta(held):
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {held.shape} '
                f"and whose dimensions in the checkpoint are {given.shape}, an exception occurred : "
                f"('{NO_DATA}',)."
            )
            return
        if is_meta(held) and not is_meta(given):
            warnings.warn(_NO_COPY.format(name=key), UserWarning, stacklevel=2)
        memory = own(held)
        memory[...] = given._value
        held._version_box[0] += 1

    def _load_extra_state(
        self, state_dict: Anything, prefix: str, strict: bool, missing: list[str], unexpected: list[str]
    ) -> None:
        key = f"{prefix}_extra_state"
        if type(self).set_extra_state is not State.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`."""
        return registered(self._state_dict_hooks, hook, False)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict`."""
        return registered(self._state_dict_pre_hooks, hook, False)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, ...)`` before `load_state_dict`."""
        return registered(self._load_state_dict_pre_hooks, hook, False)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after `load_state_dict`."""
        return registered(self._load_state_dict_post_hooks, hook, False)


_NO_COPY = (
    "for {name}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
    "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to "
    "their corresponding key in the module instead of copying them in place?)"
)


def _load_into(
    module: State,
    state: Anything,
    prefix: str,
    metadata: Anything,
    assign: bool,
    strict: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    local = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    grad, MODES.grad = MODES.grad, False
    try:
        module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
    finally:
        MODES.grad = grad
    for name, child in module._modules.items():
        if child is not None:
            own_prefix = f"{prefix}{name}."
            part = OrderedDict([(k, v) for k, v in state.items() if k.startswith(own_prefix)])
            _load_into(child, part, own_prefix, metadata, assign, strict, missing, unexpected, errors)
    for hook in module._load_state_dict_post_hooks.values():
        hook(module, LoadResult(missing, unexpected))
