"""What bad input to control flow gets: the place, both types, the user's line, the next step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import lax
from funcgrad.errors import (
    DtypeError,
    EscapedTracerError,
    FuncgradError,
    ShapeError,
    TracedBranchError,
    TreeError,
)


def refused(error: type[FuncgradError], function: Any, *args: Any) -> str:
    """The message with which the call is refused."""
    with pytest.raises(error) as caught:
        function(*args)
    assert isinstance(caught.value, TypeError), "jax raises TypeError for these"
    text = str(caught.value)
    assert "  test_refusals.py:" in text, "the user's line is missing"
    assert " ^" in text, "the caret is missing"
    return text


def seen(error: type[FuncgradError], function: Any, *args: Any) -> str:
    """The first line of the refusal."""
    return refused(error, function, *args).splitlines()[0]


def test_a_whole_message() -> None:
    def body(state: Any, x: Any) -> Any:
        return {"w": state["w"] * x, "n": state["n"]}, None

    with pytest.raises(ShapeError) as caught:
        lax.scan(body, {"w": 1.0, "n": 0}, np.ones((3, 2)))
    assert str(caught.value) == (
        "the carry of scan must keep its type: at ['w'] it is f64*[], and body returns f64[2]\n"
        f"  test_refusals.py:{body.__code__.co_firstlineno + 4} in test_a_whole_message\n"
        '    lax.scan(body, {"w": 1.0, "n": 0}, np.ones((3, 2)))\n'
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  Start with an array of the shape it has later, or return one of the first shape."
    )


# -- carries -----------------------------------------------------------------------------------------------


def test_carries_of_another_dtype() -> None:
    def body(c: Any, _: Any) -> Any:
        return (c[0] * np.float64(2.0), c[1]), None

    def loop(init: Any) -> Any:
        return lax.scan(body, init, None, length=2)

    assert seen(DtypeError, loop, (np.float32(1.0), 0)) == (
        "the carry of scan must keep its type: at [0] it is f32[], and body returns f64[]"
    )
    assert "Start with dtype float64, or return x.astype(np.float32)." in refused(
        DtypeError, loop, (np.float32(1.0), 0)
    )


def test_carries_of_integers_do_not_become_real() -> None:
    message = seen(DtypeError, lambda: lax.while_loop(lambda n: n < 3, lambda n: n / 2, np.int64(7)))
    assert message == "the carry of while_loop must keep its type: it is i64[], and the body returns f64[]"


def test_carries_of_another_structure() -> None:
    def body(c: Any, _: Any) -> Any:
        return {"a": c["a"]}, None

    assert seen(TreeError, lambda: lax.scan(body, {"a": 1.0, "b": 2.0}, None, length=2)) == (
        "the carry of scan must keep its structure, and body returns another: "
        "at the root: expected a dict with 2 keys, got one without 'b'"
    )


def test_fori_loop_speaks_of_its_value_only() -> None:
    def grows(i: Any, value: Any) -> Any:
        return {"x": (value["x"], i)}

    def widens(i: Any, value: Any) -> Any:
        return {"x": value["x"] * np.ones(2)}

    for bounds in ((0, 3), (0, np.int32(3))):
        assert seen(TreeError, lambda b=bounds: lax.fori_loop(*b, grows, {"x": 1.0})) == (
            "the carry of fori_loop must keep its structure, and grows returns another: "
            "at ['x']: expected a leaf, got a tuple of 2"
        )
    traced = fg.make_program(lambda n: lax.fori_loop(0, n, widens, {"x": 1.0}))
    for call in (lambda: lax.fori_loop(0, 3, widens, {"x": 1.0}), lambda: traced(3)):
        assert seen(ShapeError, call) == (
            "the carry of fori_loop must keep its type: at ['x'] it is f64*[], and widens returns f64[2]"
        )


# -- scan --------------------------------------------------------------------------------------------------


def test_bodies_that_return_one_thing() -> None:
    assert seen(TreeError, lambda: lax.scan(lambda c, x: c + x, 0.0, np.ones(3))) == (
        "the body of scan must return (carry, y), and it returned a Tracer"
    )
    assert seen(TreeError, lambda: lax.scan(lambda c, x: (c, x, x), 0.0, np.ones(3))) == (
        "the body of scan must return (carry, y), and it returned a tuple of 3"
    )


def test_xs_of_different_lengths() -> None:
    def loop(xs: Any, length: int | None = None) -> Any:
        return lax.scan(lambda c, x: (c, None), 0.0, xs, length=length)

    assert seen(ShapeError, loop, (np.ones(3), np.ones((4, 2)))) == (
        "scan needs xs of one length: xs[0] is f64[3]; xs[1] is f64[4,2]"
    )
    assert seen(ShapeError, loop, np.ones(3), 4) == "scan needs xs of one length: xs is f64[3]; length is 4"
    assert seen(ShapeError, loop, {"a": np.float64(1.0)}) == (
        "scan goes along the first axis of xs, and xs['a'] is f64[], which has none"
    )
    assert seen(ShapeError, loop, None) == (
        "scan needs to know how often: xs has no arrays, and no length is given"
    )
    assert seen(ShapeError, loop, None, -1) == "the length of scan must not be negative, got -1"
    assert seen(ShapeError, lambda: lax.map(np.sin, 1.0)) == (
        "map goes along the first axis of xs, and xs is f64*[], which has none"
    )


@pytest.mark.parametrize("unroll", [0, -2, 1.5, "all"])
def test_unroll_is_checked(unroll: Any) -> None:
    with pytest.raises(ValueError, match="unroll of scan must be"):
        lax.scan(lambda c, x: (c, x), 0.0, np.ones(3), unroll=unroll)
    for fine in (1, 2, True, False):
        lax.scan(lambda c, x: (c, x), 0.0, np.ones(3), unroll=fine)


# -- conditions and branches -------------------------------------------------------------------------------


def test_branches_of_different_types() -> None:
    def one(x: Any) -> Any:
        return {"y": x}

    def other(x: Any) -> Any:
        return {"y": np.stack([x, x])}

    assert seen(ShapeError, lambda: lax.cond(True, one, other, 1.0)) == (
        "the branches of cond must return one type: at ['y'] true_fun returns f64*[], and false_fun f64[2]"
    )
    assert seen(DtypeError, lambda: lax.switch(0, [lambda: 1.5, lambda: np.int32(1)])) == (
        "the branches of switch must return one type: branch 0 returns f64*[], and branch 1 i32[]"
    )
    assert seen(TreeError, lambda: lax.cond(True, one, lambda x: (x,), 1.0)) == (
        "the branches of cond must return one structure, and false_fun returns another than true_fun: "
        "at the root: expected a dict with 1 key, got a tuple of 1"
    )


def test_predicates_and_indices() -> None:
    assert seen(ShapeError, lambda: lax.cond(np.ones(3) > 0, lambda: 1.0, lambda: 2.0)) == (
        "the predicate of cond must be a scalar, got bool[3]"
    )
    assert seen(DtypeError, lambda: lax.switch(1.5, [lambda: 1.0, lambda: 2.0])) == (
        "the index of switch must be an integer, got f64*[]"
    )
    with pytest.raises(ValueError, match="at least one branch"):
        lax.switch(0, [])
    with pytest.raises(TypeError, match="cond expects a function, got a float"):
        lax.cond(True, 1.0, 2.0)


def test_conditions_that_are_no_booleans() -> None:
    def loop(cond: Any) -> Any:
        return lax.while_loop(cond, lambda x: x, np.ones(2))

    say = "the condition of while_loop must return a scalar boolean, and the condition returned "
    assert seen(DtypeError, loop, lambda x: x[0]) == say + "f64[]"
    assert seen(DtypeError, loop, lambda x: x > 0) == say + "bool[2]"
    assert seen(DtypeError, loop, lambda x: (x[0] > 0, 1)) == say + "a PyTreeDef((*, *))"


def test_bounds_that_are_no_integers() -> None:
    assert seen(DtypeError, lambda: lax.fori_loop(0, 2.5, lambda i, x: x, 1.0)) == (
        "the bounds of fori_loop must be integers, got f64*[]"
    )
    assert seen(ShapeError, lambda: lax.fori_loop(0, np.array([3]), lambda i, x: x, 1.0)) == (
        "a bound of fori_loop must be a scalar, got i64[1]"
    )


def test_operands_that_are_no_arrays() -> None:
    for call in (
        lambda: lax.cond(True, lambda x: 1.0, lambda x: 2.0, "text"),
        lambda: lax.scan(lambda c, x: (c, x), "text", np.ones(3)),
        lambda: lax.while_loop(lambda x: True, lambda x: x, object),
        lambda: lax.cond(True, lambda: "text", lambda: "text"),
    ):
        assert "Control flow works on arrays, numbers, and pytrees of them." in refused(DtypeError, call)


# -- values ------------------------------------------------------------------------------------------------


def test_bodies_see_no_values() -> None:
    def step(c: Any, x: Any) -> Any:
        return (c + x if x > 0 else c), None

    # Python's own branches become branches; what is not the user's code still has to read a value.
    assert lax.scan(step, 0.0, np.ones(3))[0] == 3.0
    assert fg.grad(lambda c: lax.scan(step, c, np.ones(3))[0])(1.0) == 1.0

    def smallest(c: Any, x: Any) -> Any:
        return c + sorted([x, c])[0], None

    assert lax.scan(smallest, 0.25, np.ones(3))[0] == 2.0

    def reading(c: Any, x: Any) -> Any:
        return c + sorted([x, c], key=abs)[0], None

    with pytest.raises(TracedBranchError, match="joins lists of traced"):
        lax.scan(reading, 0.0, np.ones(3))
    with pytest.raises(TracedBranchError, match="joins lists of traced"):
        fg.grad(lambda c: lax.scan(reading, c, np.ones(3))[0])(1.0)


def test_values_of_a_body_do_not_get_out() -> None:
    kept: list[Any] = []

    def step(c: Any, x: Any) -> Any:
        kept.append(c * x)
        return c, None

    lax.scan(step, 1.0, np.ones(3))
    with pytest.raises(EscapedTracerError):
        kept[0] + 1.0


def test_an_exception_in_a_body_leaves_no_state_behind() -> None:
    def step(c: Any, x: Any) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        fg.grad(lambda c: lax.scan(step, c, np.ones(3))[0])(1.0)
    assert fg.grad(lambda x: x * x)(3.0) == 6.0
