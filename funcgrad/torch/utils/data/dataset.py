"""Datasets: what has an element for every index, and what can only be read from its beginning."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.creating.random import Generator
from funcgrad.torch.utils.data.sampler import permutation
from funcgrad.types import Anything

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Elements by index: subclasses give ``__getitem__`` and ``__len__``.

    ``__getitems__(indices)``, where there is one, gives a list of elements at once.
    """

    def __getitem__(self, index: Anything) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Elements one after another: subclasses give ``__iter__``."""

    def __add__(self, other: Dataset[Any]) -> Anything:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors of one length.

    >>> TensorDataset(fg.torch.tensor([1.0, 2.0]), fg.torch.tensor([3, 4]))[1]
    (tensor(2.), tensor(4))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Anything) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Elements of several datasets side by side: tuples, or dictionaries where they have names."""

    def __init__(self, *args: Anything, **kwargs: Anything) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
                if args
                else "At least one dataset should be passed"
            )
        self.datasets: Any = args or kwargs
        lengths = {len(part) for part in (args or kwargs.values())}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        (self._length,) = lengths

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple([part[index] for part in self.datasets])

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[Any]):
    """Datasets one after another.

    >>> both = ConcatDataset([[1, 2], [3, 4, 5]])
    >>> len(both), both[2], both[-1], both.cumulative_sizes
    (5, 3, 5, [2, 5])
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(part, IterableDataset) for part in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(part) for part in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: Anything) -> Anything:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        if which == len(self.datasets):
            raise IndexError("list index out of range")
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from part

    def __len__(self) -> int:
        if any(not isinstance(part, IterableDataset) for part in self.datasets):
            raise AssertionError("ChainDataset only supports IterableDataset")
        return sum(len(part) for part in self.datasets)


class Subset(Dataset[Any]):
    """The elements of a dataset at given indices.

    >>> Subset(["a", "b", "c"], [2, 0])[0]
    'c'
    """

    def __init__(self, dataset: Anything, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(index, list):
            return self.dataset[[self.indices[k] for k in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """The elements at several indices, by the dataset's own ``__getitems__`` where it has one."""
        inner = [self.indices[k] for k in indices]
        several = getattr(self.dataset, "__getitems__", None)
        return several(inner) if callable(several) else [self.dataset[k] for k in inner]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Anything, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset]:
    """Subsets without overlap, in random order, of these lengths or these shares of the whole.

    What rounding shares down leaves over goes to the first subsets, one element each.

    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    sizes = _sizes(lengths, len(dataset))
    order = permutation(sum(sizes), generator)
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def _sizes(lengths: Sequence[int | float], total: int) -> list[int]:
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = []
        for k, share in enumerate(lengths):
            if not 0 <= share <= 1:
                raise ValueError(f"Fraction at index {k} is not between 0 and 1")
            sizes.append(math.floor(total * share))
        for k in range(total - sum(sizes)):
            sizes[k % len(sizes)] += 1
        for k, size in enumerate(sizes):
            if not size:
                warnings.warn(
                    f"Length of split at index {k} is 0. This might result in an empty dataset.",
                    UserWarning,
                    stacklevel=3,
                )
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    return sizes
