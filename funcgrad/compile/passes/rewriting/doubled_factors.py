"""In loops the derivative of a square doubles what no trip waits for: ``(t + t) * x`` is ``t * (x + x)``.

What is to be doubled comes from the trip before; ``x`` is known long before. Both round the same product, so
the digits are the same: twice of ``x`` is infinite only where its square is. Knows nothing of loops: whoever
prepares the Program of one asks for it.
"""

from __future__ import annotations

from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import add, mul


def factors_doubled(program: Program) -> Program:
    """An equal Program in which factors of doubled numbers are doubled, where they are squared as well."""
    squared: set[Atom] = {e.inputs[0] for e in program.equations if e.primitive is mul and is_twice(e)}
    uses = count_uses(program) if squared else {}
    doubled: dict[Atom, Atom] = {
        e.outputs[0]: e.inputs[0]
        for e in (program.equations if squared else ())
        if e.primitive is add and is_twice(e) and uses[e.outputs[0]] == 1
    }
    if not doubled:
        return program
    twice: dict[Atom, Var] = {}
    equations: list[Equation] = []
    for equation in program.equations:
        found = halved(equation, doubled)
        if found is None or found[1] not in squared:
            equations.append(equation)
            continue
        t, x = found
        if x not in twice:
            twice[x] = Var(x.aval)
            equations.append(Equation(add, (x, x), (twice[x],), equation.source))
        equations.append(Equation(equation.primitive, (t, twice[x]), equation.outputs, equation.source))
    made = {atom for e in equations for atom in e.inputs} | {*program.outputs}
    kept = tuple([e for e in equations if e.primitive is not add or e.outputs[0] in made])
    return Program(program.inputs, program.captured, kept, program.outputs, program.name)


def is_twice(equation: Equation) -> bool:
    """Whether both operands of an operation on real numbers are the same variable."""
    x, y = equation.inputs
    return x is y and isinstance(x, Var) and x.aval.dtype.kind == "f"


def halved(equation: Equation, doubled: dict[Atom, Atom]) -> tuple[Atom, Atom] | None:
    """What is doubled in a product, and its other factor; None where nothing is."""
    if equation.primitive is mul:
        x, y = equation.inputs
        if x in doubled:
            return doubled[x], y
        if y in doubled:
            return doubled[y], x
    return None
