"""Orthogonal polynomials by their recurrences: ``torch.special``'s functions of a point and a degree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.rows import as_floating
from funcgrad.torch.operations.registry import FUNCTIONS, tensor_of
from funcgrad.types import Array, Option

Step = Callable[[Any, int, Any, Any], Any]


def _chebyshev(x: Array, k: int, p: Array, before: Array) -> Array:
    return 2 * x * p - before


def _hermite(x: Array, k: int, p: Array, before: Array) -> Array:
    return 2 * x * p - 2 * k * before


def _hermite_of_probability(x: Array, k: int, p: Array, before: Array) -> Array:
    return x * p - k * before


def _laguerre(x: Array, k: int, p: Array, before: Array) -> Array:
    return ((2 * k + 1 - x) * p - k * before) / (k + 1)


def _legendre(x: Array, k: int, p: Array, before: Array) -> Array:
    return ((2 * k + 1) * x * p - k * before) / (k + 1)


# The first degree as (constant, factor of x), the recurrence, and whether x stands for 2 x - 1.
_FAMILIES: dict[str, tuple[tuple[float, float], Step, bool]] = {
    "chebyshev_polynomial_t": ((0, 1), _chebyshev, False),
    "chebyshev_polynomial_u": ((0, 2), _chebyshev, False),
    "chebyshev_polynomial_v": ((-1, 2), _chebyshev, False),
    "chebyshev_polynomial_w": ((1, 2), _chebyshev, False),
    "shifted_chebyshev_polynomial_t": ((0, 1), _chebyshev, True),
    "shifted_chebyshev_polynomial_u": ((0, 2), _chebyshev, True),
    "shifted_chebyshev_polynomial_v": ((-1, 2), _chebyshev, True),
    "shifted_chebyshev_polynomial_w": ((1, 2), _chebyshev, True),
    "hermite_polynomial_h": ((0, 2), _hermite, False),
    "hermite_polynomial_he": ((0, 1), _hermite_of_probability, False),
    "laguerre_polynomial_l": ((1, -1), _laguerre, False),
    "legendre_polynomial_p": ((0, 1), _legendre, False),
}


def _polynomial(name: str) -> Callable[[Any, Any], Any]:
    (constant, factor), step, is_shifted = _FAMILIES[name]

    def polynomial(input: Operand, n: Option) -> Operand:
        x = as_floating(tensor_of(input, n if isinstance(n, Tensor) and n._value.dtype.kind == "f" else None))
        degrees = tensor_of(n).detach()
        degrees = degrees.trunc() if degrees._value.dtype.kind == "f" else degrees
        x, degrees = FUNCTIONS["broadcast_tensors"](x, degrees)
        x = 2 * x - 1 if is_shifted else x
        found = FUNCTIONS["where"](degrees == 0, FUNCTIONS["ones_like"](x), FUNCTIONS["zeros_like"](x))
        before, p = FUNCTIONS["ones_like"](x), constant + factor * x
        most = int(degrees.detach().max()) if degrees.numel() else 0
        for k in range(1, most + 1):
            found = FUNCTIONS["where"](degrees == k, p, found)
            before, p = p, step(x, k, p, before)
        return found

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = (
        f"``{name}`` of degree `n` (its whole part), zero for negative ones; differentiable by the point."
    )
    return polynomial


POLYNOMIALS = {name: _polynomial(name) for name in _FAMILIES}
