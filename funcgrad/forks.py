"""Locks and children: a process forks only while no other thread holds what the child could not release."""

from __future__ import annotations

import os

from funcgrad.types import Anything


def keep_through_forks(lock: Anything) -> None:
    """Fork only while no other thread holds a lock: in the child nobody would ever release it."""

    def release() -> None:
        lock.__exit__(None, None, None)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.__enter__, after_in_parent=release, after_in_child=release)
