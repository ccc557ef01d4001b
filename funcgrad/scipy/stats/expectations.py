"""Moments and entropies without a formula: values from SciPy, derivatives by integrals or sums.

A mean is the integral of ``x p(x, shapes)`` (for counts a sum), and moves as Leibniz' rule says, also where
the support does. The rule calls the moment itself, so that every order of derivative is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.ir.avals import Aval
from funcgrad.numpy import exp, floor, isfinite, where
from funcgrad.numpy import sum as total_of
from funcgrad.ops.random.values_of_laws import LawValue
from funcgrad.scipy.integrate.quadrature import Integral, quad
from funcgrad.scipy.optimize.options import found
from funcgrad.scipy.recorded import FLOAT, known, real_scalar
from funcgrad.scipy.stats.law import LAWS, Law
from funcgrad.scipy.stats.moving import each, value_that_moves
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.solved.method import Programs
from funcgrad.types import Array, ArrayLike

__all__ = ["moment"]

CHUNK = 256
"""Terms of a sum that are computed together."""

MOST_CHUNKS = 2000
SMALL = 1e-15
UNSEEN = -700.0
"""The logarithm of a density that is taken to be zero: its exponential is at the end of what doubles hold."""
LIGHT = -230.0
"""The same in moments, to which so little adds nothing: third derivatives have its third power."""


@dataclass(frozen=True)
class Series(Integral):
    """The sum of ``programs[0]``, ``counts, parameters -> array``, over counts from a to b."""

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        a, b, *parameters = values
        (program,) = programs
        total: Any = np.zeros(program.out_avals[0].shape)
        for chunk in range(MOST_CHUNKS):
            start = float(a) + chunk * CHUNK
            if not start <= float(b):
                break
            part = program.evaluate(np.arange(start, start + CHUNK), *parameters)[0]
            total = total + part
            if not np.any(abs(part) > SMALL * abs(total)):
                break
        return total, 0.0, 0

    def tangents(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], dots: Sequence[Any]
    ) -> Sequence[Any]:
        active = tuple([t is not None for t in dots[2:]])
        if not any(active):
            return None, None, None
        moved = [t for t in dots[2:] if t is not None]
        return self.moved(programs[0], inputs, active, moved), None, None


def series(terms: Callable[[Any], Any], a: ArrayLike, b: ArrayLike) -> Array:
    """The sum of a function of counts from `a` to `b`, which may be infinite."""
    ends = [real_scalar(x, "sum") for x in (a, b)]

    def part(k: Array) -> Array:
        inside = k <= ends[1]
        return total_of(where(inside, terms(where(inside, k, ends[0])), 0.0))

    recorded = known(part, [Aval((CHUNK,), FLOAT)], "sum", "terms")
    return found(Series("sum", ()), (recorded.program,), [*ends, *recorded.constants])[0]


Weight = Callable[[Any, Any], Any]


def weight_of(kind: str, mean: ArrayLike) -> Weight:
    """What is averaged over the distribution: a function of points and of the logarithm of the density."""
    if kind == "mean":
        return lambda x, log_density: x
    if kind == "var":
        return lambda x, log_density: (x - mean) ** 2
    return lambda x, log_density: -log_density


WITHIN_A_PERIOD = {"vonmises": "vonmises_line"}
"""Periodic distributions, of which SciPy takes the moments over one period."""


NOT_SUMMED = frozenset({("betanbinom", "entropy")})
"""Where SciPy's own sum does not converge, so that its value is not the entropy."""


def fixed(low: ArrayLike, high: ArrayLike) -> tuple[Any, Any, Callable[[Any], Any], Any]:
    """Limits that do not move, a point of the support for each point between them, and its slope.

    A density need not be smooth where it ends: points move with the ends, so that nothing enters or leaves.
    """
    if not (isinstance(low, Tracer) or isinstance(high, Tracer)):
        return low, high, lambda u: u, 1.0
    ends = [(stop_gradient(x), isfinite(x)) for x in (low, high)]
    (first, starts), (last, stops) = ends
    zeros = [where(holds, x - at, 0.0) for x, (at, holds) in zip((low, high), ends, strict=True)]
    both = np.logical_and(starts, stops)
    width = where(both, where(both, last, 1.0) - where(both, first, 0.0), 1.0)
    stretched = where(both, (zeros[1] - zeros[0]) / width, 0.0)

    def point(u: Array) -> Array:
        moved = where(both, zeros[0] + stretched * (u - where(both, first, 0.0)), zeros[0] + zeros[1])
        return u + moved

    return first, last, point, 1.0 + stretched


def densities(law: Law, shapes: Sequence[Any], weight: Weight | None = None) -> tuple[Any, Any, Any]:
    """The density as a function of points, times a weight, and the ends of the support."""
    low, high = law.support(*shapes)
    density = law.formulas["logpdf"]
    inner = inner_point(low, high, law.discrete)

    def terms(x: Array) -> Array:
        # Where the density vanishes the logarithm may not be finite, and nothing is added.
        there = density(x, *shapes) > (UNSEEN if weight is None else LIGHT)
        point = where(there, x, inner)
        at = density(point, *shapes)
        return where(there, exp(at) if weight is None else weight(point, at) * exp(at), 0.0)

    return terms, low, high


def integrated(law: Law, kind: str, *shapes: ArrayLike) -> Array:
    """The moment of the standard form for single shape parameters, as an integral or a sum."""
    mean = moment(law, "mean", shapes) if kind == "var" else None
    law = LAWS[WITHIN_A_PERIOD.get(law.name, law.name)]
    terms, low, high = densities(law, shapes, weight_of(kind, mean))
    if law.discrete:
        if isinstance(low, Tracer) or low != -math.inf:
            return series(terms, low, high)
        return series(terms, 0, high) + series(lambda k: terms(-1.0 - k), 0, math.inf)
    start, stop, point, slope = fixed(low, high)
    return quad(lambda u: terms(point(u)) * slope, start, stop, epsabs=1e-12, epsrel=1e-10, limit=200)[0]


def inner_point(low: ArrayLike, high: ArrayLike, discrete: bool) -> Array:
    """A point inside of a support with these ends."""
    from_low, from_high = isfinite(low), isfinite(high)
    both = np.logical_and(from_low, from_high)
    start, stop = where(from_low, low, 0.0), where(from_high, high, 0.0)
    middle = start + floor(0.5 * (stop - start)) if discrete else 0.5 * (start + stop)
    found = where(both, middle, where(from_low, start + 1.0, where(from_high, stop - 1.0, 0.0)))
    return found if type(found) is Tracer or np.ndim(found) else float(found)


def moment(law: Law, kind: str, shapes: Sequence[Any]) -> Array:
    """The mean, variance or entropy of a distribution in standard form, by its formula or by SciPy."""
    formula = law.formula(kind)
    if formula is not None:
        return formula(*shapes)
    if not shapes:
        return LawValue(law.name, kind).evaluate()
    return of_shapes(law.name, kind, tuple(shapes))


def tangent(law: Law, kind: str, out: Array, shapes: Sequence[Any], dots: Sequence[Any]) -> Array:
    """By differentiating the integral; what is infinite has no derivative."""
    moved = each(lambda *a: integrated(law, kind, *a), shapes, dots, ())
    return where(isfinite(out), moved, math.nan)


of_shapes = value_that_moves(tangent)
