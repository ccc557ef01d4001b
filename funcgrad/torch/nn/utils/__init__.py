"""``torch.nn.utils``: clipping gradients, parameters as one vector, and weight normalisation."""

from __future__ import annotations

from funcgrad.torch.nn.utils import parametrizations, parametrize, prune, rnn, stateless
from funcgrad.torch.nn.utils.clipping import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from funcgrad.torch.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
    skip_init,
)
from funcgrad.torch.nn.utils.memory_format import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from funcgrad.torch.nn.utils.spectral_normalisation import remove_spectral_norm, spectral_norm
from funcgrad.torch.nn.utils.vectors import parameters_to_vector, vector_to_parameters
from funcgrad.torch.nn.utils.weight_normalisation import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
