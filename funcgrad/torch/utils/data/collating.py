"""From a list of elements to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.torch.core.dtypes import ALL_DTYPES
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Tree

__all__ = ["default_collate", "default_convert"]

_WORDS = "batch must contain tensors, numpy arrays, numbers, dicts or lists; found"


def _is_text(array: Anything) -> bool:
    return array.dtype.kind in "SUO"


def default_collate(batch: Sequence[Any]) -> Tree:
    """Elements of one structure, stacked along a new first axis.

    Tensors and arrays are stacked, numbers become tensors (of float64 and int64), texts stay a list;
    dictionaries, tuples and lists are gone into.

    >>> default_collate([{"x": 1.0, "name": "a"}, {"x": 2.0, "name": "b"}])
    {'x': tensor([1., 2.], dtype=torch.float64), 'name': ['a', 'b']}
    >>> default_collate([(0, 1), (2, 3)])
    [tensor([0, 2]), tensor([1, 3])]
    """
    first = batch[0]
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _like_mapping(first, {key: default_collate([x[key] for x in batch]) for key in first})
    if isinstance(first, Sequence):
        return _collated_sequences(first, batch)
    return _stacked(first, batch)


def _stacked(first: Anything, batch: Anything) -> Anything:
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](list(batch), 0)
    if isinstance(first, np.ndarray | np.generic) and not _is_text(first):
        return FUNCTIONS["stack"]([FUNCTIONS["as_tensor"](x) for x in batch], 0)
    if isinstance(first, float):
        return FUNCTIONS["tensor"](batch, dtype=ALL_DTYPES["float64"])
    if isinstance(first, int):
        return FUNCTIONS["tensor"](batch)
    raise TypeError(f"default_collate: {_WORDS} {getattr(first, 'dtype', type(first))}")


def _collated_sequences(first: Anything, batch: Anything) -> Anything:
    if any(len(x) != len(first) for x in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    if isinstance(first, tuple):
        # PyTorch gives a list for tuples without names.
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    return _like_sequence(first, columns)


def _like_mapping(like: Anything, found: dict[Any, Any]) -> Anything:
    try:
        return type(like)(found)
    except TypeError:
        # The type cannot be made of a dictionary, as a defaultdict cannot.
        return found


def _like_sequence(like: Anything, found: list[Any]) -> Anything:
    try:
        return type(like)(found)
    except TypeError:
        # The type cannot be made of a list, as a range cannot.
        return found


def default_convert(data: Operand) -> Tree:
    """An element with its arrays as tensors; numbers and texts stay what they are.

    >>> default_convert({"x": np.ones(2), "y": 3})
    {'x': tensor([1., 1.], dtype=torch.float64), 'y': 3}
    """
    if isinstance(data, np.ndarray | np.generic):
        return data if _is_text(data) else FUNCTIONS["as_tensor"](data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(x) for key, x in data.items()})
    if isinstance(data, str | bytes) or not isinstance(data, Sequence):
        return data
    parts = [default_convert(x) for x in data]
    if isinstance(data, tuple):
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    return _like_sequence(data, parts)
