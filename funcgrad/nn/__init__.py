"""Functions that networks are made of: activations, normalisation, attention, convolution, pooling.

They hold no parameters and no state. Names and defaults follow ``jax.nn`` where it has the function.

>>> layer = lambda w, x: fg.nn.relu(fg.nn.conv(x, w, padding="same"))
>>> layer(np.ones((3, 3, 1, 2)), np.ones((1, 4, 4, 1)))[0, :, :, 0].tolist()
[[4.0, 6.0, 6.0, 4.0], [6.0, 9.0, 9.0, 6.0], [6.0, 9.0, 9.0, 6.0], [4.0, 6.0, 6.0, 4.0]]
"""

from __future__ import annotations

from funcgrad.api.absent import missing
from funcgrad.nn import initializers as initializers
from funcgrad.nn.activations import (
    celu,
    elu,
    exponential,
    gelu,
    glu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    logit,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_shrink,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
    tanh_shrink,
)
from funcgrad.nn.attention import dot_product_attention, dropout, scaled_dot_product_attention
from funcgrad.nn.convolution import conv, conv_transpose
from funcgrad.nn.normalization import (
    batch_norm,
    group_norm,
    layer_norm,
    log_softmax,
    logmeanexp,
    logsumexp,
    one_hot,
    rms_norm,
    softmax,
    standardize,
)
from funcgrad.nn.pooling import avg_pool, max_pool, max_pool_and_positions
from funcgrad.numpy.elementwise.elementary import tanh

__all__ = [
    "avg_pool",
    "batch_norm",
    "celu",
    "conv",
    "conv_transpose",
    "dot_product_attention",
    "dropout",
    "elu",
    "exponential",
    "gelu",
    "glu",
    "group_norm",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "layer_norm",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logit",
    "logmeanexp",
    "logsumexp",
    "max_pool",
    "max_pool_and_positions",
    "mish",
    "one_hot",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
    "tanh_shrink",
]


def __getattr__(name: str) -> object:
    """Say what to write for a name of JAX's that is not here."""
    raise missing(__name__, name, __dir__())


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
