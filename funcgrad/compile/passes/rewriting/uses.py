"""How often the variables of a Program are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from funcgrad.ir.program import Atom, Equation, Program, Var


def count_uses(program: Program) -> Counter[Var]:
    """How many equations and outputs read each variable."""
    return count_reads(program.equations, program.outputs)


def count_reads(equations: Sequence[Equation], outputs: Sequence[Atom]) -> Counter[Var]:
    """How often these equations and outputs read each variable."""
    found = Counter([a for e in equations for a in e.inputs if type(a) is Var])
    for a in outputs:
        if type(a) is Var:
            found[a] += 1
    return found
