"""Each kind of ill-formed Program is refused, by name and with its equation."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from lawbook.cases import Case, cases

import funcgrad as fg
from funcgrad.errors import ProgramError
from funcgrad.ir.avals import Aval
from funcgrad.ir.check import check_linear, check_program
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ir.text.parsing import parse
from funcgrad.ops.arrays.structure import ReduceSum
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.transforms.linearize import linearize_program
from funcgrad.transforms.transpose import transpose_program

SCALAR = Aval((), np.float64)
VECTOR = Aval((3,), np.float64)
X, Y, Z = Var(VECTOR, "x"), Var(VECTOR, "y"), Var(VECTOR, "z")


def program(*equations: Equation, inputs: Any = (X,), captured: Any = (), outputs: Any = ()) -> Program:
    return Program(inputs, captured, equations, outputs, "f")


def product(x: Any, y: Any, out: Any) -> Equation:
    return Equation(mul, (x, y), (out,))


ILL_FORMED = {
    "program f: input 2 is an input twice": program(inputs=(X, X)),
    "program f: captured array 1 stands for a variable that is defined already": program(
        captured=((X, np.ones(3)),)
    ),
    "program f: captured array 1 is f64[2], not f64[3]": program(captured=((Y, np.ones(2)),)),
    "program f: captured array 1 is f32[3], not f64[3]": program(captured=((Y, np.ones(3, np.float32)),)),
    "program f: output 1 is not defined": program(outputs=(Y,)),
    "program f: output 1 is a literal of type f64[] with the value np.float32(1.0)": program(
        outputs=(Literal(np.float32(1), SCALAR),)
    ),
    "program f, equation 1: operand 2 is used before it is defined\n    b: f64[3] = mul(x, a)": program(
        product(X, Y, Z)
    ),
    "program f, equation 1: operand 1 is used before it is defined\n    a: f64[3] = mul(a, x)": program(
        product(Y, X, Y)
    ),
    "program f, equation 2: result 1 is defined a second time\n    a: f64[3] = mul(x, x)": program(
        product(X, X, Y), product(X, X, Y)
    ),
    "program f, equation 1: result 1 is defined a second time\n    x: f64[3] = mul(x, x)": program(
        product(X, X, X)
    ),
    "program f, equation 1: operand 2 is a literal of type f64[3], and literals are scalars": program(
        product(X, Literal(1.0, VECTOR), Y)
    ),
    "program f, equation 1: operand 2 is a literal of type f64[] with the value np.float32(2.0)": program(
        product(X, Literal(np.float32(2), SCALAR), Y)
    ),
    "program f, equation 1: mul of f64[3], f64[3] is f64[3], not f64[]\n    a: f64[] = mul(x, x)": program(
        product(X, X, Var(SCALAR))
    ),
    "program f, equation 1: mul of f64[3], f64[3] is f64[3], not f32[3]\n    a: f32[3] = mul(x, x)": program(
        product(X, X, Var(Aval((3,), np.float32)))
    ),
    "program f, equation 1: axes (1,) are not distinct axes of f64[3]\n    "
    "a: f64[] = reduce_sum(x, axes=(1,))": program(Equation(ReduceSum((1,)), (X,), (Var(SCALAR),))),
    "program f, equation 1: reduce_sum does not take 2 operands\n    "
    "a: f64[] = reduce_sum(x, x, axes=(0,))": program(Equation(ReduceSum((0,)), (X, X), (Var(SCALAR),))),
    "program f, equation 1: mul has 1 results, not 2\n    a: f64[3], b: f64[3] = mul(x, x)": program(
        Equation(mul, (X, X), (Y, Z))
    ),
}


@pytest.mark.parametrize("seen", ILL_FORMED)
def test_ill_formed(seen: str) -> None:
    with pytest.raises(ProgramError) as caught:
        check_program(ILL_FORMED[seen])
    assert str(caught.value).startswith(seen)


def test_operands_of_different_shapes() -> None:
    text = "program f(x: f64[3], y: f64[2]): z: f64[3] = mul(x, y) return z"
    with pytest.raises(ProgramError, match=r"equation 1: mul of f64\[3\] and f64\[2\]: shapes differ"):
        check_program(parse(text))


def test_held_programs_are_checked() -> None:
    text = """
        program outer(x: f64[3]):
          program inner(y: f64[3]):
            z: f64[2] = sin(y)
            return z
          a: f64[2] = checkpoint(x, program=inner, n_kept=0)
          return a
    """
    with pytest.raises(ProgramError, match="program inner, equation 1: sin of"):
        check_program(parse(text))


def test_held_programs_get_inputs_of_their_types() -> None:
    text = """
        program outer(x: f64[2]):
          program inner(y: f64[3]): return y
          a: f64[3] = checkpoint(x, program=inner, n_kept=0)
          return a
    """
    with pytest.raises(ProgramError, match=r"checkpoint of f64\[2\]: inner takes f64\[3\]"):
        check_program(parse(text))


def test_the_users_line_is_shown() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * 2.0

    good = fg.make_program(f)(1.0)
    first, second = good.equations
    bad = Program(good.inputs, (), (second, first), good.outputs, "f")
    with pytest.raises(ProgramError) as caught:
        check_program(bad)
    shown = str(caught.value).splitlines()
    assert shown[0] == "program f, equation 1: operand 1 is used before it is defined"
    assert shown[2].startswith("  test_check.py:")
    assert shown[3] == "    return np.sin(x) * 2.0"


def test_weakness_does_not_count() -> None:
    check_program(parse("program f(x: f64*[]): y: f64[] = mul(x, x) return y"))


# -- linearity --------------------------------------------------------------------------------------------

LINEAR = [
    "program f(x: f64[3], t: f64[3]): y: f64[3] = mul(x, t) return y",
    "program f(x: f64[3], t: f64[3]): y: f64[3] = div(t, x) z: f64[3] = sub(t, y) return z, y",
    "program f(x: f64[3], t: f64[3]): y: f64[3] = sin(x) z: f64[3] = mul(y, t) return z",
    "program f(x: f64[3], t: f64[3]): y: f64[] = reduce_sum(t, axes=(0,)) return y",
    "program f(x: f64[3], t: f64[3]): y: f64[3] = add(t, 0.0) return y",
    """
    program f(x: f64[3], t: f64[3]):
      zeros: f64[3] = broadcast(0.0:f64, shape=(3,), axes=())
      y: f64[3] = mul(zeros, x)
      z: f64[3] = add(y, t)
      return z, y
    """,
    "program f(x: bool[3], t: f64[3]): y: f64[3] = where(x, t, 0.0) return y",
    "program f(x: f64[3], t: f64[3]): captured c: f64[3] = [0.0, 0.0, 0.0] y: f64[3] = add(c, t) return y, c",
    "program f(x: f64[3], t: f64[3]): return t, 0.0:f64",
    "program f(x: f64[3], t: f64[3]): y: f64[3] = mul(t, 0.0) return y",
]

NOT_LINEAR = {
    "program f, equation 1: mul is not linear in operand 1, 2\n    a: f64[3] = mul(t, t)": (
        "program f(x: f64[3], t: f64[3]): y: f64[3] = mul(t, t) return y"
    ),
    "program f, equation 1: add is not linear in operand 2\n    a: f64[3] = add(x, t)": (
        "program f(x: f64[3], t: f64[3]): y: f64[3] = add(x, t) return y"
    ),
    "program f, equation 1: add is not linear in operand 1": (
        "program f(x: f64[3], t: f64[3]): y: f64[3] = add(t, 1.0) return y"
    ),
    "program f, equation 1: sin is not linear in operand 1": (
        "program f(x: f64[3], t: f64[3]): y: f64[3] = sin(t) return y"
    ),
    "program f, equation 1: div is not linear in operand 2": (
        "program f(x: f64[3], t: f64[3]): y: f64[3] = div(x, t) return y"
    ),
    "program f, equation 1: where is not linear in operand 2": (
        "program f(x: bool[3], t: f64[3]): y: f64[3] = where(x, t, 1.0) return y"
    ),
    "program f, equation 1: the result i64[3] cannot be linear in anything": (
        "program f(x: f64[3], t: f64[3]): y: i64[3] = cast(t, dtype=i64) return y"
    ),
    "program f: output 1 is a constant, and a linear function has none but zero": (
        "program f(x: f64[3], t: f64[3]): return x, t"
    ),
    "program f: output 2 is a constant, and a linear function has none but zero": (
        "program f(x: f64[3], t: f64[3]): return t, 1.0:f64"
    ),
}


@pytest.mark.parametrize("text", LINEAR)
def test_linear(text: str) -> None:
    check_linear(parse(text), 1)


@pytest.mark.parametrize("seen", NOT_LINEAR)
def test_not_linear(seen: str) -> None:
    with pytest.raises(ProgramError) as caught:
        check_linear(parse(NOT_LINEAR[seen]), 1)
    assert str(caught.value).startswith(seen)


def test_checked_linear_where_a_sum_is_with_a_fixed_input_only() -> None:
    x, t, out = Var(VECTOR), Var(VECTOR), Var(VECTOR)
    both = Program((x, t), (), (Equation(add, (x, t), (out,)),), (out,))
    check_linear(both, 0)
    with pytest.raises(ProgramError, match="add is not linear in operand 2"):
        check_linear(both, 1)


DIFFERENTIABLE = [
    case for case in cases() if case.sample.differentiable and case.dtype in (np.float64, np.complex128)
]


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=repr)
def test_linear_parts_and_transposes_of_every_primitive_are_linear(case: Case) -> None:
    values = case.values(case.rng())
    primal = case.program(values)
    active = [v.aval.inexact for v in primal.inputs]
    parts = linearize_program(primal, active, len(primal.outputs))
    transposed = transpose_program(parts.linear, parts.n_residuals)
    for derived in (parts.primal, parts.linear, transposed):
        check_program(derived)
    check_linear(parts.linear, parts.n_residuals)
    check_linear(transposed, parts.n_residuals)


# Inputs of samples that hold for a function around the primitive do not stand alone.
ALONE = [case for case in DIFFERENTIABLE if case.sample.through is None]


@pytest.mark.parametrize("case", ALONE, ids=repr)
def test_what_a_primitive_says_of_its_linearity_is_true(case: Case) -> None:
    rng = case.rng()
    values = case.values(rng)
    other = case.values(rng)
    primitive = case.primitive
    inexact = [np.asarray(x).dtype.kind in "fc" for x in values]
    count = len(values)
    for number in range(1, 1 << count):
        flags = tuple([bool(number >> k & 1) for k in range(count)])
        if any(f and not i for f, i in zip(flags, inexact, strict=True)) or not primitive.linear_in(flags):
            continue
        mixed = [y if f else x for x, y, f in zip(values, other, flags, strict=True)]
        summed = [(x - 3 * y) if f else x for x, y, f in zip(values, other, flags, strict=True)]
        results = [primitive.evaluate(*args) for args in (summed, values, mixed)]
        if not primitive.multiple:
            results = [(x,) for x in results]
        depends = primitive.dependent_results(flags) or (True,) * len(results[0])
        for whole, one, two, is_linear in zip(*results, depends, strict=True):
            if is_linear:
                np.testing.assert_allclose(whole, one - 3 * two, rtol=1e-9, atol=1e-9)


def test_error_text_as_a_whole() -> None:
    bad = program(product(X, X, Var(SCALAR)))
    with pytest.raises(ProgramError) as caught:
        check_program(bad)
    assert str(caught.value) == dedent("""\
        program f, equation 1: mul of f64[3], f64[3] is f64[3], not f64[]
            a: f64[] = mul(x, x)""")
