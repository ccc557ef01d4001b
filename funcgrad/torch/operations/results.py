"""Results of several parts: the classes of ``torch.return_types``."""

from __future__ import annotations

import functools
from collections import namedtuple
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.types import Anything

RETURN_TYPES: dict[str, Any] = {}
"""The classes of results of several parts that were made, by name."""


@functools.cache
def named(name: str, fields: str = "values indices") -> Anything:
    """The class of PyTorch's result of several parts, as ``torch.return_types.max``."""
    namedtuple_of: Any = namedtuple  # the name is not known here
    made = namedtuple_of(name, fields.split())

    def text(self: Operand) -> str:
        parts = [f"{f}={x!r}" for f, x in zip(self._fields, self, strict=True)]
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    made.__repr__ = text
    made.__module__ = "torch.return_types"
    RETURN_TYPES[name] = made
    return made
