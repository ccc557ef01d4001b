"""Activations: functions of one number, applied to every element, with the names that ``jax.nn`` uses.

At a kink the derivative is that of the side where the function is constant or less steep, as in PyTorch:
``relu`` has the derivative 0 at 0. Infinities give the limits that the mathematics has, and no warnings.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.elementwise.ufuncs import untraced
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.elementwise.bivariate import logaddexp
from funcgrad.ops.elementwise.elementary import exp, expm1, log1p, sqrt, tanh
from funcgrad.ops.elementwise.elementary import log as logarithm
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import erfc, logistic
from funcgrad.types import Array, ArrayLike, AxisLike

__all__ = [
    "celu",
    "elu",
    "exponential",
    "gelu",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "logit",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "soft_sign",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "swish",
    "tanh_shrink",
]

FLOAT = np.dtype(np.float64)


def floating(x: ArrayLike) -> Array:
    """An operand as a tracer or an array of floating-point numbers; integers become float64.

    >>> floating([1, 2]), floating(np.float32(1.0)).dtype
    (array([1., 2.]), dtype('float32'))
    """
    found = as_array(x)
    return found if aval(found).inexact else cast(found, FLOAT)


# -- rectifiers -----------------------------------------------------------------------------------------


def relu(x: ArrayLike) -> Array:
    """``x`` where it is positive, else 0; its derivative at 0 is 0.

    >>> print(fg.nn.relu([-1.0, 0.0, 2.0]))
    [0. 0. 2.]
    >>> print(fg.grad(lambda x: np.sum(fg.nn.relu(x)))(np.array([-1.0, 0.0, 2.0])))
    [0. 0. 1.]
    """
    x = as_array(x)
    return np.maximum(x, 0) if untraced(x) else where(x <= 0, 0, x)


def relu6(x: ArrayLike) -> Array:
    """``relu`` that ends at 6; its derivative at 0 and at 6 is 0.

    >>> print(fg.nn.relu6([-1.0, 3.0, 8.0]))
    [0. 3. 6.]
    """
    return clipped(x, 0, 6)


def clipped(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Array:
    """`x` between two numbers; on them and beyond the derivative is 0."""
    x = as_array(x)
    if untraced(x):
        return np.minimum(np.maximum(x, low), high)
    return where(x <= low, low, where(x >= high, high, x))


def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """``x`` where it is positive, else ``negative_slope * x``.

    >>> print(fg.nn.leaky_relu([-1.0, 0.0, 2.0]))
    [-0.01  0.    2.  ]
    """
    x = floating(x)
    return where(x > 0, x, x * negative_slope)


def prelu(x: ArrayLike, slope: ArrayLike) -> Array:
    """`leaky_relu` with a slope that is learnt: one number, or an array that broadcasts with `x`.

    >>> print(fg.nn.prelu([[-1.0, 2.0], [-3.0, -4.0]], np.array([0.5, 0.25])))
    [[-0.5  2. ]
     [-1.5 -1. ]]
    """
    return leaky_relu(x, as_array(slope))


def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    >>> print(fg.nn.elu([-1.0, 0.0, 2.0]))
    [-0.63212056  0.          2.        ]
    """
    x = floating(x)
    return where(x > 0, x, expm1(where(x > 0, 0.0, x)) * alpha)


def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """`elu` of ``x / alpha``, times alpha: continuous in its derivative for every alpha.

    >>> print(fg.nn.celu([-1.0, 0.0, 2.0], alpha=2.0))
    [-0.78693868  0.          2.        ]
    """
    x = floating(x)
    return where(x > 0, x, expm1(where(x > 0, 0.0, x) / alpha) * alpha)


SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
"""The constants of `selu` (Klambauer et al., 2017, Self-Normalizing Neural Networks)."""


def selu(x: ArrayLike) -> Array:
    """`elu` with the two constants that keep mean 0 and variance 1 through layers.

    >>> print(fg.nn.selu([-1.0, 0.0, 2.0]))
    [-1.11133074  0.          2.10140197]
    """
    return elu(x, SELU_ALPHA) * SELU_SCALE


def glu(x: ArrayLike, axis: AxisLike = -1) -> Array:
    """The first half along `axis` times the `sigmoid` of the second half.

    >>> print(fg.nn.glu([1.0, 2.0, 0.0, 100.0]))
    [0.5 2. ]
    """
    x = floating(x)
    k = normalized_axis(axis, len(shape_of(x)))
    n = shape_of(x)[k]
    if n % 2:
        raise refused(f"glu of {aval(x)}: axis {k} has no halves", "The axis must have an even size.")
    return take_span(x, k, 0, n // 2) * logistic(take_span(x, k, n // 2, n // 2))


# -- smooth rectifiers ----------------------------------------------------------------------------------


def silu(x: ArrayLike) -> Array:
    """``x * sigmoid(x)``, also called swish.

    >>> print(fg.nn.silu([-1.0, 0.0, 2.0]))
    [-0.26894142  0.          1.76159416]
    """
    x = floating(x)
    return x * logistic(x)


def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """``x`` times the normal distribution's cumulative probability of ``x``, or an approximation with `tanh`.

    The exact one costs an error function; the default is that of ``jax.nn``.

    >>> print(fg.nn.gelu([-1.0, 0.0, 2.0], approximate=False))
    [-0.15865525  0.          1.95449974]
    >>> print(fg.nn.gelu([-1.0, 0.0, 2.0]))
    [-0.15880801  0.          1.95459769]
    """
    x = floating(x)
    if not approximate:
        return cast(x * erfc(x * -math.sqrt(0.5)) * 0.5, aval(x).dtype)
    # Beyond 10 it is the identity or 0 to the last bit, where the cube would overflow in half precision.
    y = np.clip(x, -10.0, 10.0)
    return x * (tanh((y + y * y * y * 0.044715) * math.sqrt(2.0 / math.pi)) + 1.0) * 0.5


def mish(x: ArrayLike) -> Array:
    """``x * tanh(softplus(x))``.

    >>> print(fg.nn.mish([-1.0, 0.0, 2.0]))
    [-0.30340146  0.          1.94395896]
    """
    x = floating(x)
    return x * tanh(softplus(x))


def softplus(x: ArrayLike) -> Array:
    """``log(1 + exp(x))`` without overflow.

    >>> print(fg.nn.softplus([-1000.0, 0.0, 1000.0]))
    [0.00000000e+00 6.93147181e-01 1.00000000e+03]
    """
    return logaddexp(floating(x), 0.0)


def squareplus(x: ArrayLike, b: ArrayLike = 4.0) -> Array:
    """``(x + sqrt(x**2 + b)) / 2``: like `softplus`, from algebra alone.

    >>> print(fg.nn.squareplus([-1.0, 0.0, 2.0]))
    [0.61803399 1.         2.41421356]
    """
    x = floating(x)
    return (x + sqrt(x * x + b)) * 0.5


def sparse_plus(x: ArrayLike) -> Array:
    """0 up to -1, ``x`` from 1 on, and ``(x + 1)**2 / 4`` between: a `softplus` that is 0.

    >>> print(fg.nn.sparse_plus([-2.0, 0.0, 2.0]))
    [0.   0.25 2.  ]
    """
    x = floating(x)
    return where(x <= -1.0, 0.0, where(x >= 1.0, x, (x + 1.0) * (x + 1.0) * 0.25))


def log1mexp(x: ArrayLike) -> Array:
    """``log(1 - exp(-x))`` of positive numbers, without cancellation: Maechler's note on log1mexp.

    >>> print(fg.nn.log1mexp([1e-20, 50.0]))
    [-4.60517019e+01 -1.92874985e-22]
    """
    x = floating(x)
    small = x < math.log(2.0)
    return where(small, logarithm(-expm1(-x)), log1p(-exp(-where(small, 1.0, x))))


# -- between two bounds ---------------------------------------------------------------------------------


def sigmoid(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``.

    >>> print(fg.nn.sigmoid([-1000.0, 0.0, 2.0]))
    [0.         0.5        0.88079708]
    """
    return logistic(floating(x))


def sparse_sigmoid(x: ArrayLike) -> Array:
    """The derivative of `sparse_plus`: ``(x + 1) / 2`` between 0 and 1.

    >>> print(fg.nn.sparse_sigmoid([-2.0, 0.0, 2.0]))
    [0.  0.5 1. ]
    """
    return clipped(floating(x) + 1.0, 0.0, 2.0) * 0.5


def log_sigmoid(x: ArrayLike) -> Array:
    """The logarithm of `sigmoid`, without underflow.

    >>> print(fg.nn.log_sigmoid([-1000.0, 0.0]))
    [-1.00000000e+03 -6.93147181e-01]
    """
    return -softplus(-floating(x))


def soft_sign(x: ArrayLike) -> Array:
    """``x / (1 + |x|)``.

    >>> print(fg.nn.soft_sign([-1.0, 0.0, 3.0]))
    [-0.5   0.    0.75]
    """
    x = floating(x)
    return x / (absolute(x) + 1.0)


def hard_tanh(x: ArrayLike, low: ArrayLike = -1.0, high: ArrayLike = 1.0) -> Array:
    """``x`` between two bounds, -1 and 1; its derivative on them is 0.

    >>> print(fg.nn.hard_tanh([-2.0, 0.5, 2.0]))
    [-1.   0.5  1. ]
    """
    return clipped(floating(x), low, high)


def hard_sigmoid(x: ArrayLike) -> Array:
    """``relu6(x + 3) / 6``.

    >>> print(fg.nn.hard_sigmoid([-4.0, 0.0, 1.5]))
    [0.   0.5  0.75]
    """
    return relu6(floating(x) + 3.0) / 6.0


def hard_silu(x: ArrayLike) -> Array:
    """``x * hard_sigmoid(x)``, also called hard swish.

    >>> print(fg.nn.hard_silu([-4.0, 0.0, 1.5]))
    [-0.     0.     1.125]
    """
    x = floating(x)
    return x * hard_sigmoid(x)


def tanh_shrink(x: ArrayLike) -> Array:
    """``x - tanh(x)``.

    >>> print(fg.nn.tanh_shrink([0.0, 2.0]))
    [0.         1.03597242]
    """
    x = floating(x)
    return x - tanh(x)


def soft_shrink(x: ArrayLike, size: ArrayLike = 0.5) -> Array:
    """``x`` moved by `size` towards 0, and 0 within `size` of it.

    >>> print(fg.nn.soft_shrink([-2.0, 0.25, 1.0]))
    [-1.5  0.   0.5]
    """
    x = floating(x)
    return where(x > size, x - size, where(x < -size, x + size, x * 0.0))


def hard_shrink(x: ArrayLike, size: ArrayLike = 0.5) -> Array:
    """``x``, but 0 within `size` of 0.

    >>> print(fg.nn.hard_shrink([-2.0, 0.25, 1.0]))
    [-2.  0.  1.]
    """
    x = floating(x)
    return where(absolute(x) <= size, 0.0, x)


def logit(p: ArrayLike) -> Array:
    """``log(p / (1 - p))``, the inverse of `sigmoid`.

    >>> print(fg.nn.logit([0.5, 0.75]))
    [0.         1.09861229]
    """
    p = floating(p)
    return logarithm(p / (1.0 - p))


def exponential(x: ArrayLike) -> Array:
    """``exp(x)``, for a layer that asks for its activation by name.

    >>> print(fg.nn.exponential([0.0, 1.0]))
    [1.         2.71828183]
    """
    return exp(floating(x))


def identity(x: ArrayLike) -> Array:
    """``x`` itself.

    >>> print(fg.nn.identity([0.0, 1.0]))
    [0. 1.]
    """
    return as_array(x)


swish = silu
hard_swish = hard_silu
