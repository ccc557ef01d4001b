"""``torch.multiprocessing``: Python's `multiprocessing`, between whose processes tensors are copied."""

from __future__ import annotations

import multiprocessing as _multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403 - all its names
from typing import Any

from funcgrad.types import Anything

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    *_multiprocessing.__all__,
]


def get_all_sharing_strategies() -> set[str]:
    """Those whose names are accepted; tensors are copied with any."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """Always "file_descriptor", PyTorch's first."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept the name of a strategy, which changes nothing: tensors are copied."""
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"there is no sharing strategy {new_strategy!r}")


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
) -> Anything:
    """Call ``fn(i, *args)`` in `nprocs` new processes; RuntimeError if one of them fails.

    With ``join=False`` returns the processes.
    """
    context = _multiprocessing.get_context("spawn")
    processes: list[Any] = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    for i, process in enumerate(processes):
        if process.exitcode:
            raise RuntimeError(f"process {i} terminated with exit code {process.exitcode}")
    return None
