"""Tells Numba what a traced array is to it: nothing that its compiled functions take.

Without this, calling an ``@njit`` function on a traced array ends in Numba's typing error.
"""

from __future__ import annotations

from typing import NoReturn

from numba.extending import typeof_impl

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import Source, user_location
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Foreign


@typeof_impl.register(Tracer)  # type: ignore[untyped-decorator, unused-ignore]
def refused(x: Tracer, context: Foreign) -> NoReturn:
    """Raise UnsupportedFunctionError at the user's line, where a traced array is given to compiled code."""
    raise UnsupportedFunctionError(
        f"a function compiled by Numba takes the value of a traced {x.aval}, which would drop its gradient",
        source=Source(*user_location()),
        remedy="Call the Python function instead, f.py_func of an @njit function f: funcgrad differentiates "
        "it, and fg.jit compiles it. Write a stencil as the loop that it stands for.\n"
        "Or give the call a rule with fg.custom_vjp.",
    )
