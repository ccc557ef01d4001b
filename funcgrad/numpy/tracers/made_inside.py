"""What is called instead of NumPy's and SciPy's functions in the user's code, while a trace is open.

Constructors make open arrays (see `funcgrad.numpy.tracers.open_arrays`); what is given a traced value, or a
list with one in it, keeps it traced; functions of SciPy's are ours where they are given one. Outside of a
trace, and in code of other packages, everything is as it was.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.arrays.copies import array, asanyarray, asarray, ascontiguousarray, check_device
from funcgrad.numpy.arrays.inquiries import c_, r_
from funcgrad.numpy.arrays.layouts import asarray_chkfinite, asfortranarray, require
from funcgrad.numpy.arrays.movement import diag
from funcgrad.numpy.arrays.strided import as_strided
from funcgrad.numpy.dispatch import UNARY, implementation_of
from funcgrad.numpy.tracers import open_operators as _open_operators  # noqa: F401 - given to open arrays
from funcgrad.numpy.tracers.draws import drawing
from funcgrad.numpy.tracers.floating_errors import RAISING, decorated, under_errstate
from funcgrad.numpy.tracers.mattering import CONSTRUCTORS, WHOLE, is_compiled, is_numpys, matters
from funcgrad.numpy.tracers.numbers_inside import DERIVED, of_numbers
from funcgrad.numpy.tracers.open_arrays import (
    OpenArray,
    become_traced,
    given_away,
    hand_out,
    has_traced,
    kinds_among,
    open_among,
    opened,
    plain,
    seen_of,
)
from funcgrad.scipy.adopted import adopted_function
from funcgrad.source import Source, user_location
from funcgrad.tracing.constants import comes_of_inputs, is_constant
from funcgrad.tracing.conversion import elements_of
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.refusals import counterpart, named_in_scipy, refused_by_scipy
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Index, Result, Tree

Function = Callable[..., Any]

CONVERTERS: dict[Any, Function] = {
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asanyarray,
    np.ascontiguousarray: ascontiguousarray,
    np.asfortranarray: asfortranarray,
    np.asarray_chkfinite: asarray_chkfinite,
    np.require: require,
    np.copy: lambda a, order="K", **_: array(a, order=order),
    np.fromiter: lambda iterable, dtype=None, count=-1, **_: array(first_of(iterable, count), dtype),
    np.lib.stride_tricks.as_strided: as_strided,
}
"""Functions that make or see an array of something, and ours for what is traced."""


def first_of(items: ArrayLike, count: int) -> ArrayLike:
    """The first items, all of them for -1; raises ValueError where there are fewer."""
    if count > len(items):
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return items if count < 0 else items[:count]


def is_scalar(element: ArrayLike) -> bool:
    """``np.isscalar``, for which a traced number is one."""
    return not element.aval.shape if type(element) is Tracer else np.isscalar(element)


def iterating(*args: Anything, **kwargs: Anything) -> Anything:
    """``np.nditer``, which would write into a copy of what is traced."""
    flags = [str(flag) for given in kwargs.get("op_flags", args[2:3] or ()) for flag in np.ravel(given)]
    if has_traced(args[:1] or (kwargs.get("op"),)) and any("write" in flag for flag in flags):
        raise UnsupportedFunctionError(
            "np.nditer writes into memory, and a traced array has none",
            source=Source(*user_location()),
            remedy="Write x[index] = value in a loop over np.ndindex(x.shape), or a whole array at once.",
        )
    if has_traced(args[:1] or (kwargs.get("op"),)) and len(args) < 2:
        # Traced numbers are objects to NumPy, which asks to be told that they may be.
        kwargs["flags"] = [*kwargs.get("flags", ()), "refs_ok"]
    return np.nditer(*given_away(args), **kwargs)


def whole(kind: type) -> Function:
    """``np.int64`` and its kin, of traced values: what ``astype`` gives, which has no derivative to lose."""

    def convert(*args: Anything, **kwargs: Anything) -> Anything:
        if len(args) == 1 and not kwargs and type(args[0]) is Tracer and has_gradient(args[0]):
            given: Any = args[0]
            return given.astype(kind)
        return kind(*given_away(args), **kwargs)

    return convert


class Broadcast:
    """``np.broadcast`` of traced arrays: their shape at once, and their elements when they are asked for."""

    def __init__(self, *args: ArrayLike) -> None:
        self._args = args
        self._whole: Any = None
        self.shape = np.broadcast_shapes(*[np.shape(x) for x in args])
        self.ndim = self.nd = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(args)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        return tuple(next(self._of_elements))

    @property
    def _of_elements(self) -> Anything:
        if self._whole is None:
            self._whole = np.broadcast(*[elements_of(x) if type(x) is Tracer else x for x in self._args])
        return self._whole

    def __getattr__(self, name: str) -> Anything:
        if name not in ("index", "iters", "reset"):
            raise AttributeError(f"'numpy.broadcast' object has no attribute {name!r}")
        return getattr(self._of_elements, name)


def broadcast(*args: ArrayLike) -> Anything:
    """``np.broadcast``"""
    return Broadcast(*args) if has_traced(args) else np.broadcast(*plain(args))


def from_dlpack(x: ArrayLike, /, **options: Anything) -> Array:
    """``np.from_dlpack``, which gives what is traced as it is: no other library gets its memory."""
    if not isinstance(x, Tracer | OpenArray):
        return np.from_dlpack(x, **options)
    check_device(options.get("device"))
    return array(x) if options.get("copy") else x


ASKED: dict[Any, Function] = {
    np.isscalar: is_scalar,
    np.nditer: iterating,
    np.broadcast: broadcast,
    np.from_dlpack: from_dlpack,
    **RAISING,
    **{kind: whole(kind) for kind in WHOLE},
}
"""Functions that ask what something is."""


def constructing(function: Function) -> Function:
    """A constructor, whose result can be written into."""

    def construct(*args: Tree, **kwargs: Tree) -> Result:
        kind = kinds_among(args)
        if kwargs:
            if "like" in kwargs:
                return function(*args, **kwargs)
            kind = max(kind, kinds_among(tuple(kwargs.values())))
        if kind == 2:
            return (implementation_of(function) or function)(*args, **kwargs)
        if sees_memory(function, args, kwargs):
            for held in open_among((*args, *kwargs.values())):
                hand_out(held, unseen=True)
            seen = function(*plain(args), **{key: plain(value) for key, value in kwargs.items()})
            return seen if seen.flags.writeable else opened(seen)
        made = function(
            *(plain(args) if kind else args), **{key: plain(value) for key, value in kwargs.items()}
        )
        if kind == 1 and function is np.diag:
            return seen_of(made, args, lambda _, whole: diag(whole, *args[1:], **kwargs))
        return OpenArray(made) if type(made) is np.ndarray and made.dtype.char in NUMERIC else made

    return construct


def sees_memory(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a constructor is given the memory of something else, which is to show what is written."""
    return function is np.frombuffer or (function is np.ndarray and (len(args) > 2 or "buffer" in kwargs))


NUMERIC = frozenset("?bBhHiIlLqQefdgFDG")
"""The dtypes of numbers and truth values, by their letters."""


def converting(function: Function, ours: Function) -> Function:
    """``np.asarray`` and its kin: traced values stay traced, and arrays stay the arrays they are."""

    def convert(*args: Tree, **kwargs: Tree) -> Result:
        first: Any = args[0] if args else kwargs.get("object", kwargs.get("a", kwargs.get("x")))
        if function is np.fromiter and not isinstance(first, np.ndarray | Tracer):
            first = list(first)
            args = (first, *args[1:])
        if "like" in kwargs:
            return function(*args, **kwargs)
        kind = kinds_among((first,))
        if (kind == 2 or is_of_objects(first)) and (
            has_gradient(first) or may_share(function, first, kwargs)
        ):
            return ours(*args, **kwargs)
        made = function(*plain(args), **kwargs)
        kept = made is plain(first) or (made.base is not None and not copies(function, kwargs))
        if not kept and type(made) is np.ndarray:
            return opened(made)
        if kind != 1:
            return made
        return seen_of(made, args, lambda _, whole: ours(whole, *args[1:], **kwargs))

    return convert


def copies(function: Function, kwargs: dict[str, Any]) -> bool:
    """Whether a conversion always gives an array of its own."""
    return function in (np.copy, np.fromiter) or (function is np.array and kwargs.get("copy", True) is True)


def may_share(function: Function, x: ArrayLike, kwargs: dict[str, Any]) -> bool:
    """Whether a conversion gives an array that was made in the trace itself, or part of its memory.

    What stands behind `stop_gradient` is asked for as it is, if nothing has been written into it.
    """
    if type(x) is not Tracer or copies(function, kwargs):
        return False
    return x._alias is not None or not comes_of_inputs(x)


def has_gradient(x: ArrayLike) -> bool:
    """Whether a traced value with a derivative to lose, or without a value, stands in nested lists."""
    if type(x) is Tracer:
        return not (is_constant(x) and x.has_value())
    if is_of_objects(x):
        return any(has_gradient(item) for item in x.flat)
    return isinstance(x, list | tuple) and any(has_gradient(item) for item in x)


def is_of_objects(x: object) -> bool:
    """Whether the elements of an array may be traced numbers."""
    return type(x) is np.ndarray and x.dtype == object


def joining(function: Function) -> Function:
    """A function of NumPy's that also takes lists of traced numbers."""

    def join(*args: Tree, **kwargs: Tree) -> Result:
        if len(args) == 1 and type(x := args[0]) is Tracer:
            # A function of one operand is recorded from here, which `array_ufunc` would do after NumPy.
            primitive = None if kwargs else UNARY.get(function)
            if primitive is not None and x._view is None and not x._recorder.closed:
                out = primitive._inferred.get((x.aval,))
                if out is not None:
                    return x._recorder.append_typed((primitive, x._index), out)
            return function(*args, **kwargs)
        if any(isinstance(x, list | tuple) and has_traced((x,)) for x in args):
            given = [joined(x) for x in args]
            return function(*given, **kwargs)
        return function(*args, **kwargs)

    return join


def joined(x: ArrayLike) -> Array:
    """A list of traced numbers as one traced array; a list of arrays of several shapes as it is."""
    if not isinstance(x, list | tuple) or not has_traced((x,)):
        return x
    shapes = {np.shape(item) if not isinstance(item, list | tuple) else None for item in x}
    return asoperand(x) if len(shapes) == 1 else x


def others(function: Function) -> Function:
    """A function of another package: of ours, if it has one of that name and is given a traced value."""

    def call(*args: Tree, **kwargs: Tree) -> Result:
        if (
            is_for_us(args)
            or (kwargs and is_for_us(tuple(kwargs.values())))
            or getattr(function, "__name__", "") in _WRITTEN
        ):
            ours = ours_for(function)
            if ours is None:
                refuse_searches(function, (*args, *kwargs.values()))
                refuse_sparse(function, (*args, *kwargs.values()))
            if ours is not None or not is_compiled(function):
                return (ours or function)(*args, **kwargs)
        named = {key: given_away(value) for key, value in kwargs.items()}
        return function(*given_away(args), **named)

    return call


def refuse_searches(function: object, values: tuple[Any, ...]) -> None:
    """Raise UnsupportedFunctionError where SciPy would compute with values of a function of what is traced.

    A search that only compares them would end at a number that has lost its gradient without a word.
    """
    named = named_in_scipy(function)
    for x in values:
        if named is not None and isinstance(x, FunctionType | partial) and closes_over_traced(x, NESTED):
            raise refused_by_scipy(*named, "values of a function of what is traced")


def refuse_sparse(function: object, values: tuple[Any, ...]) -> None:
    """Raise UnsupportedFunctionError where a function of SciPy's is given a sparse array of ours."""
    named = named_in_scipy(function)
    if named is not None and any(holds_sparse(x) for x in values):
        raise refused_by_scipy(*named, "the elements of a traced sparse array")


def holds_sparse(x: Anything) -> bool:
    """Whether it is a sparse array of ours, or a list with one in it."""
    if type(x) is list or type(x) is tuple:
        return any(holds_sparse(y) for y in x)
    return type(x).__module__.startswith("funcgrad.scipy.sparse.")


def is_for_us(values: tuple[Any, ...]) -> bool:
    """Whether something traced, or an object of ours that holds it, stands among the values."""
    return has_traced(values) or any(holds_traced(x) for x in values)


def holds_traced(x: ArrayLike) -> bool:
    """Whether it holds something traced: an array or a distribution of ours, a function, a list of them."""
    if type(x) is list or type(x) is tuple:
        return any(holds_traced(y) for y in x)
    if type(x) is FunctionType or type(x) is partial:
        return closes_over_traced(x, NESTED)
    if type(x) is MethodType:
        return holds_traced(x.__self__)
    return type(x).__module__.startswith("funcgrad.scipy.")


def object_of_traced(x: Anything) -> bool:
    """Whether it is an object of ours with something traced among its attributes."""
    if not type(x).__module__.startswith("funcgrad.scipy.") or not hasattr(x, "__dict__"):
        return False
    held = vars(x).values()
    return any(has_gradient([*v.values()] if type(v) is dict else v) for v in held)


NESTED = 4
"""Functions in functions that are looked into."""


def closes_over_traced(function: Anything, depth: int) -> bool:
    """Whether a function that a solver would call has something traced in its cells or its defaults."""
    if isinstance(function, partial):
        held: list[Any] = [function.func, *function.args, *function.keywords.values()]
    else:
        held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # it is empty: the name is bound later
                held.append(cell.cell_contents)
    return any(
        has_gradient(x)
        or object_of_traced(x)
        or (depth > 0 and isinstance(x, FunctionType | partial) and closes_over_traced(x, depth - 1))
        for x in held
    )


_WRITTEN = frozenset({"lil_array", "lil_matrix", "dok_array", "dok_matrix"})
"""Classes of SciPy's whose objects are made to be written into."""


def ours_for(function: object) -> Function | None:
    """The function of `funcgrad.scipy` for one of SciPy's; None where there is none."""
    if type(function) is MethodType or not hasattr(function, "__name__"):
        of_object: Function | None = adopted_function(function)
        return of_object
    named = named_in_scipy(function)
    if named is None or getattr(sys.modules[named[0]], named[1], None) is not function:
        return None
    spelled = counterpart(*named)
    if spelled is None:
        return None
    module, _, name = spelled.rpartition(".")
    found: Function = getattr(import_module(module.replace("fg", "funcgrad", 1)), name)
    return found


def array_method(method: Anything) -> Function | None:
    """A method of an array of NumPy's that is no protocol's: ``a.dot(x)`` as ``np.dot(a, x)``.

    Copies are arrays of the function's own, into which traced values can be written: open ones.
    """
    if method.__name__ in COPYING and method.__self__.dtype.char in NUMERIC:
        return partial(copied_by, method)
    if method.__name__ != "dot":
        return None

    def dot(b: Array, out: Array = None) -> Array:
        return np.dot(method.__self__, b) if out is None and has_traced((b,)) else method(plain(b), out)

    return dot


COPYING = frozenset(["copy", "astype", "flatten"])
"""Methods of arrays that make one of their own."""


def copied_by(method: Anything, *args: Tree, **kwargs: Tree) -> Array:
    """What a method gives, open where it is an array of its own."""
    made = method(*args, **kwargs)
    own = type(made) is np.ndarray and made is not method.__self__ and made.dtype.char in NUMERIC
    return opened(made) if own else made


def made_for_method(method: MethodType) -> Function | None:
    """What is called instead of a method that is no user's; None where it is called as it is."""
    return drawing(method) or (others(method) if matters(method) else None)


def made_for(function: Anything) -> Function:
    """What is called instead of a function that matters."""
    if function in CONVERTERS:
        return converting(function, CONVERTERS[function])
    if function in CONSTRUCTORS:
        return constructing(function)
    if function in ASKED:
        return ASKED[function]
    if function in DERIVED:
        return of_numbers(function)
    if decorated(function):
        return under_errstate(function)
    numpys = is_numpys(function) or isinstance(function, np.ufunc)
    return joining(function) if numpys else others(function)


class Joiner:
    """Joins what stands in brackets, by NumPy or by us."""

    __slots__ = ("_ours", "_theirs")

    def __init__(self, theirs: Anything, ours: Anything) -> None:
        self._theirs = theirs
        self._ours = ours

    def __getitem__(self, key: Index) -> Anything:
        return (self._ours if has_traced(key if type(key) is tuple else (key,)) else self._theirs)[key]


JOINERS = {id(np.r_): Joiner(np.r_, r_), id(np.c_): Joiner(np.c_, c_)}
"""Objects of NumPy's that join what stands in their brackets, by identity, and what stands in for them."""


def joiner(x: ArrayLike) -> Anything:
    """What stands in for ``np.r_`` and ``np.c_``; anything else as it is."""
    return JOINERS.get(id(x), x)


def is_open(x: ArrayLike) -> bool:
    """Whether `x` is an open array."""
    return type(x) is OpenArray


def becomes_traced(x: ArrayLike) -> bool:
    """Make an open array a traced one; returns whether it is one now."""
    if type(x) is OpenArray:
        become_traced(x)
    return type(x) is Tracer


INSIDE.joiner = joiner
INSIDE.plain = plain
INSIDE.opened = opened
INSIDE.is_open = is_open
INSIDE.becomes_traced = becomes_traced
