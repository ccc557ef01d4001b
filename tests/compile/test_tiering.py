"""Un-jitted functions that are called often become native code; what does not gain by it stays with NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api.calling.calls import CACHE
from funcgrad.compile.runtime import binaries, tiering
from funcgrad.compile.runtime.executable import Executable
from funcgrad.ir.evaluate import runner as evaluate
from funcgrad.ir.evaluate.handing_up import PROMOTION
from funcgrad.ir.evaluate.runner import TRIALS, Runner
from funcgrad.ir.program import Program
from funcgrad.ops.signal.fft import SMALL

X = np.linspace(0.1, 1.0, 50)


@pytest.fixture(autouse=True)
def compiling_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask at the first call, and compile as soon as asked."""
    monkeypatch.setattr(PROMOTION, "first", 0.0)
    monkeypatch.setattr(tiering, "START", 0.0)
    monkeypatch.setattr(tiering, "EACH_KERNEL", 0.0)
    monkeypatch.setattr(tiering, "EACH_EQUATION", 0.0)
    monkeypatch.setattr(tiering, "REST", 0.0)
    for part in tiering.PARTS:
        import_module(part)


def runner_of(program: Program) -> Runner:
    runner = program._runner
    assert isinstance(runner, Runner)
    return runner


def is_native(program: Program) -> bool:
    return isinstance(getattr(runner_of(program)._fast, "__self__", None), Executable)


def chain(x: Any) -> Any:
    for _ in range(6):
        x = np.sin(x) * np.exp(-x) + x
    return np.sum(x)


def test_what_this_process_has_loaded_takes_no_time_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")
    (kernel,) = fg.jit(fg.grad(chain)).specialized(X).executable.kernels
    assert binaries.seconds_to_build([f"{kernel.code}# another"]) > 0.0
    loaded = binaries.loaded_kernel(kernel.code, kernel.functions)
    assert binaries.seconds_to_build([kernel.code]) == 0.0
    assert loaded.addresses


def test_a_program_that_is_evaluated_often_is_compiled() -> None:
    program = fg.make_program(fg.grad(chain))(X)
    (wanted,) = program.evaluate(X)
    for _ in range(TRIALS + 1):
        (found,) = program.evaluate(X)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    assert is_native(program)
    (found,) = program.evaluate(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    assert found.flags.owndata


def test_nothing_is_compiled_before_its_price_was_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "EACH_KERNEL", 1000.0)
    monkeypatch.setattr(tiering, "on_disk", lambda program: False)
    program = fg.make_program(chain)(X)
    for _ in range(5):
        program.evaluate(X)
    assert runner_of(program)._fast is None
    assert runner_of(program)._spent < runner_of(program)._asks_at < 1000.0, (
        "it asks again, less and less often"
    )


def test_of_many_programs_one_is_compiled_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "REST", 1e6)
    monkeypatch.setattr(tiering.Rest, "until", 0.0)
    first, second = [fg.make_program(fg.grad(f))(X) for f in (chain, lambda x: chain(x) * 2.0)]
    for program in (first, second, second):
        program.evaluate(X)
    assert runner_of(first)._fast is not None
    assert runner_of(second)._fast is None
    assert runner_of(second)._asks_at > 1.0, "it is not asked at every evaluation while the others rest"
    monkeypatch.setattr(tiering.Rest, "until", 0.0)
    runner_of(second)._asks_at = 0.0
    second.evaluate(X)
    assert runner_of(second)._fast is not None


def test_what_compiles_is_loaded_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ("colorsys", "this_is_never_asked_for")
    for part in parts:
        monkeypatch.delitem(sys.modules, part, raising=False)
    monkeypatch.setattr(tiering, "PARTS", parts)
    assert tiering.load_part()
    assert "colorsys" in sys.modules
    assert "this_is_never_asked_for" not in sys.modules


def test_what_a_run_imports_is_no_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    def importing(x: Any) -> Any:
        return import_module("colorsys").rgb_to_hsv(x, x, x)[2]

    def loss(x: float) -> Any:
        return fg.pure_callback(importing, x, x) * 2.0

    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    monkeypatch.setattr(tiering, "EACH_KERNEL", 1000.0)
    monkeypatch.setattr(tiering, "on_disk", lambda program: False)
    program = fg.make_program(loss)(1.0)
    sys.modules.pop("colorsys", None)  # recording has called it
    assert program.evaluate(1.0) == (2.0,)
    assert runner_of(program)._spent == 0.0
    program.evaluate(1.0)
    program.evaluate(1.0)
    assert runner_of(program)._spent > 0.0


ANEW = """
import numpy as np
import funcgrad as fg
from funcgrad.compile.runtime import tiering
from funcgrad.ir.evaluate.handing_up import PROMOTION

made = []


def asked(program, spent):
    run, again = tiering.compiler(program, spent)
    made.append(run is not None)
    return run, again


PROMOTION.first = tiering.START = 0.0
tiering.EACH_KERNEL = 1000.0
program = fg.make_program(lambda x: np.sum(np.sin(x) * np.exp(-x)))(np.linspace(0.1, 1.0, 57))
PROMOTION.compiler = asked
while not made:
    program.evaluate(np.linspace(0.1, 1.0, 57))
print(any(made))
tiering.EACH_KERNEL = 0.0
while not any(made):
    program.evaluate(np.linspace(0.1, 1.0, 57))
"""


def test_what_an_earlier_process_has_compiled_is_taken_at_the_first_question(tmp_path: Path) -> None:
    environment = os.environ | {"FUNCGRAD_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", ANEW], env=environment, check=True, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [process.stdout.split() for process in said] == [["False"], ["True"]]


def test_many_short_programs_wait_as_long_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "START", 0.1)
    monkeypatch.setattr(tiering.Waiting, "seconds", 0.0)
    monkeypatch.delitem(sys.modules, "funcgrad.compile.runtime.executable")
    assert [tiering.pays_to_load(0.05) for _ in range(5)] == [False, False, False, True, True]


def test_the_price_grows_with_the_program() -> None:
    long, short = fg.make_program(fg.grad(chain))(X), fg.make_program(np.sin)(X)
    assert tiering.price(short) <= tiering.price(long)


def test_a_slower_form_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    program = fg.make_program(chain)(X)
    calls: list[int] = []
    # By a clock that stands still while NumPy evaluates.
    monkeypatch.setattr(evaluate, "perf_counter", lambda: float(len(calls)))

    def slow(*args: Any) -> tuple[Any, ...]:
        calls.append(1)
        return (0.0,)

    def offered(program: Program, spent: float) -> tuple[Any, float]:
        return slow, float("inf")

    before = PROMOTION.compiler
    PROMOTION.compiler = offered
    try:
        wanted = program.evaluate(X)
        for _ in range(TRIALS + 3):
            found = program.evaluate(X)
    finally:
        PROMOTION.compiler = before
    assert len(calls) == TRIALS
    assert runner_of(program)._fast is None
    np.testing.assert_allclose(found, wanted)


def test_what_is_left_to_numpy_is_not_promoted() -> None:
    def f(x: Any) -> Any:
        return np.fft.ifft(np.fft.fft(x, SMALL))

    program = fg.make_program(f)(X)
    for _ in range(TRIALS + 2):
        program.evaluate(X)
    assert not is_native(program)
    assert runner_of(program)._asks_at == float("inf"), "it is not asked again"


def test_the_longest_programs_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "LONGEST", 3)
    program = fg.make_program(chain)(X)
    program.evaluate(X)
    assert runner_of(program)._fast is None
    assert runner_of(program)._asks_at == float("inf")


def test_what_takes_llvm_long_is_left_to_the_evaluator(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any) -> Any:
        raise AssertionError("built")

    monkeypatch.setattr(binaries, "EACH_CHARACTER", 1.0)
    monkeypatch.setattr(binaries, "built", refused)
    program = fg.make_program(lambda x: np.sum(np.sin(x) * np.expm1(x) * 1.2345))(X)
    for _ in range(TRIALS + 1):
        program.evaluate(X)
    assert runner_of(program)._fast is None
    assert runner_of(program)._asks_at == float("inf"), "it is not asked again"


def test_what_has_been_built_before_is_never_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * np.expm1(x) * 1.23456)

    fg.jit(f)(X)
    monkeypatch.setattr(binaries, "EACH_CHARACTER", 1.0)
    program = fg.make_program(f)(X)
    for _ in range(TRIALS + 2):
        program.evaluate(X)
    assert is_native(program)


def test_long_evaluations_are_compiled_before_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROMOTION, "first", 0.01)
    monkeypatch.setattr(evaluate, "EACH_ELEMENT", 1.0)
    program = fg.make_program(chain)(X)
    monkeypatch.setattr(Runner, "evaluated", lambda *args: pytest.fail("evaluated by NumPy"))
    np.testing.assert_allclose(program.evaluate(X), chain(X), rtol=1e-13)
    assert is_native(program)


def test_hot_gradients_agree_with_cold_ones() -> None:
    slope = fg.grad(chain)
    first = slope(X)
    for k in range(2 * TRIALS):
        np.testing.assert_allclose(slope(X + k * 0.01), fg.jacfwd(chain)(X + k * 0.01), rtol=1e-12)
    np.testing.assert_array_equal(slope(X), slope(X))
    np.testing.assert_allclose(slope(X), first, rtol=1e-13)


def test_hot_functions_take_what_cold_ones_take() -> None:
    def scaled(x: Any, s: Any) -> Any:
        return np.sum(np.sin(x) * s * x)

    slope = fg.grad(scaled, (0, 1))
    wide = np.linspace(0.1, 1.0, 100)
    kinds = [
        (X, 2.0),
        (X, np.float64(2.0)),
        (wide[::2], 2.0),
        (X.astype(np.float32), 2.0),
        (np.broadcast_to(X[:1], (50,)), 2.0),
        (X.astype(">f8"), 2.0),
    ]
    cold = [slope(*args) for args in kinds]
    for _ in range(TRIALS + 3):
        for args, wanted in zip(kinds, cold, strict=True):
            found = slope(*args)
            for x, y in zip(found, wanted, strict=True):
                assert (type(x), x.dtype) == (type(y), y.dtype)
                np.testing.assert_allclose(x, y, rtol=2e-6)


def test_errors_of_hot_functions_are_numpys() -> None:
    def picked(x: Any, k: Any) -> Any:
        return np.sum(np.sin(x[k]) * x[k])

    slope = fg.grad(picked)
    good, bad = np.array([1, 2, 3]), np.array([1, 2, 50])
    for _ in range(TRIALS + 3):
        slope(X, good)
    with pytest.raises(IndexError, match="out of bounds"):
        slope(X, bad)
    np.testing.assert_allclose(slope(X, good)[4:], 0.0)


def test_the_gradient_of_a_jitted_function_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROMOTION, "first", 1e9)
    evaluated: list[str] = []
    whole = Runner.evaluated

    def watched(self: Runner, *args: Any) -> tuple[Any, ...]:
        evaluated.append(self._program.name)
        return whole(self, *args)

    monkeypatch.setattr(Runner, "evaluated", watched)

    @fg.jit
    def energy(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    fg.grad(energy)(X)
    fg.vmap(fg.grad(energy))(np.stack([X, X]))
    fg.vjp(energy, X)[1](1.0)
    assert evaluated == []
    np.testing.assert_allclose(fg.grad(energy)(X), np.sin(X) + X * np.cos(X), rtol=1e-13)


def test_promotion_keeps_no_trace_of_what_it_was_given() -> None:
    before = CACHE.misses
    slope = fg.grad(chain)
    for _ in range(TRIALS + 2):
        slope(X)
    assert CACHE.misses <= before + 1


@pytest.mark.parametrize("name", ["grad", "hessian", "jacrev of grad", "vmap of hessian"])
def test_transforms_of_compiled_functions_are_native_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what is mapped over a basis: a part of what is made of a compiled function is one as well."""
    evaluated: list[str] = []
    usual = Runner.evaluated

    def noted(self: Runner, *args: Any) -> Any:
        evaluated.append(self._program.name)
        return usual(self, *args)

    f = fg.jit(lambda x: np.sum(np.sin(x) ** 2 * x))
    transforms: dict[str, Any] = {
        "grad": fg.grad(f),
        "hessian": fg.hessian(f),
        "jacrev of grad": fg.jacrev(fg.grad(f)),
        "vmap of hessian": lambda x: fg.vmap(fg.hessian(f))(x[None]),
    }
    monkeypatch.setattr(Runner, "evaluated", noted)
    transforms[name](np.linspace(0.0, 1.0, 4))
    assert evaluated == []
