"""How elements are combined into one: the ways that reductions, running operations and scatters share."""

from __future__ import annotations

from funcgrad.ops.native import by_kind
from funcgrad.tracing.primitive import Fold

NUMBERS = "{result}({0} + {1})"

SUM = Fold("sum", by_kind(f="plus({0}, {1})", ciu=NUMBERS), by_kind(fciu="{result}(0)"))

IN_ORDER = Fold("sum", by_kind(f="{0} + {1}", ciu=NUMBERS), SUM.start)
"""A sum whose terms are added one after the other."""

ROUNDED = Fold("sum", by_kind(f="rounded_sum({0}, {1})", ciu=NUMBERS), SUM.start)
"""The same, and no term is fused with the product that it is."""

PROD = Fold("prod", by_kind(fciu="{result}({0} * {1})"), by_kind(fciu="{result}(1)"))
ANY = Fold("any", by_kind(b="{0} | {1}"), by_kind(b="False"))
ALL = Fold("all", by_kind(b="{0} & {1}"), by_kind(b="True"))


def extreme(name: str, function: str, largest: bool, start: str) -> Fold:
    """A fold that keeps one of the elements."""
    symbol, bound = (">", "{lowest}") if largest else ("<", "{highest}")
    combine = by_kind(
        f=f"{function}({{0}}, {{1}})",
        iu=f"select({{0}} {symbol} {{1}}, {{0}}, {{1}})",
        b="{0} | {1}" if largest else "{0} & {1}",
    )
    return Fold(
        name, combine, by_kind(f=f"{{result}}({start})", iu=f"{{result}}({bound})", b=str(not largest))
    )


MAX = extreme("max", "maximum", True, "-INF")
MIN = extreme("min", "minimum", False, "INF")
FMAX = extreme("fmax", "fmax", True, "NAN")
FMIN = extreme("fmin", "fmin", False, "NAN")
