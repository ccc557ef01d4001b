"""Lowering of gamma, Poisson and binomial samples: rounds of proposals, as `funcgrad.ops.random.rejection`.

Each round goes through the rows that were not accepted, some hundred at a time: words by Philox from where
the stream stands, loops of NumPy's for logarithms and the like, and arithmetic between them that nothing
fuses. SciPy's ``gammaln`` is a C function at an address. Parameters that no distribution has set the flag
upon which the evaluator runs the program, and raises.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.templates import Names, write_text
from funcgrad.compile.lower.numpy_loops import address_of_function
from funcgrad.compile.lower.random.draws import WORK, Keys, loop_names, part_of, place
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation
from funcgrad.ops.random.random_words import SAMPLES
from funcgrad.ops.random.rejection import FEW, LARGEST, RandomBinomial, RandomLogGamma, RandomPoisson

CHUNK = 256
"""Rows that are gone through at a time: what is known of them stays in the nearest cache."""

DOUBLE = np.dtype(np.float64)


class Rejected(NamedTuple):
    """The draw of one key: its memory, and what its text may say."""

    writer: Writer
    names: Names
    key: str
    words: tuple[View, ...]
    loops: dict[str, tuple[str, str]]

    def write(self, text: str) -> None:
        """Lines of a text, in which ``$word`` is a name, and ``@log x`` calls NumPy's loop on a room."""
        for line in text.strip("\n").split("\n"):
            bare = line.lstrip()
            indent = line[: len(line) - len(bare)]
            if bare.startswith("@draw"):
                for k in range(int(bare.split()[1])):
                    self.write_words(indent, k)
            elif bare.startswith("@"):
                name, room = bare[1:].split()
                address, data = self.loops[name]
                given = self.names[room]
                call = f"numpy_unary({address}, {data}, {given}, 8, {given}, 8, {self.names['length']})"
                self.writer.line(indent + call)
            else:
                write_text(self.writer, line, self.names)

    def write_words(self, indent: str, k: int) -> None:
        """The words of the k-th uniform number of each row: they begin anywhere in a block of four."""
        names, memory = self.names, self.words[k].buffer.name
        offset, skip, line = names[f"offset{k}"], names[f"skip{k}"], self.writer.line
        before = f"{k} * {names['left']}" if k else ""
        line(f"{indent}{offset} = {place(names['position'], before, names['first'])}")
        line(f"{indent}{skip} = {offset} % 4")
        count = f"{skip} + {names['length']}"
        line(f"{indent}philox({self.key}, {offset} // 4, {SAMPLES}, {memory}, {count})")
        digits = f"f64(i64({memory}[{skip} + {names['j']}] >> u64(12)))"
        names[f"u{k}"] = f"(({digits} + 0.5) * {0.5**52!r})"


def filled(text: str, **parts: str) -> str:
    r"""A text with parts in place of its words: one that is a line by itself is lines, or none.

    >>> print(filled("if {test}:\n    {lines}", test="x", lines="y = 1\nz = 2"))
    if x:
        y = 1
        z = 2
    """
    found: list[str] = []
    for line in text.strip("\n").split("\n"):
        word = line.strip()
        if word.startswith("{") and word[1:-1] in parts:
            before = line[: len(line) - len(word)]
            found += [before + x for x in parts[word[1:-1]].split("\n") if x]
        else:
            found.append(line.format(**parts))
    return "\n".join(found)


ROUNDS = """
while $left > 0:
    $rest = 0
    for $first in range(0, $left, $chunk):
        $length = min($chunk, $left - $first)
        {proposals}
    $position = $position + {words} * $left
    $left = $rest
"""
"""Rounds of proposals for the rows that are left."""

REJECTED = """
else:
    $rows[$rest] = $row
    $rest = $rest + 1
"""

# -- gamma --------------------------------------------------------------------------------------------------

GAMMA_PROPOSALS = filled(
    """
@draw 3
for $j in range($length):
    $row = $rows[$first + $j]
    $a = $shape
    $third = select($a < 1.0, $a + 1.0, $a) - 0.3333333333333333
    $thirds[$j] = $third
    $logs[$j] = $third
    $xs[$j] = $u0
    $turns[$j] = 6.283185307179586 * $u1
    $levels[$j] = $u2
@log logs
@log xs
@cos turns
@log levels
for $j in range($length):
    $x = sqrt(-2.0 * $xs[$j]) * $turns[$j]
    $cube = rounded_sum(1.0, (1.0 / sqrt(9.0 * $thirds[$j])) * $x)
    $xs[$j] = $x
    $turns[$j] = $cube
    $vs[$j] = maximum($cube, 0.0)
@log vs
for $j in range($length):
    $vs[$j] = $vs[$j] * 3.0
    $powers[$j] = $vs[$j]
@exp powers
for $j in range($length):
    $row = $rows[$first + $j]
    $third = $thirds[$j]
    $x = $xs[$j]
    $v = $vs[$j]
    $bound = rounded_sum(0.5 * $x * $x, $third * rounded_sum(1.0 - $powers[$j], $v))
    $inside = ($turns[$j] > 0.0) & ($levels[$j] < $bound)
    if $inside | (not ($third > 0.0)) | ($third == INF):
        $out = select($third > 0.0, rounded_sum($v, $logs[$j]), NAN)
    {rejected}
""",
    rejected=REJECTED,
)

GAMMA = filled(
    """
for $row in range($n):
    $rows[$row] = $row
$position = 0
$left = $n
{rounds}
for $row in range($n):
    if $shape < 1.0:
        $rows[$left] = $row
        $left = $left + 1
for $first in range(0, $left, $chunk):
    $length = min($chunk, $left - $first)
    @draw 1
    for $j in range($length):
        $xs[$j] = $u0
    @log xs
    for $j in range($length):
        $row = $rows[$first + $j]
        $out = rounded_sum($out, $xs[$j] / $shape)
for $row in range($n):
    $a = $shape
    if not ($a > 0.0):
        $out = select($a == 0.0, -INF, NAN)
    if $a == INF:
        $out = INF
""",
    rounds=filled(ROUNDS, proposals=GAMMA_PROPOSALS, words="3"),
)

# -- counts -------------------------------------------------------------------------------------------------

COUNTED_UP = """
for $j in range($length):
    $row = $rows[$first + $j]
    {parameters}
    $probability = $levels[$j]
    $remaining = $u0 - $probability
    $k = 0
    while $remaining >= 0.0:
        $k = $k + 1
        $probability = $probability * ({ratio})
        if $probability > 0.0:
            $remaining = rounded_difference($remaining, $probability)
        else:
            $remaining = -1.0
    {store}
"""

TRANSFORMED = """
$u = $u0 - 0.5
$v = $u1
$us = 0.5 - fabs($u)
$k_found = floor(rounded_sum((2.0 * $a / $us + $b) * $u, $centre))
$counts[$j] = $k_found
$levels[$j] = $v / ($a / ($us * $us) + $b) * $scale
$states[$j] = 0.0
if ({never}) | (($us < 0.013) & ($v > $us)):
    $states[$j] = 2.0
if ($us >= 0.07) & ($v <= $squeeze){possible}:
    $states[$j] = 1.0
"""

COUNTS = """
$known = True
$left = 0
for $row in range($n):
    $known = $known & {valid}
    {start}
    if {few}:
        $rows[$left] = $row
        $left = $left + 1
if not $known:
    $left = 0
$position = 0
for $first in range(0, $left, $chunk):
    $length = min($chunk, $left - $first)
    @draw 1
    {levels}
    @exp levels
    {counted_up}
$position = $left
$left = 0
for $row in range($n):
    {each}
    if $known & {many}:
        $rows[$left] = $row
        $left = $left + 1
{rounds}
if not $known:
    $failed[0] = 1
"""
"""Rows of few expected are counted up, some at a time; for those of many come rounds of proposals."""

POISSON_PROPOSALS = filled(
    """
@draw 2
for $j in range($length):
    $row = $rows[$first + $j]
    $b = rounded_sum(0.931, 2.53 * sqrt($mean))
    $a = rounded_sum(-0.059, 0.02483 * $b)
    $centre = $mean + 0.43
    $squeeze = 0.9277 - 3.6224 / ($b - 2.0)
    $scale = 1.1239 + 1.1328 / ($b - 3.4)
    $logs[$j] = $mean
    {transformed}
@log levels
@log logs
for $j in range($length):
    $row = $rows[$first + $j]
    $found = $counts[$j]
    $state = $states[$j]
    if $state == 0.0:
        $bound = rounded_difference($found * $logs[$j], $mean) - call_number($gammaln, $found + 1.0)
        if $levels[$j] <= $bound:
            $state = 1.0
    if $state == 1.0:
        $out = i64($found)
    {rejected}
""",
    transformed=TRANSFORMED.format(never="$k_found < 0.0", possible=""),
    rejected=REJECTED,
)

POISSON = filled(
    COUNTS,
    valid="($mean >= 0.0) & ($mean < $largest)",
    start="$out = 0",
    few="($mean > 0.0) & ($mean < $few)",
    levels="""
for $j in range($length):
    $row = $rows[$first + $j]
    $levels[$j] = -$mean
""",
    counted_up=filled(COUNTED_UP, parameters="$a = $mean", ratio="$a / f64($k)", store="$out = $k"),
    each="",
    many="($mean >= $few)",
    rounds=filled(ROUNDS, proposals=POISSON_PROPOSALS, words="2"),
)

TRIALS = """
$t = floor($trials)
$p = select($chance > 0.5, 1.0 - $chance, $chance)
"""

STORED = "$out = i64(select($chance > 0.5, $t - {0}, {0}))"

BINOMIAL_PROPOSALS = filled(
    """
@draw 2
for $j in range($length):
    $row = $rows[$first + $j]
    {trials}
    $spread = sqrt($t * $p * (1.0 - $p))
    $b = rounded_sum(1.15, 2.53 * $spread)
    $a = rounded_sum(rounded_sum(-0.0873, 0.0248 * $b), 0.01 * $p)
    $centre = rounded_sum($t * $p, 0.5)
    $squeeze = 0.92 - 4.2 / $b
    $scale = (2.83 + 5.1 / $b) * $spread
    $logs[$j] = $p / (1.0 - $p)
    {transformed}
@log levels
@log logs
for $j in range($length):
    $row = $rows[$first + $j]
    {trials}
    $found = $counts[$j]
    $state = $states[$j]
    if $state == 0.0:
        $mode = floor(($t + 1.0) * $p)
        $bound = call_number($gammaln, $mode + 1.0) + call_number($gammaln, $t - $mode + 1.0)
        $bound = $bound - call_number($gammaln, $found + 1.0)
        $bound = $bound - call_number($gammaln, maximum($t - $found, 0.0) + 1.0)
        if $levels[$j] <= rounded_sum($bound, ($found - $mode) * $logs[$j]):
            $state = 1.0
    if $state == 1.0:
        {stored}
    {rejected}
""",
    trials=TRIALS,
    transformed=TRANSFORMED.format(
        never="($k_found < 0.0) | ($k_found > $t)", possible=" & ($k_found >= 0.0) & ($k_found <= $t)"
    ),
    stored=STORED.format("$found"),
    rejected=REJECTED,
)

BINOMIAL = filled(
    COUNTS,
    valid="($trials >= 0.0) & ($trials < $largest) & ($chance >= 0.0) & ($chance <= 1.0)",
    start=TRIALS + STORED.format("0.0"),
    few="($p > 0.0) & ($t * $p < $few)",
    levels=filled(
        """
for $j in range($length):
    $row = $rows[$first + $j]
    {trials}
    $levels[$j] = -$p
@log1p levels
for $j in range($length):
    $row = $rows[$first + $j]
    $levels[$j] = floor($trials) * $levels[$j]
""",
        trials=TRIALS,
    ),
    counted_up=filled(
        COUNTED_UP,
        parameters=TRIALS + "$odds = $p / (1.0 - $p)",
        ratio="maximum($t - f64($k) + 1.0, 0.0) / f64($k) * $odds",
        store="$most = minimum(f64($k), $t)\n" + STORED.format("$most"),
    ),
    each=TRIALS,
    many="($t * $p >= $few)",
    rounds=filled(ROUNDS, proposals=BINOMIAL_PROPOSALS, words="2"),
)


class Row(NamedTuple):
    """How the samples of a distribution are written."""

    text: str
    parameters: tuple[str, ...]
    words: int
    """The most uniform numbers that a proposal takes."""
    rooms: tuple[str, ...]
    loops: tuple[str, ...]
    checked: bool = True
    """Whether some parameters are refused, and SciPy's ``gammaln`` is called."""


COUNT_ROOMS = ("levels", "counts", "states", "logs")
ROWS: dict[type, Row] = {
    RandomLogGamma: Row(
        GAMMA,
        ("shape",),
        3,
        ("thirds", "logs", "xs", "turns", "levels", "vs", "powers"),
        ("log", "cos", "exp"),
        checked=False,
    ),
    RandomPoisson: Row(POISSON, ("mean",), 2, COUNT_ROOMS, ("log", "exp")),
    RandomBinomial: Row(BINOMIAL, ("trials", "chance"), 2, COUNT_ROOMS, ("log", "exp", "log1p")),
}


@lowers(*ROWS)
def lower_rejected(scheduler: Scheduler, equation: Equation) -> None:
    """The samples of each key, for the parameters that belong to it."""
    row, (key, *parameters), (out,) = ROWS[type(equation.primitive)], equation.inputs, equation.outputs
    local = scheduler.local
    loops = {name: loop_names(scheduler, name, DOUBLE) for name in row.loops}
    known = {"chunk": str(CHUNK), "few": repr(FEW), "largest": repr(LARGEST)}
    if row.checked:
        known["gammaln"] = "gammaln" if local.portable else address_of_function(scheduler, "gammaln")
    keys, count = Keys(scheduler.stored(key)), math.prod(out.aval.shape[key.aval.ndim - 1 :])
    views = [scheduler.contiguous(x) for x in parameters]
    target = scheduler.buffer_like(out.aval, local.named(out))
    words = tuple(
        [scheduler.buffer_like(Aval((CHUNK + 4,), np.dtype(np.uint64)), "words") for _ in range(row.words)]
    )
    rooms = {name: scheduler.buffer_like(Aval((CHUNK,), DOUBLE), name) for name in row.rooms}
    rows = scheduler.buffer_like(Aval((count,), np.dtype(np.int64)), "rows")
    flags = [local.failure_flag()] if row.checked else []

    def emit(writer: Writer) -> None:
        if not out.aval.size:
            return
        writer.comment(equation.source)
        with keys.each(writer) as variables:
            names = Names(writer, known | {name: view.buffer.name for name, view in rooms.items()})
            names |= {"rows": rows.buffer.name, "n": local.symbol(count)}
            for flag in flags:
                names["failed"] = flag.name
            for name, view in zip((*row.parameters, "out"), (*views, target), strict=True):
                start = writer.index(part_of(view, len(variables)), variables)
                names[name] = f"{view.buffer.name}[{place(start, names['row'])}]"
            Rejected(writer, names, keys.words(writer, variables), words, loops).write(row.text)

    position = scheduler.special(
        equation.primitive.name,
        emit,
        [keys.view, *views],
        [target, *[View.whole(flag, ()) for flag in flags]],
        scratch=[*words, *rooms.values(), rows],
        flops=20.0 * WORK * out.aval.size,
    )
    scheduler.define_view(out, target, position)
