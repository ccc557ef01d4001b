"""Programs as users write them, for exports: functions of arrays, with loops, branches and containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from points import Point

import funcgrad as fg
import funcgrad.numpy as fnp


class Case(NamedTuple):
    """A function, an example of its arguments, and arguments of other sizes."""

    function: Callable[..., Any]
    example: tuple[Any, ...]
    others: tuple[tuple[Any, ...], ...] = ()


def ridge(w: Any, x: Any, y: Any) -> Any:
    z = np.tanh(x @ w)
    return np.mean((z - y) ** 2) + 0.1 * np.sum(w**2)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def wave(x: Any) -> Any:
    return np.sum(np.sin(x) * np.exp(-(x**2)))


def logistic_regression(w: Any, x: Any, y: Any) -> Any:
    return np.mean(np.log1p(np.exp(-y * (x @ w)))) + 0.005 * (w @ w)


def perceptron(params: Any, x: Any, y: Any) -> Any:
    hidden = np.tanh(x @ params["first"]["w"] + params["first"]["b"])
    return np.mean((hidden @ params["last"] - y) ** 2)


def pair_energy(positions: Any) -> Any:
    d = positions[:, None, :] - positions[None, :, :]
    r2 = np.sum(d * d, axis=-1) + np.eye(len(positions))
    return np.sum(1.0 / r2**6 - 1.0 / r2**3)


def softmax_loss(w: Any, x: Any, labels: Any) -> Any:
    logits = x @ w
    picked = fnp.take_along_axis(logits, labels[:, None], axis=1)
    return np.mean(fnp.log(fnp.sum(fnp.exp(logits), axis=1)) - picked[:, 0])


def recurrence(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if total < 3.0:  # noqa: SIM108 - a branch as users write it
            total = total + np.sin(x[i]) * (1.0 + total)
        else:
            total = total - 1.0
    return total


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def smoothing(x: Any) -> Any:
    u = np.zeros(len(x))
    u[:] = x
    for _ in range(10):
        u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
    return np.sum(u * u)


def oscillator(state: Any, k: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        x, v = carry
        v = v - 0.01 * k * np.sin(x)
        return (x + 0.01 * v, v), x

    _, path = fg.lax.scan(step, (state.x, state.y), None, length=50)
    return np.sum(path**2)


def mixture(parameters: Any, x: Any) -> Any:
    means, scales, weights = parameters
    z = (x[:, None] - means) / scales
    density = fnp.sum(weights * fnp.exp(-0.5 * z * z) / scales, axis=1)
    return -fnp.sum(fnp.log(density))


def gaussian_process(x: Any, y: Any, scale: Any) -> Any:
    gaps = x[:, None] - x[None, :]
    k = np.exp(-0.5 * (gaps / scale) ** 2) + 0.1 * np.eye(len(x))
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]


def spectrum(a: Any) -> Any:
    w, v = np.linalg.eigh(a @ a.T)
    return np.sum(np.log1p(w)) + v[0, -1] ** 2


def interpolation(x: Any, table: Any) -> Any:
    position = np.clip(x, 0.0, 1.0) * (len(table) - 1.001)
    k = np.floor(fg.stop_gradient(position)).astype(np.int64)
    part = position - k
    return np.sum((1.0 - part) * table[k] + part * table[k + 1])


def polynomial(c: Any, x: Any) -> Any:
    return np.sum(fnp.polyval(c, x) ** 2)


def complex_filter(z: Any) -> Any:
    return np.sum(np.abs(np.exp(1j * z) + 0.5 * z) ** 2)


def single_precision(x: Any) -> Any:
    return np.sum(np.exp(-x) * np.cos(x))


def sorted_gap(x: Any) -> Any:
    return np.sum(np.abs(x - np.median(x)))


def error_functions(x: Any) -> Any:
    return np.sum(fg.scipy.special.erf(x) * fg.scipy.special.gammaln(1.0 + x**2))


def filtered(z: Any) -> Any:
    return np.sum(np.abs(np.fft.ifft2(np.exp(z) * np.fft.fft2(z))) ** 2)


def smoothed(x: Any) -> Any:
    spectrum = np.fft.rfft(x, axis=0, norm="ortho")
    damped = spectrum / (1.0 + np.abs(spectrum) ** 2)
    return np.sum(np.fft.irfft(damped, n=len(x), axis=0) ** 3) + np.sum(np.convolve(x[:, 0], x[:, 1]) ** 2)


def moments(x: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return np.sum(np.std(x, axis=0) + np.max(centred, axis=0) + np.cumsum(x, axis=0)[-1])


def array(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def labels(n: int, k: int) -> Any:
    return np.random.default_rng(n).integers(0, k, n)


def network(n: int, m: int) -> Any:
    return {"first": {"w": array(n, m), "b": array(m)}, "last": array(m)}


def spaced(n: int) -> Any:
    return np.linspace(0.0, 3.0, n)


CASES: dict[str, Case] = {
    "gradient of a ridge": Case(
        fg.grad(ridge), (array(7), array(30, 7), array(30)), ((array(4), array(9, 4), array(9)),)
    ),
    "value and gradient": Case(
        fg.value_and_grad(ridge, argnums=(0, 1)),
        (array(7), array(30, 7), array(30)),
        ((array(2), array(3, 2), array(3)),),
    ),
    "hessian": Case(fg.hessian(rosenbrock), (array(9),), ((array(4),), (array(17),))),
    "elementwise": Case(fg.value_and_grad(wave), (array(100),), ((array(7),), (array(0),), (array(1),))),
    "logistic regression": Case(
        fg.grad(logistic_regression),
        (array(20), array(50, 20), np.sign(array(50))),
        ((array(3), array(8, 3), np.sign(array(8))),),
    ),
    "network of dicts": Case(
        fg.value_and_grad(perceptron),
        (network(6, 9), array(20, 6), array(20)),
        ((network(7, 11), array(25, 7), array(25)),),
    ),
    "pairs": Case(fg.value_and_grad(pair_energy), (array(12, 3),), ((array(5, 3),),)),
    "labels": Case(
        fg.grad(softmax_loss),
        (array(8, 6), array(15, 8), labels(15, 6)),
        ((array(3, 9), array(7, 3), labels(7, 9)),),
    ),
    "loop with a branch": Case(fg.value_and_grad(recurrence), (array(30),), ((array(8),), (array(61),))),
    "while loop": Case(fg.value_and_grad(newton), (7.0,), ((2.0,), (1e6,))),
    "writes in a loop": Case(fg.grad(smoothing), (array(20),), ((array(9),),)),
    "scan of named tuples": Case(fg.grad(oscillator), (Point(1.0, 0.5), 2.0), ((Point(0.1, 0.2), 3.0),)),
    "mixture of tuples": Case(
        fg.grad(mixture),
        ((array(6), np.exp(array(6)), np.full(6, 1 / 6)), array(40)),
        (((array(7), np.exp(array(7)), np.full(7, 1 / 7)), array(11)),),
    ),
    "gaussian process": Case(
        fg.value_and_grad(gaussian_process, argnums=2),
        (spaced(12), np.sin(spaced(12)), 0.7),
        ((spaced(20), np.sin(spaced(20)), 0.5),),
    ),
    "spectrum": Case(fg.grad(spectrum), (array(6, 6),), ((array(9, 9),),)),
    "interpolation": Case(
        fg.grad(interpolation, argnums=(0, 1)),
        (np.abs(array(10)) / 3, array(30)),
        ((np.abs(array(4)) / 3, array(12)),),
    ),
    "jacobian": Case(fg.jacobian(fnp.tanh), (array(8),), ((array(3),),)),
    "polynomial": Case(fg.grad(polynomial), (array(8), array(20)), ()),
    "complex numbers": Case(complex_filter, (array(8) + 1j * array(8, seed=1),), ((array(3) * 1j,),)),
    "spectra of complex numbers": Case(
        fg.grad(filtered), (array(6, 5) + 1j,), ((array(4, 9) - 0.5j,), (array(7, 67) * 0.5j,))
    ),
    "spectra of real numbers": Case(fg.grad(smoothed), (array(12, 5),), ((array(7, 5),), (array(16, 4),))),
    "single precision": Case(
        fg.grad(single_precision), (array(30).astype(np.float32),), ((array(7).astype(np.float32),),)
    ),
    "median": Case(fg.grad(sorted_gap), (array(15),), ()),
    "special functions": Case(fg.grad(error_functions), (array(12),), ((array(5),),)),
    "moments": Case(fg.grad(moments), (array(12, 7),), ((array(6, 5),),)),
}
"""What is exported, by name."""
