"""``torch.random``: the seed and the state of the sequence that functions draw from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad.torch.operations.creating.random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextmanager
def fork_rng(
    devices: object = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Inside, numbers are drawn that do not move the sequence outside on.

    >>> _ = fg.torch.manual_seed(1)
    >>> with fork_rng():
    ...     inside = fg.torch.rand(1)
    >>> bool(inside == fg.torch.rand(1))
    True
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
