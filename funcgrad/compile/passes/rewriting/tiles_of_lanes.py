"""A batch of small problems, tile by tile: each tile goes through all equations while it is in the cache.

`vmap` makes every equation of a solver one over all examples, and every trip of its loops: too short for
threads to share, and what passes from one to the next is as long as the batch. Where equations treat each
lane of a batch by itself, they become the body of one loop over tiles of lanes, which threads share like any
loop of independent trips (`lower/trips/shared`). Sums over the batch stay outside of it, as they were, but
for those of a batch of few rows (`few_lanes`), which would have to be turned round before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from funcgrad.compile.passes.arranging.dividing import CHUNKS, FLOPS_PER_SECOND, SHORTEST
from funcgrad.compile.passes.rewriting.expand import Rewriter
from funcgrad.compile.passes.rewriting.few_lanes import (
    few_lanes_pay,
    lanes_of_products,
    rows_of_tile,
)
from funcgrad.compile.passes.rewriting.lane_rules import (
    ANY,
    BEGINNINGS,
    SUMMED,
    ZERO,
    Spread,
)
from funcgrad.compile.passes.rewriting.lanes_of_programs import resized_equations, resized_var, spread
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.movement import Concatenate
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import Broadcast, Permute, ReduceSum, Reshape
from funcgrad.ops.contraction import DotGeneral
from funcgrad.ops.families import Pointwise
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import AnyPrimitive

FEWEST_IN_TILE = 64
"""Lanes of a tile: a loop over fewer costs more than its arithmetic."""

FEWEST_LANES = 2 * CHUNKS * FEWEST_IN_TILE
"""Lanes from which there are tiles enough for threads to share."""

LANES_OF_VECTORS = 8
"""What is left over when vectors have taken theirs goes lane by lane."""

WHOLE = 4 * LANES_OF_VECTORS
"""Lanes of several vectors side by side."""

FEWEST_SOLVERS, MANY_SOLVERS = 3, 6
"""Equations over small matrices from which, without a loop, tiles are worth their while."""

SMALL_MATRICES = 3
"""What an operation takes where matrices are so small that they are written out, beside LAPACK's count."""

LARGEST_SCRATCH = 2**22
"""Bytes for values in between up to which threads share a loop, each with its own."""

TILE_BYTES = 2**19
"""What is kept of a tile: half of the second cache of ordinary processors."""


@dataclass
class Region:
    """Equations that treat every lane by itself, in their order, and those around them."""

    count: int
    """How many lanes there are."""
    has_few: bool = False
    """Whether lanes are few, so that they begin at loops alone, and may be along any axis."""
    inside: list[tuple[Equation, Spread | None]] = field(default_factory=list)
    before: list[Equation] = field(default_factory=list)
    after: list[Equation] = field(default_factory=list)
    axes: dict[Any, int | None] = field(default_factory=dict)
    """Where the lanes are in what is made inside."""
    taken: dict[tuple[Any, int | None], None] = field(default_factory=dict)
    """What comes from outside, and whether it has lanes there."""

    def may_hold(self, e: Equation, made: Spread) -> bool:
        """Whether an equation that treats lanes by themselves belongs here, and not outside.

        Sums over the batch stay outside, where they are made at once.
        """
        is_loop = isinstance(e.primitive, Scan)
        if SUMMED in made.outputs and not is_loop:
            return self.has_few and any(a is not None and a > 0 for a in made.inputs)
        if not self.has_few or any(x in self.axes for x in e.inputs):
            return True
        if isinstance(e.primitive, BEGINNINGS):
            return isinstance(e.inputs[0], Literal)
        return is_loop and self.count in lanes_of_products(e)

    def results(self, program: Program) -> list[Var]:
        """What is made inside and read outside, where it is not made as well."""
        read = {x for e in self.after for x in e.inputs} | set(program.outputs)
        made = {v for e in self.before for v in e.outputs}
        return [v for v in self.axes if v in read and v not in made]

    def alone(self) -> float:
        """The seconds of what trips do that has no lanes, by rule of thumb."""
        return sum(made.alone for _, made in self.inside if made is not None)

    @property
    def is_clear(self) -> bool:
        """Whether nothing comes from outside both as lanes and as one for all lanes."""
        return len({x for x, _ in self.taken}) == len(self.taken)


def tiles_of_lanes(program: Program) -> Program:
    """An equal Program in which lanes of a batch go through loops and small solvers tile by tile."""
    sizes = [n for e in program.equations if (n := lanes_by(e)) >= FEWEST_LANES]
    if not sizes:
        return tiles_of_few(program)
    region = region_of(program, max(sizes, key=sizes.count))
    results = region.results(program)
    tile = tile_of(region, fills=all(region.axes[v] == 0 for v in results))
    is_tiled = tile and results and region.is_clear and all(region.axes[v] in (0, SUMMED) for v in results)
    if not is_tiled or not pays(region):
        return program
    return tiles_of_lanes(in_tiles(program, region, results, tile))  # what comes after lanes have met


def tiles_of_few(program: Program) -> Program:
    """An equal Program in which the rows of a small batch go through loops of products in tiles."""
    counts = Counter([n for e in program.equations for n in lanes_of_products(e) if rows_of_tile(n)])
    for count, _ in counts.most_common():
        region = region_of(program, count, has_few=True)
        results, tile = region.results(program), rows_of_tile(count)
        if not results or not region.is_clear or any(region.axes[v] is None for v in results):
            continue
        turned = sum(v.aval.nbytes for v in results if (region.axes[v] or 0) > 0)
        if few_lanes_pay([e for e, _ in region.inside], tile, count, turned, region.alone()):
            return in_tiles(program, region, results, tile)
    return program


def lanes_by(e: Equation) -> int:
    """How many lanes an equation may have that makes tiles worth their while; 0 for any other."""
    shape = e.inputs[0].aval.shape if e.inputs else ()
    if isinstance(e.primitive, Scan):
        carried = [x.aval.shape for x in e.inputs[: e.primitive.n_carry] if x.aval.shape]
        return max([shape[0] for shape in carried], default=0)
    if isinstance(e.primitive, OnStacks) and len(shape) >= 3:
        return shape[0]
    if isinstance(e.primitive, DotGeneral) and max(x.aval.ndim for x in e.inputs) >= 3:
        labels = e.primitive.labels
        return int(e.outputs[0].aval.shape[0]) if labels.batch[0] and labels.contracting[0] else 0
    return 0


def region_of(program: Program, count: int, *, has_few: bool = False) -> Region:
    """The equations over so many lanes, up to the first that mix them, and what does not need those."""
    region = Region(count, has_few)
    late: set[Any] = set()
    zeros: set[Any] = set()
    for e in program.equations:
        given = [region.axes[x] if x in region.axes else axis_outside(x, count, zeros) for x in e.inputs]
        is_late = not late.isdisjoint(e.inputs) or SUMMED in given
        made = None if is_late else spread(e, given, count)
        if made is not None and not region.may_hold(e, made):
            made = None
        if isinstance(e.primitive, Broadcast) and isinstance(e.inputs[0], Literal) and not e.inputs[0].value:
            zeros.update(e.outputs)
        is_ours = any(x in region.axes for x in e.inputs)
        if made is not None and set(made.outputs) == {None}:
            made = None
        if made is not None and (is_ours or set(made.outputs) - {None}):
            region.inside.append((e, made))
            taken = [(x, a) for x, a in zip(e.inputs, made.inputs, strict=True) if x not in region.axes]
            region.taken.update(dict.fromkeys(taken))
            region.axes.update(zip(e.outputs, made.outputs, strict=True))
            if not is_ours and isinstance(e.primitive, BEGINNINGS):
                region.before.append(e)
        elif is_late or is_ours:
            region.after.append(e)
            late.update(e.outputs)
        else:
            region.before.append(e)
    return region


def axis_outside(x: Atom, count: int, zeros: Container[Any]) -> int | None:
    """Where the lanes may be in what comes from outside."""
    if isinstance(x, Literal):
        return None if x.value else ZERO
    if count in x.aval.shape:
        return ANY
    return ZERO if x in zeros else None


def pays(region: Region) -> bool:
    """Whether there is work enough for threads, and equations alone are not long enough to be divided."""
    long = SHORTEST * FLOPS_PER_SECOND
    if sum(operations(e) for e, _ in region.inside) < long:
        return False
    found = [e for e, _ in region.inside if lanes_by(e) == region.count]
    if any(isinstance(e.primitive, Scan) for e in found) or len(found) >= MANY_SOLVERS:
        return True
    return len(found) >= FEWEST_SOLVERS and SMALL_MATRICES * min(map(operations, found)) < long


def operations(e: Equation) -> float:
    """Operations of an equation, with all trips of a loop."""
    if isinstance(e.primitive, Scan):
        return e.primitive.length * sum(operations(inner) for inner in e.primitive.body.equations)
    flops: float = e.primitive.flops([x.aval for x in e.inputs], [v.aval for v in e.outputs])
    return flops


def tile_of(region: Region, *, fills: bool) -> int:
    """How many lanes a tile has; 0 where what is kept of a lane is too much for tiles.

    Without `fills` the last tile may not be filled with lanes that are there already: sums would count them.
    """
    stored = [e for e, _ in region.inside if not isinstance(e.primitive, Pointwise)]
    kept = [v.aval.nbytes for e in stored for v in e.outputs]
    each = max(sum(kept) // region.count, 1)
    fits = max(TILE_BYTES // each, min(LARGEST_SCRATCH * 3 // 4 // each, FEWEST_IN_TILE))
    most = min(fits, region.count // (2 * CHUNKS)) // WHOLE * WHOLE
    if most < FEWEST_IN_TILE:
        return 0
    fewest = FEWEST_IN_TILE if fills else FEWEST_IN_TILE // 2
    whole = [n for n in range(most, fewest - 1, -LANES_OF_VECTORS) if region.count % n == 0]
    return whole[0] if whole else most * fills


def in_tiles(program: Program, region: Region, results: Sequence[Var], tile: int) -> Program:
    """The Program with the region as one loop over tiles; the last is filled with lanes that are there."""
    number = math.ceil(region.count / tile)
    is_filled = number * tile != region.count
    assert not is_filled or all(region.axes[v] == 0 for v in results), "sums count no lane twice"
    around = Rewriter()
    loops = [e for e, _ in region.inside if isinstance(e.primitive, Scan) or lanes_by(e) == region.count]
    around.source = loops[0].source
    rows = [(x, axis) for x, axis in region.taken if axis is not None]
    consts = [x for x, axis in region.taken if axis is None and isinstance(x, Var)]
    inputs = [resized_var(x, axis, tile) for x, axis in rows] + [Var(x.aval, x.hint) for x in consts]
    new: dict[Any, Any] = dict(zip([*[x for x, _ in rows], *consts], inputs, strict=True))
    equations = resized_equations(region.inside, new, tile)
    outputs = tuple([new[v] for v in results])
    body = Program(tuple(inputs), (), tuple(equations), outputs, f"{program.name}_of_lanes")
    stacked = [in_rows(around, x, axis, tile, number) for x, axis in rows]
    scan: AnyPrimitive = Scan(body, 0, len(rows), number, False)
    for v, found in zip(results, around.multiple(scan, [*stacked, *consts]), strict=True):
        axis = region.axes[v]
        assert axis is not None, "results have lanes, or are sums over them"
        last = (
            Equation(ReduceSum((0,)), (found,), (v,), around.source)
            if axis == SUMMED
            else out_of_rows(around, found, v, axis)
        )
        around.equations.append(last)
    made = (*region.before, *around.equations, *region.after)
    return simplify_program(Program(program.inputs, program.captured, made, program.outputs, program.name))


def in_rows(around: Rewriter, x: Var, axis: int, tile: int, number: int) -> Var:
    """The lanes with a row for each tile."""
    count, shape = x.aval.shape[axis], x.aval.shape
    missing = tile * number - count
    if missing:
        whole = [(0, n, 1) for n in shape]
        whole[axis] = (count - missing, missing, 1)
        last = around(Slice(tuple(whole)), x)
        x = around(Concatenate(axis), x, last)
    rows = around(Reshape((*shape[:axis], number, tile, *shape[axis + 1 :])), x)
    others = [a for a in range(len(shape) + 1) if a != axis]
    return around(Permute((axis, *others)), rows) if axis else rows


def out_of_rows(around: Rewriter, found: Var, v: Var, axis: int) -> Equation:
    """What makes the lanes of a result of the rows of tiles."""
    number = found.aval.shape[0]
    if axis:
        order = (*range(1, axis + 1), 0, *range(axis + 1, found.aval.ndim))
        found = around(Permute(order), found)
    tile, shape = found.aval.shape[axis + 1], v.aval.shape
    if number * tile == shape[axis]:
        return Equation(Reshape(shape), (found,), (v,), around.source)
    lanes = around(Reshape((*shape[:axis], number * tile, *shape[axis + 1 :])), found)
    whole = tuple([(0, n, 1) for n in shape])
    return Equation(Slice(whole), (lanes,), (v,), around.source)
