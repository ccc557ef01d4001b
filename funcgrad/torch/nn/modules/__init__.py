"""``torch.nn.modules``: the paths by which PyTorch keeps the classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.missing import elsewhere
from funcgrad.torch.nn.modules import (
    activation,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
    utils,
)
from funcgrad.torch.nn.modules.activation import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.batchnorm import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.channelshuffle import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.container import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.conv import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.distance import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.dropout import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.flatten import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.fold import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.instancenorm import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.linear import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.loss import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.module import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.normalization import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.padding import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.pixelshuffle import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.pooling import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.rnn import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.sparse import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.transformer import *  # noqa: F403 - the module says what is public
from funcgrad.torch.nn.modules.upsampling import *  # noqa: F403 - the module says what is public

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "utils",
    *activation.__all__,
    *batchnorm.__all__,
    *channelshuffle.__all__,
    *container.__all__,
    *conv.__all__,
    *distance.__all__,
    *dropout.__all__,
    *flatten.__all__,
    *fold.__all__,
    *instancenorm.__all__,
    *linear.__all__,
    *loss.__all__,
    *module.__all__,
    *normalization.__all__,
    *padding.__all__,
    *pixelshuffle.__all__,
    *pooling.__all__,
    *rnn.__all__,
    *sparse.__all__,
    *transformer.__all__,
    *upsampling.__all__,
]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
