"""What is called instead of NumPy's and SciPy's functions in the user's code, while a trace is open.

Constructors make open arrays (see `funcgrad.numpy.tracers.open_arrays`); what is given a traced value, or a
list with one in it, keeps it traced; functions of SciPy's are ours where they are given one. Outside of a
trace, and in code of other packages, everything is as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

import numpy as np

from funcgrad.config import WHEN_PACKAGES_CHANGE
from funcgrad.numpy.arrays.creation import array, asanyarray, asarray, ascontiguousarray
from funcgrad.numpy.arrays.inquiries import c_, r_
from funcgrad.numpy.arrays.layouts import asarray_chkfinite, asfortranarray, require
from funcgrad.numpy.dispatch import FUNCTIONS, deferred, implementation_of
from funcgrad.numpy.tracers.draws import drawing
from funcgrad.numpy.tracers.floating_errors import RAISING
from funcgrad.numpy.tracers.numbers_inside import DERIVED, of_numbers
from funcgrad.numpy.tracers.open_arrays import (
    OpenArray,
    become_traced,
    has_traced,
    kinds_among,
    opened,
    plain,
)
from funcgrad.scipy.adopted import adopted_function
from funcgrad.source import installed_package
from funcgrad.tracing.constants import is_constant
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.refusals import counterpart, named_in_scipy, refused_by_scipy
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike

__all__ = ["instead_of", "joiner", "matters"]

Function = Callable[..., Any]

_MAKERS: tuple[Any, ...] = (
    *(np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.arange, np.linspace, np.logspace),
    *(np.geomspace, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.tri, np.vander, np.diag),
    *(np.diagflat, np.tile, np.repeat, np.indices, np.fromfunction, np.hanning, np.hamming, np.bartlett),
    *(np.blackman, np.kaiser, np.tril, np.triu, np.loadtxt, np.genfromtxt, np.fromstring, np.frombuffer),
    np.ndarray,
)
CONSTRUCTORS = frozenset(_MAKERS)
"""Functions whose results are arrays of their own."""

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
}
"""Functions that make an array of something, and ours for what is traced."""


def first_of(items: ArrayLike, count: int) -> ArrayLike:
    """The first items, all of them for -1; raises ValueError where there are fewer."""
    if count > len(items):
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return items if count < 0 else items[:count]


def is_scalar(element: ArrayLike) -> bool:
    """``np.isscalar``, for which a traced number is one."""
    return not element.aval.shape if type(element) is Tracer else np.isscalar(element)


ASKED: dict[Any, Function] = {np.isscalar: is_scalar, **RAISING}
"""Functions that ask what something is."""


def constructing(function: Function) -> Function:
    """A constructor, whose result can be written into."""

    def construct(*args: Any, **kwargs: Any) -> Any:
        kind = kinds_among(args)
        if kwargs:
            if "like" in kwargs or "buffer" in kwargs:
                return function(*args, **kwargs)
            kind = max(kind, kinds_among(tuple(kwargs.values())))
        if kind == 2:
            return (implementation_of(function) or function)(*args, **kwargs)
        made = function(*(plain(args) if kind else args), **kwargs)
        return OpenArray(made) if type(made) is np.ndarray and made.dtype.char in NUMERIC else made

    return construct


NUMERIC = frozenset("?bBhHiIlLqQefdgFDG")
"""The dtypes of numbers and truth values, by their letters."""


def converting(function: Function, ours: Function) -> Function:
    """``np.asarray`` and its kin: traced values stay traced, and arrays stay the arrays they are."""

    def convert(*args: Any, **kwargs: Any) -> Any:
        first: Any = args[0] if args else kwargs.get("object", kwargs.get("a"))
        if function is np.fromiter and not isinstance(first, np.ndarray | Tracer):
            first = list(first)
            args = (first, *args[1:])
        if "like" in kwargs:
            return function(*args, **kwargs)
        kind = kinds_among((first,))
        if (kind == 2 or is_of_objects(first)) and has_gradient(first):
            return ours(*args, **kwargs)
        if kind == 0 and type(first) is list:
            return opened(function(*args, **kwargs))
        made = function(*plain(args), **kwargs)
        held = plain(first)
        if type(first) is OpenArray and made is held:
            return first
        shares = isinstance(held, np.ndarray) and np.may_share_memory(made, held)
        return made if shares or type(made) is not np.ndarray else opened(made)

    return convert


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

    def join(*args: Any, **kwargs: Any) -> Any:
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

    def call(*args: Any, **kwargs: Any) -> Any:
        if (
            is_for_us(args)
            or (kwargs and is_for_us(tuple(kwargs.values())))
            or getattr(function, "__name__", "") in _WRITTEN
        ):
            ours = ours_for(function)
            if ours is None:
                refuse_searches(function, (*args, *kwargs.values()))
            if ours is not None or not is_compiled(function):
                return (ours or function)(*args, **kwargs)
        named = {key: plain(value) for key, value in kwargs.items()}
        return function(*plain(args), **named)

    return call


def refuse_searches(function: object, values: tuple[Any, ...]) -> None:
    """Raise UnsupportedFunctionError where SciPy would compute with values of a function of what is traced.

    A search that only compares them would end at a number that has lost its gradient without a word.
    """
    named = named_in_scipy(function)
    for x in values:
        if named is not None and isinstance(x, FunctionType | partial) and closes_over_traced(x, NESTED):
            raise refused_by_scipy(*named, "values of a function of what is traced")


def is_for_us(values: tuple[Any, ...]) -> bool:
    """Whether something traced, or an object of ours that holds it, stands among the values."""
    return has_traced(values) or any(holds_traced(x) for x in values)


def holds_traced(x: ArrayLike) -> bool:
    """Whether it holds something traced: an array or a distribution of ours, a function, a list of them."""
    if type(x) is list or type(x) is tuple:
        return any(holds_traced(y) for y in x)
    if type(x) is FunctionType or type(x) is partial:
        return closes_over_traced(x, NESTED)
    return type(x).__module__.startswith("funcgrad.scipy.")


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
    """A method of an array of NumPy's that is no protocol's: ``a.dot(x)`` as ``np.dot(a, x)``."""
    if method.__name__ != "dot":
        return None

    def dot(b: Any, out: Any = None) -> Any:
        return np.dot(method.__self__, b) if out is None and has_traced((b,)) else method(plain(b), out)

    return dot


_INSTEAD: dict[int, tuple[Any, Function | None]] = {}


def instead_of(function: object) -> Function | None:
    """What is called instead of a function that is no user's; None where it is called as it is."""
    if active_recorder() is None:
        return None
    if type(function) is MethodType:  # it is made at every access: there is nothing to be remembered
        return drawing(function) or (others(function) if matters(function) else None)
    if type(function) is BuiltinMethodType and type(function.__self__) is np.ndarray:
        return array_method(function)
    found = _INSTEAD.get(id(function))
    if found is None or found[0] is not function:
        if len(_INSTEAD) >= _MOST:
            _INSTEAD.clear()
        found = _INSTEAD[id(function)] = function, made_for(function) if matters(function) else None
    return found[1]


_MOST = 2048


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
    numpys = is_numpys(function) or isinstance(function, np.ufunc)
    return joining(function) if numpys else others(function)


def matters(function: object) -> bool:
    """Whether something else may be called instead of a function of a package's, or of Python's own."""
    try:
        if any(function in known for known in (CONVERTERS, CONSTRUCTORS, DERIVED, ASKED)):
            return True
    except TypeError:  # it has no hash, so it is none of them
        return False
    if isinstance(function, np.ufunc) or is_numpys(function):
        return function not in OF_SEVERAL and (
            implementation_of(function) is not None
            or function in FUNCTIONS
            or (isinstance(function, np.ufunc) and deferred(function) is not None)
        )
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    package = module.partition(".")[0]
    return package not in _OURS and (is_installed(package) or is_compiled(function))


_OURS = frozenset({"builtins", "funcgrad", "numpy", ""})


@lru_cache(maxsize=1024)
def is_installed(package: str) -> bool:
    """Whether a package is an installed one: none of the user's, none taken in, and none of Python's own."""
    return bool(installed_package(getattr(sys.modules.get(package), "__file__", None) or ""))


def is_compiled(function: object) -> bool:
    """Whether a function is no Python's: it takes arrays of NumPy's, of a package that is taken in, too."""
    kind = type(function)
    return not issubclass(kind, type) and kind not in _PYTHON and not hasattr(kind.__call__, "__code__")


_PYTHON = (FunctionType, MethodType, partial)

WHEN_PACKAGES_CHANGE.extend([is_installed.cache_clear, _INSTEAD.clear])


def is_numpys(function: object) -> bool:
    """Whether it is one of the functions that NumPy lets arrays of other kinds answer."""
    return type(function).__name__ == "_ArrayFunctionDispatcher"


OF_SEVERAL = frozenset(
    [
        *(np.block, np.broadcast_arrays, np.choose, np.column_stack, np.concatenate, np.dstack, np.einsum),
        *(np.histogramdd, np.hstack, np.ix_, np.lexsort, np.linalg.multi_dot, np.piecewise, np.select),
        *(np.stack, np.vstack),
    ]
)
"""Functions of lists of arrays, in which NumPy itself finds traced ones."""


class Joiner:
    """Joins what stands in brackets, by NumPy or by us."""

    __slots__ = ("_ours", "_theirs")

    def __init__(self, theirs: Any, ours: Any) -> None:
        self._theirs = theirs
        self._ours = ours

    def __getitem__(self, key: Any) -> Any:
        return (self._ours if has_traced(key if type(key) is tuple else (key,)) else self._theirs)[key]


JOINERS = {id(np.r_): Joiner(np.r_, r_), id(np.c_): Joiner(np.c_, c_)}
"""Objects of NumPy's that join what stands in their brackets, by identity, and what stands in for them."""


def joiner(x: ArrayLike) -> Array:
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


INSIDE.instead_of = instead_of
INSIDE.matters = matters
INSIDE.joiner = joiner
INSIDE.plain = plain
INSIDE.opened = opened
INSIDE.is_open = is_open
INSIDE.becomes_traced = becomes_traced
