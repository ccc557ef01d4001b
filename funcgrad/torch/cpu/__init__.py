"""``torch.cpu``: the one device there is, in the words of the others, for programs that ask any of them.

>>> from funcgrad import torch
>>> torch.get_device_module().current_device()
'cpu'
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from funcgrad.torch.cpu import amp
from funcgrad.types import Device

__all__ = [
    "Event",
    "Stream",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """What is computed in order: everything is, so that waiting does nothing."""

    def __init__(self, priority: int = -1) -> None:
        """Priorities are accepted."""

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing."""

    def wait_event(self, event: Event) -> None:
        """Do nothing."""

    def record_event(self, event: Event | None = None) -> None:
        """Do nothing."""


class Event:
    """A moment in a stream: it has passed."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Do nothing."""

    def wait(self, stream: Stream | None = None) -> None:
        """Do nothing."""


_STREAM = Stream()


def current_stream(device: Device = None) -> Stream:
    """The only stream."""
    return _STREAM


def stream(stream: Stream | None) -> AbstractContextManager[None]:
    """A context that changes nothing."""
    return nullcontext()


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1: processors are not counted."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: Device) -> None:
    """Do nothing."""


def synchronize(device: Device = None) -> None:
    """Do nothing: what was called has been computed."""
