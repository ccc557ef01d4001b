"""Programs as Python functions: how they read, and that they stand alone."""

from __future__ import annotations

import inspect
import subprocess
import sys
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from lawbook.cases import Case, cases

import funcgrad as fg
from funcgrad.errors import ProgramError
from funcgrad.extend import captured_array, primitive
from funcgrad.ir.text.parsing import parse

LARGE = np.linspace(0.0, 1.0, 100)


def loss(w: Any, x: Any) -> Any:
    z = w * x
    return np.sum(
        np.sin(z) * 2.0,
    )


def functions_of(source: str) -> dict[str, Any]:
    """What the source defines."""
    names: dict[str, Any] = {}
    exec(source, names)
    return names


def test_reads_like_the_users_function() -> None:
    line = inspect.getsourcelines(loss)[1]
    program = fg.make_program(loss)(np.ones(2), np.ones(2))
    assert program.to_numpy_source() == dedent(f'''\
        import numpy as np


        @np.errstate(all="ignore")
        def loss(w, x):
            """(w: f64[2], x: f64[2]) -> f64[]"""
            # test_numpy_source.py:{line + 1}: z = w * x
            a = w * x
            # test_numpy_source.py:{line + 3}: np.sin(z) * 2.0,
            b = np.sin(a)
            c = b * 2.0
            # test_numpy_source.py:{line + 2}: return np.sum( ...
            d = np.sum(c)
            return d
        ''')


def test_backward_program_is_the_gradient() -> None:
    w, x = np.array([0.1, 0.2]), np.array([1.0, -1.0])
    program = fg.make_program(fg.grad(loss))(w, x)
    gradient = functions_of(program.to_numpy_source())["loss"]
    np.testing.assert_allclose(gradient(w, x), 2.0 * np.cos(w * x) * x)


def test_writes_into_parts_read_like_assignments() -> None:
    program = parse("""
        program f(x: f32[3], p: f32[]):
          a: f32[3] = pad(p, shape=(3,), index=(1,))
          b: f32[3] = add_to_slice(a, x, index=((0, 3, 1),))
          c: f32[3] = update_slice(b, 2.0, index=((1, 2, 1),))
          return c
    """)
    body = program.to_numpy_source().partition('"""(')[2].splitlines()[1:]
    assert body == [
        "    a = np.zeros(3, np.float32)",
        "    a[1] = p",
        "    b = a.copy()",
        "    b[:3] += x",
        "    c = b.copy()",
        "    c[1:3] = 2.0",
        "    return c",
    ]


def test_several_results_are_a_tuple_and_one_stands_alone() -> None:
    assert functions_of(parse("program f(x: f64[]): return x").to_numpy_source())["f"](2.0) == 2.0
    assert functions_of(parse("program f(x: f64[]): return x, x").to_numpy_source())["f"](2.0) == (2.0, 2.0)
    assert functions_of(parse("program f(x: f64[]): return ()").to_numpy_source())["f"](2.0) == ()


def test_constants_have_their_dtypes() -> None:
    program = parse("""
        program f(x: f32[2], n: u8[2]):
          captured c: f32[2] = [0.1, inf]
          captured d: i8[0,2] = []
          captured e: c64[] = complex(0.0, nan)
          a: f32[2] = mul(x, 0.1)
          b: u8[2] = add(n, 200)
          g: f32[2] = broadcast(0.1:f32, shape=(2,), axes=())
          return a, b, c, d, e, g, -0.0:f16
    """)
    args = np.ones(2, np.float32), np.ones(2, np.uint8)
    results = functions_of(program.to_numpy_source())["f"](*args)
    for found, expected in zip(results, program(*args), strict=True):
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(found, expected)


def test_nothing_warns() -> None:
    source = parse("program f(x: f64[]): y: f64[] = log(x) return y").to_numpy_source()
    assert functions_of(source)["f"](np.float64(0.0)) == -np.inf


def test_called_programs_are_functions_of_their_own() -> None:
    program = parse("""
        program outer(x: f64[3]):
          program inner(x: f64[3]):
            y: f64[3] = sin(x)
            return y, x
          a: f64[3], b: f64[3] = checkpoint(x, program=inner, n_kept=0)
          program outer(x: f64[3]):
            y: f64[3] = cos(x)
            return y
          c: f64[3] = checkpoint(b, program=outer, n_kept=0)
          return a, c
    """)
    assert program.to_numpy_source() == dedent('''\
        import numpy as np


        def inner(x):
            """(x: f64[3]) -> (f64[3], f64[3])"""
            a = np.sin(x)
            return a, x.copy()


        def outer_2(x):
            """(x: f64[3]) -> f64[3]"""
            a = np.cos(x)
            return a


        @np.errstate(all="ignore")
        def outer(x):
            """(x: f64[3]) -> (f64[3], f64[3])"""
            a, b = inner(x)
            c = outer_2(b)
            return a, c
        ''')


def test_large_arrays_are_parameters_with_defaults() -> None:
    program = fg.make_program(lambda x: x * LARGE)(LARGE)
    source = program.to_numpy_source()
    assert "0.01" not in source
    assert '(x: f64[100], *, a: f64[100]) -> f64[100]"""' in source
    function = functions_of(source)["function"]
    np.testing.assert_array_equal(function(LARGE), LARGE**2)
    np.testing.assert_array_equal(function(LARGE, a=2 * LARGE), 2 * LARGE**2)


def test_a_missing_array_is_asked_for() -> None:
    with pytest.raises(ProgramError, match="does not hold the captured array 0123456789abcdef") as caught:
        captured_array("0123456789abcdef")
    assert "pass the array as an argument" in str(caught.value)


def test_runs_in_another_process() -> None:
    program = fg.make_program(fg.grad(lambda x: np.sum(x[1:] ** 2)))(np.ones(3))
    code = program.to_numpy_source() + "\nprint(function(np.ones(3)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[0. 2. 2.]\n"


def test_open_traces_have_no_source() -> None:
    def outer(x: Any) -> Any:
        inner = fg.make_program(lambda y: y * x)(1.0)
        with pytest.raises(ProgramError, match="still open: it has no source"):
            inner.to_numpy_source()
        assert "captured a: f64[] = <Tracer>" in str(inner)
        return x

    fg.grad(outer)(np.float64(2.0))


def test_primitives_by_name() -> None:
    assert primitive("reduce_sum", axes=(0,)).evaluate(np.ones(3)) == 3.0
    with pytest.raises(ProgramError, match="no primitive is called 'reduce_som'") as caught:
        primitive("reduce_som", axes=(0,))
    assert "Did you mean 'reduce_sum'" in str(caught.value)
    with pytest.raises(
        TypeError, match=r"reduce_sum takes the parameters \('axes',\), and was given \('axis',\)"
    ):
        primitive("reduce_sum", axis=0)


# Where a primitive's one line of source rounds otherwise than its evaluation, one unit in the last place.
TOLERANCE = 4e-16


@pytest.mark.parametrize("case", [case for case in cases() if case.dtype == np.float64], ids=repr)
def test_source_of_every_primitive(case: Case) -> None:
    values = case.values(case.rng())
    program = case.program(values)
    results = functions_of(program.to_numpy_source())
    found = next(results[name] for name in (program.name, f"{program.name}_") if name in results)(*values)
    for x, y in zip(found if len(program.outputs) != 1 else (found,), program(*values), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=TOLERANCE)
