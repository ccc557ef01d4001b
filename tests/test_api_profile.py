"""Profiles: which rows there are, what they add up to, and which of the user's lines they belong to."""

from __future__ import annotations

import pickle
import platform
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from scipy import special

import funcgrad as fg
from funcgrad.api.inspection.profile import Profile
from funcgrad.compile.engines.direct.translate import translate
from funcgrad.compile.measure.timed_kernels import KernelPiece, timed_kernels
from funcgrad.compile.measure.timings import Place, Reading, own_times
from funcgrad.compile.runtime.executable import compiled

QUICK = 0.02
"""Seconds to measure for: the tests ask for structure, not for times."""


def two_lines(x: Any) -> Any:
    y = np.sin(x)
    return np.sum(y * y)


def heavy_and_light(a: Any) -> Any:
    heavy = a @ a
    light = np.sum(heavy[0])
    return light * 2.0


def recurrent(a: Any, x: Any) -> Any:
    def step(h: Any, row: Any) -> Any:
        h = np.tanh(a @ h + row)
        return h, np.sum(h)

    _, sums = fg.scan(step, np.zeros(len(a)), x)
    return np.sum(sums)


def profiled(fun: Any, *args: Any, **kwargs: Any) -> Profile:
    found: Profile = fg.profile(fun, seconds=QUICK)(*args, **kwargs)
    return found


def lines_of(found: Profile) -> dict[str, Any]:
    return {line.text: line for line in found.by_line()}


def consistent(found: Profile) -> None:
    """What holds for every profile."""
    assert found.rows
    assert found.runs >= 1
    assert found.call_seconds > 0.0
    assert found.peak_bytes >= 0
    for row in found.rows:
        assert 0.0 <= row.best <= row.seconds
        assert sum(share.fraction for share in row.shares) == pytest.approx(1.0)
        assert 0.0 <= row.backward <= 1.0 + 1e-12
    total = pytest.approx(found.measured_seconds)
    assert sum(row.seconds for row in found.rows) == total
    assert sum(line.seconds for line in found.by_line()) == total
    assert sum(found.by_primitive().values()) == total
    assert sum(found.by_kernel().values()) == total
    assert list(found.by_primitive().values()) == sorted(found.by_primitive().values(), reverse=True)
    assert found.overhead_seconds >= 0.0


# -- evaluated by NumPy --------------------------------------------------------------------------------------


def test_every_equation_is_a_row() -> None:
    found = profiled(two_lines, np.ones(50))
    consistent(found)
    assert not found.compiled
    assert [row.name for row in found.rows] == ["sin", "mul", "reduce_sum"]
    assert found.rows[0].detail == "f64[50] -> f64[50]"
    assert set(lines_of(found)) == {"y = np.sin(x)", "return np.sum(y * y)"}
    assert found.by_kernel().keys() == {"NumPy"}
    assert not any(row.fused or row.backward for row in found.rows)
    assert found.rows[1].flops == 50.0
    assert found.rows[1].bytes_moved == 2 * 8 * 50


def test_forward_and_backward_are_told_apart() -> None:
    found = profiled(fg.value_and_grad(two_lines), np.ones(50))
    consistent(found)
    sine, square = lines_of(found).values()
    assert sine.forward > 0.0
    assert sine.backward > 0.0
    assert square.backward > 0.0
    assert {row.backward for row in found.rows} == {0.0, 1.0}
    # The cosine is computed on the way forward, for the way back.
    assert [row.backward for row in found.rows if row.name == "cos"] == [0.0]


def test_heavy_line_has_the_largest_share(rng: np.random.Generator) -> None:
    a = rng.normal(size=(300, 300))
    for fun in (heavy_and_light, fg.jit(heavy_and_light)):
        found = profiled(fun, a)
        consistent(found)
        heavy = lines_of(found)["heavy = a @ a"]
        assert heavy.seconds > 0.5 * found.measured_seconds


def test_branches_on_values_are_followed() -> None:
    def branching(x: Any) -> Any:
        if np.sum(x) > 0.0:
            return np.sum(np.exp(x))
        return np.sum(np.sin(x))

    for fun in (branching, fg.grad(branching)):
        assert "exp" in {row.name for row in profiled(fun, np.ones(5)).rows}
        assert "exp" not in {row.name for row in profiled(fun, -np.ones(5)).rows}


@pytest.mark.parametrize("transform", [fg.grad, fg.jacfwd, fg.hessian, lambda f: fg.vmap(fg.grad(f))])
def test_transforms(transform: Any) -> None:
    x = np.ones(3) if transform is fg.hessian else np.ones((4, 3))
    consistent(profiled(transform(two_lines), x))


def test_loops_are_attributed_inside(rng: np.random.Generator) -> None:
    a, x = rng.normal(size=(5, 5)), rng.normal(size=(7, 5))
    found = profiled(fg.grad(recurrent), a, x)
    consistent(found)
    inside = [row for row in found.rows if row.depth == 1]
    assert {row.name for row in inside} >= {"dot_general", "tanh", "add"}
    assert {row.runs for row in inside} == {7}
    step = lines_of(found)["h = np.tanh(a @ h + row)"]
    assert step.forward > 0.0
    assert step.backward > 0.0
    # What a sweep adds up without a line of its own is counted where the loop stands.
    assert all(row.source is not None for row in inside)
    scan = next(row for row in found.rows if row.name == "scan")
    assert scan.flops is None


def newton(a: Any) -> Any:
    return fg.while_loop(lambda x: np.abs(x * x - a) > 1e-9, lambda x: 0.5 * (x + a / x), a)


def chosen(x: Any) -> Any:
    return fg.cond(np.sum(x) > 0.0, lambda y: np.sum(np.exp(y)), lambda y: np.sum(np.sin(y)), x)


@fg.custom_jvp
def cube(x: Any) -> Any:
    return x * x * x


cube.defjvp(lambda primals, tangents: (cube(*primals), 3.0 * primals[0] ** 2 * tangents[0]))


def with_rule(x: Any) -> Any:
    return np.sum(cube(x))


def kept_small(x: Any) -> Any:
    return np.sum(fg.checkpoint(lambda y: np.sin(np.exp(y)))(x))


@pytest.mark.parametrize(
    ("fun", "x", "expected"),
    [
        (newton, 4.0, "div"),
        (chosen, np.ones(4), "exp"),
        (with_rule, np.ones(4), "mul"),
        (kept_small, np.ones(4), "exp"),
    ],
)
def test_programs_inside_equations(fun: Any, x: Any, expected: str) -> None:
    found = profiled(fun, x)
    consistent(found)
    inside = {row.name: row.runs for row in found.rows if row.depth}
    assert inside[expected] >= 1
    consistent(profiled(fg.grad(fun), x))
    consistent(profiled(fg.jit(fg.grad(fun)), x))


def test_branch_that_is_not_taken_takes_no_time() -> None:
    found = profiled(chosen, np.ones(4))
    (sine,) = [row for row in found.rows if row.name == "sin"]
    assert (sine.runs, sine.seconds) == (0, 0.0)


# -- native code ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [-1, -0.5, float("inf"), float("nan")])
def test_a_time_that_cannot_be_measured_for_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="how long to measure"):
        fg.profile(lambda x: x, seconds=seconds)


def test_steps_of_kernels(rng: np.random.Generator) -> None:
    a = rng.normal(size=(40, 40))
    found = profiled(fg.jit(fg.value_and_grad(heavy_and_light)), a)
    consistent(found)
    assert found.compiled
    assert set(found.by_kernel()) == {"heavy_and_light"}
    assert any(row.name == "dgemm" for row in found.rows)
    (product,) = {row.source.text.strip() for row in found.rows if row.name == "dgemm" and row.source}
    assert product == "heavy = a @ a"
    assert all(row.flops for row in found.rows if row.name == "dgemm")


def test_loop_that_serves_several_lines_is_fused() -> None:
    found = profiled(fg.jit(two_lines), np.ones(200))
    consistent(found)
    (row,) = [row for row in found.rows if row.name == "loop"]
    assert row.fused
    assert set(lines_of(found)) >= {"y = np.sin(x)", "return np.sum(y * y)"}
    fractions = {share.source.text.strip(): share.fraction for share in row.shares if share.source}
    # A sine costs more than a product and a sum.
    assert fractions["y = np.sin(x)"] > fractions["return np.sum(y * y)"]


def test_native_loops_are_measured_inside_where_their_trips_are_long(rng: np.random.Generator) -> None:
    long = profiled(fg.jit(recurrent), rng.normal(size=(64, 64)), rng.normal(size=(9, 64)))
    consistent(long)
    assert {row.runs for row in long.rows if row.depth == 1} == {9}
    short = profiled(fg.jit(recurrent), rng.normal(size=(3, 3)), rng.normal(size=(9, 3)))
    consistent(short)
    assert {row.depth for row in short.rows} == {0}
    (scan,) = [row for row in short.rows if row.name == "scan"]
    assert "h = np.tanh(a @ h + row)" in {share.source.text.strip() for share in scan.shares if share.source}


def test_transform_of_a_jitted_function_is_native() -> None:
    assert profiled(fg.grad(fg.jit(two_lines)), np.ones(20)).compiled


def test_what_is_left_to_numpy_is_a_row_of_its_own() -> None:
    def partly(x: Any) -> Any:
        y = special.eval_legendre(3, x)
        return np.sum(y * np.exp(x))

    found = profiled(fg.jit(partly), np.ones(30))
    consistent(found)
    assert "NumPy" in found.by_kernel()
    assert any("special" in reason for reason in found.reasons)
    assert any(row.name == "special" and not row.kernel for row in found.rows)
    assert "left to NumPy" in str(found)


def test_clock_does_not_change_results(rng: np.random.Generator) -> None:
    a, x = rng.normal(size=(64, 64)), rng.normal(size=(5, 64))
    program = fg.make_program(fg.grad(recurrent))(a, x)
    (plain,) = program(a, x)
    (clocked,), reading = KernelPiece(program).results([a, x])
    np.testing.assert_allclose(clocked, plain, rtol=1e-9, atol=1e-12)
    assert reading.within >= 0.0


@pytest.mark.parametrize(
    ("machine", "triple", "instruction"),
    [("x86_64", "x86_64-linux-gnu", "rdtsc"), ("aarch64", "aarch64-linux-gnu", "CNTVCT_EL0")],
)
def test_clock_of_every_processor(
    machine: str, triple: str, instruction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    source = "def f(p, n):\n    out = as_i64(p[0])\n    out[0] = ticks()\n"
    text = translate(source, ("f",), frozenset(), {})
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(text)
    module.triple = triple
    assembly = llvm.Target.from_triple(triple).create_target_machine().emit_assembly(module)
    assert instruction in assembly


def test_arguments_may_be_pytrees_numbers_and_static() -> None:
    def f(p: Any, how: str, scale: float) -> Any:
        return scale * np.sum(p["w"] ** 2) if how == "squares" else np.sum(p["w"])

    consistent(profiled(f, {"w": np.ones(4)}, "squares", 2.0))
    consistent(profiled(fg.jit(f, static_argnums=1), {"w": np.ones(4)}, "squares", 2.0))
    consistent(
        profiled(fg.jit(f, static_argnames="how"), {"w": np.ones(4, np.float32)}, how="other", scale=1)
    )


def test_call_of_a_transform_is_timed_as_its_user_makes_it() -> None:
    calls: list[int] = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return np.sum(np.sin(x))

    plain = profiled(counted, np.ones(3))
    # Recorded once: a plain function might change its arguments.
    assert len(calls) == 1
    assert plain.call_seconds == plain.run_seconds
    calls.clear()
    found = profiled(fg.grad(counted), np.ones(3))
    assert 5 < len(calls) <= 22
    # Recording takes longer than running four equations on three numbers.
    assert found.call_seconds > found.run_seconds
    assert "(recording, arguments)" in str(found)


def test_donated_arguments_stay_whole() -> None:
    x = np.ones(1000)
    consistent(profiled(fg.jit(lambda x: np.sin(x) * 2.0, donate_argnums=0), x))
    np.testing.assert_array_equal(x, 1.0)


# -- errors --------------------------------------------------------------------------------------------------


def test_what_cannot_be_profiled() -> None:
    with pytest.raises(TypeError, match="profile expects a function, got a float"):
        fg.profile(1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no argument is an array or a number"):
        fg.profile(lambda: np.ones(3))()


def test_errors_of_the_function_are_the_function_s() -> None:
    for fun in (np.linalg.cholesky, fg.jit(np.linalg.cholesky)):
        with pytest.raises(np.linalg.LinAlgError):
            profiled(fun, -np.eye(3))


# -- the arithmetic of the clock -----------------------------------------------------------------------------


def test_readings_of_the_clock_are_taken_off() -> None:
    inner = Place("inner", spent=1000, runs=10)
    outer = Place("outer", [inner], spent=2000, runs=1)
    found: dict[Place, float] = {}
    whole, readings = own_times(outer, Reading(within=10.0, whole=30.0), found)
    assert readings == 11
    assert found[inner] == 1000 - 10 * 10
    assert whole == 2000 - 10 - 10 * 30
    assert found[outer] == whole - found[inner]


# -- what is shown -------------------------------------------------------------------------------------------


class Balanced(HTMLParser):
    """Checks that every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in ("br", "meta", "link", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("wrap", [lambda f: f, fg.jit], ids=["evaluated", "native"])
def test_text_and_page(wrap: Any, rng: np.random.Generator, tmp_path: Path) -> None:
    found = profiled(wrap(fg.grad(recurrent)), rng.normal(size=(64, 64)), rng.normal(size=(5, 64)))
    text = str(found)
    assert text.startswith("recurrent: ")
    assert " h = np.tanh(a @ h + row)" in text
    assert "def recurrent(a: Any, x: Any) -> Any:" in text
    assert max(map(len, text.splitlines())) <= 100
    page = found.save(tmp_path / "profile.html").read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert "script" not in parser.seen
    assert "np.tanh(a @ h + row)" in page
    assert found._repr_html_() in page


def test_many_rows_are_cut_in_text_and_folded_on_the_page() -> None:
    def long(x: Any) -> Any:
        for k in range(150):
            x = x * float(k)
        return np.sum(x)

    found = profiled(long, np.ones(3))
    assert len(str(found).splitlines()) < 60
    assert "more" in str(found).splitlines()[-1]
    assert '<details class="fg-all">' in found._repr_html_()


def test_code_without_a_file_is_shown_by_what_was_recorded() -> None:
    names: dict[str, Any] = {"np": np}
    exec("def f(x):\n    return np.sum(np.sin(x))", names)
    text = str(profiled(names["f"], np.ones(3)))
    assert "<string>: f" in text


def test_profile_pickles() -> None:
    found = profiled(two_lines, np.ones(3))
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_the_page_of_a_profile_leaves_other_displays_alone() -> None:
    page = fg.profile(two_lines, seconds=QUICK)(np.ones(3))._repr_html_()
    style = page.partition("<style>")[2].partition("</style>")[0]
    fonts = [rule for rule in style.split("}") if "font:" in rule or "font-size:" in rule]
    assert fonts
    assert all(".fg-profile" in rule for rule in fonts)
    assert 'class="fg-display fg-profile"' in page


def test_a_function_that_has_been_compiled_meanwhile_is_profiled_as_evaluated() -> None:
    x = np.linspace(0.0, 1.0, 100_000)
    gradient = fg.grad(lambda x: np.sum(np.exp(np.sin(x)) * np.tanh(x)))
    for _ in range(60):  # until it has been evaluated for as long as compiling takes
        gradient(x)
    found = fg.profile(gradient, seconds=0.05)(x)
    assert not found.compiled
    assert found.call_seconds >= found.run_seconds


def test_the_kernel_that_is_timed_is_the_one_that_runs() -> None:
    def eliminated(a: Any) -> Any:
        a = a.copy()
        for k in range(len(a)):
            for i in range(k + 1, len(a)):
                a[i, k] /= a[k, k]
                for j in range(k + 1, len(a)):
                    a[i, j] -= a[i, k] * a[k, j]  # a[i, k] is read once for each row
        return np.sum(a)

    a = np.eye(9) + np.ones((9, 9))
    program = fg.jit(eliminated).specialized(a).program
    (kernel,) = compiled(program).kernels
    (timed,) = [part.kernel for part in timed_kernels(program, [a], 0.0).parts]
    assert timed is not None
    lines = [line for line in kernel.code.splitlines() if "p[" not in line]
    assert [line for line in lines if line not in timed.code.splitlines()] == []
