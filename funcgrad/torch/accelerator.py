"""``torch.accelerator`` where there is none."""

from __future__ import annotations

from typing import NoReturn

from funcgrad.torch.backends.absent import Absent

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]

_ABSENT = Absent("an accelerator")
is_available, device_count = _ABSENT.is_available, _ABSENT.device_count
synchronize, empty_cache = _ABSENT.synchronize, _ABSENT.empty_cache
memory_allocated, memory_reserved = _ABSENT.memory_allocated, _ABSENT.memory_reserved
max_memory_allocated, max_memory_reserved = _ABSENT.max_memory_allocated, _ABSENT.max_memory_reserved
memory_stats = _ABSENT.memory_stats
reset_peak_memory_stats = _ABSENT.reset_peak_memory_stats
reset_accumulated_memory_stats = _ABSENT.reset_accumulated_memory_stats


def current_accelerator(check_available: bool = False) -> None:
    """None.

    >>> device = fg.torch.accelerator.current_accelerator() or fg.torch.device("cpu")
    >>> device
    device(type='cpu')
    """


def _refused(*args: object, **kwargs: object) -> NoReturn:
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_index = current_device_idx = current_stream = device_index = _refused
set_device_index = set_device_idx = set_stream = _refused
