"""Norms and distances."""

from __future__ import annotations

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.errors import dims_of
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.types import Array, AxisLike, DTypeLike, NormOrder, Number


def vector_norm(x: Array, p: float, axes: tuple[int, ...] | None, keepdims: bool) -> Array:
    """The norm of an array along axes, or of all of its elements."""
    if x.dtype.kind == "c":
        x = np.abs(x)
    if axes is None or len(axes) == x.ndim:
        flat = np.linalg.norm(np.reshape(x, (-1,)), p)
        return np.reshape(flat, (1,) * x.ndim) if keepdims else flat
    if len(axes) == 1:
        return np.linalg.norm(x, p, axis=axes[0], keepdims=keepdims)
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    kept = moved.shape[: -len(axes)]
    found = np.linalg.norm(np.reshape(moved, (*kept, -1)), p, axis=-1)
    return np.expand_dims(found, axes) if keepdims else found


_VECTOR_NORM = Op("LinalgVectorNormBackward0", vector_norm, keeps_result=True)


@operation()
def norm(
    input: Tensor, p: NormOrder = "fro", dim: AxisLike = None, keepdim: bool = False, dtype: DTypeLike = None
) -> Operand:
    """The norm of the elements (or of those along dimensions) as a vector."""
    if dtype is not None:
        input = input.to(dtype)
    if input._value.dtype.kind in "iub":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            + str(input.type()).removeprefix("torch.").removesuffix("Tensor")
        )
    if p == "nuc":
        sides = (0, 1) if dim is None else dims_of(dim, len(input._value.shape))
        found = FUNCTIONS["svd"](input.movedim(sides, (-2, -1)))[1].sum(-1)
        for d in sorted(sides) if keepdim else ():
            found = found.unsqueeze(d)
        return found
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    order = 2.0 if p in ("fro", None) else float(p)
    axes = None if dim is None else dims_of(dim, len(input._value.shape))
    return apply(_VECTOR_NORM, (input,), (order, axes, keepdim))


@operation()
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Operand:
    """The norm of a difference."""
    return apply(_dist, of_one_dtype(input, other), (float(p),))


@op("DistBackward0", input_names=("self", "other"))
def _dist(x: Array, y: Array, p: float) -> Array:
    return np.linalg.norm(np.reshape(x - y, (-1,)), p)


@op("CdistBackward0", input_names=("x1", "x2"))
def _cdist(x: Array, y: Array, p: float) -> Array:
    return np.linalg.norm(np.expand_dims(x, -2) - np.expand_dims(y, -3), p, axis=-1)


@operation("cdist", method=False)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: object = None) -> Operand:
    """All distances between rows of two tensors."""
    for name, x in (("X1", x1), ("X2", x2)):
        if (rank := len(x._value.shape)) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {rank}D")
    columns = [x._value.shape[-1] for x in (x1, x2)]
    if columns[0] != columns[1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {columns[0]} X2: {columns[1]}"
        )
    return apply(_cdist, (x1, x2), (float(p),))
