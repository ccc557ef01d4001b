"""Lowering of how gamma samples move with their shapes: the series and the integral, for each element."""

from __future__ import annotations

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.templates import Names, write_text
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.ir.program import Equation
from funcgrad.ops.random.gamma_path import (
    FINDING,
    LARGE,
    MOST_TERMS,
    NODES,
    REACH,
    TERM,
    GammaPathSlope,
    gauss_rule,
)

SLOPE = """
$x = exp($at)
$slope = 0.0
if ($a >= $large) | (($at > 0.0) & ($x > $a + 1.0)):
    $centre = digamma($a)
    $side = select($at < $centre, -1.0, 1.0)
    $length = sqrt(2.0 * $reach / $a) + log1p($reach / $x)
    for $k in range($finding):
        $fall = $x * expm1($side * $length) - $a * $side * $length - $reach
        $rate = $side * ($x * exp($side * $length) - $a)
        if $rate > 0.0:
            $length = $length - $fall / $rate
        else:
            $length = 2.0 * $length
    for $k in range($count):
        $u = $side * $length * ($nodes[$k] * $nodes[$k])
        $density = exp($a * $u - $x * expm1($u))
        $slope = $slope + $weights[$k] * (2.0 * $nodes[$k]) * $length * $density * ($at + $u - $centre)
    $slope = $side * $slope
else:
    $weight = 1.0 / $a
    $difference = $at - digamma($a + 1.0)
    $k = 0
    $more = True
    while $more:
        $slope = $slope - $weight * $difference
        $k = $k + 1
        $step = $a + f64($k)
        $weight = $weight * ($x / $step)
        $difference = $difference - 1.0 / $step
        $more = ($step < $x) | (fabs($weight * $difference) > $term * fabs($slope))
        $more = $more & (fabs($weight) < INF) & ($k < $most)
    if not ((fabs($at) < INF) & ($a > 0.0)):
        $slope = NAN
"""


@lowers(GammaPathSlope)
def lower_path_slope(scheduler: Scheduler, equation: Equation) -> None:
    """In double precision, as it is evaluated."""
    (out,) = equation.outputs
    dtype, local = out.aval.dtype, scheduler.local
    if dtype.char not in "fd":
        raise NotLowered(f"{equation.primitive.name} of {dtype} has no native form")
    views = [scheduler.contiguous(x) for x in equation.inputs]
    target = scheduler.buffer_like(out.aval, local.named(out))
    rule = dict(zip(("nodes", "weights"), gauss_rule(), strict=True))
    known = {
        name: local.block(local.fresh(name), values.dtype, values.size, "captured", values).name
        for name, values in rule.items()
    }
    numbers = {"large": LARGE, "reach": REACH, "finding": FINDING, "term": TERM, "most": MOST_TERMS}
    known |= {name: repr(value) for name, value in numbers.items()} | {"count": str(NODES)}

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        names, i = Names(writer, known), local.fresh("i")
        with writer.loop(i, out.aval.size):
            for name, view, x in zip(("a", "at"), views, equation.inputs, strict=True):
                # A number among arrays is the same for all elements.
                index = i if x.aval.shape == out.aval.shape else "0"
                writer.line(f"{names[name]} = f64({view.buffer.name}[{index}])")
            write_text(writer, SLOPE, names)
            writer.line(f"{target.buffer.name}[{i}] = {cast_name(dtype)}({names['slope']})")

    flops = 30.0 * NODES * out.aval.size
    position = scheduler.special(equation.primitive.name, emit, views, [target], flops=flops)
    scheduler.define_view(out, target, position)
