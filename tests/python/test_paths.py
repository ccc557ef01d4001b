"""Functions that have no one Program: one path at a time, each tested on every call."""

from __future__ import annotations

import collections
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.api.python.guarded import paths

SEEDS = np.random.default_rng(5).uniform(0.3, 1.7, (12, 6))


def kept(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        if x[i] > 0.9:
            out.append(x[i] ** 2)  # noqa: PERF401 - a loop is what is tested
    return np.mean(out) + max(out) - min(out) + sum(out) * len(out) if out else x[0]


def filtered(x: Any) -> Any:
    big = [v for v in x if v > 0.6]
    return np.array(big).std() + min(big) + any(v > 1.6 for v in big)


def adaptive(x: Any) -> Any:
    t, h, y = 0.0, 0.3, x[0]
    ys = [y]
    while t < 2.0:
        h = min(h, 2.0 - t)
        a, b = y - h * y * y, y - h / 2 * (y * y + (y - h * y * y) ** 2)
        if abs(a - b) < 5e-2:
            t, y, h = t + h, b, h * 1.5
            ys.append(y)
        else:
            h *= 0.5
    return np.array(ys).mean() + ys[-1]


def hit(x: Any) -> Any:
    def distance(a: Any) -> Any:
        return None if a < 1.0 else a * a

    found = distance(x[0])
    return -x[1] if found is None else found


def merged(x: Any) -> Any:
    a, b, out = sorted(x[:3]), sorted(x[3:]), []
    i = j = 0
    while i < 3 and j < 3:
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out += a[i:] + b[j:]
    return sum(k * v for k, v in enumerate(out))


def best_part(x: Any) -> Any:
    y = x - 1.0
    best = now = y[0]
    first = begin = end = 0
    for i in range(1, 6):
        if now < 0:
            now, first = y[i], i
        else:
            now = now + y[i]
        if now > best:
            best, begin, end = now, first, i
    return best + np.sum(y[begin : end + 1] ** 2)


def integral(x: Any) -> Any:
    def part(a: Any, b: Any, whole: Any) -> Any:
        m = (a + b) / 2
        left, right = (m - a) * np.exp(-x[0] * (a + m) / 2), (b - m) * np.exp(-x[0] * (b + m) / 2)
        close = abs(left + right - whole) < 1e-3
        return left + right if close else part(a, m, left) + part(m, b, right)

    return part(0.0, 2.0, 2.0 * np.exp(-x[0])) * x[1]


def masked(x: Any) -> Any:
    y, n = x.copy(), np.zeros(6, int)
    for k in range(3):
        small = np.abs(y) < 1.2
        y[small] = y[small] ** 2 + 0.3
        n[small] = k
    places = np.nonzero(y > 1.0)[0]
    return y[places].sum() * len(places) + np.mean(y[n > 0]) + np.unique(np.floor(3 * x)).sum() * x[0]


NAMES: dict[str, Any] = {}
exec("def without_source(x):\n    return x[0] * x[1] if x[0] > x[1] else x[2] ** 2", NAMES)


@pytest.mark.parametrize(
    "function", [kept, filtered, adaptive, hit, merged, masked, best_part, integral, NAMES["without_source"]]
)
def test_all_paths_are_pythons(function: Callable[..., Any]) -> None:
    compiled, slopes = fg.jit(function), fg.jit(fg.grad(function))
    for x in (*SEEDS[:2], SEEDS[0], SEEDS[0]):
        assert compiled(x) == pytest.approx(function(x), rel=1e-12)
        expected = fg.grad(function)(x)
        np.testing.assert_allclose(slopes(x), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(fg.grad(compiled)(x), expected, rtol=1e-10, atol=1e-12)


def test_under_vmap_examples_take_their_own_paths() -> None:
    rows = SEEDS[:3]
    expected = [kept(x) for x in rows]
    np.testing.assert_allclose(fg.vmap(kept)(rows), expected)
    np.testing.assert_allclose(fg.jit(fg.vmap(kept))(rows), expected)
    slopes = fg.vmap(fg.grad(kept), in_axes=1, out_axes=1)(rows.T)
    np.testing.assert_allclose(slopes.T, [fg.grad(kept)(x) for x in rows])
    with pytest.raises(fg.errors.ShapeError, match="example 1 gives an array of shape"):
        fg.vmap(lambda x: np.array([v for v in x if v > 0]))(np.array([[1.0, -1.0], [1.0, 2.0]]))


def test_a_path_is_kept_and_python_runs_where_there_are_too_many() -> None:
    def plain(x: Any) -> Any:
        return sum([x * k for k in range(12) if x > k] + [x]) if x > 0 else None

    compiled = fg.jit(plain)
    for x in (3.5, 3.25, -1.0, -2.0, *np.arange(0.5, 12).tolist(), 3.75):
        assert compiled(x) == pytest.approx(plain(x))
    (found,) = compiled._paths.values()
    assert len(found) <= paths.MOST_PATHS


def test_a_path_is_compiled_when_it_is_taken_again() -> None:
    compiled = fg.jit(masked)
    for x, recurred in ((SEEDS[0], [False]), (SEEDS[1], [False, False]), (SEEDS[0], [False, True])):
        assert compiled(x) == pytest.approx(masked(x), rel=1e-12)
        (found,) = compiled._paths.values()
        assert [path.recurred for path in found] == recurred
        assert [path._executable is None for path in found] == [True] * len(found)
    assert compiled(SEEDS[0]) == pytest.approx(masked(SEEDS[0]), rel=1e-12)
    assert [path._executable is None for path in found] == [True, False]


def test_what_a_path_would_leave_outside_is_refused() -> None:
    seen: list[Any] = []

    def remembers(x: Any) -> Any:
        if x > 0:
            seen.append(x)
        return sum(seen)

    with pytest.raises(fg.errors.FuncgradError):
        fg.jit(remembers)(2.5)


def of_masks(x: Any) -> Any:
    y, s = np.concatenate([x, -x]), 0.0
    for t in range(20):
        y = y * 0.99 + 0.01 * np.sin(y + t)
        high = y[y > 0]
        if high.size:
            s += high.mean()
        y[y > 1.5] = 1.5
    return s


def test_where_a_path_is_too_long_python_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    monkeypatch.setattr(paths, "MOST_OPERATIONS", 100)
    compiled, slopes = fg.jit(of_masks), fg.jit(fg.grad(of_masks))
    for x in SEEDS[:2]:
        assert compiled(x) == of_masks(x)
        np.testing.assert_array_equal(fg.grad(compiled)(x), slopes(x))
    told = [line for line in capsys.readouterr().err.splitlines() if "is run by Python" in line]
    text = "it has no one Program, and one path through it has more than 100 operations; fg.explain says why"
    assert told == [f"funcgrad: of_masks is run by Python under jit: {text}"] * 2
    step = 1e-6 * (np.arange(6) == 2)
    quotient = (of_masks(SEEDS[0] + step) - of_masks(SEEDS[0] - step)) / 2e-6
    assert slopes(SEEDS[0])[2] == pytest.approx(quotient, rel=1e-6)
    np.testing.assert_allclose(fg.jit(fg.vmap(of_masks))(SEEDS[:2]), [of_masks(x) for x in SEEDS[:2]])
    with pytest.raises(fg.errors.ConcretizationError, match="a boolean index needs the value"):
        compiled.program(SEEDS[0])


def test_where_a_path_that_is_too_long_has_changed_something_outside_it_is_the_error_that_it_was() -> None:
    def long(x: Any, seen: Any = set()) -> Any:  # noqa: B006 - it is changed
        found = []
        while x > 1e-9:
            seen.add(len(found))
            x = x * 0.99
            found.append(x)
        return np.array(found)

    with pytest.raises(fg.errors.TracedBranchError, match="a set from outside is changed"):
        fg.jit(long)(9.0)


def merge_sorted(x: Any) -> Any:
    def halves(a: Any) -> Any:
        if len(a) <= 1:
            return a
        m, out = len(a) // 2, []
        left, right = halves(a[:m]), halves(a[m:])
        while left and right:
            out.append(left.pop(0) if left[0] <= right[0] else right.pop(0))
        return out + left + right

    return sum(v * k**2 for k, v in enumerate(halves(list(x))))


def shortest(x: Any) -> Any:
    waiting, done, far = [(0.0, 0)], set(), {0: 0.0}
    while waiting:
        d, u = heapq.heappop(waiting)
        if u in done:
            continue
        done.add(u)
        for v in range(u + 1, min(u + 3, 6)):
            if v not in far or d + x[v] < far[v]:
                far[v] = d + x[v]
                heapq.heappush(waiting, (far[v], v))
    return sum(far.values())


def of_a_set(x: Any) -> Any:
    found: set[int] = set()
    late: collections.deque[Any] = collections.deque()
    for i in range(6):
        if x[i] > 1.0:
            found.add(i)
        else:
            late.appendleft(x[i])
    return sum(x[i] * i for i in sorted(found)) + sum(v * k for k, v in enumerate(late))


@pytest.mark.parametrize("function", [merge_sorted, shortest, of_a_set])
def test_what_a_branch_changes_in_containers_of_the_function_takes_a_path(function: Any) -> None:
    compiled, slopes = fg.jit(function), fg.jit(fg.grad(function))
    for x in SEEDS[:3]:
        assert compiled(x) == pytest.approx(function(x), rel=1e-12)
        quotients = [(function(x + 1e-6 * e) - function(x - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
        np.testing.assert_allclose(slopes(x), quotients, rtol=1e-6, atol=1e-8)


def test_other_values_that_are_read_are_guards_too() -> None:
    def named(x: Any) -> Any:
        first = None if x > 100 else x
        found = {f"{int(x)}": x * 2.0, "0": first}
        return sum(k * v for k, v in enumerate(found.values()) if v is not None)

    compiled = fg.jit(named)
    for x in (0.2, 1.2, 2.6, 0.3, 200.0):
        assert compiled(x) == pytest.approx(named(x))


def test_a_branch_may_hold_one_object_twice() -> None:
    def cases(x: Any) -> Any:
        length = 0.0
        case = (x[0] > 1.0) * 1 + (x[1] > 1.0) * 2
        for _ in range(1):
            if case in (0, 15):
                continue
            if case in (1, 14):
                length += np.hypot(x[0], x[1])
            elif case in (3, 12):
                length += x[0] * 3
            else:
                length += x[0]
        return length

    for x in SEEDS[:6]:
        assert fg.jit(cases)(x) == cases(x)


def solved(x: Any) -> Any:
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)  # noqa: PERF401 - what a comprehension would not show
    if len(kept) == 3:
        return np.linalg.inv(np.array([[kept[0], kept[1]], [kept[1], kept[2]]])).sum()
    if len(kept) == 2:
        return np.linalg.cholesky(np.array([[kept[0], 0.0], [0.0, kept[1] - 1.0]])).sum()
    return sum(kept) + 0.0


def test_a_path_that_fails_for_other_arguments_is_not_theirs() -> None:
    jitted, gradient = fg.jit(solved), fg.jit(fg.grad(solved))
    for x in ([1.0, 2.0, 5.0], [1.0, 2.0, -5.0], [-1.0, 2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 3.0, 4.0]):
        np.testing.assert_allclose(jitted(np.array(x)), solved(np.array(x)), rtol=1e-12)
        np.testing.assert_allclose(gradient(np.array(x)), fg.grad(solved)(np.array(x)), rtol=1e-12)
    for f in (solved, jitted):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            f(np.ones(3))
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            f(np.array([1.0, 0.5, -1.0]))


def filled(x: Any) -> Any:
    """A flood, whose lists and dicts are other ones for every example."""
    total, waiting, reached = 0.0, [(3, 3)], {}
    while waiting:
        i, j = waiting.pop()
        if not (0 <= i < 8 and 0 <= j < 8) or (i, j) in reached or x[i, j] > 0.8:
            continue
        reached[i, j] = np.tanh(x[i, j])
        total += reached[i, j] * len(reached)
        waiting.extend([(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)])
    return total


def test_examples_part_ways_with_lists_and_dicts_of_their_own(rng: np.random.Generator) -> None:
    x = rng.normal(size=(3, 8, 8))
    expected = [fg.grad(filled)(row) for row in x]
    for each in (fg.jit(fg.vmap(filled)), fg.vmap(fg.jit(filled)), fg.vmap(filled)):
        np.testing.assert_allclose(each(x), [filled(row) for row in x], rtol=1e-12)
    for each in (fg.jit(fg.vmap(fg.grad(filled))), fg.vmap(fg.jit(fg.grad(filled)))):
        np.testing.assert_allclose(each(x), expected, rtol=1e-12)


def test_lists_from_outside_are_not_the_functions_own(rng: np.random.Generator) -> None:
    seen: list[Any] = []

    def noting(x: Any) -> Any:
        while len(seen) % 7 or x.sum() > len(seen):
            seen.append(1.0)
        return x.sum() * len(seen)

    with pytest.raises(fg.errors.TracedBranchError):
        fg.jit(fg.vmap(noting))(np.abs(rng.normal(size=(3, 8))))


def halved_again(p: Any) -> Any:
    """Simpson's rule, which calls itself twice where that is not exact enough."""

    def f(t: Any) -> Any:
        return np.exp(-p[0] * t * t) * np.cos(p[1] * t) + p[2] * t

    def simpson(a: Any, b: Any) -> Any:
        return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))

    def refined(a: Any, b: Any, whole: Any, depth: int) -> Any:
        m = (a + b) / 2
        left, right = simpson(a, m), simpson(m, b)
        if depth == 0 or abs(left + right - whole) < 1e-4:
            return left + right + (left + right - whole) / 15
        return refined(a, m, left, depth - 1) + refined(m, b, right, depth - 1)

    return refined(0.0, 2.0, simpson(0.0, 2.0), 8)


def test_a_tree_of_calls_is_recorded_as_the_path_through_it(rng: np.random.Generator) -> None:
    points = rng.normal(size=(4, 3))
    gradient = fg.jit(fg.grad(halved_again))
    for p in points:
        np.testing.assert_allclose(gradient(p), fg.grad(halved_again)(p), rtol=1e-12)
        np.testing.assert_allclose(fg.jit(halved_again)(p), halved_again(p), rtol=1e-12)


def nested(x: Any, depth: int) -> Any:
    if depth == 0:
        return np.sin(x) * x
    if x > 0.1 * depth:
        return nested(x - 0.3, depth - 1) * x
    if x < -0.2 * depth:
        y = nested(x + 0.1, depth - 1)
        return y if y > 0 else x * y
    return x * x


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_branches_in_branches_forwards_backwards_and_in_batches(depth: int) -> None:
    x = np.linspace(-1.5, 1.5, 7)
    expected = [fg.grad(nested)(float(v), depth) for v in x]
    for f in (fg.grad, fg.jacfwd):
        jitted = fg.jit(f(nested), static_argnums=1)
        np.testing.assert_allclose([jitted(float(v), depth) for v in x], expected, rtol=1e-12)
    batched = fg.jit(fg.vmap(lambda v: fg.grad(nested)(v, depth)))
    np.testing.assert_allclose(batched(x), expected, rtol=1e-12)
    twice = fg.jit(fg.grad(fg.grad(nested)), static_argnums=1)
    second = [fg.grad(fg.grad(nested))(float(v), depth) for v in x]
    np.testing.assert_allclose([twice(float(v), depth) for v in x], second, rtol=1e-12)


def test_a_branch_is_transposed_once_however_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    from funcgrad.transforms.control import branches

    counts = []
    once = branches.transposed_branch

    def counted(branch: Any, *args: Any) -> Any:
        counts.append(branch)
        return once(branch, *args)

    def deep(x: Any) -> Any:
        y = x
        if x > 0.0:
            y = y * x
            if x > 1.0:
                y = np.sin(y)
                if x > 2.0:
                    y = y * y
                    if x > 3.0:
                        y = np.exp(y)
        return y

    monkeypatch.setattr(branches, "transposed_branch", counted)
    fg.make_program(fg.grad(fg.jit(deep)))(0.5)
    assert len(counts) == 2 * 4
