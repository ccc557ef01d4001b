"""Invertible maps with the logarithm of their Jacobian's determinant: ``torch.distributions.transforms``."""

from __future__ import annotations

from funcgrad.torch.distributions import joined_maps, maps, matrix_maps
from funcgrad.torch.distributions.joined_maps import *  # noqa: F403 - a front
from funcgrad.torch.distributions.maps import *  # noqa: F403 - a front
from funcgrad.torch.distributions.matrix_maps import *  # noqa: F403 - a front

__all__ = [*maps.__all__, *matrix_maps.__all__, *joined_maps.__all__]  # noqa: PLE0604 - lists of names
