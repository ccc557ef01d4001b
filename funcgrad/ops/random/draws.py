"""The functions that draws go through on their way from words to numbers, the same bits in every mode.

Compiled code has vector mathematics of its own and fuses products with sums, so that its last digits differ
from NumPy's. What samplers apply has no such form: compiled programs call NumPy's own loops for it, or leave
it to the evaluator. Derivatives are those of the plain functions, and are compiled as any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.structure import broadcast, shape_of
from funcgrad.ops.contraction import contract
from funcgrad.ops.elementwise.arithmetic import Add, Sub, add, div, neg
from funcgrad.ops.elementwise.bivariate import Logaddexp
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.elementary import exp, log, log1p
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import logistic
from funcgrad.ops.families import added
from funcgrad.ops.linalg.cholesky import Cholesky
from funcgrad.ops.reducing.cumulative import CumSum
from funcgrad.ops.reducing.folds import ROUNDED
from funcgrad.ops.reducing.softmax import Softmax
from funcgrad.ops.specials.table import Special
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, normal, uniform
from funcgrad.types import Array

if TYPE_CHECKING:
    Evaluated = Primitive
else:
    Evaluated = object


class InOrder(Evaluated):
    """A base before that of a primitive: its operands lie one element after the other.

    On strides NumPy may take a loop of its own, whose last digits differ.
    """

    kinds: ClassVar[str] = "f"
    numpys_loop: ClassVar[str] = ""
    """The ufunc whose loop for lines of elements kernels call, by name; empty where they call none."""

    def evaluate(self, *values: Array) -> Array:
        return super().evaluate(*[in_order(x) for x in values])

    def on_arrays(self, *args: Array) -> Array:
        """The result on arrays and scalars alone."""
        return super().on_arrays(*[in_order(x) for x in args])  # type: ignore[misc]

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        """One is enough: the plain primitive has the others."""
        return super().samples()[:1]


def in_order(x: Array) -> Array:
    """An array without strides; anything else as it is."""
    return np.asarray(x, order="C") if isinstance(x, np.ndarray) else x


class SampledAdd(InOrder, Add):
    """Addition that no compiler fuses with a product."""

    name = "sampled_add"
    native = "rounded_sum({0}, {1})"


class SampledSub(InOrder, Sub):
    """Subtraction that no compiler fuses with a product."""

    name = "sampled_sub"
    native = "rounded_difference({0}, {1})"


class SampledExp(InOrder, type(exp)):  # type: ignore[misc]
    """Exponential by NumPy."""

    name = "sampled_exp"
    numpys_loop = "exp"


class SampledLog(InOrder, type(log)):  # type: ignore[misc]
    """Natural logarithm by NumPy."""

    name = "sampled_log"
    numpys_loop = "log"


class SampledLog1p(InOrder, type(log1p)):  # type: ignore[misc]
    """``log(1 + x)`` by NumPy."""

    name = "sampled_log1p"
    numpys_loop = "log1p"


class SampledLogAddExp(InOrder, Logaddexp):
    """``log(exp(x) + exp(y))`` by NumPy."""

    name = "sampled_logaddexp"
    numpys_loop = "logaddexp"


class SampledLogistic(InOrder, type(logistic)):  # type: ignore[misc]
    """The logistic function by NumPy."""

    name = "sampled_logistic"

    def expansion(self, *inputs: Array) -> Array:
        return div(1.0, add(sampled_exp(neg(inputs[0])), 1.0))


class SampledSpecial(InOrder, Special):
    """A special function by SciPy."""

    name = "sampled_special"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"function": "log_ndtr"}),
            Sample(uniform(-3.0, -0.1, 3), params={"function": "ndtri_exp"}),
        )


class SampledCumSum(CumSum):
    """The cumulative sum by NumPy, whose terms no compiler fuses with products."""

    name = "sampled_cumsum"
    fold = ROUNDED
    kinds = "f"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return super().samples()[:1]


class SampledSoftmax(InOrder, Softmax):
    """Softmax along one axis by NumPy's exponentials, whose terms are added one after the other."""

    name = "sampled_softmax"

    def evaluate(self, *values: Array) -> Array:
        x, (axis,) = in_order(values[0]), self.axes
        if not x.size:
            return x
        top = np.maximum.reduce(x, axis=axis, keepdims=True)
        weights = np.exp(x - np.where(np.isfinite(top), top, 0))
        weights = np.where(top == np.inf, x == top, weights)
        return weights / np.take(np.cumsum(weights, axis, x.dtype), [-1], axis)

    def expansion(self, *inputs: Array) -> Array:
        return super().expansion(*inputs)

    def composed(self, x: Array, top: Array, base: Array) -> Array:
        (axis,) = self.axes
        share = where(equal(x, self.keepdims(top, x)), x.dtype.type(1), x.dtype.type(0))
        moved = sampled_exp(sampled_sub(x, self.keepdims(base, x)))
        weights = where(self.keepdims(equal(top, np.inf), x), share, moved)
        sums = SampledCumSum(axis, False).bind(weights)
        return div(weights, take_span(sums, axis, shape_of(x)[axis] - 1, 1))


class SampledCholesky(InOrder, Cholesky):
    """Cholesky's factor by LAPACK, also of a small matrix."""

    name = "sampled_cholesky"
    exported = ("np.linalg.cholesky({0})",)


class SampledProduct(Primitive):
    """Rows of numbers times a transposed matrix, ``x @ a.T``, stack by stack.

    A product of several stacks at once would add in another order: batched or not, each is one call of BLAS.
    """

    name = "sampled_product"
    of_nothing = "0.0"
    exported = ("np.dot({0}, np.ascontiguousarray({1}.T))",)
    kinds = "f"

    def infer(self, *avals: Aval) -> Aval:
        x, a = avals
        if x.dtype != a.dtype or x.dtype.kind != "f":
            raise DtypeError(f"{self.name} of {x} and {a}: operands must be real and of one dtype")
        if x.ndim < 2 or a.shape != (*x.shape[:-2], x.shape[-1], x.shape[-1]):
            raise ShapeError(f"{self.name} of {x} and {a}: no rows for this matrix")
        return x.strong

    def evaluate(self, *values: Array) -> Array:
        x, a = [in_order(v) for v in values]
        return np.matmul(x, np.swapaxes(a, -1, -2))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x, a), (x_dot, a_dot) = primals, tangents
        first = None if x_dot is None else plain_product(x_dot, a)
        return self.bind(x, a), added(first, None if a_dot is None else plain_product(x, a_dot))

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        full = [
            v if flag else broadcast(v, (size, *shape_of(v)), tuple(range(1, len(shape_of(v)) + 1)))
            for v, flag in zip(inputs, batched, strict=True)
        ]
        return self.bind(*full), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(4, 3), normal(3, 3)),
            Sample(normal(2, 4, 3), normal(2, 3, 3)),
            Sample(normal(0, 2), normal(2, 2)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(4, 3), normal(2, 2), words="no rows for this matrix", error=ShapeError),
            ErrorSample(normal(3), normal(3, 3), words="no rows for this matrix", error=ShapeError),
        )


def plain_product(x: Array, a: Array) -> Array:
    """The same by an ordinary contraction."""
    stack = tuple(ascii_uppercase[: len(shape_of(x)) - 2])
    return contract(x, (*stack, "i", "k"), a, (*stack, "j", "k"), (*stack, "i", "j"))


sampled_add = SampledAdd()
sampled_sub = SampledSub()
sampled_exp = SampledExp()
sampled_log = SampledLog()
sampled_log1p = SampledLog1p()
sampled_logaddexp = SampledLogAddExp()
sampled_logistic = SampledLogistic()
sampled_log_ndtr = SampledSpecial("log_ndtr")
sampled_ndtri_exp = SampledSpecial("ndtri_exp")
sampled_cholesky = SampledCholesky()
