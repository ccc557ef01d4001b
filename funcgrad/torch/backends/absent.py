"""A kind of device that is not here: what its module answers.

Questions are answered as PyTorch answers them on a machine without the device; what there is nothing to do
for does nothing; what needs the device raises in PyTorch's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from funcgrad.types import Anything, Device

QUIET = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "stream",
    "synchronize",
]
"""The functions that answer, or do nothing."""


class Absent:
    """The functions of the module of an absent device, which the module takes as its own.

    >>> absent = Absent("CUDA")
    >>> absent.is_available(), absent.device_count()
    (False, 0)
    >>> absent.get_device_name()
    Traceback (most recent call last):
    AssertionError: Torch not compiled with CUDA enabled
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def refused(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise what PyTorch raises without the device."""
        raise AssertionError(f"Torch not compiled with {self.name} enabled")

    def __getattr__(self, function: str) -> Anything:
        if function.startswith("__"):
            raise AttributeError(function)
        return self.refused

    def is_available(self) -> bool:
        """False."""
        return False

    def is_initialized(self) -> bool:
        """False."""
        return False

    def is_bf16_supported(self, including_emulation: bool = True) -> bool:
        """False."""
        return False

    def device_count(self) -> int:
        """0."""
        return 0

    def manual_seed(self, seed: int) -> None:
        """Nothing: there is no generator to seed."""

    def manual_seed_all(self, seed: int) -> None:
        """Nothing: there is no generator to seed."""

    def seed(self) -> None:
        """Nothing: there is no generator to seed."""

    def seed_all(self) -> None:
        """Nothing: there is no generator to seed."""

    def synchronize(self, device: Device = None) -> None:
        """Nothing: there is nothing to wait for. (PyTorch raises where it was built without the device.)"""

    def empty_cache(self) -> None:
        """Nothing: nothing is kept."""

    def memory_allocated(self, device: Device = None) -> int:
        """0."""
        return 0

    memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated

    def memory_stats(self, device: Device = None) -> dict[str, Any]:
        """Empty."""
        return {}

    def reset_peak_memory_stats(self, device: Device = None) -> None:
        """Nothing: nothing is counted."""

    reset_accumulated_memory_stats = reset_peak_memory_stats

    @contextmanager
    def stream(self, stream: object = None) -> Iterator[None]:
        """A context without effect; `stream` can only be None, as streams cannot be made."""
        yield
