"""What becomes of a Program on its way to native code: every pass, with counts and times."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from funcgrad.compile.emit.loop_order import loops_of
from funcgrad.compile.measure.part_times import PartTime, part_times, seconds_of
from funcgrad.compile.passes.arranging.dividing import Shared
from funcgrad.compile.passes.arranging.fusion import Joined
from funcgrad.compile.passes.kernel import Kernel
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.passes.scheduling.nests import Nest, Special, bytes_moved
from funcgrad.compile.passes.segments import Reason
from funcgrad.compile.passes.solver_loops import for_kernels
from funcgrad.compile.runtime.binaries import COUNTS, loaded_kernel
from funcgrad.compile.runtime.executable import compiled, evaluated
from funcgrad.ir.presenters import presenter
from funcgrad.ir.program import Program
from funcgrad.transforms.simplify import simplify_program

BYTES_PER_SECOND = 1e10
FLOPS_PER_SECOND = 4e9
CALL_SECONDS = 2e-7
"""What one core of an ordinary machine does; for the estimate of the time."""


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
    sources: tuple[Any, ...] = ()
    """The user's places that it serves, each once."""
    copies: tuple[tuple[Any, Any], ...] = ()
    """The types of arrays that a loop in it copies before it changes them, with the user's lines."""

    @property
    def estimated_seconds(self) -> float:
        """The time it takes by rule of thumb."""
        return max(self.bytes_moved / BYTES_PER_SECOND, self.flops / FLOPS_PER_SECOND)


@dataclass(frozen=True)
class KernelReport:
    """One kernel: its parts, its memory, and its source."""

    name: str
    parts: tuple[Part, ...]
    scratch_bytes: int
    source: str
    seconds: float = math.nan
    """How long a call of it takes, measured."""
    engine: str = "direct"
    """What made machine code of its source."""

    @property
    def calls(self) -> tuple[str, ...]:
        """The functions of BLAS, LAPACK and NumPy that it calls by address, in loops too."""
        found = dict.fromkeys(re.findall(r"\b(\w+)_address\b", self.source))
        return tuple([name for name in found if not name.endswith(("_blas_threads", "_data"))])

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
        return CALL_SECONDS + sum(part.estimated_seconds for part in self.parts)


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
    parts: tuple[PartTime, ...] = ()
    """What runs in a call, in order, and how long each takes."""
    statements: tuple[str, ...] = ()
    """What has become of Python's loops and branches, line by line."""

    @property
    def estimated_seconds(self) -> float:
        """The time of a call by rule of thumb."""
        return sum(kernel.estimated_seconds for kernel in self.kernels)

    def __str__(self) -> str:
        return "\n".join(report_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The report as notebooks show it."""
        html: str = presenter("explanation", "explanation_html")(self)
        return html


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
    run_seconds = seconds_of(made.run, *values)
    whole = [PartTime(None, run_seconds)]
    parts, reasons = part_times(for_kernels(recorded), values) if made.reasons else (whole, [])
    of_kernels = [part.seconds for part in parts if part.equation is None]
    reports = [kernel_report(k, t) for k, t in zip(made.kernels, of_kernels, strict=True)]
    return Explanation(
        name,
        tuple(passes),
        tuple(reports),
        tuple(reasons),
        seconds,
        COUNTS.found - before[1],
        COUNTS.built - before[0],
        run_seconds,
        seconds_of(evaluated, made.program, values),
        tuple(parts),
    )


def kernel_report(kernel: Kernel, seconds: float = math.nan) -> KernelReport:
    """What a kernel consists of, and how long it takes."""
    parts = [part for step in kernel.steps for part in parts_of(step)]
    engine = loaded_kernel(kernel.code, kernel.functions).engine
    return KernelReport(kernel.name, tuple(parts), kernel.scratch_bytes, kernel.source, seconds, engine)


def parts_of(step: Nest | Special | Joined | Shared) -> list[Part]:
    """The parts of a step."""
    if isinstance(step, Joined | Shared):
        return [part for nest in step.nests for part in parts_of(nest)]
    if isinstance(step, Special):
        moved = sum(math.prod(v.shape) * v.buffer.dtype.itemsize for v in {view for view, _ in step.views()})
        return [Part(step.kind, (), 0, moved, step.flops, distinct([step.source]), step.copies)]
    if not step.body:
        return []
    shape = tuple([loop.size for loop in loops_of(step)])
    kind = "loop" if shape else "scalars"
    sources = distinct([statement.source for statement in step.body])
    return [Part(kind, shape, len(step.body), bytes_moved(step), step.flops, sources)]


def distinct(sources: Sequence[Any]) -> tuple[Any, ...]:
    """The places, each line once."""
    return tuple({str(source): source for source in sources if source is not None}.values())


def report_lines(found: Explanation) -> list[str]:
    """The report as text."""
    lines = [f"{found.name}: from Program to native code", "", "passes"]
    for k, each in enumerate(found.passes):
        lines.append(
            f"  {k + 1}. {each.name:<9} {each.equations:>5} equations   {milliseconds(each.seconds)}"
        )
    lines.append(f"  {len(found.passes) + 1}. {'emit':<9} {len(found.kernels):>5} kernels     ")
    lines[-1] += f"{milliseconds(found.compile_seconds)}  ({origin_words(found)})"
    for kernel in found.kernels:
        by = "" if kernel.engine == "direct" else " by Numba"
        head = f"kernel {kernel.name}{by}: {size(kernel.bytes_moved)} moved, {count(kernel.flops)} operations"
        lines += [
            "",
            f"{head}, {size(kernel.scratch_bytes)} of scratch memory, {milliseconds(kernel.seconds)}",
        ]
        for part in kernel.parts:
            over = f" over {' x '.join(map(str, part.shape))}" if part.shape else ""
            inside = f", {part.statements} statements" if part.statements else ""
            lines.append(
                f"  {part.kind}{over}{inside}: {size(part.bytes_moved)}, {count(part.flops)} operations"
            )
            lines += copy_lines(part)
        if kernel.calls:
            lines.append(f"  calls by address: {', '.join(kernel.calls)}")
    if found.statements:
        lines += ["", "statements", *[f"  {line}" for line in found.statements]]
    if found.reasons:
        lines += ["", "left to NumPy"]
        lines += [f"  {line}" for line in left_lines(found)]
    times = [found.estimated_seconds, found.run_seconds, found.evaluated_seconds]
    estimated, measured, evaluated = [milliseconds(t) for t in times]
    words = f"estimated {estimated}, measured {measured}, evaluated by NumPy {evaluated}"
    return [*lines, "", f"time of a call: {words}"]


def copy_lines(part: Part) -> list[str]:
    """Which arrays the loops of a part copy on every trip: something reads the old one after the change."""
    lines = []
    for aval, source in dict.fromkeys(part.copies):
        where = "" if source is None else f", before it is changed ({source})"
        lines.append(f"    copies {aval} on every trip{where}")
    return lines


def origin_words(found: Explanation) -> str:
    """Where the machine code came from."""
    if found.built:
        return "compiled"
    return "found on disk" if found.found_on_disk else "compiled before"


def left_lines(found: Explanation) -> Iterator[str]:
    """Why something is left to NumPy, and the time of all that is left for that reason."""
    times = {part.equation: part.seconds for part in found.parts}
    total: dict[str, float] = {}
    for reason in found.reasons:
        line = reason_line(reason)
        total[line] = total.get(line, 0.0) + times.get(reason.equation, 0.0)
    for line, seconds in total.items():
        yield f"{line}: {milliseconds(seconds)}"


def reason_line(reason: Reason) -> str:
    """Why, and where in the user's text."""
    source = reason.equation.source
    return reason.words if source is None else f"{reason.words} ({source})"


def milliseconds(seconds: float) -> str:
    """A time in a unit that suits it."""
    if math.isnan(seconds):
        return "not measured"
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
