"""What an equation costs by its types alone: arithmetic operations, and bytes read and written.

Operations are counted as the compiler counts them: an addition is one, and functions are as many additions as
they take the time of. Contractions, convolutions and factorisations have their textbook counts (Golub and Van
Loan, *Matrix Computations*). A loop costs its trips, a choice its dearest branch. Where the trips are not
known, one is counted, and the cost says that it is for each trip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from funcgrad.ir.program import Equation, Program
from funcgrad.ir.text.spelling import subprograms
from funcgrad.ops.families import Pointwise, Reduction

__all__ = ["Cost", "bytes_of", "cost_of", "cost_of_program", "count_words", "size_words"]


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


def bytes_of(aval: Any) -> int:
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
    flops = float(_flops(equation))
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


def _one_after_another(primitive: Any, held: Sequence[Cost]) -> Cost:
    return sum(held, Cost())


def _scanned(scan: Any, held: Sequence[Cost]) -> Cost:
    return held[0].repeated(scan.length)


def _dearest(cond: Any, held: Sequence[Cost]) -> Cost:
    return max(held, key=lambda cost: (cost.flops, cost.bytes_moved))


def _one_trip(loop: Any, held: Sequence[Cost]) -> Cost:
    return sum(held, Cost(complete=False))


_HOLDERS: dict[str, Callable[[Any, Sequence[Cost]], Cost]] = {
    "scan": _scanned,
    "cond": _dearest,
    "while_loop": _one_trip,
    "while_sweeps": _one_trip,
}

# -- the others -------------------------------------------------------------------------------------------


def _flops(equation: Equation) -> float:
    primitive = equation.primitive
    counted = _COUNTS.get(primitive.name)
    if counted is not None:
        return counted(equation)
    if primitive.name in _CUBIC:
        return _CUBIC[primitive.name] * _cube(equation)
    out = equation.outputs[0].aval if equation.outputs else None
    if isinstance(primitive, Pointwise):
        return float(primitive.cost * (out.size if out is not None else 0))
    if isinstance(primitive, Reduction):
        return float(primitive.cost * equation.inputs[0].aval.size)
    return 0.0


def _contraction(equation: Equation) -> float:
    labels = equation.primitive.labels
    sizes: dict[str, int] = {}
    for atom, names in zip(equation.inputs, (labels.x, labels.y), strict=True):
        sizes.update(zip(names, atom.aval.shape, strict=True))
    return 2.0 * math.prod(sizes.values()) * _parts(equation)


def _convolution(equation: Equation) -> float:
    kernel = equation.inputs[1].aval.shape
    return 2.0 * equation.outputs[0].aval.size * math.prod(kernel[2:]) * _parts(equation)


def _parts(equation: Equation) -> int:
    """Products of complex numbers take four times as many operations."""
    return 4 if equation.outputs[0].aval.dtype.kind == "c" else 1


def _input_size(equation: Equation) -> float:
    return float(equation.inputs[0].aval.size)


def _output_size(equation: Equation) -> float:
    return float(equation.outputs[0].aval.size)


def _added_size(equation: Equation) -> float:
    return float(equation.inputs[1].aval.size)


def _window(equation: Equation) -> float:
    return _output_size(equation) * float(math.prod(equation.primitive.window))


def _sums_of_windows(equation: Equation) -> float:
    sizes = sorted([atom.aval.size for atom in equation.inputs])
    return 2.0 * _output_size(equation) * sizes[0]


def _exponentials(equation: Equation) -> float:
    return 18.0 * _input_size(equation)


def _recurrence(equation: Equation) -> float:
    return 2.0 * _output_size(equation)


def _comparisons(equation: Equation) -> float:
    x = equation.inputs[0].aval
    axis = equation.primitive.params.get("axis", -1)
    n = x.shape[axis] if x.ndim and isinstance(axis, int) else x.size
    return float(x.size * math.log2(max(n, 2)))


def _search(equation: Equation) -> float:
    table, sought = equation.inputs[0].aval, equation.inputs[1].aval
    return float(sought.size * math.log2(max(table.shape[-1] if table.ndim else 1, 2)))


def _transform(equation: Equation) -> float:
    params = equation.primitive.params
    axes = params["axes"] if "axes" in params else (params["axis"],)
    larger = max((equation.inputs[0].aval, equation.outputs[0].aval), key=_size)
    return 5.0 * larger.size * math.log2(max(math.prod([larger.shape[a] for a in axes]), 2))


def _size(aval: Any) -> int:
    return int(aval.size)


def _triangular(equation: Equation) -> float:
    n = equation.inputs[0].aval.shape[-1]
    return float(n) * _output_size(equation) * _parts(equation)


def _solve_factored(equation: Equation) -> float:
    return 2.0 * _triangular(equation)


def _random(equation: Equation) -> float:
    return 50.0 * _output_size(equation)


def _special(equation: Equation) -> float:
    return 40.0 * max([atom.aval.size for atom in (*equation.inputs, *equation.outputs)])


def _cube(equation: Equation) -> float:
    """The examples of a stack times ``m n min(m, n)``."""
    *batch, m, n = (1, 1, *equation.inputs[0].aval.shape)
    return float(math.prod(batch) * m * n * min(m, n)) * _parts(equation)


_CUBIC = {
    "cholesky": 1 / 3,
    **dict.fromkeys(("lu", "lu_factors", "det", "slogdet"), 2 / 3),
    "eigvalsh": 4 / 3,
    **dict.fromkeys(("inv", "det_with_cofactors", "cofactors_along"), 2.0),
    **dict.fromkeys(("qr", "svdvals"), 8 / 3),
    **dict.fromkeys(("eigh", "eigh_with_coupling"), 9.0),
    "eigvals": 10.0,
    **dict.fromkeys(("svd", "svd_with_coupling"), 20.0),
    **dict.fromkeys(("pinv", "polar_factor"), 22.0),
    **dict.fromkeys(("eig", "schur", "schur_turn", "matrix_function"), 25.0),
    "solve_sylvester": 60.0,
}
"""Operations over ``n**3``, by LAPACK's algorithm."""

_COUNTS: dict[str, Callable[[Equation], float]] = {
    **dict.fromkeys(("dot_general", "strong_zero_dot"), _contraction),
    **dict.fromkeys(("convolution", "strong_zero_convolution"), _convolution),
    **dict.fromkeys(("convolve", "correlate"), _sums_of_windows),
    **dict.fromkeys(("reduce_sum", "cumsum", "cumprod", "cummax", "cummin", "argmax", "argmin"), _input_size),
    **dict.fromkeys(("softmax", "log_softmax", "logsumexp"), _exponentials),
    **dict.fromkeys(("scatter", "add_to_slice", "add_along_axis"), _added_size),
    **dict.fromkeys(("sort", "argsort"), _comparisons),
    **dict.fromkeys(("fft", "real_fft", "hermitian_fft"), _transform),
    **dict.fromkeys(("random_bits", "random_uniform", "random_normal"), _random),
    **dict.fromkeys(("random_log_gamma", "random_poisson", "random_binomial"), _random),
    **dict.fromkeys(("special", "gammainc_by_parameter", "betainc_by_parameters"), _special),
    "linear_recurrence": _recurrence,
    "searchsorted": _search,
    "solve_factored": _solve_factored,
    "triangular_solve": _triangular,
    "window_argmax": _window,
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
