"""Ordinary functions, written once against a NumPy-like module, for NumPy, funcgrad and the peers to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy  # noqa: ICN001 - `np` is the module that the functions are given


class Entry(NamedTuple):
    """A function ``f(np, *args) -> array`` and the arrays to call it on."""

    name: str
    function: Callable[..., Any]
    args: Sequence[Any]
    avoids: Sequence[str] = ()
    """Peers whose module lacks something the function uses."""

    def __repr__(self) -> str:
        return self.name

    def loss(self, np: Any) -> Callable[..., Any]:
        """A smooth scalar of the result, the same for every peer."""

        def loss(*args: Any) -> Any:
            out = self.function(np, *args)
            weights = numpy.cos(numpy.arange(float(out.size))).reshape(out.shape)
            return np.sum(np.sin(out) * weights)

        loss.__name__ = self.name
        return loss


RNG = numpy.random.default_rng(1234)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def positive(*shape: int) -> Any:
    return RNG.uniform(0.5, 2.0, size=shape)


def distinct(*shape: int) -> Any:
    size = int(numpy.prod(shape))
    return (RNG.permutation(size) * 0.37 - 0.2 * size).reshape(shape)


def softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def log_softmax(np: Any, x: Any) -> Any:
    m = np.max(x, axis=-1, keepdims=True)
    return x - m - np.log(np.sum(np.exp(x - m), axis=-1, keepdims=True))


def layer_norm(np: Any, x: Any, g: Any, b: Any) -> Any:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return g * centred / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) + b


def perceptron(np: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    return np.tanh(x @ w1 + b1) @ w2 + b2


def logistic_loss(np: Any, w: Any, X: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -y * (X @ w))) + 1e-3 * np.sum(w**2)


def attention(np: Any, q: Any, k: Any, v: Any) -> Any:
    return np.matmul(softmax(np, np.matmul(q, np.swapaxes(k, -1, -2)) / 2.0), v)


def gelu(np: Any, x: Any) -> Any:
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def convolved(np: Any, x: Any, k: Any) -> Any:
    return sum(x[i : i + x.shape[0] - k.shape[0] + 1] * k[i] for i in range(k.shape[0]))


def rosenbrock(np: Any, x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def lennard_jones(np: Any, positions: Any) -> Any:
    i, j = numpy.triu_indices(positions.shape[0], 1)
    r2 = np.sum((positions[i] - positions[j]) ** 2, axis=-1)
    return np.sum(r2**-6 - 2.0 * r2**-3)


def pairwise_distances(np: Any, x: Any) -> Any:
    d2 = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
    return np.sqrt(d2 + numpy.eye(x.shape[0]))


def pendulum(np: Any, state: Any) -> Any:
    q, p = state[0], state[1]
    for _ in range(10):
        p = p - 0.1 * np.sin(q)
        q = q + 0.1 * p
    return np.stack([q, p])


def kalman(np: Any, x: Any, a: Any) -> Any:
    mean, var, total = 0.0, 1.0, 0.0
    for k in range(x.shape[0]):
        var = a * a * var + 0.1
        gain = var / (var + 0.5)
        total = total + (x[k] - a * mean) ** 2 / var + np.log(var)
        mean, var = a * mean + gain * (x[k] - a * mean), (1.0 - gain) * var
    return total


def mixture(np: Any, x: Any, means: Any, scales: Any) -> Any:
    z = (x[:, None] - means) / scales
    logs = -0.5 * z**2 - np.log(scales)
    top = np.max(logs, axis=1, keepdims=True)
    return np.sum(top[:, 0] + np.log(np.sum(np.exp(logs - top), axis=1)))


def polynomial(np: Any, c: Any, x: Any) -> Any:
    total = 0.0 * x
    for k in range(c.shape[0]):
        total = total * x + c[k]
    return total


ENTRIES = [
    # pointwise
    Entry("exp_log", lambda np, x: np.log(1.0 + np.exp(x)) * np.log1p(x**2), [normal(3, 4)]),
    Entry("trigonometric", lambda np, x: np.sin(x) * np.cos(2.0 * x) + np.tan(0.3 * x), [normal(5)]),
    Entry(
        "inverse", lambda np, x: np.arcsin(x) + np.arccos(x) ** 2 + np.arctan(x), [RNG.uniform(-0.9, 0.9, 5)]
    ),
    Entry("hyperbolic", lambda np, x: np.sinh(x) * np.tanh(x) / np.cosh(x), [normal(5)]),
    Entry(
        "inverse_hyperbolic",
        lambda np, x: np.arcsinh(x) + np.arccosh(1.0 + x) + np.arctanh(0.3 * x),
        [positive(5)],
    ),
    Entry(
        "two_arguments",
        lambda np, x, y: np.arctan2(x, y) + np.hypot(x, y),
        [normal(4), normal(4)],
        ("autograd",),
    ),
    Entry("powers", lambda np, x, y: x**y + x**3 + x**-2 + x**0.5 + 2.0**y, [positive(4), normal(4)]),
    Entry("roots", lambda np, x: np.sqrt(x) + 1.0 / np.sqrt(x) + np.square(x), [positive(4)]),
    Entry("cbrt", lambda np, x: np.cbrt(x) + np.exp2(x) + np.expm1(x), [positive(4)], ("autograd",)),
    Entry("logs", lambda np, x: np.log2(x) + np.log10(x) + np.log(x) * np.log1p(x), [positive(4)]),
    Entry("logaddexp", lambda np, x, y: np.logaddexp(x, y) + np.logaddexp(x, 0.0), [normal(4), normal(4)]),
    Entry("absolute", lambda np, x: np.abs(x) * np.sign(x) + np.fabs(x), [normal(6)]),
    Entry(
        "extremes",
        lambda np, x, y: np.maximum(x, y) * np.minimum(x, y) + np.maximum(x, 0.0),
        [normal(6), normal(6)],
    ),
    Entry("clip", lambda np, x: np.clip(x, -0.5, 0.7) * x, [normal(8)]),
    Entry("where", lambda np, x: np.where(x > 0.0, np.sqrt(np.abs(x)), x**2), [normal(8)]),
    Entry(
        "rounding",
        lambda np, x: np.floor(x) * x + np.ceil(x) + np.round(x) * x**2,
        [normal(8)],
        ("autograd",),
    ),
    Entry("remainder", lambda np, x, y: np.mod(x, y) * x, [positive(5) * 5.0, positive(5)]),
    Entry("division", lambda np, x, y: x / y - y / (1.0 + x**2) + 1.0 / y, [normal(3, 1), positive(4)]),
    Entry("sinc", lambda np, x: np.sinc(x), [normal(4)]),
    Entry("gelu", gelu, [normal(3, 3)]),
    # reductions
    Entry("sums", lambda np, x: np.sum(x, axis=0) * np.sum(x) + np.sum(x, axis=(0, 1)), [normal(3, 4)]),
    Entry("means", lambda np, x: np.mean(x, axis=1, keepdims=True) * x, [normal(3, 4)]),
    Entry("variances", lambda np, x: np.var(x, axis=0) + np.std(x, axis=0, ddof=1), [normal(4, 3)]),
    Entry("products", lambda np, x: np.prod(x, axis=1) + np.prod(x), [positive(3, 4)]),
    Entry("max_min", lambda np, x: np.max(x, axis=1) * np.min(x, axis=1) + np.max(x), [distinct(4, 4)]),
    Entry("cumulative", lambda np, x: np.cumsum(x, axis=1) * np.cumsum(x.T, axis=0).T, [normal(3, 4)]),
    Entry("cumprod", lambda np, x: np.cumprod(x, axis=0), [positive(4, 3)], ("autograd",)),
    Entry("norms", lambda np, x: np.linalg.norm(x, axis=1) + np.linalg.norm(x), [normal(3, 4)]),
    Entry(
        "norm_orders",
        lambda np, x: np.linalg.norm(x, ord=1) + np.linalg.norm(x, ord=3),
        [normal(5)],
        ("autograd",),
    ),
    Entry("softmax", softmax, [normal(3, 4)]),
    Entry("log_softmax", log_softmax, [normal(3, 4)]),
    # movement
    Entry(
        "reshapes", lambda np, x: np.reshape(x, (4, 3)) @ x.reshape(3, -1) + np.ravel(x)[0], [normal(3, 4)]
    ),
    Entry(
        "transposes",
        lambda np, x: np.transpose(x, (2, 0, 1)) * np.swapaxes(x, 0, 2)[:, :1],
        [normal(2, 2, 3)],
    ),
    Entry("moveaxis", lambda np, x: np.moveaxis(x, 0, -1) + np.rollaxis(x, 1).sum(), [normal(2, 3, 4)]),
    Entry(
        "axes", lambda np, x: np.squeeze(np.expand_dims(x, 1), 1) * x[:, None, :].sum(axis=1), [normal(3, 4)]
    ),
    Entry("joins", lambda np, x, y: np.concatenate([x, y, x], axis=1), [normal(3, 2), normal(3, 1)]),
    Entry("stacks", lambda np, x, y: np.stack([x, y], axis=1) * np.vstack([x, y]).T, [normal(2), normal(2)]),
    Entry("hstack", lambda np, x, y: np.hstack([x, y]) ** 2, [normal(3), normal(2)]),
    Entry("splits", lambda np, x: np.split(x, 2)[0] * np.split(x, [2])[1], [normal(4, 2)]),
    Entry(
        "flips",
        lambda np, x: np.flip(x, 0) * x[:, ::-1] + np.roll(x, 1, axis=1),
        [normal(3, 4)],
        ("autograd",),
    ),
    Entry("repeats", lambda np, x: np.repeat(x, 2, axis=0) * np.tile(x, (2, 1)), [normal(2, 3)]),
    Entry("pads", lambda np, x: np.pad(x, ((1, 2), (0, 1))) ** 2 + 1.0, [normal(2, 3)], ("autograd",)),
    Entry(
        "broadcasts",
        lambda np, x: np.broadcast_to(x, (4, 3)) * numpy.arange(4.0)[:, None],
        [normal(3)],
        ("autograd",),
    ),
    Entry("triangles", lambda np, x: np.triu(x) @ np.tril(x, -1) + np.diag(x), [normal(3, 3)]),
    Entry("diagonals", lambda np, x: np.diag(x) @ x + np.trace(np.outer(x, x)), [normal(3)]),
    # indexing
    Entry("slices", lambda np, x: x[1:] * x[:-1] + x[::-1][1:] * x[-1], [normal(6)]),
    Entry("slices_2d", lambda np, x: x[1:, ::2] * x[:-1, 1::2] + x[..., :1][1:], [normal(4, 4)]),
    Entry("integers", lambda np, x: x[numpy.array([2, 0, 2, 1])] * x[0], [normal(3, 2)]),
    Entry("index_pairs", lambda np, x: x[numpy.array([0, 1]), numpy.array([2, 2])] ** 2, [normal(3, 3)]),
    Entry("masks", lambda np, x: x[numpy.array([True, False, True])] * 2.0, [normal(3, 2)]),
    Entry(
        "take",
        lambda np, x: np.take_along_axis(x, numpy.array([[1], [0]]), 1) * x,
        [normal(2, 3)],
        ("autograd",),
    ),
    Entry("sort", lambda np, x: np.sort(x) * numpy.arange(6.0), [distinct(6)]),
    Entry("sort_by_argsort", lambda np, x: x[np.argsort(x)] * numpy.arange(6.0), [distinct(6)]),
    # products
    Entry("matmul", lambda np, x, y: x @ y @ x.T, [normal(2, 3), normal(3, 3)]),
    Entry("matvec", lambda np, x, y: (x @ y) * (y @ x.T), [normal(2, 3), normal(3)]),
    Entry("batched_matmul", lambda np, x, y: np.matmul(x, y), [normal(4, 2, 3), normal(3, 2)]),
    Entry("dots", lambda np, x, y: np.dot(x, y) * np.dot(y, y), [normal(2, 3), normal(3)]),
    Entry("einsum_chain", lambda np, x, y: np.einsum("ij,jk,kl->il", x, y, x), [normal(3, 3), normal(3, 3)]),
    Entry("einsum_batch", lambda np, x, y: np.einsum("bij,bj->bi", x, y), [normal(2, 3, 4), normal(2, 4)]),
    Entry(
        "einsum_trace",
        lambda np, x: np.einsum("ijj->i", x) * np.einsum("ijk->", x),
        [normal(2, 3, 3)],
        ("autograd",),
    ),
    Entry(
        "tensordot",
        lambda np, x, y: np.tensordot(x, y, axes=([1, 2], [0, 1])),
        [normal(2, 3, 4), normal(3, 4, 2)],
    ),
    Entry("outer_inner", lambda np, x, y: np.outer(x, y) * np.inner(x, y), [normal(3), normal(3)]),
    Entry("kron", lambda np, x, y: np.kron(x, y), [normal(2, 2), normal(2, 1)]),
    Entry("cross", lambda np, x, y: np.cross(x, y) * x, [normal(3), normal(3)], ("autograd",)),
    # programs
    Entry("perceptron", perceptron, [normal(4, 3), normal(3, 5), normal(5), normal(5, 2), normal(2)]),
    Entry("layer_norm", layer_norm, [normal(3, 4), normal(4), normal(4)]),
    Entry("attention", attention, [normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4)]),
    Entry("logistic_loss", logistic_loss, [normal(3), normal(8, 3), numpy.sign(normal(8))]),
    Entry("convolved", convolved, [normal(8), normal(3)]),
    Entry("rosenbrock", rosenbrock, [normal(5)]),
    Entry("lennard_jones", lennard_jones, [distinct(4, 3)]),
    Entry("pairwise_distances", pairwise_distances, [normal(4, 2)]),
    Entry("pendulum", pendulum, [normal(2)]),
    Entry("kalman", kalman, [normal(5), normal()]),
    Entry("mixture", mixture, [normal(6), normal(3), positive(3)]),
    Entry("polynomial", polynomial, [normal(5), normal(4)]),
]
