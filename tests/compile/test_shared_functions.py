"""What repeats in a kernel is compiled once, and long kernels are many functions; results stay the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.emit import repeats, shared_functions
from funcgrad.compile.emit.shared_functions import in_functions
from funcgrad.compile.emit.statement_tree import Roles, names_in, parsed, text_of
from funcgrad.compile.engines.build import NUMBERS
from funcgrad.compile.engines.direct.translate import translate

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


PROGRAMS = [(recurrent, 12), (kalman, 8), (runge_kutta, 12), (scalars, 60)]


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
    assert names_in(body)["y3"] == 2


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
    roles = Roles(lines[:3])
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
