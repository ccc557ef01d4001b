"""Compiled equals evaluated: every primitive on all its samples, and whole random functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lawbook.cases import Case, cases, classes
from lawbook.numerics import assert_close, snapshot
from lawbook.random_functions import RandomFunction, functions

import funcgrad as fg
from funcgrad.compile.runtime.executable import Executable, compiled
from funcgrad.ir.program import Program
from funcgrad.tracing.primitive import Primitive

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ALL = list(cases())
WIDE = (np.dtype(np.float64), np.dtype(np.complex128))


def by_name(cls: type[Primitive]) -> str:
    return cls.name


def evaluated(program: Program, values: Sequence[Any]) -> Sequence[Any]:
    with np.errstate(all="ignore"):
        return program.evaluate(*values)


def assert_compiled_equals_evaluated(program: Program, values: Sequence[Any], what: str) -> Executable:
    before = snapshot(values)
    made = compiled(program)
    found = made.run(*values)
    wanted = evaluated(program, values)
    assert snapshot(values) == before, f"{what}: an input was modified"
    for x, y in zip(found, wanted, strict=True):
        assert type(x) is type(y), what
        assert x.dtype == y.dtype, what
        assert np.shape(x) == np.shape(y), what
        assert_close(x, y)
    assert_own_memory(found, values, what)
    return made


def assert_own_memory(results: Sequence[Any], values: Sequence[Any], what: str) -> None:
    arrays = [x for x in results if isinstance(x, np.ndarray)]
    others = [x for x in values if isinstance(x, np.ndarray)]
    for k, x in enumerate(arrays):
        assert x.flags.writeable, what
        assert not any(np.may_share_memory(x, y) for y in (*others, *arrays[:k])), f"{what}: shared memory"


def unlike_numpy(case: Case) -> bool:
    """Where the native code is right and NumPy need not be: infinity met by right beside strong zeros."""
    values = case.values(case.rng())
    return case.cls.name == "strong_zero_dot" and not all(np.all(np.isfinite(x)) for x in values)


def assert_law(cls: type[Primitive], wide: bool) -> None:
    """The law of a primitive's cases in double precision (and of those without a precision), or in single."""
    for case in ALL:
        if case.cls is cls and (case.dtype in WIDE) == wide and not unlike_numpy(case):
            values = case.values(case.rng())
            assert_compiled_equals_evaluated(case.program(values), values, repr(case))


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.name)
def test_primitives(cls: type[Primitive]) -> None:
    assert_law(cls, wide=True)


@pytest.mark.at_length
@pytest.mark.parametrize(
    "cls", sorted({case.cls for case in ALL if case.dtype not in WIDE}, key=by_name), ids=by_name
)
def test_primitives_in_single_precision(cls: type[Primitive]) -> None:
    assert_law(cls, wide=False)


@pytest.mark.parametrize(
    "name", ["add", "exp", "reduce_sum", "dot_general", "concatenate", "gather", "where"]
)
def test_inputs_of_any_layout(name: str) -> None:
    """Strided, read-only, big-endian and unaligned inputs are as good as any."""
    for case in [case for case in ALL if case.cls.name == name and case.dtype == np.float64]:
        values = case.values(case.rng())
        program = case.program(values)
        made = compiled(program)
        wanted = evaluated(program, values)
        for layout in (strided, fortran, read_only, unaligned):
            given_values = [layout(x) if isinstance(x, np.ndarray) and x.ndim else x for x in values]
            for x, y in zip(made.run(*given_values), wanted, strict=True):
                assert_close(x, y)


def strided(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def fortran(x: np.ndarray) -> np.ndarray:
    return np.asfortranarray(x)


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def unaligned(x: np.ndarray) -> np.ndarray:
    memory = np.zeros(x.nbytes + 1, np.uint8)
    found = memory[1:].view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


# An example takes up to half a second of compiling: 20 in the suite, 60 in `.ci/run` beside it.
few = settings(max_examples=settings.default.max_examples // 5)

ANY = st.one_of(functions("f"), functions("c"))


def program_of(function: Any, args: Sequence[Any]) -> tuple[Program, list[Any]]:
    return fg.make_program(function)(*args), fg.tree.leaves(tuple(args))


@few
@given(ANY)
def test_random_functions(f: RandomFunction) -> None:
    program, values = program_of(f.function, f.args)
    assert_compiled_equals_evaluated(program, values, "function")


@few
@given(functions("f", most=8))
def test_gradients_of_random_functions(f: RandomFunction) -> None:
    def pulled(*args: Any) -> Any:
        out, pullback = fg.vjp(f.function, *args)
        return pullback(fg.tree.map(lambda x: x * 0.5 + 1.0, out))

    program, values = program_of(pulled, f.args)
    assert_compiled_equals_evaluated(program, values, "gradient")


@few
@given(functions("f", most=8, writes=False))
def test_batched_random_functions(f: RandomFunction) -> None:
    args = [np.stack([x, x * 0.5, x + 1.0]) for x in map(np.asarray, f.args)]
    program, values = program_of(fg.vmap(f.function), args)
    assert_compiled_equals_evaluated(program, values, "vmap")
