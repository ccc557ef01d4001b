"""Probability distributions: ``torch.distributions``. Draws come from NumPy's generators, not PyTorch's."""

from __future__ import annotations

from funcgrad.torch.distributions import (
    composed,
    constraints,
    continuous,
    discrete,
    distribution,
    kl,
    maps,
    relaxed,
    transformed,
    transforms,
    vectors,
)
from funcgrad.torch.distributions.composed import *  # noqa: F403 - a front
from funcgrad.torch.distributions.constraint_registry import biject_to, transform_to
from funcgrad.torch.distributions.continuous import *  # noqa: F403 - a front
from funcgrad.torch.distributions.discrete import *  # noqa: F403 - a front
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily
from funcgrad.torch.distributions.import_paths import publish
from funcgrad.torch.distributions.joined_maps import identity_transform
from funcgrad.torch.distributions.kl import kl_divergence, register_kl
from funcgrad.torch.distributions.relaxed import *  # noqa: F403 - a front
from funcgrad.torch.distributions.transformed import *  # noqa: F403 - a front
from funcgrad.torch.distributions.transforms import *  # noqa: F403 - a front
from funcgrad.torch.distributions.vectors import *  # noqa: F403 - a front

__all__ = [  # noqa: PLE0604 - lists of names
    "Distribution",
    "ExponentialFamily",
    "biject_to",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform_to",
    *composed.__all__,
    *continuous.__all__,
    *discrete.__all__,
    *relaxed.__all__,
    *transformed.__all__,
    *[name for name in transforms.__all__ if name[0].isupper()],
    *vectors.__all__,
]

publish(
    __name__,
    {
        **{name: globals()[name] for name in (*composed.__all__, *continuous.__all__, *discrete.__all__)},
        **{name: globals()[name] for name in (*relaxed.__all__, *transformed.__all__, *vectors.__all__)},
        "ExponentialFamily": ExponentialFamily,
        "broadcast_all": distribution.broadcast_all,
        "logits_to_probs": discrete.probs_of,
        "probs_to_logits": discrete.logits_of,
        "sum_rightmost": maps.sum_rightmost,
    },
    {
        "utils": ("broadcast_all", "clamp_probs", "logits_to_probs", "probs_to_logits"),
    },
)
