"""Modules called with other tensors than their own: ``torch.func.functional_call``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from funcgrad.torch.core.tensor import Tensor

if TYPE_CHECKING:
    from funcgrad.torch.nn.module import Module

__all__ = ["functional_call"]

Tensors = Mapping[str, Tensor | None]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Tensors | Sequence[Tensors],
    args: object = None,
    kwargs: Mapping[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> object:
    """Call a module with other tensors for its parameters and buffers, by the names that they have in it.

    A tensor that the module has under several names is replaced under all of them, unless `tie_weights` is
    False. RuntimeError if names are missing or unexpected and `strict` is True.

    >>> from funcgrad import torch
    >>> layer = torch.nn.Linear(2, 1, bias=False)
    >>> functional_call(layer, {"weight": torch.tensor([[1.0, 2.0]])}, torch.tensor([3.0, 4.0]))
    tensor([11.])
    """
    given = joined(parameter_and_buffer_dicts)
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    same = tied_names(named) if tie_weights else {}
    refuse_two_values(given, same)
    if strict:
        refuse_other_names(module, given, {name for name, _ in named}, same)
    every = {other: x for name, x in given.items() for other in sorted(same.get(name, {name}))} | dict(given)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, every):
        return module(*arguments, **(kwargs or {}))


def joined(dicts: Tensors | Sequence[Tensors]) -> Tensors:
    """The tensors of one mapping or of several, by name."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, list | tuple):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, "
            f"but got {type(dicts)}"
        )
    if not all(isinstance(part, dict) for part in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    repeated = [name for name, times in Counter(name for part in dicts for name in part).items() if times > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: x for part in dicts for name, x in part.items()}


def tied_names(named: Sequence[tuple[str, Tensor]]) -> dict[str, set[str]]:
    """The names of one tensor by each of them, where it has several."""
    groups: defaultdict[int, set[str]] = defaultdict(set)
    for name, x in named:
        groups[id(x)].add(name)
    return {name: group for group in groups.values() if len(group) > 1 for name in group}


def refuse_two_values(given: Tensors, same: Mapping[str, set[str]]) -> None:
    """Raise ValueError where one tensor of the module is to be two."""
    for group in same.values():
        names = sorted(group & given.keys())
        if len({id(given[name]) for name in names}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {names}, which are tied. "
                "Consider using tie_weights=False"
            )


def refuse_other_names(module: Module, given: Tensors, own: set[str], same: Mapping[str, set[str]]) -> None:
    """Raise RuntimeError for names that the module has not, and for those that are not given."""
    lines = []
    replaced = {other for name in given for other in same.get(name, {name})}
    for what, names in (("Unexpected", given.keys() - own), ("Missing", own - replaced)):
        if names:
            listed = ", ".join(f"'{name}'" for name in sorted(names))
            lines.append(f"\n\t{what} key(s): {listed}.")
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(lines)}")


@contextmanager
def replaced(module: Module, tensors: Tensors) -> Iterator[None]:
    """Inside, the module has these tensors."""
    before = []
    try:
        for path, x in tensors.items():
            place, name = place_of(module, path)
            before.append((place, name, name in place, place.get(name)))
            place[name] = x
        yield
    finally:
        for place, name, was_there, x in reversed(before):
            if was_there:
                place[name] = x
            else:
                del place[name]


def place_of(module: Module, path: str) -> tuple[dict[str, Any], str]:
    """Where a module keeps what has this name: among parameters, buffers, or its other attributes."""
    *owners, name = path.split(".")
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    owner = module
    for part in owners:
        if not hasattr(owner, part):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{part}`")
        owner = getattr(owner, part)
    for place in (owner._parameters, owner._buffers):
        if name in place:
            return place, name
    found = getattr(owner, name, None)
    if found is not None and not isinstance(found, Tensor):
        raise TypeError(f"attribute `{name}`: {found!r} is not an instance of torch.Tensor")
    return vars(owner), name
