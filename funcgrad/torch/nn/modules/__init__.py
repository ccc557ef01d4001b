"""``torch.nn.modules``: the paths by which PyTorch keeps the classes of ``torch.nn``.

Each path is a module without a file: names, looked up where the classes are when they are asked for.

>>> from funcgrad import torch
>>> torch.nn.modules.linear.Linear is torch.nn.Linear
True
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from funcgrad.torch.core.unsupported import missing
from funcgrad.torch.nn.modules import utils
from funcgrad.types import Anything

_CLASSES = {
    "activation": (
        "CELU ELU GELU GLU SELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax "
        "Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SiLU Sigmoid Softmax Softmax2d Softmin Softplus "
        "Softshrink Softsign Tanh Tanhshrink Threshold"
    ),
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "channelshuffle": "ChannelShuffle",
    "container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "linear": "Bilinear Identity Linear",
    "loss": (
        "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
        "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelSoftMarginLoss "
        "MultiMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss"
    ),
    "module": "Module",
    "normalization": "GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
        "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
        "ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"
    ),
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
        "AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d "
        "MaxPool3d"
    ),
    "rnn": "GRU LSTM RNN GRUCell LSTMCell RNNBase RNNCell",
    "sparse": "Embedding EmbeddingBag",
    "transformer": (
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"
    ),
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}
_HOOKS = [
    f"register_module_{when}_hook"
    for when in ("forward", "forward_pre", "full_backward", "full_backward_pre")
]
_ELSEWHERE = {
    "batchnorm": {
        "_BatchNorm": "layers.normalization.BatchNorm",
        "_NormBase": "layers.normalization.Normalising",
    },
    "conv": {"_ConvNd": "layers.convolution.Convolving", "_ConvTransposeNd": "layers.convolution.Backward"},
    "instancenorm": {"_InstanceNorm": "layers.normalization.InstanceNorm"},
    "loss": {"_Loss": "layers.losses.Loss", "_WeightedLoss": "layers.losses.Weighted"},
    "module": {name: f"module_calls.{name}" for name in _HOOKS},
}
"""What ``torch.nn`` itself does not name: common classes that programs ask by, and hooks of all modules."""


class _Path(ModuleType):
    """``torch.nn.modules.<name>``: some of the classes of ``torch.nn``."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{__name__}.{name}", f"``torch.nn.modules.{name}``: another way to classes of ``torch.nn``."
        )
        self.__spec__ = ModuleSpec(self.__name__, None)
        self.__package__ = __name__
        self._elsewhere = _ELSEWHERE.get(name, {})
        self.__all__ = [*_CLASSES[name].split(), *(title for title in self._elsewhere if title[0] != "_")]

    def __getattr__(self, name: str) -> Anything:
        place, _, title = self._elsewhere.get(name, "").rpartition(".")
        if place:
            return getattr(import_module(f"funcgrad.torch.nn.{place}"), title)
        return elsewhere(self.__name__, name)

    def __dir__(self) -> list[str]:
        return self.__all__


def elsewhere(module: str, name: str) -> Anything:
    """A public class of ``torch.nn``; AttributeError where there is none of this name."""
    front = import_module("funcgrad.torch.nn")
    if name in front.__all__:
        return getattr(front, name)
    raise missing(module, name)


for _name in _CLASSES:
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _Path(_name)

__all__ = ["utils", *(_title for _name in _CLASSES for _title in globals()[_name].__all__)]  # noqa: PLE0604


def __getattr__(name: str) -> Anything:
    """The classes of ``torch.nn``; what is not there says so by name."""
    return getattr(globals()["module"], name) if name in _HOOKS else elsewhere(__name__, name)
