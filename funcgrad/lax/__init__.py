"""Structured control flow, parts of arrays and a few more functions, under the names of `jax.lax`."""

from funcgrad.api.associative import associative_scan
from funcgrad.api.control import cond, fori_loop, scan, switch, while_loop
from funcgrad.api.differentiate import stop_gradient
from funcgrad.api.mapping import map  # noqa: A004 - lax's name
from funcgrad.lax import arrays
from funcgrad.lax.arrays import *  # noqa: F403 - what its __all__ names, once

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
__all__ += arrays.__all__


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
