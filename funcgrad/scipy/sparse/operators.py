"""Operators between a traced array and a plain sparse array of SciPy's, as they stand."""

from __future__ import annotations

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.sparse.arrays import sparse
from funcgrad.scipy.sparse.matrices import as_matrix, is_matrix
from funcgrad.source import Source, user_location
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike


def operate(name: str, x: Tracer, a: ArrayLike) -> Anything:
    """The operator of that name of a tracer, and a sparse array on its other side."""
    operation = name.strip("_")
    reflected = operation.startswith("r") and operation != "rshift"
    operation = operation.removeprefix("r") if reflected else operation
    ours = as_matrix(sparse(a)) if is_matrix(a) else sparse(a)
    if operation == "mul" and is_matrix(a) and x.aval.shape:
        operation = "matmul"
    if operation == "matmul":
        return ours @ x if reflected else ours.__rmatmul__(x)
    if operation == "mul":
        return ours.multiply(x)
    if operation == "add":
        return ours + x
    if operation == "sub":
        return ours - x if reflected else (-ours) + x
    if operation == "truediv" and reflected:
        return ours / x
    raise UnsupportedFunctionError(
        f"{name} of a traced array and a {type(a).__name__} is not supported",
        source=Source(*user_location()),
        remedy="Sparse arrays have products, sums and differences with traced arrays; "
        "use a.toarray() for other operators.",
    )
