"""What repeats in a kernel is compiled once, and long kernels are many functions; results stay the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.emit import repeats, shared_functions
from funcgrad.compile.emit.frames import Frame
from funcgrad.compile.emit.shared_functions import in_functions
from funcgrad.compile.emit.statement_tree import Roles, lines_of, names_in, parsed, text_of
from funcgrad.compile.engines.build import NUMBERS
from funcgrad.compile.engines.direct.translate import translate
from funcgrad.compile.passes.scheduling.views import Buffer

RNG = np.random.default_rng(5)


def recurrent(steps: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    xs = RNG.normal(size=(steps, 4, 6))
    weights = RNG.normal(size=(6, 8)) * 0.3, RNG.normal(size=(8, 8)) * 0.3, np.zeros(8)

    def loss(weights: Any) -> Any:
        w_in, w, b = weights
        h, total = np.zeros((4, 8)), 0.0
        for x in xs:
            h = np.tanh(x @ w_in + h @ w + b)
            total = total + np.sum(h**2)
        return total

    return loss, (weights,)


def kalman(steps: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    step, seen = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    ys = RNG.normal(size=(steps, 1))

    def negative_log_likelihood(q: Any) -> Any:
        x, p, total = np.zeros(2) * q[0], np.eye(2) * q[1], 0.0
        for y in ys:
            x, p = step @ x, step @ p @ step.T + q[2] * np.eye(2)
            s = seen @ p @ seen.T + q[0]
            gain = p @ seen.T @ np.linalg.inv(s)
            r = y - seen @ x
            x, p = x + gain @ r, p - gain @ seen @ p
            total = total + 0.5 * (r @ np.linalg.solve(s, r) + np.log(np.linalg.det(s)))
        return total

    return negative_log_likelihood, (np.array([0.3, 1.0, 0.2]),)


def runge_kutta(steps: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    a = RNG.normal(size=(6, 6)) * 0.3

    def slope(x: Any, p: Any) -> Any:
        return np.tanh(a @ x) * p - 0.1 * x

    def energy(p: Any) -> Any:
        x, h = np.ones(6), 0.1
        for _ in range(steps):
            k1 = slope(x, p)
            k2 = slope(x + h / 2 * k1, p)
            k3 = slope(x + h / 2 * k2, p)
            k4 = slope(x + h * k3, p)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return np.sum(x**2)

    return energy, (np.full(6, 0.7),)


def scalars(steps: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    def last(z: Any) -> Any:
        x, y = z[0], z[1]
        for _ in range(steps):
            x, y = x + 0.1 * np.sin(y) * x, y - 0.1 * x * y
        return x * y

    return last, (np.array([0.3, 0.7]),)


def kinds(steps: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Numbers of all types, which are read in the order in which they were made."""

    def total(z: Any, k: Any) -> Any:
        x, single, made, found = z[0], (z[0] * z[1]).astype(np.float32), [], []
        for i in range(steps):
            x = np.sin(x) * (1.0 + 0.01 * i) + z[1]
            single = np.cos(single * np.float32(1.5 + 0.01 * i))
            whole = k[0] * (i + 2) + k[1]
            made.append((x, single, (x + 1j * single) * (2.0 - 0.5j * i), whole, x > single, whole % 7 > 3))
        for x, single, turned, whole, larger, odd in made:
            first = np.where(larger & odd, x * turned.real, single)
            second = np.where(larger | odd, whole * 1e-3, turned.imag)
            found.append(first + second + (single * np.float32(0.1)).astype(np.float16))
        return sum(found)

    return total, (np.array([0.3, 0.7]), np.array([3, 5], np.int32))


PROGRAMS = [(recurrent, 12), (kalman, 8), (runge_kutta, 12), (scalars, 60), (kinds, 20)]


@pytest.mark.parametrize(("make", "steps"), PROGRAMS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_results_are_those_of_the_evaluator(make: Any, steps: int) -> None:
    f, args = make(steps)
    compiled, evaluated = fg.jit(fg.value_and_grad(f))(*args), fg.value_and_grad(f)(*args)
    for a, b in zip(fg.tree.leaves(compiled), fg.tree.leaves(evaluated), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("make", "steps"), PROGRAMS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_small_functions_compute_the_same(make: Any, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f, args = make(steps)
    expected = fg.jit(fg.value_and_grad(f))(*args)
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")
    for module in (shared_functions, repeats):
        monkeypatch.setattr(module, "LARGEST_GROUP", 12)
    monkeypatch.setattr(shared_functions, "SHORTEST_TEXT", 0)
    monkeypatch.setattr(shared_functions, "SHORTEST_BODY", 2)
    found = fg.jit(fg.value_and_grad(f))(*args)
    for a, b in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def compiled_lines(f: Any, args: tuple[Any, ...]) -> int:
    """Lines of a kernel that are neither the naming of memory nor calls of what stands elsewhere."""
    text = str(fg.jit(fg.grad(f)).kernel_source(*args))
    return sum(
        not re.search(r" = as_\w+\(p\[| = n\[|^\s*#|^\s*$|_group\d+\(", line) for line in text.split("\n")
    )


@pytest.mark.parametrize("make", [recurrent, kalman, runge_kutta], ids=lambda x: x.__name__)
def test_what_is_compiled_grows_slower_than_the_unrolled_loop(make: Any) -> None:
    short, long = (compiled_lines(*make(steps)) for steps in (10, 40))
    assert long < 2.5 * short


def numbered(body: str, bodies: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """The text in functions with names of their own."""
    names = (f"f{k}" for k in range(1000))
    return in_functions([body.splitlines()] * bodies, lambda: next(names))


def test_a_number_that_is_read_after_a_group_is_returned() -> None:
    step = "    s{0} = f64(0)\n    for i in range(n0):\n        s{0} = plus(s{0}, x{0}[i])\n"
    step += "    y{0} = s{0} * 2.0\n"
    (body,), functions = numbered("".join(step.format(k) for k in range(70)) + "    out[0] = y3 + y69\n")
    assert any(line.startswith("    return ") for function in functions for line in function)
    assert names_in(lines_of(body))["y3"] == 2


def test_names_that_meet_elsewhere_are_another_group() -> None:
    same = "    for i in range(n0):\n        a{0}[i] = b{0}[i] + b{0}[i]\n"
    other = "    for i in range(n0):\n        a{0}[i] = b{0}[i] + c{0}[i]\n"
    text = "".join((same if k % 2 else other).format(k) for k in range(120))
    _, functions = numbered(text)
    assert all(len(set(re.findall(r"\w+", f[0]))) == len(re.findall(r"\w+", f[0])) for f in functions)


@pytest.mark.parametrize("word", ["    return 1", "    parallel(f, p, n, 0, 16, 1)", "    x = as_f64(p[3])"])
def test_some_statements_stay_where_they_are(word: str) -> None:
    loop = "    for i in range(n0):\n        a{0}[i] = b{0}[i] * 2.0\n"
    (body,), functions = numbered("".join(loop.format(k) + word + "\n" for k in range(90)))
    assert body.count(word) == 90
    assert not any(word.strip() in line for function in functions for line in function)


def test_what_may_keep_its_value_is_passed_in() -> None:
    step = (
        "    r{0} = x[{0}]\n    if (r{0} > 0.5):\n        r{0} = r{0} * 2.0\n"
        "    for i in range(n0):\n        a{0}[i] = r{0}\n"
    )
    lines = "".join(step.format(k) for k in range(60)).splitlines()
    roles = Roles(lines_of(lines[:3]))
    assert roles.assigned == {"r0": True}
    assert roles.read_first == {"x"}
    _, functions = numbered("\n".join(lines))
    assert functions


def test_a_long_function_that_shares_what_it_can_only_calls_in_the_end() -> None:
    call = "    dgemm(dgemm_address, 101, 111, 111, n0, n1, n1, 1.0, a{0}, n1, b{0}, n1, 0.0, c{0}, n1)\n"
    other = "    for i in range(n0):\n        s{0}[i] = a{0}[i] ** {0}\n    t{0} = u{0} * {0}\n"
    text = "".join((call + other).format(k) for k in range(2, 60)) + "    return t7\n"
    names = (f"run_group{k}" for k in range(1000))
    (body,), functions = in_functions([text.splitlines()], lambda: next(names))
    rest = parsed(body)
    for statement in rest:
        statement.read()
    assert [line for line in body if "**" in line or "*" in line] == []
    assert all(statement.only_calls for statement in rest if not statement.stays)
    assert any(line.startswith("    return ") for function in functions for line in function)


def kernel(lines: list[str]) -> str:
    """The module of a function of so many lines, after views of its memory and a number of its tables."""
    head = ["def run(p, n):", "    x = as_f64(p[0])", "    dgemm_address = n[0]", "    n1 = n[1]"]
    return "\n".join([*head, *lines]) + "\n"


PRODUCT = "dgemm(dgemm_address, 101, 111, 111, n1, n1, n1, 1.0, x, n1, x, n1, 0.0, x, n1)"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([f"    {PRODUCT}"] * 40, True),
        ([f"    {PRODUCT}"] * 2, False),
        ([f"    {PRODUCT}"] * 40 + ["    for i in range(n1):", f"        {PRODUCT}"], True),
        ([f"    {PRODUCT}"] * 40 + ["    for i in range(n1):", "        x[i] = 1.0"], False),
        ([f"    {PRODUCT}"] * 40 + ["    while x[0] < 1:", f"        {PRODUCT}"], False),
        ([f"    {PRODUCT}"] * 40 + ["    x[0] = x[1] * x[2]"], False),
    ],
    ids=["calls", "few", "loop of products", "loop of stores", "while", "arithmetic"],
)
def test_only_what_computes_nothing_is_left_unoptimised(lines: list[str], expected: bool) -> None:
    text = translate(kernel(lines), ["run"], frozenset(), NUMBERS)
    assert ("optnone" in text) == expected


def test_text_survives_the_tree() -> None:
    text = (
        "    # why\n    for i in range(n0):\n        if (x[i] > 0):\n            y = 1\n        else:\n"
        "            y = 2\n        while (y < 3):\n            # up\n            y = y + 1\n    z = y"
    ).splitlines()
    assert text_of(parsed(text)) == text


def straight(length: int, seed: int) -> list[str]:
    """Statements of which each reads numbers set anywhere before; some set a number again, or perhaps."""
    rng = np.random.default_rng(seed)
    lines = ["    v0 = x[0]", "    v1 = x[1]"]
    for k in range(2, length):
        a, b, c = (f"v{i}" for i in rng.integers(0, k, 3))
        kind = rng.integers(0, 40)
        if kind == 0:
            lines += [f"    v{k} = {a}", f"    if ({b} < {c}):", f"        v{k} = {b}", f"        {a} = 0.5"]
        elif kind == 1:
            lines += [f"    v{k} = 0.0", "    for i in range(3):", f"        v{k} = v{k} + x[i] * {b}"]
        elif kind == 2:
            lines += [f"    poll(x, {a})", f"    v{k} = {b}"]  # stays where it is
        elif kind == 3:
            lines += [f"    {a} = {a} * 0.25 - {b}", f"    v{k} = {a}"]
        else:
            lines.append(f"    v{k} = {a} * 0.5 - {b} * {c} * 0.125")
    return [*lines, *(f"    out[{k}] = v{k}" for k in range(0, length, 3))]


@pytest.mark.parametrize("typed", ["all", "some", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_numbers_handed_on_in_memory_are_those_of_the_straight_text(seed: int, typed: str) -> None:
    length = 500
    lines = straight(length, seed)
    share = {"all": 1, "some": 2, "none": length + 1}[typed]
    dtypes = {f"v{k}": np.dtype("f8") for k in range(length) if k % share == 0 and typed != "none"}
    blocks: list[Buffer] = []

    def scratch(dtype: np.dtype[Any]) -> Buffer:
        blocks.append(Buffer(f"frame{len(blocks)}", dtype, 0, "scratch"))
        return blocks[-1]

    names = (f"run_group{k}" for k in range(1000))
    (body,), functions = in_functions([lines], lambda: next(names), Frame(dtypes, {}, scratch))
    assert (typed != "all") or max(map(len, functions)) < 3 * repeats.LARGEST_GROUP
    assert (typed != "all") or len(body) < len(lines) / 2

    def outcome(text: list[str], functions: list[list[str]]) -> list[float]:
        x, out = [0.3, 0.7, 0.1], [0.0] * length
        space: dict[str, Any] = {"poll": lambda x, a: x.__setitem__(2, a * 0.5)}
        memory = {block.name: [float("nan")] * block.size for block in blocks}
        given = [*memory, "x", "out"]
        exec(
            "\n".join([line for f in [*functions, [f"def run({', '.join(given)}):", *text]] for line in f]),
            space,
        )
        space["run"](*memory.values(), x, out)
        return out

    assert outcome(body, functions) == outcome(lines, [])


def test_a_chain_of_numbers_is_cut() -> None:
    def chain(x: Any) -> Any:
        y = x
        for k in range(120):
            y = np.sin(y) * (0.5 + 0.001 * k) + x
        return y

    compiled = fg.jit(fg.value_and_grad(chain), control_flow=False)
    source = compiled.kernel_source(0.7)
    assert max(len(part.split("\n")) for part in source.split("\n\n\n")[:-1]) < 3 * repeats.LARGEST_GROUP
    np.testing.assert_allclose(compiled(0.7), fg.value_and_grad(chain)(0.7), rtol=1e-11)


def test_cells_are_used_again() -> None:
    """Forty numbers are alive at a time: so many cells, and those of a function beside."""
    length, alive = 2000, 40
    lines = [f"    v{k} = x[{k}]" for k in range(alive)]
    lines += [f"    v{k} = v{k - alive} * 0.5 - v{k - 1} ** {k}" for k in range(alive, length)]
    lines += [f"    out[{k}] = v{k}" for k in range(length - alive, length)]
    blocks: list[Buffer] = []

    def scratch(dtype: np.dtype[Any]) -> Buffer:
        blocks.append(Buffer("frame", dtype, 0, "scratch"))
        return blocks[-1]

    names = (f"run_group{k}" for k in range(1000))
    dtypes = {f"v{k}": np.dtype("f8") for k in range(length)}
    in_functions([lines], lambda: next(names), Frame(dtypes, {}, scratch))
    assert alive <= blocks[0].size < 4 * alive
