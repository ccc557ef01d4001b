"""Objects of SciPy's as objects of ours: a spline, a frozen distribution, that meets a traced value.

`scipy.stats.norm.logpdf(x)` and ``spline(x)`` are a method and a call of objects that were made with SciPy.
For those that we have a class for, the same object is made of ours, with the attributes that SciPy's has now.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any

from funcgrad.types import Anything, Foreign


def ours(package: str, name: str) -> Anything:
    """What `funcgrad.scipy` has under a name of SciPy's; None where it has nothing."""
    return getattr(import_module(f"funcgrad.scipy.{package}"), name, None)


# -- distributions -----------------------------------------------------------------------------------------


def distribution(x: Foreign) -> Anything:
    """The distribution of ours, if `x` is SciPy's of that name, or a copy of it."""
    theirs = getattr(sys.modules["scipy.stats"], str(x.name), None)
    same = theirs is not None and type(theirs) is type(x) and theirs.a == x.a and theirs.b == x.b
    return ours("stats", x.name) if same else None


def frozen_distribution(x: Foreign) -> Anything:
    """The frozen distribution."""
    found = distribution(x.dist)
    return None if found is None else found(*x.args, **x.kwds)


def multivariate(x: Foreign) -> Anything:
    """One of the distributions of several numbers."""
    name = type(x).__name__.removesuffix("_gen")
    theirs = getattr(sys.modules["scipy.stats"], name, None)
    return ours("stats", name) if type(theirs) is type(x) else None


def frozen_normal(x: Foreign) -> Anything:
    """A normal distribution of several numbers; where the matrix is singular only SciPy has it."""
    if x.allow_singular:
        return None
    return ours("stats", "multivariate_normal")(x.mean, x.cov_object.covariance)


def frozen_student(x: Foreign) -> Anything:
    """Student's distribution of several numbers."""
    return ours("stats", "multivariate_t")(x.loc, x.shape, x.df)


def frozen_dirichlet(x: Foreign) -> Anything:
    """Dirichlet's distribution."""
    return ours("stats", "dirichlet")(x.alpha)


def density_estimate(x: Foreign) -> Anything:
    """A density made of kernels around a sample."""
    return ours("stats", "gaussian_kde")(x.dataset, x.factor, x.weights)


# -- interpolators -----------------------------------------------------------------------------------------


def piecewise(x: Foreign) -> Anything:
    """A piecewise polynomial, whichever interpolator made it."""
    return ours("interpolate", "PPoly").construct_fast(x.c, x.x, x.extrapolate, x.axis)


def spline(x: Foreign) -> Anything:
    """A spline."""
    return ours("interpolate", "BSpline")(x.t, x.c, x.k, x.extrapolate, x.axis)


def fitted_spline(x: Foreign) -> Anything:
    """A spline through values, or near to them."""
    kind = ours("interpolate", "UnivariateSpline")
    return kind.of_knots(x._eval_args, x.ext)


def values_on_grid(x: Foreign) -> Anything:
    """Values on a rectangular grid."""
    kind = ours("interpolate", "RegularGridInterpolator")
    return kind(x.grid, x.values, x.method, x.bounds_error, x.fill_value)


def values_on_line(x: Foreign) -> Anything:
    """A function through values on a line."""
    kind = {"linear": "linear", "nearest": "nearest", "previous": "previous", "next": "next"}.get(x._kind)
    if x._kind == "spline":
        kind = {1: "slinear", 2: "quadratic", 3: "cubic", 0: "zero"}.get(x._spline.k)
    if kind is None:
        return None
    fill = "extrapolate" if x._extrapolate else x.fill_value
    return ours("interpolate", "interp1d")(
        x.x, x.y, kind, x.axis, bounds_error=None if x._extrapolate else x.bounds_error, fill_value=fill
    )


def radial(x: Foreign) -> Anything:
    """Radial basis functions through scattered values; only SciPy has those of neighbours."""
    if x.neighbors is not None:
        return None
    degree = max((int(sum(row)) for row in x.powers), default=-1)
    values = x.d.view(x.d_dtype).reshape((-1, *x.d_shape))
    return ours("interpolate", "RBFInterpolator")(x.y, values, None, x.smoothing, x.kernel, x.epsilon, degree)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "rv_continuous_frozen": frozen_distribution,
    "rv_discrete_frozen": frozen_distribution,
    "multivariate_normal_gen": multivariate,
    "multivariate_t_gen": multivariate,
    "dirichlet_gen": multivariate,
    "multinomial_gen": multivariate,
    "wishart_gen": multivariate,
    "multivariate_normal_frozen": frozen_normal,
    "multivariate_t_frozen": frozen_student,
    "dirichlet_frozen": frozen_dirichlet,
    "gaussian_kde": density_estimate,
    "PPoly": piecewise,
    "CubicSpline": piecewise,
    "CubicHermiteSpline": piecewise,
    "PchipInterpolator": piecewise,
    "Akima1DInterpolator": piecewise,
    "BSpline": spline,
    "UnivariateSpline": fitted_spline,
    "InterpolatedUnivariateSpline": fitted_spline,
    "LSQUnivariateSpline": fitted_spline,
    "RegularGridInterpolator": values_on_grid,
    "interp1d": values_on_line,
    "RBFInterpolator": radial,
}
"""By the name of SciPy's class, how ours is made."""


def adopted(x: Foreign) -> Anything:
    """The object of ours that does what one of SciPy's does; None where there is none.

    >>> import scipy.interpolate
    >>> spline = scipy.interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 2)
    >>> print(fg.grad(adopted(spline))(1.5).round(6))
    3.0
    """
    kind = type(x)
    if not kind.__module__.startswith("scipy."):
        return None
    make = _KINDS.get(kind.__name__)
    if make is None and kind.__name__.endswith("_gen") and hasattr(x, "name") and hasattr(x, "badvalue"):
        make = distribution
    return None if make is None else make(x)


def adopted_function(function: Anything) -> Anything:
    """Of a method of SciPy's, or of an object that is called, that of ours; None where there is none."""
    if type(function) is not MethodType:
        return adopted(function)
    owner = adopted(function.__self__)
    return None if owner is None else getattr(owner, function.__name__, None)
