"""The user's functions as un-jitted transforms call them: NumPy's constructors make arrays to be traced.

A function and those that it calls are run from code whose calls ask what to call, in words of
`funcgrad.tracing.python.calls`. Functions of which nothing is asked are run as they are, and so is what `jit`
has rewritten in its own way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from funcgrad.api.python.asked import AsksUsers
from funcgrad.api.python.classes import call_of, constructed, initializer
from funcgrad.config import constructors_are_seen
from funcgrad.ops.arrays.structure import cast
from funcgrad.tracing.kinds import KINDS, dispatching, is_dispatching, plain_type
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.calls import CallCache, Twins
from funcgrad.tracing.python.handed import FUNCTIONS, TAKE_FUNCTIONS, handing
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.python.owners import is_of_package, is_users
from funcgrad.tracing.python.protocols import ASKED, contained, iterated, settable, subscriptable
from funcgrad.tracing.python.protocols import asking as asking_for_users
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Number, Result, Tree

Function = Callable[..., Any]


class Calls(AsksUsers):
    """What rewritten calls ask."""

    def function(self, function: Anything) -> Anything:
        """What is called instead of `function`."""
        known = TWINS.found.get(id(function))
        if known is not None and known[0]() is function:
            return known[1] or INSIDE.instead_of(function) or function
        kind = type(function)
        if kind is np.ufunc:
            # None of the kinds that are asked for below.
            return INSIDE.instead_of(function) or seen(function)
        if kind in (BuiltinMethodType, type) and function in ASKED:
            found: Any = ours_for(function) or INSIDE.instead_of(function)
            return asking_for_users(function, found or function, self.function)
        return self._of_kind(function, kind)

    def _of_kind(self, function: Anything, kind: type) -> Anything:
        if kind is FunctionType:
            if function.__module__ is not None and function.__module__.startswith("funcgrad."):
                return handing_over(function)
            if is_users(function.__code__):
                return TWINS.of(function)
        elif kind is MethodType and is_users_method(function):
            return seen(function)
        elif isinstance(function, type) and function not in CLASSES and not INSIDE.matters(function):
            return constructed(function, seen)
        found = ours_for(function) or INSIDE.instead_of(function)
        return seen(function) if found is None else found

    def subscriptable(self, x: object) -> object:
        """What stands before brackets in place of an object."""
        return subscriptable(x, self.function)

    def settable(self, x: object, name: str) -> object:
        """What stands before the dot in place of an object whose attribute is set."""
        return settable(x, name, self.function)

    def iterated(self, x: object) -> object:
        """What is gone through in place of an object."""
        return iterated(x, self.function)

    def contained(self, x: object, container: Container[Any]) -> bool:
        """``x in container``"""
        found = contained(x, container, self.function)
        return x in container if found is NotImplemented else bool(found)

    def subscripted(self, x: object) -> object:
        """``np.r_`` and ``np.c_``, or what takes traced values in their brackets."""
        return INSIDE.joiner(x)


class CallsOfPackages(Calls):
    """What calls in installed packages ask: nobody can leave out conversions there, so these keep."""

    def function(self, function: Anything) -> Anything:
        kept = conversion_that_keeps(function)
        return super().function(function) if kept is None else kept


def conversion_that_keeps(function: object) -> Function | None:
    """What is called instead of ``float`` or ``x.item`` and keeps what is traced; None for anything else."""
    kind = type(function)
    if kind is type and function in CASTS:
        found: Function = CASTS[function]
        return found
    if isinstance(function, MethodType) and type(function.__self__) is Tracer and function.__name__ == "item":
        return functools.partial(element, function.__self__)
    return None


def element(x: Tracer, *index: object) -> Array:
    """``x.item(*index)`` as a traced number."""
    given: Any = x
    if len(index) > 1 or (index and isinstance(index[0], tuple)):
        return given[index if len(index) > 1 else index[0]]
    return given.reshape(-1)[index[0]] if index else given.reshape(())


def handing_over(function: FunctionType) -> Function:
    """A function of ours, which is handed the user's functions as they are seen."""

    def calling(*args: Tree, **kwargs: Tree) -> Result:
        given = [seen(x) if type(x) is FunctionType else x for x in args]
        named = {key: seen(x) if type(x) is FunctionType else x for key, x in kwargs.items()}
        return function(*given, **named)

    return calling


def complex_of(real: Number = 0, imag: Number = None) -> Number:
    """``complex`` of two parts, of which one is traced; of one number it is a conversion."""
    if imag is not None and Tracer in (type(real), type(imag)):
        return real + 1j * imag
    return complex(real) if imag is None else complex(real, imag)


def keeping(kind: type) -> Function:
    """A type of numbers called as a conversion, which keeps what is traced: ``float``, ``np.float64``."""
    dtype = np.dtype(kind)

    def convert(x: Number = 0, *others: Number) -> Number:
        if kind is complex and others:
            return complex_of(x, *others)
        if type(x) is not Tracer or others:
            return kind(x, *others)
        found = x if x.aval.dtype == dtype and not x.aval.weak else cast(x, dtype)
        return element(found) if kind in (float, complex) and x.aval.shape else found

    return convert


CASTS: dict[Any, Any] = {
    kind: keeping(kind) for kind in (float, complex, np.float32, np.float64, np.complex64, np.complex128)
}
"""What is called instead of types of numbers in installed packages."""


def enumerated(x: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """``np.ndenumerate``, whose elements stay traced."""
    given = x if hasattr(x, "shape") else asoperand(x)
    for index in np.ndindex(np.shape(given)):
        yield index, given[index]


CLASSES: dict[Any, Any] = {type: plain_type, np.ndenumerate: enumerated, complex: complex_of}
"""What is called instead of classes."""


def ours_for(function: object) -> object:
    """What is called instead of a function that traced values could not be given; None for any other."""
    if isinstance(function, type):
        return CLASSES.get(function)
    if type(function) is BuiltinMethodType:
        return KINDS.get(function) or _HANDING.get(function)
    return dispatching(function, seen) if is_dispatching(function) else of_other_kind(function)


def of_other_kind(function: object) -> object:
    """What is called instead of what another package made of a function; None where it made nothing."""
    for is_of_kind, called in SEEN_OTHERWISE:
        if is_of_kind(function):
            return called(function)
    return None


def is_of_library(function: object) -> bool:
    """Whether it is of SciPy or of `math`: a function, a method, or an object that is called."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return str(module).partition(".")[0] in ("math", "scipy")


def asking(function: Function) -> Function:
    """A function of a library's, which asks what takes traced values in its place."""

    @functools.wraps(function, assigned=("__name__", "__qualname__", "__doc__"), updated=())
    def call(*args: Anything, **kwargs: Anything) -> Result:
        return (INSIDE.instead_of(function) or function)(*args, **kwargs)

    return call


def is_users_method(method: MethodType) -> bool:
    """Whether a method is one of the user's."""
    function = method.__func__
    return isinstance(function, FunctionType) and is_users(function.__code__)


def may_matter(value: object) -> bool:
    """Whether a call of a global name may have to be another."""
    if isinstance(value, functools.partial):
        return may_matter(value.func)
    if isinstance(value, MethodType):
        return may_matter(value.__func__) or INSIDE.matters(value)
    if isinstance(value, FunctionType) and is_users(value.__code__):
        return True
    if isinstance(value, FunctionType) and (value.__module__ or "").startswith("funcgrad."):
        return True
    if isinstance(value, type) and initializer(value) is not None:
        return True
    return ours_for(value) is not None or INSIDE.matters(value)


SEEN_OTHERWISE: list[tuple[Callable[[Any], bool], Callable[[Any], Any]]] = []
"""What another package made of the user's functions: whether one is of a kind, and what is called."""

CALLS, CALLS_OF_PACKAGES = Calls(), CallsOfPackages()


def hooks_for(code: CodeType) -> Calls:
    """What the calls of some code ask."""
    return CALLS_OF_PACKAGES if is_of_package(code) else CALLS


TWINS = Twins(CallCache(may_matter, CASTS), hooks_for)


def seen(function: Anything) -> Anything:
    """The function, in whose calls NumPy's constructors make arrays that traced values can be written into.

    >>> def f(x):
    ...     z = np.zeros(3)
    ...     z[0] = x**2
    ...     return np.sum(z)
    >>> fg.grad(f)(3.0)
    np.float64(6.0)
    """
    kind = type(function)
    if kind is FunctionType:
        twin = TWINS.of(function)
        if twin is function and is_of_library(function):
            return asking(function)
        return twin if constructors_are_seen() else function
    if kind is MethodType and not is_of_library(function):
        inner = seen(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if kind is functools.partial:
        inner = handed(function.func)
        return (
            function
            if inner is function.func
            else functools.partial(inner, *function.args, **function.keywords)
        )
    other = of_other_kind(function) or (asking(function) if is_of_library(function) else None)
    if other is not None:
        return other
    call = call_of(kind)
    return function if call is None else MethodType(seen(call), function)


def handed(function: Anything) -> Anything:
    """The function as it is seen; a constructor, or one of `math`, asks what takes traced values.

    NumPy's ufuncs and dispatched functions take them themselves.
    """
    found = seen(function)
    asks = found is function and isinstance(function, FUNCTIONS) and INSIDE.matters(function)
    return asking(function) if asks else found


class Seen:
    """A function as `seen` finds it whenever it is called; at once where it was found to be as it is."""

    __slots__ = ("_as_it_is", "_function")

    def __init__(self, function: Anything) -> None:
        self._function = function
        self._as_it_is: Any = None
        """What was known of the function when nothing was asked in its calls."""

    def now(self) -> Anything:
        """What is called in place of the function."""
        function = self._function
        known = TWINS.found.get(id(function))
        if known is not None:
            if known is self._as_it_is:
                return function
            if known[1] is not None and known[0]() is function and constructors_are_seen():
                return known[1]
        found = seen(function)
        known = TWINS.found.get(id(function))
        # The entry holds while the function lives, which is held here, and until other packages are traced.
        self._as_it_is = known if found is function and known is not None and known[1] is None else None
        return found


_HANDING = {function: handing(function, handed) for function in TAKE_FUNCTIONS}
CLASSES.update({function: found for function, found in _HANDING.items() if isinstance(function, type)})
