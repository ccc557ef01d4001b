"""What every program of this folder goes through: its value, its gradient by differences, its time."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import funcgrad as fg

NAMES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if path.stem not in ("__init__", "__main__", "running", "cannot", "test_everyday")
)


class Program(NamedTuple):
    """A program: what it minimises, where it starts, and what NumPy gives."""

    objective: Callable[[Any], Any]
    start: Any
    reference: Callable[[Any], Any]
    tolerance: float


def program(name: str) -> Program:
    """The program of that name."""
    module: ModuleType = importlib.import_module(f"tests.everyday.{name}")
    reference = getattr(module, "reference", module.objective)
    return Program(module.objective, module.start, reference, getattr(module, "tolerance", 1e-6))


def by_differences(f: Callable[[Any], Any], start: Any) -> Any:
    """The gradient by central differences, flat."""
    flat, restored = fg.ravel_pytree(start)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        step = np.zeros(flat.size)
        step[i] = 1e-5 * max(1.0, abs(flat[i]))
        rise = number(f(restored(flat + step))) - number(f(restored(flat - step)))
        found[i] = rise / (2.0 * step[i])
    return found


def number(x: Any) -> float:
    """The value of what has one element."""
    return float(np.asarray(x).reshape(()))


def seconds(f: Callable[[], Any], limit: float = 0.5) -> float:
    """The shortest of some calls."""
    best, spent = float("inf"), 0.0
    while spent < limit:
        begin = time.perf_counter()
        f()
        took = time.perf_counter() - begin
        best, spent = min(best, took), spent + took
    return best
