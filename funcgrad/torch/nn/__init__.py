"""``torch.nn``: modules, their parameters, and the functions they apply.

>>> from funcgrad import torch
>>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
>>> sum(p.numel() for p in model.parameters())
49
"""

from __future__ import annotations

from funcgrad.torch.core.unsupported import missing
from funcgrad.torch.nn import functional, init, modules, parallel, utils
from funcgrad.torch.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from funcgrad.torch.nn.layers import (
    activations,
    adaptive_softmax,
    convolution,
    lazy,
    linear,
    losses,
    normalization,
    pooling,
    recurrent,
    transformer,
    unpooling,
)
from funcgrad.torch.nn.layers.activations import *  # noqa: F403 - the modules say what is public
from funcgrad.torch.nn.layers.adaptive_softmax import *  # noqa: F403
from funcgrad.torch.nn.layers.convolution import *  # noqa: F403
from funcgrad.torch.nn.layers.lazy import *  # noqa: F403
from funcgrad.torch.nn.layers.linear import *  # noqa: F403
from funcgrad.torch.nn.layers.losses import *  # noqa: F403
from funcgrad.torch.nn.layers.normalization import *  # noqa: F403
from funcgrad.torch.nn.layers.pooling import *  # noqa: F403
from funcgrad.torch.nn.layers.recurrent import *  # noqa: F403
from funcgrad.torch.nn.layers.transformer import *  # noqa: F403
from funcgrad.torch.nn.layers.unpooling import *  # noqa: F403
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parallel import DataParallel
from funcgrad.torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from funcgrad.types import Anything

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "Buffer",
    "DataParallel",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "modules",
    "parallel",
    "utils",
    *activations.__all__,
    *adaptive_softmax.__all__,
    *convolution.__all__,
    *lazy.__all__,
    *linear.__all__,
    *losses.__all__,
    *normalization.__all__,
    *pooling.__all__,
    *recurrent.__all__,
    *transformer.__all__,
    *unpooling.__all__,
]


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, "parameter"])
