"""Derivatives of functions of one argument, and the rules of primitives, under autograd's names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad import tree
from funcgrad.compat.autograd.places import subval
from funcgrad.compat.autograd.primitives import FORWARD, primitive
from funcgrad.compat.autograd.rules import RULES, defjvp_argnums, defvjp, defvjp_argnum, defvjp_argnums
from funcgrad.compat.autograd.tracer import Box, Node, getval, isbox, toposort, trace
from funcgrad.compat.autograd.vspaces import VSpace, vspace
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Tree

__all__ = [
    "JVPNode",
    "Node",
    "SparseObject",
    "VJPNode",
    "VSpace",
    "backward_pass",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "getval",
    "isbox",
    "make_jvp",
    "make_vjp",
    "primitive",
    "primitive_jvps",
    "primitive_vjps",
    "toposort",
    "trace",
    "vspace",
]

Function = Callable[..., Any]


def make_vjp(fun: Function, x: ArrayLike) -> tuple[Function, Any]:
    """The backward function of `fun` at `x`, and the value there.

    Raises TypeError for an `x` that cannot be differentiated by, such as an integer.

    >>> vjp, value = make_vjp(lambda x: x**2, 3.0)
    >>> value, vjp(1.0)
    (np.float64(9.0), np.float64(6.0))
    """
    given = differentiable(x)
    traces: list[Recorder] = []
    with mode(FORWARD, on=False):
        value, pullback = fg.vjp(watched(fun, traces), given)
    dtypes = [np.result_type(leaf) for leaf in tree.leaves(value)]

    def vjp(g: Tree) -> Tree:
        leaves, treedef = tree.flatten(g)
        cast = [as_cotangent(leaf, dtype) for leaf, dtype in zip(leaves, dtypes, strict=True)]
        with open_again(traces):
            (found,) = pullback(tree.unflatten(treedef, cast))
        return found

    return vjp, value


def make_jvp(fun: Function, x: ArrayLike) -> Function:
    """A function of a direction that gives the value of `fun` at `x`, and its derivative.

    >>> make_jvp(lambda x: x**2, 3.0)(1.0)
    (np.float64(9.0), np.float64(6.0))
    """
    given = differentiable(x)

    def jvp(g: Tree) -> tuple[Any, Any]:
        tangent = tree.map(lambda t, p: as_cotangent(t, np.result_type(p)), g, given)
        with mode(FORWARD, on=True):
            found: tuple[Any, Any] = fg.jvp(watched(fun), (given,), (tangent,))
        return found

    return jvp


def as_cotangent(g: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """A direction in the dtype of what it belongs to: Python's and NumPy's numbers mix freely there."""
    if dtype.kind not in "fc":
        return np.zeros(np.shape(g), bool if dtype.kind == "b" else dtype)
    found = np.result_type(g) if not isinstance(g, Tracer) else g.aval.dtype
    if found == dtype:
        return g
    return fg.numpy.asarray(fg.numpy.real(g) if dtype.kind == "f" and found.kind == "c" else g).astype(dtype)


def differentiable(x: ArrayLike) -> Array:
    """`x`, with arrays of integers as floating-point numbers; what cannot be differentiated by is refused."""

    def converted(leaf: Tree) -> Tree:
        if type(leaf) in Box.type_mappings:
            leaf = np.asarray(Box.type_mappings[type(leaf)](leaf, None, None))
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "iub":
            return leaf.astype(float)
        if isinstance(leaf, np.ndarray | np.inexact | float | complex | Tracer):
            return leaf
        if isinstance(leaf, np.integer):
            return np.float64(leaf)
        raise TypeError(f"Can't differentiate w.r.t. type {type(leaf)}")

    return tree.map(converted, x)


_SAYS: ContextVar[bool] = ContextVar("autograd_says_independent", default=True)


def watched(fun: Function, traces: list[Recorder] | None = None) -> Function:
    """The function, which notes its trace, and warns when its result has nothing to do with its argument."""

    def watching(x: Tree) -> Tree:
        boxes = [leaf for leaf in tree.leaves(x) if type(leaf) is Tracer]
        if traces is not None and boxes:
            traces.append(boxes[0]._recorder)
        out = fun(x)
        if _SAYS.get() and not any(type(leaf) is Tracer for leaf in tree.leaves(out)):
            warnings.warn("Output seems independent of input.", stacklevel=2)
        return out

    watching.__name__ = getattr(fun, "__name__", "function")
    return watching


@contextmanager
def open_again(traces: list[Recorder]) -> Iterator[None]:
    """Let boxes of traces be computed with: rules of packages hold on to those that they were called with."""
    ended = [recorder for recorder in traces if recorder.closed]
    for recorder in ended:
        recorder.closed = False
    try:
        yield
    finally:
        for recorder in ended:
            recorder.closed = True


@contextmanager
def mode(variable: ContextVar[bool], *, on: bool) -> Iterator[None]:
    """Let primitives know what kind of derivative is taken."""
    token = variable.set(on)
    try:
        yield
    finally:
        variable.reset(token)


class VJPNode(Node):
    """The first or the last node of a traced function, of which `backward_pass` takes the last."""

    def __init__(self, vjp: Function | None = None) -> None:
        self.vjp = vjp

    @classmethod
    def new_root(cls, *args: object, **kwargs: object) -> VJPNode:
        """The node to give to `trace`. NotImplementedError for a class of a package's own."""
        if cls is not VJPNode:
            super().new_root()
        return cls()

    def traced(self, fun: Function, x: ArrayLike) -> tuple[Any, VJPNode | None]:
        """The value, and the node whose backward function is known."""
        vjp, value, depends = traced_vjp(fun, x)
        return value, VJPNode(vjp) if depends else None


class JVPNode(Node):
    """The first or the last node of a traced function, with its tangent `g`."""

    def __init__(self, g: ArrayLike) -> None:
        self.g = g

    @classmethod
    def new_root(cls, *args: ArrayLike, **kwargs: object) -> JVPNode:
        """The node to give to `trace`, with its tangent; NotImplementedError as for `VJPNode`."""
        if cls is not JVPNode:
            super().new_root()
        return cls(*args)

    def traced(self, fun: Function, x: ArrayLike) -> tuple[Any, JVPNode | None]:
        """The value, and the node that has its tangent."""
        seen: list[bool] = []
        value, tangent = make_jvp(noting(fun, seen), x)(self.g)
        return value, JVPNode(tangent) if seen[-1] else None


def noting(fun: Function, seen: list[bool]) -> Function:
    """The function, which notes whether its result has to do with its argument."""

    def noted(x: Anything) -> Anything:
        out = fun(x)
        seen.append(any(type(leaf) is Tracer for leaf in tree.leaves(out)))
        return out

    return noted


def traced_vjp(fun: Function, x: ArrayLike) -> tuple[Function, Any, bool]:
    """The backward function, the value, and whether that has to do with `x`."""
    seen: list[bool] = []
    with mode(_SAYS, on=False):
        vjp, value = make_vjp(noting(fun, seen), x)
    return vjp, value, seen[-1]


def backward_pass(g: ArrayLike, end_node: VJPNode) -> Array:
    """The derivative by the argument of a traced function, from that of its value."""
    assert end_node.vjp is not None, "the last node of `trace` is meant"
    return end_node.vjp(g)


class SparseObject:
    """What a rule says of a vector that is zero nearly everywhere: here it is that vector.

    >>> import numpy as np
    >>> def write(a):
    ...     a[1] += 5.0
    ...     return a
    >>> SparseObject(vspace(np.zeros(3)), write)
    array([0., 5., 0.])
    """

    def __new__(cls, vs: VSpace, mut_add: Callable[[Any], Any]) -> Anything:
        return mut_add(vs.zeros())


class _Rules(MutableMapping[Function, Function]):
    """The rules of one kind, by primitive: those that were set. Functions of ours have theirs elsewhere."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __getitem__(self, fun: Function) -> Function:
        found = getattr(RULES[id(fun)], self._kind) if id(fun) in RULES else None
        if found is None:
            raise KeyError(fun)
        return found  # type: ignore[no-any-return]

    def __setitem__(self, fun: Function, rule: Function | None) -> None:
        rules = RULES.of(fun)
        setattr(rules, self._kind, rule)
        rules.calls.clear()

    def __delitem__(self, fun: Function) -> None:
        self[fun]  # raises KeyError where there is none
        self[fun] = None

    def __iter__(self) -> Iterator[Function]:
        return iter([rules.fun for rules in [*RULES.values()] if getattr(rules, self._kind) is not None])

    def __len__(self) -> int:
        return len(list(iter(self)))


primitive_vjps = _Rules("vjp")
primitive_jvps = _Rules("jvp")

# -- rules ---------------------------------------------------------------------------------------------------


def defjvp_argnum(fun: Function, jvpmaker: Function) -> None:
    """Set the rule ``jvpmaker(argnum, g, ans, args, kwargs)``, the tangent for one argument's."""

    def jvp_argnums(argnums: Anything, gs: Tree, ans: Tree, args: Tree, kwargs: Tree) -> Tree:
        return summed([jvpmaker(n, g, ans, args, kwargs) for n, g in zip(argnums, gs, strict=True)])

    defjvp_argnums(fun, jvp_argnums)


def defjvp(fun: Function, *jvpfuns: Function | str | None, argnums: Sequence[int] | None = None) -> None:
    """Set a rule ``jvpfun(g, ans, *args, **kwargs)`` for each argument; "same" is linear, None is zero."""
    numbers = range(len(jvpfuns)) if argnums is None else argnums
    rules = dict(zip(numbers, jvpfuns, strict=False))

    def tangent(n: int, g: Tree, ans: Tree, args: Tree, kwargs: Tree) -> Tree:
        rule = rules[n]
        if rule is None:
            return vspace(ans).zeros()
        if rule == "same":
            return fun(*subval(args, n, g), **kwargs)
        assert callable(rule), f"Bad JVP {rule!r} for {fun.__name__!r}"
        return rule(g, ans, *args, **kwargs)

    defjvp_argnum(fun, tangent)


def def_linear(fun: Function) -> None:
    """Say that a function is linear in each argument."""
    defjvp_argnum(fun, lambda n, g, ans, args, kwargs: fun(*subval(args, n, g), **kwargs))


def summed(parts: list[Any]) -> Array:
    """The sum of vectors of one space."""
    total = parts[0]
    for part in parts[1:]:
        total = vspace(total).add(total, part)
    return total
