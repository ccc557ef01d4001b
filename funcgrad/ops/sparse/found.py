"""What SciPy's iterations find of a sparse matrix: eigenpairs, singular triplets, least squares.

Owns the values alone: how they move is said by custom rules in `funcgrad.scipy.sparse.linalg`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import stack
from funcgrad.ops.sparse.products import OnCompressedRows, matrix
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import Sample, fixed, normal
from funcgrad.types import Array


class SparseFound(OnCompressedRows):
    """The results of ``scipy.sparse.linalg.<function>`` for a matrix, and a vector where it takes one.

    ``shapes`` are those of the results that are kept, the first so many.
    """

    name = "sparse_found"
    not_exported = "the solver is SciPy's, and neither NumPy nor Numba has it"
    parameters = ("function", "shape", "options", "shapes", "start")
    multiple = True
    function: str
    options: tuple[tuple[str, Any], ...]
    shapes: tuple[tuple[int, ...], ...]
    start: bool
    """Whether the last input is the vector that the iteration starts at."""

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        self.check_structure(*avals[:3])
        return tuple([Aval(shape, avals[0].dtype) for shape in self.shapes])

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        data, indices, indptr, *others = values
        a = matrix(self.shape, False, data, indices, indptr)
        options = {key: getattr(value, "value", value) for key, value in self.options}
        if self.start and others:
            options["v0"] = others.pop()
        found = getattr(import_module("scipy.sparse.linalg"), self.function)(a, *others, **options)
        return tuple([np.asarray(x).astype(data.dtype) for x in found[: len(self.shapes)]])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        # Rules of its callers say what moves; by itself it is a constant, as factors are.
        return self.bind(*primals), (None,) * len(self.shapes)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        rows = [
            self.bind(*[x[k] if flag else x for x, flag in zip(inputs, batched, strict=True)])
            for k in range(size)
        ]
        return tuple([stack(list(parts), 0) for parts in zip(*rows, strict=True)]), [True] * len(self.shapes)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        places = (fixed(np.array([0, 1, 1, 2], np.int32)), fixed(np.array([0, 2, 3, 4], np.int32)))
        params = {"function": "lsqr", "shape": (3, 3), "options": (), "shapes": ((3,),), "start": False}
        return (Sample(normal(4), *places, normal(3), params=params, differentiable=False),)
