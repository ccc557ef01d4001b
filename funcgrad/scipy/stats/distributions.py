"""Distributions as SciPy offers them, with derivatives by points, shapes, location and scale.

On arrays alone SciPy answers. On traced values the formulas of `funcgrad.scipy.stats.laws` do, in double
precision as SciPy: outside of the support they are evaluated at a point inside, whose value is not taken, so
that gradients have no NaN there. Inadmissible parameters become NaN, and with them every result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy import exp, floor, isinf, log, sqrt, where
from funcgrad.ops.arrays.structure import aval
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.random.values_of_laws import LawValue
from funcgrad.scipy.originals import original
from funcgrad.scipy.reals import as_doubles, require_real
from funcgrad.scipy.special import xlogy
from funcgrad.scipy.stats.expectations import NOT_SUMMED, inner_point, moment
from funcgrad.scipy.stats.law import LAWS, Law
from funcgrad.scipy.stats.quantiles import quantile
from funcgrad.scipy.stats.samples import samples
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Option, Result, ScipyResult, ShapeLike

OUTSIDE = {"pdf": 0.0, "logpdf": -math.inf}
BELOW_AND_ABOVE = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-math.inf, 0.0), "logsf": (0.0, -math.inf)}


class Parameters:
    """The parameters of a call, in double precision, NaN where they are not admissible."""

    __slots__ = ("admissible", "law", "loc", "scale", "shapes")

    def __init__(self, law: Law, shapes: Sequence[Any], loc: ArrayLike, scale: ArrayLike) -> None:
        self.shapes: tuple[Any, ...] = tuple([floating(x) for x in shapes])
        for x in (loc, scale):
            if type(x) not in (int, float):
                require_real(x, "a distribution")
        self.law, self.loc = law, loc
        self.admissible = True if law.valid is None else condition(law.valid(*self.shapes))
        for name in law.counts:
            self.round_down(law.shapes.index(name))
        if self.admissible is not True:
            self.shapes = tuple([where(self.admissible, x, math.nan) for x in self.shapes])
        self.scale = scale
        if not is_number(scale, 1):
            positive = condition(scale > 0)
            self.scale = scale if positive is True else where(positive, floating(scale), math.nan)

    def round_down(self, i: int) -> None:
        """Make a parameter the whole number that it must be."""
        whole = floor(self.shapes[i])
        holds = condition(whole == self.shapes[i])
        if holds is not True:
            self.admissible = holds if self.admissible is True else np.logical_and(self.admissible, holds)
        self.shapes = (*self.shapes[:i], whole, *self.shapes[i + 1 :])

    def standard(self, x: ArrayLike) -> Array:
        """``(x - loc) / scale``."""
        y = floating(x)
        y = y if is_number(self.loc, 0) else y - self.loc
        if is_number(self.scale, 1):
            return y
        # At 0 nothing moves with the scale, however steep it is there.
        return strong_product(y, 1.0 / self.scale) if self.law.steep else y / self.scale

    def rises(self) -> bool:
        """Whether the density is a power of the point times something, and the scale has derivatives."""
        return type(self.scale) is Tracer and "rise" in self.law.formulas

    def risen(self, kind: str, y: Array, x: ArrayLike) -> Array:
        """The density of the standard form at `y`, which `x` is.

        Where `y` is 0 and the exponent as well, ``log(y)`` has a derivative by the scale, but none by way of
        `y`, which does not move there: the logarithm of the scale stands by itself.
        """
        exponent = self.law.formulas["rise"](*self.shapes)
        start = np.logical_and(y == 0.0, exponent == 0.0)
        away = floating(x) - self.loc if Tracer in (type(x), type(self.loc)) else 0.0
        found = xlogy(exponent, where(start, away, y)) - where(start, exponent * log(self.scale), 0.0)
        found = found + self.law.formulas["rest"](y, *self.shapes)
        return found if kind == "logpdf" else exp(found)

    def placed(self, y: ArrayLike) -> Array:
        """``loc + scale * y``."""
        y = y if is_number(self.scale, 1) else y * self.scale
        return y if is_number(self.loc, 0) else y + self.loc


def floating(x: ArrayLike) -> Array:
    """`x` in double precision, in which SciPy computes distributions."""
    return float(x) if type(x) in (int, float) else as_doubles(x, "a distribution")


def condition(holds: Array) -> Array:
    """True where a condition is known to hold everywhere, otherwise the condition."""
    return True if type(holds) is not Tracer and bool(np.all(holds)) else holds


def is_number(x: ArrayLike, value: float) -> bool:
    """Whether `x` is this Python number, so that it need not take part."""
    return type(x) in (int, float) and bool(x == value)


class Distribution:
    """What continuous and discrete distributions share."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.name = law.name
        self.shapes = ", ".join(law.shapes) or None
        self.numargs = len(law.shapes)
        self.__doc__ = documentation(law)

    def __repr__(self) -> str:
        return f"fg.scipy.stats.{self.name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return distribution, (self.name,)

    def __call__(self, *args: ArrayLike, **kwds: ArrayLike) -> Frozen:
        """The distribution with its parameters fixed, as SciPy freezes it."""
        self._bound(args, kwds)
        return Frozen(self, args, kwds)

    freeze = __call__

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("_") or not hasattr(self._scipys, name):
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return self._by_scipy(name)

    @property
    def _scipys(self) -> ScipyResult:
        return original("stats", self.name)

    def _by_scipy(self, method: str) -> Callable[..., Any]:
        """A method of SciPy's, which refuses traced values by its name."""

        def called(*args: ArrayLike, **kwds: ArrayLike) -> Result:
            operands = [asoperand(x) for x in (*args, *kwds.values()) if isinstance(x, Tracer | list | tuple)]
            if recorder_of(operands) is not None:
                raise self._refused(method)
            return getattr(self._scipys, method)(*args, **kwds)

        return called

    def _refused(self, method: str) -> UnsupportedFunctionError:
        return UnsupportedFunctionError(
            f"{self!r}.{method} of traced values is not supported: SciPy computes it by a search or a sum",
            source=Source(*user_location()),
            remedy="Where no gradient is meant to flow, call SciPy's on np.asarray(fg.stop_gradient(x)); "
            "the coverage page lists what has derivatives.",
        )

    def _bound(self, args: Sequence[Any], kwds: Mapping[str, Any]) -> list[Any]:
        """Shapes, location and scale, as SciPy reads them from positions and names."""
        names = (*self.law.shapes, "loc", *(() if self.law.discrete else ("scale",)))
        if len(args) > len(names):
            raise TypeError(f"{self!r} takes {len(names)} parameters, and was given {len(args)}")
        found = dict(zip(names, args, strict=False))
        for name, value in kwds.items():
            if name not in names or name in found:
                raise TypeError(
                    f"{self!r} got {'several values for' if name in names else 'an unexpected'}"
                    f" parameter {name!r}"
                )
            found[name] = value
        missing = [name for name in self.law.shapes if name not in found]
        if missing:
            raise TypeError(f"{self!r} is missing its shape parameters: {', '.join(missing)}")
        return [*[found[n] for n in self.law.shapes], found.get("loc", 0), found.get("scale", 1)]

    def _traced(
        self, points: Sequence[Any], args: Sequence[Any], kwds: Mapping[str, Any]
    ) -> tuple[list[Any], Parameters] | None:
        """Points and parameters where one of them is traced; None where SciPy is to answer."""
        bound = [asoperand(x) for x in (*points, *self._bound(args, kwds))]
        if recorder_of(bound) is None:
            return None
        n = len(points)
        *shapes, loc, scale = bound[n:]
        return bound[:n], Parameters(self.law, shapes, loc, scale)

    def _formula(self, kind: str, method: str) -> Callable[..., Any]:
        found = self.law.formula(kind)
        if found is None:
            raise self._refused(method)
        return found

    # -- densities and distribution functions --------------------------------------------------------------

    def _density(
        self, kind: str, method: str, x: Array, args: Sequence[Any], kwds: Mapping[str, Any]
    ) -> Array:
        read = self._traced([x], args, kwds)
        if read is None:
            return getattr(self._scipys, method)(x, *args, **kwds)
        (point,), at = read
        formula = self._formula(kind, method)
        y = at.standard(point)
        whole = True
        if self.law.discrete:
            k = floor(y)
            whole = True if aval(point).dtype.kind in "iu" and type(at.loc) is int else k == y
            y = k
        low, high = self.law.support(*at.shapes)
        outside = self._outside(y, low, high, at)
        if whole is not True:
            outside = either(outside, np.logical_and(np.logical_not(whole), np.logical_not(np.isnan(y))))
        inner = y if outside is None else where(outside, inner_point(low, high, self.law.discrete), y)
        found = formula(inner, *at.shapes) if not at.rises() else at.risen(kind, inner, point)
        none = OUTSIDE[kind]
        # Where there is no density a point counts as outside: slopes would be products of infinities. A count
        # is possible all the same, with another probability of success.
        gone = isinf(y) if self.law.discrete else found == none
        found = by_scale(kind, where(gone, none, found), at.scale)
        if outside is not None and at.admissible is not True:
            outside = np.logical_and(outside, at.admissible)
        return found if outside is None else where(outside, none, found)

    def _outside(self, y: ArrayLike, low: Array, high: Array, at: Parameters) -> Array:
        """Whether there is no density at `y`; None where there is one everywhere, or formulas say so."""
        law = self.law
        endless = is_number(low, -math.inf), is_number(high, math.inf)
        if all(endless) and not law.open_ends:
            return None
        below = y <= low if law.open_ends or endless[0] else y < low
        if law.open_start is not None:
            below = np.logical_or(below, np.logical_and(y <= low, law.open_start(*at.shapes)))
        above = y >= high if law.open_ends or endless[1] else y > high
        if law.closed_end is not None:
            above = np.logical_and(above, np.logical_or(y > high, np.logical_not(law.closed_end(*at.shapes))))
        return np.logical_or(below, above)

    def _distribution(self, kind: str, x: Array, args: Sequence[Any], kwds: Mapping[str, Any]) -> Array:
        read = self._traced([x], args, kwds)
        if read is None:
            return getattr(self._scipys, kind)(x, *args, **kwds)
        (point,), at = read
        formula = self._formula(kind, kind)
        y = at.standard(point)
        y = floor(y) if self.law.discrete else y
        low, high = self.law.support(*at.shapes)
        # A traced end may be infinite; a number at it is outside of a continuous distribution all the same.
        below = y < low if self.law.discrete and not is_number(low, -math.inf) else y <= low
        above = y >= high
        outside = np.logical_or(below, above)
        found = formula(where(outside, inner_point(low, high, self.law.discrete), y), *at.shapes)
        if at.admissible is not True:
            below, above = np.logical_and(below, at.admissible), np.logical_and(above, at.admissible)
        first, last = BELOW_AND_ABOVE[kind]
        return where(below, first, where(above, last, found))

    def cdf(self, x: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The distribution function: the probability of a number up to `x`."""
        return self._distribution("cdf", x, args, kwds)

    def sf(self, x: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The survival function: the probability of a number beyond `x`, accurate where it is small."""
        return self._distribution("sf", x, args, kwds)

    def logcdf(self, x: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The logarithm of `cdf`."""
        return self._distribution("logcdf", x, args, kwds)

    def logsf(self, x: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The logarithm of `sf`."""
        return self._distribution("logsf", x, args, kwds)

    # -- quantiles -----------------------------------------------------------------------------------------

    def ppf(self, q: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The quantile: the inverse of `cdf`."""
        return self._quantile("ppf", q, args, kwds)

    def isf(self, q: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The inverse of `sf`."""
        return self._quantile("isf", q, args, kwds)

    def median(self, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The quantile of one half."""
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> tuple[Any, Any]:
        """The ends of the interval around the median that has this probability."""
        tail = 0.5 * (1.0 - confidence)
        return self.ppf(tail, *args, **kwds), self.ppf(1.0 - tail, *args, **kwds)

    def _quantile(self, method: str, q: Array, args: Sequence[Any], kwds: Mapping[str, Any]) -> Array:
        read = self._traced([q], args, kwds)
        if read is None:
            return getattr(self._scipys, method)(q, *args, **kwds)
        (q,), at = read
        q = floating(q)
        low, high = self.law.support(*at.shapes)
        low = low - 1.0 if self.law.discrete else low
        first, last = (low, high) if method == "ppf" else (high, low)
        inside = np.logical_and(q > 0.0, q < 1.0)
        formula = self.law.formula(method)
        safe = where(inside, q, 0.5)
        if formula is not None:
            found = formula(safe, *at.shapes)
        elif self.law.discrete:
            found = LawValue(self.name, method)(safe, *at.shapes)
        else:
            self._formula("cdf" if method == "ppf" else "sf", method)
            found = quantile(self.name, method, (safe, *at.shapes))
        ends = where(q == 0.0, first, where(q == 1.0, last, math.nan))
        found = where(inside, found, ends)
        return at.placed(found if at.admissible is True else where(at.admissible, found, math.nan))

    # -- moments -------------------------------------------------------------------------------------------

    def _moment(
        self, kind: str, args: Sequence[Any], kwds: Mapping[str, Any]
    ) -> tuple[Any, Parameters] | None:
        """The moment of the standard form, with the parameters; None where SciPy is to answer."""
        read = self._traced([], args, kwds)
        if read is None:
            return None
        _, at = read
        if (self.name, kind) in NOT_SUMMED:
            raise self._refused(kind)
        found = moment(self.law, kind, at.shapes)
        return (found if at.admissible is True else where(at.admissible, found, math.nan)), at

    def mean(self, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The mean."""
        read = self._moment("mean", args, kwds)
        return self._scipys.mean(*args, **kwds) if read is None else read[1].placed(read[0])

    def var(self, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The variance."""
        read = self._moment("var", args, kwds)
        return (
            self._scipys.var(*args, **kwds)
            if read is None
            else read[0] * read[1].scale ** 2 + 0.0 * read[1].loc
        )

    def std(self, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The standard deviation."""
        read = self._moment("var", args, kwds)
        return (
            self._scipys.std(*args, **kwds)
            if read is None
            else sqrt(read[0]) * read[1].scale + 0.0 * read[1].loc
        )

    def entropy(self, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The entropy, in nats."""
        read = self._moment("entropy", args, kwds)
        if read is None:
            return self._scipys.entropy(*args, **kwds)
        found, at = read
        return found + log(at.scale) + 0.0 * at.loc

    # -- samples -------------------------------------------------------------------------------------------

    def rvs(
        self, *args: ArrayLike, size: ShapeLike = None, random_state: Option = None, **kwds: ArrayLike
    ) -> Array:
        """Samples. With a key of `fg.random` as `random_state` they are functions of key and parameters.

        Continuous samples are differentiable by every parameter; counts do not move. Other random states
        are SciPy's affair, and refused where a parameter is traced.
        """
        n = self.numargs + (1 if self.law.discrete else 2)
        if len(args) > n:  # SciPy takes the size behind the parameters.
            args, size = args[:n], args[n]
        if not is_key(random_state):
            if self._traced([], args, kwds) is not None:
                raise UnsupportedFunctionError(
                    f"{self!r}.rvs of traced parameters needs a key",
                    source=Source(*user_location()),
                    remedy="Give random_state=fg.random.key(seed).",
                )
            return self._scipys.rvs(*args, size=size, random_state=random_state, **kwds)
        *shapes, loc, scale = [asoperand(x) for x in self._bound(args, kwds)]
        at = Parameters(self.law, shapes, loc, scale)
        return samples(self, random_state, size, at)


def is_key(x: ArrayLike) -> bool:
    """Whether it looks like a key of `fg.random`."""
    return isinstance(x, Tracer | np.ndarray) and x.dtype == np.uint64 and x.shape == (2,)


def either(a: ArrayLike, b: ArrayLike) -> Array:
    """``a | b``, where None is nowhere."""
    if a is None or b is None:
        return b if a is None else a
    return np.logical_or(a, b)


def by_scale(kind: str, value: Array, scale: ArrayLike) -> Array:
    """The density of a scaled number."""
    if is_number(scale, 1):
        return value
    return value - log(scale) if kind == "logpdf" else value / scale


class Continuous(Distribution):
    """A continuous distribution."""

    def pdf(self, x: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The density; 0 outside of the support."""
        return self._density("pdf", "pdf", x, args, kwds)

    def logpdf(self, x: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The logarithm of the density; minus infinity outside of the support."""
        return self._density("logpdf", "logpdf", x, args, kwds)


class Discrete(Distribution):
    """A distribution of whole numbers."""

    def pmf(self, k: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The probability of `k`; 0 for what is no whole number of the support."""
        return self._density("pdf", "pmf", k, args, kwds)

    def logpmf(self, k: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:
        """The logarithm of the probability of `k`; minus infinity where that is 0."""
        return self._density("logpdf", "logpmf", k, args, kwds)


class Frozen:
    """A distribution with its parameters fixed, which may be traced."""

    def __init__(self, dist: Distribution, args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
        self.dist = dist
        self.args = args
        self.kwds = kwds

    def __repr__(self) -> str:
        return f"{self.dist!r} with {len(self.args) + len(self.kwds)} parameters"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self.dist, name)

        def called(*points: Array, **options: Option) -> Result:
            return method(*points, *self.args, **self.kwds, **options)

        return called

    def rvs(self, size: ShapeLike = None, random_state: Option = None) -> Array:
        """Samples; see the distribution's own."""
        return self.dist.rvs(*self.args, size=size, random_state=random_state, **self.kwds)


def distribution(name: str) -> Distribution:
    """The distribution of that name."""
    law = LAWS[name]
    return Discrete(law) if law.discrete else Continuous(law)


def documentation(law: Law) -> str:
    """The docstring of a distribution: what it is, its parameters, and an example that runs."""
    point, *shapes = law.example
    called = f"fg.scipy.stats.{law.name}"
    values = ", ".join([repr(s) for s in shapes])
    tail = f", {values}" if values else ""
    parameters = f"Shape parameters: {', '.join(law.shapes)}. " if law.shapes else ""
    if law.discrete:
        about = (
            f">>> value = fg.jit({called}.logpmf)({point}{tail})\n"
            f">>> bool(np.isclose(np.exp(value), {called}.pmf({point}{tail})))\n"
        )
    elif law.formula("cdf") is None:
        about = (
            f">>> value = fg.jit({called}.logpdf)({point}{tail})\n"
            f">>> bool(np.isclose(np.exp(value), {called}.pdf({point}{tail})))\n"
        )
    else:
        about = (
            f">>> slope = fg.grad({called}.cdf)({point}{tail})\n"
            f">>> bool(np.isclose(slope, {called}.pdf({point}{tail})))\n"
        )
    return f"{law.about}\n\n{parameters}See `scipy.stats.{law.name}` for its methods.\n\n{about}True\n"
