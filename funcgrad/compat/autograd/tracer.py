"""Boxes, as autograd calls what stands for a value while a function is differentiated: our tracers.

A box is recognised by `isinstance` only. Containers of boxes are plain containers here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

import numpy as np

from funcgrad import stop_gradient, tree
from funcgrad.compat.autograd.primitives import primitive as made
from funcgrad.compat.autograd.wrap_util import wraps
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Tree

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
        def left_to_boxes(self: Array, ufunc: np.ufunc, method: str, *inputs: Tree, **options: Tree) -> Tree:
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


class Node:
    """What autograd keeps of an operation. Here operations are kept by the trace."""

    @classmethod
    def new_root(cls, *args: object, **kwargs: object) -> Node:
        """Refuse: nodes of a package's own, which follow operations, are not called here."""
        raise NotImplementedError(
            f"autograd.tracer.Node: operations are not handed to nodes of class {cls.__name__}; record the "
            "function with funcgrad.make_program, whose Program lists its operations"
        )

    def traced(self, fun: Callable[[Any], Any], x: ArrayLike) -> tuple[Any, Any]:
        """What `trace` returns for a first node of this class."""
        raise NotImplementedError(
            f"autograd.tracer.trace: {type(self).__name__} is not one of autograd's nodes"
        )


def trace(start_node: Node, fun: Callable[[Any], Any], x: ArrayLike) -> tuple[Any, Any]:
    """The value of `fun` at `x` and its last node; None for a value that has nothing to do with `x`.

    `start_node` is ``VJPNode.new_root()``, whose last node `backward_pass` takes, or ``JVPNode.new_root(g)``,
    whose last node has the tangent as `g`. NotImplementedError for nodes of other classes.

    >>> from funcgrad.compat.autograd.core import VJPNode, backward_pass
    >>> value, node = trace(VJPNode.new_root(), lambda x: x**2, 3.0)
    >>> print(value, backward_pass(1.0, node))
    9.0 6.0
    """
    traced: tuple[Any, Any] = start_node.traced(fun, x)
    return traced


def toposort(end_node: Anything, parents: Callable[[Any], Any] | None = None) -> Iterator[Any]:
    """Nodes, each before its parents: all that an end node comes from."""
    of = parents if parents is not None else operator.attrgetter("parents")
    waiting: dict[Any, int] = {}
    stack = [end_node]
    while stack:
        node = stack.pop()
        waiting[node] = waiting.get(node, 0) + 1
        if waiting[node] == 1:
            stack.extend(of(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in of(node):
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)


def getval(x: ArrayLike) -> ArrayLike:
    """The value that a box stands for, without its derivative; anything else as it is.

    >>> from funcgrad.compat.autograd import grad
    >>> seen = []
    >>> print(grad(lambda x: seen.append(getval(x)) or x * x)(3.0), seen)
    6.0 [np.float64(3.0)]
    """
    return tree.map(_value, x) if _holds_boxes(x) else x


def _value(x: Array) -> Array:
    if type(x) is not Tracer:
        return x
    if x._recorder.closed:
        # Backward rules read boxes that they were given while the function ran: values stay.
        value = x.concrete()
        return _value(value) if type(value) is Tracer else value
    value = np.asarray(stop_gradient(x))
    return value if value.ndim else value[()]


def _holds_boxes(x: object) -> bool:
    if type(x) in (tuple, list, dict):
        return any(type(leaf) is Tracer for leaf in tree.leaves(x))
    return type(x) is Tracer


def notrace_primitive(f_raw: Callable[..., R]) -> Callable[..., R]:
    """`f_raw`, called with the values of boxes: what it returns has no derivative."""

    @wraps(f_raw)
    def f_wrapped(*args: Tree, **kwargs: Tree) -> R:
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
