"""Prints the tables of `docs/design/vector-mathematics.md`: largest errors, and times beside NumPy, SciPy
and jax.

Run as ``python tests/compile/vecmath/measure.py [points [names]]`` with ``PYTHONPATH`` at the repository.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from references import CASES, PAIRS, drawn, drawn_pairs, type_of, worst

from conftest import compiled
from funcgrad.compile.vecmath.registry import FUNCTIONS

SIZE = 20_000

DOMAINS = {
    **dict.fromkeys(("log", "log2", "log10", "pow", "gammaln", "digamma"), (0.1, 20.0)),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.99, 0.99)),
    "logit": (0.01, 0.99),
    "arccosh": (1.0, 20.0),
    "erfinv": (-0.999, 0.999),
    "log1p": (-0.5, 20.0),
}
SCIPY = {"logistic": "expit", "digamma": "psi"}
JAX = {"logistic": "expit", "log_expit": "log_sigmoid"}


def largest_error(name: str, dtype: str, points: int) -> float:
    """The largest error in units of the last place among random arguments."""
    rng, error = np.random.default_rng(7), 0.0
    ranges = CASES[name].ranges(dtype) if name in CASES else [(0.0, 0.0)] * 3
    for interval in ranges:
        arrays: tuple[Any, ...]
        arrays = (
            drawn_pairs(rng, name, points, dtype) if name in PAIRS else (drawn(rng, interval, points, dtype),)
        )
        if name in ("gammaln", "digamma"):
            arrays = (arrays[0][arrays[0] != np.floor(arrays[0])],)
        out = np.empty_like(arrays[0])
        compiled(name, dtype, "")(*arrays, out)
        error = max(error, worst(name, arrays, out)[0])
    return error


def nanoseconds(function: Callable[..., Any], *arguments: Any) -> float:
    """The shortest time of a call, for each element."""
    best, stop = 1.0, time.perf_counter() + 0.15
    while time.perf_counter() < stop:
        start = time.perf_counter()
        function(*arguments)
        best = min(best, time.perf_counter() - start)
    return best / SIZE * 1e9


def times(name: str, dtype: str) -> list[float]:
    """Of our loop, of NumPy or SciPy, and of jax."""
    import jax
    import scipy.special

    rng, arity = np.random.default_rng(0), FUNCTIONS[name][1]
    arrays = [rng.uniform(*DOMAINS.get(name, (-5.0, 5.0)), SIZE).astype(type_of[dtype]) for _ in range(arity)]
    out = np.empty_like(arrays[0])
    universal = getattr(np, "power" if name == "pow" else name, None) or getattr(
        scipy.special, SCIPY.get(name, name)
    )
    found = [
        nanoseconds(compiled(name, dtype, ""), *arrays, out),
        nanoseconds(lambda *a: universal(*a, out=out), *arrays),
    ]
    try:
        peer = jax.jit(jax_function(name))
        there = [jax.device_put(a) for a in arrays]
        peer(*there).block_until_ready()
    except (AttributeError, TypeError):
        return [*found, float("nan")]
    return [*found, nanoseconds(lambda *a: peer(*a).block_until_ready(), *there)]


def jax_function(name: str) -> Any:
    """The function of jax by this name."""
    import jax
    import jax.scipy.special

    modules = (jax.numpy, jax.scipy.special, jax.nn)
    names = ("power" if name == "pow" else JAX.get(name, name),)
    return next(getattr(m, n) for n in names for m in modules if hasattr(m, n))


def main() -> None:
    """Print one row for each function."""
    import jax

    jax.config.update("jax_enable_x64", True)
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in sys.argv[2:] or [n for n, (module, _) in FUNCTIONS.items() if module != "complexes"]:
        cells = []
        for dtype in ("float64", "float32"):
            checked = name in CASES or name in PAIRS
            cells.append(f"{largest_error(name, dtype, points):.2f}" if checked else "exact")
            cells += ["-" if np.isnan(t) else f"{t:.2f}" for t in times(name, dtype)]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
