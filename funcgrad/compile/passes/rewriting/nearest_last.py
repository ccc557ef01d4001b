"""Of several additions to one array, that beside the element which a trip reads stands last.

Backwards, a trip over a table reads the cotangent of its own cell and adds to those of its neighbours. The
next trip reads the neighbour in the same row. If nothing is added after it, the compiler has that sum in a
register; an addition to another row in between may, for all that it knows, have changed it in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.transforms.control.updates import UPDATES, has_any

Place = tuple[tuple[int, ...], tuple[Atom, ...]]
"""Axes of an array, and indices into them."""


def nearest_last(program: Program, fixed: Collection[Atom]) -> Program:
    """The Program with additions to an array's elements in another order; no trip changes what is `fixed`."""
    if not has_any(program.equations, (Scatter,)):
        return program
    uses = count_uses(program)
    roots: dict[Atom, Atom] = {}
    reads: dict[Atom, list[Place]] = {}
    chains: dict[Atom, list[Equation]] = {}
    """Additions that follow each other, by what the last of them makes."""
    for e in program.equations:
        if isinstance(e.primitive, Gather):
            place = (e.primitive.axes, e.inputs[1:])
            reads.setdefault(roots.get(e.inputs[0], e.inputs[0]), []).append(place)
        elif isinstance(e.primitive, UPDATES):
            base, out = e.inputs[0], e.outputs[0]
            roots[out] = roots.get(base, base)
            if isinstance(e.primitive, Scatter) and e.primitive.mode == "add":
                before = chains.pop(base, []) if isinstance(base, Var) and uses[base] == 1 else []
                chains[out] = [*before, e]
    changed: dict[Equation, list[Equation]] = {}
    for chain in chains.values():
        near = [e for e in chain if is_beside(e, reads.get(roots[e.outputs[0]], []), fixed)]
        if near and chain[-len(near) :] != near:
            changed.update({e: [] for e in chain})
            changed[chain[-1]] = linked(chain, [*[e for e in chain if e not in near], *near])
    if not changed:
        return program
    equations = [new for e in program.equations for new in changed.get(e, [e])]
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


def is_beside(e: Equation, reads: Sequence[Place], fixed: Collection[Atom]) -> bool:
    """Whether an addition is to the row of an element that is read, and to another element of it."""
    mine = e.inputs[2:]
    for axes, indices in reads:
        if axes == e.primitive.axes:
            same = [a is b for a, b in zip(mine, indices, strict=True)]
            kept = [a in fixed for a, is_same in zip(mine, same, strict=True) if is_same]
            if kept and all(kept) and not all(same):
                return True
    return False


def linked(chain: Sequence[Equation], order: Sequence[Equation]) -> list[Equation]:
    """The additions of a chain in an order: the first is to what the chain begins with, and so on."""
    bases = [chain[0].inputs[0], *[e.outputs[0] for e in chain[:-1]]]
    return [
        Equation(e.primitive, (base, *e.inputs[1:]), at.outputs, e.source)
        for e, base, at in zip(order, bases, chain, strict=True)
    ]
