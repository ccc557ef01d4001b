"""Modules that hold other modules or parameters: in a row, in lists, in dictionaries."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.module import Module, indented
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.types import Anything, Index

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def position(index: Index, length: int) -> int:
    """An index counted from the front; IndexError where it is out of range."""
    k = operator.index(index)
    if not -length <= k < length:
        raise IndexError(f"index {k} is out of range")
    return k % length


class Numbered(Module):
    """What `Sequential` and `ModuleList` share: modules under the names 0, 1, 2, ..."""

    def _replace(self, modules: Iterable[Module]) -> None:
        self._modules.clear()
        for k, module in enumerate(modules):
            self.add_module(str(k), module)

    def _key(self, index: Anything) -> str:
        try:
            return list(self._modules)[position(index, len(self))]
        except IndexError:
            raise IndexError(f"index {operator.index(index)} is out of range") from None

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, index: Anything, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Anything) -> None:
        held = list(self._modules.values())
        del held[index if isinstance(index, slice) else position(index, len(held))]
        self._replace(held)

    def append(self, module: Module) -> Self:
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def put_before(self, index: int, module: Module) -> None:
        """Add a module before the one at `index`."""
        held = list(self._modules.values())
        if not -len(held) <= index <= len(held):
            raise IndexError(f"Index out of range: {index}")
        held.insert(index, module)
        self._replace(held)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; returns the container."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, index: Index = -1) -> Module:
        """Remove and return a module."""
        found: Module = self[index]  # type: ignore[index]
        del self[index]
        return found

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(Numbered):
    """Modules in a row: each takes what the one before returned.

    >>> from funcgrad import torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before the one at `index`; returns the container."""
        self.put_before(index, module)
        return self

    def __init__(self, *args: Anything) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self._replace(args)

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __add__(self, other: Anything) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Anything) -> Self:
        return self.extend(list(other))

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*chain.from_iterable([list(self)] * times))

    __rmul__ = __mul__

    def forward(self, input: Operand) -> Operand:
        """Each module applied to what the one before returned."""
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(Numbered):
    """A list of modules; it has no forward.

    >>> from funcgrad import torch
    >>> len(torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()]))
    2
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def insert(self, index: int, module: Module) -> None:
        """Add a module before the one at `index`."""
        self.put_before(index, module)

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Modules that print alike and follow each other stand on one line with their number."""
        if not len(self):
            return f"{self._get_name()}()"
        runs: list[list[Any]] = []
        for k, text in enumerate([repr(module) for module in self]):
            if runs and runs[-1][2] == text:
                runs[-1][1] = k
            else:
                runs.append([k, k, text])
        lines = []
        for first, last, text in runs:
            name, times = (f"{first}", "") if first == last else (f"{first}-{last}", f"{last - first + 1} x ")
            lines.append(indented(f"({name}): {times}{text}"))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name; it has no forward.

    >>> from funcgrad import torch
    >>> list(torch.nn.ModuleDict({"act": torch.nn.ReLU()}))
    ['act']
    """

    def __init__(self, modules: Anything = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Anything:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()

    def pop(self, key: str) -> Anything:
        """Remove and return a module."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and modules."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: object) -> None:
        """Add modules from a mapping or from pairs."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        pairs = modules.items() if isinstance(modules, Mapping | ModuleDict) else modules
        for name, module in pairs:
            self[name] = module


def parameter_line(name: object, value: object, tensor_type: bool) -> str:
    """One line of a printed list or dictionary of parameters."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join([str(n) for n in value._value.shape])
    kind = value.type() if tensor_type else value.dtype
    word = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {word} containing: [{kind} of size {size}]"


def held(value: object) -> Anything:
    """A tensor as a parameter; anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of parameters.

    >>> from funcgrad import torch
    >>> weights = torch.nn.ParameterList([torch.ones(2), torch.ones(3)])
    >>> len(list(weights.parameters()))
    2
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(index, slice):
            return type(self)([getattr(self, str(k)) for k in range(*index.indices(self._size))])
        return getattr(self, str(position(index, self._size)))

    def __setitem__(self, index: Anything, value: Anything) -> None:
        setattr(self, str(position(index, self._size)), held(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: object) -> ParameterList:
        """Add a parameter at the end; returns the list."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end; returns the list."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join([parameter_line(k, value, False) for k, value in enumerate(self)])


class ParameterDict(Module):
    """Parameters by name.

    >>> from funcgrad import torch
    >>> list(torch.nn.ParameterDict({"w": torch.ones(2)}))
    ['w']
    """

    def __init__(self, parameters: Anything = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Anything:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Anything) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        self._keys[key] = None
        setattr(self, key, held(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return [self[key] for key in self._keys]

    def items(self) -> list[Any]:
        """The names and parameters."""
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: object = None) -> Anything:
        """The parameter of that name, or `default`."""
        return getattr(self, key) if key in self._keys else default

    def setdefault(self, key: str, default: object = None) -> Anything:
        """The parameter of that name, which is `default` from now on if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Anything:
        """Remove and return a parameter."""
        found = self[key]
        del self[key]
        return found

    def clear(self) -> None:
        """Remove all."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Operand) -> None:
        """Add parameters from a mapping or from pairs."""
        pairs = parameters.items() if isinstance(parameters, Mapping | ParameterDict) else parameters
        for name, value in pairs:
            self[name] = value

    def extra_repr(self) -> str:
        return "\n".join([parameter_line(name, value, True) for name, value in self.items()])
