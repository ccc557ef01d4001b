"""Operations on matrices as calls of ``np.linalg``, which Numba compiles too, in the text of a kernel.

They stand for what kernels leave to LAPACK by address, or to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
from funcgrad.ops.elementwise.arithmetic import Reciprocal
from funcgrad.ops.elementwise.floats import Exponent, Fraction, Heaviside, Ldexp, Spacing
from funcgrad.ops.elementwise.rounding import Gcd, Lcm
from funcgrad.ops.elementwise.special import Sinc
from funcgrad.ops.linalg.banded import SolveBanded
from funcgrad.ops.linalg.cholesky import Cholesky, CholeskyCotangent
from funcgrad.ops.linalg.determinants import CofactorsAlong, Det, DetWithCofactors, SlogDet
from funcgrad.ops.linalg.functions import MatrixFunction, MatrixPower
from funcgrad.ops.linalg.general import Eig, Eigvals
from funcgrad.ops.linalg.lu import Lu, PivotOrder
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.ops.linalg.orthogonal import Qr
from funcgrad.ops.linalg.repeated import EighWithCoupling, RepeatedPairs, SvdWithCoupling
from funcgrad.ops.linalg.singular import InverseSums, InverseValues, Pinv, Svd, Svdvals
from funcgrad.ops.linalg.spectra import Eigh, Eigvalsh, InverseGaps
from funcgrad.ops.linalg.sylvester import PolarFactor, SolveSylvester
from funcgrad.ops.linalg.systems import Inv, LuFactors, SolveFactored
from funcgrad.ops.linalg.triangular import TriangularSolve
from funcgrad.ops.random.draws import SampledCholesky, SampledProduct
from funcgrad.ops.specials.elliptic import EllipticByParameter
from funcgrad.ops.specials.errors import DawsnDerivative, ErfcxDerivative
from funcgrad.ops.specials.exprel import ExprelDerivative
from funcgrad.ops.specials.zeta import ZetaDerivative
from funcgrad.types import AnyPrimitive, Anything

Maker = Callable[[Any, Sequence[str]], Sequence[str]]
"""``(primitive, texts of the operands) -> texts of the results``, or one text of a tuple of them."""


def symmetric(primitive: AnyPrimitive, a: str) -> str:
    """The matrix whose lower triangle counts."""
    return f"np.ascontiguousarray({a}.T)" if primitive.upper else a


def qr(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
    """The factors: of Numba's there are the reduced ones only."""
    return [f"complete_qr({x[0]})" if primitive.complete else f"np.linalg.qr({x[0]})"]


def function_of_matrix(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
    """A function of a matrix, or the block of that of a larger one that is its derivative along others."""
    total = x[0]
    for e in x[1:]:
        total = f"doubled_along({total}, {x[0]}, {e})"
    power = isinstance(primitive, MatrixPower)
    found = f"power_of_matrix({total}, {primitive.power!r})" if power else f"{primitive.function}({total})"
    if len(x) > 1:
        scales = " * ".join([f"direction_scale({x[0]}, {e})" for e in x[1:]])
        found = f"corner({found}, {x[0]}.shape[0]) / ({scales})"
    return [found]


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

    def make(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
        return [function.format(symmetric(primitive, x[0]))]

    return make


def template(*texts: str) -> Maker:
    """The results by templates of the operands; a template of several is a tuple."""

    def make(primitive: AnyPrimitive, x: Sequence[str]) -> Sequence[str]:
        return [text.format(*x, p=primitive) for text in texts]

    return make


MAKERS: dict[type, Maker] = {
    Cholesky: template("np.linalg.cholesky({0})"),
    CholeskyCotangent: template("gradient_by_factor({0}, {1})"),
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
    MatrixFunction: function_of_matrix,
    MatrixPower: function_of_matrix,
    Lu: template("lu_with_pivots({0})"),
    PivotOrder: template("order_of_pivots({0}, {p.rows})"),
    SolveBanded: template("banded_solution({0}, {1}, {p.lower}, {p.upper})"),
    SolveSylvester: template("sylvester_solution({0}, {1}, {2})"),
    PolarFactor: template("polar_factor({0})"),
    CofactorsAlong: template("cofactors_along({0}, {1})"),
    Eig: template("as_complex(np.linalg.eig({0}))"),
    Eigvals: template("np.linalg.eigvals({0}) + 0j"),
    SampledCholesky: template("np.linalg.cholesky({0})"),
    SampledProduct: template("np.dot({0}, np.ascontiguousarray({1}.T))"),
}
"""How each is written."""

ELEMENTS: dict[type, str] = {
    Exponent: "math.frexp({0})[1]",
    Fraction: "fraction({0})",
    Gcd: "np.gcd({0}, {1})",
    Heaviside: "heaviside({0}, {1})",
    Lcm: "np.lcm({0}, {1})",
    Ldexp: "np.ldexp({0}, {1})",
    Reciprocal: "np.reciprocal({0})",
    Sinc: "sinc({0}, {p.order})",
    Spacing: "np.spacing({0})",
    DawsnDerivative: "dawsn_derivative({0}, {p.order})",
    EllipticByParameter: "elliptic_by_parameter({0}, {1}, {p.power}, {p.order})",
    ErfcxDerivative: "erfcx_derivative({0}, {p.order})",
    ExprelDerivative: "exprel_derivative({0}, {p.order})",
    ZetaDerivative: "zeta_derivative({0}, {1}, {p.order})",
}
"""The same for elements, where kernels have no text for them."""

OF_VECTORS = (InverseGaps, InverseSums, InverseValues, PivotOrder, RepeatedPairs)
"""Those whose operands are the numbers along the last axis."""


def lower_by_numpy(scheduler: Scheduler, equation: Equation) -> None:
    """One call for each matrix of a stack."""
    primitive = equation.primitive
    maker = MAKERS[type(primitive)]
    known = "il" if isinstance(primitive, PivotOrder) else "fd"
    if equation.inputs[0].aval.dtype.char not in known:
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
                writer.line(stored(writer, target, variables, text))

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


def stored(writer: Anything, view: View, variables: Sequence[str], text: str) -> str:
    """The line that puts a result where it goes: to assign to a part of an array takes Numba seconds."""
    rest = len(view.shape) - len(variables)
    if not rest:
        return f"{writer.element(view, variables)} = {text}"
    whole = str(writer.indexing.whole(view.buffer, f"{view.buffer.name}.reshape({view.shape})"))
    if text.isdigit():
        return f"{whole}[{', '.join([*variables, *[':'] * rest])}] = {text}"
    place = f"{whole}[{', '.join(variables)}]" if variables else whole
    return f"{'put_vector' if rest == 1 else 'put_matrix'}({place}, {text})"


def is_by_numpy(primitive: object) -> bool:
    """Whether an operation has a form here."""
    return isinstance(primitive, OnStacks | SampledProduct) and type(primitive) in MAKERS


def is_sampled(primitive: object) -> bool:
    """Whether kernels would call routines of this process, for draws equal to NumPy's to the last digit."""
    return isinstance(primitive, SampledCholesky | SampledProduct)
