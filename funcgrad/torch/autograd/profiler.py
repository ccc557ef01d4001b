"""``torch.autograd.profiler``: the older door to ``torch.profiler``."""

from __future__ import annotations

from funcgrad.torch import profiler
from funcgrad.torch.profiler import record_function
from funcgrad.types import Anything

__all__ = ["profile", "record_function"]


class profile(profiler.profile):
    """A profile without steps; with ``enabled=False`` it records nothing.

    >>> with fg.torch.autograd.profiler.profile(enabled=False) as p, record_function("part"):
    ...     pass
    >>> p.key_averages()
    []
    """

    def __init__(self, enabled: bool = True, **options: Anything) -> None:
        super().__init__(schedule=None if enabled else _nothing)


def _nothing(step: int) -> profiler.ProfilerAction:
    return profiler.ProfilerAction.NONE
