"""What functions of samples share: SciPy's own where nothing is traced, axes, and probabilities of tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import numpy as np

from funcgrad import numpy as fnp
from funcgrad import tree
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.scipy.reals import require_real
from funcgrad.scipy.stats.descriptive import refuse_nan_policy, scipys
from funcgrad.scipy.stats.distributions import Distribution
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand, holds_tracer
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike

__all__ = ["Axis", "along_last", "floats", "kept", "refuse", "statistic", "tail"]

Axis = int | Sequence[int] | None
P = ParamSpec("P")
R = TypeVar("R")


def statistic(formula: Callable[P, R]) -> Callable[P, R]:
    """A function of SciPy's name: SciPy's own on what is not traced, the formula on what is.

    >>> from funcgrad.scipy.stats.of_samples.trimmed import tmean
    >>> print(tmean(np.array([1.0, 2.0])), fg.grad(tmean)(np.array([1.0, 2.0])))
    1.5 [0.5 0.5]
    """
    name = formula.__name__
    expected = signature(formula)

    @wraps(formula)
    def called(*args: P.args, **options: P.kwargs) -> R:
        bound = expected.bind(*args, **options)
        given = [*bound.args, *bound.kwargs.values()]
        samples = [x for x in given if is_traced(x)]
        if not samples:
            plain: R = scipys(name)(*args, **options)
            return plain
        policy = bound.arguments.get("nan_policy", "propagate")
        for x in samples:
            refuse_nan_policy(name, policy, x)
            require_real(asoperand(x), f"scipy.stats.{name}")
        return of_dtype(formula(*args, **options), given)

    return called


def of_dtype(outcome: R, given: Sequence[object]) -> R:
    """An outcome in single precision where all samples are: weights of elements are in double precision."""
    kinds = [aval(x).dtype for x in given if isinstance(x, Tracer | np.ndarray | np.generic)]
    inexact = [d for d in kinds if d.kind == "f"]
    if not inexact or np.result_type(*inexact) != np.float32:
        return outcome
    narrowed: R = tree.map(lambda x: cast(x, np.float32) if isinstance(x, Tracer) else x, outcome)
    return narrowed


def is_traced(x: object) -> bool:
    """Whether a value, or an element of a list, is traced."""
    return isinstance(x, Tracer) or (isinstance(x, list | tuple) and holds_tracer([x]))


def floats(x: ArrayLike) -> Array:
    """A sample, traced or not, as floating-point numbers."""
    array = fnp.asarray(asoperand(x))
    return array if aval(array).inexact else cast(array, np.float64)


def along_last(x: Array, axis: Axis) -> Array:
    """The sample with the elements that belong together along its last axis."""
    if axis is None:
        return fnp.reshape(x, (-1,))
    if isinstance(axis, int):
        return fnp.moveaxis(x, axis, -1)
    moved = fnp.moveaxis(x, tuple(axis), tuple(range(-len(axis), 0)))
    return fnp.reshape(moved, (*shape_of(moved)[: -len(axis)], -1))


def kept(value: Array, x: Array, axis: Axis, keepdims: bool) -> Array:
    """What was found along the axes of `x`, with axes of one element in their place if `keepdims`."""
    if not keepdims:
        return value
    ndim = len(shape_of(x))
    given = range(ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return fnp.expand_dims(value, tuple(sorted(k % ndim for k in given)))


def tail(
    value: Array, law: Distribution, alternative: str, *parameters: ArrayLike, symmetric: bool = True
) -> Array:
    """The probability of a statistic at least as extreme, if it is distributed after `law`."""
    if alternative == "less":
        return law.cdf(value, *parameters)
    if alternative == "greater":
        return law.sf(value, *parameters)
    if alternative != "two-sided":
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    if symmetric:
        return 2.0 * law.sf(fnp.abs(value), *parameters)
    return 2.0 * fnp.minimum(law.cdf(value, *parameters), law.sf(value, *parameters))


def refuse(what: str, remedy: str) -> UnsupportedFunctionError:
    """The error for an option that traced values do not have."""
    return UnsupportedFunctionError(
        f"scipy.stats.{what} is not supported on traced values",
        source=Source(*user_location()),
        remedy=remedy,
    )
