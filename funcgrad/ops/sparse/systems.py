"""Systems of linear equations with a sparse matrix, by factors or by iteration.

``x_dot = solve(b_dot - A_dot @ x)``: derivatives are solutions of systems with the same matrix, or with the
transposed one, by the same method. Factors are kept by the contents of the matrix, so that the value and all
derivatives factor it once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from importlib import import_module
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, NotDifferentiableError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import permute, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import neg
from funcgrad.ops.families import added
from funcgrad.ops.sparse.products import OnCompressedRows, SparseOuter, SparseProduct, matrix
from funcgrad.shared import keep_through_forks
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.samples import ErrorSample, Sample, fixed, normal
from funcgrad.types import Array, Foreign

KEPT = 4
"""Factors that are remembered."""

_FACTORS: OrderedDict[Any, Any] = OrderedDict()
_FACTORING = Lock()
keep_through_forks(_FACTORING)


class SparseSolve(OnCompressedRows):
    """``x`` with ``matrix @ x == b``, or with the transposed matrix, for a vector or matrix `b`.

    ``method`` names a function of ``scipy.sparse.linalg``, and ``options`` its keywords; ``spsolve`` factors.
    """

    name = "sparse_solve"
    not_exported = "sparse factors are SciPy's, and neither NumPy nor Numba has them"
    parameters = ("shape", "transposed", "method", "options")
    transposed: bool
    method: str
    options: tuple[tuple[str, Any], ...]
    kinds: ClassVar[str] = "fc"

    def infer(self, *avals: Aval) -> Aval:
        data, indices, indptr, b = avals
        self.check_structure(data, indices, indptr)
        if self.shape[0] != self.shape[1] or b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise ShapeError(f"{self.name} of a matrix of shape {self.shape} and {b}: the sizes differ")
        if b.dtype != data.dtype:
            raise DtypeError(f"{self.name} of {data} and {b}: operands must be cast to one dtype first")
        return b.strong

    def evaluate(self, *values: Array) -> Array:
        data, indices, indptr, b = values
        if self.method == "spsolve":
            factors = factors_of(self.shape, data, indices, indptr)
            # SuperLU has the factors of the columns, which are the rows of what it is asked for here.
            return factors.solve(np.ascontiguousarray(b), "N" if self.transposed else "T").astype(b.dtype)
        a = matrix(self.shape, self.transposed, data, indices, indptr)
        columns = b.reshape(len(b), -1)
        options = turned(self.options) if self.transposed else self.options
        found = [iterated(self.method, a, columns[:, k], options) for k in range(columns.shape[1])]
        return np.stack(found, 1).reshape(b.shape).astype(b.dtype)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        data, indices, indptr, _ = primals
        out = self.bind(*primals)
        moved = None
        if tangents[0] is not None:
            moved = neg(SparseProduct(self.shape, self.transposed).bind(tangents[0], indices, indptr, out))
        return out, self.bind(data, indices, indptr, added(tangents[3], moved))

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        data, indices, indptr, b = inputs
        if not isinstance(b, Linear):
            return super().transpose(cotangent, *inputs)
        turned = SparseSolve(self.shape, not self.transposed, self.method, self.options)
        return None, None, None, turned.bind(data, indices, indptr, cotangent)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, False, False, True)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        if any(batched[:3]):
            return self.one_by_one(size, inputs, batched)
        b = inputs[3]
        shape = shape_of(b)
        wide = (shape[1], size * (shape[2] if len(shape) > 2 else 1))
        columns = reshape(permute(b, (1, 0, *range(2, len(shape)))), wide)
        out = reshape(self.bind(*inputs[:3], columns), (shape[1], size, *shape[2:]))
        return permute(out, (1, 0, *range(2, len(shape)))), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        plain = {"shape": (3, 3), "transposed": False, "method": "spsolve", "options": ()}
        loose = {"method": "gmres", "options": (("atol", 1e-5), ("rtol", 1e-5))}
        return (
            Sample(dominant, *square(), normal(3), params=plain),
            Sample(dominant, *square(), normal(3, 2), params=plain | {"transposed": True}),
            Sample(dominant, *square(), normal(3), params=plain | loose, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"shape": (3, 3), "transposed": False, "method": "spsolve", "options": ()}
        return (ErrorSample(dominant, *square(), normal(4), params=params, words="differ", error=ShapeError),)


def factors_of(shape: tuple[int, int], data: Array, indices: Array, indptr: Array) -> Foreign:
    """SuperLU's factors of the transposed matrix, remembered by the contents of its arrays."""
    digest = blake2b(digest_size=16)
    data, indices, indptr = (np.ascontiguousarray(array) for array in (data, indices, indptr))
    for array in (data, indices, indptr):
        digest.update(array.tobytes())
    key = (shape, data.dtype, digest.digest())
    with _FACTORING:
        found = _FACTORS.pop(key, None)
        if found is None:
            linalg: Any = import_module("scipy.sparse.linalg")
            found = linalg.splu(matrix(shape, True, data, indices, indptr))
        _FACTORS[key] = found
        while len(_FACTORS) > KEPT:
            _FACTORS.popitem(last=False)
    return found


def turned(options: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The options for the transposed matrix: the preconditioners transposed, and no starting point."""
    plain = [(key, getattr(value, "value", value)) for key, value in options if key != "x0"]
    sides = {"M1": "M2", "M2": "M1"}
    return [(sides.get(key, key), value.T if key in ("M", "M1", "M2") else value) for key, value in plain]


def iterated(method: str, a: Array, b: Array, options: Sequence[tuple[str, Any]]) -> Array:
    """The solution by an iteration of SciPy's; raises NotDifferentiableError where it finds none."""
    linalg: Any = import_module("scipy.sparse.linalg")
    plain = {key: getattr(value, "value", value) for key, value in options}
    found, info = getattr(linalg, method)(a, b, **plain)
    if info:
        raise NotDifferentiableError(
            f"{method} stopped without a solution (info = {info}), and where it stopped has no derivative",
            remedy="Give it more iterations or another tolerance, or use fg.scipy.sparse.linalg.spsolve.",
        )
    return found


def dominant(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
    """Elements for `square` whose diagonal is large."""
    found = normal(7)(rng, dtype)
    found[[0, 3, 6]] += 5.0
    return found


def square() -> tuple[Any, Any]:
    """Columns and beginnings of rows of a matrix of three rows and columns."""
    return fixed(np.array([0, 1, 0, 1, 2, 0, 2], np.int32)), fixed(np.array([0, 2, 5, 7], np.int32))


__all__ = ["SparseOuter", "SparseSolve", "factors_of", "iterated"]
