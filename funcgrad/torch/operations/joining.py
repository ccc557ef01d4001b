"""Joining tensors, repeating them, and moving their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.dtypes import promote
from funcgrad.torch.core.errors import dim_of, dims_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.movement import ints
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published
from funcgrad.types import Anything, Array, Arrays, AxisLike, Number, ShapeLike

__all__: list[str] = []


def _promoted(tensors: Arrays) -> Operands:
    dtype = tensors[0]._value.dtype
    for t in tensors[1:]:
        dtype = promote(dtype, t._value.dtype)
    return dtype


@op("CatBackward0")
def _cat(*values: Array) -> Array:
    *arrays, axis, dtype = values
    return np.concatenate([a.astype(dtype) if a.dtype != dtype else a for a in arrays], axis)


@operation("cat", "concat", "concatenate", method=False)
def cat(tensors: Operand, dim: int = 0, *, axis: int | None = None) -> Operand:
    """Tensors one after another along a dimension."""
    if isinstance(tensors, Tensor):
        raise TypeError("cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    tensors = tuple(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(t).__name__}")
        if not t._value.shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {k}) cannot be concatenated")
    dtype = _promoted(tensors)
    kept = [t for t in tensors if t._value.shape != (0,)] or list(tensors[:1])
    at = dim_of(dim if axis is None else axis, len(kept[0]._value.shape))
    first = kept[0]._value.shape
    for k, t in enumerate(kept):
        shape = t._value.shape
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for d, (a, b) in enumerate(zip(first, shape, strict=True)):
            if d != at and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {a} but got size "
                    f"{b} for tensor number {k} in the list."
                )
    return apply(_cat, kept, (at, dtype))


@op("StackBackward0")
def _stack(*values: Array) -> Array:
    *arrays, axis, dtype = values
    return np.stack([a.astype(dtype) if a.dtype != dtype else a for a in arrays], axis)


@operation("stack", method=False)
def stack(tensors: Operand, dim: int = 0) -> Operand:
    """Tensors of one shape along a new dimension."""
    tensors = tuple(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._value.shape
    for k, t in enumerate(tensors):
        if t._value.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(t._value.shape)} at entry {k}"
            )
    return apply(_stack, tensors, (dim_of(dim, len(first) + 1), _promoted(tensors)))


@operation("hstack", method=False)
def hstack(tensors: Operand) -> Operand:
    """Tensors side by side."""
    raised = FUNCTIONS["atleast_1d"](*tensors)
    raised = raised if isinstance(raised, tuple) else (raised,)
    return cat(raised, 0 if len(raised[0]._value.shape) == 1 else 1)


@operation("vstack", "row_stack", method=False)
def vstack(tensors: Operand) -> Operand:
    """Tensors below one another."""
    raised = FUNCTIONS["atleast_2d"](*tensors)
    return cat(raised if isinstance(raised, tuple) else (raised,), 0)


@operation("dstack", method=False)
def dstack(tensors: Operand) -> Operand:
    """Tensors behind one another."""
    raised = FUNCTIONS["atleast_3d"](*tensors)
    return cat(raised if isinstance(raised, tuple) else (raised,), 2)


@operation("column_stack", method=False)
def column_stack(tensors: Operand) -> Operand:
    """Vectors as columns beside one another."""
    return hstack([t.reshape(t._value.size, 1) if len(t._value.shape) <= 1 else t for t in tensors])


# -- repetition -------------------------------------------------------------------------------------------


@op("RepeatBackward0")
def _repeat(x: Array, counts: tuple[int, ...]) -> Array:
    return np.tile(x, counts)


@operation(function=False)
def repeat(input: Tensor, *sizes: ShapeLike) -> Operand:
    """The tensor several times along each dimension."""
    counts = ints(sizes)
    if len(counts) < len(input._value.shape):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    return apply(_repeat, (input,), (counts,))


@operation()
def tile(input: Tensor, *dims: AxisLike) -> Operand:
    """The tensor several times along its last dimensions."""
    counts = ints(dims)
    if any(n < 0 for n in counts):
        shape = [1] * (len(counts) - len(input._value.shape)) + list(input._value.shape)
        ones = [1] * (len(shape) - len(counts))
        sizes = [n * m for n, m in zip([*ones, *counts], shape, strict=True)]
        wrong = next(n for n in sizes if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {wrong}: {sizes}")
    missing = len(input._value.shape) - len(counts)
    return repeat(input, (*[1] * missing, *counts))


@op("ViewBackward0")
def _interleaved(x: Array, counts: Anything, axis: AxisLike) -> Array:
    return np.repeat(x, np.asarray(counts), axis=axis)


_NEGATIVE = "repeats can not be negative"


@operation("repeat_interleave")
def repeat_interleave(
    input: Tensor, repeats: Operand = None, dim: int | None = None, *, output_size: ShapeLike = None
) -> Operand:
    """Every element several times."""
    if repeats is None:
        counts = input._value
        return FUNCTIONS["as_tensor"](np.repeat(np.arange(len(counts)), counts))
    given = repeats._value if isinstance(repeats, Tensor) else repeats
    counts = tuple(np.asarray(given).reshape(-1).tolist()) if np.ndim(given) else int(given)
    if min((counts,) if isinstance(counts, int) else counts, default=0) < 0:
        raise RuntimeError("Repeats must be non-negative" if isinstance(counts, int) else _NEGATIVE)
    at = None if dim is None else dim_of(dim, len(input._value.shape))
    size = input._value.size if at is None else input._value.shape[at]
    if not isinstance(counts, int) and len(counts) not in (1, size):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{len(counts)} and input.size({-1 if at is None else at}) = {size}"
        )
    return apply(_interleaved, (input,), (counts, at))


# -- movement that copies ---------------------------------------------------------------------------------


@op("FlipBackward0")
def _flip(x: Array, axes: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(np.flip(x, axes)) if type(x) is np.ndarray else np.flip(x, axes)


@op("FlipBackward0")
def _flip_of_nothing(x: Array, axes: AxisLike) -> Array:
    return x.copy()


@operation()
def flip(input: Tensor, *along: AxisLike, dims: AxisLike = None) -> Operand:
    """The dimensions reversed."""
    along = along if dims is None else (dims,)
    given = along[0] if len(along) == 1 and not isinstance(along[0], int) else along
    axes = tuple(dims_of(tuple(given), len(input._value.shape))) if len(given) else ()
    return apply(_flip if axes else _flip_of_nothing, (input,), (axes,))


@operation()
def fliplr(input: Tensor) -> Operand:
    """Columns reversed."""
    return flip(input, 1)


@operation()
def flipud(input: Tensor) -> Operand:
    """Rows reversed."""
    if not input._value.shape:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


@op("RollBackward0")
def _roll(x: Array, shifts: Anything, axes: AxisLike) -> Array:
    return np.roll(x, shifts, axes)


@operation()
def roll(input: Tensor, shifts: ShapeLike, dims: AxisLike = None) -> Operand:
    """Elements moved along dimensions; what falls off comes back in."""
    shifts, dims = [int(x) if isinstance(x, np.integer) else x for x in (shifts, dims)]
    shifts = shifts if isinstance(shifts, int) else tuple(shifts)
    if shifts == ():
        raise RuntimeError("`shifts` required")
    ndim = len(input._value.shape)
    given = dims if dims is None or isinstance(dims, int) else (tuple(dims) or None)
    axes: Any = None
    counts = [1 if x is None or isinstance(x, int) else len(x) for x in (shifts, given)]
    if (given is None and counts[0] > 1) or (given is not None and counts[0] != counts[1]):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {counts[0]}, dims:{0 if given is None else counts[1]}"
        )
    if given is not None:
        if not ndim:
            raise IndexError(f"Dimension specified as {given} but tensor has no dimensions")
        axes = dim_of(given, ndim) if isinstance(given, int) else tuple([dim_of(d, ndim) for d in given])
    return apply(_roll, (input,), (shifts, axes))


@op("Rot90Backward0")
def _rot90(x: Array, k: int, axes: tuple[int, int]) -> Array:
    return np.rot90(x, k, axes)


@operation()
def rot90(input: Tensor, k: int = 1, dims: AxisLike = (0, 1)) -> Operand:
    """Two dimensions turned by multiples of 90 degrees."""
    a, b = dims_pair(dims, len(input._value.shape))
    return apply(_rot90, (input,), (k, (a, b)))


def dims_pair(dims: AxisLike, ndim: int) -> tuple[int, int]:
    """Two different dimensions."""
    a, b = [dim_of(d, ndim) for d in dims]
    if a == b:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return a, b


def _triangle(name: str, title: str, function: Anything) -> None:
    @op(title)
    def part(x: Array, diagonal: int) -> Array:
        return function(x, diagonal)

    def triangle(input: Tensor, diagonal: int = 0) -> Operand:
        if len(input._value.shape) < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return apply(part, (input,), (diagonal,))

    triangle.__name__ = triangle.__qualname__ = name
    operation(name, inplace=True)(triangle)


_triangle("tril", "TrilBackward0", np.tril)
_triangle("triu", "TriuBackward0", np.triu)


@op("DiagEmbedBackward0")
def _diag_embed(x: Array, offset: int, dim1: int, dim2: int) -> Array:
    size = x.shape[-1] + abs(offset)
    row = np.arange(x.shape[-1]) + max(-offset, 0)
    column = np.arange(x.shape[-1]) + max(offset, 0)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype) + 0 * np.sum(x)
    out = out.astype(x.dtype)
    out[..., row, column] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


@operation()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Operand:
    """Matrices with the last dimension on their diagonals."""
    ndim = len(input._value.shape) + 1
    if dim_of(dim1, ndim) == dim_of(dim2, ndim):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return apply(_diag_embed, (input,), (offset, dim1, dim2))


@op("DiagonalBackward0_copy")
def _DIAGONAL_COPY(x: Array, offset: int) -> Array:
    return np.diagonal(x, offset).copy()


@operation()
def diag(input: Tensor, diagonal: int = 0) -> Operand:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    ndim = len(input._value.shape)
    if ndim == 1:
        return diag_embed(input, diagonal)
    if ndim == 2:
        return apply(_DIAGONAL_COPY, (input,), (diagonal,))
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")


@operation()
def diagflat(input: Tensor, offset: int = 0) -> Operand:
    """The matrix with all elements on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


@operation("block_diag", method=False)
def block_diag(*tensors: Operand) -> Operand:
    """Matrices along the diagonal of a larger one."""
    return apply(_block_diag, of_one_dtype(*tensors))


@op("BlockDiagBackward0")
def _block_diag(*values: Array) -> Array:
    blocks = [np.reshape(x, (1, -1)) if x.ndim < 2 else x for x in values]
    width = sum(b.shape[1] for b in blocks)
    rows: list[Any] = []
    at = 0
    for b in blocks:
        m = b.shape[1]
        rows.append(np.pad(b, ((0, 0), (at, width - at - m))))
        at += m
    return np.concatenate(rows, 0)


@op("ConstantPadNdBackward0")
def _pad(x: Array, widths: tuple[tuple[int, int], ...], value: float) -> Array:
    cut = tuple([slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, x.shape, strict=True)])
    grown = [(max(a, 0), max(b, 0)) for a, b in widths]
    return np.pad(x[cut], grown, constant_values=x.dtype.type(value))


@published("constant_pad_nd")
def pad_constant(input: Tensor, pad: ShapeLike, value: Number = 0.0) -> Operand:
    """The tensor with constants around it; `pad` counts from the last dimension."""
    widths = [(0, 0)] * len(input._value.shape)
    for k in range(len(pad) // 2):
        widths[-1 - k] = (int(pad[2 * k]), int(pad[2 * k + 1]))
    return apply(_pad, (input,), (tuple(widths), 0.0 if value is None else value))


@published()
def meshgrid(*tensors: Operand, indexing: str | None = None) -> tuple[Any, ...]:
    """Coordinates on the grid of several vectors."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    vectors = list(tensors)
    swap = indexing == "xy" and len(vectors) > 1
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if swap:
        # Columns first: the grid is made as for "ij" with the first two vectors exchanged.
        vectors[:2] = vectors[1::-1]
    for v in vectors:
        if v._value.dtype != vectors[0]._value.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if len(v._value.shape) > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {v.detach()}"
            )
    sizes = [v._value.size for v in vectors]
    grids = [
        v.reshape([n if k == j else 1 for j in range(len(vectors))]).expand(sizes)
        for k, (v, n) in enumerate(zip(vectors, sizes, strict=True))
    ]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@published()
def cartesian_prod(*tensors: Operand) -> Operand:
    """All combinations of elements, a row each."""
    for x in tensors:
        if len(x._value.shape) != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._value.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.reshape(-1) for g in meshgrid(*tensors, indexing="ij")], -1)


@operation("diff")
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Operand = None, append: Operand = None
) -> Operand:
    """Differences of neighbours along a dimension, `n` times."""
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return input.clone()
    parts = [p for p in (prepend, input, append) if p is not None]
    x = cat(parts, dim) if len(parts) > 1 else input
    at = dim_of(dim, len(x._value.shape))
    for _ in range(n):
        size = x._value.shape[at]
        later, earlier = x.narrow(at, min(1, size), max(size - 1, 0)), x.narrow(at, 0, max(size - 1, 0))
        x = later ^ earlier if x._value.dtype.kind == "b" else later - earlier
    return x
