"""The branches of a conditional under the transforms: always Programs of one type, whichever is chosen.

A branch's residuals are further results of the conditional, in slots that the branches share; a branch that
leaves a slot free fills it with zeros, which nobody reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.transforms.batching import record_batched
from funcgrad.transforms.control.backward import Mark
from funcgrad.transforms.control.batched import with_axis
from funcgrad.transforms.control.forward import given, indices, values_before
from funcgrad.transforms.control.keeping import KEEPING, kept_values
from funcgrad.transforms.control.step import chosen, either, needed_inputs, positions, with_inputs
from funcgrad.transforms.dependence import parted
from funcgrad.transforms.linearize import (
    Linearized,
    literal_indices,
    record_jvp,
    record_tangents,
    residuals_of,
    zeros_like,
)
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import record_transpose

Branches = tuple[Program, ...]


def union(flags: Sequence[Flags]) -> Flags:
    """What is flagged for any branch."""
    first, *others = flags
    for other in others:
        first = either(first, other)
    return first


def full(recorder: Recorder, avals: Sequence[Aval], values: Sequence[Any], wanted: Flags) -> list[int]:
    """The indices of the wanted values, zeros where they are None."""
    found = [
        zeros_like(recorder, a.strong) if x is None else x
        for a, x, want in zip(avals, values, wanted, strict=True)
        if want
    ]
    return [recorder.index_of(x) for x in found]


# -- forward mode -------------------------------------------------------------------------------------------


class ForwardBranches(NamedTuple):
    """``operands, tangents -> results, tangents``"""

    branches: Branches
    dotted: Flags
    """Which results have tangents in any branch."""


def forward_branches(branches: Branches, active: Flags, transform: str) -> ForwardBranches:
    """The branches with their tangents, as `transform` records them."""
    # What has a tangent in one branch must have one in all, so it has to be known first.
    dotted = union([forward_branch(branch, active, None, transform)[1] for branch in branches])
    made = [forward_branch(branch, active, dotted, transform)[0] for branch in branches]
    return ForwardBranches(tuple(made), dotted)


def forward_branch(
    branch: Program, active: Flags, dotted: Flags | None, transform: str
) -> tuple[Program, Flags]:
    """A branch with the tangents that are asked for, and which of its results have one."""
    with transforming(branch, transform) as recorder:
        inputs = inputs_of(recorder, branch.inputs)
        dots = [recorder.input(t.aval.strong) if a else None for t, a in zip(inputs, active, strict=True)]
        outs, out_dots = record_jvp(recorder, branch, inputs, dots)
        there = tuple([dot is not None for dot in out_dots])
        results = [recorder.index_of(x) for x in outs]
        results += full(recorder, branch.out_avals, out_dots, there if dotted is None else dotted)
        program = recorder.program(indices([*inputs, *given(dots)]), results)
        return simplify_program(program), there


# -- forward mode, taken apart ------------------------------------------------------------------------------


class LinearBranches(NamedTuple):
    """Branches that keep their residuals, and their linear parts."""

    primal: Branches
    """``operands -> results, slots``"""
    linear: Branches
    """``slots, used operands, tangents -> tangents``"""
    used: tuple[int, ...]
    dotted: Flags


def linearize_cheaply(branch: Program, active: Flags, n_results: int, there: Sequence[bool]) -> Linearized:
    """`linearize_program`, whose linear part computes again what is cheaper than kept.

    Operands that are `there` cost nothing, so of a short branch little is kept but these. What is kept goes
    through a variable that the other branches fill as well, which doubles its price.
    """
    with transforming(branch, "linearize") as recorder:
        # Inputs are the first that is recorded.
        arrays = [a.size > 1 for a in branch.in_avals]
        recorder.lasting = frozenset([k for k, flag in enumerate(there) if flag and arrays[k]])
        inputs, tangents, outputs, dots = record_tangents(recorder, branch, active)
        dots = dots[:n_results]
        entries = indices(tangents)
        exits = [recorder.index_of(t) for t in dots if t is not None]
        heads = indices(inputs)
        free = literal_indices(recorder).union(index for index, _ in recorder.operands)
        needed = [index for index in residuals_of(recorder, entries, exits) if index not in free]
        free_heads = [head for head, flag in zip(heads, there, strict=True) if flag]
        kept = kept_values(recorder, needed, free, heads, free_heads, 2 * KEEPING) | set(heads)
        residuals = sorted(values_before(recorder, exits, {*kept, *entries}) - set(entries))
        primal = recorder.program(heads, [*[recorder.index_of(x) for x in outputs], *residuals])
        linear = recorder.program([*residuals, *entries], exits)
    return Linearized(primal, linear, len(residuals), tuple([t is not None for t in dots]))


class SplitBranch:
    """A branch and its linear part, with a place for each residual: an operand or a slot."""

    __slots__ = ("active", "n_results", "parts", "slots")

    def __init__(self, branch: Program, active: Flags, slots: list[Aval], there: Sequence[bool]) -> None:
        self.active = active
        self.n_results = len(branch.outputs)
        self.parts: Linearized = linearize_cheaply(branch, active, self.n_results, there)
        operands: list[Any] = list(self.parts.primal.inputs)
        residuals = self.parts.primal.outputs[self.n_results :]
        free = dict(enumerate(slots))
        self.slots: list[tuple[bool, int]] = []
        """For each residual whether it is an operand, and the number of the operand or slot."""
        for atom in residuals:
            if atom in operands:
                self.slots.append((True, operands.index(atom)))
                continue
            a = atom.aval.strong
            number = next((k for k, slot in free.items() if slot is a), len(slots))
            if number == len(slots):
                slots.append(a)
            free.pop(number, None)
            self.slots.append((False, number))

    @property
    def used(self) -> set[int]:
        """The operands that are residuals."""
        return {number for is_operand, number in self.slots if is_operand}

    def primal(self, slots: Sequence[Aval]) -> Program:
        """``operands -> results, slots``"""
        program = self.parts.primal
        with transforming(program, "linearize") as recorder:
            inputs = inputs_of(recorder, program.inputs)
            outs = inline(recorder, program, inputs)
            held: list[Any] = [None] * len(slots)
            for (is_operand, number), x in zip(self.slots, outs[self.n_results :], strict=True):
                if not is_operand:
                    held[number] = x
            results = [recorder.index_of(x) for x in outs[: self.n_results]]
            results += full(recorder, slots, held, (True,) * len(slots))
            return simplify_program(recorder.program(indices(inputs), results))

    def linear(self, slots: Sequence[Aval], used: Sequence[int], dotted: Flags) -> Program:
        """``slots, used operands, tangents -> tangents``"""
        primal, linear = self.parts.primal, self.parts.linear
        with transforming(primal, "linearize") as recorder:
            held = [recorder.input(a) for a in slots]
            operands = {k: recorder.input(primal.inputs[k].aval) for k in used}
            dots = [recorder.input(v.aval.strong) for v in chosen(primal.inputs, self.active)]
            residuals = [operands[n] if is_operand else held[n] for is_operand, n in self.slots]
            found = iter(inline(recorder, linear, [*residuals, *dots]))
            outs = [next(found) if there else None for there in self.parts.has_tangent]
            avals = primal.out_avals[: self.n_results]
            results = full(recorder, avals, outs, dotted)
            heads = indices([*held, *operands.values(), *dots])
            return simplify_program(recorder.program(heads, results))


def linear_branches(branches: Branches, active: Flags, there: Sequence[bool]) -> LinearBranches:
    """The branches, with the linear parts of their derivatives; operands `there` need not be kept."""
    slots: list[Aval] = []
    split = [SplitBranch(branch, active, slots, there) for branch in branches]
    dotted = union([part.parts.has_tangent for part in split])
    used = sorted(set().union(*[part.used for part in split]))
    return LinearBranches(
        tuple([part.primal(slots) for part in split]),
        tuple([part.linear(slots, used, dotted) for part in split]),
        tuple(used),
        dotted,
    )


# -- reverse mode -------------------------------------------------------------------------------------------


class TransposedBranches(NamedTuple):
    """``used operands, sums, cotangents -> cotangents of the linear operands``, some added to the sums"""

    branches: Branches
    used: tuple[int, ...]
    bars: Flags
    """Which operands get a cotangent in any branch."""


def transposed_branches(
    branches: Branches, linear: Flags, marks: Sequence[Mark], summed: Flags
) -> TransposedBranches:
    """The transposes of the branches by the flagged operands.

    Of the operands that get a cotangent, those `summed` begin with a sum that is given.
    """
    offered = tuple([a and b for a, b in zip(linear, summed, strict=True)])
    parts = [transposed_branch(branch, linear, marks, offered) for branch in branches]
    bars = union([flags for _, flags in parts])
    avals = branches[0].in_avals
    made = [with_bars(program, avals, linear, offered, flags, bars) for program, flags in parts]
    n_fixed = sum(not flag for flag in linear)
    needed = union([needed_inputs(program, (True,) * len(program.outputs))[:n_fixed] for program in made])
    heads = [*positions(needed), *range(n_fixed, len(made[0].inputs))]
    fixed = positions([not flag for flag in linear])
    return TransposedBranches(
        tuple([with_inputs(program, heads) for program in made]), tuple(chosen(fixed, needed)), bars
    )


def transposed_branch(
    branch: Program, linear: Flags, marks: Sequence[Mark], summed: Flags
) -> tuple[Program, Flags]:
    """``fixed operands, sums, cotangents -> cotangents``, and which operands get one."""
    with transforming(branch, "transpose") as recorder:
        inputs = inputs_of(recorder, branch.inputs)
        outs = inline(recorder, parted(branch, linear), inputs)
        sums = {t._index: recorder.input(t.aval.strong) for t in chosen(inputs, summed)}
        exits = [x for x, mark in zip(outs, marks, strict=True) if mark is not None]
        cotangents = [recorder.input(x.aval.strong) for x in exits]
        there = [mark for mark in marks if mark is not None]
        recorder.selected = {t._index for t, mark in zip(cotangents, there, strict=True) if mark}
        recorder.selected |= {t._index for t in sums.values()}
        found = iter(record_transpose(recorder, chosen(inputs, linear), exits, cotangents, sums))
        bars = [next(found) if flag else None for flag in linear]
        untouched = {t._index for t in sums.values()}
        flags = tuple([bar is not None and recorder.index_of(bar) not in untouched for bar in bars])
        fixed = chosen(inputs, [not flag for flag in linear])
        results = [recorder.index_of(bar) for bar in chosen(bars, flags)]
        program = recorder.program(indices([*fixed, *sums.values(), *cotangents]), results)
        return simplify_program(program), flags


def with_bars(
    program: Program, avals: Sequence[Aval], linear: Flags, offered: Flags, flags: Flags, bars: Flags
) -> Program:
    """A transposed branch that gives all of `bars`, where it gave those of `flags`.

    Where nothing was added to a sum that was `offered`, the sum itself; else zeros. Sums that no branch adds
    to are no inputs any more. What the branch does is not gone through again: it may hold further branches.
    """
    if flags == bars and not any(a and not b for a, b in zip(offered, bars, strict=True)):
        return program
    with transforming(program, "transpose") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        given = iter(inline(recorder, program, inputs))
        start, stop = linear.count(False), linear.count(False) + sum(offered)
        sums = dict(zip(positions(offered), inputs[start:stop], strict=True))
        results: list[Any] = []
        for k in positions(bars):
            bar = next(given) if flags[k] else sums.get(k)
            results.append(zeros_like(recorder, avals[k].strong) if bar is None else bar)
        heads = [*inputs[:start], *[x for k, x in sums.items() if bars[k]], *inputs[stop:]]
        made = recorder.program(indices(heads), [recorder.index_of(x) for x in results])
    return simplify_program(made)


# -- batching -----------------------------------------------------------------------------------------------


class BatchedBranches(NamedTuple):
    """The branches over a batch axis 0."""

    branches: Branches
    results: Flags
    """Which results have the axis."""


def batched_branches(branches: Branches, size: int, batched: Flags) -> BatchedBranches:
    """The branches over a batch axis 0 of the flagged operands."""
    parts = [batched_branch(branch, size, batched) for branch in branches]
    results = union([flags for _, flags in parts])
    made = [with_axes(program, size, flags, results) for program, flags in parts]
    return BatchedBranches(tuple(made), results)


def batched_branch(branch: Program, size: int, batched: Flags) -> tuple[Program, Flags]:
    """A branch over a batch axis, and which of its results have it."""
    with transforming(branch, "vmap") as recorder:
        inputs = [
            recorder.input(v.aval.with_shape((size, *v.aval.shape)) if flag else v.aval)
            for v, flag in zip(branch.inputs, batched, strict=True)
        ]
        outs, flags = record_batched(recorder, branch, size, inputs, batched)
        program = recorder.program(indices(inputs), [recorder.index_of(x) for x in outs])
        return simplify_program(program), tuple(flags)


def with_axes(program: Program, size: int, flags: Flags, wanted: Flags) -> Program:
    """A batched branch whose results have the axis where it is wanted; `flags` say where they have it."""
    if flags == wanted:
        return program
    with transforming(program, "vmap") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        outs = [
            with_axis(x, size) if want and not flag else x
            for x, want, flag in zip(inline(recorder, program, inputs), wanted, flags, strict=True)
        ]
        made = recorder.program(indices(inputs), [recorder.index_of(x) for x in outs])
    return simplify_program(made)
