"""Parameters that are computed from others: ``torch.nn.utils.parametrize``.

A parametrised attribute becomes a property of a class made for the module, which asks its
`ParametrizationList`.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.containers import ModuleDict, ModuleList
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.types import Anything

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


class _Cache(threading.local):
    """The values computed inside of `cached`, and how many of these are open in this thread."""

    depth = 0
    values: dict[tuple[int, str], Any]

    def __init__(self) -> None:
        self.values = {}


_CACHE = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Compute every parametrised tensor once inside of this context."""
    _CACHE.depth += 1
    try:
        yield
    finally:
        _CACHE.depth -= 1
        if not _CACHE.depth:
            _CACHE.values.clear()


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, and the tensors (``original``) that it is computed from."""

    def __init__(self, modules: Anything, original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        if not len(self):
            raise ValueError("ParametrizationList requires one or more modules.")
        self.unsafe = unsafe
        value: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    # Where there is none after all, it is taken for the identity.
                    with suppress(NotImplementedError):
                        value = module.right_inverse(value)
        self.is_tensor = isinstance(value, Tensor)
        if not self.is_tensor and not isinstance(value, list | tuple):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(value).__name__}"
            )
        parts = {"original": value} if self.is_tensor else {f"original{k}": t for k, t in enumerate(value)}
        self.ntensors = len(parts)
        for name, part in parts.items():
            if isinstance(original, Parameter):
                kept = original if part is original else Parameter(part, requires_grad=original._rg)
                self.register_parameter(name, kept)
            else:
                self.register_buffer(name, part)
        if not unsafe:
            after = self()
            _require_tensor(after)
            _require_alike(original, after, _CHANGED_BY_ALL)

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{k}") for k in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the tensor has this value, where the parametrisations can be inverted."""
        found: Any = value
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                found = module.right_inverse(found)
            parts = [found] if self.is_tensor else list(found)
            for kept, part in zip(self._originals(), parts, strict=True):
                kept.copy_(part)

    def forward(self) -> Operand:
        """The tensor."""
        first, *rest = list(self)
        found = first(*self._originals())
        for module in rest:
            found = module(found)
        return found


def _property_of(name: str) -> property:
    def read(self: Anything) -> Anything:
        if not _CACHE.depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _CACHE.values:
            _CACHE.values[key] = self.parametrizations[name]()
        return _CACHE.values[key]

    def write(self: Anything, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _own_class(module: Module) -> None:
    """Give the module a class of its own, which properties can be added to."""
    cls = type(module)

    def getstate(self: Anything) -> Anything:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    def deepcopied(self: Anything, memo: dict[int, Any]) -> Anything:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    module.__class__ = type(
        f"Parametrized{cls.__name__}",
        (cls,),
        {"__getstate__": getstate, "__deepcopy__": deepcopied, "__module__": cls.__module__},
    )


_CHANGED_BY_ALL = (
    "Registering a parametrization may not change the {word} of the tensor, unless `unsafe` flag is "
    "enabled.\nunparametrized {word}: {before}\nparametrized {word}: {after}"
)
_CHANGED = (
    "Registering a parametrization may not change the {word} of the tensor, unless the `unsafe` flag is "
    "enabled.\nmodule.{name}.{word}: {before}\nparametrization(module.{name}).{word}: {after}"
)
_NO_INVERSE = (
    "The tensor returned by parametrization.right_inverse must have the same {word} as module.{name}, unless "
    "the `unsafe` flag is enabled.\nmodule.{name}.{word}: {before}\nreturned {word}: {after}"
)


def _require_tensor(made: object) -> None:
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")


def _require_alike(before: Tensor, after: Tensor, message: str, name: str = "") -> None:
    for word in ("dtype", "shape"):
        was, now = getattr(before, word), getattr(after, word)
        if was != now:
            raise ValueError(message.format(word=word, name=name, before=was, after=now))


def _require_fitting(value: Tensor, parametrization: Anything, name: str) -> None:
    """Raise ValueError where one more module, or its inverse, changes the shape or the dtype of a tensor."""
    made = parametrization(value)
    _require_tensor(made)
    _require_alike(value, made, _CHANGED, name)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        found = parametrization.right_inverse(made)
    except NotImplementedError:
        return
    if not isinstance(found, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(found).__name__}")
    _require_alike(value, found, _NO_INVERSE, name)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer of a module by another module from now on.

    >>> from funcgrad import torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        found: Any = module.parametrizations[tensor_name]
        if not unsafe:
            # The originals stay as they are: the tensor becomes what the new module makes of its value.
            _require_fitting(getattr(module, tensor_name), parametrization, tensor_name)
        found.append(parametrization)
        found.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property_of(tensor_name))
    module.parametrizations[tensor_name] = made
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrised tensors, or this one."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor an ordinary one again: with its computed value, or with its original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found: Any = module.parametrizations[tensor_name]
    originals = found._originals()
    original = originals[0]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name)
        if isinstance(original, Parameter):
            if found.is_tensor and value._value.shape == original._value.shape:
                original.data = value
            else:
                original = Parameter(value.detach(), requires_grad=original._rg)
        else:
            original = value
    elif not found.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
            "terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before its first parametrisation."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give a module the parametrisations and their originals of another."""
    names = list(from_module.parametrizations.keys()) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        source: Any = from_module.parametrizations[name]
        for parametrization in list(source):
            register_parametrization(to_module, name, parametrization)
        target: Any = to_module.parametrizations[name]
        for mine, theirs in zip(target._originals(), source._originals(), strict=True):
            mine.data = theirs.detach().clone()
    return to_module
