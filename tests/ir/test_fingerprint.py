"""When Programs are equal, and when they only look alike."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ir.avals import Aval
from funcgrad.ir.fingerprint import array_digest
from funcgrad.ir.program import METHODS, Equation, Literal, Program, Var
from funcgrad.ir.text.parsing import parse
from funcgrad.ops.elementwise.arithmetic import mul
from funcgrad.transforms.control.scan import Scan

SCALAR = Aval((), np.float64)


def scaled_by(value: Any, aval: Aval) -> Program:
    """A Program with one literal."""
    x, y = Var(SCALAR), Var(SCALAR)
    return Program((x,), (), (Equation(mul, (x, Literal(value, aval)), (y,)),), (y,))


def with_captured(array: Any) -> Program:
    """A Program that returns a captured array."""
    v = Var(Aval(array.shape, array.dtype))
    return Program((), ((v, array),), (), (v,))


HOLDING = "program f(x: f64[]): program {} a: f64[] = checkpoint(x, program={}, n_kept=0) return a"

SAME = [
    ("program f(x: f64[]): return x", "program g(y: f64[]): return y"),
    (
        "program f(x: f64[]): a: f64[] = sin(x) b: f64[] = mul(a, x) return b",
        "program f(y: f64[]): z: f64[] = sin(y) x: f64[] = mul(z, y) return x",
    ),
    (
        HOLDING.format("g(y: f64[]): return y", "g"),
        HOLDING.format("h(z: f64[]): return z", "h"),
    ),
]

DIFFERENT = [
    ("program f(x: f64[]): return x", "program f(x: f32[]): return x"),
    ("program f(x: f64[]): return x", "program f(x: f64*[]): return x"),
    ("program f(x: f64[1]): return x", "program f(x: f64[2]): return x"),
    ("program f(x: f64[], y: f64[]): return x", "program f(x: f64[], y: f64[]): return y"),
    ("program f(x: f64[]): return x", "program f(x: f64[], y: f64[]): return x"),
    ("program f(x: f64[]): return x", "program f(x: f64[]): return x, x"),
    ("program f(x: f64[]): return x", "program f(x: f64[]): a: f64[] = sin(x) return x"),
    (
        "program f(x: f64[]): a: f64[] = sin(x) return a",
        "program f(x: f64[]): a: f64[] = cos(x) return a",
    ),
    (
        "program f(x: f64[2,2]): a: f64[2] = reduce_sum(x, axes=(0,)) return a",
        "program f(x: f64[2,2]): a: f64[2] = reduce_sum(x, axes=(1,)) return a",
    ),
    (
        "program f(x: f64[], y: f64[]): a: f64[] = sub(x, y) return a",
        "program f(x: f64[], y: f64[]): a: f64[] = sub(y, x) return a",
    ),
    (
        HOLDING.format("g(y: f64[]): return y", "g"),
        HOLDING.format("g(y: f64[]): return y, y", "g"),
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_names_do_not_count(one: str, other: str) -> None:
    assert parse(one) == parse(other)
    assert hash(parse(one)) == hash(parse(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_everything_else_counts(one: str, other: str) -> None:
    assert parse(one) != parse(other)
    assert parse(other) != parse(one)


def test_sources_do_not_count() -> None:
    def f(x: Any) -> Any:
        return np.sin(x)

    program = fg.make_program(f)(1.0)
    assert program.equations[0].source is not None
    assert parse(program.text()) == program
    assert parse(program.text()).equations[0].source is None


def test_recordings_of_one_function_are_equal() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * 2.0

    assert fg.make_program(fg.grad(f))(1.0) == fg.make_program(fg.grad(f))(2.0)
    assert len({fg.make_program(f)(1.0), fg.make_program(f)(2.0), fg.make_program(np.cos)(1.0)}) == 2


def test_literals_count_by_dtype_and_bits() -> None:
    weak = Aval((), np.float64, True)
    assert scaled_by(0.0, SCALAR) == scaled_by(np.float64(0.0), SCALAR)
    assert scaled_by(0.0, SCALAR) != scaled_by(-0.0, SCALAR)
    assert scaled_by(0.0, SCALAR) != scaled_by(0.0, weak)
    assert scaled_by(np.nan, weak) == scaled_by(np.nan, weak)
    assert scaled_by(0.1, Aval((), np.float32)) != scaled_by(0.1, SCALAR)


def test_captured_arrays_count_by_dtype_shape_and_bytes() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert with_captured(array) == with_captured(array.copy())
    assert with_captured(array) == with_captured(np.asfortranarray(array))
    assert with_captured(array) == with_captured(array.astype(">f8"))
    assert hash(with_captured(array)) == hash(with_captured(array.copy()))
    assert with_captured(array) != with_captured(array.reshape(3, 2))
    assert with_captured(array) != with_captured(array + 1)
    assert with_captured(array) != with_captured(array.astype(np.float32))
    assert with_captured(np.array([0.0])) != with_captured(np.array([-0.0]))
    assert with_captured(np.array([np.nan])) == with_captured(np.array([np.nan]))
    assert with_captured(np.zeros((0, 2))) == with_captured(np.ones((0, 2)))


def test_digests_follow_equality() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert array_digest(array) == array_digest(np.asfortranarray(array)) == array_digest(array.astype(">f8"))
    assert (
        len({array_digest(x) for x in (array, array.reshape(3, 2), array + 1, array.astype(np.int64))}) == 4
    )


def test_programs_compare_with_nothing_else() -> None:
    program = parse("program f(x: f64[]): return x")
    assert program != "program f(x: f64[]): return x"
    assert (program == 1) is False


def test_parameters_are_not_compared_as_python_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What compares them may be gone by then; those of equal hash lie one behind the other."""

    def step(c: Any, x: Any) -> Any:
        return (c[0] - c[1], c[1]), x

    program = fg.make_program(lambda x: fg.scan(step, (x, x * 2.0), np.arange(3.0))[0])(0.5)
    scan = next(e.primitive for e in program.equations if isinstance(e.primitive, Scan))
    body = scan.body
    a, b, *others = body.inputs
    turned = Program((b, a, *others), body.captured, body.equations, body.outputs, body.name)
    assert hash(turned) == hash(body)
    monkeypatch.setattr(sys, "is_finalizing", lambda: True)
    parameters = [getattr(scan, name) for name in scan.parameters]
    other = type(scan)(*[turned if x is body else x for x in parameters])
    assert other is not scan
    compared: list[Program] = []
    monkeypatch.setattr(METHODS, "same", lambda one, other: bool(compared.append(one)))
    del other
    gc.collect()
    assert not compared
