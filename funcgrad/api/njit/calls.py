"""Functions of Numba's under un-jitted transforms: by way of `jit`, which is what their author wants.

A transform of such a function is compiled as a whole; so is one that a traced function calls. Compiled once
for each kind of arguments, they are kept by function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funcgrad.api.calling.transformed import AT_ONCE, TransformedFunction
from funcgrad.api.njit.kinds import is_compiled, njit_behind, python_function, traced_within
from funcgrad.api.python.functions import OTHER_KINDS
from funcgrad.api.python.seen import SEEN_OTHERWISE
from funcgrad.later import Later
from funcgrad.shared import Recent
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.types import NumbaFunction, Result, Tree

if TYPE_CHECKING:
    from funcgrad.api.jit import JittedFunction
    from funcgrad.api.python.hooks import Hooks


# What compiles, and what is called in compiled code: a gradient of a function of NumPy's needs neither.
compiling = Later("funcgrad.api.jit")
njit_hooks = Later("funcgrad.api.njit.hooks")
opaque = Later("funcgrad.api.njit.opaque")

MOST_FUNCTIONS = 500
_COMPILED: Recent[JittedFunction[..., Any]] = Recent(MOST_FUNCTIONS)
"""By the id of a function of Numba's, which is kept alive by what was made of it."""


def compiled(dispatcher: NumbaFunction) -> JittedFunction[..., Any]:
    """The function as `jit` makes it, made once."""
    found = _COMPILED.get(id(dispatcher))
    return found if found is not None else _COMPILED.keep(id(dispatcher), compiling.jit(dispatcher))


def called_unjitted(dispatcher: NumbaFunction) -> Callable[..., Any]:
    """What is called instead of a function of Numba's while an un-jitted trace is open."""

    def calling(*args: Tree, **kwargs: Tree) -> Result:
        given = (*args, *kwargs.values(), dispatcher)
        if not traced_within(given, INSIDE.is_open):
            return INSIDE.opened(dispatcher(*args, **kwargs))
        for x in given:
            INSIDE.becomes_traced(x)
        return compiled(dispatcher)(*args, **kwargs)

    calling.__name__ = python_function(dispatcher).__name__
    return calling


def called_jitted(dispatcher: NumbaFunction, hooks: Hooks) -> Callable[..., Any]:
    """What is called instead of a function of Numba's in code that `jit` has rewritten."""
    found: Callable[..., Any] | None = None
    if isinstance(hooks, njit_hooks.NjitHooks):
        found = opaque.DECLARED.get(id(dispatcher))
    return njit_hooks.traced_njit(dispatcher, hooks) if found is None else found


def is_of_njit(function: object) -> bool:
    """Whether it is a function of Numba's, or a transform of one."""
    return njit_behind(function) is not None


def compiled_now(function: TransformedFunction[..., Any]) -> TransformedFunction[..., Any]:
    """A transform of a function of Numba's, compiled."""
    found: TransformedFunction[..., Any] = compiling.jit(function)
    return found


OTHER_KINDS.append((is_compiled, called_jitted))
SEEN_OTHERWISE.append((is_compiled, called_unjitted))
AT_ONCE.append((is_of_njit, compiled_now))
