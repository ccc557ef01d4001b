"""Structured control flow, parts of arrays and a few more functions, under the names of `jax.lax`."""

from funcgrad.api.associative import associative_scan
from funcgrad.api.control import cond, fori_loop, scan, switch, while_loop
from funcgrad.api.differentiate import stop_gradient
from funcgrad.api.mapping import map  # noqa: A004 - lax's name
from funcgrad.lax.arrays import (
    broadcast_in_dim,
    clamp,
    concatenate,
    convert_element_type,
    cummax,
    cummin,
    cumprod,
    cumsum,
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    expand_dims,
    full,
    full_like,
    index_in_dim,
    iota,
    rev,
    rsqrt,
    select,
    slice,  # noqa: A004 - lax's name
    slice_in_dim,
    top_k,
)

__all__ = [
    "associative_scan",
    "broadcast_in_dim",
    "clamp",
    "concatenate",
    "cond",
    "convert_element_type",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "expand_dims",
    "fori_loop",
    "full",
    "full_like",
    "index_in_dim",
    "iota",
    "map",
    "rev",
    "rsqrt",
    "scan",
    "select",
    "slice",
    "slice_in_dim",
    "stop_gradient",
    "switch",
    "top_k",
    "while_loop",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
