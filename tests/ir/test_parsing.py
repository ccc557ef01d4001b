"""Reading text: what is accepted besides what is printed, and what each mistake is told."""

from __future__ import annotations

import gc
import subprocess
import sys
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ProgramError
from funcgrad.ir.numbers import Number
from funcgrad.ir.program import Literal
from funcgrad.ir.text.literals import Values
from funcgrad.ir.text.parsing import parse
from funcgrad.ir.text.spelling import parameter_text
from funcgrad.ops.elementwise.arithmetic import IntegerPow, mul


def test_layout_and_comments_mean_nothing() -> None:
    tight = parse("program f(x:f64[2]):a:f64[2]=mul(x,2.0)return a")
    loose = parse("""
        program f(      # the name does not count
            x: f64[ 2 ],
        ):
          anything : f64 [2]
              = mul ( x,
                      2.0, )  # train.py:7
          return ( anything, )
    """)
    assert tight == loose
    assert str(tight) == str(loose)


def test_names_are_the_readers() -> None:
    program = parse(
        "program f(u: f64[]): captured weights: f64[1] = [1.0] z: f64[] = sin(u) return z, weights"
    )
    assert [v.hint for v in program.inputs] == ["u"]
    assert str(program).splitlines()[1:] == [
        "  captured weights: f64[1] = [1.0]",
        "  a: f64[] = sin(u)",
        "  return a, weights",
    ]


def test_plain_numbers_are_weak_and_take_the_dtype_beside_them() -> None:
    [equation] = parse("program f(x: f32[2]): y: f32[2] = mul(x, 2) return y")
    literal = equation.inputs[1]
    assert isinstance(literal, Literal)
    assert str(literal.aval) == "f32*[]"
    assert type(literal.value) is np.float32


def test_written_program_runs() -> None:
    program = parse("""
        program model(w: f64[3], x: f64[2,3]):
          captured c: i64[2] = [1, -1]
          y: f64[3] = mul(w, 2.0)
          z: f64[2,3] = broadcast(y, shape=(2, 3), axes=(1,))
          a: f64[2,3] = add(z, x)
          s: f64[2] = reduce_sum(a, axes=(1,))
          d: f64[2] = cast(c, dtype=f64)
          r: f64[2] = mul(s, d)
          return r
    """)
    [out] = program(np.ones(3), np.ones((2, 3)))
    np.testing.assert_array_equal(out, [9.0, -9.0])


# -- large arrays -----------------------------------------------------------------------------------------

LARGE = np.linspace(0.0, 1.0, 100)


def scaled(x: Any) -> Any:
    return x * LARGE


def digest_in(text: str) -> str:
    return text.partition("sha256:")[2][:16]


def test_large_arrays_are_found_where_they_were_printed() -> None:
    program = fg.make_program(scaled)(LARGE)
    assert parse(str(program)) == program


def test_small_copies_are_found_after_their_program_is_gone() -> None:
    text = str(fg.make_program(lambda x: x * np.arange(20.0))(np.ones(20)))
    gc.collect()
    [out] = parse(text)(np.ones(20))
    np.testing.assert_array_equal(out, np.arange(20.0))


def test_large_arrays_can_be_given() -> None:
    text = str(fg.make_program(scaled)(LARGE)).replace(
        digest_in(str(fg.make_program(scaled)(LARGE))), "0" * 16
    )
    with pytest.raises(ProgramError, match="this process does not hold the array") as caught:
        parse(text)
    assert "Pass it: parse(text, captured={'0000000000000000': array})." in str(caught.value)
    with pytest.raises(ProgramError, match="has the digest"):
        parse(text, captured={"0" * 16: LARGE})
    program = fg.make_program(scaled)(LARGE)
    given = parse(str(program), captured={digest_in(str(program)): LARGE.copy()})
    assert given == program


def test_an_array_that_changed_is_not_found() -> None:
    array = np.arange(50.0)
    program = fg.make_program(lambda x: x * np.asarray(array))(array)
    text = str(program)
    held = program.captured[0][1]
    held.flags.writeable = True
    held[0] = 7.0
    with pytest.raises(ProgramError, match="this process does not hold the array"):
        parse(text)


# -- parameters -------------------------------------------------------------------------------------------


def test_every_kind_of_parameter() -> None:
    square = parse("program square(x: f64[]): y: f64[] = mul(x, x) return y")
    values: list[Any] = [
        None, True, False, 3, -3, 2.5, -0.0, float("inf"), 1 - 2j, "text 'quoted' # no comment", b"bytes",
        (), (1,), (1, (2, "a")), np.dtype(np.float32), np.dtype(np.bool_), np.float32(0.1), np.True_,
        fg.ShapeDtypeStruct((2, 3), np.float32), fg.ShapeDtypeStruct((), np.int64, True),
        np.add, np.linalg.norm, dict, mul, IntegerPow(3), Number(("1.0",)), square, (square, 1),
    ]  # fmt: skip
    for value in values:
        text = parameter_text(value, {square: "square"})
        read = Values(text, {}).value({"square": square})
        assert read == value
        assert type(read) is type(value)
    assert str(Values("-0.0", {}).value({})) == "-0.0"
    assert np.isnan(Values(parameter_text(float("nan"), {}), {}).value({}))
    assert Values("slice(1, None, 2)", {}).value({}) == slice(1, None, 2)


def test_objects_without_text_are_known_to_the_process() -> None:
    def local() -> None:
        """Cannot be imported."""

    text = parameter_text(local, {})
    assert text.startswith("<function local #")
    assert Values(text, {}).value({}) is local
    assert parameter_text(local, {}) == text
    with pytest.raises(ProgramError, match="Pickle the Program instead"):
        Values("<function local #987654321>", {}).value({})


def test_text_calls_nothing_but_values() -> None:
    with pytest.raises(ProgramError, match=r"os\.system is nothing that the text of a Program may call"):
        Values("os.system('true')", {}).value({})
    with pytest.raises(ProgramError, match="is nothing that the text of a Program may call"):
        Values("subprocess.Popen('true')", {}).value({})


# -- mistakes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "seen"),
    [
        ("", 1, "expected 'program', and found the end of the text"),
        ("x", 1, "expected 'program', and found x"),
        ("program (", 9, "expected a name for the program, and found ("),
        ("program f(x)", 12, "expected ':' and the type of x, and found )"),
        ("program f(x: g64[])", 14, "g64 is no dtype: f64, f32, c128, i64, u8 and bool are"),
        ("program f(x: f65[])", 14, "f65 is no dtype: f64, f32, c128, i64, u8 and bool are"),
        ("program f(x: f64)", 17, "expected '[' and a shape, and found )"),
        ("program f(x: f64[-1])", 18, "expected the size of an axis, and found -1"),
        ("program f(x: f64[], x: f64[])", 21, "x is defined a second time"),
        ("program f(x: f64[] y: f64[])", 20, "expected ',' or ')', and found y"),
        ("program f(): return () return", 24, "expected the end of the text, and found return"),
        ("program f(): return ();", 23, "';' has no meaning in a Program"),
    ],
)
def test_mistakes_in_the_first_line(text: str, column: int, seen: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(text)
    assert str(caught.value).splitlines()[0] == f"line 1, column {column}: {seen}"


@pytest.mark.parametrize(
    ("text", "column", "seen"),
    [
        ("return y", 8, "y is used before it is defined"),
        ("return 2.0", 8, "this number needs a dtype, such as 2.0:f64"),
        ("a: f64[3] = mull(x, x)", 13, "no primitive is called mull"),
        ("a: f64[3] = mul(x, y)", 20, "y is used before it is defined"),
        ("a: f64[3] = mul(x, a)", 20, "a is used before it is defined"),
        ("a: f64[3] = mul(1.0, 2.0)", 17, "this number needs a dtype, such as 2.0:f64"),
        ("a: i64[] = mul(n, 1.5)", 19, "1.5 is no int64"),
        ("a: i64[] = mul(n, 300:u8)", 19, "300 is no uint8"),
        ("a: f64[3] = mul(x, complex(1.0, 2.0))", 20, "complex(1.0, 2.0) is no float64"),
        ("a: f64[3] = mul(x, complex(1.0))", 20, "a complex number has a real and an imaginary part"),
        ("a: f64[3] = mul(x, x) a: f64[3] = mul(x, x)", 23, "a is defined a second time"),
        ("a: f64[3], b: f64[3] = mul(x, x)", 24, "mul has one result, not 2"),
        ("a: f64[] = reduce_sum(x)", 12, "reduce_sum needs the parameter axes"),
        ("a: f64[] = mul(x, x, axes=(0,))", 12, "mul has no parameter axes"),
        ("a: f64[] = reduce_sum(x, axes=0, axes=1)", 34, "the parameter axes is given a second time"),
        ("a: f64[] = reduce_sum(axes=(0,), x)", 34, "an operand stands after a parameter"),
        ("a: f64[] = checkpoint(x, program=g)", 34, "g is no value and no program defined above"),
        ("a: f64[] = checkpoint(x, program=g())", 34, "no primitive is called g"),
        ("program g(): return () program g(): return ()", 24, "a second program is called g"),
        ("a: f64[3] = cast(x, dtype=no.such)", 27, "no.such cannot be imported: no module holds no.such"),
        ("captured c: f64[2] = [1.0]", 22, "these elements have shape (1,), and the type says f64[2]"),
        ("captured c: f64[2,2] = [[1.0], [1.0, 2.0]]", 24, "the rows of this array differ in length"),
        ("captured c: bool[1] = [1.0]", 24, "1.0 is no bool"),
        ("captured c: f64[3] = <Tracer>", 22, "<Tracer> stands for a value that has no text"),
    ],
)
def test_mistakes_in_the_second_line(text: str, column: int, seen: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(f"program f(x: f64[3], n: i64[]):\n{text}\nreturn x")
    assert str(caught.value).splitlines()[0] == f"line 2, column {column}: {seen}"


def test_a_mistake_is_shown_with_its_line() -> None:
    with pytest.raises(ProgramError) as caught:
        parse("program f(x: f64[3]):\n  a: f64[3] = sinn(x)\n  return a")
    assert str(caught.value) == dedent("""\
        line 2, column 15: no primitive is called sinn
            a: f64[3] = sinn(x)
                        ^
          Did you mean 'sin', 'sinh' or 'sinc'?""")


ALL_KNOWN = """
import pkgutil, importlib
import funcgrad.extend
from funcgrad import ops, transforms
from funcgrad.ir.catalog import CATALOG
known = set(CATALOG)
for package in (ops, transforms):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
assert known == set(CATALOG), set(CATALOG) - known
"""


def test_importing_extend_makes_every_primitive_known() -> None:
    subprocess.run([sys.executable, "-c", ALL_KNOWN], check=True)
