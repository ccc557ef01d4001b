"""Elements that loops keep in numbers: read once where the places that trips write are known to be others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.rewriting.elements_apart import Form, Sums, Units
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.rewriting.kept_elements import with_kept_elements


def lu_inside(a):
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def product_inside(a):
    a = a.copy()
    n = a.shape[0]
    for i in range(n - 1):
        for j in range(i + 1, n):
            a[i, i] = a[i, i] * 0.9 + a[i, j]
            a[i, j] = a[i, i] * a[j, i]
    return a


def may_be_the_same(a):
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] -= 0.1 * a[i, 3] * a[2, j]
    return a


def counted_from_the_end(a):
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(1, n):
            a[i, -j] = 0.5 * a[i, i] + 0.1 * a[i, -j]
    return a


def first_by_others(a):
    a = a.copy()
    n = a.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            a[0, 0] += 0.1 * a[i, j] * a[0, 0]
            a[i, j] = np.sin(a[0, 0]) * a[i, j]
    return a


def ended_by_an_element(a):
    a = a.copy()
    while a[0, 0] > 1e-2:
        a[0, 0] = a[0, 0] * 0.5
        a[0, 1] += a[0, 0]
    return a


KEPT = (lu_inside, product_inside, first_by_others)
PROGRAMS = (*KEPT, may_be_the_same, counted_from_the_end, ended_by_an_element)


@pytest.mark.parametrize("program", PROGRAMS)
def test_loops_with_kept_elements_are_the_loops_of_python(program):
    rng = np.random.default_rng(0)
    n = 7
    a, w = rng.normal(size=(n, n)) + 3 * np.eye(n), rng.normal(size=(n, n))

    def total(a):
        return np.sum(w * program(a))

    np.testing.assert_allclose(fg.jit(program)(a), program(a), rtol=1e-12)
    value, gradient = fg.jit(fg.value_and_grad(total))(a)
    expected, slopes = fg.value_and_grad(total)(a)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_with_kept_elements_are_the_same_to_numpy(program):
    a = np.random.default_rng(1).normal(size=(7, 7)) + 3 * np.eye(7)
    recorded = fg.make_program(fg.jit(program))(a)
    recorded = expand(recorded)
    made = with_kept_elements(recorded)
    assert (made is not recorded) == (program in KEPT)
    for one, other in zip(made.evaluate(a), recorded.evaluate(a), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_sums_of_counters_are_told_apart():
    """All that is said of two places holds for all numbers that the counters can be."""
    units, n = Units(), 6
    outer = Sums(units)
    k = units.new(0, Form(n - 1))
    inner = outer.inside()
    start = k.plus(Form(1))
    j = inner.counted(start, Form(n))
    m = inner.counted(Form(0), k)
    forms = {"k": k, "j": j, "m": m, "k+1": start, "n-1-k": Form(n - 1).plus(k, -1), "j-1": j.plus(Form(-1))}
    for (a, x), (b, y) in itertools.combinations(forms.items(), 2):
        met = False
        for kk in range(n):
            for jj in range(kk + 1, n):
                for mm in range(kk):
                    numbers = {"k": kk, "j": jj, "m": mm, "k+1": kk + 1, "n-1-k": n - 1 - kk, "j-1": jj - 1}
                    met |= numbers[a] == numbers[b]
        assert not (met and inner.are_apart([x], [y], (n,))), (a, b)
    assert inner.are_apart([k], [j], (n,))
    assert inner.are_apart([j], [m], (n,))
    assert not inner.are_apart([k], [j], (n - 1,)), "an index beyond the array counts as anything"


def knapsack(values, weights):
    best = np.zeros(31)
    for i in range(len(values)):
        for c in range(30, weights[i] - 1, -1):
            with_it = best[c - weights[i]] + values[i]
            if with_it > best[c]:  # noqa: PLR1730 - a branch is what is meant
                best[c] = with_it
    return best[30] + 0.5 * best[17]


def steps_of_two(values, weights):
    total, i = 1.0, 0
    while i < weights[0]:
        total = np.sin(total) + values[i % 6] * total
        i += 2
    return total


def down_to(values, weights):
    total, left = 0.3, 40
    while left > weights[0] and total < 1e3:
        total = total * values[0] + 0.1 * left
        left -= 1
    return total


@pytest.mark.parametrize("program", [knapsack, steps_of_two, down_to])
@pytest.mark.parametrize("weights", [(5, 3, 8, 2, 9, 4), (0, 31, 40, 1, 30, 7)])
def test_counters_of_loops_without_a_bound_are_computed_and_not_kept(program, weights):
    values = np.random.default_rng(2).uniform(0.5, 1.5, size=6)
    weights = np.array(weights)
    if program is not knapsack and weights[0] == 0:
        weights = weights + 11
    compiled = fg.jit(fg.value_and_grad(program))
    value, gradient = compiled(values, weights)
    expected, slopes = fg.value_and_grad(program)(values, weights)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10)
    second = fg.jit(fg.hessian(program))(values, weights)
    np.testing.assert_allclose(second, fg.hessian(program)(values, weights), rtol=1e-9, atol=1e-9)
