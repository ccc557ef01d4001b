"""Datasets, samplers and loaders, by what they promise and beside PyTorch's."""

from __future__ import annotations

import collections
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch
from funcgrad.torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler, random_split

ERRORS = (AssertionError, IndexError, RuntimeError, TypeError, ValueError)
Point = collections.namedtuple("Point", "x y")


def plain(x: Any) -> Any:
    """Tensors as their dtype, shape and elements; what holds them as it is."""
    if isinstance(x, np.ndarray):
        return (str(x.dtype), x.tolist())
    if hasattr(x, "grad_fn"):
        return (str(x.dtype), tuple(x.shape), x.tolist())
    if isinstance(x, dict):
        return (type(x).__name__, {key: plain(value) for key, value in x.items()})
    if isinstance(x, tuple | list):
        return (type(x).__name__, [plain(value) for value in x])
    return x


def count_to(torch: ModuleType, count: int) -> Any:
    class Counted(torch.utils.data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(count))

    return Counted()


def squares(torch: ModuleType, count: int) -> Any:
    class Squares(torch.utils.data.Dataset):
        def __getitem__(self, index: Any) -> Any:
            if not 0 <= index < count:
                raise IndexError(index)
            return {"x": float(index), "y": np.full(2, index**2), "name": str(index)}

        def __len__(self) -> int:
            return count

    return Squares()


CASES = [
    "list(D.DataLoader(range(7), batch_size=3))",
    "list(D.DataLoader(range(7), 3, drop_last=True))",
    "list(D.DataLoader(range(3), batch_size=None))",
    "list(D.DataLoader(range(5), sampler=[4, 0, 2], batch_size=2))",
    "list(D.DataLoader(range(5), batch_sampler=[[0], [4, 1]]))",
    "list(D.DataLoader(range(4), 2, collate_fn=sum))",
    "list(D.DataLoader(squares(torch, 5), 2))",
    "list(D.DataLoader(count_to(torch, 5), 2))",
    "list(D.DataLoader(count_to(torch, 5), 2, drop_last=True))",
    "list(D.DataLoader(count_to(torch, 2), None))",
    "list(D.DataLoader(count_to(torch, 2) + count_to(torch, 1), 2))",
    "list(D.DataLoader(D.TensorDataset(torch.arange(6.0).reshape(3, 2), torch.tensor([1, 2, 3])), 2))",
    "list(D.DataLoader(D.Subset(squares(torch, 5), [3, 1, 4]), 2))",
    "[len(D.DataLoader(range(7), k, drop_last=d)) for k in (1, 3, 7, 8) for d in (False, True)]",
    "len(D.DataLoader(range(7), None))",
    "len(D.DataLoader(range(7), 2, shuffle=True))",
    "sorted(x.item() for x in D.DataLoader(range(7), shuffle=True))",
    "[b.shape[0] for b in D.DataLoader(range(7), 3, shuffle=True)]",
    "D.DataLoader(range(3)).batch_size, D.DataLoader(range(3)).drop_last, D.DataLoader(range(3)).num_workers",
    "type(D.DataLoader(range(3), shuffle=True).sampler).__name__",
    "D.DataLoader(range(3), shuffle=True, sampler=[0])",
    "D.DataLoader(range(3), 2, batch_sampler=[[0]])",
    "D.DataLoader(range(3), None, drop_last=True)",
    "D.DataLoader(range(3), 0)",
    "D.DataLoader(range(3), num_workers=-1)",
    "D.DataLoader(range(3), timeout=-1)",
    "D.DataLoader(range(3), prefetch_factor=2)",
    "D.DataLoader(range(3), persistent_workers=True)",
    "D.DataLoader([], shuffle=True)",
    "D.DataLoader(count_to(torch, 3), shuffle=True)",
    "len(D.DataLoader(count_to(torch, 3)))",
    "len(D.TensorDataset(torch.ones(3, 2), torch.ones(3)))",
    "D.TensorDataset(torch.ones(3, 2), torch.ones(3))[1:]",
    "D.TensorDataset(torch.ones(3, 2), torch.ones(4))",
    "D.StackDataset(range(3), torch.ones(3))[2]",
    "D.StackDataset(a=range(3), b=range(3))[1]",
    "D.StackDataset(range(3), range(2))",
    "D.StackDataset()",
    "[D.ConcatDataset([range(2), range(3)])[k] for k in (0, 1, 2, 4, -1, -5)]",
    "D.ConcatDataset([range(2), range(3)])[-6]",
    "D.ConcatDataset([range(2), range(3)])[5]",
    "D.ConcatDataset([])",
    "D.ConcatDataset([count_to(torch, 2)])",
    "(squares(torch, 2) + squares(torch, 3))[3]",
    "D.Dataset()[0]",
    "len(D.Subset(range(9), [1, 5])), D.Subset(torch.arange(9), [1, 5])[[0, 1]]",
    "[len(p) for p in D.random_split(range(10), [3, 7])]",
    "[len(p) for p in D.random_split(range(11), [0.5, 0.3, 0.2])]",
    "sorted(sum((list(p) for p in D.random_split(range(10), [3, 7])), []))",
    "D.random_split(range(10), [3, 6])",
    "D.random_split(range(10), [1.5, -0.5])",
    "[len(p) for p in D.random_split(range(1), [0.5, 0.5])]",
    "list(D.BatchSampler(range(5), 2, True)), len(D.BatchSampler(range(5), 2, False))",
    "D.BatchSampler(range(5), 2, 1)",
    "list(D.SequentialSampler('abc'))",
    "len(list(D.RandomSampler('abc', num_samples=8))), len(D.RandomSampler('abc', num_samples=8))",
    "set(list(D.RandomSampler('abc', num_samples=6))[3:])",
    "len(list(D.RandomSampler('abc', replacement=True, num_samples=2000)))",
    "D.RandomSampler('abc', num_samples=0)",
    "D.RandomSampler('abc', replacement=1)",
    "sorted(D.SubsetRandomSampler([5, 3, 9]))",
    "list(D.WeightedRandomSampler([0.0, 1.0], 3))",
    "sorted(D.WeightedRandomSampler(torch.tensor([0.5, 1.0, 2.0]), 3, replacement=False))",
    "D.WeightedRandomSampler([1.0], -1)",
    "list(D.WeightedRandomSampler([-1.0, 2.0], 1))",
    "list(D.WeightedRandomSampler([0.0, 0.0], 1))",
    "D.default_collate([1.5, 2.0])",
    "D.default_collate([True, False])",
    "D.default_collate([(1, 2.0), (3, 4.0)])",
    "D.default_collate([[1, 'a'], [2, 'b']])",
    "D.default_collate([Point(0, 1), Point(2, 3)])",
    "D.default_collate([np.float32(1), np.float32(2)])",
    "D.default_collate([np.ones((2, 1), np.int16)] * 2)",
    "D.default_collate([{'a': {'b': 1}}, {'a': {'b': 2}}])",
    "D.default_collate([b'x', b'y'])",
    "D.default_collate([torch.ones(2), torch.zeros(2)])",
    "D.default_collate([torch.ones(2), torch.zeros(3)])",
    "D.default_collate([(1, 2), (1,)])",
    "D.default_collate([None, None])",
    "D.default_collate([np.array(['a']), np.array(['b'])])",
    "D.default_convert([1, np.ones(2), ('a', np.zeros(1, np.int32))])",
    "D.get_worker_info()",
]


def outcome(module: Any, code: str) -> Any:
    names = {"torch": module, "D": module.utils.data, "np": np, "Point": Point}
    names.update(squares=squares, count_to=count_to)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = plain(eval(code, names))
        except ERRORS as error:
            return type(error).__name__
    if type(found).__module__.endswith("sampler") or type(found).__module__.endswith("dataloader"):
        found = type(found).__name__
    return found, [w.category.__name__ for w in said]


@pytest.mark.peers("torch")
@pytest.mark.parametrize("code", CASES)
def test_data_beside_pytorch(code: str) -> None:
    import torch as theirs
    import torch.utils.data

    assert outcome(torch_of_ours(), code) == outcome(theirs, code)


def torch_of_ours() -> Any:
    import funcgrad.torch

    return funcgrad.torch


def test_orders_belong_to_seeds() -> None:
    def epochs(generator: Any) -> list[list[int]]:
        loader = DataLoader(range(50), 5, shuffle=True, generator=generator)
        return [[x for batch in loader for x in batch.tolist()] for _ in range(2)]

    first, second = epochs(torch.Generator().manual_seed(3))
    assert [first, second] == epochs(torch.Generator().manual_seed(3))
    assert first != second
    assert sorted(first) == sorted(second) == list(range(50))
    torch.manual_seed(4)
    drawn = epochs(None)
    torch.manual_seed(4)
    assert drawn == epochs(None)
    parts = random_split(range(30), [10, 20], torch.Generator().manual_seed(5))
    again = random_split(range(30), [10, 20], torch.Generator().manual_seed(5))
    assert [part.indices for part in parts] == [part.indices for part in again]


def test_an_order_is_not_disturbed_by_what_is_drawn_meanwhile() -> None:
    torch.manual_seed(0)
    quiet = list(RandomSampler(range(9), num_samples=30))
    torch.manual_seed(0)
    disturbed = []
    for index in RandomSampler(range(9), num_samples=30):
        torch.rand(3)
        disturbed.append(index)
    assert quiet == disturbed


def test_weights_are_frequencies() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = list(WeightedRandomSampler([1.0, 3.0, 0.0], 8000, generator=generator))
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 8000, [0.25, 0.75, 0.0], atol=0.02)


def test_a_model_learns_from_a_loader() -> None:
    torch.manual_seed(0)
    x = torch.randn(96, 3)
    data = torch.utils.data.TensorDataset(x, x @ torch.tensor([1.0, -2.0, 0.5]) + 0.3)
    train, held = torch.utils.data.random_split(data, [0.75, 0.25])
    model = torch.nn.Linear(3, 1)
    steps = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(15):
        for xs, ys in DataLoader(train, batch_size=8, shuffle=True, num_workers=2):
            steps.zero_grad()
            ((model(xs).squeeze(1) - ys) ** 2).mean().backward()
            steps.step()
    xs, ys = next(iter(DataLoader(held, batch_size=len(held))))
    assert xs.shape == (24, 3)
    assert ((model(xs).squeeze(1) - ys) ** 2).mean() < 1e-4


def test_what_is_missing_of_data_says_what_to_use() -> None:
    with pytest.raises(AttributeError, match="Subset of its own"):
        torch.utils.data.DistributedSampler  # noqa: B018 - asking is the point
