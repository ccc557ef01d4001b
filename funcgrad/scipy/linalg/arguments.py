"""What the functions of this package share: SciPy where nothing is traced, and options that are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from funcgrad.numpy.dispatch import unsupported
from funcgrad.ops.structure import aval, cast
from funcgrad.scipy.originals import originals_of

scipys = originals_of("linalg")
"""SciPy's functions and classes by name."""


def refuse(name: str, given: Mapping[str, Any]) -> None:
    """Raise UnsupportedFunctionError for the first option that is given and not None or False."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise unsupported(f"scipy.linalg.{name} with {option}={value!r}")


def in_doubles(x: Any) -> Any:
    """`x` in the precision in which SciPy computes a few functions, whatever they are given."""
    return cast(x, np.result_type(aval(x).dtype, np.float64))


def way_of(trans: Any) -> str:
    """``N``, ``T`` or ``C`` for any of SciPy's spellings of `trans`."""
    found = {0: "N", 1: "T", 2: "C"}.get(trans, trans)
    if found not in ("N", "T", "C"):
        raise ValueError(f"trans={trans!r} is none of 0, 1, 2, 'N', 'T' and 'C'")
    return str(found)
