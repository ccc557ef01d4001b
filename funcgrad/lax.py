"""Structured control flow, and a few more functions, under the names that `jax.lax` has for them."""

from funcgrad.api.associative import associative_scan
from funcgrad.api.control import cond, fori_loop, scan, switch, while_loop
from funcgrad.api.differentiate import stop_gradient
from funcgrad.api.mapping import map  # noqa: A004 - lax's name

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
