"""``torch.nn.modules.sparse``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.linear import Embedding, EmbeddingBag
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["Embedding", "EmbeddingBag"]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
