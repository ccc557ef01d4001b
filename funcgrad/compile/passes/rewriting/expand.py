"""Rewriting before scheduling: what stands for a Program, or is composed of simpler equations.

Calls of custom rules and checkpoints are replaced by what they hold; normalisations in the exponent by a
maximum and a sum; small contractions by products that are summed, which loops compute faster than a call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.passes.rewriting.fixed_places import rewrite_fixed_places
from funcgrad.compile.passes.rewriting.hoisting import rewrite_products
from funcgrad.compile.passes.rewriting.uses import count_reads
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice
from funcgrad.ops.arrays.structure import Broadcast, Permute, ReduceSum
from funcgrad.ops.contraction import DotGeneral, StrongZeroDot
from funcgrad.ops.elementwise.arithmetic import StrongZeroMul, add, mul, strong_zero_mul
from funcgrad.ops.elementwise.identity import Departure
from funcgrad.ops.reducing.labelled import written
from funcgrad.tracing.primitive import Primitive
from funcgrad.transforms.control.numbers_apart import Apart
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.updates import has_any
from funcgrad.types import AnyPrimitive, Anything

SMALL_PRODUCT = 8192
"""Multiplications up to which a contraction is a loop and not a call of BLAS."""

SMALL_VECTOR_PRODUCT = 32_768
"""The same for a matrix and a vector, which BLAS has less to gain from."""


LARGE_VECTOR_PRODUCT = 1 << 20
"""From here on memory is the limit: what is done with the product shares its pass, and threads share it."""


class Rewriter:
    """Collects equations; one source stands for all that an equation becomes."""

    def __init__(self, *, renames: bool = False) -> None:
        self.renames = renames
        """Whether all results get variables of their own."""
        self.equations: list[Equation] = []
        self.captured: list[Any] = []
        self.source: Any = None
        self.zeros: set[Var] = set()
        """What is known to be the number 0 everywhere."""
        self.placed: dict[Atom, Equation] = {}
        """What is a part of an array in zeros, and the equation that has put it there."""

    def __call__(self, primitive: AnyPrimitive, *inputs: Atom) -> Var:
        """The result of a new equation."""
        aval = primitive.inferred(tuple([a.aval for a in inputs]))
        out = Var(aval)
        self.equations.append(Equation(primitive, inputs, (out,), self.source))
        return out

    def multiple(self, primitive: AnyPrimitive, inputs: Sequence[Atom]) -> tuple[Var, ...]:
        """The results of a new equation that has several."""
        outs = tuple([Var(a) for a in primitive.inferred(tuple([a.aval for a in inputs]))])
        self.equations.append(Equation(primitive, tuple(inputs), outs, self.source))
        return outs

    def number(self, value: float, dtype: np.dtype[Any]) -> Literal:
        """A constant."""
        return Literal(dtype.type(value), Aval((), dtype, True))


Rewrite = Callable[[Rewriter, Equation], Sequence[Atom] | None]


def expand(program: Program) -> Program:
    """An equal Program of simpler equations."""
    return expanded(program, Rewriter())


def expand_held(program: Program) -> Program:
    """As `expand`, for what an equation holds: its equations may stand in what another holds as well."""
    return expanded(program, Rewriter(renames=True))


def expanded(program: Program, rewriter: Rewriter) -> Program:
    """An equal Program of the equations that a rewriter makes."""
    rewriter.captured.extend(program.captured)
    known: dict[Var, Atom] = {}
    rewrite_all(rewriter, program.equations, known)
    outputs = tuple([known.get(a, a) for a in program.outputs])  # type: ignore[arg-type]
    equations = parts_merged(added_in_place(rewriter.equations, outputs), outputs)
    if has_any(equations, (Permute,)):
        equations = products_turned(equations, count_reads(equations, outputs))
    return Program(program.inputs, tuple(rewriter.captured), equations, outputs, program.name)


def added_in_place(equations: Sequence[Equation], outputs: Sequence[Atom]) -> tuple[Equation, ...]:
    """Equations in which a sum with something placed in zeros adds it to what is there instead.

    The sum stands where it stood, so that all that it needs is known there.
    """
    if not has_any(equations, (Pad, Scatter)):
        return tuple(equations)
    makers = {v: e for e in equations for v in e.outputs}
    uses = count_reads(equations, outputs)
    gone: set[Equation] = set()
    found: list[Equation] = []
    for equation in equations:
        if equation.primitive is not add:
            found.append(equation)
            continue
        x, y = equation.inputs
        for placed, base in ((x, y), (y, x)):
            maker = makers.get(placed) if uses[placed] == 1 else None  # type: ignore[index, arg-type]
            replaced = None if maker is None else in_place_of(maker, base, equation, makers)
            if replaced is not None and maker is not None:
                gone.add(maker)
                found.append(replaced)
                break
        else:
            found.append(equation)
    return tuple([e for e in found if e not in gone])


def parts_merged(equations: Sequence[Equation], outputs: Sequence[Atom]) -> tuple[Equation, ...]:
    """Equations in which what is added to the part that has just been placed in zeros is added before."""
    if not has_any(equations, (AddToSlice,)):
        return tuple(equations)
    makers = {v: e for e in equations for v in e.outputs}
    uses = count_reads(equations, outputs)
    gone: set[Equation] = set()
    found: list[Equation] = []
    for equation in equations:
        maker = makers.get(equation.inputs[0]) if isinstance(equation.primitive, AddToSlice) else None  # type: ignore[arg-type]
        if (
            maker is None
            or not isinstance(maker.primitive, Pad)
            or maker.primitive.index != equation.primitive.index
            or uses[maker.outputs[0]] != 1
            or maker.outputs[0].aval.dtype.kind == "b"
        ):
            found.append(equation)
            continue
        first, second = maker.inputs[0], equation.inputs[1]
        total = Var(first.aval.strong)
        found.append(Equation(add, (first, second), (total,), equation.source))
        merged = Equation(maker.primitive, (total,), equation.outputs, equation.source)
        found.append(merged)
        makers[equation.outputs[0]] = merged
        gone.add(maker)
    return tuple([e for e in found if e not in gone])


def products_turned(equations: Sequence[Equation], uses: Mapping[Var, int]) -> tuple[Equation, ...]:
    """Equations in which products whose only reader turns them round are made as they are read.

    The gradient of a layer's weights is the transpose of a product, and an array to be returned: the product
    of the operands the other way round is written where it is to lie, and nothing is copied.
    """
    products: dict[Atom, Equation] = {
        e.outputs[0]: e for e in equations if type(e.primitive) is DotGeneral and uses.get(e.outputs[0]) == 1
    }
    turned: dict[Equation, Equation] = {}
    gone: set[Equation] = set()
    for equation in equations if products else ():
        product = products.get(equation.inputs[0]) if type(equation.primitive) is Permute else None
        found = None if product is None else turned_product(product, equation)
        if product is not None and found is not None:
            turned[product] = found
            gone.add(equation)
    return tuple([turned.get(e, e) for e in equations if e not in gone])


def turned_product(product: Equation, permuted: Equation) -> Equation | None:
    """The product of the exchanged operands, if it has the axes as they are permuted; None if not."""
    labels = product.primitive.labels
    n_batch = len(labels.batch[0])
    n_rows = len(labels.x) - n_batch - len(labels.contracting[0])
    n = len(labels.out)
    order = (*range(n_batch), *range(n_batch + n_rows, n), *range(n_batch, n_batch + n_rows))
    if n_rows in (0, n - n_batch) or permuted.primitive.order != order:
        return None
    subscripts = written(labels.y, labels.x, [labels.out[a] for a in order])
    x, y = product.inputs
    return Equation(DotGeneral(subscripts), (y, x), permuted.outputs, product.source)


def in_place_of(
    maker: Equation, base: Atom, total: Equation, makers: Mapping[Any, Equation]
) -> Equation | None:
    """``base + placed`` as an update of `base`, where `maker` places something in zeros."""
    if base.aval.shape != total.outputs[0].aval.shape or total.outputs[0].aval.dtype.kind == "b":
        return None
    primitive = maker.primitive
    if isinstance(primitive, Pad):
        return Equation(AddToSlice(primitive.index), (base, *maker.inputs), total.outputs, maker.source)
    if isinstance(primitive, Scatter) and primitive.mode == "add" and is_zeros(maker.inputs[0], makers):
        return Equation(primitive, (base, *maker.inputs[1:]), total.outputs, maker.source)
    return None


def is_zeros(atom: Atom, makers: Mapping[Any, Equation]) -> bool:
    """Whether an array is the number 0 spread over a shape."""
    maker = makers.get(atom)
    if maker is None or not isinstance(maker.primitive, Broadcast):
        return False
    (number,) = maker.inputs
    return isinstance(number, Literal) and number.value == 0


def rewrite_all(rewriter: Rewriter, equations: Sequence[Equation], known: dict[Var, Atom]) -> None:
    """Append equations as they stand or as what they are composed of; `known` renames variables."""
    outer = rewriter.source
    for original in equations:
        equation, inputs, outputs = original, original.inputs, original.outputs
        rewrite = HOW[type(original.primitive)]
        if not known.keys().isdisjoint(inputs):
            inputs = tuple([known.get(a, a) for a in inputs])  # type: ignore[arg-type]
        rewriter.source = equation.source or outer
        if rewriter.renames:
            outputs = tuple([Var(v.aval, v.hint) for v in outputs])
            known.update(zip(original.outputs, outputs, strict=True))
        if rewriter.renames or inputs is not equation.inputs or rewriter.source is not equation.source:
            equation = Equation(equation.primitive, inputs, outputs, rewriter.source)
        results = None if rewrite is None else rewrite(rewriter, equation)
        if results is None:
            rewriter.equations.append(equation)
        else:
            known.update(zip(original.outputs, results, strict=True))
    rewriter.source = outer


def rewrite_expanded(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """What stands for a Program, or is composed of other operations, becomes their equations."""
    held = equation.primitive.expanded([a.aval for a in equation.inputs])
    if held is None:
        return None
    env: dict[Var, Atom] = dict(zip(held.inputs, equation.inputs, strict=True))
    for v, array in held.captured:
        renamed = env[v] = Var(v.aval, v.hint)
        rewriter.captured.append((renamed, array))
    outer, rewriter.renames = rewriter.renames, True
    rewrite_all(rewriter, held.equations, env)
    rewriter.renames = outer
    return [env.get(a, a) for a in held.outputs]


def rewrite_placed(rewriter: Rewriter, equation: Equation) -> Sequence[Atom]:
    """A part placed in zeros is remembered: products with it need not multiply the zeros."""
    out = rewriter(equation.primitive, *equation.inputs)
    rewriter.placed[out] = equation
    return [out]


def rewrite_strong_contraction(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """Terms that are zero because their strong factor is a part placed in zeros are left out."""
    strong = equation.primitive.strong
    pad, other = rewriter.placed.get(equation.inputs[strong]), equation.inputs[1 - strong]
    found = None
    if pad is not None and pad.inputs[0].aval.size:
        found = part_of_product(equation.primitive, pad.primitive, other)
    if pad is None or found is None:
        return rewrite_contraction(rewriter, equation)
    index, subscripts = found
    shorter, operands = StrongZeroDot(subscripts, strong), [pad.inputs[0], rewriter(Slice(index), other)]
    made = Equation(shorter, tuple(operands[:: -1 if strong else 1]), equation.outputs, equation.source)
    return rewrite_contraction(rewriter, made) or [rewriter(shorter, *made.inputs)]


def part_of_product(primitive: AnyPrimitive, pad: Pad, other: Atom) -> tuple[Anything, str] | None:
    """The part of the other factor that meets a part, and the subscripts of their product.

    None where the part is all of the array along the axes that are summed, or is not all along another.
    """
    labels = primitive.labels
    names, others = (labels.x, labels.y)[:: -1 if primitive.strong else 1]
    index: list[Anything] = [(0, n, 1) for n in other.aval.shape]
    for name, place, n in zip(names, pad.index, pad.shape, strict=True):
        if place == (0, n, 1):
            continue
        if name in labels.out or name not in others:
            return None
        index[others.index(name)] = place
    gone = [name for name, place in zip(names, pad.index, strict=True) if not isinstance(place, tuple)]
    if index == [(0, n, 1) for n in other.aval.shape]:
        return None
    x, y = ([name for name in given if name not in gone] for given in (labels.x, labels.y))
    return tuple(index), written(x, y, labels.out)


def rewrite_contraction(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """A small contraction is the sum of products over one common shape, and so is one without a sum."""
    x, y = equation.inputs
    if x.aval.dtype.kind not in "fciu":
        return None
    found = as_loops(equation.primitive, x.aval.shape, y.aval.shape)
    if found is None:
        return None
    spread_x, spread_y, reduced = found
    for primitive in spread_x:
        x = rewriter(primitive, x)
    for primitive in spread_y:
        y = rewriter(primitive, y)
    factors = ordered(equation.primitive, x, y)
    product = rewriter(product_of(equation.primitive), *factors)
    return [product if reduced is None else rewriter(reduced, product)]


class Loops(NamedTuple):
    """A contraction as a product over one shape: how each factor is spread over it, and what is summed."""

    x: tuple[AnyPrimitive, ...]
    y: tuple[AnyPrimitive, ...]
    reduced: AnyPrimitive | None


@lru_cache(maxsize=1024)
def as_loops(primitive: AnyPrimitive, x: Shape, y: Shape) -> Loops | None:
    """A contraction of factors of these shapes as loops; None where BLAS is quicker."""
    labels = primitive.labels
    sizes = dict(zip((*labels.x, *labels.y), (*x, *y), strict=True))
    summed = [a for a in labels.x if a in labels.y and a not in labels.out]
    every = (*labels.out, *summed)
    if summed and not is_small(labels, sizes):
        return None
    shape = tuple([sizes[a] for a in every])
    axes = tuple(range(len(labels.out), len(every)))
    spread_x, spread_y = (spread_over(names, every, shape) for names in (labels.x, labels.y))
    return Loops(spread_x, spread_y, ReduceSum(axes) if axes else None)


def is_small(labels: Anything, sizes: dict[str, int]) -> bool:
    """Whether loops beat BLAS."""
    work = math.prod(sizes.values())
    x_free = math.prod([sizes[a] for a in labels.x if a not in labels.y])
    y_free = math.prod([sizes[a] for a in labels.y if a not in labels.x])
    batch = math.prod([sizes[a] for a in labels.x if a in labels.y and a in labels.out])
    each = work // max(batch, 1)
    if 1 in (x_free, y_free):
        return each <= SMALL_VECTOR_PRODUCT or (each >= LARGE_VECTOR_PRODUCT and batch == 1)
    return each <= SMALL_PRODUCT


def spread_over(
    names: Sequence[str], every: Sequence[str], shape: tuple[int, ...]
) -> tuple[AnyPrimitive, ...]:
    """What spreads an operand over the common shape of a contraction."""
    order = tuple(sorted(range(len(names)), key=lambda k: every.index(names[k])))
    turned = () if order == tuple(range(len(names))) else (Permute(order),)
    return *turned, Broadcast(shape, tuple([every.index(names[k]) for k in order]))


def product_of(primitive: object) -> AnyPrimitive:
    """The multiplication of a contraction."""
    return strong_zero_mul if isinstance(primitive, StrongZeroDot) else mul


def ordered(primitive: AnyPrimitive, x: Atom, y: Atom) -> tuple[Atom, Atom]:
    """The factors; those with strong zeros come first."""
    return (y, x) if isinstance(primitive, StrongZeroDot) and primitive.strong == 1 else (x, y)


def rewrite_departure(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """Where no derivative is taken any more it is the number 0."""
    aval = equation.outputs[0].aval
    zero = rewriter(Broadcast(aval.shape, ()), rewriter.number(0, aval.dtype))
    rewriter.zeros.add(zero)
    return [zero]


def rewrite_strong_zero(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """A product with a finite number keeps zeros by itself, and one of a known zero is 0."""
    first, factor = equation.inputs
    if first in rewriter.zeros and first.aval.shape == equation.outputs[0].aval.shape:
        return [first]
    if not isinstance(factor, Literal) or not np.isfinite(factor.value):
        return None
    return [rewriter(mul, *equation.inputs)]


def rewrite_scan(rewriter: Rewriter, equation: Equation) -> Sequence[Atom] | None:
    """A scan without what is better done before it, after it, or in registers."""
    scan: Scan = equation.primitive
    if scan.apart is not None:
        return rewrite_numbers(rewriter, equation, scan.apart)
    found = rewrite_products(rewriter, equation)
    return rewrite_fixed_places(rewriter, equation) if found is None else found


def rewrite_numbers(rewriter: Rewriter, equation: Equation, apart: Apart) -> Sequence[Atom]:
    """A scan whose small vectors are numbers, and the vectors before and after it."""
    scan: Scan = equation.primitive
    inner = Scan.of(apart.step, scan.length, reverse=scan.reverse)
    inputs = tuple(apart.parted(rewriter, equation.inputs))
    outputs = tuple([Var(a) for a in inner.infer(*[a.aval for a in inputs])])
    made = Equation(inner, inputs, outputs, equation.source)
    results = rewrite_scan(rewriter, made)
    if results is None:
        rewriter.equations.append(made)
        results = outputs
    return apart.stacked(rewriter, results)


REWRITES: dict[type, Rewrite] = {
    Departure: rewrite_departure,
    StrongZeroMul: rewrite_strong_zero,
    DotGeneral: rewrite_contraction,
    StrongZeroDot: rewrite_strong_contraction,
    Pad: rewrite_placed,
    Scan: rewrite_scan,
}


class How(dict[type, Rewrite | None]):
    """By class what gives the atoms that take the place of an equation's results; None where it stays."""

    def __missing__(self, cls: type[Primitive]) -> Rewrite | None:
        stays = all(getattr(cls, name) is getattr(Primitive, name) for name in COMPOSED)
        found = self[cls] = REWRITES.get(cls, None if stays else rewrite_expanded)
        return found


COMPOSED = ("expanded", "expansion", "held_program")
"""What a class of primitives that are composed of others has of its own."""

HOW = How()
