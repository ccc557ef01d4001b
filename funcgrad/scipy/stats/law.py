"""What a distribution is here: formulas of its standard form, and what follows from the ones that are given.

A declaration gives the logarithm of the density (or of the probability) and as much of the rest as has a
formula of its own; `Law.formula` finds the others: a survival function from its logarithm, a distribution
function as what is left of one. Formulas take points inside of the support, then the shape parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from funcgrad.numpy import exp, expm1, log, log1p, where
from funcgrad.scipy.special import xlogy
from funcgrad.types import Array, ArrayLike

Formula = Callable[..., Any]

LOG_2 = math.log(2.0)

LAWS: dict[str, Law] = {}
"""The declared distributions by name."""


def complement(p: ArrayLike) -> Array:
    """``1 - p``."""
    return 1.0 - p


# Minus infinity is where all probability is gone: there `exp` has come to rest, however fast y falls.


def risen_from(y: ArrayLike) -> Array:
    """``exp(y)``, at rest where y is minus infinity."""
    gone = y == -math.inf
    return where(gone, 0.0, exp(where(gone, 0.0, y)))


def expm1_negated(y: ArrayLike) -> Array:
    """``1 - exp(y)``, at rest where y is minus infinity."""
    gone = y == -math.inf
    return where(gone, 1.0, -expm1(where(gone, -1.0, y)))


def log_complement(p: ArrayLike) -> Array:
    """``log(1 - p)``."""
    return log1p(-p)


def log1m_exp(y: ArrayLike) -> Array:
    """``log(1 - exp(y))`` for negative y, with every digit on either side of ``-log(2)``."""
    near = y > -LOG_2
    return where(near, log(-expm1(where(near, y, -1.0))), log1p(-risen_from(where(near, -1.0, y))))


def log_of_larger(p: ArrayLike, rest: ArrayLike) -> Array:
    """``log(p)`` from p and ``rest = 1 - p``, whichever is known better."""
    near = p > 0.5
    return where(near, log1p(-where(near, rest, 0.5)), log(where(near, 0.5, p)))


FALLBACKS: dict[str, tuple[tuple[tuple[str, ...], Callable[..., Any]], ...]] = {
    "pdf": ((("logpdf",), exp),),
    "cdf": ((("logcdf",), risen_from), (("logsf",), expm1_negated), (("sf",), complement)),
    "sf": ((("logsf",), risen_from), (("logcdf",), expm1_negated), (("cdf",), complement)),
    "logcdf": (
        (("cdf", "sf"), log_of_larger),
        (("logsf",), log1m_exp),
        (("cdf",), log),
        (("sf",), log_complement),
    ),
    "logsf": (
        (("sf", "cdf"), log_of_larger),
        (("logcdf",), log1m_exp),
        (("sf",), log),
        (("cdf",), log_complement),
    ),
}
"""From which other formulas one follows, the best first."""


@dataclass(frozen=True, slots=True)
class Law:
    """A distribution in standard form: location 0 and scale 1."""

    name: str
    about: str
    example: tuple[float, ...]
    """A point and shape parameters at which its documentation shows it, and tests begin."""
    formulas: dict[str, Formula]
    ends: Callable[..., tuple[Any, Any]] | tuple[float, float]
    """The ends of the support, or a function of the shape parameters that gives them."""
    valid: Callable[..., Any] | None
    """Whether shape parameters are admissible; None where there are none, or all are."""
    open_ends: bool
    """Whether the density is taken to be zero at the ends as well."""
    closed_end: Callable[..., Any] | None
    """For which shape parameters there is a density at the upper end all the same; None where for none."""
    open_start: Callable[..., Any] | None
    """For which shape parameters it is taken to be zero at the lower end; None where for none."""
    steep: bool
    """Whether slopes at 0 may be infinite."""
    discrete: bool
    counts: tuple[str, ...]
    """Shape parameters that are whole numbers, by which there is no derivative."""
    shapes: tuple[str, ...]

    def support(self, *shapes: ArrayLike) -> tuple[Any, Any]:
        """The ends of the support."""
        return self.ends if isinstance(self.ends, tuple) else self.ends(*shapes)

    def formula(self, kind: str) -> Formula | None:
        """The formula of that name, given or found from others; None where there is none."""
        if kind in self.formulas:
            return self.formulas[kind]
        for sources, then in FALLBACKS.get(kind, ()):
            if all(source in self.formulas for source in sources):
                return composed(then, [self.formulas[source] for source in sources])
        return None


def composed(outer: Formula, inner: Sequence[Formula]) -> Formula:
    """``outer(inner(...), ...)``."""

    def follows(*args: Array) -> Array:
        return outer(*[f(*args) for f in inner])

    return follows


def risen(rise: Formula, rest: Formula) -> Formula:
    """The logarithm of a density that is a power of x times another function."""

    def logpdf(x: Array, *shapes: Array) -> Array:
        return xlogy(rise(*shapes), x) + rest(x, *shapes)

    return logpdf


def all_positive(*shapes: ArrayLike) -> Array:
    """Whether each parameter is positive: what most distributions ask of theirs."""
    found = shapes[0] > 0
    for shape in shapes[1:]:
        found = found & (shape > 0)
    return found


def declare(
    name: str,
    about: str,
    example: tuple[float, ...],
    *,
    ends: Callable[..., tuple[Any, Any]] | tuple[float, float] = (-math.inf, math.inf),
    valid: Callable[..., Any] | None = all_positive,
    open_ends: bool = False,
    closed_end: Callable[..., Any] | None = None,
    open_start: Callable[..., Any] | None = None,
    steep: bool = False,
    discrete: bool = False,
    counts: tuple[str, ...] = (),
    **formulas: Formula,
) -> None:
    """Enter a distribution; its shape parameters are those of the formula of its density.

    Where the density is a power of x times another function, ``rise`` is the exponent and ``rest`` the
    logarithm of that function, in place of ``logpdf``.
    """
    density = formulas["rest" if "rest" in formulas else "logpdf"]
    shapes = tuple(signature(density).parameters)[1:]
    if "rest" in formulas:
        formulas["logpdf"] = risen(formulas["rise"], formulas["rest"])
    for kind, formula in formulas.items():
        entitle(formula, f"{name}_{kind}")
    LAWS[name] = Law(
        name,
        about,
        example,
        formulas,
        ends,
        valid if shapes else None,
        open_ends,
        closed_end,
        open_start,
        steep,
        discrete,
        counts,
        shapes,
    )


def entitle(formula: Formula, name: str) -> None:
    """Give a formula of a table a name, under which tracebacks show it."""
    code: Any = getattr(formula, "__code__", None)
    if code is not None and code.co_name == "<lambda>":
        formula.__name__ = formula.__qualname__ = name
        formula.__code__ = code.replace(co_name=name, co_qualname=name)
