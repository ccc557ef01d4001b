"""``torch.nn.functional``: the functions that layers apply, without their parameters."""

from __future__ import annotations

from funcgrad.torch.core.unsupported import missing
from funcgrad.torch.nn.functional import (
    activations,
    alignments,
    attention,
    convolution,
    grids,
    losses,
    losses_of_probabilities,
    margins,
    normalization,
    pooling,
    products,
    sampling,
    unpooling,
    window_maxima,
)
from funcgrad.torch.nn.functional.accepting import of_tensors
from funcgrad.torch.nn.functional.activations import *  # noqa: F403 - the modules say what is public
from funcgrad.torch.nn.functional.alignments import *  # noqa: F403
from funcgrad.torch.nn.functional.attention import *  # noqa: F403
from funcgrad.torch.nn.functional.convolution import *  # noqa: F403
from funcgrad.torch.nn.functional.grids import *  # noqa: F403
from funcgrad.torch.nn.functional.losses import *  # noqa: F403
from funcgrad.torch.nn.functional.losses_of_probabilities import *  # noqa: F403
from funcgrad.torch.nn.functional.margins import *  # noqa: F403
from funcgrad.torch.nn.functional.normalization import *  # noqa: F403
from funcgrad.torch.nn.functional.pooling import *  # noqa: F403
from funcgrad.torch.nn.functional.products import *  # noqa: F403
from funcgrad.torch.nn.functional.sampling import *  # noqa: F403
from funcgrad.torch.nn.functional.unpooling import *  # noqa: F403
from funcgrad.torch.nn.functional.window_maxima import *  # noqa: F403
from funcgrad.torch.operations.registry import FUNCTIONS, take_out
from funcgrad.types import Anything

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    *activations.__all__,
    *alignments.__all__,
    *grids.__all__,
    *unpooling.__all__,
    *attention.__all__,
    *convolution.__all__,
    *products.__all__,
    *losses.__all__,
    *losses_of_probabilities.__all__,
    *margins.__all__,
    *normalization.__all__,
    *pooling.__all__,
    *sampling.__all__,
    *window_maxima.__all__,
]

conv_tbc = FUNCTIONS["conv_tbc"]
for _name in __all__:
    globals()[_name] = of_tensors(globals()[_name])
take_out(
    globals(),
    ("avg_pool2d", "avg_pool3d", "gelu", "hardshrink", "linear", "logsigmoid", "softplus", "softshrink"),
)


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
