"""Structured control flow, and a few more functions, under the names that `jax.lax` has for them."""

from funcgrad.api.associative import associative_scan
from funcgrad.api.control import cond, fori_loop, map, scan, switch, while_loop  # noqa: A004 - lax's name
from funcgrad.api.differentiate import stop_gradient

__all__ = [
    "associative_scan",
    "cond",
    "fori_loop",
    "map",
    "scan",
    "stop_gradient",
    "switch",
    "while_loop",
]
