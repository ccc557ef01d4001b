"""Probability distributions: ``torch.distributions``. Draws come from NumPy's generators, not PyTorch's."""

from __future__ import annotations

from funcgrad.torch.distributions import (
    classes,
    composed,
    constraints,
    continuous,
    discrete,
    distribution,
    gamma_family,
    kl,
    maps,
    relaxed,
    transformed,
    transforms,
    vectors,
)
from funcgrad.torch.distributions.classes import *  # noqa: F403 - a front
from funcgrad.torch.distributions.composed import *  # noqa: F403 - a front
from funcgrad.torch.distributions.constraint_registry import biject_to, transform_to
from funcgrad.torch.distributions.continuous import *  # noqa: F403 - a front
from funcgrad.torch.distributions.discrete import *  # noqa: F403 - a front
from funcgrad.torch.distributions.distribution import Distribution, ExponentialFamily
from funcgrad.torch.distributions.gamma_family import *  # noqa: F403 - a front
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
    *classes.__all__,
    *composed.__all__,
    *continuous.__all__,
    *discrete.__all__,
    *gamma_family.__all__,
    *relaxed.__all__,
    *transformed.__all__,
    *[name for name in transforms.__all__ if name[0].isupper()],
    *vectors.__all__,
]


def is_family(member: object) -> bool:
    """Whether something is a class of distributions, which PyTorch gives a module of its own."""
    return isinstance(member, type) and issubclass(member, Distribution) and member is not Distribution


publish(
    __name__,
    {
        **{name: member for name, member in globals().items() if is_family(member)},
        "broadcast_all": distribution.broadcast_all,
        "clamp_probs": discrete.clamp_probs,
        "logits_to_probs": discrete.probs_of,
        "probs_to_logits": discrete.logits_of,
        "sum_rightmost": maps.sum_rightmost,
    },
    {"utils": ("broadcast_all", "clamp_probs", "logits_to_probs", "probs_to_logits")},
)


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, "transforms"])
