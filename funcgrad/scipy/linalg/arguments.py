"""What the functions of this package share: SciPy where nothing is traced, and options that are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from funcgrad.numpy.dispatch import unsupported
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.scipy.originals import at_hand, originals_of
from funcgrad.types import Array, ArrayLike, Option

P = ParamSpec("P")
R = TypeVar("R")

scipys = originals_of("linalg")
"""SciPy's functions and classes by name."""


REMEDIES = {
    ("eig", "b"): "Use fg.scipy.linalg.eig(fg.scipy.linalg.solve(b, a)), if b has an inverse.",
    ("eigvals", "b"): "Use fg.scipy.linalg.eigvals(fg.scipy.linalg.solve(b, a)), if b has an inverse.",
    ("eig", "left"): "Take the columns of np.conj(np.linalg.inv(vr)).T, with vr of the right vectors.",
    ("eigh", "subset_by_value"): "Use subset_by_index, or part of all eigenvalues.",
}
"""What keeps the gradient instead, by the function and the option."""


def refuse(name: str, given: Mapping[str, Any]) -> None:
    """Raise UnsupportedFunctionError for the first option that is given and not None or False."""
    for option, value in given.items():
        if value is not None and value is not False:
            error = unsupported(f"scipy.linalg.{name} with {option}={value!r}")
            error.remedy = REMEDIES.get((name, option), error.remedy)
            raise error


def require_finite(*arrays: ArrayLike) -> None:
    """Raise ValueError for an infinite element or a NaN, as SciPy does, where the values are at hand."""
    for x in arrays:
        value = at_hand(x)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc" and not np.isfinite(value).all():
            raise ValueError(
                f"{aval(x)} must not contain infs or NaNs; check_finite=False leaves it unchecked"
            )


def checks_finite(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which looks at its arrays first where SciPy does: unless `check_finite` is false."""
    names = list(signature(function).parameters)
    place = names.index("check_finite") if "check_finite" in names else len(names)

    @wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        wanted = args[place] if len(args) > place else options.get("check_finite", True)
        if wanted:
            for x in args:
                require_finite(*(x if isinstance(x, tuple) else (x,)))
        return function(*args, **options)

    return checked


def in_doubles(x: ArrayLike) -> Array:
    """`x` in the precision in which SciPy computes a few functions, whatever they are given."""
    return cast(x, np.result_type(aval(x).dtype, np.float64))


def way_of(trans: Option) -> str:
    """``N``, ``T`` or ``C`` for any of SciPy's spellings of `trans`."""
    found = {0: "N", 1: "T", 2: "C"}.get(trans, trans)
    if found not in ("N", "T", "C"):
        raise ValueError(f"trans={trans!r} is none of 0, 1, 2, 'N', 'T' and 'C'")
    return str(found)
