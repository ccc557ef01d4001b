"""Tensors that remember, for people who think in PyTorch: ``import funcgrad.torch as torch``.

A thin facade over the pure transforms: an operation evaluates now and remembers; `backward` asks the
public `vjp` for the pullbacks of what was remembered.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from funcgrad.torch.core.dtypes import ALIASES as _ALIASES
from funcgrad.torch.core.dtypes import ALL_DTYPES as _ALL_DTYPES
from funcgrad.torch.core.dtypes import NAMED_ONLY as _NAMED_ONLY
from funcgrad.torch.core.dtypes import dtype
from funcgrad.torch.core.printing import set_printoptions
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.core.unsupported import reason_for as _reason_for
from funcgrad.torch.core.unsupported import unsupported as _unsupported
from funcgrad.torch.installing import install
from funcgrad.torch.operations import load as _load
from funcgrad.torch.operations.registry import FUNCTIONS as _FUNCTIONS
from funcgrad.types import Anything

__all__ = [
    "Size",
    "Tensor",
    "autograd",
    "dtype",
    "e",
    "enable_grad",
    "graph",
    "inf",
    "inference_mode",
    "install",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "nan",
    "no_grad",
    "pi",
    "set_grad_enabled",
    "set_printoptions",
]

_load()
from funcgrad.torch import autograd  # noqa: E402 - needs the operations
from funcgrad.torch.core.backward.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands
    from funcgrad.torch.operations.creating.data import from_numpy as from_numpy
    from funcgrad.torch.operations.creating.data import tensor as tensor

globals().update(_ALL_DTYPES | _NAMED_ONLY)
globals().update({short: _ALL_DTYPES[name] for short, name in _ALIASES.items()})
globals().update(_FUNCTIONS)
newaxis = None

# What PyTorch has both here and in `nn.functional`.
_FROM_FUNCTIONAL = frozenset(
    {
        "adaptive_avg_pool1d",
        "adaptive_max_pool1d",
        "alpha_dropout",
        "avg_pool1d",
        "batch_norm",
        "bilinear",
        "binary_cross_entropy_with_logits",
        "celu",
        "channel_shuffle",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "cosine_embedding_loss",
        "cosine_similarity",
        "ctc_loss",
        "dropout",
        "embedding",
        "embedding_bag",
        "feature_alpha_dropout",
        "group_norm",
        "hardshrink",
        "hinge_embedding_loss",
        "instance_norm",
        "kl_div",
        "layer_norm",
        "margin_ranking_loss",
        "max_pool1d",
        "max_pool2d",
        "max_pool3d",
        "pairwise_distance",
        "pdist",
        "pixel_shuffle",
        "pixel_unshuffle",
        "poisson_nll_loss",
        "prelu",
        "rms_norm",
        "rrelu",
        "selu",
        "threshold",
        "triplet_margin_loss",
    }
)
_LAZY = (
    "accelerator",
    "amp",
    "backends",
    "compiler",
    "cpu",
    "cuda",
    "distributions",
    "fft",
    "func",
    "jit",
    "linalg",
    "mps",
    "multiprocessing",
    "nn",
    "optim",
    "profiler",
    "random",
    "return_types",
    "serialization",
    "special",
    "testing",
    "utils",
    "version",
    "xpu",
)
# What PyTorch has both here and in a submodule, loaded when first asked for.
_FROM_SUBMODULES = {
    "__version__": "version",
    "GradScaler": "amp",
    "autocast": "amp",
    "compile": "compiler",
    "get_device_module": "accelerator",
    "load": "serialization",
    "save": "serialization",
    "vmap": "func",
}


def graph(
    y: Operands, params: Anything = None, *, show_saved: bool = True, direction: str = "down", most: int = 120
) -> Anything:
    """The picture of the history of a tensor, or of several, as by `funcgrad.torch.core.pictures`.

    PyTorch has no such function; its users draw this with torchviz.
    """
    from funcgrad.torch.core.pictures import history_graph  # noqa: PLC0415 - loaded when first needed

    return history_graph(y, params, show_saved=show_saved, direction=direction, most=most)


def __getattr__(name: str) -> Anything:
    """Submodules when first asked for; what is not supported says so."""
    if name in _LAZY:
        return _import_module(f"funcgrad.torch.{name}")
    if name in _FROM_SUBMODULES:
        return getattr(_import_module(f"funcgrad.torch.{_FROM_SUBMODULES[name]}"), name)
    if name in _FROM_FUNCTIONAL:
        found = getattr(_import_module("funcgrad.torch.nn.functional"), name, None)
        if found is not None:
            numbered = _import_module("funcgrad.torch.nn.functional.numbered")
            return numbered.with_number(found, name) if name in numbered.NUMBERED else found
    if _reason_for(name) is not None:
        raise AttributeError(_unsupported(name))
    raise AttributeError(f"module 'torch' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*__all__, *_FUNCTIONS, *_ALL_DTYPES, *_NAMED_ONLY, *_ALIASES, *_LAZY, *_FROM_SUBMODULES})
