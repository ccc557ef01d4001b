"""A zoo of Programs: recorded, differentiated, batched and written by hand. Every law here holds for each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ir.program import Program
from funcgrad.ir.text.parsing import parse

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
W = np.array([0.3, -0.2, 0.1])
Y = np.array([1.0, -1.0])
SMALL = np.array([[1, 2, 3], [4, 5, 6]], np.int8)
LARGE = np.linspace(-1.0, 1.0, 40).reshape(2, 20)


def logistic_loss(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return np.sum(np.logaddexp(0.0, -y * z)) / len(y) + 1e-3 * np.sum(w**2)


def selected(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.log(x), x**3))


def with_constants(x: Any) -> Any:
    return np.sum(np.sin(x) * SMALL, axis=0) + np.sum(LARGE)


def with_large_array(x: Any) -> Any:
    return np.sum((x[:, :1] * LARGE) ** 2)


@fg.checkpoint
def checkpointed(x: Any) -> Any:
    return np.sin(x) * np.exp(x)


@fg.custom_jvp
def softplus(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


@softplus.defjvp
def softplus_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (x_dot,) = primals, tangents
    return softplus(x), x_dot / (1.0 + np.exp(-x))


@fg.custom_vjp
def cubed(x: Any) -> Any:
    return x**3


def cubed_forward(x: Any) -> Any:
    return cubed(x), x


def cubed_backward(x: Any, bar: Any) -> Any:
    return (3.0 * x**2 * bar,)


cubed.defvjp(cubed_forward, cubed_backward)


def with_calls(x: Any) -> Any:
    return np.sum(checkpointed(x)) + np.sum(softplus(x)) + np.sum(cubed(x))


def indexed(x: Any) -> Any:
    return np.sum(x[::-1, 1:] ** 2) + np.sum(x[np.array([0, 1, 0])])


def tangent(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function and its derivative in a direction."""

    def value_and_tangent(x: Any, x_dot: Any) -> Any:
        return fg.jvp(f, (x,), (x_dot,))

    return value_and_tangent


RECORDED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "logistic": (logistic_loss, (W, X, Y)),
    "logistic_grad": (fg.grad(logistic_loss), (W, X, Y)),
    "logistic_hessian": (fg.jacfwd(fg.jacrev(logistic_loss)), (W, X, Y)),
    "logistic_vmap": (fg.vmap(fg.grad(logistic_loss), in_axes=(None, 0, 0)), (W, X[:, None, :], Y[:, None])),
    "logistic_single": (fg.grad(logistic_loss), (np.float32(W), np.float32(X), np.float32(Y))),
    "selected": (fg.value_and_grad(selected), (X,)),
    "selected_complex": (lambda z: np.exp(1j * z) * (2 - 0.5j), (X + 1j,)),
    "constants": (with_constants, (X,)),
    "large_array": (fg.grad(with_large_array), (X,)),
    "calls": (with_calls, (X,)),
    "calls_grad": (fg.grad(with_calls), (X,)),
    "calls_jvp": (tangent(with_calls), (X, X)),
    "calls_vmap": (fg.vmap(with_calls), (X,)),
    "indexed_grad": (fg.grad(indexed), (X,)),
    "scalar": (lambda x: (x**2, 3.0 * x), (2.0,)),
    "scalar_grad": (fg.grad(lambda x: np.tanh(x) ** 3), (0.5,)),
    "returns_inputs": (lambda x, y: (y, x, x.T, y), (X, Y)),
    "integers": (lambda n, b: (n % 3, ~b, n.astype(float)), (np.arange(4), np.array([True, False]))),
    "pytree": (lambda params, x: params["w"] * x + params["b"][0], ({"w": W, "b": [1.0]}, W)),
    "wide": (lambda *xs: np.concatenate(xs), tuple(np.full(2, k, float) for k in range(40))),
    "empty": (lambda x: np.sum(x * 2.0), (np.zeros((0, 3)),)),
}

WRITTEN = {
    "no_equations": "program same(x: f64[2]): return x, x",
    "no_outputs": "program nothing(x: f64[2]): return ()",
    "no_inputs": "program constant(): captured c: f32[2] = [1.0, 2.0] return c, 3.5:f32",
    "literals": """
        program literals(x: f64[2], n: i64[], b: bool[2], z: c64[2]):
          a: f64[2] = mul(x, -0.0)
          c: f64[2] = add(x, inf)
          d: f64[2] = sub(-inf:f64, c)
          e: f64[2] = add(x, nan)
          f: i64[] = mul(n, -7)
          g: bool[2] = logical_and(b, True)
          h: c64[2] = mul(z, complex(1.5, -0.0))
          i: f64[2] = where(b, 0.1, x)
          j: f64[2] = where(b, 0.1:f64*, 1e-300:f64)
          k: f64[2] = add(x, nan(0xfff8000000000001):f64)
          return a, d, e, f, g, h, i, j, k, 2.0:f64*, 1:u8, True:bool
    """,
    "shadowing": """
        program sin(sin: f64[2], sin_2: f64[2]):
          program sin(sin: f64[2]):
            captured np_: f64[2] = [0.1, 0.2]
            a: f64[2] = add(sin, np_)
            return a
          b: f64[2] = checkpoint(sin, program=sin, n_kept=0)
          c: f64[2] = sin(sin_2)
          return b, c
    """,
}


@functools.cache
def made(name: str) -> tuple[Program, tuple[Any, ...]]:
    """A Program of the zoo, and flat arguments for it."""
    if name in WRITTEN:
        program = parse(WRITTEN[name])
        return program, tuple([np.ones(v.aval.shape, v.aval.dtype)[()] for v in program.inputs])
    function, args = RECORDED[name]
    program = fg.make_program(function)(*args)
    leaves = [np.asarray(x)[()] for x in fg.tree.leaves(args)]
    return program, tuple(leaves)


@pytest.fixture(params=[*RECORDED, *WRITTEN])
def specimen(request: pytest.FixtureRequest) -> tuple[Program, tuple[Any, ...]]:
    """Each Program of the zoo, with arguments."""
    return made(request.param)
