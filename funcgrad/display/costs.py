"""What an equation costs by its types alone: arithmetic operations, and bytes read and written.

Operations are counted as the compiler counts them: an addition is one, and functions are as many additions as
they take the time of. Contractions, convolutions and factorisations have their textbook counts (Golub and Van
Loan, *Matrix Computations*). A loop costs its trips, a choice its dearest branch. Where the trips are not
known, one is counted, and the cost says that it is for each trip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from funcgrad.ir.program import Equation, Program
from funcgrad.ir.text.spelling import subprograms
from funcgrad.types import AnyPrimitive

if TYPE_CHECKING:
    from funcgrad.ir.avals import Aval


@dataclass(frozen=True)
class Cost:
    """Operations and memory traffic. Not `complete`: a loop of unknown length counts as one trip."""

    flops: float = 0.0
    bytes_read: int = 0
    bytes_written: int = 0
    complete: bool = True

    @property
    def bytes_moved(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.bytes_read + other.bytes_read,
            self.bytes_written + other.bytes_written,
            self.complete and other.complete,
        )

    def repeated(self, times: int) -> Cost:
        """The cost of doing it so many times."""
        return Cost(
            self.flops * times,
            self.bytes_read * times,
            self.bytes_written * times,
            self.complete or not times,
        )


def bytes_of(aval: Aval) -> int:
    """The memory that an array of this type takes.

    >>> from funcgrad.ir.avals import Aval
    >>> bytes_of(Aval((3, 4), "float64"))
    96
    """
    return int(aval.size * aval.dtype.itemsize)


def cost_of_program(program: Program, known: dict[Program, Cost] | None = None) -> Cost:
    """The cost of all equations together; `known` remembers Programs that several equations hold.

    >>> from funcgrad.ir.text.parsing import parse
    >>> cost_of_program(parse("program f(x: f64[3]): y: f64[3] = exp(x) z: f64[3] = mul(y, y) return z"))
    Cost(flops=48.0, bytes_read=48, bytes_written=48, complete=True)
    """
    known = {} if known is None else known
    found = known.get(program)
    if found is None:
        found = sum([cost_of(equation, known) for equation in program.equations], Cost())
        known[program] = found
    return found


def cost_of(equation: Equation, known: dict[Program, Cost] | None = None) -> Cost:
    """The cost of one equation."""
    known = {} if known is None else known
    primitive = equation.primitive
    held = [cost_of_program(program, known) for program in _run_by(equation)]
    if held:
        return _HOLDERS.get(primitive.name, _one_after_another)(primitive, held)
    flops = primitive.flops([a.aval for a in equation.inputs], [v.aval for v in equation.outputs])
    if primitive.aliases and not flops:
        return Cost()  # A view of the input, as of a reshape or a slice.
    read = sum([bytes_of(atom.aval) for atom in dict.fromkeys(equation.inputs)])
    written = sum([bytes_of(v.aval) for v in equation.outputs])
    return Cost(flops, read, written)


# -- equations that hold Programs ---------------------------------------------------------------------------


def _run_by(equation: Equation) -> list[Program]:
    """The Programs that an equation runs: of custom rules that is the function, not its derivative."""
    primitive = equation.primitive
    if primitive.name in ("custom_jvp", "custom_vjp"):
        return [primitive.program]
    return list(subprograms(equation))


def _one_after_another(primitive: AnyPrimitive, held: Sequence[Cost]) -> Cost:
    return sum(held, Cost())


def _scanned(scan: AnyPrimitive, held: Sequence[Cost]) -> Cost:
    return held[0].repeated(scan.length)


def _dearest(cond: AnyPrimitive, held: Sequence[Cost]) -> Cost:
    return max(held, key=lambda cost: (cost.flops, cost.bytes_moved))


def _one_trip(loop: AnyPrimitive, held: Sequence[Cost]) -> Cost:
    return sum(held, Cost(complete=False))


_HOLDERS: dict[str, Callable[[Any, Sequence[Cost]], Cost]] = {
    "scan": _scanned,
    "cond": _dearest,
    "while_loop": _one_trip,
    "while_sweeps": _one_trip,
}

# -- numbers for readers ------------------------------------------------------------------------------------


def size_words(n_bytes: float) -> str:
    """A number of bytes in a unit that suits it.

    >>> size_words(24), size_words(80_000), size_words(3.2e9)
    ('24 B', '80 kB', '3.2 GB')
    """
    return f"{_shortened(n_bytes)}B"


def count_words(number: float) -> str:
    """A count in a unit that suits it.

    >>> count_words(7), count_words(12_345), count_words(5e9)
    ('7', '12.3 k', '5 G')
    """
    return _shortened(number).rstrip()


def _shortened(number: float) -> str:
    for unit in ("", "k", "M", "G"):
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.4g} T"
