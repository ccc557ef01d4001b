"""The passes from a Program to its steps, in their order, for kernels and for exports alike.

What kernels do with the steps (divide, tile, place memory, write) is in `kernel`, what exports do in
`funcgrad.compile.export`. Knows nothing of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib import import_module
from pkgutil import walk_packages

from funcgrad.compile import lower
from funcgrad.compile.emit.statements import without_dead_statements
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.language.rows import NAMES
from funcgrad.compile.passes.arranging.dividing import NAMES_OF_CHUNKS
from funcgrad.compile.passes.arranging.fusion import Joined, joined_steps
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.rewriting.joined_parts import joined_parts
from funcgrad.compile.passes.rewriting.kept_elements import with_kept_elements
from funcgrad.compile.passes.rewriting.scalars_first import scalars_first
from funcgrad.compile.passes.rewriting.shifted_sums import shifted_sums
from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.nests import Nest, Special, Store, squeezed_view
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.program import Atom, Literal, Program, Var
from funcgrad.ir.text.names import variable_names
from funcgrad.transforms.simplify import simplify_program

# Modules say how primitives are lowered: importing them registers it.
for _module in walk_packages(lower.__path__, f"{lower.__name__}."):
    import_module(_module.name)

NAMES_OF_KERNELS = (*NAMES, *NAMES_OF_CHUNKS, "p", "n", "i", "j", "k", "blas_threads", "math", "np")
"""What names of the user's may not be in a kernel: the words of its language, and names of its own."""


REWRITES = (expand, simplify_program, with_kept_elements)
"""Programs to equal Programs, before it is asked which part has a native form."""


def rewritten(program: Program) -> Program:
    """The Program as kernels and exports are made of it."""
    for rewrite in REWRITES:
        program = rewrite(program)
    return program


@dataclass(frozen=True)
class Schedule:
    """The steps of a Program, and the names and the memory that they share."""

    program: Program
    local: Locals
    steps: Sequence[Nest | Special | Joined]
    numbers: Sequence[tuple[str, Buffer]]
    """The inputs of one element by the names of their locals."""
    created: AbstractSet[Buffer]
    """Memory for values that no one outside of the steps touches."""


def scheduled(
    program: Program,
    names: type[Locals] = Locals,
    schedules: type[Scheduler] = Scheduler,
    reserved: Sequence[str] = (),
) -> Schedule:
    """The steps of a rewritten Program; raises NotLowered for an equation that has no native form.

    `schedules` says how equations are lowered, and `names` what their text may name: not what is `reserved`.
    """
    check_dtypes(program)
    program = joined_parts(shifted_sums(program))
    taken = (*NAMES_OF_KERNELS, *reserved)
    local = names(taken)
    local.name_all(variable_names(program, taken))
    scheduler = schedules(local, count_uses(program))
    numbers = inputs_defined(scheduler, program)
    scheduler.run(scalars_first(program))
    for k, atom in enumerate(program.outputs):
        store_output(scheduler, atom, k)
    without_dead_statements(scheduler.steps)
    steps = joined_steps(scheduler.steps, scheduler.created)
    return Schedule(program, local, steps, numbers, scheduler.created)


def check_dtypes(program: Program) -> None:
    """Raise NotLowered for elements that no kernel can hold, not even to move them."""
    atoms = [v for equation in program.equations for v in equation.outputs]
    atoms += [*program.inputs, *[v for v, _ in program.captured], *program.outputs]  # type: ignore[list-item]
    for dtype in {v.aval.dtype for v in atoms}:
        if dtype.char in "gG":
            raise NotLowered(f"{dtype} has no native form")


def inputs_defined(scheduler: Scheduler, program: Program) -> list[tuple[str, Buffer]]:
    """Say where inputs and captured arrays are; gives the names of the numbers among them."""
    numbers: list[tuple[str, Buffer]] = []
    sources = [(v, "input", k) for k, v in enumerate(program.inputs)]
    for v, role, source in (*sources, *[(v, "captured", array) for v, array in program.captured]):
        buffer = scheduler.local.block("", v.aval.dtype, v.aval.size, role, source)
        define_input(scheduler, v, buffer, numbers)
    return numbers


def define_input(scheduler: Scheduler, v: Var, buffer: Buffer, prologue: list[tuple[str, Buffer]]) -> None:
    """An array is a view; a number is loaded once."""
    local = scheduler.local
    if v.aval.shape:
        buffer.name, buffer.shape = local.named(v), v.aval.shape
        scheduler.define_view(v, View.whole(buffer, v.aval.shape))
    else:
        buffer.name = local.fresh(f"{local.named(v)}_")
        scheduler.define_local(v, local.named(v))
        prologue.append((local.named(v), buffer))


def store_output(scheduler: Scheduler, atom: Atom, k: int) -> None:
    """Put a result where the caller wants it."""
    local = scheduler.local
    aval = atom.aval
    node = None if isinstance(atom, Literal) else scheduler.nodes[atom]
    kept = scheduler.view_in_memory(atom)
    if kept is not None and kept.is_whole and kept.buffer.role == "scratch":
        # It has been stored already, in memory of our own: that is the result.
        kept.buffer.role, kept.buffer.source = "output", k
        kept.buffer.shape = aval.shape
        return
    buffer = local.block(local.fresh("out"), aval.dtype, aval.size, "output", k)
    buffer.shape = aval.shape
    view = View.whole(buffer, aval.shape)
    if node is not None and node.view is None and node.source is None and not node.is_scalar:
        node.view = view
        scheduler.store_local(node, view)
        return
    shape = squeezed_view(view).shape
    nest = scheduler.nest_for(shape, scheduler.bound(atom, shape))
    value = scheduler.operand(atom, nest)
    nest.body.append(Store(squeezed_view(view), value, None))
