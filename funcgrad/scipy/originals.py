"""SciPy's own functions and classes by name, imported when the first of a package is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike


def original(package: str, name: str) -> Anything:
    """What a package of SciPy's offers under a name.

    >>> original("linalg", "expm").__module__
    'scipy.linalg._matfuncs'
    """
    return getattr(import_module(f"scipy.{package}"), name)


def originals_of(package: str) -> Callable[[str], Any]:
    """`original` of one package."""
    return partial(original, package)


def known_value(x: ArrayLike) -> Anything:
    """A traced value as an array, None where there is none, as under `jit`; what is not traced as it is."""
    value = asoperand(x) if isinstance(x, list | tuple | Tracer) else x
    if not isinstance(value, Tracer):
        return x
    return np.asarray(value.concrete()) if value.has_value() else None


def at_hand(x: ArrayLike) -> Anything:
    """A traced value where it has been computed already, otherwise None: for checks that evaluate nothing."""
    return x.value_at_hand() if isinstance(x, Tracer) else x


def raise_as_scipy(package: str, name: str, *args: object, **options: object) -> None:
    """Raise what SciPy raises for these arguments, where the traced ones have values; for cheap functions."""
    given = [*args, *options.values()]
    values = [known_value(x) for x in given]
    if all((value is None) == (x is None) for value, x in zip(values, given, strict=True)):
        named = dict(zip(options, values[len(args) :], strict=True))
        original(package, name)(*values[: len(args)], **named)
