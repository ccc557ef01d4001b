"""How an exported module is made: record at several sizes, write each, and make one text of them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.specialization import Specialization
from funcgrad.api.derivatives.jacobians import whole_jacobians
from funcgrad.api.exporting.exported_structure import Structure, is_taken, structure_of
from funcgrad.api.jit import JittedFunction
from funcgrad.api.python.guarded.decisions import noted_decisions
from funcgrad.api.python.statement_notes import LoopSite
from funcgrad.compile.emit.symbols import WRITTEN_OUT
from funcgrad.compile.export.bodies import Body, body_of
from funcgrad.compile.export.module_text import Leaf, module_text
from funcgrad.compile.export.portable import portable_text
from funcgrad.compile.export.sizes import generalised, without_numbers
from funcgrad.compile.export.threads import Division
from funcgrad.compile.passes.pipeline import rewritten
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program, Var
from funcgrad.ir.text.numpy_source import user_line
from funcgrad.ir.text.spelling import subprograms

SMALLEST_PROBE = 6
"""Sizes below this are too special to show how a text depends on them."""

LARGER_PROBE = 40
"""A size from which on small sizes are no longer treated apart."""

MOST_DIMENSIONS = 16


class Dimension(NamedTuple):
    """An axis of an argument."""

    leaf: int
    axis: int


Group = tuple[Dimension, ...]
"""Axes that have one size."""


class Draft(NamedTuple):
    """The text for one set of sizes, and what it refers to."""

    text: str
    body: Body
    structure: Structure
    operations: tuple[str, ...]
    decisions: tuple[str, ...]
    """The conditions on sizes under which the user's function would have taken another path."""
    written: tuple[int, ...]
    """The arguments that the function writes into."""


class Joint(NamedTuple):
    """One text for all sizes of some groups of axes."""

    text: str
    draft: Draft
    conditions: tuple[str, ...]
    """Where the function would have taken another path, in terms of the names of the sizes."""
    base: dict[Group, int]
    """Sizes for which this is the text as it was written."""

    @property
    def groups(self) -> list[Group]:
        """What varies."""
        return list(self.base)


def exported_source(
    jitted: JittedFunction[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    engine: str,
    parallel: bool,
) -> tuple[str, str]:
    """The text of the module, and the name of the function in it."""
    made, joint = export_of(jitted, args, kwargs, engine, parallel)
    return made.module(joint)


def export_of(
    jitted: JittedFunction[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    engine: str,
    parallel: bool = False,
) -> tuple[Exporter, Joint]:
    """An exporter, and the text that holds for the most sizes.

    Short loops are recorded trip by trip, and what is short may depend on sizes: the text is then also made
    with the same loops unrolled at all sizes, and that is taken if it holds for more.
    """
    made = Exporter(jitted, args, kwargs, engine, parallel)
    joint = made.generalised()
    reach = made.reach(joint)
    if reach < made.widest() and made.unrolls_by_size():
        steady = Exporter(jitted.copied(loops=made.unrolled_loops()), args, kwargs, engine, parallel)
        other = steady.generalised()
        if steady.reach(other) > reach:
            return steady, other
    return made, joint


class Exporter:
    """One export: the function, its example, and what has been recorded of it."""

    def __init__(
        self,
        jitted: JittedFunction[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        engine: str,
        parallel: bool = False,
    ) -> None:
        self.jitted, self.args, self.kwargs, self.engine = jitted, args, kwargs, engine
        self.division = Division(threads=parallel)
        with noted_decisions() as decisions, whole_jacobians():
            found = jitted.specialized(*args, **kwargs)
        self.avals: tuple[Aval, ...] = found.avals
        self.name = safe_name(getattr(jitted, "__name__", "function"))
        self.holds_arrays = self.is_compiled = False
        """Of the module: whether arrays are part of it, and whether Numba knows all its containers."""
        self._loops = [loops_of(jitted)]
        """The loops of everything recorded, that of the example first."""
        self._recorded = {tuple(self.shapes({})): (found, tuple(decisions))}
        self._drafts: dict[tuple[tuple[int, ...], ...], Draft] = {}

    # -- drafts ----------------------------------------------------------------------------------------

    def draft(self, shapes: Sequence[tuple[int, ...]]) -> Draft:
        """The text for arguments of these shapes."""
        key = tuple(shapes)
        found = self._drafts.get(key)
        if found is None:
            found = self._drafts[key] = self._made(key)
        return found

    def _specialized(self, shapes: tuple[tuple[int, ...], ...]) -> tuple[Specialization, tuple[str, ...]]:
        """What is recorded for these shapes, and what decided about it."""
        if shapes in self._recorded:
            return self._recorded[shapes]
        leaves, treedef = tree.flatten((self.args, self.kwargs))
        places = self.jitted.traced_leaves(self.args, self.kwargs)
        for k, aval, shape in zip(places, self.avals, shapes, strict=True):
            leaves[k] = Aval(shape, aval.dtype, weak=aval.weak)
        args, kwargs = tree.unflatten(treedef, leaves)
        with noted_decisions() as decisions, whole_jacobians():
            found = self.jitted.specialized(*args, **kwargs)
        self._loops.append(loops_of(self.jitted))
        self._recorded[shapes] = found, tuple(decisions)
        return self._recorded[shapes]

    def _made(self, shapes: tuple[tuple[int, ...], ...]) -> Draft:
        found, decisions = self._specialized(shapes)
        places = self.jitted.traced_leaves(self.args, self.kwargs)
        try:
            body = body_of(found.program, self.name, self.engine, self.division)
        except NotLowered as error:
            raise refusal(found.program, error) from error
        structure = structure_of(self.jitted, self.args, self.kwargs, places, found)
        lines, results = list(body.lines), list(body.results)
        if found.guarded:
            lines += [
                f"    if not {results.pop()}:",
                f'        raise ValueError("{self.name}: these arguments take another path")',
            ]
        del results[len(results) - len(found.said) :]
        kept = len(results) - len(found.written)
        lines += [f"    argument{k}[...] = {x}" for k, x in zip(found.written, results[kept:], strict=True)]
        del results[kept:]
        lines.append(f"    return {structure.returned(results)}")
        return Draft(
            "\n".join(lines), body, structure, operations_of(found.program), decisions, found.written
        )

    # -- sizes -----------------------------------------------------------------------------------------

    def shapes(self, sizes: Mapping[Group, int]) -> list[tuple[int, ...]]:
        """The shapes of the arguments, where groups of axes have these sizes and others the example's."""
        found = [list(aval.shape) for aval in self.avals]
        for group, size in sizes.items():
            for dimension in group:
                found[dimension.leaf][dimension.axis] = size
        return [tuple(shape) for shape in found]

    def drafted(self, sizes: Mapping[Group, int]) -> Draft | None:
        """The draft for sizes, or None where the function does not take them."""
        try:
            return self.draft(self.shapes(sizes))
        except Exception:  # noqa: BLE001 - what a function says to sizes that it was not written for is its own
            return None

    def joint(self, groups: Sequence[Group]) -> Joint | None:
        """One text for all sizes of these groups.

        Texts for sizes near the example's are best for those; where they do not agree, others may.
        """
        for start in (None, SMALLEST_PROBE, LARGER_PROBE):
            base = self.bases(groups, start)
            if self.drafted({**base, groups[0]: base[groups[0]] + 1}) is None:
                return None
            found, sizes = self.joint_near(groups, base), self.example_sizes(groups)
            if found is not None and (base == sizes or self.follows(found, sizes)):
                return found
        return None

    def joint_near(self, groups: Sequence[Group], base: Mapping[Group, int]) -> Joint | None:
        """One text for all sizes, found by sizes near these."""
        names = self.names(groups)
        variations = [dict(base)]
        variations += [{**base, g: base[g] + 1} for g in groups]
        variations += [{g: base[g] + step + k % 2 for k, g in enumerate(groups)} for step in (1, 2, 4)]
        found: list[Draft] = []
        for variation in variations:
            draft = self.drafted(variation)
            if draft is None or (found and not same_arrays(draft.body.constants, found[0].body.constants)):
                return None
            found.append(draft)
        first, example = found[0], self.draft(self.shapes({}))
        if path_of(first.decisions) != path_of(example.decisions):
            return None
        sizes = [[v[g] for g in groups] for v in variations]
        text = generalised([d.text for d in found], sizes, names)
        conditions = generalised(["\n".join(d.decisions) for d in found], sizes, names)
        far = self.drafted({g: 3 * base[g] + k for k, g in enumerate(groups)})
        if text is None or conditions is None or far is None:
            return None
        if far.operations != first.operations and path_of(far.decisions) == path_of(first.decisions):
            return None
        on_sizes = [c for c in conditions.split("\n") if set(re.findall(r"\w+", c)) & set(names)]
        return Joint(text, first, tuple(dict.fromkeys(on_sizes)), dict(base))

    def example_sizes(self, groups: Sequence[Group]) -> dict[Group, int]:
        """The sizes of the example."""
        return {g: self.avals[g[0].leaf].shape[g[0].axis] for g in groups}

    def names(self, groups: Sequence[Group]) -> list[str]:
        """Names for the sizes of the groups."""
        return ["n"] if len(groups) == 1 else [f"n{k}" for k in range(len(groups))]

    def free_groups(self) -> list[Group]:
        """Groups of axes whose sizes may vary, each by itself."""
        dimensions = [Dimension(k, a) for k, aval in enumerate(self.avals) for a in range(aval.ndim)]
        by_size: dict[int, list[Dimension]] = {}
        for d in dimensions:
            by_size.setdefault(self.avals[d.leaf].shape[d.axis], []).append(d)
        found: list[Group] = []
        for size, members in by_size.items():
            if size <= WRITTEN_OUT and all(d.axis and d.axis == self.avals[d.leaf].ndim - 1 for d in members):
                # Rows of two or three numbers: loops over them are unrolled, and that is most of their speed.
                continue
            alone = [(d,) for d in members] if 1 < len(members) <= MOST_DIMENSIONS else []
            free = [g for g in alone if self.varies(g)]
            rest = tuple(d for d in members if (d,) not in free)
            found += free
            if rest and self.varies(rest):
                found.append(rest)
        return sorted(found)

    def varies(self, group: Group) -> bool:
        """Whether the sizes of a group may vary while all others are the example's."""
        return self.joint([group]) is not None

    def bases(self, groups: Sequence[Group], start: int | None) -> dict[Group, int]:
        """Sizes that are different for every group, and not special: near the example's, or from a start."""
        taken: set[int] = set()
        found: dict[Group, int] = {}
        for group in groups:
            size = start or self.avals[group[0].leaf].shape[group[0].axis]
            size = size if size >= SMALLEST_PROBE else size + SMALLEST_PROBE
            while size in taken:
                size += 1
            taken.add(size)
            found[group] = size
        return found

    def generalised(self) -> Joint:
        """The text for as many sizes as can vary together."""
        example = self.draft(self.shapes({}))
        groups = self.free_groups()
        found = self.joint(groups) if groups else None
        if found is not None:
            return found
        kept: list[Group] = []
        best = Joint(example.text, example, (), {})
        for group in groups if len(groups) > 1 else ():
            more = self.joint([*kept, group])
            if more is not None:
                kept, best = [*kept, group], more
        return best

    # -- where a text holds ------------------------------------------------------------------------------

    def recorded(self, sizes: Mapping[Group, int]) -> str | None:
        """The Program for sizes, as text without its arrays; None where the function does not take them."""
        try:
            found, _ = self._specialized(tuple(self.shapes(sizes)))
        except Exception:  # noqa: BLE001 - what a function says to sizes that it was not written for is its own
            return None
        text = _ARRAY.sub("", found.program.text(sources=False))
        # Where lines are broken, and what stands in brackets, depends on how many digits sizes have.
        return " ".join(re.split(r"[\s()]+", text))

    def follows(self, joint: Joint, sizes: Mapping[Group, int]) -> bool:
        """Whether the Program for sizes is that of the others, with its numbers by the same rules.

        A slice that ends at a size, or an element that is not there, is another Program or an error.
        """
        base, groups = joint.base, joint.groups
        known = [base, *[{**base, g: base[g] + 1} for g in groups], {g: base[g] + 3 for g in groups}]
        texts = [self.recorded(s) for s in (*known, sizes)]
        found = [text for text in texts if text is not None]
        values = [[s[g] for g in groups] for s in (*known, sizes)]
        return len(found) == len(texts) and generalised(found, values, self.names(groups)) is not None

    def allows(self, joint: Joint, sizes: Mapping[Group, int]) -> bool:
        """Whether sizes in another order give no error and no other numbers.

        Other operations are let pass: in which order products are taken depends on sizes, too.
        """
        try:
            found, _ = self._specialized(tuple(self.shapes(sizes)))
        except Exception:  # noqa: BLE001 - what a function says to sizes that it was not written for is its own
            return False
        return operations_of(found.program) != joint.draft.operations or self.follows(joint, sizes)

    def bounds(self, joint: Joint) -> list[str]:
        """Lines that refuse sizes for which the text does not hold, though the arrays are alike."""
        base, groups = joint.base, joint.groups
        names = dict(zip(groups, self.names(groups), strict=True))
        lines = [line for condition in joint.conditions for line in refusal_lines(condition, self.name)]
        for g in groups:
            least = self.least(joint, g)
            if least:
                lines += refusal_lines(f"{names[g]} < {least}", self.name)
        for g in groups:
            for h in groups:
                if g != h and base[g] > base[h] and not self.allows(joint, {**base, g: base[h], h: base[g]}):
                    lines += refusal_lines(f"{names[g]} < {names[h]}", self.name)
        return lines

    def least(self, joint: Joint, group: Group) -> int:
        """The smallest size of a group for which the Program is that of larger ones, as far as a few show."""
        base, below = joint.base, -1
        found = base[group]
        for size in (0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128):
            if size >= base[group]:
                break
            if self.follows(joint, {**base, group: size}):
                found = size
                break
            below = size
        while found - below > 1:
            middle = (below + found) // 2
            if self.follows(joint, {**base, group: middle}):
                found = middle
            else:
                below = middle
        return found

    def reach(self, joint: Joint) -> tuple[int, int]:
        """For how many sizes a text holds: how many may vary, and from which on."""
        return len(joint.groups), -sum([self.least(joint, g) for g in joint.groups])

    def unrolls_by_size(self) -> bool:
        """Whether a loop is unrolled at some sizes and not at others."""
        decided = self.unrolled_loops()
        return any(
            {u for _, u in met} != {decided[site]} for loops in self._loops for site, met in loops.items()
        )

    def unrolled_loops(self) -> dict[LoopSite, bool]:
        """Which loops to unroll at all sizes: those of as many trips at all, if they are in the example."""
        found: dict[LoopSite, bool] = {}
        for loops in self._loops:
            for site, met in loops.items():
                trips = [{n for n, _ in x[site]} for x in self._loops if site in x]
                in_example = self._loops[0].get(site, met)
                found[site] = all(x == trips[0] for x in trips) and all(u for _, u in in_example)
        return found

    def widest(self) -> tuple[int, int]:
        """What `reach` is of a text that holds for all sizes."""
        return sum([aval.ndim for aval in self.avals]), 0

    # -- the module ------------------------------------------------------------------------------------

    def module(self, joint: Joint) -> tuple[str, str]:
        """The text of the module, and the name of the function."""
        text, draft, groups = joint.text, joint.draft, joint.groups
        structure = draft.structure
        self.holds_arrays = draft.body.holds_arrays
        self.is_compiled = structure.compiled
        leaves = [
            Leaf(name or f"unused{k}", access, aval, flat)
            for k, ((name, flat), access, aval) in enumerate(
                zip(draft.body.inputs, structure.accesses, self.avals, strict=True)
            )
        ]
        given = [x.access if structure.compiled else x.name for x in leaves]
        sizes = [*self.size_lines(joint, given), *self.written_lines(draft.written, given)]
        body = [*structure.static_checks, *sizes, "", *text.split("\n")]
        shown = [x for x in leaves if not x.name.startswith("unused")]
        door = structure.door(self.name, self.sentences(groups, given))
        module = module_text(
            door, leaves if not structure.compiled else shown, body, draft.body.constants, self.engine
        )
        return module, self.name

    def size_lines(self, joint: Joint, given: Sequence[str]) -> list[str]:
        """Lines that name the sizes, and check the shapes."""
        groups = joint.groups
        names = dict(zip(groups, self.names(groups), strict=True))
        group_of = {d: g for g in groups for d in g}
        lines: list[str] = []
        named: set[str] = set()
        checks: list[str] = []
        for k, aval in enumerate(self.avals):
            if not aval.shape:
                continue
            texts = []
            first: list[str] = []
            for a, size in enumerate(aval.shape):
                group = group_of.get(Dimension(k, a))
                text = str(size) if group is None else names[group]
                if group is not None and text not in named:
                    named.add(text)
                    first.append(f"    {text} = {given[k]}.shape[{a}]")
                texts.append(text)
            if len(first) == len(texts):
                lines.append(f"    {', '.join(texts)}{',' if len(texts) == 1 else ''} = {given[k]}.shape")
                continue
            lines += first
            shape = f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
            words = f"{self.name}: {given[k]} must have shape {shape}".replace('"', "'")
            checks += [f"    if {given[k]}.shape != {shape}:", f'        raise ValueError("{words}")']
        return [*lines, *checks, *self.bounds(joint)]

    def written_lines(self, written: Sequence[int], given: Sequence[str]) -> list[str]:
        """Lines that name the arrays to write into, and refuse memory that the function would see changed."""
        lines = [f"    argument{k} = {given[k]}" for k in written]
        for k in written:
            for other, aval in enumerate(self.avals):
                if aval.shape and other != k and not (other in written and other < k):
                    words = f"{self.name} writes into {given[k]}, which shares memory with {given[other]}"
                    words = words.replace('"', "'")
                    lines.append(f"    if shares_memory({given[k]}, {given[other]}):")
                    lines.append(f'        raise ValueError("{words}: pass a copy")')
        return lines

    def sentences(self, groups: Sequence[Group], given: Sequence[str]) -> list[str]:
        """The docstring of the module."""
        names = dict(zip(groups, self.names(groups), strict=True))
        group_of = {d: names[g] for g in groups for d in g}
        kinds = []
        for k, aval in enumerate(self.avals):
            shape = ", ".join([group_of.get(Dimension(k, a), str(n)) for a, n in enumerate(aval.shape)])
            kinds.append(f"{given[k]}: {aval.dtype.name}[{shape}]")
        return [
            f"{self.name}({', '.join(kinds)}).",
            "Written by funcgrad's export, and needs nothing of it. Comments are the user's own lines.",
        ]


def loops_of(jitted: JittedFunction[..., Any]) -> dict[LoopSite, set[tuple[int, bool]]]:
    """The loops of what was recorded last: how many trips, and whether they were unrolled."""
    return {} if jitted.hooks is None else dict(jitted.hooks.loops)


_ARRAY = re.compile(r" = (?:<array[^>]*>|\[.*\])$", re.M)
"""The value of a captured array, in the text of a Program."""


def refusal_lines(condition: str, name: str) -> list[str]:
    """Lines that refuse sizes."""
    words = f"{name}: {condition} is another program: export it with an example of such sizes"
    return [f"    if {condition}:", f'        raise ValueError("{words}")']


def path_of(decisions: Sequence[str]) -> tuple[str, ...]:
    """Which way each decision went, whatever its numbers."""
    return tuple([without_numbers(decision) for decision in decisions])


def same_arrays(xs: Mapping[str, Any], ys: Mapping[str, Any]) -> bool:
    """Whether two drafts hold the same arrays."""
    return xs.keys() == ys.keys() and all(
        np.shape(xs[k]) == np.shape(ys[k])
        and np.array_equal(xs[k], ys[k], equal_nan=xs[k].dtype.kind in "fc")
        for k in xs
    )


def operations_of(program: Program) -> tuple[str, ...]:
    """The names of the operations of a Program and of those that it holds: its structure, without sizes."""
    found: list[str] = []
    for equation in program.equations:
        found.append(equation.primitive.name)
        for held in subprograms(equation):
            found += operations_of(held)
    return tuple(found)


def refusal(program: Program, error: NotLowered) -> UnsupportedFunctionError:
    """What cannot be exported, by name, with the line that it stands in."""
    for equation in rewritten(program).equations:
        inputs = tuple(dict.fromkeys(a for a in equation.inputs if isinstance(a, Var)))
        try:
            portable_text(Program(inputs, (), (equation,), equation.outputs, "probe"))
        except NotLowered as reason:
            place = user_line(equation.source)
            return UnsupportedFunctionError(
                f"export: {equation.primitive.name} has no form outside of funcgrad ({reason})"
                + (f"\n  {place}" if place else ""),
                remedy="Leave that part outside of the exported function.",
            )
    return UnsupportedFunctionError(f"export: {error}", source=here(), remedy="Export a part of it.")


def safe_name(name: str) -> str:
    """The name of a function, changed where modules use it for something else."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return "function"
    return f"{name}_" if is_taken(name) else name
