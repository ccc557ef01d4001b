"""Every special function at the edges of its domain: first and second derivatives, every way, and limits.

``python -m tests.scipy.survey_of_edges [name ...]`` prints where the ways disagree with each other, or with
the limit from within, by mpmath, if all sides have the same. It takes minutes, and so it is no test: what it
finds is decided, and becomes a row of `test_special_at_the_edges`. What is left is said in
`docs/design/special-functions.md`.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp
import numpy as np

import funcgrad as fg
from funcgrad.ops.specials.table import TABLE, Special
from tests.scipy.test_special_derivatives import CASES

INF = math.inf
Point = tuple[Any, ...]
Key = tuple[int, ...]

REAL = (-INF, -50.0, -2.0, -1.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 1.0, 2.0, 50.0, INF)
UNIT = (-0.5, 0.0, 1e-9, 0.5, 1.0, 1.5)
POSITIVE = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, INF)
ORDERS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
WHOLE = (0, 1, 2, 3)
ENDS = (-INF, -1.0, 0.0, 0.5, 1.0, INF)
GRIDS: dict[str, tuple[tuple[Any, ...], ...]] = {
    **dict.fromkeys(["beta", "betaln", "binom", "poch", "zeta", "xlogy"], (POSITIVE, POSITIVE)),
    **dict.fromkeys(["gammainc", "gammaincc", "chdtr", "chdtrc", "rel_entr", "kl_div"], (POSITIVE, POSITIVE)),
    **dict.fromkeys(["boxcox", "power", "powm1"], (POSITIVE, REAL)),
    **dict.fromkeys(["xlog1py", "boxcox1p", "huber", "pseudo_huber"], (POSITIVE, REAL)),
    **dict.fromkeys(["inv_boxcox", "inv_boxcox1p"], (REAL, REAL)),
    **dict.fromkeys(["betainc", "betaincc"], (POSITIVE, POSITIVE, UNIT)),
    **dict.fromkeys(["gdtr", "gdtrc", "fdtr", "fdtrc"], (POSITIVE, POSITIVE, POSITIVE)),
    "stdtr": (POSITIVE, REAL),
    **dict.fromkeys(["ellipkinc", "ellipeinc"], ((0.0, 0.5, 1.5, 2.0, -2.0), REAL)),
    **dict.fromkeys(["jv", "yv", "iv", "kv", "ive", "kve"], (ORDERS, ENDS)),
    **dict.fromkeys(["kn", "yn", "expn"], (WHOLE, ENDS)),
    **dict.fromkeys([f for f in TABLE if f.startswith("eval_")], (WHOLE, ENDS)),
    **dict.fromkeys(["eval_gegenbauer", "eval_genlaguerre"], (WHOLE, (-0.5, 0.0, 0.5), ENDS)),
    "eval_jacobi": (WHOLE, (-0.5, 0.0, 0.5), (-0.5, 0.0, 0.5), ENDS),
    **dict.fromkeys(["pdtr", "pdtrc"], (WHOLE, POSITIVE)),
    **dict.fromkeys(["bdtr", "bdtrc"], (WHOLE, (4,), UNIT)),
    "hyp0f1": (ORDERS, ENDS),
    "hyp1f1": (ORDERS, (0.5, 1.0), ENDS[1:-1]),
    "hyp2f1": (ORDERS, (0.0, 0.5, -1.0), (0.5, 1.0, 3.5), ENDS),
    "hyperu": (ORDERS, ORDERS, (0.0, 0.5, INF)),
    **dict.fromkeys(["ndtri", "erfcinv"], (UNIT,)),
}
"""The edges of functions of several arguments, and of those that are no functions of the whole line."""

DISTANCES = tuple([mp.mpf(10) ** -k for k in (5, 7, 9)])


def grid(name: str) -> list[Point]:
    """The points at which a function is looked at."""
    return list(itertools.product(*GRIDS.get(name, (REAL,))))


def moving(name: str) -> list[int]:
    """The arguments by which a function has derivatives."""
    partials = TABLE[name].partials
    kept = [i for i, p in enumerate(partials) if not isinstance(p, str)]
    return [i for i in kept if not isinstance(grid(name)[0][i], int)]


def by_every_way(name: str, points: list[Point]) -> dict[Key, dict[str, Any]]:
    """First and second derivatives at all points at once, in every order of directions."""
    columns, which = [np.array(c) for c in zip(*points, strict=True)], moving(name)
    at = [columns[i] for i in which]
    one, zero = np.ones(len(points)), np.zeros(len(points))

    def f(*moved: Any) -> Any:
        full: list[Any] = list(columns)
        for i, value in zip(which, moved, strict=True):
            full[i] = value
        return Special(name)(*full)

    def forward(g: Callable[..., Any], k: int) -> Callable[..., Any]:
        tangents = tuple([one if m == k else zero for m in range(len(which))])
        return lambda *x: fg.jvp(g, x, tangents)[1]

    def reverse(g: Callable[..., Any], k: int) -> Callable[..., Any]:
        return fg.grad(lambda *x: fg.numpy.sum(g(*x)), k)

    found: dict[Key, dict[str, Any]] = {}
    ways = {"f": forward, "r": reverse}
    for k, i in enumerate(which):
        found[(i,)] = {a: way(f, k)(*at) + zero for a, way in ways.items()}
        found[(i,)]["jit"] = fg.jit(reverse(f, k))(*at) + zero
        for m, j in enumerate(which):
            both = found.setdefault((min(i, j), max(i, j)), {})
            for (a, outer), (b, inner) in itertools.product(ways.items(), ways.items()):
                both[f"{a}{b} by {i}, {j}"] = outer(inner(f, k), m)(*at) + zero
    return found


def beside(x: Any, side: int, distance: Any) -> Any:
    """A number beside x, or far away where x is infinite."""
    if isinstance(x, int):
        return x
    if math.isinf(x):
        return mp.sign(x) / distance ** (mp.mpf(1) / 3)
    return mp.mpf(x) + side * distance * (abs(mp.mpf(x)) or 1)


def derivative(f: Callable[..., Any], at: list[Any], key: Key, step: Any) -> Any:
    """A first or second derivative by central differences of 60 digits."""
    if len(set(key)) < 2:
        along = lambda t: f(*[t if k == key[0] else v for k, v in enumerate(at)])  # noqa: E731
        return mp.diff(along, at[key[0]], len(key), h=step)
    total = mp.mpf(0)
    for signs in itertools.product((1, -1), repeat=2):
        moved = list(at)
        for k, sign in zip(key, signs, strict=True):
            moved[k] += sign * step
        total += signs[0] * signs[1] * f(*moved)
    return total / (4 * step * step)


def tends_to(values: list[Any]) -> float:
    """What three values at ever smaller distances tend to; NaN where that is not seen."""
    a, b, c = [float(mp.re(v)) for v in values]
    if abs(c - b) <= 2e-4 * abs(c):
        return c
    if abs(c) > 1.15 * abs(b) > 1.2 * abs(a) and abs(c) > 5.0:
        return math.copysign(INF, c)
    falls = abs(c) < 1e-5 and abs(c) <= 0.7 * abs(b)
    return 0.0 if falls or abs(c) < 1e-12 else math.nan


def limit(name: str, point: Point, key: Key) -> float | None:
    """The limit of a derivative from within; None where there are none or several."""
    if name not in CASES:
        return None
    f, found = CASES[name][0], []
    for sides in itertools.product((1, -1), repeat=len(moving(name))):
        side = dict(zip(moving(name), sides, strict=True))
        values = []
        for distance in DISTANCES:
            at = [beside(x, side[i], distance) if i in side else x for i, x in enumerate(point)]
            try:
                value = f(*at)
                values.append(derivative(f, at, key, distance * mp.mpf(10) ** -8))
            except (ValueError, ZeroDivisionError, ArithmeticError, TypeError, mp.libmp.NoConvergence):
                break
            if abs(mp.im(value)) > 1e-30 * (1 + abs(value)):
                break
        if len(values) == len(DISTANCES):
            found.append(tends_to(values))
    alike = found and all(v == found[0] or abs(v - found[0]) <= 2e-3 * abs(found[0]) + 1e-9 for v in found)
    return found[0] if alike else None


def findings(name: str) -> Iterator[str]:
    """What is odd about a function, a line each."""
    points = grid(name)
    found = by_every_way(name, points)
    for n, point in enumerate(points):
        for key, ways in found.items():
            got = {way: float(values[n]) for way, values in ways.items()}
            first, *rest = got.values()
            if not all(np.isclose(v, first, rtol=1e-6, atol=1e-9, equal_nan=True) for v in rest):
                yield f"{name}{point} by {key}: the ways disagree, {got}"
                continue
            wanted = limit(name, point, key)
            if wanted is not None and not np.isclose(first, wanted, rtol=1e-3, atol=1e-6):
                yield f"{name}{point} by {key}: {first}, and the limit is {wanted}"


def main(names: list[str]) -> None:
    """Print what is odd about the functions of these names, or of all that mpmath knows."""
    warnings.simplefilter("ignore")
    with mp.workdps(60), np.errstate(all="ignore"):
        for name in names or sorted(CASES):
            for line in findings(name):
                sys.stdout.write(f"{line}\n")
            sys.stdout.write(f"{name}: {len(grid(name))} points\n")


if __name__ == "__main__":
    main(sys.argv[1:])
