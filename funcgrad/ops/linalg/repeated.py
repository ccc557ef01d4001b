"""What makes derivatives through eigenvectors right where eigenvalues are repeated.

The matrix ``v^H a_dot v`` couples the vectors of a repeated eigenvalue. There is one eigenvalue for each
vector, so their tangents have room for the diagonal of that matrix alone, and no tangent of the vectors
makes up for the rest. Here the coupling is a further result of the decomposition: its value is zero, and its
tangent is the rest. A function ``g`` of the eigenvalues that multiplies eigenvectors, as ``(v * g) @ v^H``,
is then one of the matrix ``diag(w) + coupling``, whose derivative between equal eigenvalues is the slope of
``g``.

`funcgrad.transforms.spectra` puts these primitives where a Program needs them; nobody calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import aval, broadcast, cast, shape_of
from funcgrad.ops.contraction import contract
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.ops.elementwise.comparison import equal, less_equal
from funcgrad.ops.elementwise.complexes import real_dtype
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import added
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    adjoint,
    check_matrices,
    diagonal,
    from_triangle,
    hermitian_part,
    lower_text,
    product,
    refusals,
    skew_part,
)
from funcgrad.ops.linalg.singular import InverseSums, Svd
from funcgrad.ops.linalg.spectra import (
    REPEATED,
    Eigh,
    InverseGaps,
    differences,
    eigenspaces,
    real_of,
    rounding_of,
)
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import ErrorSample, Sample, fixed, normal
from funcgrad.types import AnyPrimitive, Array, Arrays


def zeros_of(found: Aval) -> Array:
    """The number 0 in a shape."""
    return broadcast(found.dtype.type(0), found.shape, ())


class RepeatedPairs(OnStacks):
    """1 for each pair of different numbers of the last axis that are as good as equal, 0 for the others."""

    name = "repeated_pairs"
    of_vectors = True
    exported = ("repeated_pairs({0})",)
    kinds = "f"

    def infer(self, *avals: Aval) -> Aval:
        (w,) = avals
        if not w.ndim:
            raise ShapeError(f"{self.name} of {w}: needs numbers along the last axis")
        return Aval((*w.shape, w.shape[-1]), w.dtype)

    def evaluate(self, *values: Array) -> Array:
        (w,) = values
        n = w.shape[-1]
        largest = np.abs(w).max(axis=-1, initial=0)[..., None, None]
        near = np.abs(w[..., None, :] - w[..., :, None]) <= largest * (REPEATED * n * np.finfo(w.dtype).eps)
        return (near & ~np.eye(n, dtype=bool)).astype(w.dtype)

    def expansion(self, *inputs: Array) -> Array | None:
        (w,) = inputs
        *stack, n = shape_of(w)
        if not n:
            return None
        last = len(stack)
        others = broadcast((1.0 - np.eye(n)).astype(aval(w).dtype), (*stack, n, n), (last, last + 1))
        gaps = absolute(differences(w))
        return where(less_equal(gaps, rounding_of(w, shape_of(gaps))), others, 0.0)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3), differentiable=False),
            Sample(fixed(np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]])), differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(), words="needs numbers", error=ShapeError),)


class EighWithCoupling(OnStacks):
    """Eigenvalues and eigenvectors as `eigh`, and the coupling within repeated eigenvalues, which is zero."""

    name = "eigh_with_coupling"
    cubic = 9.0
    parameters = ("upper",)
    upper: bool
    multiple = True
    splits = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices("eigh", a, square=True)
        return Aval(a.shape[:-1], real_dtype(a.dtype)), a.strong, a.strong

    def evaluate(self, *values: Array) -> Arrays:
        (a,) = values
        return (*np.linalg.eigh(a, "U" if self.upper else "L"), np.zeros_like(a))

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        return [f"with_coupling(np.linalg.eigh({lower_text(operands[0], self.upper)}))"]

    def expansion(self, *inputs: Array) -> Arrays:
        return (*Eigh(self.upper).bind(inputs[0]), zeros_of(aval(inputs[0])))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        w, v, coupling = self.bind(*primals)
        inner = product(adjoint(v), from_triangle(tangents[0], self.upper), v)
        turn = mul(cast(InverseGaps().bind(w), inner.aval.dtype), inner)
        rest = mul(cast(RepeatedPairs().bind(w), inner.aval.dtype), inner)
        return (w, v, coupling), (real_of(diagonal(inner)), product(v, turn), rest)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(2, 3, 3), params={"upper": False}, through=spaces_and_coupling),)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(params={"upper": False})


def spaces_and_coupling(primitive: AnyPrimitive, x: Array) -> Arrays:
    """What the phases of the vectors do not matter to."""
    coupling = primitive.bind(hermitian_part(x))[2]
    return (*eigenspaces(_FirstTwo(primitive), x), coupling)


class _FirstTwo:
    """The primitive without its third result."""

    def __init__(self, primitive: AnyPrimitive) -> None:
        self.primitive = primitive

    def bind(self, x: Array) -> Array:
        """Eigenvalues and eigenvectors."""
        return self.primitive.bind(x)[:2]


class SvdWithCoupling(Svd):
    """Singular vectors and values as `svd`, and the coupling within repeated singular values, which is zero.

    Left and right vectors of a repeated value turn together, so the coupling is a Hermitian matrix. Those of
    the value zero turn each as they like, and there it is any matrix.
    """

    name = "svd_with_coupling"
    exported = ("svd_with_coupling({0}, {p.full})",)

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        u, s, vh = super().infer(*avals)
        return u, s, vh, Aval((*s.shape, s.shape[-1]), u.dtype)

    def evaluate(self, *values: Array) -> tuple[Array, Array, Array, Array]:
        u, s, vh = super().evaluate(*values)
        return u, s, vh, np.zeros((*s.shape, s.shape[-1]), u.dtype)

    def expansion(self, *inputs: Array) -> tuple[Array, Array, Array, Array]:
        u, s, vh = Svd(self.full).bind(inputs[0])
        return u, s, vh, zeros_of(Aval((*shape_of(s), shape_of(s)[-1]), aval(u).dtype))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        u, s, vh, coupling = self.bind(*primals)
        dots, inner = self.tangents(tangents[0], u, s, vh)
        pairs = cast(RepeatedPairs().bind(s), inner.aval.dtype)
        is_zero = cast(equal(InverseSums().bind(s), 0.0), inner.aval.dtype)
        rest = add(mul(pairs, hermitian_part(inner)), mul(is_zero, skew_part(inner)))
        return (u, s, vh, coupling), (*dots, rest)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(3, 3), params={"full": False}, through=values_and_coupling),)


def values_and_coupling(primitive: AnyPrimitive, a: Array) -> Arrays:
    """What is determined, for different singular values."""
    u, s, vh, coupling = primitive.bind(a)
    return s, product(u, vh), coupling


class SpectralScale(OnStacks):
    """``x * g``, where `axis` of ``x`` runs over eigenvectors and ``g`` is a function of the eigenvalues.

    Further inputs are the slope of that function and the coupling of the vectors. ``stack`` are the axes of
    ``x`` that run over the stack of matrices, and ``conjugated`` says that ``x`` depends on the conjugates of
    their vectors.
    """

    name = "spectral_scale"
    parameters: ClassVar[tuple[str, ...]] = ("axis", "stack", "conjugated")
    axis: int
    stack: tuple[int, ...]
    conjugated: bool

    def infer(self, *avals: Aval) -> Aval:
        x, g, slope, coupling = avals
        n = x.shape[self.axis]
        stack = tuple([x.shape[k] for k in self.stack])
        if not x.shape == g.shape == slope.shape or coupling.shape != (*stack, n, n):
            raise ShapeError(f"{self.name} of {x}, {g}, {slope} and {coupling}: the shapes do not fit")
        return x.strong

    def evaluate(self, *values: Array) -> Array:
        return values[0] * values[1]

    def expansion(self, *inputs: Array) -> Array:
        return mul(inputs[0], inputs[1])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, g, slope, _ = primals
        x_dot, g_dot, _, coupling_dot = tangents
        total = None
        if x_dot is not None:
            total = added(total, mul(x_dot, g))
        if g_dot is not None:
            total = added(total, mul(x, g_dot))
        if coupling_dot is not None:
            total = added(total, self.mixed(mul(x, slope), coupling_dot))
        return self.bind(*primals), total

    def mixed(self, x: Array, matrix: Array) -> Array:
        """``x`` times a matrix along the axis of the vectors."""
        labels = tuple([f"x{k}" for k in range(len(shape_of(x)))])
        pair = (labels[self.axis], "new")
        found = (*labels[: self.axis], "new", *labels[self.axis + 1 :])
        stack = tuple([labels[k] for k in self.stack])
        return contract(x, labels, matrix, (*stack, *(pair[::-1] if self.conjugated else pair)), found)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        stack = tuple([k + 1 for k in self.stack])
        if batched[3]:
            wide = SpectralScale(self.axis + 1, (0, *stack), self.conjugated)
            return super(SpectralScale, wide).batch(size, inputs, batched)
        wide = SpectralScale(self.axis + 1, stack, self.conjugated)
        *arrays, coupling = inputs
        spread = [
            x if flag else broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
            for x, flag in zip(arrays, batched[:3], strict=True)
        ]
        return wide.bind(*spread, coupling), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        first = {"axis": 1, "stack": (), "conjugated": False}
        second = {"axis": 0, "stack": (1,), "conjugated": True}
        return (
            Sample(normal(4, 3), normal(4, 3), params=first, through=uncoupled),
            Sample(normal(3, 2), normal(3, 2), params=second, through=uncoupled),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 0, "stack": (), "conjugated": False}
        inputs = (normal(3, 2), normal(3, 2), normal(3, 2), normal(2, 2))
        return (ErrorSample(*inputs, params=params, words="do not fit", error=ShapeError),)


def uncoupled(primitive: AnyPrimitive, x: Array, g: Array) -> Array:
    """The primitive without a slope."""
    n, shape = shape_of(x)[primitive.axis], shape_of(x)
    coupling = np.zeros((*[shape[k] for k in primitive.stack], n, n), x.dtype)
    return primitive.bind(x, g, np.zeros(shape, x.dtype), coupling)
