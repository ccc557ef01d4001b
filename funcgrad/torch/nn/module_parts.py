"""The parts of a module by their paths: what is at one, and walks over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.torch.nn.module import Module

__all__ = ["Parts", "joined"]


def _part(module: object, name: str) -> Anything:
    """What a module has under a name; AttributeError, in PyTorch's words, where it has nothing."""
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)


class Parts:
    """What a module has of parameters, buffers and other modules, by name."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def get_submodule(self, target: str) -> Module:
        """The module at a path of names such as ``"encoder.0"``."""
        found: Any = self
        for item in target.split(".") if target else ():
            if not hasattr(found, item):
                raise AttributeError(f"{type(found).__name__} has no attribute `{item}`")
            found = getattr(found, item)
            if not isinstance(found, Parts):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return found  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Replace the module at a path of names."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path of names."""
        path, _, name = target.rpartition(".")
        found = _part(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path of names."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        _part(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]  # type: ignore[no-any-return]

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their paths; each once."""
        seen = set() if memo is None else memo
        this: Any = self
        if this in seen:
            return
        if remove_duplicate:
            seen.add(this)
        yield prefix, this
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(seen, joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below this one, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below this one."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, member in module.__dict__[table].items():
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield joined(path, name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this module and those below it, with their paths."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and those below it."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers of this module and those below it, with their paths."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def _named_tensors(self) -> tuple[list[str], list[Tensor]]:
        """The paths and the tensors of `named_parameters` and then of `named_buffers`.

        Every call of a compiled step waits for them, and this is one walk where those are four generators
        deep. Where a class has methods of its own in their place, these are asked.
        """
        names: tuple[list[str], list[str]] = [], []
        tensors: tuple[list[Any], list[Any]] = [], []
        this: Any = self
        walked = all(getattr(type(self), name) is getattr(Parts, name) for name in _WALKS)
        if walked and _walk(this, "", set(), set(), (names, tensors)):
            return names[0] + names[1], tensors[0] + tensors[1]
        named = [*self.named_parameters(), *self.named_buffers()]
        return [name for name, _ in named], [x for _, x in named]

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and those below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer


_NamesAndTensors = tuple[tuple[list[str], list[str]], tuple[list[Any], list[Any]]]

_WALKS = ("named_parameters", "named_buffers", "named_modules", "_named_members")
_TABLES = ("_parameters", "_buffers")


def _walk(
    module: Module, prefix: str, seen: set[Any], taken: set[tuple[int, int]], found: _NamesAndTensors
) -> bool:
    """Append the paths and tensors of a module and of those below it; False where a class walks otherwise."""
    if module in seen:
        return True
    if type(module).named_modules is not Parts.named_modules:
        return False
    seen.add(module)
    held = module.__dict__
    for k, table in enumerate(_TABLES):
        for name, x in held[table].items():
            if x is not None and (k, id(x)) not in taken:
                taken.add((k, id(x)))
                found[0][k].append(prefix + name)
                found[1][k].append(x)
    for name, child in held["_modules"].items():
        if child is not None and not _walk(child, f"{prefix}{name}.", seen, taken, found):
            return False
    return True


def joined(path: str, name: str) -> str:
    """A path of names with one more."""
    return f"{path}.{name}" if path else name
