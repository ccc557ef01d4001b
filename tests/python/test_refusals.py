"""What cannot be recorded says so, with the user's line."""

from __future__ import annotations

import io
import linecache
import re
import sys
import types
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import errors


def text_of(error: type[Exception], function: Any, *args: Any) -> str:
    with pytest.raises(error) as caught:
        fg.jit(function)(*args)
    return re.sub(r"test_refusals\.py:\d+", "FILE:N", re.sub(r"line \d+", "line N", str(caught.value)))


def test_branches_of_two_shapes() -> None:
    def uneven(x: Any) -> Any:
        if x[0] > 0:  # noqa: SIM108
            t = x
        else:
            t = x[0]
        return t

    assert text_of(errors.ShapeError, uneven, np.ones(3)) == (
        "`t` is f64[3] after the first branch of line N and f64[] after the second, "
        "which a traced condition cannot choose between\n"
        "  FILE:N in uneven\n"
        "    if x[0] > 0:  # noqa: SIM108\n"
        "       ^^^^^^^^\n"
        "  Make both of one structure, shape and dtype, or pass what decides as a static argument."
    )


def test_a_value_on_one_path_only() -> None:
    def sometimes(x: Any) -> Any:
        if x > 0:
            return x
        return None

    with pytest.raises(errors.TreeError) as caught:
        fg.jit(sometimes).program(1.0)
    assert "what is returned is " in str(caught.value)


def test_a_while_loop_that_changes_a_shape() -> None:
    def growing(x: Any) -> Any:
        while np.sum(x) < 10:
            x = np.append(x, 1.0)
        return x

    assert text_of(errors.ShapeError, growing, np.ones(3)).startswith(
        "`x` is f64[3] before the while loop of line N and f64[4] after a trip, "
        "and a loop must keep what it carries of one type\n  FILE:N in growing\n"
    )


def test_a_list_in_a_loop_that_ends_when_it_ends() -> None:
    def collected(x: Any) -> Any:
        found = []
        while x > 1:
            x = x / 2
            found.append(x)
        return np.array(found)

    with pytest.raises(
        errors.TracedBranchError, match=r"the while loop of line .*, and how often is traced\n"
    ):
        fg.jit(collected).program(9.0)


def test_errors_keep_the_lines_of_the_user() -> None:
    def inner(x: Any) -> Any:
        if x > 0:
            return fg.numpy.ones(3) @ fg.numpy.ones(4) * x
        return x

    text = text_of(errors.ShapeError, inner, 1.0)
    assert "FILE:N in inner\n    return fg.numpy.ones(3) @ fg.numpy.ones(4) * x\n" in text


def test_it_can_be_switched_off() -> None:
    def signed(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    assert fg.jit(signed)(-2.0) == 2.0
    with pytest.raises(errors.TracedBranchError, match="this branch depends on a traced"):
        fg.jit(signed, control_flow=False)(-2.0)


def test_programs_name_the_lines_of_the_user() -> None:
    def counted(x: Any) -> Any:
        total = 0.0
        for i in range(100):
            total += x[i] * i
        return total

    text = str(fg.jit(counted).program(np.ones(100)))
    assert "length=100" in text
    lines = {int(n) for n in re.findall(r"test_refusals\.py:(\d+)", text)}
    first = counted.__code__.co_firstlineno
    assert lines <= {first + 2, first + 3}
    unrolled = fg.jit(counted, unroll=10_000).program(np.ones(100))
    assert "scan" not in str(unrolled)


def test_an_index_of_a_list_may_be_traced() -> None:
    table = [1.0, 2.0, 4.0]

    def entry(x: Any, k: Any) -> Any:
        return table[k] * x

    assert fg.jit(entry)(1.5, 2) == 6.0
    assert fg.jit(entry)(1.5, 1) == 3.0


def test_nothing_is_written_into_the_module_of_the_user() -> None:
    before = set(globals())

    def signed(x: Any) -> Any:
        return x if x > 0 else -x

    fg.jit(signed)(-1.0)
    assert set(globals()) == before


def test_explain_says_what_has_become_of_statements() -> None:
    def mixed(x: Any) -> Any:
        total = 0.0
        for i in range(100):
            if x[i] > 0:
                total += x[i]
        for _ in range(5):
            total = total * 0.5
        for k in range(20):
            total += np.sum(x[k:])
        while total > 1:
            total = total / 2
        return total

    report = fg.explain(mixed)(np.linspace(-1.0, 1.0, 100))
    first = mixed.__code__.co_firstlineno
    said = {int(line.split(":")[1].split()[0]) - first: line.partition(" ")[2] for line in report.statements}
    assert said[2] == "a loop of 100 trips that carries total"
    assert said[3] == "a branch that chooses total"
    assert said[5] == "unrolled, 5 trips of 2 operations"
    assert said[7] == "a loop of 20 trips that carries total"
    assert said[9] == "a while loop that carries total"
    assert "statements" in str(report)


def test_explain_names_the_cells_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, file = (
        "def doubled(x):\n    while x < 100.0:\n        x = 2.0 * x\n    return x\n",
        "/tmp/ipykernel_41/18.py",
    )
    monkeypatch.setitem(linecache.cache, file, (len(cell), None, cell.splitlines(True), file))
    compiler = types.SimpleNamespace(format_code_name={file: ("Cell", "In[3]")}.get)
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(cell, file, "exec"), names)
    assert fg.explain(names["doubled"])(1.0).statements == ("Cell In[3]:2 a while loop that carries x",)


@pytest.mark.parametrize(
    ("shape", "kept"),
    [((4, 40), True), ((40,), True), ((300, 300), False), ((300,), True)],
    ids=["small matrices", "vector", "large matrices", "long vector"],
)
def test_loops_of_small_products_stay_loops(shape: tuple[int, ...], kept: bool) -> None:
    def iterated(w: Any, x: Any) -> Any:
        for _ in range(9):
            x = np.tanh(((((x @ w) @ w) @ w) @ w) @ w)
        return np.sum(x)

    def pointwise(x: Any) -> Any:
        for _ in range(9):
            x = np.tanh(((((x * 2) + x) * x) - x) / 2)
        return np.sum(x)

    x = np.ones(shape)
    assert ("scan" in str(fg.jit(iterated).program(np.ones((shape[-1], shape[-1])), x))) == kept
    assert "scan" not in str(fg.jit(pointwise).program(x))


def test_a_name_of_another_function_is_never_baked_in() -> None:
    def adder() -> Any:
        total = 0.0

        def add(value: Any) -> Any:
            nonlocal total
            total = total + value
            return total

        return add

    def outside(x: Any) -> Any:
        add = adder()
        found = 0.0
        for _ in range(60):
            found = add(x)
        return found

    np.testing.assert_allclose(fg.jit(outside)(1.5), outside(1.5))


def test_names_that_the_taken_path_does_not_bind_are_nan() -> None:
    """Python raises UnboundLocalError there; a number that looks right must not come out."""

    @fg.jit
    def one_side(x):
        if x > 0:
            y = 2.0 * x
        return y

    @fg.jit
    def no_trip(x):
        while x > 0:
            y, x = x, x - 1.0
        return y

    assert one_side(3.0) == 6.0
    assert np.isnan(one_side(-3.0))
    assert no_trip(2.5) == 0.5
    assert np.isnan(no_trip(-1.0))


def test_a_later_call_that_would_be_another_is_refused() -> None:
    calls = 0

    def numbered(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x * calls

    assert text_of(errors.TracedBranchError, numbered, 2.0) == (
        "numbered changes `calls`, which is none of its own names, and a later call depends on it: "
        "compiled, it would stay what it was\n"
        "  FILE:N in text_of\n"
        "    fg.jit(function)(*args)\n"
        "    ^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  Take the value as an argument and return it, or set it anew when the function starts."
    )


def test_what_is_refused_leaves_no_traced_values_in_names() -> None:
    text = 3.0
    kept: list[Any] = []
    if text < 0.0:
        never_bound = False

    def warned(x: Any) -> Any:
        nonlocal text, never_bound
        if x > 35.0:
            x = 35.0
            never_bound = True
        kept.append(x)
        text = text * x
        return x * text

    first = text_of(errors.TracedBranchError, fg.grad(warned), 2.0)
    assert text_of(errors.TracedBranchError, fg.grad(warned), 2.0) == first
    with pytest.raises(NameError):
        str(never_bound)
    assert (text, kept) == (3.0, [])


def test_recordings_may_be_counted() -> None:
    calls = 0

    @fg.jit
    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x * 2.0

    assert counted(1.0) == counted(1.0) == 2.0
    assert calls == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held["bytes"].append(1),
        lambda held: held["rng"].normal(),
        lambda held: held["text"].write("a"),
    ],
)
def test_what_a_branch_would_change_in_objects_is_refused(change: Any) -> None:
    def sometimes(x: Any) -> Any:
        held = {
            "bytes": bytearray(),
            "rng": np.random.default_rng(1),
            "text": io.StringIO(),
        }
        if x > 0:
            change(held)
        return x * len(held["bytes"])

    assert "an if of line N is recorded once, and " in text_of(errors.TracedBranchError, sometimes, 2.0)


@pytest.mark.parametrize(
    "change", [lambda c: c.append(1.0), lambda c: c.pop(), lambda c: c.__setitem__(0, 2.0)]
)
def test_lists_that_a_condition_has_chosen_stay_as_they_are(change: Any) -> None:
    """Another name may be the same list or not: what it holds afterwards cannot be said."""

    def chosen(x: Any) -> Any:
        a, b = [x], [2.0 * x]
        change(a if x > 1 else b)
        return a[0] + b[0]

    text = text_of(errors.TracedBranchError, chosen, 3.0)
    assert text.startswith(
        "a list is changed here that the traced condition of line N has chosen or chosen from"
    )


def test_a_part_that_a_condition_has_chosen_is_read_while_the_array_stays() -> None:
    def f(x: Any) -> Any:
        a = x[0] if x[0, 0] > 1 else x[1]
        b = x[2] if x[1, 1] > 0 else x[1]  # reads the same array
        return a * b

    x = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(fg.jit(f)(x), f(x))


def test_a_part_that_a_condition_has_chosen_is_read_only() -> None:
    def chosen(x: Any) -> Any:
        u = np.zeros((3, 2))
        u[:] = x
        row = u[0] if x > 1 else u[1]
        row[0] = 5.0
        return np.sum(u)

    text = text_of(errors.TracedBranchError, chosen, 3.0)
    assert text.startswith(
        "what line N has chosen by a traced condition is a part of an array, and is written"
    )


def test_powers_of_whole_numbers_in_loops_say_what_to_do() -> None:
    def f(n: Any) -> Any:
        total = 0.0
        while n < 5:
            total += 2**-n
            n += 1
        return total

    with pytest.raises(ValueError, match=r"2\.0 \*\* -k in place of"):
        fg.jit(f)(0)


def test_rows_of_tuples_at_a_traced_index_are_tuples() -> None:
    """Python joins and repeats them, and each place keeps its type."""
    rows = [(1, 2.5), (3, 4.5)]
    assert fg.jit(lambda t: rows[t] + rows[t - 1])(1) == (3, 4.5, 1, 2.5)
    assert fg.jit(lambda t: rows[t] * 2)(0) == (1, 2.5, 1, 2.5)
    assert [x.dtype.kind for x in fg.jit(lambda t: rows[t])(1)] == ["i", "f"]
    assert fg.jit(lambda t, s: rows[t][s])(1, 0) == 3.0
    assert not fg.jit(lambda t: rows[t] < rows[0])(1)
    assert fg.jit(lambda t: rows[t] == rows[1])(1)
