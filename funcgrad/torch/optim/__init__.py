"""``torch.optim``: optimisers, whose steps are those of PyTorch, and schedules of learning rates.

>>> from funcgrad import torch
>>> x = torch.tensor([4.0], requires_grad=True)
>>> optimizer = torch.optim.Adam([x], lr=0.5)
>>> for _ in range(100):
...     optimizer.zero_grad()
...     ((x - 1) ** 2).sum().backward()
...     optimizer.step()
>>> bool((x - 1).abs() < 0.05)
True
"""

from __future__ import annotations

from funcgrad.torch.core.unsupported import missing
from funcgrad.torch.optim import lr_scheduler, swa_utils
from funcgrad.torch.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from funcgrad.torch.optim.adaptive import Adadelta, Adagrad, RMSprop, Rprop
from funcgrad.torch.optim.by_tensor import ASGD, Adafactor, Muon, SparseAdam
from funcgrad.torch.optim.lbfgs import LBFGS
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.optim.sgd import SGD
from funcgrad.types import Anything

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
