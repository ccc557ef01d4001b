"""``torch.utils.data``: datasets, the orders in which they are read, and batches.

>>> data = fg.torch.utils.data.TensorDataset(fg.torch.arange(5), fg.torch.arange(5) ** 2)
>>> [y.tolist() for x, y in fg.torch.utils.data.DataLoader(data, batch_size=2)]
[[0, 1], [4, 9], [16]]
"""

from __future__ import annotations

from funcgrad.torch.utils.data import dataloader, dataset, sampler
from funcgrad.torch.utils.data.collating import default_collate, default_convert
from funcgrad.torch.utils.data.dataloader import DataLoader, get_worker_info
from funcgrad.torch.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from funcgrad.torch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from funcgrad.types import Anything

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "dataloader",
    "dataset",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
    "sampler",
]

_INSTEAD = {
    "DistributedSampler": "there is no distributed training here; give every process a Subset of its own",
    "MapDataPipe": "write a Dataset",
    "IterDataPipe": "write an IterableDataset",
}


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    if name in _INSTEAD:
        raise AttributeError(f"funcgrad.torch does not support {name!r}: {_INSTEAD[name]}")
    raise AttributeError(f"module 'torch.utils.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
