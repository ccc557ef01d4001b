"""Calls with structures in machine code: keys in any order and of any identity, exact references."""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import ref

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime import machine_code
from funcgrad.compile.runtime.callers import dictionary_entries, structure_caller
from funcgrad.compile.runtime.callers.structure_caller import structure_call
from funcgrad.compile.runtime.machine import objects

pytestmark = pytest.mark.skipif(machine_code.runtime() is None, reason="no native caller here")

KEYS = [f"p{k}" for k in range(12)]


def call_of(given: Any, *, result: Any = None, call: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A builtin for one argument like this that returns its leaves in a tuple, or in a structure."""
    count = fg.tree.structure(given).num_leaves
    made = structure_call(
        call or (lambda *x: x),
        fg.tree.structure(((given,), {})),
        fg.tree.structure((0,) * count if result is None else result),
    )
    assert made is not None
    assert type(made).__name__ == "builtin_function_or_method"
    return made


def fresh(text: str) -> str:
    """An equal text that is another object."""
    return "".join([*text])


def test_keys_in_any_order_and_of_any_identity() -> None:
    call = call_of(dict.fromkeys(KEYS, 0.0))
    expected = tuple(sorted(KEYS))
    rng = np.random.default_rng(0)
    for _ in range(20):
        keys = [fresh(key) if rng.random() < 0.5 else key for key in rng.permutation(KEYS).tolist()]
        for _ in range(2):
            assert call(({key: fresh(key) for key in keys},), {}) == expected
    # Half of a walk in a new order, then a key that is none: what was learned is right by itself.
    assert call(({key: key for key in [*KEYS[6:], *KEYS[:5], "other"]},), {}) is NotImplemented
    assert call(({key: key for key in KEYS},), {}) == expected


@pytest.mark.parametrize("keys", [[1, 2, 300], [b"a", b"bc"], ["a", "é", "名前", ""]])
def test_keys_of_every_plain_type(keys: list[Any]) -> None:
    call = call_of(dict.fromkeys(keys, 0.0))
    order = fg.tree.leaves({key: key for key in keys})
    for turned in (keys, keys[::-1]):
        assert call(({key: key for key in turned},), {}) == tuple(order)


class Text(str):
    """A key with an equality of its own."""

    __slots__ = ()
    asked: ClassVar[list[object]] = []

    def __eq__(self, other: object) -> bool:
        Text.asked.append(other)
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_keys_and_dictionaries_of_other_types_are_left_to_others() -> None:
    call = call_of({"a": 0.0, "b": 0.0})
    text = Text("b")
    Text.asked.clear()
    assert call(({"a": 1.0, text: 2.0},), {}) is NotImplemented
    assert Text.asked == []
    assert call((OrderedDict(a=1.0, b=2.0),), {}) is NotImplemented
    assert call(({"a": 1.0},), {}) is NotImplemented
    assert call(({"a": 1.0, "b": 2.0, "c": 3.0},), {}) is NotImplemented
    numbers = call_of({0: 0.0, 1: 0.0})
    for key in (True, 1.0, np.int64(1)):
        assert numbers(({0: 1.0, key: 2.0},), {}) is NotImplemented
    double = fg.jit(lambda p: {"y": p["a"] * 2.0})
    for name in ("a", Text("a"), fresh("a"), "a"):
        for _ in range(3):
            assert double({name: 3.0}) == {"y": 6.0}


def test_keywords_in_any_order() -> None:
    arguments = fg.tree.structure(((), {"b": 0, "a": [0]}))
    call = structure_call(lambda *x: x, arguments, fg.tree.structure((0, 0)))
    assert call is not None
    for kwargs in ({"a": [1.0], "b": 2.0}, {"b": 2.0, "a": [1.0]}):
        assert call((), kwargs) == (1.0, 2.0)


def test_references_are_exact() -> None:
    leaves = [np.full(2, k) for k in range(14)]
    keys = [fresh(key) for key in KEYS]
    rows, holder = dict(zip(keys, leaves, strict=False)), [leaves[12], None]
    given = (rows, holder, (leaves[13],))
    whole = call_of(given, result=given)
    listed = call_of(given, result=given, call=lambda *x: [*x])
    refusing = call_of(given, call=lambda *x: NotImplemented)
    failing = call_of(given, call=lambda *x: 1 / 0)
    others = [fresh(key) for key in keys]
    again = (dict(zip(others, leaves, strict=False)), holder, (leaves[13],))
    things = [*leaves, *keys, *others, rows, holder, None, NotImplemented, ()]

    def every_way() -> None:
        for call in (whole, listed, refusing):
            # Other keys are learned, and the first ones after them.
            call((again,), {}), call((given,), {})
        assert whole(((rows, [0.0], ()),), {}) is NotImplemented
        with pytest.raises(ZeroDivisionError):
            failing((given,), {})

    every_way()
    # Tracebacks hold what was called with.
    gc.collect()
    before = [sys.getrefcount(x) for x in things]
    for _ in range(50):
        every_way()
    gc.collect()
    after = [sys.getrefcount(x) for x in things]
    drift = [a - b for a, b in zip(after, before, strict=True)]
    assert drift[:14] == [0] * 14
    # What all of Python refers to may be referred to a few times more.
    assert all(abs(d) < 25 for d in drift), drift


def test_what_was_learned_goes_with_the_call() -> None:
    given = {"first": 0.0, "last": 0.0}
    call = call_of(given, result=given)
    value, key = np.zeros(2), fresh("first")
    before = sys.getrefcount(key)
    out = call(({"last": value, key: value},), {})
    assert sys.getrefcount(key) == before + 1
    gone = ref(value)
    del value, out
    assert gone() is None
    del call
    assert sys.getrefcount(key) == before


def test_dictionaries_of_results_are_dictionaries_like_any() -> None:
    given = dict.fromkeys(KEYS, 0.0)
    call = call_of(given, result=given)
    first, second = (call(({key: [k, n] for k, key in enumerate(KEYS)},), {}) for n in range(2))
    order = [*range(12)]
    assert [first[key] for key in KEYS] == [[k, 0] for k in order]
    assert [*first] == sorted(KEYS)
    first["p3"] = None
    del first["p4"]
    first |= {f"q{k}": k for k in range(40)}
    assert [second[key] for key in KEYS] == [[k, 1] for k in order]
    assert call((dict.fromkeys(KEYS, 5.0),), {}) == dict.fromkeys(KEYS, 5.0)


def test_the_collector_finds_cycles_through_results() -> None:
    class Marked(list[Any]):
        """A list that may be referred to weakly."""

    given = dict.fromkeys(KEYS, 0.0)
    mark = Marked()
    gone = ref(mark)
    mark.append(call_of(given, result=given)((dict.fromkeys(KEYS, mark),), {}))
    del mark
    gc.collect()
    assert gone() is None


def test_containers_that_are_emptied_meanwhile() -> None:
    inner, outer = {"a": np.ones(50), "b": np.ones(50)}, [np.ones(50)]
    gone = [ref(x) for x in (*inner.values(), *outer)]

    def call(*leaves: Any) -> Any:
        inner.clear()
        outer.clear()
        return tuple([x.sum() for x in leaves])

    made = call_of((inner, outer), result=(0, {"x": (0, 0)}), call=call)
    assert made(((inner, outer),), {}) == (50.0, {"x": (50.0, 50.0)})
    assert [x() for x in gone] == [None] * 3


def test_results_that_are_no_tuple_of_the_right_number() -> None:
    result = {"a": [0], "b": 0}
    assert call_of([0.0, 0.0], result=result, call=lambda *x: [*x])(([1.0, 2.0],), {}) == {
        "a": [1.0],
        "b": 2.0,
    }
    with pytest.raises(fg.errors.TreeError, match="leaves"):
        call_of([0.0], result=result)(([1.0],), {})
    assert call_of([0.0], result=0)(([1.0],), {}) == 1.0
    assert call_of([0.0], result=None, call=lambda x: (x,))(([1.0],), {}) == (1.0,)


def test_where_dictionaries_lie_otherwise_python_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict.fromkeys("ab", 0.0)
    monkeypatch.setattr(objects, "DICT_KEYS", 0)
    call = call_of(given, result=given)
    assert call(({"b": 2.0, "a": 1.0},), {}) == {"a": 1.0, "b": 2.0}
    monkeypatch.undo()
    monkeypatch.setattr(dictionary_entries, "entry_places", lambda memory, d: [[0], []])
    assert dictionary_entries.template_of(["a", "b"], None) is None


def test_a_trial_that_goes_wrong_leaves_structures_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure_caller, "structure_difference", lambda found: "something differs")
    structure_caller.trusted_structures.cache_clear()
    structure = fg.tree.structure((({"a": 0.0},), {}))
    try:
        with pytest.warns(UserWarning, match="something differs: Python takes"):
            call = structure_call(lambda x: (x,), structure, fg.tree.structure([0]))
    finally:
        structure_caller.trusted_structures.cache_clear()
    assert call is not None
    assert call.__name__ == "straight"
    assert call(({"a": 1.0},), {}) == [1.0]


def test_many_nodes_are_left_to_python() -> None:
    given = [[0.0]] * 1001
    structure = fg.tree.structure(((given,), {}))
    call = structure_call(lambda *x: (len(x),), structure, fg.tree.structure((0,)))
    assert call is not None
    assert call.__name__ == "straight"
    assert call((given,), {}) == (1001,)
