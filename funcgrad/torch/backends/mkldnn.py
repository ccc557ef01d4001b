"""``torch.backends.mkldnn``: not here; its flags can be set, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["allow_tf32", "deterministic", "enabled", "flags", "is_available"]

enabled = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False."""
    return False


@contextmanager
def flags(**flags: object) -> Iterator[None]:
    """The flags set within a context."""
    before = {name: globals()[name] for name in flags}
    globals().update(flags)
    try:
        yield
    finally:
        globals().update(before)
