"""The loader: batches of a dataset in the order of a sampler."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from funcgrad.torch.operations.creating.random import Generator, generator_of
from funcgrad.torch.utils.data.collating import default_collate, default_convert
from funcgrad.torch.utils.data.dataset import IterableDataset
from funcgrad.torch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from funcgrad.types import Anything

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


def _require_no_batches(asked: object) -> None:
    """Raise where batches are asked for that a sampler of them makes."""
    if asked:
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
        )


def _require_no_last_batch(drop_last: bool) -> None:
    """Raise where examples are not put together, and the last batch is to be left out."""
    if drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Batches of a dataset, one pass each time it is iterated over.

    Batches are read in this process, whatever `num_workers` says: their order and contents are the same,
    `worker_init_fn` is not called, and `get_worker_info` is None. `pin_memory`, `prefetch_factor`,
    `persistent_workers` and `timeout` have no effect.

    >>> loader = DataLoader(range(5), batch_size=2, drop_last=True)
    >>> len(loader), list(loader)
    (2, [tensor([0, 1]), tensor([2, 3])])
    """

    def __init__(
        self,
        dataset: Anything,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Anything = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _require_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.generator = generator
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _require_no_order(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            _require_no_batches(batch_size != 1 or shuffle or sampler is not None or drop_last)
            batch_size = None
        elif batch_size is None:
            _require_no_last_batch(drop_last)
        self.sampler: Any = self._order(shuffle) if sampler is None else sampler
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.batch_sampler: Any = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED and "collate_fn" in self.__dict__:  # which is set last
            raise ValueError(f"{name} attribute should not be set after DataLoader is initialized")
        super().__setattr__(name, value)

    def _order(self, shuffle: bool | None) -> Anything:
        if self._iterable:
            return itertools.repeat(None)
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws a seed for its workers here, whether there are any or not.
        generator_of(self.generator).full_range((), np.dtype(np.int64))
        if self._iterable:
            return self._of_iterable()
        return self._of_indices()

    def _of_indices(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        several = getattr(self.dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            elements = several(indices) if callable(several) else [self.dataset[k] for k in indices]
            yield self.collate_fn(elements)

    def _of_iterable(self) -> Iterator[Any]:
        elements = iter(self.dataset)
        if self.batch_sampler is None:
            for element in elements:
                yield self.collate_fn(element)
            return
        assert self.batch_size is not None
        while batch := list(itertools.islice(elements, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


def get_worker_info() -> None:
    """None: batches are read in the process that asks for them."""


def _require_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _require_no_order(shuffle: Anything, sampler: Anything, batch_sampler: Anything) -> None:
    if shuffle:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    if sampler is not None:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}"
        )
    if batch_sampler is not None:
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified batch_sampler option, but got "
            f"batch_sampler={batch_sampler}"
        )
