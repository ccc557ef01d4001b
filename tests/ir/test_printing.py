"""What a printed Program looks like, to the letter."""

from __future__ import annotations

import inspect
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ir.text.parsing import parse
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.ops.elementwise.elementary import sin

VECTOR = Aval((2,), np.float64)


def program_of(*inputs: Var, name: str = "f") -> Program:
    """The sum of all inputs, one after the other."""
    total, equations = inputs[0], []
    for v in inputs[1:]:
        out = Var(VECTOR)
        equations.append(Equation(add, (total, v), (out,)))
        total = out
    return Program(inputs, (), tuple(equations), (total,), name)


def sine_loss(w: Any, x: Any) -> Any:
    z = w * x
    return np.sum(np.sin(z) * 2.0)


def test_types_and_lines_of_the_user() -> None:
    line = inspect.getsourcelines(sine_loss)[1]
    program = fg.make_program(sine_loss)(np.ones(2), np.ones(2))
    assert str(program) == dedent(f"""\
        program sine_loss(w: f64[2], x: f64[2]):
          a: f64[2] = mul(w, x)                # test_printing.py:{line + 1}
          b: f64[2] = sin(a)                   # test_printing.py:{line + 2}
          c: f64[2] = mul(b, 2.0)              # test_printing.py:{line + 2}
          d: f64[] = reduce_sum(c, axes=(0,))  # test_printing.py:{line + 2}
          return d""")
    assert "#" not in program.text(sources=False)
    assert repr(program) == str(program)


def test_backward_lines_point_at_the_forward_lines() -> None:
    line = inspect.getsourcelines(sine_loss)[1]
    program = fg.make_program(fg.grad(sine_loss))(np.ones(2), np.ones(2))
    lines = str(program).splitlines()
    assert lines[0] == "program sine_loss(w: f64[2], x: f64[2]):"
    assert {row.partition("  # ")[2] for row in lines[1:-1]} == {
        f"test_printing.py:{line + 1}",
        f"test_printing.py:{line + 2}",
    }


def test_names_are_the_users_for_inputs_and_invented_for_the_rest() -> None:
    inputs = [Var(VECTOR, hint) for hint in ("x", "x", "lambda", "np", "σ", "a", "two words", "")]
    text = str(program_of(*inputs))
    assert text.splitlines()[0] == (
        "program f(x: f64[2], x_2: f64[2], b: f64[2], c: f64[2], σ: f64[2], a: f64[2], d: f64[2], e: f64[2]):"
    )
    assert text.splitlines()[1] == "  f: f64[2] = add(x, x_2)"


def test_invented_names_skip_what_cannot_be_read() -> None:
    program = program_of(*[Var(VECTOR) for _ in range(400)])
    names = [v.hint for v in parse(str(program)).inputs]
    assert names[:13] == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "m", "n"]
    assert names[24:28] == ["z", "aa", "ab", "ac"]
    assert not {"as", "if", "in", "is", "or", "np", "l"} & set(names)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("loss", "loss"),
        ("<lambda>", "lambda_"),
        ("f64", "f64_"),
        ("program", "program_"),
        ("a b", "a_b_"),
        ("?", "function"),
    ],
)
def test_names_of_programs(name: str, printed: str) -> None:
    text = str(program_of(Var(VECTOR, "x"), name=name))
    assert text == f"program {printed}(x: f64[2]):\n  return x"
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("value", "aval", "printed"),
    [
        (2.0, Aval((), np.float64, True), "2.0"),
        (2.0, Aval((), np.float64), "2.0:f64"),
        (2.0, Aval((), np.float32, True), "2.0:f32*"),
        (0.1, Aval((), np.float32), "0.1:f32"),
        (1e-45, Aval((), np.float32), "1e-45:f32"),
        (1e30, Aval((), np.float32), "1e+30:f32"),
        (0.1, Aval((), np.float16), "0.1:f16"),
        (-0.0, Aval((), np.float64, True), "-0.0"),
        (1e300, Aval((), np.float64, True), "1e+300"),
        (np.inf, Aval((), np.float64, True), "inf"),
        (-np.inf, Aval((), np.float32), "-inf:f32"),
        (np.nan, Aval((), np.float64, True), "nan"),
        (3, Aval((), np.int64, True), "3:i64*"),
        (-3, Aval((), np.int8), "-3:i8"),
        (2**64 - 1, Aval((), np.uint64), "18446744073709551615:u64"),
        (True, Aval((), np.bool_), "True:bool"),
        (1 - 2j, Aval((), np.complex128, True), "complex(1.0, -2.0):c128*"),
        (complex(-0.0, np.nan), Aval((), np.complex64), "complex(-0.0, nan):c64"),
    ],
)
def test_literals(value: Any, aval: Aval, printed: str) -> None:
    x, out = Var(VECTOR, "x"), Var(VECTOR)
    literal = Literal(aval.dtype.type(value), aval)
    program = Program((x,), (), (Equation(mul, (x, literal), (out,)),), (out,), "f")
    assert str(program).splitlines()[1] == f"  a: f64[2] = mul(x, {printed})"
    assert parse(str(program)) == program


def test_a_branch_and_not_the_condition_gives_a_number_its_dtype() -> None:
    program = fg.make_program(lambda x: np.where(x > 0.0, 1.0, x))(np.ones(2, np.float32))
    assert "where(a, 1.0, x)" in str(program)


def test_captured_arrays() -> None:
    small = np.array([[1.0, np.nan], [-0.0, np.inf]], np.float32)
    large = np.arange(17)
    x = Var(VECTOR, "x")
    arrays = (small, large, np.zeros((0, 3)), np.array(2.5), np.array([1 + 1j]), np.array([True, False]))
    captured = tuple([(Var(Aval(a.shape, a.dtype)), a) for a in arrays])
    program = Program((x,), captured, (), (captured[0][0],), "f")
    assert str(program) == dedent("""\
        program f(x: f64[2]):
          captured a: f32[2,2] = [[1.0, nan], [-0.0, inf]]
          captured b: i64[17] = <array sha256:DIGEST>
          captured c: f64[0,3] = []
          captured d: f64[] = 2.5
          captured e: c128[1] = [complex(1.0, 1.0)]
          captured f: bool[2] = [True, False]
          return a""").replace("DIGEST", str(program).split("sha256:")[1][:16])
    assert parse(str(program)) == program


def test_programs_in_parameters_stand_above_their_equation() -> None:
    @fg.checkpoint
    def inner(x: Any) -> Any:
        return np.sin(x)

    program = fg.make_program(lambda x: inner(x) + inner(2.0 * x))(np.ones(2))
    assert program.text(sources=False) == dedent("""\
        program function(x: f64[2]):
          program inner(a: f64[2]):
            b: f64[2] = sin(a)
            return b
          a: f64[2] = checkpoint(x, program=inner, n_kept=0)
          b: f64[2] = mul(2.0, x)
          c: f64[2] = checkpoint(b, program=inner, n_kept=0)
          d: f64[2] = add(a, c)
          return d""")


def test_long_lines_are_broken() -> None:
    program = fg.make_program(lambda *xs: np.concatenate(xs))(*[np.ones(2)] * 12)
    assert program.text(sources=False) == dedent("""\
        program function(
            x0: f64[2], x1: f64[2], x2: f64[2], x3: f64[2], x4: f64[2], x5: f64[2], x6: f64[2], x7: f64[2],
            x8: f64[2], x9: f64[2], x10: f64[2], x11: f64[2]
        ):
          a: f64[24] = concatenate(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, axis=0)
          return a""")
    many = Program(program.inputs, (), (), program.inputs * 3, "many")
    assert str(many).splitlines()[-4:] == [
        "  return (",
        f"      {', '.join([*(f'x{k}' for k in range(12)), *(f'x{k}' for k in range(11))])},",
        f"      {', '.join(['x11', *(f'x{k}' for k in range(12))])}",
        "  )",
    ]
    assert parse(str(many)) == many


def test_comments_stand_in_one_column() -> None:
    program = fg.make_program(sine_loss)(np.ones(2), np.ones(2))
    columns = {line.index("#") for line in str(program).splitlines() if "#" in line}
    assert len(columns) == 1


def test_printing_names_undefined_variables_too() -> None:
    x, missing, out = Var(VECTOR, "x"), Var(VECTOR), Var(VECTOR)
    program = Program(
        (x,), (), (Equation(add, (x, missing), (out,)), Equation(sin, (out,), (x,))), (missing,)
    )
    assert str(program).splitlines()[1:] == [
        "  b: f64[2] = add(x, a)",
        "  x: f64[2] = sin(b)",
        "  return a",
    ]
