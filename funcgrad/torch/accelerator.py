"""``torch.accelerator`` where there is none."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import NoReturn

from funcgrad.torch.backends.absent import Absent
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Device

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


def get_device_module(device: Device = None) -> ModuleType:
    """The module of a device, ``torch.cpu`` unless one is named; as ``torch.get_device_module``.

    RuntimeError for what is no device, and for one without a module, as ``"meta"``.
    """
    if isinstance(device, str):
        device = FUNCTIONS["device"](device)
    name = "cpu" if device is None else getattr(device, "type", None)
    if name is None:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    try:
        return import_module(f"funcgrad.torch.{name}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'."
        ) from None
