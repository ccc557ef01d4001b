"""Eigenvalues of two matrices, ``a @ v = w * b @ v``: those of ``b**-1 @ a`` in SciPy's order and phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.api.control_flow.binding import bound
from funcgrad.ir.avals import Aval
from funcgrad.numpy.dispatch import unsupported
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.ops.linalg import general
from funcgrad.scipy.linalg.arguments import scipys
from funcgrad.scipy.originals import original
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.transforms.solved.solving import Solved
from funcgrad.types import Array


@dataclass(frozen=True)
class Gauge(Method):
    """In which order and with which phases SciPy gives eigenpairs that are known: no derivatives."""

    differentiable = False

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        n = avals[0].shape[0]
        return Aval((n,), np.int64), Aval((n,), np.complex128)

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        a, b, w, v = [np.asarray(x) for x in values]
        wanted, vectors = scipys("eig")(a, b)
        if not np.isfinite(wanted).all():
            raise np.linalg.LinAlgError("b is singular: an eigenvalue is infinite and has no derivative")
        order = original("optimize", "linear_sum_assignment")(abs(wanted[:, None] - w))[1]
        overlaps = np.sum(np.conj(v[:, order]) * vectors, axis=0)
        sizes = abs(overlaps)
        return order, np.where(sizes == 0, 1.0, overlaps / np.where(sizes == 0, 1.0, sizes))


def generalised_pairs(a: Array, b: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors of length one, both complex.

    >>> float(fg.grad(lambda s: fg.scipy.linalg.eig(np.diag([2.0, 3.0]), s * np.eye(2))[0].real.sum())(1.0))
    -5.0
    """
    if len(shape_of(a)) != 2:
        raise unsupported("scipy.linalg.eig of two matrices in a batch")
    w, v = general.eig.bind(np.linalg.solve(b, a))
    order, phases = bound(Solved(Gauge(), (), ()), [a, b, w, v])
    return w[order], v[:, order] * phases
