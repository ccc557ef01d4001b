"""Pointwise derivatives in funcgrad and in jax, at awkward real points and on complex numbers.

Where the two differ on purpose, `differs` says why.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

pytestmark = [pytest.mark.peers("jax"), pytest.mark.filterwarnings("ignore::RuntimeWarning")]

REAL = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin"),
    *("arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "sinc", "square", "sign"),
    *("reciprocal", "degrees", "radians", "floor", "ceil", "trunc", "rint", "negative", "positive"),
    "absolute",
)
ONLY_REAL = {"cbrt", "degrees", "radians", "floor", "ceil", "trunc", "rint"}
COMPLEX = (*[n for n in REAL if n not in ONLY_REAL], "conjugate", "real", "imag", "angle")
TWO = (
    *("add", "subtract", "multiply", "divide", "power", "hypot", "arctan2", "logaddexp", "logaddexp2"),
    *("maximum", "minimum", "remainder", "fmod", "floor_divide", "copysign", "heaviside"),
)
POINTS = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 20.0, -20.0, 800.0, -800.0, 1e200)
PAIRS = tuple((x, y) for x in (0.0, 1.0, -1.0, 2.0, -2.5, 0.5) for y in (0.0, 1.0, -1.0, 2.0, -2.5, 0.5))
PLANE = (0.3 + 0.4j, -1.2 + 0.7j, 0.5 - 2.0j, -0.3 - 0.2j, 2.0 + 0.5j)


def differs(name: str, *point: complex) -> bool:
    """Where jax is left alone, and why."""
    x = point[0]
    match name:
        case "arccosh":  # NaN below 1, and the principal branch of complex numbers: jax has neither
            return x.real < 0
        case "absolute" | "copysign":  # our subgradient at the kink is 0
            return x == 0
        case "sign":  # z / |z| turns with z: jax says that it does not
            return isinstance(x, complex)
        case "power":  # 0 at the origin; by y at poles of 0 ** y -inf, as PyTorch: NaN in jax
            return x == 0 and point[1].real <= 0
        case "hypot" | "arctan2":  # 0 at the origin, where jax has NaN or 1/2
            return point == (0.0, 0.0)
    return False


def assert_near(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_real_functions(name: str) -> None:
    import jax

    ours, theirs = fg.grad(getattr(np, name)), jax.grad(getattr(jax.numpy, name))
    for x in POINTS:
        if not differs(name, x):
            assert_near(ours(x), theirs(x))


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name: str) -> None:
    import jax

    ours = fg.grad(getattr(np, name), (0, 1))
    theirs = jax.jit(jax.grad(getattr(jax.numpy, name), (0, 1)))
    for x, y in PAIRS:
        if not differs(name, x, y):
            assert_near(ours(x, y), theirs(x, y))


@pytest.mark.parametrize("name", COMPLEX)
def test_pullbacks_on_the_complex_plane(name: str) -> None:
    import jax

    for z in PLANE:
        if differs(name, z):
            continue
        out, ours = fg.vjp(getattr(np, name), z)
        _, theirs = jax.vjp(getattr(jax.numpy, name), z)
        cotangent = 0.7 - 0.3j if np.iscomplexobj(out) else 0.7
        assert_near(ours(cotangent)[0], theirs(jax.numpy.asarray(cotangent))[0])


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power"])
def test_pullbacks_of_two_complex_numbers(name: str) -> None:
    import jax

    cotangent = 0.7 - 0.3j
    for z in PLANE:
        for w in (0.9 - 0.4j, 1.5):
            ours = fg.vjp(getattr(np, name), z, w)[1](cotangent)
            theirs = jax.vjp(getattr(jax.numpy, name), z, w)[1](jax.numpy.asarray(cotangent))
            for x, y in zip(ours, theirs, strict=True):
                assert_near(x, y)
                assert np.iscomplexobj(x) == np.iscomplexobj(y)
