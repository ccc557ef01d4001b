"""The logarithm of the beta function, composed of functions that kernels have.

For large arguments gammaln's terms cancel. There it is Stirling's formula (DLMF 5.11.1), whose large parts
are taken together before anything is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.comparison import equal, greater_equal
from funcgrad.ops.elementary import log, log1p
from funcgrad.ops.extremes import maximum, minimum
from funcgrad.ops.selection import where
from funcgrad.ops.special import gammaln

LARGE = 10.0
"""From here on the series has all digits."""

BERNOULLI = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""The coefficients of Stirling's series in odd powers of 1/z."""

DOUBLE = np.dtype(np.float64)


def rewrite_special(r: Any, equation: Equation) -> Sequence[Atom] | None:
    """`betaln` of double precision; other functions are left as they are."""
    (out,) = equation.outputs
    if equation.primitive.function != "betaln" or out.aval.dtype != DOUBLE:
        return None

    def number(value: float) -> Any:
        return r.number(value, DOUBLE)

    def rest(z: Any) -> Any:
        """What Stirling's series adds to its leading terms."""
        inverse = r(div, number(1.0), z)
        square, total = r(mul, inverse, inverse), number(BERNOULLI[-1])
        for coefficient in reversed(BERNOULLI[:-1]):
            total = r(add, r(mul, total, square), number(coefficient))
        return r(mul, total, inverse)

    x, y = equation.inputs
    a, b = r(minimum, x, y), r(maximum, x, y)
    both = r(add, a, b)
    plain = r(sub, r(add, r(gammaln, a), r(gammaln, b)), r(gammaln, both))
    b_large, a_large = [r(greater_equal, v, number(LARGE)) for v in (b, a)]
    big = r(where, b_large, b, number(LARGE))
    small = r(where, r(greater_equal, a, number(0.0)), a, number(1.0))
    total = r(add, small, big)
    shared = r(sub, rest(big), rest(total))
    fall = r(mul, r(sub, big, number(0.5)), r(log1p, r(div, small, big)))
    one = r(sub, r(add, r(gammaln, small), small), r(mul, small, r(log, total)))
    safe = r(where, a_large, a, number(LARGE))
    powers = r(mul, safe, r(log1p, r(div, big, safe)))
    begun = r(sub, number(0.5 * math.log(2.0 * math.pi)), r(mul, number(0.5), r(log, safe)))
    two = r(add, r(add, begun, rest(safe)), r(neg, powers))
    series = r(sub, r(add, r(where, a_large, two, one), shared), fall)
    positive = r(greater_equal, a, number(0.0))
    series = r(where, r(equal, b, number(math.inf)), number(-math.inf), series)
    found = r(where, b_large, r(where, positive, series, plain), plain)
    return [r(where, r(equal, a, number(0.0)), number(math.inf), found)]
