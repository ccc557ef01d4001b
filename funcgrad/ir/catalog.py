"""The catalog: every primitive class by name, filled as the classes are defined.

It stands below the classes themselves, so that the parser and the checker can look names up without
importing a single operation.
"""

from __future__ import annotations

from typing import Any

CATALOG: dict[str, Any] = {}
"""Every concrete primitive class by name."""
