"""Programs as users write them: exported, run without funcgrad, compared with what funcgrad computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import CASES, Case, array, wave
from standalone import run_standalone

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError


def assert_same(found: Any, wanted: Any) -> None:
    """Results alike in structure, dtype and value."""
    assert not isinstance(found, str), found
    xs, ys = fg.tree.leaves(found), fg.tree.leaves(wanted)
    assert len(xs) == len(ys)
    for x, y in zip(xs, ys, strict=True):
        assert np.shape(x) == np.shape(y)
        double = np.asarray(y).dtype.char in "dDl"
        np.testing.assert_allclose(x, y, rtol=1e-9 if double else 1e-5, atol=1e-10 if double else 1e-5)


def calls(case: Case) -> list[tuple[Any, ...]]:
    return [case.example, *case.others]


@pytest.fixture(scope="module", params=["numba", "numpy"])
def interpreted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Any]]:
    """What the modules compute with Python as their interpreter: Numba's machine code is asked below."""
    engine = request.param
    made = {name: fg.export(case.function, engine=engine)(*case.example) for name, case in CASES.items()}
    assert all(("numba" in m.text) == (engine == "numba") for m in made.values())
    jobs = [(m.name, m.text, calls(CASES[name])) for name, m in made.items()]
    answers = run_standalone(jobs, tmp_path_factory.mktemp(engine), compiled=False)
    return dict(zip(CASES, answers, strict=True))


@pytest.mark.at_length
@pytest.mark.parametrize("name", CASES)
def test_interpreted_without_funcgrad(name: str, interpreted: dict[str, list[Any]]) -> None:
    for args, result in zip(calls(CASES[name]), interpreted[name], strict=True):
        assert_same(result, CASES[name].function(*args))


COMPILED = (
    *("gradient of a ridge", "loop with a branch", "writes in a loop"),
    *("network of dicts", "scan of named tuples", "single precision"),
)
"""Of these Numba makes machine code in the tests: seconds for each."""


def test_compiled_without_funcgrad(tmp_path: Path) -> None:
    cases = [CASES[name] for name in COMPILED]
    made = [fg.export(case.function)(*case.example) for case in cases]
    jobs = [(m.name, m.text, calls(case)) for m, case in zip(made, cases, strict=True)]
    for case, found in zip(cases, run_standalone(jobs, tmp_path), strict=True):
        for args, result in zip(calls(case), found, strict=True):
            assert_same(result, case.function(*args))


def wide(x: Any, theta_1: Any, theta: Any) -> Any:
    y = np.exp(-(np.tanh(x @ theta) ** 2)) * theta_1[:, None]
    return np.sum(np.exp(y), axis=1).mean() + np.sum(np.max(y, axis=0)), np.sum(y > 0.5)


def test_long_loops_run_on_numbas_threads(tmp_path: Path) -> None:
    slopes = fg.grad(wide, argnums=(0, 1, 2), has_aux=True)
    example = (np.ones((2000, 30)), np.ones(2000), np.ones((30, 40)))
    made = fg.export(slopes, parallel=True)(*example)
    assert "parallel=True" in made.text
    assert "numba.prange(16)" in made.text
    assert (
        made.text.count("threads = threads_for(")
        == made.text.count("    numba.set_num_threads(threads)\n")
        > 0
    )
    assert "prange" not in fg.export(slopes)(*example).text
    others = [(array(n, 4), array(n), array(4, 3)) for n in (40, 3)]
    for compiled in (False, True):
        [answers] = run_standalone([(made.name, made.text, others)], tmp_path, compiled=compiled)
        for args, found in zip(others, answers, strict=True):
            assert_same(found, slopes(*args))
    with pytest.raises(UnsupportedFunctionError, match="engine='numpy' has no threads"):
        fg.export(slopes, engine="numpy", parallel=True)


def test_a_loop_that_only_a_comment_calls_parallel_is_one_threads() -> None:
    def squares(x: Any) -> Any:
        y = x.copy()
        for i in range(len(x)):
            y[i] = y[i] ** 2 + np.sin(y[i - 1])  # as numba.prange( would
        return y

    text = fg.export(squares)(np.ones(60)).text
    assert "numba.prange(" in text
    assert "parallel=True" not in text


def test_overlapping_parts_of_a_gradient_are_added_up_in_one_loop(tmp_path: Path) -> None:
    def rosenbrock(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    slopes = fg.value_and_grad(rosenbrock)
    made = fg.export(slopes)(np.ones(5000))
    assert made.text.count("for i in range(") == 1
    others = [(array(n),) for n in (2, 3, 40, 6000)]
    [answers] = run_standalone([(made.name, made.text, others)], tmp_path, compiled=False)
    for args, found in zip(others, answers, strict=True):
        assert_same(found, slopes(*args))


def first_and_sixth(x: Any) -> Any:
    return x[0] * x[5]


def first_three(x: Any) -> Any:
    return np.sum(x[:3] ** 2)


def beginning(x: Any, y: Any) -> Any:
    return np.sum(x[: len(y)] * y)


@pytest.mark.parametrize(
    ("function", "example", "fine", "too_short"),
    [
        (first_and_sixth, (np.ones(9),), (np.arange(6.0),), (np.ones(5),)),
        (first_three, (np.ones(9),), (np.arange(4.0),), (np.ones(2),)),
        (beginning, (np.ones(9), np.ones(7)), (np.ones(30), np.ones(7)), (np.ones(3), np.ones(5))),
    ],
)
def test_sizes_that_make_another_program_are_refused(
    function: Any, example: Any, fine: Any, too_short: Any
) -> None:
    exported = fg.export(function, engine="numpy")(*example).function
    assert_same(exported(*fine), function(*fine))
    with pytest.raises(ValueError, match=r"is another program|must have shape"):
        exported(*too_short)


def short_or_long(x: Any) -> Any:
    return np.sum(x) if len(x) > 20 else np.sum(x**2)


def but_for_ten(x: Any) -> Any:
    ten = len(x) == 10
    return np.sum(x) if ten else np.sum(x**2)


def at_most_twelve(x: Any) -> Any:
    return np.sum(x[: min(len(x), 12)] ** 2)


def tall_or_wide(x: Any) -> Any:
    n, m = x.shape
    if n - 1 > m:
        return np.sum(x)
    return np.sum(x**2)


@pytest.mark.parametrize(
    ("function", "example", "fine", "refused"),
    [
        (short_or_long, (9,), [(0,), (20,)], [(21,), (1000,)]),
        (short_or_long, (30,), [(21,), (1000,)], [(20,)]),
        (but_for_ten, (9,), [(5,), (11,), (500,)], [(10,)]),
        (at_most_twelve, (40,), [(13,), (300,)], [(5,)]),
        (tall_or_wide, (9, 7), [(9, 7)], [(5, 7), (8, 8), (7, 9)]),
        (tall_or_wide, (9, 30), [(9, 30), (12, 17)], [(30, 9)]),
    ],
)
def test_sizes_for_which_the_function_branches_otherwise_are_refused(
    function: Any, example: Any, fine: Any, refused: Any
) -> None:
    exported = fg.export(function, engine="numpy")(np.ones(example)).function
    for shape in fine:
        assert_same(exported(array(*shape)), function(array(*shape)))
    for shape in refused:
        with pytest.raises(ValueError, match=r"is another program|must have shape"):
            exported(array(*shape))


def test_a_function_jitted_before_branches_on_sizes_in_each_export() -> None:
    inner = fg.jit(short_or_long)
    for _ in range(2):
        exported = fg.export(lambda x: inner(2.0 * x), engine="numpy")(np.ones(9)).function
        with pytest.raises(ValueError, match="n > 20 is another program"):
            exported(np.ones(21))


def pair_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                total += 1.0 / (0.5 + (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2)
    return total


def test_sizes_with_fewer_digits_are_the_same_program() -> None:
    gradient = fg.grad(pair_loop)
    exported = fg.export(gradient, engine="numpy")(array(12, 2)).function
    for n in (9, 5):
        assert_same(exported(array(n, 2)), fg.jit(gradient)(array(n, 2)))


def test_unknown_engines_and_operations_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedFunctionError, match="no engine 'cython'"):
        fg.export(wave, engine="cython")
    with pytest.raises(UnsupportedFunctionError, match="special has no form outside of funcgrad"):
        fg.export(lambda x: np.sum(fg.scipy.special.spherical_jn(1, x)))(np.ones(6))


def of_special_functions(x: Any) -> Any:
    special = fg.scipy.special
    bessel = special.iv(0.5, x) * special.ndtri(0.1 * x)
    return np.sum(bessel + special.gammainc(2.0, x) + special.log_ndtr(x))


@pytest.mark.parametrize("engine", ["numba", "numpy"])
def test_special_functions_are_those_of_scipy(engine: str, tmp_path: Path) -> None:
    slope = fg.value_and_grad(of_special_functions)
    made = fg.export(slope, engine=engine)(np.linspace(0.5, 4.0, 7))
    assert ("import scipy.special" in made.text) == (engine == "numpy")
    x = np.linspace(0.3, 5.0, 4)
    [[found]] = run_standalone([(made.name, made.text, [(x,)])], tmp_path)
    assert_same(found, slope(x))


def test_a_module_is_saved_and_imported(tmp_path: Path) -> None:
    made = fg.export(fg.grad(wave), engine="numpy")(np.ones(4))
    path = made.save(tmp_path / "wave_gradient.py")
    names: dict[str, Any] = {}
    exec(path.read_text(), names)
    np.testing.assert_allclose(names["wave"](np.ones(3)), fg.grad(wave)(np.ones(3)))
    assert str(made) == path.read_text()


def test_a_number_in_an_array_is_opened_before_numba_meets_it(tmp_path: Path) -> None:
    """Numba takes twice as long to recognise an array without axes as for all else of a call."""
    slope = fg.value_and_grad(lambda t, x: np.sum(np.sin(t * x)))
    made = fg.export(slope)(np.asarray(0.5), np.ones(6))
    assert "_of_numbers(float(t), x)" in made.text
    assert "_of_numbers" not in fg.export(slope)(0.5, np.ones(6)).text
    arguments = [(np.asarray(0.3), array(4)), (0.7, array(5)), (np.float64(0.2), array(6))]
    [answers] = run_standalone([(made.name, made.text, arguments)], tmp_path)
    for args, found in zip(arguments, answers, strict=True):
        assert_same(found, slope(*args))


def test_numbas_code_calls_a_function_that_opens_arrays() -> None:
    numba = pytest.importorskip("numba")
    cubed = fg.export(fg.grad(lambda t: t**3))(np.asarray(0.5)).function

    @numba.njit
    def twice(t: Any) -> Any:
        return cubed(t) + cubed(2.0 * t)

    assert twice(2.0) == 60.0
    assert cubed(np.asarray(2.0)) == 12.0
    with pytest.raises(TypeError):
        cubed(np.ones(2))
