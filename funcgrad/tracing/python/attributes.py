"""Properties and methods of the user's classes: under which names they may be met, and what is run instead.

What is read may be of any object, so rewritten code asks only where some class of the user's has a
property of that name, or a method that containers have too (``kf.update(z)``): a class in a module of
theirs, or one that a function which is rewritten holds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from funcgrad.config import WHEN_PACKAGES_CHANGE
from funcgrad.source import installed_package, library_files
from funcgrad.tracing.python.operating import OPERATORS, is_theirs, method_of
from funcgrad.tracing.python.owners import is_users
from funcgrad.tracing.python.protocols import ATTRIBUTES, PROTOCOLS, SETS, setting, special

CONTAINERS_METHODS = frozenset(
    name for kind in (np.ndarray, list, dict, str, set, tuple, float) for name in dir(kind)
) - frozenset(["__call__", "__class__", "__init__", "dot", "copy", "astype", "flatten"])
"""A call of one of these is of an array or a container, unless a class of the user's has such a method.

Of an array's method `dot` takes what is traced, and others give an array that it may be written into.
"""

SERIES = frozenset(["Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial"])
"""The classes of NumPy's series by name, whose code is traced as the user's own."""

_MODULES: dict[str, tuple[int, frozenset[str]]] = {}
"""By module, how many names it had when it was looked through, and the names of its classes."""
_HELD: set[str] = set()
"""The properties of classes that functions hold."""
_NONE: frozenset[str] = frozenset()

_WATCHED: dict[tuple[str, ...], tuple[str, ...]] = {}
"""By the names of all modules, as they were last, those of them that are looked at again: not libraries'."""
_NAMES: dict[tuple[str, ...], tuple[list[int], frozenset[str]]] = {}
"""By the modules that are looked at again: how many names they and `_HELD` had; and `names_of_users`."""
_MADE_BY_PYTHON = 1 << 9
"""Set for a class of a ``class`` statement (`Py_TPFLAGS_HEAPTYPE`); others have no functions of Python's."""

WHEN_PACKAGES_CHANGE.append(_MODULES.clear)
WHEN_PACKAGES_CHANGE.append(_WATCHED.clear)
WHEN_PACKAGES_CHANGE.append(_NAMES.clear)


def getter_of(found: object) -> FunctionType | None:
    """The function behind a property, where it is the user's."""
    getter = found.fget if isinstance(found, property) else getattr(found, "func", None)
    is_property = isinstance(found, property | cached_property)
    return getter if is_property and isinstance(getter, FunctionType) and is_users(getter.__code__) else None


def is_got_by_users(found: object) -> bool:
    """Whether a function of the user's gets a class's attribute: a property's, or a descriptor's."""
    return getter_of(found) is not None or special(found, "__get__") is not None


def is_set_by_users(found: object) -> bool:
    """Whether a function of the user's sets a class's attribute: a property's, or a descriptor's."""
    return is_theirs(found.fset) if isinstance(found, property) else special(found, "__set__") is not None


def called(method: str) -> str:
    """How a method stands among names of properties."""
    return f"{method}()"


def is_method(found: object) -> bool:
    """Whether a class's attribute is a method of the user's; Python's own protocols are not asked about."""
    function = found.__func__ if isinstance(found, staticmethod | classmethod) else found
    return (
        isinstance(function, FunctionType)
        and not function.__name__.startswith("__")
        and is_users(function.__code__)
    )


def names_among(values: Iterable[Any], module: str | None = None) -> frozenset[str]:
    """Properties of the classes among some values, or of those of a module, and methods like containers'."""
    names: set[str] = set()
    for kind in values:
        if isinstance(kind, type) and (module is None or kind.__module__ == module):
            inside = list(vars(kind).copy().items())
            names.update(name for name, found in inside if is_got_by_users(found))
            methods = [name for name, found in inside if name in CONTAINERS_METHODS and is_method(found)]
            names.update(called(name) for name in methods)
            asked = OPERATORS | PROTOCOLS
            names.update(name for name, found in inside if name in asked and is_theirs(found))
            setters = [setting(name) for name, found in inside if is_set_by_users(found)]
            names.update(setters)
            names.update([SETS] if setters or ATTRIBUTES in names else [])
            within = f"{kind.__qualname__}."
            names |= names_among(x for _, x in inside if getattr(x, "__qualname__", "").startswith(within))
    return frozenset(names)


def names_of_users() -> frozenset[str]:
    """The names that are known now: of properties, ``__class__``, and of methods as `called` writes them."""
    modules = sys.modules.copy()  # other threads may import meanwhile
    watched = _watched(modules)
    now: list[object] = [modules[name] for name in watched]
    sizes = [len(_HELD), *[len(vars(x)) if isinstance(x, ModuleType) else 0 for x in now]]
    known = _NAMES.get(watched)
    if known is None or known[0] != sizes:
        looked = [
            _looked(name, x)[1] for name, x in zip(watched, now, strict=True) if isinstance(x, ModuleType)
        ]
        _NAMES.clear()
        _NAMES[watched] = known = sizes, frozenset(_HELD).union(["__class__"], *looked)
    return known[1]


def _watched(modules: Mapping[str, object]) -> tuple[str, ...]:
    """The modules that may have other classes than when they were last looked through.

    There are a thousand of libraries, of which none has: they are gone through when one is added or removed.
    """
    names = tuple(modules)
    found = _WATCHED.get(names)
    if found is None:
        looked = {name: _looked(name, x) for name, x in modules.items() if isinstance(x, ModuleType)}
        found = tuple([name for name in names if name not in looked or looked[name][0] >= 0])
        _WATCHED.clear()
        _WATCHED[names] = found
    return found


def _looked(name: str, module: ModuleType) -> tuple[int, frozenset[str]]:
    """How many names a module has, and those that its classes have; -1 of a library."""
    known = _MODULES.get(name)
    if known is None or (known[0] >= 0 and known[0] != len(vars(module))):
        file = getattr(module, "__file__", None)
        theirs = name == "__main__" if not file else not library_files[file] and not installed_package(file)
        inside = vars(module).copy()  # another thread may add to it meanwhile
        found = names_among(inside.values(), name) if theirs else _NONE
        _MODULES[name] = known = len(inside) if theirs else -1, found
    return known


def note_called(method: str) -> bool:
    """Remember that a function of the user's is called under a container's name; False where that was known.

    What nobody sees beforehand: fields that hold functions (``opt.update(x)``), functions of a module that is
    imported where it is used, or whose names are loaded late.
    """
    if method not in CONTAINERS_METHODS or called(method) in names_of_users():
        return False
    _HELD.add(called(method))
    return True


def note_classes_of(function: FunctionType) -> None:
    """Remember the properties of classes that a function holds: in cells, or in globals of no module.

    And of NumPy's series, where it names one of their classes.
    """
    series = {getattr(np.polynomial, name) for name in function.__code__.co_names if name in SERIES}
    held: list[Any] = list(series)
    for cell in function.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # it is empty: the name is bound later
            continue
    names = function.__globals__
    if getattr(sys.modules.get(str(names.get("__name__"))), "__dict__", None) is not names:
        held += list(names.values())
    kinds = [x if isinstance(x, type) else type(x) for x in held]
    for kind in kinds:
        if kind.__module__ != "builtins":
            made = [x for x in kind.__mro__ if x.__flags__ & _MADE_BY_PYTHON]
            if kind not in series:
                made = [x for x in made if not _is_of_library(x)]
            _HELD.update(names_among(made))


def _is_of_library(kind: type) -> bool:
    """Whether a library's module defines the class: a tracer's class has hundreds of names, none a user's.

    A class that a library's function has made of what it was given is under no name there.
    """
    module = sys.modules.get(kind.__module__)
    return (
        isinstance(module, ModuleType)
        and vars(module).get(kind.__qualname__) is kind
        and _looked(kind.__module__, module)[0] < 0
    )


def read(x: object, name: str, called: Callable[[Any], Any]) -> object:
    """``x.name``; where it is a property of the user's, `called` says what its function is called as."""
    kind = type(x)
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    gets = None if found is None else special(found, "__get__")
    if gets is not None and (name not in getattr(x, "__dict__", ()) or method_of(type(found), "__set__")):
        return called(gets)(found, x, kind)
    getter = None if found is None else getter_of(found)
    if getter is None or (not isinstance(found, property) and name in vars(x)):
        return getattr(x, name)
    try:
        value = called(getter)(x)
    except AttributeError:
        if not hasattr(kind, "__getattr__"):
            raise
        return kind.__getattr__(x, name)
    if not isinstance(found, property):
        vars(x)[name] = value
    return value
