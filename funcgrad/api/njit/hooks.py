"""What the Python source of Numba's functions asks while it is traced, in Numba's meaning of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from random import Random
from types import BuiltinMethodType, FunctionType, MappingProxyType, ModuleType
from typing import Any, NoReturn

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.njit.frozen import with_frozen_names
from funcgrad.api.njit.kinds import (
    behind_callback,
    is_compiled,
    is_numbas,
    is_vectorized,
    python_function,
    traced_within,
)
from funcgrad.api.njit.numbers import as_argument, widened, with_wide_items
from funcgrad.api.njit.overlaps import refuse_overlap
from funcgrad.api.njit.overloads import Overload, overloads_of, replacement
from funcgrad.api.njit.refusals import SPOKEN, refuse_records
from funcgrad.api.njit.standins import CASTS, MATHEMATICS, cast_to, enumerated
from funcgrad.api.njit.vectorized import mapped
from funcgrad.api.njit.writes import CapturedArguments
from funcgrad.api.python.blocks import items
from funcgrad.api.python.blocks.recording import Block, current_block
from funcgrad.api.python.hooks import Hooks
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import Source, is_library_code
from funcgrad.tracing.kinds import is_generator
from funcgrad.tracing.python.definitions import NoSource
from funcgrad.tracing.python.functions import rewritten_function
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.types import Anything, Array, Index, NumbaFunction, Result, Tree

DEEPEST = 200
"""Calls of one function of Numba's inside of itself, from which on they are taken to have no end."""
DEEPEST_BRANCHES = 5
"""The same, each in a branch that is traced: each of them is recorded more than once."""
_DEPTHS: ContextVar[Mapping[int, tuple[int, int, Block | None]]] = ContextVar(
    "funcgrad_njit_depths", default=MappingProxyType({})
)
"""By the id of a function the calls of it that are open, those of them in new blocks, and the last block."""


STAND_INS: dict[Any, Any] = {**CASTS, **MATHEMATICS, np.ndenumerate: enumerated}
"""What is called instead, by function."""


class NjitHooks(Hooks):
    """The hooks of Numba's code, which calls what Python's own could not give traced values."""

    whole_numbers_wrap = True

    def __init__(self, asking: Hooks) -> None:
        super().__init__(asking.unroll)
        self.share(asking)

    def is_users(self, function: FunctionType) -> bool:
        """Whether the function is traced: Numba compiles what it is told to, of installed packages too."""
        return not is_library_code(function.__code__)

    def function(self, function: Anything) -> Anything:
        """What is called instead of `function`."""
        function = behind_callback(function)
        found = instead_of(function)
        if found is not None:
            return found
        overloads = overloads_of(function)
        return self.overloaded(function, overloads) if overloads else super().function(function)

    def overloaded(self, function: FunctionType, overloads: Sequence[Overload]) -> Callable[..., Any]:
        """What is called instead of a function with overloads: what they give for the arguments."""

        def calling(*args: Tree, **kwargs: Tree) -> Result:
            return self.function(replacement(function, overloads, args, kwargs))(*args, **kwargs)

        calling.__name__ = function.__name__
        return calling

    def item(self, x: object, index: Index) -> object:
        """``x[index]``"""
        refuse_records(x)
        return widened(super().item(x, index))

    def augmented(self, operation: str, x: object, value: object) -> object:
        """What ``x += value`` and its kin bind the name to."""
        refuse_overlap(x, value)
        return super().augmented(operation, x, value)

    def gone_over(self, iterable: object) -> object:
        """What a ``for`` goes over."""
        return with_wide_items(iterable)


def instead_of(function: object) -> object:
    """What stands in for a function in Numba's code; None where it is as in any traced function."""
    if isinstance(function, type | BuiltinMethodType | FunctionType) and function in STAND_INS:
        return STAND_INS[function]
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        return of_method(function, owner)
    if is_numbas(function) and not is_compiled(function):
        return of_numbas_own(function)
    return refusing(function) if is_class_of_numbas(function) else None


def is_class_of_numbas(function: object) -> bool:
    """Whether it is a class of the user's whose objects Numba holds: a structref's, or a jitclass."""
    return isinstance(function, type) and any(map(is_numbas, (type(function), *function.__mro__[:-1])))


def of_method(function: Anything, owner: Anything) -> object:
    """What stands in for a method."""
    if owner.__class__ is np.ndarray:
        return copying(function) if function.__name__ in _COPYING else None
    if is_generator(owner) or isinstance(owner, Random):
        return refusing_draws(function)
    return refusing(owner) if is_numbas(owner) and not is_compiled(owner) else None


_COPYING = frozenset({"copy", "astype", "flatten"})
"""Methods of arrays whose results are arrays of their own."""


def copying(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that makes an array, which traced values can be written into."""

    def copy(*args: Tree, **kwargs: Tree) -> Array:
        return INSIDE.opened(method(*args, **kwargs))

    return copy


def of_numbas_own(function: object) -> object:
    """What stands in for one of Numba's own: ``prange``, and types as casts."""
    name = getattr(function, "__name__", type(function).__name__)
    if name in ("prange", "internal_prange"):
        return items.traced_range
    if name in _AS_THEY_ARE:
        return function
    dtype = dtype_of(function)
    return refusing(function) if dtype is None else cast_to(dtype, dtype.type)


def refusing(owner: object) -> Callable[..., Any]:
    """What raises for one of Numba's own."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise UnsupportedFunctionError(
            f"{spelled(owner)} is Numba's own and has no derivative here",
            source=here(),
            remedy=f"{instead(owner)}; or declare the function around it with fg.custom_vjp, with its "
            "derivative.",
        )

    return refuse


def instead(owner: object) -> str:
    """What to write instead of one of Numba's own."""
    if type(owner).__name__ == "StencilFunc":
        return (
            "Write a stencil as the loops that it stands for: zeros, and y[i] = ... for i in range(1, n - 1)"
        )
    return "Use arrays, tuples and numbers in its place"


_AS_THEY_ARE = frozenset({"literal_unroll", "literally", "get_num_threads", "get_thread_id"})


def spelled(function: object) -> str:
    """The name of an object of Numba's."""
    kind = function if hasattr(function, "__name__") else type(function)
    return SPOKEN.get(kind.__name__) or f"{kind.__module__}.{kind.__name__}"


def dtype_of(numbas_type: object) -> np.dtype[Any] | None:
    """The dtype of a number type of Numba's; None for anything else."""
    try:
        return np.dtype(str(numbas_type)) if is_type(numbas_type) else None
    except TypeError:
        return None


def is_type(x: object) -> bool:
    """Whether `x` is one of Numba's types."""
    return type(x).__module__.startswith("numba.core.types.")


def refusing_draws(function: Callable[..., Any]) -> Callable[..., Any]:
    """A draw of random numbers: Numba's come from a generator of its own, call by call."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise UnsupportedFunctionError(
            f"{function.__name__} draws anew at every call of a compiled function; here it would draw once",
            source=here(),
            remedy="Draw before, and give the function the numbers as an argument; or use fg.random.",
        )

    return refuse


# -- a function of Numba's as one that is traced ---------------------------------------------------------


def traced_njit(dispatcher: NumbaFunction, hooks: Hooks) -> Callable[..., Any]:
    """A function of Numba's: its Python source where something traced is given, else its machine code."""
    own = hooks if isinstance(hooks, NjitHooks) else NjitHooks(hooks)

    if is_vectorized(dispatcher):
        return traced_vectorized(dispatcher, own)

    def calling(*args: Tree, **kwargs: Tree) -> Result:
        given = (*args, *kwargs.values(), dispatcher)
        if not traced_within(given, INSIDE.is_open):
            return INSIDE.opened(dispatcher(*args, **kwargs))
        arrays = CapturedArguments()
        args = tuple([as_argument(arrays.of(x)) for x in args])
        kwargs = {key: as_argument(arrays.of(x)) for key, x in kwargs.items()}
        arrays.watch()
        # Numba's code divides and wraps without a word.
        with one_deeper(dispatcher), np.errstate(all="ignore"):
            result = source_of(dispatcher, own)(*args, **kwargs)
        arrays.refuse_written(name)
        return result

    calling.__name__ = name = python_function(dispatcher).__name__
    return calling


def traced_vectorized(vectorized: NumbaFunction, hooks: NjitHooks) -> Callable[..., Any]:
    """A function of ``numba.vectorize`` or ``guvectorize``: mapped where something traced is given."""

    def example(*args: Array) -> Array:
        return source_of(vectorized, hooks)(*args)

    over_arrays = mapped(vectorized, example)

    def calling(*args: Tree, **kwargs: Tree) -> Result:
        if not traced_within((*args, *kwargs.values()), INSIDE.is_open):
            return INSIDE.opened(vectorized(*args, **kwargs))
        return over_arrays(*args, **kwargs)

    calling.__name__ = over_arrays.__name__
    return calling


def source_of(dispatcher: object, hooks: NjitHooks) -> FunctionType:
    """The Python function, rewritten; raises UnsupportedFunctionError where its source is not to be had."""
    function = with_frozen_names(python_function(dispatcher))
    try:
        return rewritten_function(function, hooks)
    except NoSource as reason:
        code = function.__code__
        raise UnsupportedFunctionError(
            f"{function.__name__}, a function of Numba's, cannot be traced: {reason}",
            source=Source(code, 0),
            remedy="What is traced is its source, of a file or a notebook, which is no generator's; "
            "or declare its derivative with fg.custom_vjp.",
        ) from None


@contextmanager
def one_deeper(dispatcher: object) -> Iterator[None]:
    """Within: the function is being traced; raises where that has no end."""
    depths, block = _DEPTHS.get(), current_block()
    depth, branches, last = depths.get(id(dispatcher), (0, 0, block))
    branches += block is not last
    if depth > DEEPEST or branches > DEEPEST_BRANCHES:
        raise UnsupportedFunctionError(
            f"{python_function(dispatcher).__name__} calls itself without an end while it is traced",
            source=here(),
            remedy="How deep a recursion goes may depend on whole numbers that are given as such, and not "
            "on traced values: write a loop, or declare its derivative with fg.custom_vjp.",
        )
    token = _DEPTHS.set({**depths, id(dispatcher): (depth + 1, branches, block)})
    try:
        yield
    finally:
        _DEPTHS.reset(token)
