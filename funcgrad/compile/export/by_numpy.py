"""Operations on matrices as calls of ``np.linalg``, which Numba compiles too, in the text of a kernel.

They stand for what kernels leave to LAPACK by address, or to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.schedule import NotLowered, Scheduler
from funcgrad.compile.passes.views import View
from funcgrad.ir.program import Equation
from funcgrad.ops.elementwise.floats import Exponent, Fraction, Heaviside, Ldexp, Spacing
from funcgrad.ops.elementwise.rounding import Gcd, Lcm
from funcgrad.ops.elementwise.special import Sinc
from funcgrad.ops.linalg.determinants import Det, DetWithCofactors, SlogDet
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.ops.linalg.orthogonal import Qr
from funcgrad.ops.linalg.repeated import EighWithCoupling, RepeatedPairs, SvdWithCoupling
from funcgrad.ops.linalg.singular import InverseSums, InverseValues, Pinv, Svd, Svdvals
from funcgrad.ops.linalg.spectra import Eigh, Eigvalsh, InverseGaps
from funcgrad.ops.linalg.systems import Inv, LuFactors, SolveFactored
from funcgrad.ops.linalg.triangular import Cholesky, TriangularSolve
from funcgrad.types import AnyPrimitive, Anything

Maker = Callable[[Any, Sequence[str]], Sequence[str]]
"""``(primitive, texts of the operands) -> texts of the results``, or one text of a tuple of them."""


def symmetric(primitive: AnyPrimitive, a: str) -> str:
    """The matrix whose lower triangle counts."""
    return f"np.ascontiguousarray({a}.T)" if primitive.upper else a


def qr(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
    """The reduced factors: Numba has no others."""
    if primitive.complete:
        raise NotLowered("qr with all columns is not in Numba")
    return [f"np.linalg.qr({x[0]})"]


def solved(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
    """The solution, of the matrix itself: its factors have been left as they are."""
    a = f"np.ascontiguousarray({x[0]}.T)" if primitive.transposed else x[0]
    return [f"np.linalg.solve({a}, {x[3]})"]


def substituted(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
    """The solution of a triangular system."""
    a = f"{x[0]}.T" if primitive.transposed else x[0]
    lower = primitive.lower != primitive.transposed
    return [f"substituted({a}, {x[1]}, {lower}, {primitive.unit})"]


def symmetric_template(function: str) -> Maker:
    """A function of a symmetric matrix, of which one triangle counts."""

    def make(primitive: Any, x: Sequence[str]) -> Sequence[str]:
        return [function.format(symmetric(primitive, x[0]))]

    return make


def template(*texts: str) -> Maker:
    """The results by templates of the operands; a template of several is a tuple."""

    def make(primitive: Any, x: Sequence[str]) -> Sequence[str]:
        return [text.format(*x, p=primitive) for text in texts]

    return make


MAKERS: dict[type, Maker] = {
    Cholesky: template("np.linalg.cholesky({0})"),
    Inv: template("np.linalg.inv({0})"),
    Det: template("np.linalg.det({0})"),
    DetWithCofactors: template("np.linalg.det({0})", "cofactors({0})"),
    SlogDet: template("np.linalg.slogdet({0})"),
    LuFactors: template("{0}", "0"),
    SolveFactored: solved,
    TriangularSolve: substituted,
    Eigh: symmetric_template("np.linalg.eigh({0})"),
    EighWithCoupling: symmetric_template("with_coupling(np.linalg.eigh({0}))"),
    Eigvalsh: symmetric_template("np.linalg.eigvalsh({0})"),
    Svd: template("np.linalg.svd({0}, {p.full})"),
    SvdWithCoupling: template("svd_with_coupling({0}, {p.full})"),
    Svdvals: template("np.linalg.svd({0}, False)[1]"),
    Qr: qr,
    Pinv: template("np.linalg.pinv({0}, {p.rcond!r})"),
    InverseGaps: template("inverse_gaps({0})"),
    InverseSums: template("inverse_sums({0})"),
    InverseValues: template("inverse_values({0})"),
    RepeatedPairs: template("repeated_pairs({0})"),
}
"""How each is written."""

ELEMENTS: dict[type, str] = {
    Exponent: "math.frexp({0})[1]",
    Fraction: "fraction({0})",
    Gcd: "np.gcd({0}, {1})",
    Heaviside: "heaviside({0}, {1})",
    Lcm: "np.lcm({0}, {1})",
    Ldexp: "np.ldexp({0}, {1})",
    Sinc: "sinc({0}, {p.order})",
    Spacing: "np.spacing({0})",
}
"""The same for elements, where kernels have no text for them."""

OF_VECTORS = (InverseGaps, InverseSums, InverseValues, RepeatedPairs)
"""Those whose operands are the numbers along the last axis."""


def lower_by_numpy(scheduler: Scheduler, equation: Equation) -> None:
    """One call for each matrix of a stack."""
    primitive = equation.primitive
    maker = MAKERS[type(primitive)]
    if any(a.aval.dtype.char not in "fd" for a in equation.inputs[:1]):
        raise NotLowered(f"{primitive.name} of {equation.inputs[0].aval.dtype} is not written out")
    if any(not v.aval.size for v in equation.outputs):
        raise NotLowered(f"{primitive.name} of nothing is not written out")
    a = equation.inputs[0].aval
    own = 1 if isinstance(primitive, OF_VECTORS) else 2
    batch = a.shape[: a.ndim - own]
    operands = [scheduler.contiguous(x) if x.aval.shape else None for x in equation.inputs]
    targets = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]
    names = [scheduler.local.fresh("m") for _ in targets]

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        with ExitStack() as stack:
            variables = [writer.local.fresh("q") for _ in batch]
            for variable, n in zip(variables, batch, strict=True):
                stack.enter_context(writer.loop(variable, n))
            texts = maker(primitive, [of_stack(writer, v, variables) for v in operands if v is not None])
            if len(texts) < len(targets):
                writer.line(f"{', '.join(names)} = {texts[0]}")
                texts = names
            for target, text in zip(targets, texts, strict=True):
                writer.line(f"{stored(writer, target, variables)} = {text}")

    reads = [v for v in operands if v is not None]
    position = scheduler.special(primitive.name, emit, reads, targets, flops=10.0 * a.size)
    for v, target in zip(equation.outputs, targets, strict=True):
        scheduler.define_view(v, target, position)


def of_stack(writer: Anything, view: View, variables: Sequence[str]) -> str:
    """A matrix of a stack, or the only one."""
    shape = view.shape[len(variables) :]
    size = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    if view.is_whole and view.buffer.shape == view.shape:
        whole = str(writer.indexing.whole(view.buffer, f"{view.buffer.name}.reshape({view.shape})"))
        return f"{whole}[{', '.join(variables)}]" if variables else whole
    rest = View(view.buffer, (), (), view.offset, view.base)
    index = writer.index(
        View(view.buffer, (), view.strides[: len(variables)], rest.offset, rest.base), variables
    )
    count = 1
    for n in shape:
        count *= n
    start = view.buffer.name if index == "0" else f"part({view.buffer.name}, {index})"
    return f"{start}[:{count}].reshape({size})"


def stored(writer: Anything, view: View, variables: Sequence[str]) -> str:
    """Where a result goes."""
    rest = len(view.shape) - len(variables)
    if not rest:
        return str(writer.element(view, variables))
    whole = str(writer.indexing.whole(view.buffer, f"{view.buffer.name}.reshape({view.shape})"))
    return f"{whole}[{', '.join([*variables, *[':'] * rest])}]"


def is_by_numpy(primitive: object) -> bool:
    """Whether an operation has a form here."""
    return isinstance(primitive, OnStacks) and type(primitive) in MAKERS
