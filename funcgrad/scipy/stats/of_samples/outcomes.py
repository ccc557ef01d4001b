"""What tests and fits return: tuples with SciPy's names, with attributes beside their elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from funcgrad import numpy as fnp
from funcgrad import tree
from funcgrad.scipy.stats.distributions import distribution
from funcgrad.scipy.stats.of_samples.statistic import refuse
from funcgrad.types import Anything, Array

__all__ = [
    "ConfidenceInterval",
    "CramerVonMisesResult",
    "DescribeResult",
    "DirectionalStats",
    "LinregressResult",
    "PearsonRResult",
    "SignificanceResult",
    "TtestResult",
    "with_attributes",
]


T = TypeVar("T", bound=tuple[Any, ...])


class ConfidenceInterval(NamedTuple):
    """The ends of an interval."""

    low: Array
    high: Array


class SignificanceResult(NamedTuple):
    """A statistic, and the probability of one as extreme."""

    statistic: Array
    pvalue: Array


class DescribeResult(NamedTuple):
    """What `describe` says of a sample."""

    nobs: int
    minmax: tuple[Array, Array]
    mean: Array
    variance: Array
    skewness: Array
    kurtosis: Array


class DirectionalStats(NamedTuple):
    """The mean of directions, and how long it was."""

    mean_direction: Array
    mean_resultant_length: Array


class CramerVonMisesResult(NamedTuple):
    """How far a sample is from a distribution."""

    statistic: Array

    @property
    def pvalue(self) -> Array:
        """The probability, which is SciPy's, of values."""
        raise refuse(
            "cramervonmises(...).pvalue",
            "Call SciPy's on np.asarray(fg.stop_gradient(x)) where no gradient is meant to flow.",
        )


class _Line(NamedTuple):
    slope: Array
    intercept: Array
    rvalue: Array
    pvalue: Array
    stderr: Array


class LinregressResult(_Line):
    """A line through points; five elements, and the standard error of the intercept beside them."""

    intercept_stderr: Array


class TtestResult(SignificanceResult):
    """The outcome of a test after Student."""

    df: Array
    estimate: Array
    standard_error: Array
    alternative: str

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Where the mean, or the difference of means, is to be expected."""
        return interval(
            self.alternative,
            confidence_level,
            lambda p: self.estimate + self.standard_error * distribution("t").ppf(p, self.df),
            -math.inf,
            math.inf,
        )


class PearsonRResult(SignificanceResult):
    """A coefficient of correlation."""

    n: int
    alternative: str

    @property
    def correlation(self) -> Array:
        """The coefficient."""
        return self.statistic

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Where the coefficient is to be expected, by Fisher's transformation."""
        if self.n <= 3:
            return ConfidenceInterval(self.statistic * 0.0 - 1.0, self.statistic * 0.0 + 1.0)
        z = fnp.arctanh(self.statistic)
        return interval(
            self.alternative,
            confidence_level,
            lambda p: fnp.tanh(z + distribution("norm").ppf(p) / math.sqrt(self.n - 3.0)),
            -1.0,
            1.0,
        )


def interval(
    alternative: str, level: float, at: Callable[[float], Array], lowest: float, highest: float
) -> ConfidenceInterval:
    """The interval between two quantiles, one of which an alternative of one side leaves at its end."""
    if not 0.0 <= level <= 1.0:
        raise ValueError("`confidence_level` must be a number between 0 and 1.")
    if alternative == "two-sided":
        return ConfidenceInterval(at(0.5 - 0.5 * level), at(0.5 + 0.5 * level))
    if alternative == "less":
        high = at(level)
        return ConfidenceInterval(high * 0.0 + lowest, high)
    low = at(1.0 - level)
    return ConfidenceInterval(low, low * 0.0 + highest)


def with_attributes(cls: type[T], *elements: Array, **attributes: object) -> T:
    """A tuple of a class, with attributes that are no elements."""
    made: T = cls._make(elements)  # type: ignore[attr-defined]
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def _register(cls: type, *names: str, fixed: tuple[str, ...] = ()) -> None:
    """Make the attributes of a class of outcomes pass through transformations with the elements."""

    def flatten(x: Anything) -> tuple[list[Any], tuple[Any, ...]]:
        return [*x, *[getattr(x, name) for name in names]], tuple(getattr(x, name) for name in fixed)

    def unflatten(aux: tuple[Any, ...], children: Sequence[Any]) -> Anything:
        given = list(children)
        count = len(given) - len(names)
        attributes = dict(zip((*names, *fixed), (*given[count:], *aux), strict=True))
        return with_attributes(cls, *given[:count], **attributes)

    tree.register_pytree_node(cls, flatten, unflatten)


_register(LinregressResult, "intercept_stderr")
_register(TtestResult, "df", "estimate", "standard_error", fixed=("alternative",))
_register(PearsonRResult, fixed=("n", "alternative"))
