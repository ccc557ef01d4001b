"""``torch.mps`` where there is none: it says so, and what needs it raises."""

from __future__ import annotations

from funcgrad.torch.backends.absent import QUIET, Absent
from funcgrad.types import Anything

_ABSENT = Absent("MPS")
_REFUSED = ["Event", "get_rng_state", "set_per_process_memory_fraction", "set_rng_state"]
globals().update({name: getattr(_ABSENT, name) for name in (*QUIET, *_REFUSED)})


def current_allocated_memory() -> int:
    """0."""
    return 0


driver_allocated_memory = recommended_max_memory = current_allocated_memory

__all__ = ["current_allocated_memory", "driver_allocated_memory", "recommended_max_memory", *QUIET, *_REFUSED]  # noqa: PLE0604 - the lists that are joined hold strings


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise AttributeError(f"module 'torch.mps' has no attribute {name!r} here: there is no MPS")
