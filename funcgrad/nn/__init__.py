"""Functions that networks are made of: activations, normalisation, attention, convolution, pooling.

They hold no parameters and no state. Names and defaults follow ``jax.nn`` where it has the function.

>>> layer = lambda w, x: fg.nn.relu(fg.nn.conv(x, w, padding="same"))
>>> layer(np.ones((3, 3, 1, 2)), np.ones((1, 4, 4, 1)))[0, :, :, 0].tolist()
[[4.0, 6.0, 6.0, 4.0], [6.0, 9.0, 9.0, 6.0], [6.0, 9.0, 9.0, 6.0], [4.0, 6.0, 6.0, 4.0]]
"""

from __future__ import annotations

from funcgrad.api.absent import missing
from funcgrad.nn import activations, normalization
from funcgrad.nn import initializers as initializers
from funcgrad.nn.activations import *  # noqa: F403 - what its __all__ names
from funcgrad.nn.attention import dot_product_attention, dropout, scaled_dot_product_attention
from funcgrad.nn.convolution import conv, conv_transpose
from funcgrad.nn.normalization import *  # noqa: F403 - what its __all__ names
from funcgrad.nn.pooling import avg_pool, max_pool, max_pool_and_positions
from funcgrad.numpy.elementwise.elementary import tanh

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "avg_pool",
    "conv",
    "conv_transpose",
    "dot_product_attention",
    "dropout",
    "initializers",
    "max_pool",
    "max_pool_and_positions",
    "scaled_dot_product_attention",
    "tanh",
    *activations.__all__,
    *normalization.__all__,
]


def __getattr__(name: str) -> object:
    """Say what to write for a name of JAX's that is not here."""
    raise missing(__name__, name, __dir__())


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
