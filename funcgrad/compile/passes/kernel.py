"""A Program as one native function: its source, its memory, and what a call of it is given.

Owns what is done with the steps of a Program, which `pipeline` makes; what runs it is in `executable`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from funcgrad.compile.emit.frames import Frame
from funcgrad.compile.emit.interruptible_loops import POLL_EVERY, STOPPING
from funcgrad.compile.emit.shared_functions import in_functions
from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.passes.arranging.dividing import Shared, function_lines, number_lines, shared_steps
from funcgrad.compile.passes.arranging.fusion import Joined
from funcgrad.compile.passes.arranging.grouping import grouped_steps
from funcgrad.compile.passes.arranging.memory import scratch_offsets
from funcgrad.compile.passes.arranging.tiling import tiled_steps
from funcgrad.compile.passes.pipeline import scheduled
from funcgrad.compile.passes.rewriting.tiles_of_lanes import tiles_of_lanes
from funcgrad.compile.passes.scheduling.nests import Nest, Special
from funcgrad.compile.passes.scheduling.views import Buffer
from funcgrad.ir.avals import dtype_name
from funcgrad.ir.program import Program


@dataclass(frozen=True)
class Kernel:
    """The source of a native function, and what its two tables hold."""

    name: str
    source: str
    functions: tuple[str, ...]
    """The function itself, and those that threads run."""
    buffers: tuple[Buffer, ...]
    """By slot of the table of pointers."""
    offsets: Mapping[Buffer, int]
    """Where each block of scratch memory lies."""
    scratch_bytes: int
    sizes: tuple[int, ...]
    steps: Sequence[Nest | Special | Joined | Shared]

    @property
    def stops(self) -> bool:
        """Whether it may be left before its end, and returns a number."""
        return any(buffer.role == "signals" for buffer in self.buffers)

    @property
    def last_stop(self) -> int:
        """The last place in the schedule where it may be left, or -1."""
        places = [k for k, s in enumerate(self.steps) if isinstance(s, Special) and s.kind in STOPPING]
        return max(places, default=-1) if self.stops else -1

    @property
    def code(self) -> str:
        """The source without comments: what the machine code depends on."""
        lines = [line.partition("  # ")[0] for line in self.source.split("\n")]
        return "\n".join([line for line in lines if not line.lstrip().startswith("#")])

    @property
    def may_fail(self) -> bool:
        """Whether it has a flag that says that NumPy would raise an error."""
        return any(buffer.role == "failure" for buffer in self.buffers)

    @property
    def flops(self) -> float:
        """Arithmetic operations of one call, roughly."""
        return sum(step.flops for step in self.steps)


def make_kernel(program: Program, write: Callable[[Locals], Writer] = Writer) -> Kernel:
    """Emit a Program; raises NotLowered for an equation that has no native form.

    `write` makes what the steps are written with: one that writes more than they need can measure them.
    """
    schedule = scheduled(tiles_of_lanes(program))
    local, created = schedule.local, schedule.created
    name = local.distinct(program.name if program.name.isidentifier() else "kernel")
    numbers = {number: buffer.dtype for number, buffer in schedule.numbers}
    shared = shared_steps(schedule.steps, local, numbers, name)
    steps = tiled_steps(grouped_steps(shared, local, numbers, name), created)
    writer = write(local)
    writer.steps(steps)
    numbers_in_memory = local.number_blocks()
    frame = Frame(writer.dtypes, numbers_in_memory, lambda dtype: local.scratch(dtype, 0, "frame"))
    bodies, groups = in_functions(
        [writer.lines, *[lines for _, lines in writer.functions]], lambda: local.fresh(f"{name}_group"), frame
    )
    offsets, scratch_bytes = scratch_offsets(local.buffers, steps, frame.buffers)
    buffers = used_buffers(local, offsets)
    stops = any(buffer.role == "signals" for buffer in buffers)
    body = with_serial_blas(local, [*bodies[0], "    return 0"] if stops else bodies[0])
    symbols = {symbol: k for k, symbol in enumerate(local.symbols.values())}
    slots = {buffer: slot for slot, buffer in enumerate(buffers)}
    outlined = [
        function_lines(step, lines, symbols, slots, numbers_in_memory)
        for (step, _), lines in zip(writer.functions, bodies[1:], strict=True)
    ]
    head = heading(name, local, buffers, schedule.numbers, numbers_in_memory, body)
    return Kernel(
        name,
        text_of((*groups, *outlined, [*head, *(body or ["    pass"])])),
        (name, *[step.name for step, _ in writer.functions]),
        tuple(buffers),
        offsets,
        scratch_bytes,
        tuple(local.symbols),
        steps,
    )


def text_of(functions: Sequence[Sequence[str]]) -> str:
    """The text of a module of functions, each given as its lines."""
    return "\n\n\n".join(["\n".join(lines) for lines in functions]) + "\n"


def with_serial_blas(local: Locals, lines: list[str]) -> list[str]:
    """The lines, with BLAS set to one thread before and to what it had after."""
    if not local.blas_threads:
        return lines
    get, put = local.blas_threads
    restored = ["if blas_threads > 1:", f"    int_set({put}, blas_threads)"]
    found: list[str] = []
    for line in lines:
        if line.lstrip().startswith("return "):
            margin = line[: len(line) - len(line.lstrip())]
            found += [margin + text for text in restored]
        found.append(line)
    if not lines or not lines[-1].startswith("    return "):
        found += [f"    {text}" for text in restored]
    return [
        f"    blas_threads = int_call({get})",
        "    if blas_threads > 1:",
        f"        int_set({put}, i32(1))",
        *found,
    ]


def used_buffers(local: Locals, offsets: Mapping[Buffer, int]) -> list[Buffer]:
    """The blocks of memory by slot: scratch that nothing uses has none."""
    order = {"input": 0, "captured": 1, "output": 2, "clock": 3, "failure": 4, "signals": 5, "scratch": 6}
    used = [b for b in local.buffers if b.role in order and (b.role != "scratch" or b in offsets)]
    return sorted(used, key=lambda b: (order[b.role], b.source if isinstance(b.source, int) else 0))


def shared_scopes(local: Locals, buffers: Sequence[Buffer]) -> dict[str, int]:
    """The alias scopes of memory that changes places with other memory: the slot of the first of them.

    Each of their names may mean any of them, and none of what is beside them.
    """
    slots = {buffer.name: slot for slot, buffer in enumerate(buffers)}
    found: dict[str, int] = {}
    for pair in local.exchanged:
        joined = {found.get(name, slots[name]) for name in pair if name in slots}
        least = min(joined, default=0)
        found = {name: least if scope in joined else scope for name, scope in found.items()}
        found.update(dict.fromkeys([name for name in pair if name in slots], least))
    return found


def scopes_said(local: Locals, buffers: Sequence[Buffer]) -> dict[str, tuple[int, ...]]:
    """The alias scopes of memory where it is not that of its slot alone.

    A number, and of scratch the first and last step of its use where other scratch has only other steps: that
    may lie at the same place, so nothing may be written to one before the last was read of the other.
    """
    scopes = shared_scopes(local, buffers)
    together: dict[int, list[Buffer]] = {}
    for slot, buffer in enumerate(buffers):
        together.setdefault(scopes.get(buffer.name, slot), []).append(buffer)
    scratch = {b: (b.first, b.last) for b in buffers if b.role == "scratch" and b.first >= 0}
    earliest_end = min([last for _, last in scratch.values()], default=0)
    latest_start = max([first for first, _ in scratch.values()], default=0)
    found: dict[str, tuple[int, ...]] = {}
    for scope, members in together.items():
        # Names that change places may each mean the memory of any of them: what is said of one is of all.
        times = [scratch[b] for b in members if b in scratch]
        first = max([first for first, _ in times], default=0)
        last = min([last for _, last in times], default=0)
        if times and (first > earliest_end or last < latest_start):
            found.update(dict.fromkeys([b.name for b in members], (scope, first, last)))
        elif len(members) > 1:
            found.update(dict.fromkeys([b.name for b in members], (scope,)))
    return found


def heading(
    name: str,
    local: Locals,
    buffers: Sequence[Buffer],
    prologue: Sequence[tuple[str, Buffer]],
    numbers_in_memory: Mapping[str, tuple[Buffer, int]],
    body: Sequence[str],
) -> list[str]:
    """The first lines of the function: symbols and memory by name."""
    text = "\n".join(body)
    used = set(re.findall(r"\b[A-Za-z_]\w*(?=[\[,)\n])", text))
    blocks = {block for block, _ in numbers_in_memory.values()}
    lines = [f"def {name}(p, n):"]
    lines += [f"    {symbol} = n[{k}]" for k, symbol in enumerate(local.symbols.values())]
    if local.budget_name:
        lines.append(f"    {local.budget_name} = {POLL_EVERY}")
    numbers = {buffer: number for number, buffer in prologue}
    scopes = scopes_said(local, buffers)
    for slot, buffer in enumerate(buffers):
        place = ", ".join(map(str, (f"p[{slot}]", *scopes.get(buffer.name, ()))))
        view = f"as_{dtype_name(buffer.dtype)}({place})"
        if buffer in numbers:
            lines.append(f"    {numbers[buffer]} = {view}[0]")
        elif buffer.role == "failure":
            lines += [f"    {buffer.name} = {view}", f"    {buffer.name}[0] = 0"]
        elif buffer in blocks:
            lines.append(f"    {buffer.name} = {view}")
            lines += number_lines(numbers_in_memory, buffer, text)
        elif buffer.name in used:
            lines.append(f"    {buffer.name} = {view}")
    return lines
