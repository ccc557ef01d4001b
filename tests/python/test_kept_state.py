"""What a recorded function changes outside of it: right at every call, or refused."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import TracedBranchError, TracerAssignmentError


class Slotted:
    """Keeps its attributes in slots."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Counting:
    """Changes itself in every way that there is."""

    calls = 0

    def __init__(self) -> None:
        self.count = 0
        self.log: list[int] = []
        self.table: dict[str, int] = {}
        self.numbers = np.zeros(3)
        self._reads = 0
        self.seen: collections.Counter[str] = collections.Counter()
        self.queue = collections.deque([1.0, 2.0, 3.0])
        self.slotted = Slotted()

    @property
    def reads(self) -> int:
        """How often it was read."""
        self._reads += 1
        return self._reads

    def by_attribute(self, x: Any) -> Any:
        self.count += 1
        return x * self.count

    def by_list(self, x: Any) -> Any:
        self.log.append(1)
        return x * len(self.log)

    def by_dict(self, x: Any) -> Any:
        self.table["k"] = self.table.get("k", 0) + 1
        return x * self.table["k"]

    def by_counter(self, x: Any) -> Any:
        self.seen["k"] += 1
        return x * self.seen["k"]

    def by_deque(self, x: Any) -> Any:
        self.queue.rotate(1)
        return x * self.queue[0]

    def by_class(self, x: Any) -> Any:
        type(self).calls += 1
        return x * self.calls

    def by_slot(self, x: Any) -> Any:
        self.slotted.count += 1
        return x * self.slotted.count

    def by_property(self, x: Any) -> Any:
        return x * self.reads

    def by_array(self, x: Any) -> Any:
        self.numbers[0] += 1.0
        return x * self.numbers[0]

    def by_part(self, x: Any) -> Any:
        self.numbers[0] = 1.0
        return np.sum(x * self.numbers)

    def by_in_place(self, x: Any) -> Any:
        self.numbers += 1.0
        return np.sum(x * self.numbers)

    def by_method(self, x: Any) -> Any:
        self.numbers.sort()
        return np.sum(x * self.numbers)


WAYS = [name for name in vars(Counting) if name.startswith("by_")]
ERRORS = (TracedBranchError, TracerAssignmentError)


@pytest.mark.parametrize("name", WAYS)
def test_state_that_the_result_depends_on_is_refused(name: str) -> None:
    with pytest.raises(ERRORS, match=r"a later call depends on it|recorded, it would do so once"):
        fg.jit(getattr(Counting(), name))(1.0)
    made = Counting()
    with pytest.raises(ERRORS):
        fg.jit(lambda x: 2.0 * getattr(made, name)(x))(1.0)


@pytest.mark.parametrize("name", [name for name in WAYS if name != "by_part"])
def test_bodies_of_loops_do_not_count_once(name: str) -> None:
    change: Callable[[Any], Any] = getattr(Counting(), name)
    with pytest.raises(ERRORS):
        fg.fori_loop(0, 5, lambda i, total: total + change(1.0), 0.0)


class Gathering:
    """Keeps what is traced."""

    def __init__(self) -> None:
        self.total = 0.0
        self.seen: list[Any] = []
        self.table: dict[Any, Any] = {}

    def by_attribute(self, x: Any) -> Any:
        self.total += x
        return 2.0 * self.total

    def by_sum(self, x: Any) -> Any:
        self.seen.append(x)
        return sum(self.seen)

    def by_length(self, x: Any) -> Any:
        self.seen.append(x)
        return x * len(self.seen)

    def by_loop(self, x: Any) -> Any:
        self.seen.append(x)
        total = 0.0
        for v in self.seen:
            total = total + v * v
        return total

    def by_array(self, x: Any) -> Any:
        self.seen.append(x)
        return np.sum(np.array(self.seen))

    def by_dict(self, x: Any) -> Any:
        self.table[len(self.table)] = x
        return sum(self.table.values())


@pytest.mark.parametrize("name", [name for name in vars(Gathering) if name.startswith("by_")])
def test_traced_values_that_a_later_call_would_read_are_refused(name: str) -> None:
    with pytest.raises(ERRORS, match="a later call depends on it"):
        fg.jit(getattr(Gathering(), name))(2.5)


def test_traced_values_that_are_set_anew_or_only_kept_are_allowed() -> None:
    made = Gathering()

    def f(x: Any) -> Any:
        made.total = x * x
        made.seen.append(x)
        made.table["last"] = made.total + 1.0
        return made.table["last"] * made.total

    assert fg.jit(f)(2.0) == 20.0
    assert len(made.seen) == 1
    assert fg.jit(fg.grad(f))(2.0) == 4 * 8.0 + 4.0


def test_what_makes_no_difference_is_allowed() -> None:
    class Model:
        def __init__(self) -> None:
            self.weights: Any = None
            self.calls: list[int] = []
            self.last = 0.0

        def __call__(self, x: Any) -> Any:
            if self.weights is None:
                self.weights = np.arange(3.0)
            self.calls.append(1)
            self.last = 2.0
            scratch = {"a": 1.0}
            scratch["a"] += 1.0
            return np.sum(x * self.weights) * self.last * scratch["a"]

    model = Model()
    assert fg.jit(model)(np.ones(3)) == 12.0
    assert model.calls == [1]
    work = np.zeros(3)

    def refilled(x: Any) -> Any:
        total = 0.0
        for k in range(4):
            work[:] = k
            total = total + np.sum(x * work)
        return total

    assert fg.jit(refilled)(np.ones(3)) == 18.0


def test_an_array_that_might_have_been_overwritten_is_read_at_every_call() -> None:
    """Code that calls what cannot be read, or writes an array that could be any, does not freeze others."""
    held = np.ones(3)

    def adding(x: Any, y: Any) -> Any:
        x += 1.0
        return np.sum(x * y)

    jitted = fg.jit(lambda x, f=np.copy: adding(f(x), held))
    assert jitted(np.ones(3)) == 6.0
    held[:] = 2.0
    assert jitted(np.ones(3)) == 12.0
