"""The kernel of a Program as text that refers to nothing of this process: no addresses, threads or signals.

Sizes and numbers stand in it as they are, arrays are indexed by their axes where that says the same, and
memory is asked for by name. It holds for one set of sizes: `sizes` makes one text of several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.export.by_numpy import is_by_numpy, is_sampled, lower_by_numpy
from funcgrad.compile.export.calls import CALLED, with_words_of_numpy
from funcgrad.compile.export.indices import Indexing
from funcgrad.compile.export.library import is_written_out
from funcgrad.compile.export.lines import is_of_lines, lower_lines
from funcgrad.compile.export.mathematics import is_known
from funcgrad.compile.export.special_functions import is_of_scipy, special_template
from funcgrad.compile.export.threads import IN_ANY_ORDER, Division, chunked
from funcgrad.compile.export.without_elements import is_of_nothing, lower_nothing
from funcgrad.compile.passes.arranging.dividing import CHUNKS
from funcgrad.compile.passes.arranging.fusion import Joined
from funcgrad.compile.passes.pipeline import NAMES_OF_KERNELS, inputs_defined, rewritten, scheduled
from funcgrad.compile.passes.rewriting.uses import count_uses
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.nests import Let, Nest
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ir.text.numpy_source import number_source, scalar_type
from funcgrad.ops.random.draws import SampledSpecial
from funcgrad.ops.specials.table import Special
from funcgrad.types import Number

RESERVED = (
    *(
        "math",
        "np",
        "numba",
        "threads",
        "fma",
        "bits_of",
        "float_of",
        "grown",
        "part",
        "rows_of",
        "every",
        "product",
        "float64",
        "inf",
        "nan",
    ),
    *[f"n{k}" for k in range(10)],
    *[f"argument{k}" for k in range(32)],
    "n",
)
"""Names that the modules around use."""


_LOOP = re.compile(r"(\w+)_f(?:32|64)(?:_data)?")
"""What addresses of NumPy's loops are called."""


class PortableLocals(Locals):
    """Names and memory of a text in which numbers stand as they are."""

    portable = True

    def symbol(self, number: int) -> str:
        """The number itself."""
        return str(number)

    def number(self, value: Number, dtype: np.dtype[Any]) -> str:
        """The number itself."""
        text = number_source(value, np.dtype(dtype))
        if np.dtype(dtype).char in "dDl" or np.dtype(dtype).kind == "b":
            return f"({text})" if text.startswith("-") else text
        return f"{scalar_type(np.dtype(dtype))}({text})"

    def constant(self, name: str, value: int) -> str:
        """Addresses mean nothing elsewhere; what calls the products of BLAS is rewritten."""
        if name[1:] in ("gemm", "gemv"):
            return "0"
        match = _LOOP.fullmatch(name)
        if match is not None:
            return f"np.{match[1]}"
        raise NotLowered(f"{name} is a routine of this process")

    def serial_blas(self) -> None:
        """Nothing: there is no pool of threads."""

    def signals(self) -> Buffer:
        """There are none to ask for."""
        raise NotLowered("a loop that asks for signals")


class PortableWriter(Writer):
    """Writes steps with arrays indexed by their axes."""

    def __init__(self, local: Locals, division: Division | None = None) -> None:
        super().__init__(local)
        self.indexing = Indexing()
        self.division = division
        self.any_order = False
        """Whether the next loop is a long one whose turns may run in any order."""
        self.rows: set[Buffer] = set()
        """Memory of one row, which is made where it is used."""

    def steps(self, steps: Sequence[Any]) -> None:
        """All steps; mathematics of single precision is that of double precision, rounded."""
        for place, step in enumerate(steps):
            for nest in getattr(step, "nests", [step]):
                for k, s in enumerate(getattr(nest, "body", ())):
                    if isinstance(s, Let) and s.dtype == np.float32 and calls_mathematics(s.template):
                        nest.body[k] = s._replace(template=f"f32({s.template})")
            division = self.division if self._indent == 1 else None
            is_long = isinstance(step, Nest | Joined) and division is not None and division.takes(place, step)
            if division is not None and division.threads and is_long:
                chunked(self, step, division.least(place), self.row, self.turns)
            else:
                self.any_order = is_long
                super().steps([step])
                self.any_order = False

    def row(self, buffer: Buffer, size: int) -> str:
        """Memory of one row, of which every chunk of a loop has its own."""
        self.rows.add(buffer)
        self.indexing.keep_flat(buffer)
        return f"{buffer.name} = {empty((size,), buffer.dtype)}"

    def turns(self, variable: str, size: int) -> AbstractContextManager[None]:
        """The turns of one chunk of ``range(size)``, of which LLVM is to see that none is negative.

        By a condition: it sees it of ``max(first, 0)``, too, but the loop that it then makes runs at the pace
        of single numbers.
        """
        self.indexing.extents[variable] = size
        n = self.local.symbol(size)
        self.line(f"first, last = chunk * {n} // {CHUNKS}, (chunk + 1) * {n} // {CHUNKS}")
        return self.block(f"for {variable} in range(0 if first < 0 else first, last):")

    def line(self, text: str) -> None:
        """One line; calls of BLAS are products of NumPy's."""
        if CALLED.search(text):
            buffers = {buffer.name: buffer for buffer in self.local.buffers}
            text = with_words_of_numpy(text, buffers, self.indexing)
        super().line(text)

    @property
    def is_outermost(self) -> bool:
        """Never: steps that are divided between threads elsewhere are whole here."""
        return False

    def loop(self, variable: str, size: int) -> AbstractContextManager[None]:
        """``for variable in range(size)``, whose range indices may rely on."""
        self.indexing.extents[variable] = size
        mark, self.any_order = IN_ANY_ORDER if self.any_order else "", False
        return self.block(f"for {variable} in range({self.local.symbol(size)}):{mark}")

    def element(self, view: View, variables: Sequence[str]) -> str:
        """An element of a view: its index is decided when all of them are known."""
        flat = self.index(view, variables)
        if view.buffer.role == "index":
            return f"({flat})" if " " in flat else flat
        return self.indexing.element(view, variables, flat)


class PortableScheduler(Scheduler):
    """Schedules what kernels leave to LAPACK or to the evaluator as calls of ``np.linalg``."""

    def lower(self, equation: Equation) -> None:
        """Schedule one equation; raises NotLowered."""
        self._source = equation.source
        try:
            self.written_out(equation)
        except NotLowered as error:
            if is_of_nothing(equation):
                lower_nothing(self, equation)
            else:
                raise NotLowered(equation.primitive.not_exported or str(error)) from error

    def written_out(self, equation: Equation) -> None:
        """Schedule one equation of elements; raises NotLowered."""
        primitive = equation.primitive
        if is_of_lines(primitive):
            lower_lines(self, equation)
        elif isinstance(primitive, SampledSpecial):
            self.pointwise(equation)
        elif is_by_numpy(equation) and (is_sampled(primitive) or not has_loops(equation)):
            lower_by_numpy(self, equation)
        else:
            super().lower(equation)

    def pointwise(self, equation: Equation) -> None:
        """An equation computed element by element, by NumPy's or SciPy's function if kernels have no text."""
        primitive = equation.primitive
        try:
            if isinstance(primitive, SampledSpecial) or (
                isinstance(primitive, Special) and primitive.at_address
            ):
                raise NotLowered(f"scipy.special.{primitive.function} is a routine of this process")
            super().pointwise(equation)
        except NotLowered:
            if isinstance(primitive, Special):
                text = special_template(primitive, [x.aval.dtype for x in equation.inputs])
            elif primitive.exported:
                (text,) = primitive.exported_texts([f"{{{k}}}" for k in range(len(equation.inputs))])
            else:
                raise
            self.elementwise(equation, equation.outputs[0], text, equation.inputs)


def has_loops(equation: Equation) -> bool:
    """Whether an equation by itself becomes loops."""
    local = PortableLocals((*NAMES_OF_KERNELS, *RESERVED))
    inputs = tuple(dict.fromkeys([a for a in equation.inputs if isinstance(a, Var)]))
    probe = Program(inputs, (), (equation,), equation.outputs, "probe")
    scheduler = Scheduler(local, count_uses(probe))
    inputs_defined(scheduler, probe)
    try:
        scheduler.run(probe)
    except NotLowered:
        return False
    return True


@dataclass(frozen=True)
class PortableText:
    """The body of a function of flat inputs."""

    lines: list[str]
    inputs: list[tuple[str, bool]]
    """The name of each input, and whether it is read as a flat array."""
    captured: dict[str, tuple[Any, bool]]
    """Arrays by name, and whether they are read as flat ones."""
    results: list[str]
    may_fail: bool


def portable_text(program: Program, division: Division | None = None) -> PortableText:
    """A Program as the body of a function; raises NotLowered for what needs more than text.

    A `division` says which loops are long, and whether they run on Numba's threads; without one, none is.
    """
    schedule = scheduled(rewritten(program), PortableLocals, PortableScheduler, RESERVED)
    writer = PortableWriter(schedule.local, division)
    writer.steps(schedule.steps)
    if division is not None:
        division.decide()
    return assembled(schedule.program, schedule.local, writer, schedule.numbers)


def assembled(
    program: Program, local: Locals, writer: PortableWriter, numbers: Sequence[tuple[str, Buffer]]
) -> PortableText:
    """The text with its memory."""
    lines = writer.indexing.resolved(writer.lines, local.buffers)
    used = set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))
    name_of = {buffer: name for name, buffer in numbers}
    inputs: list[tuple[str, bool]] = [("", False)] * len(program.inputs)
    results: list[str] = [""] * len(program.outputs)
    captured: dict[str, tuple[Any, bool]] = {}
    head: list[str] = []
    may_fail = False
    for buffer in local.buffers:
        flat = writer.indexing.is_flat(buffer)
        if buffer.role == "input":
            inputs[buffer.source] = (name_of.get(buffer, buffer.name), flat)
        elif buffer.role == "captured":
            name = name_of.get(buffer, buffer.name)
            if name in used:
                captured[name] = np.asarray(buffer.source), flat
        elif buffer.role in ("output", "scratch"):
            shape = buffer.shape if not flat and buffer.shape else (buffer.size,)
            if (buffer.name in used and buffer not in writer.rows) or buffer.role == "output":
                head.append(f"    {buffer.name} = {empty(shape, buffer.dtype)}")
            if buffer.role == "output":
                results[buffer.source] = result_text(buffer, flat)
        elif buffer.role == "failure":
            may_fail = True
            head.append(f"    {buffer.name} = np.zeros(1, np.int64)")
    body = [in_python(line) for line in lines]
    check_calls(body)
    body, results = without_cells(program, local, [*head, *body], results)
    return PortableText(body, inputs, captured, results, may_fail)


BUILT_IN = ("abs", "complex", "len", "max", "min", "range")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")


def check_calls(lines: Sequence[str]) -> None:
    """Raise NotLowered for a word of the kernel language that has no form outside of kernels."""
    code = "\n".join([line.partition("#")[0] for line in lines])
    for name in dict.fromkeys(_CALL.findall(code)):
        if name not in BUILT_IN and not is_written_out(name) and not is_of_scipy(name):
            raise NotLowered(f"{name} is not written out")


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> str:
    """Memory for an array."""
    size = str(shape[0]) if len(shape) == 1 else f"({', '.join(map(str, shape))})"
    return f"np.empty({size})" if dtype == np.float64 else f"np.empty({size}, {scalar_type(dtype)})"


def result_text(buffer: Buffer, flat: bool) -> str:
    """A result as the function returns it."""
    if not buffer.shape:
        return f"{buffer.name}[0]"
    if flat and len(buffer.shape) > 1:
        return f"{buffer.name}.reshape(({', '.join(map(str, buffer.shape))}))"
    return buffer.name


def without_cells(
    program: Program, local: Locals, lines: list[str], results: list[str]
) -> tuple[list[str], list[str]]:
    """Results of one number that are stored once become locals."""
    found = list(results)
    for buffer in local.buffers:
        if buffer.role != "output" or buffer.shape:
            continue
        cell = f"{buffer.name}[0]"
        head = f"    {buffer.name} = {empty((1,), buffer.dtype)}"
        uses = [line for line in lines if re.search(rf"\b{buffer.name}\b", line)]
        stores = [line for line in uses if line.startswith(f"    {cell} = ")]
        if len(uses) == 2 and len(stores) == 1 and head in uses:
            value = stores[0].partition(" = ")[2]
            lines = [line for line in lines if line is not head and line != head]
            if lines[-1] == stores[0] and re.fullmatch(r"\w+", value):
                lines = lines[:-1]
                found[buffer.source] = value
            else:
                lines = [line.replace(f"{cell} = ", f"{buffer.name} = ") for line in lines]
                found[buffer.source] = buffer.name
    return lines, found


_WORDS = {
    **{f"i{bits}": f"np.int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"np.uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"np.float{bits}" for bits in (32, 64)},
    **{f"c{bits}": f"np.complex{bits}" for bits in (64, 128)},
    "boolean": "np.bool_",
    "fabs": "abs",
    "conjugate": "np.conj",
    "copysign": "math.copysign",
    **{name: f"np.{name}" for name in ("floor", "ceil", "rint", "trunc", "sqrt")},
    "shifted": "part",
}
_WORD = re.compile(rf"(?<![\w.])({'|'.join(_WORDS)})\(")
_NUMBER = re.compile(r"np\.float64\((-?\d[\d.e+-]*)\)")
_POWER = re.compile(r"\bpower\(([\w.]+(?:\[[^\]]*\])?), (-?\d+)\)")


def in_python(line: str) -> str:
    """A line of the kernel language with the names that Python, NumPy and Numba have for its words."""
    code, mark, comment = line.partition("#")
    if not code.strip():
        return line
    code = re.sub(r"\bNAN\b", "np.nan", re.sub(r"\bINF\b", "np.inf", code))
    code = _POWER.sub(r"\1 ** \2", code).replace("call_number(gammaln, ", "math.lgamma(")
    code = _WORD.sub(lambda match: f"{_WORDS[match[1]]}(", code)
    code = code.replace("np.int64(np.int64(0))", "np.int64(0)")
    code = _NUMBER.sub(lambda match: float_text(match[1]), code)
    return code + mark + comment


def float_text(text: str) -> str:
    """A number of double precision as Python writes it."""
    found = repr(float(text))
    return f"({found})" if found.startswith("-") else found


def calls_mathematics(text: str) -> bool:
    """Whether a line calls a function that is written out for double precision only."""
    return any(is_known(name) for name in re.findall(r"\b([a-z_]\w*)\(", text))
