"""Kernels that are found by their Program: the same calls without the passes, never for another Program."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lawbook.cases import Case, cases

import funcgrad as fg
from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.pipeline import rewritten
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.runtime import call_facts, executable, known_kernels
from funcgrad.compile.runtime.addresses.address import Address
from funcgrad.compile.runtime.executable import compiled
from funcgrad.compile.runtime.program_keys import key_of_program
from funcgrad.errors import FuncgradError
from funcgrad.extend import call_program

CASES = list(itertools.islice(cases(), 0, None, 5))


def loss(w: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2) + np.linalg.slogdet(w[:20, :20] + 9 * np.eye(20))[1]


def far_inputs() -> tuple[Any, ...]:
    return np.sin(np.arange(2500.0)).reshape(50, 50), np.cos(np.arange(5000.0)).reshape(100, 50)


PROCESS = """
import sys
import numpy as np
import funcgrad as fg

def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2) + np.linalg.slogdet(w[:20, :20] + 9 * np.eye(20))[1]

w, x = np.sin(np.arange(2500.0)).reshape(50, 50), np.cos(np.arange(5000.0)).reshape(100, 50)
value, gradient = fg.jit(fg.value_and_grad(loss))(w, x)
passes = [name for name in sys.modules if name.startswith("funcgrad.compile.passes")]
print(value.hex(), gradient.tobytes().hex(), len(passes), sep="|")
"""


def run_anew(directory: Path) -> list[str]:
    given = {
        **os.environ,
        "FUNCGRAD_CACHE_DIR": str(directory),
        "PYTHONPATH": str(Path(fg.__file__).parent.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROCESS], env=given, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("|")


def test_a_second_process_makes_no_kernel_and_calls_its_own_addresses(tmp_path: Path) -> None:
    first, second = run_anew(tmp_path / "two"), run_anew(tmp_path / "two")
    assert first[:2] == second[:2], "the same to the bit"
    assert int(first[2]) > 10
    assert second[2] == "0"


def test_addresses_are_kept_by_name() -> None:
    program = fg.make_program(fg.grad(loss))(*far_inputs())
    facts = call_facts.facts_of(make_kernel(rewritten(program)))
    key = key_of_program(program)
    assert key is not None
    assert any(isinstance(n, Address) for n in facts.sizes)
    kept = known_kernels.packed(facts, key.arrays)
    assert kept is not None
    origins = [n for n in kept[5] if isinstance(n, tuple)]
    assert ("blas", "dgemm") in origins
    assert not any(n >= known_kernels.FIRST_ADDRESS for n in kept[5] if isinstance(n, int))


def test_a_number_that_may_be_an_address_is_kept_by_nobody() -> None:
    program = fg.make_program(np.sin)(np.ones(10))
    facts = call_facts.facts_of(make_kernel(rewritten(program)))
    huge = call_facts.CallFacts(
        *(facts.name, facts.code, facts.functions, facts.blocks, facts.scratch_bytes),
        (known_kernels.FIRST_ADDRESS + 8,),
        *(facts.flops, facts.last_stop),
    )
    assert known_kernels.packed(huge, ()) is None


def found_twice(f: Callable[..., Any], *args: Any) -> tuple[executable.Executable, executable.Executable]:
    """A function compiled, recorded anew and compiled again."""
    first = compiled(fg.make_program(f)(*args))
    second = compiled(fg.make_program(f)(*args))
    return first, second


def test_what_was_found_has_the_kernel_when_somebody_asks() -> None:
    first, second = found_twice(lambda x: np.sin(x) * 2.0, np.ones(10))
    assert second.made is None
    assert second.kernel_count == 1
    assert [k.source for k in second.kernels] == [k.source for k in first.kernels]


def test_an_array_that_is_changed_later_is_read_at_every_call() -> None:
    mutable = np.arange(5.0)

    def scaled(x: Any) -> Any:
        return np.sum(x * mutable)

    first, second = found_twice(scaled, np.ones(5))
    wanted = first.run(np.ones(5))
    assert second.run(np.ones(5)) == wanted
    mutable[:] = 7.0
    assert second.run(np.ones(5)) == first.run(np.ones(5))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x * 2.0, lambda x: x * 3.0),
        (lambda x: x * 0.0, lambda x: x * -0.0),
        (lambda x: np.sum(x, axis=0), lambda x: np.sum(x, axis=1)),
        (lambda x: x[1:], lambda x: x[:-1]),
        (lambda x: x + np.arange(9.0).reshape(3, 3), lambda x: x + np.arange(1.0, 10.0).reshape(3, 3)),
        (lambda x: x - x.T, lambda x: x.T - x),
        (lambda x: (x, x + 1.0), lambda x: (x + 1.0, x)),
        (lambda x: x.astype(np.float32), lambda x: x.astype(np.complex128)),
        (
            lambda x: fg.lax.scan(lambda c, v: (c * v, None), x, np.ones(4))[0],
            lambda x: fg.lax.scan(lambda c, v: (c + v, None), x, np.ones(4))[0],
        ),
    ],
)
def test_programs_that_differ_have_keys_that_differ(one: Any, other: Any) -> None:
    x = np.ones((3, 3))
    keys = [key_of_program(fg.make_program(f)(x)) for f in (one, other)]
    assert None not in keys
    assert keys[0].text != keys[1].text  # type: ignore[union-attr]


def test_whether_an_array_can_be_changed_is_in_the_key() -> None:
    numbers = np.arange(9.0)
    program = fg.make_program(lambda x: x * numbers)(np.ones(9))
    ((_, captured),) = program.captured
    keys = set()
    for writeable in (True, False):
        captured.flags.writeable = writeable
        key = key_of_program(program)
        assert key is not None
        keys.add(key.text)
    assert len(keys) == 2


def test_a_function_of_pythons_has_no_key() -> None:
    (case,) = [case for case in cases() if case.cls.name == "host_call"][:1]
    assert key_of_program(case.program(case.values(case.rng()))) is None


def test_another_file_of_the_package_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of_program(fg.make_program(np.sin)(np.ones(3)))
    assert key is not None
    before = known_kernels.disk_key(key)
    monkeypatch.setattr(known_kernels, "_FILES", [b"others"])
    assert known_kernels.disk_key(key) != before


def test_errors_are_numpys_where_the_kernel_was_found() -> None:
    def picked(x: Any, k: Any) -> Any:
        return np.sin(x[k])

    args = np.ones(3), np.array([0, 2])
    _, second = found_twice(picked, *args)
    assert second.made is None
    assert second.run(*args)[0].tolist() == np.sin(np.ones(2)).tolist()
    with pytest.raises((IndexError, FuncgradError)):
        second.run(np.ones(3), np.array([0, 5]))


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_what_is_read_is_what_was_kept(case: Case) -> None:
    values = case.values(case.rng())
    with np.errstate(all="ignore"):
        whole = case.program(values)
        again = fg.make_program(lambda *xs: tuple(call_program(whole, *xs)))(*values)
        key = key_of_program(again)
        if key is None:
            return
        try:
            facts = call_facts.facts_of(make_kernel(rewritten(again)))
        except NotLowered:
            return
    kept = known_kernels.packed(facts, key.arrays)
    if kept is None:
        return
    found = known_kernels.unpacked(kept, key.arrays)
    assert found is not None
    assert (found.code, found.sizes, found.scratch_bytes) == (facts.code, facts.sizes, facts.scratch_bytes)
    assert (found.stops, found.may_fail, found.flops) == (facts.stops, facts.may_fail, facts.flops)
    assert found.functions == facts.functions
    for mine, its in zip(found.blocks, facts.blocks, strict=True):
        assert mine[:4] == its[:4]
        assert mine[5:] == its[5:]
        if its.array is None:
            assert mine.array is None
        else:
            assert mine.array.tobytes() == its.array.tobytes()
