"""Steps whose small arrays are numbers: a state of two elements is two numbers of the carry.

Who writes differential equations keeps a state in one array, takes it apart, and stacks what becomes of it.
As numbers the elements stay in registers, a derivative knows which of them depends on which, and what is kept
for the way back is chosen for each. Operations and their order stay as they are. Knows nothing of trips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.movement import Concatenate, Stack
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice, Sliced, UpdateSlice
from funcgrad.ops.arrays.structure import Broadcast, Cast, ReduceSum, Reshape
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.families import Pointwise
from funcgrad.transforms.control.step import Step
from funcgrad.types import AnyPrimitive

MOST = 8
"""Elements of an array that may become numbers."""

GROWTH = 4
"""How many equations one of the step may become on average: beyond that loops over arrays are shorter."""


Make = Callable[..., Any]
"""What makes an array of a primitive and its operands."""


class Apart(NamedTuple):
    """A step with numbers in its carry."""

    step: Step
    counts: tuple[int, ...]
    """For each part of the carry how many numbers stand for it; 0 where it stays as it is."""

    def parted(self, make: Make, inputs: Sequence[Any]) -> list[Any]:
        """Inputs of the loop, of which the first are its carry, with numbers; None stands for None."""
        found: list[Any] = []
        for x, n in zip(inputs, self.counts, strict=False):
            found += [None if x is None else make(Slice((k,)), x) for k in range(n)] if n else [x]
        return [*found, *inputs[len(self.counts) :]]

    def stacked(self, make: Make, results: Sequence[Any]) -> list[Any]:
        """Results of the loop with numbers as those of the loop with vectors; None for what is all None."""
        left = list(results)
        found: list[Any] = []
        for n in self.counts:
            numbers, left = left[: max(n, 1)], left[max(n, 1) :]
            found.append(make(Stack(0), *numbers) if n and numbers[0] is not None else numbers[0])
        return [*found, *left]


def numbers_apart(step: Step) -> Apart | None:
    """The step with small vectors of its carry as numbers.

    None where the carry has none, where nothing reads parts of them or puts parts together, or where an
    operation needs one as an array.
    """
    counts = tuple([a.size if is_small(a) else 0 for a in step.carry_avals])
    if not any(counts):
        return None
    apart = _Apart()
    inputs: list[Var] = []
    for v, n in zip(step.program.inputs, [*counts, *[0] * len(step.program.inputs)], strict=False):
        numbers = [Var(v.aval.with_shape(()), v.hint) for _ in range(n)]
        inputs += numbers or [v]
        if n:
            apart.numbers[v] = list(numbers)
    for equation in step.program.equations:
        if not apart.follow(equation):
            return None
    if not apart.met or len(apart.equations) > GROWTH * len(step.program.equations):
        return None
    outputs: list[Atom] = []
    for atom, n in zip(step.program.outputs, [*counts, *[0] * step.n_ys], strict=True):
        outputs += apart.of(atom) if n else [apart.whole(atom)]
    old = step.program
    program = Program(tuple(inputs), old.captured, tuple(apart.equations), tuple(outputs), old.name)
    return Apart(Step(program, sum(max(n, 1) for n in counts), step.n_xs), counts)


def is_small(aval: Aval) -> bool:
    """Whether an array is a vector that may become numbers."""
    return len(aval.shape) == 1 and 0 < aval.size <= MOST


class _Apart:
    """Collects the equations of a step, and which numbers are the elements of its small vectors."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []
        self.numbers: dict[Atom, list[Atom]] = {}
        """Of vectors that are no more, and of others whose elements have been read."""
        self.renamed: dict[Atom, Atom] = {}
        self.met = False
        """Whether elements are read apart from others, or put together."""

    def made(self, primitive: AnyPrimitive, inputs: Sequence[Atom], like: Equation | None) -> Var:
        """The result of a new equation, at the line of another."""
        out = Var(primitive.inferred(tuple([a.aval for a in inputs])))
        self.equations.append(Equation(primitive, tuple(inputs), (out,), like and like.source))
        return out

    def of(self, atom: Atom, like: Equation | None = None) -> list[Atom]:
        """The elements of a vector; of one that is an array they are read here."""
        found = self.numbers.get(atom)
        if found is None:
            whole = self.renamed.get(atom, atom)
            found = [self.made(Slice((k,)), (whole,), like) for k in range(atom.aval.size)]
            self.numbers[atom] = found
        return found

    def whole(self, atom: Atom) -> Atom:
        """The atom as what it was: a vector is stacked of its elements."""
        if atom in self.numbers and isinstance(atom, Var) and is_small(atom.aval):
            return self.made(Stack(0), self.numbers[atom], None)
        return self.renamed.get(atom, atom)

    def follow(self, e: Equation) -> bool:
        """Write an equation on numbers; whether that can be done."""
        if not any(a in self.numbers for a in e.inputs) and not self.begins(e):
            inputs = tuple([self.renamed.get(a, a) for a in e.inputs])
            self.equations.append(Equation(e.primitive, inputs, e.outputs, e.source))
            return True
        [out, *others] = e.outputs
        kind = Pointwise if isinstance(e.primitive, Pointwise) else type(e.primitive)
        rule = _RULES.get(kind)
        if rule is None or others or not (is_small(out.aval) or not out.aval.shape):
            return False
        elements = rule(self, e)
        if elements is None or any(a.aval.dtype != out.aval.dtype for a in elements):
            return False
        if out.aval.shape:
            self.numbers[out] = elements
        else:
            self.renamed[out] = elements[0]
        return True

    def begins(self, e: Equation) -> bool:
        """Whether an equation makes a small vector of numbers."""
        return isinstance(e.primitive, Stack) and is_small(e.outputs[0].aval)

    def at(self, primitive: Sliced, atom: Atom, like: Equation) -> list[Atom]:
        """The elements of a vector at an index."""
        return [self.of(atom, like)[k] for k in places(primitive)]


def places(primitive: Sliced) -> list[int]:
    """Which elements of a vector an index says."""
    (entry,) = primitive.index
    if isinstance(entry, tuple):
        start, size, stride = entry
        return [start + k * stride for k in range(size)]
    return [entry]


def pointwise(apart: _Apart, e: Equation) -> list[Atom] | None:
    """One equation for each element."""
    n = e.outputs[0].aval.size
    if any(a.aval.shape not in ((), e.outputs[0].aval.shape) for a in e.inputs):
        return None
    operands = [apart.of(a, e) if a.aval.shape else [apart.renamed.get(a, a)] * n for a in e.inputs]
    return [apart.made(e.primitive, inputs, e) for inputs in zip(*operands, strict=True)]


def read(apart: _Apart, e: Equation) -> list[Atom] | None:
    """Elements by their places."""
    apart.met = True
    return apart.at(e.primitive, e.inputs[0], e)


def stacked(apart: _Apart, e: Equation) -> list[Atom] | None:
    """Numbers as they are."""
    apart.met = True
    return [apart.renamed.get(a, a) for a in e.inputs]


def joined(apart: _Apart, e: Equation) -> list[Atom] | None:
    """The elements of one after those of the other."""
    apart.met = True
    return [number for a in e.inputs for number in apart.of(a, e)]


def spread(apart: _Apart, e: Equation) -> list[Atom] | None:
    """The only element, repeated."""
    [x] = e.inputs
    return None if x.aval.size != 1 else apart.of(x, e) * e.outputs[0].aval.size


def summed(apart: _Apart, e: Equation) -> list[Atom] | None:
    """The elements one after the other, beginning with 0, as NumPy adds up as few as these."""
    [x] = e.inputs
    # A sum of halves is rounded once, at its end.
    if e.primitive.axes != (0,) or x.aval.size >= MOST or x.aval.dtype == np.float16:
        return None
    total: Atom = zero_of(x.aval.dtype)
    for number in apart.of(x, e):
        total = apart.made(add, (total, number), e)
    return [total]


def reshaped(apart: _Apart, e: Equation) -> list[Atom] | None:
    """The same elements."""
    return apart.of(e.inputs[0], e)


def zero_of(dtype: np.dtype) -> Literal:
    """The number 0."""
    return Literal(dtype.type(0), Aval((), dtype))


def replaced(apart: _Apart, e: Equation) -> list[Atom] | None:
    """Elements of which some are others."""
    base, part = e.inputs
    found = list(apart.of(base, e))
    at = places(e.primitive)
    parts = apart.of(part, e) if part.aval.shape else [apart.renamed.get(part, part)] * len(at)
    apart.met = True
    for k, number in zip(at, parts, strict=True):
        adds = isinstance(e.primitive, AddToSlice)
        found[k] = apart.made(add, (found[k], number), e) if adds else number
    return found


def padded(apart: _Apart, e: Equation) -> list[Atom] | None:
    """Zeros, and elements among them."""
    [part] = e.inputs
    found: list[Atom] = [zero_of(part.aval.dtype)] * e.outputs[0].aval.size
    numbers = apart.of(part, e) if part.aval.shape else [apart.renamed.get(part, part)]
    for k, number in zip(places(e.primitive), numbers, strict=True):
        found[k] = number
    return found


_RULES: Mapping[type, Callable[[_Apart, Equation], list[Atom] | None]] = {
    Pointwise: pointwise,
    Cast: pointwise,
    Slice: read,
    Stack: stacked,
    Concatenate: joined,
    Broadcast: spread,
    Reshape: reshaped,
    ReduceSum: summed,
    UpdateSlice: replaced,
    AddToSlice: replaced,
    Pad: padded,
}
