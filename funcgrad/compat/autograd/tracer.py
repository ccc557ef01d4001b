"""Boxes, as autograd calls what stands for a value while a function is differentiated: our tracers.

A box is recognised by `isinstance` only. Containers of boxes are plain containers here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from funcgrad import stop_gradient, tree
from funcgrad.compat.autograd.primitives import primitive as made
from funcgrad.compat.autograd.wrap_util import wraps
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import ArrayLike

R = TypeVar("R")


class _Boxes(type):
    """The class of classes that tracers are instances of."""

    def __instancecheck__(cls, thing: object) -> bool:
        return type(thing) is Tracer

    def __call__(cls, value: R, trace: object = None, node: object = None) -> R:
        """What a class that was registered asks to be boxed: its value, of which a trace makes the box."""
        return value


class ArrayClasses(dict[type, Callable[..., Any]]):
    """Classes of arrays of a package's own. Their ufuncs leave calls with boxes to boxes, as arrays do."""

    def __setitem__(self, kind: type, make: Callable[..., Any]) -> None:
        super().__setitem__(kind, make)
        own = vars(kind).get("__array_ufunc__")
        if own is None:
            return

        @wraps(own)
        def left_to_boxes(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
            if any(type(x) is Tracer for x in inputs):
                return NotImplemented
            return own(self, ufunc, method, *inputs, **options)

        kind.__array_ufunc__ = left_to_boxes  # type: ignore[attr-defined]


class Box(metaclass=_Boxes):
    """Whatever stands for a value while a function is differentiated: for `isinstance`."""

    type_mappings = ArrayClasses()
    """By classes of arrays of a package's own: what gives the array to differentiate by, or refuses it."""

    @classmethod
    def register(cls, value_type: type) -> None:
        """Refuse: what can be differentiated by is a pytree, and classes are registered with `fg.tree`."""
        raise NotImplementedError(
            f"{value_type.__name__} cannot be made a box; register it with funcgrad.tree instead"
        )


def isbox(x: object) -> bool:
    """Whether `x` stands for a value while a function is differentiated."""
    return type(x) is Tracer


def new_box(value: object, trace: object, node: object) -> NoReturn:
    """Refuse: boxes are made when a function is differentiated, and their nodes are not open."""
    raise NotImplementedError("autograd.tracer.new_box: here boxes are made by grad, make_vjp and their kin")


class TraceStack:
    """What functions are being differentiated: kept by funcgrad, and not open here."""

    def new_trace(self) -> NoReturn:
        """Refuse, as `new_box`."""
        raise NotImplementedError("autograd.tracer.trace_stack: use make_vjp or make_jvp to trace a function")


trace_stack = TraceStack()


def getval(x: ArrayLike) -> ArrayLike:
    """The value that a box stands for, without its derivative; anything else as it is.

    >>> from funcgrad.compat.autograd import grad
    >>> seen = []
    >>> print(grad(lambda x: seen.append(getval(x)) or x * x)(3.0), seen)
    6.0 [np.float64(3.0)]
    """
    return tree.map(_value, x) if _holds_boxes(x) else x


def _value(x: Any) -> Any:
    if type(x) is not Tracer:
        return x
    if x._recorder.closed:
        # Backward rules read boxes that they were given while the function ran: values stay.
        value = x.concrete()
        return _value(value) if type(value) is Tracer else value
    value = np.asarray(stop_gradient(x))
    return value if value.ndim else value[()]


def _holds_boxes(x: Any) -> bool:
    if type(x) in (tuple, list, dict):
        return any(type(leaf) is Tracer for leaf in tree.leaves(x))
    return type(x) is Tracer


def notrace_primitive(f_raw: Callable[..., R]) -> Callable[..., R]:
    """`f_raw`, called with the values of boxes: what it returns has no derivative."""

    @wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> R:
        return f_raw(*map(getval, args), **{key: getval(x) for key, x in kwargs.items()})

    found: Callable[..., R] = f_wrapped
    return found


def register_notrace(trace_type: object, primitive_fun: object) -> None:
    """Say that a function has no derivative. Here every function knows that of itself."""


def primitive(f_raw: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called with values, and differentiated by rules given to `defvjp` or `defjvp`."""
    function: Callable[..., Any] = made(f_raw)
    return function


# Packages read it of boxes; nothing of ours has an attribute of that name.
Tracer._value = property(lambda box: getval(box))  # type: ignore[attr-defined]  # noqa: PLW0108 - no docstring
