"""``torch.cuda`` where there is none: it says so, and what needs it raises in PyTorch's words.

>>> from funcgrad import torch
>>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
device(type='cpu')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from funcgrad.torch.backends.absent import QUIET, Absent
from funcgrad.torch.cuda import amp
from funcgrad.types import Anything

_ABSENT = Absent("CUDA")
_REFUSED = [
    "current_blas_handle",
    "current_device",
    "current_stream",
    "default_stream",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "init",
    "initial_seed",
    "ipc_collect",
    "mem_get_info",
    "memory_snapshot",
    "memory_summary",
    "set_device",
    "set_rng_state",
    "set_stream",
    "utilization",
]
globals().update({name: getattr(_ABSENT, name) for name in (*QUIET, *_REFUSED)})

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "Event",
    "Stream",
    "amp",
    "get_arch_list",
    "get_rng_state_all",
    "set_rng_state_all",
    *QUIET,
    *_REFUSED,
]


class Stream:
    """Cannot be made: there is no CUDA here."""

    def __new__(cls, *args: Anything, **kwargs: Anything) -> NoReturn:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class Event:
    """Cannot be made: there is no CUDA here."""

    def __new__(cls, *args: Anything, **kwargs: Anything) -> NoReturn:
        raise RuntimeError("Tried to instantiate dummy base class Event")


def get_arch_list() -> list[str]:
    """Empty."""
    return []


def get_rng_state_all() -> list[Any]:
    """Empty: there are no devices."""
    return []


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Accept the states of no devices."""
    if list(new_states):
        _ABSENT.refused()


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise AttributeError(f"module 'torch.cuda' has no attribute {name!r} here: there is no CUDA")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
