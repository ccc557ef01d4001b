"""``torch.xpu`` where there is none: it says so, and what needs it raises."""

from __future__ import annotations

from funcgrad.torch.backends.absent import QUIET, Absent
from funcgrad.types import Anything

_ABSENT = Absent("XPU")
_REFUSED = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "init",
    "initial_seed",
    "mem_get_info",
    "set_device",
    "set_rng_state",
    "set_stream",
]
globals().update({name: getattr(_ABSENT, name) for name in (*QUIET, *_REFUSED)})

__all__ = [*QUIET, *_REFUSED]  # noqa: PLE0604 - the lists that are joined hold strings


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise AttributeError(f"module 'torch.xpu' has no attribute {name!r} here: there is no XPU")
