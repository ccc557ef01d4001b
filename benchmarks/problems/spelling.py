"""What the libraries spell differently, chosen by the array namespace that a problem is handed.

``numpy`` stands for funcgrad on NumPy code. Nothing is imported before it is needed: a problem runs with
only its own library installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Step = Callable[[Any, Any], tuple[Any, Any]]
"""``carry, y = step(carry, x)``."""

Scan = Callable[[Any, Step, Any, Any], tuple[Any, Any]]
"""``carry, ys = scan(np, step, carry, xs)``."""


def scan(np: Any, step: Step, carry: Any, xs: Any) -> tuple[Any, Any]:
    """A loop over the rows of `xs`: structured in funcgrad and jax, Python's own elsewhere."""
    if np.__name__ == "numpy":
        last, ys = import_module("funcgrad").scan(step, carry, xs)
        return last, ys
    if np.__name__ == "jax.numpy":
        last, ys = import_module("jax").lax.scan(step, carry, xs)
        return last, ys
    ys = []
    for x in xs:
        carry, y = step(carry, x)
        ys.append(y)
    return carry, None if ys[0] is None else np.stack(ys)


def checkpointed_scan(np: Any, step: Step, carry: Any, xs: Any) -> tuple[Any, Any]:
    """jax's loop with `jax.checkpoint` put on the step by hand: it keeps the carries and nothing else."""
    jax = import_module("jax")
    last, ys = jax.lax.scan(jax.checkpoint(step), carry, xs)
    return last, ys


def special(np: Any) -> Any:
    """The library's special functions: ``erf`` and ``expit``."""
    if np.__name__ == "torch":
        return np.special
    homes = {
        "numpy": "scipy.special",
        "jax.numpy": "jax.scipy.special",
        "autograd.numpy": "autograd.scipy.special",
    }
    return import_module(homes[np.__name__])


def logsumexp(np: Any, x: Any, axis: int) -> Any:
    """The logarithm of a sum of exponentials along an axis; NumPy code takes funcgrad's."""
    if np.__name__ == "torch":
        return np.logsumexp(x, dim=axis)
    home = import_module("funcgrad.scipy.special") if np.__name__ == "numpy" else special(np)
    return home.logsumexp(x, axis=axis)


def softplus(np: Any, x: Any) -> Any:
    """``log(1 + exp(x))``: torch's `logaddexp` wants two tensors and is slower."""
    return np.nn.functional.softplus(x) if np.__name__ == "torch" else np.logaddexp(0.0, x)


def sorted_values(np: Any, x: Any) -> Any:
    """The values in order; torch returns their positions too."""
    return np.sort(x).values if np.__name__ == "torch" else np.sort(x)


def cumulative_sum(np: Any, x: Any) -> Any:
    """The running sum; torch insists on being told the axis."""
    return np.cumsum(x, 0)


def solve_lower(np: Any, lower: Any, b: Any) -> Any:
    """``inv(lower) @ b`` for a lower triangular matrix and a vector, which NumPy has no solver for."""
    if np.__name__ == "torch":
        return np.linalg.solve_triangular(lower, b[:, None], upper=False)[:, 0]
    if np.__name__ == "numpy" and find_spec("funcgrad.scipy.linalg") is None:
        return np.linalg.solve(lower, b)
    homes = {
        "numpy": "funcgrad.scipy.linalg",
        "jax.numpy": "jax.scipy.linalg",
        "autograd.numpy": "autograd.scipy.linalg",
    }
    return import_module(homes[np.__name__]).solve_triangular(lower, b, lower=True)


def vmapped(np: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of one example as one of a batch: funcgrad's, jax's and torch's `vmap`."""
    homes = {"numpy": "funcgrad", "jax.numpy": "jax", "torch": "torch"}
    mapped: Callable[..., Any] = import_module(homes[np.__name__]).vmap(function)
    return mapped


def repeated(np: Any, times: int, step: Callable[[Any], Any], start: Any) -> Any:
    """A loop that applies `step` so often: structured in funcgrad and jax, Python's own elsewhere."""
    if np.__name__ in ("numpy", "jax.numpy"):
        home = import_module("funcgrad") if np.__name__ == "numpy" else import_module("jax").lax
        return home.scan(lambda carry, _: (step(carry), None), start, None, length=times)[0]
    for _ in range(times):
        start = step(start)
    return start
