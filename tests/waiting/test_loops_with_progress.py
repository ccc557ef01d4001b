"""Loops with a bar give what the plain ones give, in every mode, and the bar says how far they are."""

import sys

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import MissingExtraError

pytest.importorskip("tqdm")


@pytest.fixture
def bars(monkeypatch):
    """What every bar was told: its options, its moves and what stands beside it."""
    import tqdm.auto

    made = []

    class Told(tqdm.auto.tqdm):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.moves, self.said, self.closed = [], [], False
            made.append(self)

        def update(self, n=1):
            self.moves.append(n)
            return super().update(n)

        def set_postfix_str(self, s="", refresh=True):
            self.said.append(s)
            return super().set_postfix_str(s, refresh)

        def close(self):
            if not self.closed:
                self.ended_with = (self.n, self.postfix)
            self.closed = True
            return super().close()

    monkeypatch.setattr(tqdm.auto, "tqdm", Told)
    return made


def step(carry, row):
    return carry * 0.9 + row, carry * row


ROWS = np.linspace(-1.0, 1.0, 257)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_gives_what_the_plain_one_gives(bars, reverse):
    found = fg.loops.scan(step, 0.5, ROWS, reverse=reverse, progress="fitting")
    expected = fg.scan(step, 0.5, ROWS, reverse=reverse)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-13)
    (bar,) = bars
    assert (bar.desc.rstrip(": "), bar.total, sum(bar.moves)) == ("fitting", 257, 257)
    assert 50 <= len(bar.moves) <= 100
    assert bar.closed


def test_trees_are_carried_and_collected(bars):
    def body(carry, row):
        return {"a": carry["a"] + row["x"].sum(), "n": carry["n"] + 1}, (row["x"] * 2.0, carry["n"])

    xs = {"x": np.arange(12.0).reshape(6, 2)}
    found = fg.loops.scan(body, {"a": 0.0, "n": 0}, xs)
    expected = fg.scan(body, {"a": 0.0, "n": 0}, xs)
    for x, y in zip(fg.tree.leaves(found), fg.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_is_reported_stands_beside_the_bar(bars):
    value = fg.loops.fori_loop(3, 8, lambda i, x: x + i, 0.0, progress="sum", report=lambda x: {"x": x})
    assert value == 3 + 4 + 5 + 6 + 7
    assert bars[0].said == ["x=3", "x=7", "x=12", "x=18", "x=25"]


@pytest.mark.parametrize("stop", [0.5, 1.5, 1e9])
def test_a_while_loop_counts_its_trips(bars, stop):
    found = fg.loops.while_loop(lambda x: x < stop, lambda x: x * 1.5, 1.0, progress="growing")
    expected = fg.while_loop(lambda x: x < stop, lambda x: x * 1.5, 1.0)
    assert found == expected
    assert bars[0].total is None
    assert sum(bars[0].moves) == round(np.log(expected) / np.log(1.5))


def total(loops, w):
    carry, ys = loops.scan(lambda c, row: (c * w + row, c * c), w, ROWS[:40])
    count = loops.while_loop(lambda x: x < 100.0, lambda x: x * (1.0 + w), carry**2 + 1.0)
    return np.sum(ys) + loops.fori_loop(0, 7, lambda i, x: x * w + i, carry) + count


def test_derivatives_are_those_of_the_plain_loops(bars):
    expected = total(fg, 0.7), fg.grad(lambda w: total(fg, w))(0.7)
    np.testing.assert_allclose(fg.value_and_grad(lambda w: total(fg.loops, w))(0.7), expected, rtol=1e-12)
    assert [sum(bar.moves) for bar in bars[:1]] == [40], "the forward pass is shown"
    second = fg.grad(fg.grad(lambda w: total(fg.loops, w)))(0.7)
    np.testing.assert_allclose(second, fg.grad(fg.grad(lambda w: total(fg, w)))(0.7), rtol=1e-10)


def test_where_no_values_exist_they_are_the_plain_loops(bars):
    expected = fg.grad(lambda w: total(fg, w))(0.7)
    np.testing.assert_allclose(fg.jit(fg.grad(lambda w: total(fg.loops, w)))(0.7), expected, rtol=1e-12)
    many = fg.vmap(lambda w: total(fg.loops, w))(np.array([0.7, 0.3]))
    np.testing.assert_allclose(many[0], total(fg, 0.7), rtol=1e-12)
    assert bars == []


def test_a_closure_over_a_value_that_does_not_exist_yet(bars):
    f = fg.jit(lambda w: fg.loops.scan(lambda c, _: (c * w, None), 1.0, length=50)[0])
    np.testing.assert_allclose(f(0.9), 0.9**50)
    assert bars == []


def test_an_error_closes_the_bar(bars):
    with pytest.raises(ValueError, match="mine"):
        fg.loops.scan(lambda c, x: (_ for _ in ()).throw(ValueError("mine")), 0.0, ROWS)
    assert bars[0].closed


def test_pythons_loops(bars):
    steps = fg.loops.progress(range(5), description="training")
    assert len(steps) == 5
    seen = []
    for k in steps:
        seen.append(k)
        steps.report(loss=np.float32(0.25) * k, phase="warm")
    assert seen == list(range(5))
    (bar,) = bars
    assert bar.said[-1] == "loss=1, phase=warm"
    assert bar.ended_with == (5, "loss=1, phase=warm")
    assert bar.closed
    assert list(fg.loops.progress(iter("ab"), total=2)) == ["a", "b"]


def test_without_tqdm_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(MissingExtraError) as caught:
        fg.loops.progress(range(3))
    assert str(caught.value) == (
        "progress bars are drawn by tqdm, which is not installed\n"
        "  Install it with: pip install 'funcgrad[notebook]', or pip install tqdm."
    )
    with pytest.raises(MissingExtraError):
        fg.loops.scan(step, 0.5, ROWS)
