"""What becomes of a Program on its way to native code: every pass, with counts and times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from funcgrad.compile.executable import Executable, compiled, evaluated
from funcgrad.compile.expand import expand
from funcgrad.compile.fusion import Joined
from funcgrad.compile.kernel import Kernel
from funcgrad.compile.loops import loops_of
from funcgrad.compile.native.binaries import COUNTS
from funcgrad.compile.nests import Nest, Special
from funcgrad.compile.parallel import Shared
from funcgrad.compile.segments import Reason
from funcgrad.compile.traffic import bytes_moved
from funcgrad.ir.program import Program
from funcgrad.transforms.simplify import simplify_program

BYTES_PER_SECOND = 1e10
FLOPS_PER_SECOND = 4e9
CALL_SECONDS = 2e-7
"""What one core of an ordinary machine does; for the estimate of the time."""

REPEATS = 5


@dataclass(frozen=True)
class Pass:
    """A Program after one pass, and how long the pass took."""

    name: str
    program: Program
    seconds: float

    @property
    def equations(self) -> int:
        """Equations of the Program itself; those of loops' bodies are inside one of them."""
        return len(self.program.equations)


@dataclass(frozen=True)
class Part:
    """A step of a kernel: its kind, what it runs over, and what it costs."""

    kind: str
    shape: tuple[int, ...]
    statements: int
    bytes_moved: int
    flops: float


@dataclass(frozen=True)
class KernelReport:
    """One kernel: its parts, its memory, and its source."""

    name: str
    parts: tuple[Part, ...]
    scratch_bytes: int
    source: str

    @property
    def bytes_moved(self) -> int:
        """Bytes that are read and written."""
        return sum(part.bytes_moved for part in self.parts)

    @property
    def flops(self) -> float:
        """Arithmetic operations."""
        return sum(part.flops for part in self.parts)

    @property
    def estimated_seconds(self) -> float:
        """The time of a call by rule of thumb."""
        return CALL_SECONDS + sum(
            max(part.bytes_moved / BYTES_PER_SECOND, part.flops / FLOPS_PER_SECOND) for part in self.parts
        )


@dataclass(frozen=True)
class Explanation:
    """Every pass from the recorded Program to native code. Its text is a report."""

    name: str
    passes: tuple[Pass, ...]
    kernels: tuple[KernelReport, ...]
    reasons: tuple[Reason, ...]
    compile_seconds: float
    found_on_disk: int
    built: int
    run_seconds: float = field(default=math.nan)
    evaluated_seconds: float = field(default=math.nan)

    @property
    def estimated_seconds(self) -> float:
        """The time of a call by rule of thumb."""
        return sum(kernel.estimated_seconds for kernel in self.kernels)

    def __str__(self) -> str:
        return "\n".join(report_lines(self))

    __repr__ = __str__


def explanation(
    name: str, record: Callable[[], Program], values: Sequence[Any], *, strict: bool = True
) -> Explanation:
    """Record, transform, compile and run, and note what happens."""
    start = perf_counter()
    recorded = record()
    passes = [Pass("record", recorded, perf_counter() - start)]
    program = recorded
    for label, transform in (
        ("simplify", simplify_program),
        ("expand", expand),
        ("simplify", simplify_program),
    ):
        start = perf_counter()
        program = transform(program)
        passes.append(Pass(label, program, perf_counter() - start))
    before = COUNTS.built, COUNTS.found
    start = perf_counter()
    made = compiled(recorded, strict=strict)
    seconds = perf_counter() - start
    return Explanation(
        name,
        tuple(passes),
        tuple([kernel_report(kernel) for kernel in made.kernels]),
        tuple(made.reasons),
        seconds,
        COUNTS.found - before[1],
        COUNTS.built - before[0],
        *timed(made, values),
    )


def timed(made: Executable, values: Sequence[Any]) -> tuple[float, float]:
    """The best of a few runs: compiled, and by NumPy."""
    return (
        min(seconds_of(lambda: made.run(*values)) for _ in range(REPEATS)),
        min(seconds_of(lambda: evaluated(made.program, values)) for _ in range(REPEATS)),
    )


def seconds_of(run: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def kernel_report(kernel: Kernel) -> KernelReport:
    """What a kernel consists of."""
    parts = [part for step in kernel.steps for part in parts_of(step)]
    return KernelReport(kernel.name, tuple(parts), kernel.scratch_bytes, kernel.source)


def parts_of(step: Nest | Special | Joined | Shared) -> list[Part]:
    """The parts of a step."""
    if isinstance(step, Joined | Shared):
        return [part for nest in step.nests for part in parts_of(nest)]
    if isinstance(step, Special):
        moved = sum(math.prod(v.shape) * v.buffer.dtype.itemsize for v in {view for view, _ in step.views()})
        return [Part(step.kind, (), 0, moved, step.flops)]
    if not step.body:
        return []
    shape = tuple([loop.size for loop in loops_of(step)])
    kind = "loop" if shape else "scalars"
    return [Part(kind, shape, len(step.body), bytes_moved(step), step.flops)]


def report_lines(found: Explanation) -> list[str]:
    """The report as text."""
    lines = [f"{found.name}: from Program to native code", "", "passes"]
    for k, each in enumerate(found.passes):
        lines.append(
            f"  {k + 1}. {each.name:<9} {each.equations:>5} equations   {milliseconds(each.seconds)}"
        )
    where = "found on disk" if found.found_on_disk and not found.built else "compiled"
    lines.append(f"  {len(found.passes) + 1}. {'emit':<9} {len(found.kernels):>5} kernels     ")
    lines[-1] += f"{milliseconds(found.compile_seconds)}  ({where})"
    for kernel in found.kernels:
        head = f"kernel {kernel.name}: {size(kernel.bytes_moved)} moved, {count(kernel.flops)} operations"
        lines += ["", f"{head}, {size(kernel.scratch_bytes)} of scratch memory"]
        for part in kernel.parts:
            over = f" over {' x '.join(map(str, part.shape))}" if part.shape else ""
            inside = f", {part.statements} statements" if part.statements else ""
            lines.append(
                f"  {part.kind}{over}{inside}: {size(part.bytes_moved)}, {count(part.flops)} operations"
            )
    if found.reasons:
        lines += ["", "left to NumPy"]
        seen = dict.fromkeys(reason_line(reason) for reason in found.reasons)
        lines += [f"  {line}" for line in seen]
    times = [found.estimated_seconds, found.run_seconds, found.evaluated_seconds]
    estimated, measured, evaluated = [milliseconds(t) for t in times]
    words = f"estimated {estimated}, measured {measured}, evaluated by NumPy {evaluated}"
    return [*lines, "", f"time of a call: {words}"]


def reason_line(reason: Reason) -> str:
    """Why, and where in the user's text."""
    source = reason.equation.source
    return reason.words if source is None else f"{reason.words} ({source})"


def milliseconds(seconds: float) -> str:
    """A time in a unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def size(n_bytes: float) -> str:
    """A number of bytes in a unit that suits it."""
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.2f} GB"


def count(number: float) -> str:
    """A count, shortened."""
    for unit in ("", "k", "M"):
        if number < 1000:
            return f"{number:.0f}{unit}" if not unit else f"{number:.1f}{unit}"
        number /= 1000
    return f"{number:.2f}G"
