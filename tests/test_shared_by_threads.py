"""What several threads share: each is stopped where the others could find it half made, or changing."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import linecache
import re
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType, FunctionType, SimpleNamespace
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import torch
from funcgrad.api.calling import again
from funcgrad.api.calling.calls import CACHE
from funcgrad.api.python.guarded.held import Elements
from funcgrad.api.python.guarded.kept import held_by
from funcgrad.api.python.guarded.watched import met
from funcgrad.compile.runtime import signals
from funcgrad.compile.runtime.addresses import njit_calls, scipy_functions
from funcgrad.distributed.engines import choice
from funcgrad.distributed.engines.futures import names_in
from funcgrad.ir.evaluate import runner
from funcgrad.ir.text import remembered
from funcgrad.numpy import dispatch
from funcgrad.shared import forget_oldest, once
from funcgrad.source import forget_if_changed, lines_of_file
from funcgrad.torch.autograd import forward_ad
from funcgrad.torch.distributions import kl
from funcgrad.torch.nn.utils import parametrize
from funcgrad.tracing import adapters, overwriting
from funcgrad.tracing.overwriting import may_write, writes_of
from funcgrad.tracing.primitive import Primitive
from funcgrad.tracing.python.functions import CODES, CodeCache, rewritten_function

BUFFER = np.zeros(3)
X = np.array([0.7, 1.3])
PACKAGE = """
import math
import numpy as np

def roots(x):
    wait()
    if not isinstance(x, np.ndarray):
        raise TypeError("an array is expected")
    return np.sqrt(x)

def converted(x):
    wait()
    return [math.sqrt(float(x[0]))]
"""


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each returns, in a thread of its own; who waits for another is given up after a while."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [one.result(60) for one in [pool.submit(work) for work in works]]


def stepped_into(call: Callable[[], Any], step_in: Callable[[], object]) -> Any:
    """What a call returns, where something is done between any two of its instructions, as others may."""

    def between(frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode":
            step_in()
        return between

    before = sys.gettrace()
    sys.settrace(between)
    try:
        return call()
    finally:
        sys.settrace(before)


def grower(table: Any, make: Callable[[], Any]) -> Callable[[], None]:
    """What adds to a table, or removes."""
    things: list[Any] = []

    def grow() -> None:
        if len(things) < 5:
            things.append(make())
            table[f"more{len(things)}"] = things[-1]
        else:
            for k in range(5):
                table.pop(f"more{k + 1}", None)
            things.clear()

    return grow


def at_each_moment(prepared: Callable[[], tuple[Callable[[], Any], Callable[[], object]]]) -> int:
    """Run the first of two anew until the second, in another thread, has stepped in at each of its moments.

    The other thread may have to wait for what the first one holds: then it goes on after it.
    """
    for moment in itertools.count(1):
        call, step_in = prepared()
        instructions = 0
        others: list[threading.Thread] = []

        def count(moment: int = moment, step_in: Any = step_in, others: Any = others) -> None:
            nonlocal instructions
            instructions += 1
            if instructions == moment:
                others.append(threading.Thread(target=step_in))
                others[0].start()
                others[0].join(0.02)

        stepped_into(call, count)
        for other in others:
            other.join(30)
        if not others:
            return moment
    raise AssertionError


# -- what code writes ----------------------------------------------------------------------------------------


def fills(x: Any) -> Any:
    BUFFER[:] = x
    return x


def ping(x: Any) -> Any:
    BUFFER[:] = x
    return pong(x)


def pong(x: Any) -> Any:
    return ping(x)


FILLS, PING, PONG = (cast("FunctionType", function) for function in (fills, ping, pong))


def test_what_code_writes_is_known_once_all_of_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[bool] = []
    plain = overwriting.Reader.writes

    def writes(self: Any) -> Any:
        if not found:
            found.append(False)
            found[:] = at_once(lambda: may_write(FILLS))
        return plain(self)

    monkeypatch.setattr(overwriting, "_SEEN", {})
    monkeypatch.setattr(overwriting.Reader, "writes", writes)
    assert may_write(FILLS)
    assert found == [True]


def test_of_functions_that_call_each_other_each_writes_what_the_other_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overwriting, "_SEEN", {})
    assert may_write(PING)
    assert may_write(PONG)


def test_equal_code_of_two_modules_is_read_twice() -> None:
    text = "def run(x):\n    return step(x)\n"
    modules: list[dict[str, Any]] = [{"step": fills}, {"step": np.sin}]
    for names in modules:
        exec(compile(text, "one.py", "exec"), names)
    first, second = (names["run"].__code__ for names in modules)
    assert first == second
    assert writes_of(first, modules[0]).targets
    assert not writes_of(second, modules[1]).targets


# -- recording and running -----------------------------------------------------------------------------------


def test_a_program_becomes_source_in_the_middle_of_another_threads_first_run() -> None:
    fg.grad(lambda x: np.sum(np.sin(x) * x))(X)
    program, _ = list(CACHE._entries.values())[-1]
    assert program._steps is not None
    instructions = 0
    for moment in itertools.count():
        evaluated = runner.Runner(program).evaluated
        instructions = 0

        def step_in(moment: int = moment, evaluated: Any = evaluated) -> None:
            nonlocal instructions
            instructions += 1
            if instructions == moment:
                evaluated(X)
                evaluated(X)

        found = stepped_into(lambda evaluated=evaluated: evaluated(X), step_in)  # type: ignore[misc]
        np.testing.assert_allclose(found[-1], np.sin(X) + X * np.cos(X))
        if moment > min(instructions, 50):
            break


def test_a_hot_call_while_other_threads_call_with_another_structure() -> None:
    double = fg.jit(lambda x: {"twice": 2.0 * x["x"]})
    for _ in range(3):
        double({"x": X})
    native = double._straight
    assert native is not None
    values = itertools.cycle([None, native])

    def step_in() -> None:
        double._straight = next(values)

    for _ in range(2):
        np.testing.assert_array_equal(stepped_into(lambda: double({"x": X}), step_in)["twice"], 2.0 * X)
        step_in()


def test_rewritten_code_is_known_as_such_before_it_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return x if x > 0 else -x

    handed_out: list[bool] = []
    plain = CodeCache._note

    def note(self: CodeCache, code: Any, around: Any, original: Any) -> None:
        handed_out.append(id(f.__code__) in self._codes)
        plain(self, code, around, original)

    monkeypatch.setattr(CodeCache, "_note", note)
    made = rewritten_function(cast("FunctionType", f), None)
    assert CODES.is_rewritten(made.__code__)
    assert not any(handed_out)


def test_packages_are_told_before_another_thread_takes_it_for_done(monkeypatch: pytest.MonkeyPatch) -> None:
    pending = {"one": "tells_one", "two": "tells_two"}
    told: list[str] = []

    class Modules(dict[str, Any]):
        def __contains__(self, name: object) -> bool:
            pending.pop("two", None)  # another thread is through with it
            return super().__contains__(name)

    def import_module(name: str) -> None:
        assert "one" in pending
        told.append(name)

    monkeypatch.setattr(adapters, "PENDING", pending)
    monkeypatch.setattr(adapters, "modules", Modules(one=None))
    monkeypatch.setattr(adapters, "import_module", import_module)
    adapters.introduce()
    assert told == ["tells_one"]
    assert not pending


def test_no_attribute_is_computed_under_pythons_lock() -> None:
    for file in Path(fg.__file__).parent.rglob("*.py"):
        assert not re.search(r"^ *@(functools\.)?cached_property", file.read_text(), re.M), file


def test_attributes_that_wait_for_those_of_another_instance() -> None:
    gate = threading.Barrier(2)

    class Slow:
        @once
        def number(self) -> int:
            gate.wait(30)
            return id(self)

    one, other = Slow(), Slow()
    assert at_once(lambda: one.number, lambda: other.number) == [id(one), id(other)]
    assert one.number == id(one)  # nobody waits again


def test_an_attribute_that_two_threads_compute_is_one() -> None:
    gate = threading.Barrier(2)

    class Slow:
        @once
        def thing(self) -> object:
            gate.wait(30)
            return object()

    slow = Slow()
    first, second = at_once(lambda: slow.thing, lambda: slow.thing)
    assert first is second is slow.thing


def test_containers_of_the_users_may_grow_while_they_are_looked_through() -> None:
    table: dict[str, Any] = {"k": 1.0}

    def f(x: Any) -> Any:
        return x * table["k"]

    stepped_into(lambda: held_by(f), grower(table, float))
    stepped_into(lambda: [*met([table], cast("FunctionType", f))], grower(table, lambda: np.zeros(2)))


def test_sets_of_the_users_may_grow_while_they_are_looked_through() -> None:
    things = {"k"}
    names = iter(range(10_000))
    stepped_into(lambda: Elements(things), lambda: things.add(str(next(names))))


def test_a_primitive_that_ends_while_another_thread_makes_the_same_one() -> None:
    class Scaled(Primitive):
        parameters = ("by",)

    kept: list[Any] = []

    def prepared() -> tuple[Callable[[], Any], Callable[[], object]]:
        kept.clear()
        held = [Scaled(2.0)]
        return held.clear, lambda: kept.extend([Scaled(2.0), Scaled(2.0)])

    def checked() -> tuple[Callable[[], Any], Callable[[], object]]:
        assert all(one is Scaled(2.0) for one in kept)
        return prepared()

    assert at_each_moment(checked) > 10
    kept.clear()
    assert not Scaled._instances


def test_objects_that_have_no_text_are_numbered_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "KEPT_OBJECTS", 1)

    def prepared() -> tuple[Callable[[], Any], Callable[[], object]]:
        objects = remembered.RememberedObjects()
        objects.add("first")

        def add() -> None:
            assert objects.find(objects.add("second")) in ("second", None)

        return add, lambda: [objects.add("third"), objects.add("second")]

    assert at_each_moment(prepared) > 10


def test_the_oldest_entries_go_while_other_threads_add_and_remove() -> None:
    table: dict[str, Any] = {}
    grow = grower(table, float)
    for _ in range(10):
        stepped_into(lambda: forget_oldest(table, 2), grow)
    assert len(table) <= 5


def test_functions_of_other_packages_may_be_entered_while_one_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entered = dispatch.DEFERRED.copy()
    names = iter(range(10_000))
    monkeypatch.setattr(dispatch, "DEFERRED", entered)
    nobodys = np.frompyfunc(abs, 1, 1)

    def enter() -> None:
        entered["some_module", str(next(names))] = abs

    assert stepped_into(lambda: dispatch.deferred(nobodys), enter) is None


# -- warnings, and the torch facade --------------------------------------------------------------------------


def test_warnings_that_are_caught_by_two_threads_leave_pythons_own() -> None:
    second, first_is_through = threading.Event(), threading.Event()
    before = warnings.showwarning, list(warnings.filters)

    def waits(x: Any) -> Any:
        second.wait(0.2)  # for another thread, which should not come to it
        return x

    def comes(x: Any) -> Any:
        second.set()
        first_is_through.wait(0.2)
        return x

    def first() -> None:
        assert not scipy_functions.tried(waits, [X])[1]
        first_is_through.set()

    at_once(first, lambda: scipy_functions.tried(comes, [X]))
    assert (warnings.showwarning, list(warnings.filters)) == before


def test_what_others_warn_of_meanwhile_is_no_warning_of_a_function() -> None:
    def ufunc(x: Any) -> Any:
        warnings.warn_explicit("theirs", UserWarning, "theirs.py", 1)
        return x

    with pytest.warns(UserWarning, match="theirs"):
        assert scipy_functions.tried(ufunc, ["x"]) == ("x", False)


def test_levels_of_forward_mode_and_cached_parameters_are_a_threads_own() -> None:
    gate = threading.Barrier(2)

    def tangent(by: float) -> Any:
        with forward_ad.dual_level():
            x = forward_ad.make_dual(torch.tensor([2.0]), torch.tensor([by]))
            gate.wait(30)
            y = forward_ad.unpack_dual(x * x).tangent
            gate.wait(30)
            return y.item()

    assert at_once(lambda: tangent(1.0), lambda: tangent(3.0)) == [4.0, 12.0]

    def depth() -> int:
        with parametrize.cached():
            gate.wait(30)
            return parametrize._CACHE.depth

    assert at_once(depth, depth) == [1, 1]


def test_divergences_may_be_registered_while_one_is_looked_for() -> None:
    normal = torch.distributions.Normal(0.0, 1.0)
    kl.kl_divergence(normal, normal)
    assert stepped_into(lambda: kl.kl_divergence(normal, normal), kl._FOUND.clear).item() == 0.0


# -- source --------------------------------------------------------------------------------------------------


def test_lines_of_a_file_that_other_threads_forget_and_read_again() -> None:
    file = __file__
    known = linecache.getlines(file)
    entry = linecache.cache[file]
    entries: list[Any] = []
    instructions = itertools.count()

    def step_in() -> None:
        if next(instructions) % 7:  # else it would never come to an end
            return
        if file in linecache.cache:
            entries.append(linecache.cache.pop(file))
        else:
            linecache.cache[file] = entry

    for look in (lambda: lines_of_file(file), lambda: forget_if_changed(file)):
        for offset in range(7):
            for _ in range(offset):
                next(instructions)
            assert stepped_into(look, step_in) in (known, None)
    assert entries


# -- compiled code -------------------------------------------------------------------------------------------


def test_the_first_c_function_stays_since_kernels_may_call_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[Any, Any] = {}
    monkeypatch.setattr(njit_calls, "_KEPT", kept)

    def compiled(*args: Any) -> Any:
        kept.setdefault((args[0], args[1], (), args[4]), SimpleNamespace(address=1))
        return SimpleNamespace(address=2)

    monkeypatch.setattr(njit_calls, "compiled", compiled)
    function: Any = object()
    structure: Any = None
    assert njit_calls.address_of(function, structure, (), 1.0) == 1


def test_what_looks_for_signals_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []
    gate = threading.Barrier(2)

    def load() -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            gate.wait(0.2)  # until another thread comes here too, which it should not
        loaded.append(None)
        return SimpleNamespace(addresses=dict.fromkeys(("poll", "poll_of_stage", "is_set", "never"), 1))

    monkeypatch.setattr(signals, "machine_binary", lambda part: SimpleNamespace(load=load))
    monkeypatch.setattr(signals, "supported", lambda: True)
    for name in ("_loaded", "_signal_words", "_no_signal_words"):
        monkeypatch.setattr(signals, name, functools.cache(getattr(signals, name).__wrapped__))
    first, second = at_once(signals.signal_words, signals.signal_words)
    assert first is second
    assert len(loaded) == 1


# -- shards --------------------------------------------------------------------------------------------------


def test_two_threads_have_one_engine_of_an_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = choice.made_for
    gate = threading.Barrier(2)

    def made_for(x: object) -> Any:
        gate.wait(30)
        return plain(x)

    monkeypatch.setattr(choice, "made_for", made_for)
    with ThreadPoolExecutor(1) as pool:
        first, second = at_once(lambda: choice.engine_of(pool), lambda: choice.engine_of(pool))
    assert first is second


def test_shards_may_be_scattered_while_a_step_names_those_that_live() -> None:
    class Thing:
        pass

    thing = Thing()
    alive: WeakValueDictionary[str, Any] = WeakValueDictionary(kept=thing)
    assert "kept" in stepped_into(lambda: names_in(alive), grower(alive, Thing))


# -- packages ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name_of_function", ["roots", "converted"])
@pytest.mark.parametrize("way", [fg.grad, lambda f: fg.jit(fg.grad(f))], ids=["grad", "jit"])
def test_a_package_is_taken_in_while_other_threads_are_in_it(
    way: Any, name_of_function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"theirs_{tmp_path.name}".replace("-", "_")
    folder = tmp_path / "lib" / "site-packages"
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("FUNCGRAD_PACKAGES", "")
    gate = threading.Barrier(2)
    calls: list[None] = []
    theirs = importlib.import_module(name)

    def wait() -> None:
        calls.append(None)
        if len(calls) <= 2:
            gate.wait(30)  # both are in it when one learns that it has to be taken in

    theirs.wait = wait  # type: ignore[attr-defined]

    def f(x: Any) -> Any:
        return getattr(theirs, name_of_function)(x)[0] + x[1]

    try:
        slope = way(f)
        for found in at_once(lambda: slope(X), lambda: slope(X)):
            np.testing.assert_allclose(found, [0.5 / np.sqrt(X[0]), 1.0])
        assert name in fg.config.packages_taken_in()
    finally:
        del sys.modules[name]
        fg.config.packages()


def test_what_another_thread_has_learnt_is_tried_once() -> None:
    at_once(lambda: again.learn("some_package"))
    assert again.is_news("some_package")
    assert not again.is_news("some_package")
    again.learn("other_package")
    assert not again.is_news("other_package")
