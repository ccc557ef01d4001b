"""What is kept for the next call has a bound: kinds of arguments of a jit, transformed Programs."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api import jit as jit_module
from funcgrad.api.calling.calls import TransformCache
from funcgrad.compile.runtime import binaries
from funcgrad.shared import Recent
from funcgrad.tracing.python.attributes import names_of_users


@pytest.fixture
def four_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_module, "MOST_KINDS", 4)


def test_old_kinds_go_and_come_back(four_kinds: None) -> None:
    traces: list[int] = []

    @fg.jit
    def total(x: Any) -> Any:
        traces.append(x.shape[0])
        return np.sum(x)

    for size in (1, 2, 3, 4, 1, 5, 1, 6, 2):
        assert total(np.ones(size)) == size
    # One is of use again and again and stays; two had to go.
    assert traces == [1, 2, 3, 4, 5, 6, 2]
    assert len(total._kinds) == 4


def test_the_last_kind_of_every_structure_is_bounded_too(four_kinds: None) -> None:
    power = fg.jit(lambda x, n: {"y": x**n}, static_argnums=1)
    for n in range(20):
        assert power(2.0, n)["y"] == 2.0**n
    assert len(power._latest) <= 4
    assert len(power._kinds) <= 4


def test_what_an_old_kind_had_compiled_goes_with_it(four_kinds: None) -> None:
    def ranked(x: Any) -> Any:
        return np.sum(np.sin(x), axis=0)

    f = fg.jit(ranked)
    first = weakref.ref(f.specialized(np.ones(3)).executable)
    held = {source for source in binaries._LOADED if "def ranked" in source}
    assert held
    for rank in range(2, 8):
        f(np.ones((1,) * rank))
    gc.collect()
    assert first() is None
    assert not held & set(binaries._LOADED)


def test_a_table_keeps_what_was_of_use_lately() -> None:
    table: Recent[int] = Recent(3)
    for k in range(3):
        assert table.keep(k, k) == k
    assert table.get(0) == 0
    table.keep(3, 3)
    assert list(table.values()) == [2, 0, 3]
    assert table.get(1) is None
    assert table.keep(3, 99) == 3, "the first of two threads wins"


def test_a_table_of_many_threads_keeps_its_bound() -> None:
    table: Recent[int] = Recent(8)

    def work(start: int) -> None:
        for k in range(3000):
            table.keep((start * k) % 97, k)
            table.get(k % 97)

    several = [threading.Thread(target=work, args=(k + 1,)) for k in range(6)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    table.keep("last", 0)
    assert len(table) <= 8


def test_programs_that_are_kept_are_not_too_many() -> None:
    cache = TransformCache(most_steps=1000, most_programs=5)
    for k in range(20):
        assert cache.get(k, 1, lambda k=k: k) == k
    assert sorted(cache._entries) == [15, 16, 17, 18, 19]
    assert cache._steps == 5
    cache.get("large", 5000, lambda: "large")
    assert list(cache._entries) == ["large"]


def test_classes_are_found_whenever_their_module_comes_and_whatever_it_becomes() -> None:
    """Modules of libraries are looked through once; those of users again when they have more names."""
    name = "_module_that_comes_later"
    module = ModuleType(name)
    module.__file__ = "/somewhere/_module_that_comes_later.py"
    assert "read_later" not in names_of_users()
    try:
        sys.modules[name] = module
        names_of_users()
        kind = type("Later", (), {"read_later": property(lambda self: 1.0), "__module__": name})
        module.Later = kind
        assert "read_later" in names_of_users()
    finally:
        del sys.modules[name]
    assert "read_later" not in names_of_users()
