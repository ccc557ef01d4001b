"""Products of a sparse matrix with a dense vector or matrix.

A sparse matrix is three arrays, as in SciPy's compressed rows: its elements, their columns, and where each
row begins. The product is linear in the elements and in the dense operand. Its transpose by the one is
`sparse_outer`, by the other the product with the transposed matrix; the three are closed under derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.movement import stack
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import (
    aval,
    broadcast,
    permute,
    reduce_sum,
    reshape,
    shape_of,
    zeros_beside,
)
from funcgrad.ops.elementwise.arithmetic import mul, sub
from funcgrad.ops.families import added, listed
from funcgrad.ops.reducing.cumulative import CumSum
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, fixed, normal
from funcgrad.types import Array, Foreign


class OnCompressedRows(Primitive):
    """What operations on matrices in compressed rows share."""

    shape: tuple[int, int]
    """Rows and columns of the matrix."""
    kinds: ClassVar[str] = "fc"

    def check_structure(self, data: Aval, indices: Aval, indptr: Aval) -> None:
        """Raise for arrays that are no matrix of this shape."""
        if (
            data.ndim != 1
            or indices.shape != data.shape
            or indptr.shape != (self.shape[0] + 1,)
            or indices.dtype.kind not in "iu"
            or indptr.dtype.kind not in "iu"
        ):
            raise ShapeError(
                f"{self.name} of {listed((data, indices, indptr))}: these are no compressed rows "
                f"of a matrix of shape {self.shape}"
            )

    def row_of_elements(self, indptr: Array, count: int) -> Array:
        """The row of each of so many elements: the number of rows that begin up to it, less one."""
        zeros = zeros_beside(indptr, (count + 1,), np.dtype(np.int64))
        begun = CumSum(0, False).bind(Scatter("add", (0,), False).bind(zeros, np.int64(1), indptr))
        return sub(Slice(((0, count, 1),)).bind(begun), np.int64(1))

    def one_by_one(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        """The results for every example, where the matrices differ."""
        outs = [
            self.bind(*[x[k] if flag else x for x, flag in zip(inputs, batched, strict=True)])
            for k in range(size)
        ]
        return stack(outs, 0), True


class SparseProduct(OnCompressedRows):
    """``matrix @ x``, or ``matrix.T @ x``, for a vector or matrix `x`.

    The inputs are the elements of the matrix, their columns, the beginnings of rows, and `x`.
    """

    name = "sparse_product"
    parameters = ("shape", "transposed")
    transposed: bool

    def infer(self, *avals: Aval) -> Aval:
        data, indices, indptr, x = avals
        self.check_structure(data, indices, indptr)
        m, n = reversed(self.shape) if self.transposed else self.shape
        if x.ndim not in (1, 2) or x.shape[0] != n:
            raise ShapeError(f"{self.name} of a matrix with {n} columns and {x}: the sizes differ")
        if x.dtype != data.dtype:
            raise DtypeError(f"{self.name} of {data} and {x}: operands must be cast to one dtype first")
        return x.with_shape((m, *x.shape[1:])).strong

    def evaluate(self, *values: Array) -> Array:
        data, indices, indptr, x = values
        return matrix(self.shape, self.transposed, data, indices, indptr) @ x

    def expansion(self, *inputs: Array) -> Array | None:
        """``out[rows] += data * x[columns]``, and the same with rows and columns exchanged."""
        data, indices, indptr, x = inputs
        out = self.infer(*[aval(a) for a in inputs])
        count = shape_of(data)[0]
        if not count or not out.size or 0 in shape_of(x):
            return None
        rows = self.row_of_elements(indptr, count)
        source, target = (rows, indices) if self.transposed else (indices, rows)
        read = Gather((0,)).bind(x, source)
        factors = broadcast(data, shape_of(read), (0,))
        zeros = zeros_beside(x, out.shape)
        return Scatter("add", (0,), False).bind(zeros, mul(read, factors), target)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        data, indices, indptr, x = primals
        out = self.bind(*primals)
        first = None if tangents[0] is None else self.bind(tangents[0], indices, indptr, x)
        second = None if tangents[3] is None else self.bind(data, indices, indptr, tangents[3])
        return out, added(first, second)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        data, indices, indptr, x = inputs
        if isinstance(x, Linear):
            turned = SparseProduct(self.shape, not self.transposed)
            return None, None, None, turned.bind(data, indices, indptr, cotangent)
        left, right = (x, cotangent) if self.transposed else (cotangent, x)
        return SparseOuter(self.shape).bind(indices, indptr, left, right), None, None, None

    def linear_in(self, flags: Flags) -> bool:
        return flags in ((True, False, False, False), (False, False, False, True))

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        if any(batched[:3]):
            return self.one_by_one(size, inputs, batched)
        x = inputs[3]
        shape = shape_of(x)
        wide = (shape[1], size * (shape[2] if len(shape) > 2 else 1))
        columns = reshape(permute(x, (1, 0, *range(2, len(shape)))), wide)
        out = self.bind(*inputs[:3], columns)
        split = reshape(out, (shape_of(out)[0], size, *shape[2:]))
        return permute(split, (1, 0, *range(2, len(shape)))), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        arrays = structure()
        return (
            Sample(normal(5), *arrays, normal(4), params={"shape": (3, 4), "transposed": False}),
            Sample(normal(5), *arrays, normal(3, 2), params={"shape": (3, 4), "transposed": True}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"shape": (3, 4), "transposed": False}
        return (
            ErrorSample(normal(5), *structure(), normal(3), params=params, words="differ", error=ShapeError),
            ErrorSample(normal(4), *structure(), normal(4), params=params, words="no comp", error=ShapeError),
        )


class SparseOuter(OnCompressedRows):
    """The elements of ``x @ y.T`` where a sparse matrix has elements.

    The inputs are the columns and beginnings of rows of the matrix, then the vectors or matrices `x` and `y`.
    """

    name = "sparse_outer"
    parameters = ("shape",)

    def infer(self, *avals: Aval) -> Aval:
        indices, indptr, x, y = avals
        self.check_structure(indices, indices, indptr)
        if (x.shape[:1], y.shape[:1]) != ((self.shape[0],), (self.shape[1],)) or x.shape[1:] != y.shape[1:]:
            raise ShapeError(f"{self.name} of {x} and {y}: the matrix has shape {self.shape}")
        if x.dtype != y.dtype:
            raise DtypeError(f"{self.name} of {x} and {y}: operands must be cast to one dtype first")
        return x.with_shape(indices.shape).strong

    def evaluate(self, *values: Array) -> Array:
        indices, indptr, x, y = values
        rows = np.repeat(np.arange(self.shape[0]), np.diff(indptr))
        if x.ndim == 1:
            return x[rows] * y[indices]
        out = np.zeros(indices.shape, x.dtype)
        for k in range(x.shape[1]):
            out += x[rows, k] * y[indices, k]
        return out

    def expansion(self, *inputs: Array) -> Array | None:
        """``x[rows] * y[columns]``, summed over further columns."""
        indices, indptr, x, y = inputs
        if 0 in shape_of(indices) or 0 in shape_of(x):
            return None
        rows = self.row_of_elements(indptr, shape_of(indices)[0])
        found = mul(Gather((0,)).bind(x, rows), Gather((0,)).bind(y, indices))
        return found if len(shape_of(x)) == 1 else reduce_sum(found, (1,))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        indices, indptr, x, y = primals
        out = self.bind(*primals)
        first = None if tangents[2] is None else self.bind(indices, indptr, tangents[2], y)
        second = None if tangents[3] is None else self.bind(indices, indptr, x, tangents[3])
        return out, added(first, second)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        indices, indptr, x, y = inputs
        if isinstance(x, Linear):
            return None, None, SparseProduct(self.shape, False).bind(cotangent, indices, indptr, y), None
        return None, None, None, SparseProduct(self.shape, True).bind(cotangent, indices, indptr, x)

    def linear_in(self, flags: Flags) -> bool:
        return flags in ((False, False, True, False), (False, False, False, True))

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.one_by_one(size, inputs, batched)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(*structure(), normal(3), normal(4), params={"shape": (3, 4)}),
            Sample(*structure(), normal(3, 2), normal(4, 2), params={"shape": (3, 4)}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(
                *structure(), normal(4), normal(4), params={"shape": (3, 4)}, words="shape", error=ShapeError
            ),
        )


def structure() -> tuple[Any, Any]:
    """Columns and beginnings of rows of a matrix of three rows, the second empty, and four columns."""
    return fixed(np.array([0, 2, 3, 1, 3], np.int32)), fixed(np.array([0, 3, 3, 5], np.int32))


def matrix(shape: tuple[int, int], transposed: bool, data: Array, indices: Array, indptr: Array) -> Foreign:
    """SciPy's sparse array of this structure: by columns where it is transposed."""
    sparse: Any = import_module("scipy.sparse")
    if transposed:
        return sparse.csc_array((data, indices, indptr), shape=(shape[1], shape[0]))
    return sparse.csr_array((data, indices, indptr), shape=shape)
