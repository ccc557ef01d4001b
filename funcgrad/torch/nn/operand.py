"""The type of what functions take: `Tensor` is given its operators at import, where no checker sees them."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Operand"]

Operand: TypeAlias = Any
"""A tensor."""
