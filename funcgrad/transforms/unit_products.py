"""Products of a linear Program with its tangent, which over all unit vectors are the columns of a matrix.

A Jacobian is a linear Program over the unit vectors. Where such a Program begins with ``A @ t``, the batch of
them would be a product with the identity matrix: as dear as any other, and ``0 * inf`` beside an infinity.
"""

from __future__ import annotations

from typing import NamedTuple

from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.contraction import DotGeneral


class Product(NamedTuple):
    """The product of a residual, contracted along one axis, with the tangent."""

    residual: int
    axis: int


def without_unit_products(program: Program, n_residuals: int) -> tuple[Program, tuple[Product, ...]] | None:
    """The Program with its products of residuals and the tangent as further inputs, and which these are.

    None where it has no such product, or more than one tangent, or one that is no vector.
    """
    if len(program.inputs) != n_residuals + 1 or program.inputs[-1].aval.ndim != 1:
        return None
    residuals = {var: k for k, var in enumerate(program.inputs[:-1])}
    products: list[Product] = []
    given: list[Var] = []
    kept: list[Equation] = []
    for equation in program.equations:
        found = product_of(equation, residuals, program.inputs[-1])
        if found is None:
            kept.append(equation)
        else:
            products.append(found)
            given.append(equation.outputs[0])
    if not products:
        return None
    inputs = (*program.inputs, *given)
    return Program(inputs, program.captured, tuple(kept), program.outputs, program.name), tuple(products)


def product_of(equation: Equation, residuals: dict[Var, int], tangent: Var) -> Product | None:
    """The product that an equation is; None where it is something else."""
    primitive = equation.primitive
    if type(primitive) is not DotGeneral:
        return None
    (x, y), (x_labels, y_labels) = equation.inputs, primitive.labels[:2]
    if x is tangent:
        (x, y), (x_labels, y_labels) = (y, x), (y_labels, x_labels)
    if y is not tangent or not isinstance(x, Var) or x not in residuals:
        return None
    (label,) = y_labels
    if label in primitive.labels.out:
        return None
    return Product(residuals[x], x_labels.index(label))
