"""``splrep``, ``splev`` and their kin: splines as triples of knots, coefficients and a degree.

They are B-splines, whose coefficients are followed by ``k + 1`` zeros that nothing reads.
"""

from __future__ import annotations

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.interpolate.bsplines import BSpline, clamped_knots, make_interp_spline, make_lsq_spline
from funcgrad.scipy.interpolate.operands import dims, inexact, is_traced, scipys
from funcgrad.scipy.originals import known_value
from funcgrad.types import Array, ArrayLike, Foreign, Result

__all__ = ["splantider", "splder", "splev", "splint", "splrep"]


def splrep(
    x: ArrayLike,
    y: ArrayLike,
    w: ArrayLike = None,
    xb: ArrayLike = None,
    xe: ArrayLike = None,
    k: int = 3,
    task: int = 0,
    s: float | None = None,
    t: ArrayLike = None,
    full_output: int = 0,
    per: int = 0,
    quiet: int = 1,
) -> Result:
    """The spline through values, or near them with given knots, by `scipy.interpolate.splrep`.

    Traced values take ``s=0`` (as without weights), and ``task=-1`` with inner knots `t`.

    >>> x = np.linspace(0.0, 3.0, 7)
    >>> def middle(y):
    ...     return fg.scipy.interpolate.splev(1.2, fg.scipy.interpolate.splrep(x, y))
    >>> print(round(float(middle(x**3)), 6), round(float(fg.grad(middle)(x**3).sum()), 6))
    1.728 1.0
    """
    if not is_traced(x, y, w, xb, xe, t):
        return scipys("splrep")(x, y, w, xb, xe, k, task, s, t, full_output, per, quiet)
    x, y = inexact(x), inexact(y)
    knots = None if t is None else inexact(t)
    if dims(x)[0] <= k:
        raise TypeError("m > k must hold")
    smoothed = (s is None and w is not None) or (s is not None and (known_value(s) is None or s > 0))
    if per or full_output or task == 1 or (knots is None and (smoothed or xb is not None or xe is not None)):
        raise UnsupportedFunctionError(
            "splrep of traced values takes no per, full_output, task=1, nor smoothing (s > 0, or weights "
            "without s=0)",
            remedy="Use fg.scipy.interpolate.make_smoothing_spline, or task=-1 with inner knots t.",
        )
    if knots is None:
        found = make_interp_spline(x, y, k)
    else:
        first, last = x[0] if xb is None else inexact(xb), x[-1] if xe is None else inexact(xe)
        found = make_lsq_spline(x, y, clamped_knots(first, knots, last, k), k, w)
    return triple(found)


def triple(spline: BSpline, *, repeats: float = 0.0) -> tuple[Array, Array, int]:
    """The knots, the coefficients with zeros after them (or `repeats` of the last), and the degree."""
    c = spline.c
    further = np.zeros((dims(spline.t)[0] - dims(c)[0], *dims(c)[1:]))
    if repeats:
        further = further + repeats * c[-1:]
    return spline.t, np.concatenate([c, further], axis=0), spline.k


def spline_of(tck: Foreign) -> BSpline:
    """The spline of a triple."""
    t, c, k = tck
    t, c = inexact(t), inexact(c)
    return BSpline(t, c[: dims(t)[0] - int(k) - 1], int(k))


def is_parametric(tck: Foreign) -> bool:
    """Whether the coefficients are a list of those of several splines, as `splprep` gives them."""
    c = tck[1]
    return isinstance(c, list | tuple) and len(c) > 0 and len(np.shape(c[0])) > 0


def ours(tck: object) -> bool:
    """Whether it is a spline as an object."""
    return not isinstance(tck, tuple | list)


def splev(x: ArrayLike, tck: Foreign, der: int = 0, ext: int = 0) -> Result:
    """The value at `x` of a spline or of one of its derivatives, by `scipy.interpolate.splev`.

    ``ext=2``, which raises outside of the knots, needs positions whose values are known.

    >>> tck = fg.scipy.interpolate.splrep(np.arange(6.0), np.arange(6.0) ** 2)
    >>> print(round(float(fg.grad(lambda x: fg.scipy.interpolate.splev(x, tck))(1.5)), 6))
    3.0
    """
    if ours(tck):
        return tck(x, der, extrapolate=ext == 0)
    if is_parametric(tck):
        return [splev(x, (tck[0], c, tck[2]), der, ext) for c in tck[1]]
    if not is_traced(x, *tck[:2]):
        return scipys("splev")(x, tck, der, ext)
    if not 0 <= der <= tck[2]:
        raise ValueError(f"0<=der={der}<=k={tck[2]} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    spline, x = spline_of(tck), inexact(x)
    first, last = ends(spline)
    if ext == 0 or (ext == 3 and der):  # as FITPACK has it, derivatives go on beyond the ends
        return spline(x, der)
    within = np.clip(x, first, last)
    if ext == 2:
        known = known_value(within == x)
        if known is None:
            raise UnsupportedFunctionError(
                "splev(ext=2) of a traced position asks for its value, and none is known here",
                remedy="Use ext=0, 1 or 3.",
            )
        if not np.all(known):
            raise ValueError("Invalid input data")
    found = spline(within, der)
    return found if ext != 1 else np.where(within == x, found, 0.0)


def ends(spline: BSpline) -> tuple[Array, Array]:
    """Where the first and the last interval of the spline end."""
    return spline.t[spline.k], spline.t[dims(spline.t)[0] - spline.k - 1]


def splint(a: ArrayLike, b: ArrayLike, tck: Foreign, full_output: int = 0) -> Result:
    """The integral of a spline, which is 0 outside of its knots, by `scipy.interpolate.splint`.

    >>> tck = fg.scipy.interpolate.splrep(np.arange(6.0), np.arange(6.0) ** 2)
    >>> print(round(float(fg.grad(lambda b: fg.scipy.interpolate.splint(0.0, b, tck))(2.0)), 6))
    4.0
    """
    if ours(tck):
        return tck.integrate(a, b, extrapolate=False)
    if is_parametric(tck):
        return [splint(a, b, (tck[0], c, tck[2])) for c in tck[1]]
    if not is_traced(a, b, *tck[:2]):
        return scipys("splint")(a, b, tck, full_output)
    if full_output:
        raise UnsupportedFunctionError(
            "splint of traced values takes no full_output", remedy="Leave out full_output."
        )
    spline = spline_of(tck)
    first, last = ends(spline)
    low, high = np.clip(inexact(a), first, last), np.clip(inexact(b), first, last)
    return spline.integrate(low, high)


def splder(tck: Foreign, n: int = 1) -> Result:
    """The derivative of a spline, as a triple, by `scipy.interpolate.splder`.

    >>> tck = fg.scipy.interpolate.splrep(np.arange(6.0), np.arange(6.0) ** 2)
    >>> print(round(float(fg.scipy.interpolate.splev(2.0, fg.scipy.interpolate.splder(tck))), 6))
    4.0
    """
    if ours(tck):
        return tck.derivative(n)
    if not is_traced(*tck[:2]):
        return scipys("splder")(tck, n)
    if n < 0:
        return splantider(tck, -n)
    if n > tck[2]:
        raise ValueError(f"Order of derivative (n = {n!r}) must be <= order of spline (k = {tck[2]!r})")
    return triple(spline_of(tck).derivative(n))


def splantider(tck: Foreign, n: int = 1) -> Result:
    """An antiderivative of a spline, as a triple, by `scipy.interpolate.splantider`.

    >>> tck = fg.scipy.interpolate.splrep(np.arange(6.0), np.arange(6.0) ** 2)
    >>> print(round(float(fg.scipy.interpolate.splev(3.0, fg.scipy.interpolate.splantider(tck))), 6))
    9.0
    """
    if ours(tck):
        return tck.antiderivative(n)
    if not is_traced(*tck[:2]):
        return scipys("splantider")(tck, n)
    if n < 0:
        return splder(tck, -n)
    return triple(spline_of(tck).antiderivative(n), repeats=1.0)
