"""Complex numbers through pointwise operations, in JAX's convention.

For a real loss f of ``z = x + iy`` the gradient is ``df/dx - i df/dy``; a pullback is the transpose of the
pushforward under ``Re(sum(a * b))``, without conjugation; ``holomorphic=True`` gives the complex derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import DtypeError

Z = np.array([0.3 + 0.4j, -1.2 + 0.7j, 0.5 - 2.0j, -0.3 - 0.2j])
W = np.array([1.1 - 0.3j, 0.4 + 0.9j, -0.8 + 0.2j, 0.6 - 1.4j])
STEP = 1e-6

HOLOMORPHIC = (
    *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.square, np.reciprocal),
    *(np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.negative, np.positive, np.sinc),
    *(np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh),
    *(lambda z: z**2, lambda z: z**3, lambda z: z**-2, lambda z: z**0.5, lambda z: z**1.7),
    lambda z: 2.0**z,
    *(lambda z: z * W, lambda z: W / z, lambda z: z**W, lambda z: W**z, lambda z: z - W, lambda z: W - 2 * z),
    *(lambda z: np.where(np.real(z) > 0, z * z, 1j * z), fg.scipy.special.erf, fg.scipy.special.ndtr),
)
NOT_HOLOMORPHIC = (
    *(
        np.abs,
        np.sign,
        np.conj,
        np.real,
        np.imag,
        np.angle,
        lambda z: z * np.conj(z),
        lambda z: np.real(z) * z,
    ),
    *(lambda z: np.abs(z) ** 3 * z, lambda z: np.where(np.imag(z) > 0, z, np.conj(z)), np.nan_to_num),
    *(lambda z: np.maximum(z, W), lambda z: np.hypot(np.real(z), np.imag(z)), np.round),
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def by_parts(loss: Callable[[Any], Any], z: Any) -> Any:
    """``df/dx - i df/dy`` by central differences, element by element."""
    gradient = np.zeros_like(z)
    for place in np.ndindex(z.shape):
        for direction, weight in ((1.0, 1.0), (1j, -1j)):
            moved = [z.copy(), z.copy()]
            moved[0][place] += STEP * direction
            moved[1][place] -= STEP * direction
            gradient[place] += weight * (loss(moved[0]) - loss(moved[1])) / (2 * STEP)
    return gradient


@pytest.mark.parametrize("f", HOLOMORPHIC)
def test_holomorphic_derivatives(f: Callable[[Any], Any]) -> None:
    got = fg.grad(lambda z: f(z).sum(), holomorphic=True)(Z)
    wanted = (f(Z + STEP) - f(Z - STEP)) / (2 * STEP)
    np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-7)
    assert got.dtype == np.complex128


@pytest.mark.parametrize("f", HOLOMORPHIC)
def test_second_holomorphic_derivatives(f: Callable[[Any], Any]) -> None:
    def slope(z: Any) -> Any:
        return fg.grad(lambda t: f(t).sum(), holomorphic=True)(z)

    got = fg.grad(lambda z: slope(z).sum(), holomorphic=True)(Z)
    np.testing.assert_allclose(got, (slope(Z + STEP) - slope(Z - STEP)) / (2 * STEP), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", [*HOLOMORPHIC, *NOT_HOLOMORPHIC])
def test_gradients_of_real_losses(f: Callable[[Any], Any]) -> None:
    def loss(z: Any) -> Any:
        out = f(z)
        return (np.real(out) ** 2 + 0.5 * np.imag(out) * np.real(out)).sum()

    got = fg.grad(loss)(Z)
    np.testing.assert_allclose(got, by_parts(loss, Z), rtol=1e-6, atol=1e-6)
    assert got.dtype == np.complex128


@pytest.mark.parametrize("f", [*HOLOMORPHIC, *NOT_HOLOMORPHIC])
def test_pullback_is_the_transpose_of_the_pushforward(f: Callable[[Any], Any]) -> None:
    tangent = W[::-1] * 0.7
    out, pullback = fg.vjp(f, Z)
    pushed = fg.jvp(f, (Z,), (tangent,))[1]
    cotangent = W.astype(out.dtype) if out.dtype.kind == "c" else W.real
    left = np.sum(cotangent * pushed).real
    right = np.sum(pullback(cotangent)[0] * tangent).real
    assert left == pytest.approx(right)


def test_convention() -> None:
    assert fg.grad(np.real)(1.0 + 2.0j) == 1.0
    assert fg.grad(np.imag)(1.0 + 2.0j) == -1.0j
    assert fg.grad(np.abs)(3.0 + 4.0j) == pytest.approx(0.6 - 0.8j)
    assert fg.grad(lambda z: np.real(z * np.conj(z)))(3.0 + 4.0j) == 6.0 - 8.0j
    assert fg.vjp(lambda z: 2j * z, 1.0 + 0.0j)[1](1.0 + 1.0j)[0] == -2.0 + 2.0j
    assert fg.vjp(np.conj, 1.0 + 0.0j)[1](1.0 + 1.0j)[0] == 1.0 - 1.0j


def test_real_and_complex_meet() -> None:
    """A real operand gets the real part of its cotangent, a complex one all of it."""
    x = np.array([0.5, -1.5, 2.0, 0.25])
    by_x, by_z = fg.grad(lambda x, z: np.real(x * z * z).sum(), (0, 1))(x, Z)
    np.testing.assert_allclose(by_x, (Z * Z).real)
    np.testing.assert_allclose(by_z, 2 * x * Z)
    assert by_x.dtype == np.float64
    slope = fg.grad(lambda x: np.abs(np.exp(1j * x) + 1.0))(0.7)
    assert slope == pytest.approx(-np.sin(0.35))


def test_zero() -> None:
    """The magnitude, the sign and the angle of 0 have the derivative 0."""
    assert fg.grad(np.abs)(0j) == 0.0
    assert fg.grad(np.angle)(0j) == 0.0
    assert fg.grad(lambda z: np.real(np.sign(z)))(0j) == 0.0
    assert fg.grad(lambda z: np.abs(z) ** 2)(0j) == 0.0
    assert fg.grad(fg.grad(lambda x: np.abs(x * (3.0 + 4.0j))))(2.0) == pytest.approx(0.0, abs=1e-12)
    assert fg.hessian(lambda x: np.abs(x + 0j))(0.0) == 0.0


def test_parts_keep_infinities_apart() -> None:
    z = np.array([complex(np.inf, 1.0), complex(2.0, -np.inf)])
    (out,) = fg.make_program(lambda z: np.nan_to_num(z, posinf=7.0, neginf=-7.0))(z)(z)
    np.testing.assert_array_equal(out, [7.0 + 1.0j, 2.0 - 7.0j])
    np.testing.assert_array_equal(fg.grad(lambda z: np.imag(z).sum())(z), [-1.0j, -1.0j])


def test_parts_of_real_numbers() -> None:
    x = np.array([1.0, -2.0], np.float32)
    real, imag, conj, angle = fg.make_program(lambda x: (np.real(x), np.imag(x), np.conj(x), np.angle(x)))(x)(
        x
    )
    np.testing.assert_array_equal(real, x, strict=True)
    np.testing.assert_array_equal(imag, np.zeros(2, np.float32), strict=True)
    np.testing.assert_array_equal(conj, x, strict=True)
    np.testing.assert_array_equal(angle, np.angle(x), strict=True)
    assert fg.grad(lambda x: (np.real(x) * np.conj(x)).sum())(x).dtype == np.float32


@pytest.mark.parametrize("deg", [False, True])
def test_angle(deg: bool) -> None:
    (out,) = fg.make_program(lambda z: np.angle(z, deg))(Z)(Z)
    np.testing.assert_allclose(out, np.angle(Z, deg))


def test_questions() -> None:
    z = np.array([1.0 + 0.0j, 2.0j])
    for f in (np.isreal, np.iscomplex):
        for x in (z, z.real):
            np.testing.assert_array_equal(fg.make_program(f)(x)(x)[0], f(x), strict=True)
    seen = []
    fg.grad(lambda z: seen.append((np.isrealobj(z), np.iscomplexobj(z))) or np.abs(z).sum())(z)
    fg.grad(lambda x: seen.append((np.isrealobj(x), np.iscomplexobj(x))) or np.abs(x).sum())(z.real)
    assert seen == [(False, True), (True, False)]


def test_real_if_close() -> None:
    assert fg.grad(lambda z: np.real(np.real_if_close(z)) ** 2)(3.0 + 1e-17j) == 6.0
    kinds = []
    for z in (3.0 + 1e-17j, 3.0 + 1.0j):
        fg.grad(lambda z: kinds.append(np.real_if_close(z).dtype.kind) or np.abs(z))(z)
    assert kinds == ["f", "c"]


def test_single_precision_stays() -> None:
    z = Z.astype(np.complex64)
    for f in (np.exp, np.log, np.tanh, np.sign, np.conj, lambda z: z**2, lambda z: z * 2.0, np.sinc):
        out, pullback = fg.vjp(f, z)
        assert out.dtype == np.complex64
        assert pullback(np.ones_like(out))[0].dtype == np.complex64
    assert fg.grad(lambda z: np.abs(z).sum())(z).dtype == np.complex64


def test_functions_of_real_numbers_refuse_complex_ones() -> None:
    for f in (np.floor, np.hypot, np.fabs, np.cbrt, np.logaddexp, np.signbit, np.degrees):
        arguments = (Z, Z) if f.nin == 2 else (Z,)
        with pytest.raises(DtypeError):
            fg.make_program(f)(*arguments)


@pytest.mark.parametrize("f", [np.arcsin, np.arccos, np.arcsinh, np.arccosh, np.sqrt, np.log, np.log1p])
def test_derivatives_on_a_branch_cut_are_those_of_its_side(f: Callable[[Any], Any]) -> None:
    """Which side a number on a cut is of, the sign of its zero says; a sum with 0 loses it."""
    sides = np.array([complex(x, y) for x in (-2.0, 2.0, -0.5, 0.5) for y in (0.0, -0.0)])
    sides = np.concatenate([sides, 1j * np.conj(sides[:4]), -1j * np.conj(sides[:4])])
    z = sides[(sides.real == 0) | (sides.imag == 0)]
    along = np.where(z.real == 0, 1j, 1.0)
    first = fg.grad(lambda z: f(z).sum(), holomorphic=True)
    second = fg.grad(lambda z: first(z).sum(), holomorphic=True)

    def moved(g: Callable[[Any], Any]) -> Any:
        """By the part along the axis only, so that the sign of the other stays."""
        parts = np.where(z.real == 0, z.imag, z.real)
        ends = []
        for step in (STEP, -STEP):
            end = np.empty_like(z)
            end.real = np.where(z.real == 0, z.real, parts + step)
            end.imag = np.where(z.real == 0, parts + step, z.imag)
            ends.append(g(end))
        return (ends[0] - ends[1]) / (2 * STEP * along)

    for got, wanted in ((first(z), moved(f)), (second(z), moved(first)), (fg.jit(first)(z), moved(f))):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)
