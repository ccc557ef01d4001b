"""Arrays that loops change where they are: the numbers are those of Python's loop, and nothing is copied."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ir.evaluate.runner import evaluate_by_numpy
from funcgrad.ops.arrays.indexing import Scatter

X = np.array([0.3, -0.8, 1.4, 0.5, -0.2, 0.9])
GRID = np.sin(np.arange(20.0)).reshape(4, 5)

Body = Callable[[Any, Any], Any]


def recurrence(i: Any, y: Any, x: Any) -> Any:
    y = y.copy()
    y[i] = np.sin(x[i]) + 0.5 * y[i - 1] * y[i - 1]
    return y


def old_element_is_read_after_the_write(i: Any, y: Any, x: Any) -> Any:
    new = y.copy()
    new[i] = x[i] * y[i - 1]
    new[i - 1] = y[i] * y[i - 1]
    return new


def read_depends_on_the_write(i: Any, y: Any, x: Any) -> Any:
    new = y.copy()
    new[i] = x[i] * y[i - 1]
    k = (new[i] > 0).astype(int)
    return new + y[k]


def elements_exchanged(i: Any, y: Any, x: Any) -> Any:
    new = y.copy()
    new[i], new[i - 1] = y[i - 1] * x[i], y[i]
    return new


def accumulated(i: Any, y: Any, x: Any) -> Any:
    return y.at[i].add(x[i] * y[0]).at[i - 1].multiply(1.5).at[i].min(2.0).at[0].max(-0.5)


def spans(i: Any, y: Any, x: Any) -> Any:
    new = y.copy()
    new[1:4] = 0.5 * y[0:3] + x[1:4]
    new[0] += new[3] * y[3]
    return new


def span_over_itself(i: Any, y: Any, x: Any) -> Any:
    new = y.copy()
    new[1:] = new[:-1] * x[1:]
    new[:-1] = new[1:] + y[1:]
    return new


def branch(i: Any, y: Any, x: Any) -> Any:
    def changed(y: Any) -> Any:
        return y.at[i].set(x[i] * y[i - 1])

    return fg.cond(x[i] > 0, changed, lambda y: y.at[0].add(x[i]), y)


def branch_that_returns_what_it_was_given(i: Any, y: Any, x: Any) -> Any:
    return fg.cond(x[i] > 0, lambda y: y.at[i].set(x[i] * y[i - 1]), lambda y: y, y)


def inner_loop(i: Any, y: Any, x: Any) -> Any:
    return fg.fori_loop(1, 6, lambda j, z: z.at[j].set(0.5 * z[j - 1] + x[j] * z[i]), y)


def inner_loop_reads_the_old(i: Any, y: Any, x: Any) -> Any:
    z = fg.fori_loop(1, 6, lambda j, z: z.at[j].set(0.5 * z[j - 1] + y[j] * y[i]), y)
    return z * x + y


def inner_while(i: Any, y: Any, x: Any) -> Any:
    def body(state: Any) -> Any:
        j, z = state
        return j + 1, z.at[j].set(0.5 * z[j - 1] + x[j])

    return fg.while_loop(lambda state: state[0] < i, body, (1, y))[1]


BODIES = [
    recurrence,
    old_element_is_read_after_the_write,
    read_depends_on_the_write,
    elements_exchanged,
    accumulated,
    spans,
    span_over_itself,
    branch,
    branch_that_returns_what_it_was_given,
    inner_loop,
    inner_loop_reads_the_old,
    inner_while,
]


def looped(body: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = fg.fori_loop(1, len(X), lambda i, y: body(i, y, x), 0.7 * x)
        return fg.numpy.sum(y * np.arange(1.0, 7.0))

    return f


def unrolled(body: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = 0.7 * x
        for i in range(1, len(X)):
            y = body(i, y, x)
        return fg.numpy.sum(y * np.arange(1.0, 7.0))

    return f


def evaluated(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The recorded function, by NumPy."""
    return lambda x: evaluate_by_numpy(fg.make_program(f)(x), (x,))[0]


def turned(body: Any) -> Callable[[Any], Any]:
    """The same by a loop that does not know how often."""

    def f(x: Any) -> Any:
        def step(state: Any) -> Any:
            i, y = state
            return i + 1, body(i, y, x)

        _, y = fg.while_loop(lambda state: state[0] < len(X), step, (1, 0.7 * x))
        return fg.numpy.sum(y * np.arange(1.0, 7.0))

    return f


@pytest.mark.at_length
@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("loop", [looped, turned], ids=lambda f: f.__name__)
def test_values_and_derivatives_are_those_of_pythons_loop(loop: Any, body: Any) -> None:
    f, g = loop(body), unrolled(body)
    x, direction = X.copy(), np.cos(X)
    expected = fg.grad(g)(x)
    np.testing.assert_allclose(fg.jit(f)(x), evaluated(g)(x), rtol=1e-12)
    np.testing.assert_allclose(evaluated(f)(x), evaluated(g)(x), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(fg.grad(f)(x), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(fg.jit(lambda x: fg.jvp(f, (x,), (direction,))[1])(x), expected @ direction)
    np.testing.assert_array_equal(x, X)


@pytest.mark.at_length
@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("loop", [looped, turned], ids=lambda f: f.__name__)
def test_second_derivatives_and_batches(loop: Any, body: Any) -> None:
    f, g = loop(body), unrolled(body)
    np.testing.assert_allclose(fg.jit(fg.hessian(f))(X), fg.hessian(g)(X), rtol=1e-9, atol=1e-11)
    batch = np.stack([X, -X, 0.5 * X])
    expected = np.stack([fg.grad(g)(x) for x in batch])
    np.testing.assert_allclose(fg.jit(fg.vmap(fg.grad(f)))(batch), expected, rtol=1e-11, atol=1e-13)


def test_two_arrays_change_places() -> None:
    def f(x: Any) -> Any:
        def body(i: Any, pair: Any) -> Any:
            a, b = pair
            return b, a.at[i].set(np.sin(b[i - 1]) + x[i])

        a, b = fg.fori_loop(1, 6, body, (x, 2 * x))
        return fg.numpy.sum(a * X) + fg.numpy.sum(b)

    def g(x: Any) -> Any:
        a, b = x, 2 * x
        for i in range(1, 6):
            a, b = b, a.at[i].set(np.sin(b[i - 1]) + x[i])
        return fg.numpy.sum(a * X) + fg.numpy.sum(b)

    np.testing.assert_allclose(fg.jit(f)(X), evaluated(g)(X))
    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), fg.grad(g)(X))
    np.testing.assert_allclose(evaluated(f)(X), evaluated(g)(X))
    np.testing.assert_allclose(evaluated(fg.grad(f))(X), fg.grad(g)(X))


def test_three_arrays_go_round() -> None:
    def f(x: Any) -> Any:
        def body(i: Any, three: Any) -> Any:
            a, b, c = three
            return b, c, a * x + b

        return fg.numpy.stack(fg.fori_loop(0, 5, body, (x, 2 * x, x * x)))

    def g(x: Any) -> Any:
        a, b, c = x, 2 * x, x * x
        for _ in range(5):
            a, b, c = b, c, a * x + b
        return np.stack([a, b, c])

    np.testing.assert_allclose(fg.jit(f)(X), evaluated(g)(X))
    np.testing.assert_allclose(fg.jit(fg.jacrev(f))(X), fg.jacfwd(f)(X))


def test_arrays_that_change_places_are_kept_apart_from_all_others() -> None:
    def f(x: Any, w: Any) -> Any:
        return fg.fori_loop(0, 5, lambda i, a: w @ a + x, x)

    source = fg.jit(f).kernel_source(X, np.eye(len(X)))
    scopes = dict(re.findall(r"(\w+) = as_f64\(p\[\d+\], (\d+)\)", source))
    assert {"carry_1", *re.findall(r"    carry_1 = (\w+)$", source, re.MULTILINE)} & scopes.keys() == {
        "carry_1"
    }
    assert len(scopes) == 2
    assert len({*scopes.values()}) == 1


def test_a_loop_in_a_loop_makes_an_array_anew() -> None:
    def f(x: Any) -> Any:
        def outer(i: Any, y: Any) -> Any:
            return fg.fori_loop(0, 3, lambda j, z: np.sin(z) + x * i, y)

        return fg.numpy.sum(fg.fori_loop(0, 5, outer, x))

    def g(x: Any) -> Any:
        y = x
        for i in range(5):
            for _ in range(3):
                y = np.sin(y) + x * i
        return np.sum(y)

    np.testing.assert_allclose(fg.jit(f)(X), evaluated(g)(X))
    fg.testing.check_grads(fg.jit(f), (X,))


def sweep(u: Any) -> Any:
    """Gauss-Seidel on a grid."""

    def row(i: Any, u: Any) -> Any:
        def cell(j: Any, u: Any) -> Any:
            u = u.copy()
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) + 0.1 * u[i, j] ** 2
            return u

        return fg.fori_loop(1, u.shape[1] - 1, cell, u)

    u = fg.fori_loop(0, 3, lambda _, u: fg.fori_loop(1, u.shape[0] - 1, row, u), u)
    return fg.numpy.sum(u * u)


def test_a_sweep_over_a_grid() -> None:
    def plain(u: Any) -> Any:
        u = u.copy()
        for _ in range(3):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    total = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                    u[i, j] = 0.25 * total + 0.1 * u[i, j] ** 2
        return np.sum(u * u)

    np.testing.assert_allclose(fg.jit(sweep)(GRID), plain(GRID))
    np.testing.assert_allclose(fg.jit(fg.grad(sweep))(GRID), fg.grad(plain)(GRID))
    np.testing.assert_allclose(fg.jit(fg.vmap(fg.grad(sweep)))(GRID[None]), fg.grad(plain)(GRID)[None])


def test_an_index_out_of_bounds_is_not_forgotten_for_the_next() -> None:
    pair = fg.jit(lambda x, i, j: x[i] + x[j])
    assert pair(X, 0, 1) == X[0] + X[1]
    for i, j in ((7, 0), (0, 7), (-7, 2)):
        with pytest.raises(IndexError):
            pair(X, i, j)


def copies(f: Callable[[Any], Any], x: Any) -> list[str]:
    """What `explain` says of copies."""
    return [line.strip() for line in str(fg.explain(f)(x)).splitlines() if "copies" in line]


@pytest.mark.parametrize("body", [b for b in BODIES if b not in (read_depends_on_the_write,)])
def test_nothing_is_copied_that_need_not_be(body: Any) -> None:
    needed = {inner_loop_reads_the_old: 1}
    for f in (looped(body), turned(body)):
        assert len(copies(f, X)) == needed.get(body, 0)


def test_gradients_copy_nothing() -> None:
    for body in (recurrence, elements_exchanged, accumulated, branch, inner_loop, inner_while):
        assert copies(fg.grad(looped(body)), X) == []
    assert copies(sweep, GRID) == copies(fg.grad(sweep), GRID) == []


def test_a_copy_is_named_with_its_line() -> None:
    (line,) = copies(looped(read_depends_on_the_write), X)
    assert line.startswith("copies f64[6] on every trip, before it is changed (")
    assert "test_loops_in_place.py:" in line
    assert line.endswith("in read_depends_on_the_write)")


def test_reverse_mode_keeps_elements_and_not_arrays() -> None:
    def scratch(n: int) -> int:
        f = looped_over(n)
        return sum(kernel.scratch_bytes for kernel in fg.explain(fg.grad(f))(np.ones(n)).kernels)

    def looped_over(n: int) -> Callable[[Any], Any]:
        return lambda x: fg.numpy.sum(fg.fori_loop(1, n, lambda i, y: recurrence(i, y, x), 0.7 * x))

    assert scratch(4000) < 4.5 * scratch(1000)
    assert scratch(4000) < 8 * 4000 * 8


def sorted_by_insertion(x: Any) -> Any:
    """Two loops whose numbers of trips differ between examples, and a write in a branch."""

    def outer(i: Any, y: Any) -> Any:
        def goes_on(state: Any) -> Any:
            j, y = state
            return fg.cond(j > 0, lambda: y[j - 1] > y[j], lambda: False)

        def swapped(state: Any) -> Any:
            j, y = state
            return j - 1, y.at[j].set(y[j - 1]).at[j - 1].set(y[j])

        return fg.while_loop(goes_on, swapped, (i, y))[1]

    y = fg.fori_loop(1, x.shape[0], outer, x)
    return fg.numpy.sum(y * np.arange(1.0, 7.0))


def clipped_in_branches(x: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        def inner(y: Any) -> Any:
            return fg.fori_loop(0, 3, lambda k, y: y.at[k].add(0.1 * y[i]), y)

        return fg.switch(i % 3, [lambda y: y.at[i].multiply(y[0]), inner, lambda y: y], y)

    def stepped(k: Any, y: Any) -> Any:
        return fg.cond(y[k] > 0.2, lambda y: y.at[k].set(0.5 * y[k] * y[k - 1]), lambda y: body(k, y), y)

    return fg.numpy.sum(fg.fori_loop(0, 6, stepped, x) ** 2)


@pytest.mark.parametrize("f", [sorted_by_insertion, clipped_in_branches])
def test_examples_of_a_batch_that_part_ways(f: Any) -> None:
    batch = np.random.default_rng(1).normal(size=(5, 6))
    values = np.stack([evaluated(f)(x) for x in batch])
    grads = np.stack([fg.jit(fg.grad(f))(x) for x in batch])
    np.testing.assert_allclose(fg.jit(fg.vmap(f))(batch), values)
    np.testing.assert_allclose(evaluated(fg.vmap(f))(batch), values)
    np.testing.assert_allclose(fg.jit(fg.vmap(fg.grad(f)))(batch), grads, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(lambda b: fg.numpy.sum(fg.vmap(f)(b))))(batch), grads)
    assert not [line for line in copies(fg.vmap(f), batch) if "f64[5,6]" in line]


def test_a_loop_in_a_batch_ends_where_a_finished_example_would_not() -> None:
    def halved(x: Any) -> Any:
        def outer(state: Any) -> Any:
            k, y = state
            return k + 1, fg.while_loop(lambda y: y[0] > 1.0, lambda y: y.at[0].multiply(0.5), y)

        return fg.while_loop(lambda state: state[0] < state[1][1], outer, (0.0, x))[1][0]

    batch = np.array([[9.0, 0.0], [9.0, 2.0], [0.5, 1.0]])
    np.testing.assert_allclose(fg.jit(fg.vmap(halved))(batch), [9.0, 0.5625, 0.5])


@pytest.mark.parametrize("body", [recurrence, elements_exchanged, accumulated])
@pytest.mark.parametrize("loop", [looped, turned], ids=lambda f: f.__name__)
def test_loops_by_numpy_change_arrays_where_they_are(
    loop: Any, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [fg.make_program(g)(X) for g in (loop(body), fg.grad(loop(body)))]
    expected = [evaluate_by_numpy(program, (X,))[0] for program in programs]
    whole: list[Any] = []
    monkeypatch.setattr(Scatter, "evaluate", lambda self, *values: whole.append(values))
    fresh = [fg.make_program(g)(X) for g in (loop(body), fg.grad(loop(body)))]
    for program, wanted in zip(fresh, expected, strict=True):
        np.testing.assert_array_equal(evaluate_by_numpy(program, (X,))[0], wanted)
    assert not whole


def test_tapes_keep_arrays_that_the_next_trip_changes() -> None:
    def f(x: Any) -> Any:
        def step(state: Any) -> Any:
            i, y, total = state
            y = y.at[i].set(y[i] * y[i - 1])
            return i + 1, y, total + fg.numpy.sum(np.sin(y) * y)

        return fg.while_loop(lambda state: state[0] < 6, step, (1, x, 0.0))[2]

    def g(x: Any) -> Any:
        y, total = x, 0.0
        for i in range(1, 6):
            y = y.at[i].set(y[i] * y[i - 1])
            total = total + fg.numpy.sum(np.sin(y) * y)
        return total

    np.testing.assert_allclose(evaluated(fg.grad(f))(X), fg.grad(g)(X))
    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), fg.grad(g)(X))


def test_an_element_beside_a_known_number_is_written_alone() -> None:
    """``t[i, 0] = v`` wrote the column back in every trip, and the way back its cotangent."""

    def first_column(c: Any) -> Any:
        t = np.zeros((c.shape[0], 3))
        t[0, 0] = c[0]
        for i in range(1, c.shape[0]):
            t[i, 0] = 0.5 * t[i - 1, 0] * c[i]
            t[i, -1] += t[i, 0]
        return t[-1, 0] + np.sum(t[:, 2])

    x = np.linspace(1.0, 2.0, 40)
    for of in (first_column, fg.grad(first_column)):
        np.testing.assert_allclose(fg.jit(of)(x), of(x), rtol=1e-13)
    loops = [
        equation.primitive.body
        for equation in fg.jit(fg.grad(first_column)).program(x).equations
        if equation.primitive.name == "scan"
    ]
    names = {equation.primitive.name for body in loops for equation in body.equations}
    assert len(loops) >= 2
    assert "scatter" in names
    assert not names & {"slice", "update_slice", "add_to_slice"}


def test_columns_that_no_trip_changes_are_cut_out_before_the_loop() -> None:
    """Elements of `x` and their cotangents would lie apart, also where a branch reads them."""

    def weighed(x: Any) -> Any:
        total = np.zeros((5, 2))
        for i in range(6):
            for j in range(6):
                if i != j:
                    total[i % 5, 0] += x[i, 0] * x[j, 1]
        return np.sum(total)

    x = np.linspace(1.0, 2.0, 12).reshape(6, 2)
    np.testing.assert_allclose(fg.jit(fg.grad(weighed))(x), fg.grad(weighed)(x), rtol=1e-13)
    program = fg.jit(weighed).program(x)
    assert [e.primitive.index for e in program.equations if e.primitive.name == "slice"] == [
        ((0, 6, 1), 0),
        ((0, 6, 1), 1),
    ]
    assert "update_slice" not in str(program)
