"""Types of what functions take and give: `Tensor` has its operators from import on, unseen by checkers."""

from __future__ import annotations

from typing import Any, TypeAlias

Operand: TypeAlias = Any
"""A tensor."""

Operands: TypeAlias = Any
"""A tensor, or a tuple of them: as the arguments ask, or as many as there are."""
