"""``torch.backends.cudnn``: not here; its flags can be set, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "is_acceptable",
    "is_available",
    "version",
]

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False."""
    return False


def version() -> None:
    """None."""


def is_acceptable(tensor: object) -> bool:
    """False."""
    return False


@contextmanager
def flags(**flags: object) -> Iterator[None]:
    """The flags set within a context.

    >>> with fg.torch.backends.cudnn.flags(benchmark=True):
    ...     fg.torch.backends.cudnn.benchmark
    True
    >>> fg.torch.backends.cudnn.benchmark
    False
    """
    before = {name: globals()[name] for name in flags}
    globals().update(flags)
    try:
        yield
    finally:
        globals().update(before)
