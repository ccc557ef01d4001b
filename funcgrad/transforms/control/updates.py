"""Updates in place, read off a Program: whose memory its results can lie in, and which reads come first.

Knows nothing of memory: whether it may be changed is for those to decide who run the Program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, UpdateSlice
from funcgrad.ops.arrays.sorting import AddAlongAxis
from funcgrad.ops.elementwise.arithmetic import neg

UPDATES = (Scatter, UpdateSlice, AddToSlice, AddAlongAxis)
"""What changes a part of its first input."""


WHILE = ("while_loop", "while_sweeps")
HOLDING = ("scan", "cond", *WHILE)
"""Control flow is told by name: its modules are built on this one."""


def has_any(equations: Sequence[Equation], kinds: tuple[type, ...]) -> bool:
    """Whether one of the equations is an operation of these kinds."""
    return any(issubclass(kind, kinds) for kind in {type(e.primitive) for e in equations})


def may_change(equations: Sequence[Equation]) -> bool:
    """Whether one of the equations changes a part of an array, or holds Programs that may."""
    kinds = {type(e.primitive) for e in equations}
    return any(issubclass(kind, UPDATES) or kind.name in HOLDING for kind in kinds)


def changed_inputs(program: Program) -> tuple[int | None, ...]:
    """For each output the input that it is, or is made of by changing parts of it, if there is one."""
    origin: dict[Atom, int] = {v: k for k, v in enumerate(program.inputs) if v.aval.shape}
    for equation in program.equations if may_change(program.equations) else ():
        for out, base in zip(equation.outputs, bases(equation), strict=True):
            if base is not None and base in origin:
                origin[out] = origin[base]
    return tuple([origin.get(atom) for atom in program.outputs])


def bases(equation: Equation) -> Sequence[Atom | None]:
    """For each result of an equation the input that it is made of by changing parts of it."""
    primitive, inputs = equation.primitive, equation.inputs
    if isinstance(primitive, UPDATES):
        return inputs[:1]
    if primitive.name == "scan":
        kept = unchanged_places(primitive.body, primitive.n_carry)
        return [inputs[k] if k in kept else None for k in range(len(equation.outputs))]
    if primitive.name in WHILE:
        loop = primitive.loop
        places: list[Atom | None] = []
        for sweep in loop.sweeps:
            kept, start = unchanged_places(sweep.program, sweep.n_carry), len(places)
            places += [inputs[start + k] if k in kept else None for k in range(sweep.n_carry)]
        return [places[r] for r in loop.results]
    if primitive.name == "cond":
        return [None if k is None else inputs[1 + k] for k in changed_operands(primitive.branches)]
    return [None] * len(equation.outputs)


def unchanged_places(body: Program, n_carry: int) -> set[int]:
    """The parts of a carry that stay where they are."""
    origins = changed_inputs(body)[:n_carry]
    return {k for k, origin in enumerate(origins) if origin == k}


def only_added_to(body: Program, k: int) -> bool:
    """Whether a body, and the loops inside it, do nothing to an input that it changes but add to it."""
    v: Atom = body.inputs[k]
    for e in body.equations:
        for place, base in enumerate(bases(e)):
            if base is not v:
                continue
            if e.primitive.name == "scan":
                adds = only_added_to(e.primitive.body, place)
            else:
                adds = isinstance(e.primitive, AddToSlice) or (
                    isinstance(e.primitive, Scatter) and e.primitive.mode == "add"
                )
            if not adds:
                return False
            v = e.outputs[place]
            break
    return body.outputs[k] is v


def changed_operands(branches: Sequence[Program]) -> list[int | None]:
    """For each result of a conditional the operand of which every branch makes it."""
    columns = zip(*[changed_inputs(branch) for branch in branches], strict=True)
    found = [column[0] if len(set(column)) == 1 else None for column in columns]
    return [k if k is not None and found.count(k) == 1 else None for k in found]


def reads_first(program: Program) -> Program:
    """The Program, in which what reads an array stands before what changes it, where that can be."""
    if not may_change(program.equations):
        return program
    equations = list(program.equations)
    position = 0
    while position < len(equations):
        changed = [base for base in bases(equations[position]) if isinstance(base, Var)]
        later = moved_before(equations, position, changed) if changed else []
        if later:
            chosen = set(later)
            rest = [e for k, e in enumerate(equations[position:], position) if k not in chosen]
            equations[position:] = [*[equations[k] for k in later], *rest]
        position += len(later) + 1
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


def moved_before(equations: Sequence[Equation], position: int, changed: Sequence[Var]) -> list[int]:
    """The equations after a position that read what is changed there, with all that they need."""
    readers = [
        k for k in range(position + 1, len(equations)) if not set(changed).isdisjoint(equations[k].inputs)
    ]
    if not readers:
        return []
    makers = {v: k for k in range(position, len(equations)) for v in equations[k].outputs}
    found: set[int] = set()
    for reader in readers:
        needed = {reader}
        stack = [reader]
        while stack:
            for atom in equations[stack.pop()].inputs:
                maker = makers.get(atom) if isinstance(atom, Var) else None
                if maker is not None and maker not in needed:
                    needed.add(maker)
                    stack.append(maker)
        # A second change of the same array cannot come before the first without a copy.
        if position not in needed and not any(set(changed) & set(bases(equations[k])) for k in needed):
            found |= needed
    return sorted(found)


def as_additions(program: Program) -> Program:
    """The Program with ``x[i] += y`` where an element is read, added to, and written again.

    What follows an addition backwards stays where it is; what follows a write is taken out, and added again.
    The numbers are the same, but for sums that kernels may round once where it rounds twice.
    """
    makers = {v: e for e in program.equations for v in e.outputs}
    equations: list[Equation] = []
    for e in program.equations:
        term = None
        if isinstance(e.primitive, Scatter) and e.primitive.mode == "set":
            term = added_term(e, makers)
        if term is None:
            equations.append(e)
            continue
        sum_of, added = term
        if sum_of.primitive.name == "sub":
            equations.append(Equation(neg, (added,), (Var(added.aval),), sum_of.source))
            added = equations[-1].outputs[0]
        adding = Scatter("add", e.primitive.axes, e.primitive.unique)
        equations.append(Equation(adding, (e.inputs[0], added, *e.inputs[2:]), e.outputs, e.source))
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


def totals_in_place(program: Program) -> Program:
    """The Program that adds to a carried array where it is, at its end, where it adds below a mask alone."""
    if "where" not in {e.primitive.name for e in program.equations}:
        return program
    makers = {v: e for e in program.equations for v in e.outputs}
    uses = Counter([a for e in program.equations for a in e.inputs if isinstance(a, Var)])
    uses.update([a for a in program.outputs if isinstance(a, Var)])
    carried = dict(zip(program.outputs, program.inputs, strict=False))
    equations: list[Equation] = []
    additions: list[Equation] = []
    for e in program.equations:
        out = e.outputs[0]
        total = carried.get(out)
        if e.primitive.name != "add" or total not in e.inputs or uses[out] != 1 or uses[total] != 1:
            equations.append(e)
            continue
        term = e.inputs[1] if e.inputs[0] is total else e.inputs[0]
        made = makers.get(term) if isinstance(term, Var) else None
        masked = made is not None and made.primitive.name == "where" and is_zero(made.inputs[2])
        if not masked or not out.aval.shape or not term.aval == total.aval == out.aval:
            equations.append(e)
            continue
        whole = tuple([(0, n, 1) for n in out.aval.shape])
        additions.append(Equation(AddToSlice(whole), (total, term), e.outputs, e.source))
    together = (*equations, *additions)
    return Program(program.inputs, program.captured, together, program.outputs, program.name)


def is_zero(atom: Atom) -> bool:
    """Whether an atom is the number 0."""
    return isinstance(atom, Literal) and not atom.aval.shape and atom.value == 0


def added_term(writing: Equation, makers: Mapping[Var, Equation]) -> tuple[Equation, Atom] | None:
    """What makes the number that is written, and what it adds to the one that was there, if that is all."""
    x, y, *indices = writing.inputs
    made = makers.get(y) if isinstance(y, Var) else None
    if made is None or made.primitive.name not in ("add", "sub") or y.aval.shape or y.aval.dtype.kind != "f":
        return None
    for k in range(1 if made.primitive.name == "sub" else 2):
        read, added = made.inputs[k], made.inputs[1 - k]
        reading = makers.get(read) if isinstance(read, Var) else None
        if (
            reading is not None
            and reading.primitive == Gather(writing.primitive.axes)
            and reading.inputs == (x, *indices)
            and added.aval == y.aval
        ):
            return made, added
    return None
