"""How often the variables of a Program are read."""

from __future__ import annotations

from funcgrad.ir.program import Program, Var


def count_uses(program: Program) -> dict[Var, int]:
    """How many equations and outputs read each variable."""
    uses: dict[Var, int] = {}
    for atoms in (*[e.inputs for e in program.equations], program.outputs):
        for atom in atoms:
            if isinstance(atom, Var):
                uses[atom] = uses.get(atom, 0) + 1
    return uses
