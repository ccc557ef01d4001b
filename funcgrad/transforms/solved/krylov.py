"""Large linear systems of which only products are computed: the implicit derivatives of many unknowns.

The matrix is a Program, ``point, vector -> product``. Solutions are GMRES's (Saad and Schultz 1986); where it
does not converge the matrix is made of its products after all, if it is not too large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.avals import Aval
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.program import Program
from funcgrad.ops.elementwise.arithmetic import neg
from funcgrad.ops.families import added
from funcgrad.tracing.recorder import recorder_of
from funcgrad.transforms.linear_call import LinearCall
from funcgrad.transforms.linearize import record_jvp
from funcgrad.transforms.replay import inputs_of, transforming
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.transforms.transpose import transpose_program
from funcgrad.types import Array

TOLERANCE = 1e-11
"""Of the residual, relative to the right-hand side."""

ACCEPTED = 1e-7
"""A residual as small as this is a solution; beyond, the matrix is made."""

RESTART, ROUNDS = 60, 20

LARGEST_MADE = 6000
"""Rows up to which a matrix is made of its products where iterations do not converge."""


@dataclass(frozen=True)
class Krylov(Method):
    """``point, right-hand side -> solution``; the Programs are the product and that with the transpose."""

    what: str

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        return (avals[-1].strong,)

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        *point, right = values
        product = programs[0]
        size = len(right)

        def matvec(v: Array) -> Array:
            return product.evaluate(*point, np.asarray(v).reshape(size))[0]

        if not np.any(right):
            return (np.zeros(size),)
        library = import_module("scipy.sparse.linalg")
        operator = library.LinearOperator((size, size), matvec=matvec, dtype=right.dtype)
        found, _ = library.gmres(operator, right, rtol=TOLERANCE, restart=RESTART, maxiter=ROUNDS)
        scale = np.linalg.norm(right)
        if np.linalg.norm(matvec(found) - right) <= ACCEPTED * scale:
            return (found,)
        return (self.eliminated(matvec, right, size),)

    def eliminated(self, matvec: Callable[..., Any], right: Array, size: int) -> Array:
        """The solution by the matrix itself; raises NotDifferentiableError where there is none."""
        problem = NotDifferentiableError(
            f"the linear system behind the derivative of {self.what}, of {size} unknowns, could not be "
            "solved: its Jacobian is singular at the solution, or nearly",
            remedy="The solution may not be isolated: change the problem, or stop the gradient with "
            "fg.stop_gradient.",
        )
        if size > LARGEST_MADE:
            raise problem
        matrix = np.stack([matvec(e) for e in np.eye(size)], axis=1)
        try:
            found = np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            raise problem from None
        if not np.linalg.norm(matrix @ found - right) <= ACCEPTED * np.linalg.norm(right):
            raise problem
        return found

    def tangents(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], dots: Sequence[Any]
    ) -> Sequence[Any]:
        recorder = recorder_of([*inputs, *outs, *dots])
        assert recorder is not None, "tangents are recorded"
        *point, _ = inputs
        right = dots[-1]
        if any(t is not None for t in dots[:-1]):
            _, moved = record_jvp(recorder, programs[0], [*point, outs[0]], [*dots[:-1], None])
            if moved[0] is not None:
                right = added(right, neg(moved[0]))
        return [None if right is None else solved_by_products(self.what, programs, point, right)]


def solved_by_products(what: str, programs: Programs, point: Sequence[Any], right: object) -> Array:
    """The solution for a right-hand side, as a linear map that has a transpose."""
    forward, backward = (
        solution_program(Krylov(what), pair) for pair in (programs, (programs[1], programs[0]))
    )
    return LinearCall(forward, backward, len(point)).bind(*point, right)[0]


def solution_program(method: Krylov, programs: Programs) -> Program:
    """``point, right-hand side -> solution``"""
    with transforming(programs[0], "solve") as recorder:
        inputs = inputs_of(recorder, programs[0].inputs)
        (found,) = recorder.record(CATALOG["solved"](method, programs, ()), inputs)
        return recorder.program([t._index for t in inputs], [recorder.index_of(found)])


def with_transpose(product: Program) -> Programs:
    """The product, and the Program of products with the transpose."""
    return product, transpose_program(product, len(product.inputs) - 1)
