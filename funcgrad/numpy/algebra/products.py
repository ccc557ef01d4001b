"""Matrix products that broadcast over leading axes: ``matmul`` and its relatives, and ``@`` of a tracer."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from funcgrad.ir.avals import Shape
from funcgrad.numpy.algebra.operands import conjugated, sizes_differ, traced
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.elementwise.ufuncs import with_options
from funcgrad.numpy.reducing.axes import normalized_axis, refused
from funcgrad.numpy.tracers.operators import forward, reflected
from funcgrad.ops.arrays.structure import aval, move_axis, reshape
from funcgrad.ops.contraction import DotGeneral, contract
from funcgrad.ops.reducing.labelled import Labels
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, UfuncOption

__all__ = ["matmul", "matvec", "vecdot", "vecmat"]


@implements(np.matmul)
def matmul(x1: ArrayLike, x2: ArrayLike, /, out: Array = None, **options: UfuncOption) -> Array:
    """Matrix product; leading axes broadcast, and vectors stand for a row or a column.

    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> print(fg.grad(lambda w: np.sum(fg.numpy.matmul(x, w)))(np.array([1.0, 1.0])))
    [4. 6.]
    """
    if out is not None or options:
        return with_options(np.matmul, matmul, (x1, x2), out, options)
    known = recorded_as_before(x1, x2)
    if known is not None:
        return known
    operands = traced(x1, x2)
    if operands is None:
        return np.matmul(x1, x2)
    x, y = operands
    return looped("matmul", x, y, "mk" if aval(x).ndim > 1 else "k", "kn" if aval(y).ndim > 1 else "k")


MATMULS = {
    (text.index(","), text.index("-") - text.index(",") - 1): DotGeneral(text)
    for text in (
        "i,i->",
        "i,ij->j",
        "ij,j->i",
        "ij,jk->ik",
        "ijk,k->ij",
        "ijk,kl->ijl",
        "ijk,ikl->ijl",
        "ijkl,l->ijk",
        "ijkl,lm->ijkm",
        "ijkl,ijlm->ijkm",
    )
}
"""What a matrix product of these ranks is where no axis broadcasts."""


def recorded_as_before(x: ArrayLike, y: ArrayLike) -> Array | None:
    """The matrix product, if one of these avals was recorded before: it needs no broadcast and no cast."""
    if type(x) is Tracer and type(y) is Tracer:
        recorder = x._recorder
        if x._view is not None or y._view is not None or y._recorder is not recorder or recorder.closed:
            return None
        product = MATMULS.get((x.aval.ndim, y.aval.ndim))
        if product is None or (x.aval, y.aval) not in product._inferred:
            return None
        return recorder.append(product, (product, x._index, y._index))
    return with_array_as_before(x, y)


def with_array_as_before(x: ArrayLike, y: ArrayLike) -> Array | None:
    """The same for a tracer and an array."""
    tracer, array = (x, y) if type(x) is Tracer else (y, x)
    if type(tracer) is not Tracer or type(array) is not np.ndarray or tracer._view is not None:
        return None
    if array.dtype.hasobject:
        return None
    x_aval, y_aval = aval(x), aval(y)
    product = MATMULS.get((x_aval.ndim, y_aval.ndim))
    if product is None or (x_aval, y_aval) not in product._inferred:
        return None
    return tracer._recorder.record(product, (x, y))


@implements(np.vecdot)
def vecdot(
    x1: ArrayLike, x2: ArrayLike, /, out: Array = None, *, axis: int = -1, **options: UfuncOption
) -> Array:
    """Dot products along `axis`, with the first operand conjugated.

    >>> print(fg.grad(lambda x: fg.numpy.vecdot(x, x))(np.array([1.0, 2.0])))
    [2. 4.]
    """
    if out is not None or options:
        return with_options(np.vecdot, vecdot, (x1, x2), out, options | {"axis": axis})
    operands = traced(x1, x2)
    if operands is None:
        return np.vecdot(x1, x2, axis=axis)  # type: ignore[call-overload]
    x, y = operands
    if axis != -1:
        x, y = (moved_last(v, axis) for v in operands)
    return looped("vecdot", conjugated(x), y, "k", "k")


def matvec(x1: ArrayLike, x2: ArrayLike, /, out: Array = None, **options: UfuncOption) -> Array:
    """Matrices times vectors; leading axes broadcast.

    >>> print(fg.numpy.matvec(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])))
    [[1. 2.]
     [3. 4.]]
    """
    if out is not None or options:
        return with_options(np.matvec, matvec, (x1, x2), out, options)
    operands = traced(x1, x2)
    if operands is None:
        return np.einsum("...mk,...k->...m", x1, x2)
    return looped("matvec", operands[0], operands[1], "mk", "k")


def vecmat(x1: ArrayLike, x2: ArrayLike, /, out: Array = None, **options: UfuncOption) -> Array:
    """Vectors, conjugated, times matrices; leading axes broadcast.

    >>> print(fg.numpy.vecmat(np.array([1.0, 2.0]), np.eye(2)))
    [1. 2.]
    """
    if out is not None or options:
        return with_options(np.vecmat, vecmat, (x1, x2), out, options)
    operands = traced(x1, x2)
    if operands is None:
        return np.einsum("...k,...kn->...n", np.conj(x1), x2)
    return looped("vecmat", conjugated(operands[0]), operands[1], "k", "kn")


if hasattr(np, "matvec"):
    # NumPy 2.2 brought the two.
    implements(np.matvec)(matvec)
    implements(np.vecmat)(vecmat)


def looped(name: str, x: ArrayLike, y: ArrayLike, x_core: str, y_core: str) -> Array:
    """A contraction over the last axes, named by letters: ``k`` is summed, all others are broadcast over."""
    x_aval, y_aval = aval(x), aval(y)
    for a, core in ((x_aval, x_core), (y_aval, y_core)):
        if a.ndim < len(core):
            raise refused(
                f"{name} of {x_aval} and {y_aval}: {a} has {a.ndim} axes and needs at least {len(core)}",
                "Use * for a product with a scalar.",
            )
    x_inner = x_aval.shape[x_core.index("k") - len(x_core)]
    y_inner = y_aval.shape[y_core.index("k") - len(y_core)]
    if x_inner != y_inner:
        raise sizes_differ(name, x_aval, y_aval, x_inner, y_inner)
    found = loop_labels(x_aval.shape, y_aval.shape, x_core, y_core)
    if found is None:
        leading = [a.shape[: a.ndim - len(core)] for a, core in ((x_aval, x_core), (y_aval, y_core))]
        raise refused(
            f"{name} of {x_aval} and {y_aval}: leading axes {leading[0]} and {leading[1]} do not broadcast"
        )
    (x_shape, x_labels), (y_shape, y_labels), out_labels = found
    return contract(reshape(x, x_shape), x_labels, reshape(y, y_shape), y_labels, out_labels)


Labelled = tuple[Shape, Labels]


@lru_cache(maxsize=4096)
def loop_labels(
    x_shape: Shape, y_shape: Shape, x_core: str, y_core: str
) -> tuple[Labelled, Labelled, Labels] | None:
    """Labels for the operands and the result; leading axes of size one that broadcast are dropped.

    None where leading axes do not broadcast.
    """
    x_loops = x_shape[: len(x_shape) - len(x_core)]
    y_loops = y_shape[: len(y_shape) - len(y_core)]
    ndim = max(len(x_loops), len(y_loops))
    padded = [(1,) * (ndim - len(loops)) + loops for loops in (x_loops, y_loops)]
    if any(m != n and 1 not in (m, n) for m, n in zip(*padded, strict=True)):
        return None
    operands = []
    for shape, loops, core, other in (
        (x_shape, x_loops, x_core, padded[1]),
        (y_shape, y_loops, y_core, padded[0]),
    ):
        first = ndim - len(loops)
        kept = [(n, str(a)) for a, n in enumerate(loops, first) if n != 1 or other[a] == 1]
        sizes = tuple([n for n, _ in kept]) + shape[len(loops) :]
        operands.append((sizes, (*[label for _, label in kept], *core)))
    core_left = [label for label in x_core + y_core if label != "k"]
    return operands[0], operands[1], (*[str(a) for a in range(ndim)], *core_left)


def moved_last(x: ArrayLike, axis: int) -> Array:
    """`x` with one axis moved to the end."""
    return move_axis(x, normalized_axis(axis, aval(x).ndim), aval(x).ndim - 1)


install({"__matmul__": forward(matmul, "__matmul__"), "__rmatmul__": reflected(matmul, "__rmatmul__")})
