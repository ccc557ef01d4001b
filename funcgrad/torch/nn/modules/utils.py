"""``torch.nn.modules.utils``: sizes given as one number or several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

from funcgrad.types import Anything

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    def several(x: Anything) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * count

    return several


_single, _pair, _triple, _quadruple = _ntuple(1), _ntuple(2), _ntuple(3), _ntuple(4)


def consume_prefix_in_state_dict_if_present(state_dict: MutableMapping[str, Any], prefix: str) -> None:
    """Take a prefix off the names of a state dictionary, as ``module.`` of `DataParallel`, in place.

    >>> state = {"module.weight": 1, "step": 2}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'step': 2, 'weight': 1}
    """
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix) :]] = state_dict.pop(name)
