"""Samplers: the orders in which the elements of a dataset are read, and their batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.creating.random import Generator, default_generator, multinomial
from funcgrad.types import Anything

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
    "permutation",
]

T_co = TypeVar("T_co", covariant=True)


def permutation(count: int, generator: Generator | None = None) -> list[int]:
    """The numbers below `count` in random order.

    >>> sorted(permutation(4))
    [0, 1, 2, 3]
    """
    order: list[int] = (generator or default_generator).bits.permutation(count).tolist()
    return order


def _of_its_own(generator: Generator | None) -> Generator:
    """The generator, or a new one that the default generator seeds: what is drawn later disturbs no order."""
    if generator is not None:
        return generator
    return Generator().manual_seed(int(default_generator.bits.full_range((), np.dtype(np.int64))))


def _require_count(name: str, count: Anything) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={count}")


def _require_flag(replacement: Anything) -> None:
    if not isinstance(replacement, bool):
        raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")


class Sampler(Generic[T_co]):
    """Indices, or lists of them: subclasses give ``__iter__``, and ``__len__`` where it is known."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class SequentialSampler(Sampler[int]):
    """Every index in order.

    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Anything) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Every index in random order, again and again until there are `num_samples`; or drawn with replacement.

    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Anything,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _require_flag(replacement)
        _require_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices are drawn: as many as there are elements, unless told otherwise."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = _of_its_own(self.generator)
        count, left = len(self.data_source), self.num_samples
        if self.replacement:  # thirty-two at a time, as PyTorch does
            for start in range(0, left, 32):
                yield from generator.bits.integers(0, count, (min(left - start, 32),)).tolist()
            return
        # PyTorch draws an order for what is left over even where nothing is.
        for _ in range(left // count):
            yield from permutation(count, generator)
        yield from permutation(count, generator)[: left % count]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for k in permutation(len(self.indices), self.generator):
            yield self.indices[k]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with given weights, which need not add up to one.

    >>> list(WeightedRandomSampler([0.0, 3.0], 4))
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        weights: Anything,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _require_count("num_samples", num_samples)
        _require_flag(replacement)
        values = weights.detach().numpy() if isinstance(weights, Tensor) else weights
        self.weights = np.asarray(values, np.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {self.weights.shape}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        total = self.weights.sum()
        if not np.isfinite(total) or (self.weights < 0).any():
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if total <= 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        drawn = multinomial(wrap(self.weights), self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the indices of another sampler.

    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _require_count("batch_size", batch_size)
        if type(drop_last) is not bool:
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
