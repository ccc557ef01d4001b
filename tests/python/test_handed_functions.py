"""Functions of the user's that Python's own call: ``map(f, ...)``, `functools.reduce`, ``sorted(key=f)``."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

X = np.array([0.3, 0.7, 1.2])


def helper(t: Any) -> Any:
    if t > 0.5:
        return math.sqrt(t)
    z = np.zeros(2)
    z[0] = t * t
    return z.sum()


class Weights:
    def converted(self, t: Any) -> Any:
        return np.asarray(t, dtype=float) * math.exp(t)

    def both(self, a: Any, b: Any) -> Any:
        return a * math.exp(b)


W = Weights()

CASES: dict[str, Callable[[Any], Any]] = {
    "map": lambda x: sum(map(helper, x)),
    "map of a method": lambda x: sum(map(W.converted, x)),
    "map of a partial": lambda x: sum(map(functools.partial(W.both, 2.0), x)),
    "reduce": lambda x: functools.reduce(W.both, x),
    "starmap": lambda x: sum(itertools.starmap(W.both, zip(x, x[::-1], strict=True))),
    "accumulate": lambda x: sum(itertools.accumulate(x, W.both)),
    "filter": lambda x: sum(filter(helper, x)),
    "takewhile": lambda x: sum(itertools.takewhile(lambda t: helper(t) < 1.0, x)),
    "sorted": lambda x: sorted(x, key=helper)[0] * 2.0,
    "min": lambda x: min(x, key=W.converted) * 2.0,
    "max": lambda x: max(list(x), key=helper) * 2.0,
}


@pytest.mark.parametrize("transform", [fg.grad, lambda f: fg.jit(fg.grad(f))], ids=["grad", "jit"])
@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
def test_what_they_call_is_seen(f: Callable[[Any], Any], transform: Any) -> None:
    differences = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(transform(f)(X), differences, atol=1e-6)
