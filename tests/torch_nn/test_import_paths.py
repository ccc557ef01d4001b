"""The paths by which programs import what ``torch.nn`` has."""

from __future__ import annotations

import importlib
import sys

import pytest

import funcgrad.torch as torch
from funcgrad.torch.nn import modules
from funcgrad.torch.nn.modules.utils import _pair, _triple

PATHS = [name for name in vars(modules) if f"{modules.__name__}.{name}" in sys.modules]


@pytest.mark.parametrize("name", PATHS)
def test_classes_are_those_of_nn(name: str) -> None:
    module = importlib.import_module(f"funcgrad.torch.nn.modules.{name}")
    assert module.__all__
    for title in module.__all__:
        if isinstance(getattr(module, title), type):
            assert getattr(module, title) is getattr(torch.nn, title) is getattr(modules, title)


@pytest.mark.peers("torch")
@pytest.mark.parametrize("name", PATHS)
def test_classes_stand_where_pytorch_has_them(name: str) -> None:
    ours = importlib.import_module(f"funcgrad.torch.nn.modules.{name}")
    theirs = importlib.import_module(f"torch.nn.modules.{name}")
    assert [title for title in ours.__all__ if not hasattr(theirs, title)] == []


def test_what_is_missing_says_so() -> None:
    with pytest.raises(AttributeError, match="BatchNorm4d"):
        modules.batchnorm.BatchNorm4d  # noqa: B018 - asking is the point
    assert modules.linear.LazyLinear is torch.nn.LazyLinear


def test_classes_can_be_asked_for_by_their_common_ones() -> None:
    nn = torch.nn
    assert isinstance(nn.BatchNorm2d(1), modules.batchnorm._BatchNorm)
    assert isinstance(nn.BatchNorm2d(1), modules.batchnorm._NormBase)
    assert isinstance(nn.InstanceNorm1d(1), modules.instancenorm._InstanceNorm)
    assert not isinstance(nn.InstanceNorm1d(1), modules.batchnorm._BatchNorm)
    assert isinstance(nn.Conv1d(1, 1, 1), modules.conv._ConvNd)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), modules.conv._ConvTransposeNd)
    assert not isinstance(nn.Conv1d(1, 1, 1), modules.conv._ConvTransposeNd)
    assert isinstance(nn.CrossEntropyLoss(), modules.loss._WeightedLoss)
    assert isinstance(nn.MSELoss(), modules.loss._Loss)


def test_sizes_as_one_number_or_several() -> None:
    assert _pair(3) == (3, 3)
    assert _pair([1, 2]) == (1, 2)
    assert _triple("a") == ("a",)


def test_the_prefix_of_data_parallel_is_taken_off() -> None:
    model = torch.nn.Linear(2, 1)
    state = torch.nn.DataParallel(model).state_dict()
    modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"]
    torch.nn.Linear(2, 1).load_state_dict(state)
