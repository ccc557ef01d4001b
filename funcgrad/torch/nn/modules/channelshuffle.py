"""``torch.nn.modules.channelshuffle``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.convolution import ChannelShuffle
from funcgrad.torch.nn.missing import missing

__all__ = ["ChannelShuffle"]


def __getattr__(name: str) -> Any:
    """What is not here says so by name."""
    raise missing(__name__, name)
