"""Primitives of users: functions that are called with values, and the rules for their derivatives.

In autograd a primitive sees plain values, and so does its backward rule the first time. Here a call is an
equation that calls the function with values (`host_call`), and so is its backward rule; where that has to be
differentiated again, the rule is recorded as it runs on boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad import tree
from funcgrad.compat.autograd.deprecated import OldRules
from funcgrad.compat.autograd.rules import RULES, Rules
from funcgrad.compat.autograd.wrap_util import get_name, wraps
from funcgrad.ir.avals import Aval
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.custom import CustomVjpTangents, FlatRule
from funcgrad.transforms.host_call import HostCall
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Array, ArrayLike, Result, Tree

Function = Callable[..., Any]

FORWARD: ContextVar[bool] = ContextVar("forward", default=False)
"""Whether the derivative that is being taken is a directional one."""


def primitive(f_raw: Function) -> Anything:
    """A function that is called with values, and differentiated by the rules that `defvjp` and `defjvp` set.

    >>> from funcgrad.compat.autograd import grad
    >>> from funcgrad.compat.autograd.extend import defvjp
    >>> import funcgrad.compat.autograd.numpy as np
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> print(grad(cube)(2.0), grad(grad(cube))(2.0))
    12.0 12.0
    """

    @wraps(f_raw)
    def f_wrapped(*args: Tree, **kwargs: Tree) -> Result:
        leaves, treedef = tree.flatten((args, kwargs))
        if not any(type(x) is Tracer for x in leaves):
            return f_raw(*args, **kwargs)
        return call_of(RULES[id(f_wrapped)], f_raw, leaves, treedef).recorded(leaves)

    f_wrapped.fun = f_raw
    f_wrapped._is_autograd_primitive = True
    RULES[id(f_wrapped)] = Rules(f_wrapped)
    old = OldRules(f_wrapped)
    f_wrapped.defvjp, f_wrapped.defgrad = old.defvjp, old.defgrad
    f_wrapped.defvjp_is_zero = old.defvjp_is_zero
    return f_wrapped


def is_operand(x: ArrayLike) -> bool:
    """Whether a leaf is a number or an array that may change from call to call."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "biufc"
    return isinstance(x, Tracer | np.generic | float | complex)


@dataclass(frozen=True)
class Fixed:
    """A leaf that is part of a call's structure: equal if it is equal and of the same type, or the same."""

    value: Any = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fixed) or type(other.value) is not type(self.value):
            return False
        if type(self.value) in (int, bool, str, bytes):
            return bool(self.value == other.value)
        return self.value is other.value

    def __hash__(self) -> int:
        return hash(self.value) if type(self.value) in (int, bool, str, bytes) else id(self.value)


def call_of(rules: Rules, f_raw: Function, leaves: Sequence[Any], treedef: TreeDef) -> Call:
    """The call of a primitive with this structure and these fixed leaves."""
    fixed = tuple([(k, Fixed(x)) for k, x in enumerate(leaves) if not is_operand(x)])
    key = (treedef, fixed)
    found = rules.calls.get(key)
    if found is None:
        found = rules.calls[key] = Call(rules, f_raw, treedef, fixed)
    return found


class Call:
    """A primitive called with one structure of arguments: a function of the leaves that may change."""

    def __init__(
        self, rules: Rules, f_raw: Function, treedef: TreeDef, fixed: tuple[tuple[int, Fixed], ...]
    ) -> None:
        self.rules = rules
        self.f_raw = f_raw
        self.treedef = treedef
        self.fixed = {k: x.value for k, x in fixed}
        self.__name__ = get_name(f_raw)
        self.places = [k for k in range(treedef.num_leaves) if k not in self.fixed]
        self.out_tree: Any = None
        self._results: dict[tuple[Aval, ...], tuple[Aval, ...]] = {}
        self._last: tuple[list[Any], list[Any]] | None = None

    def recorded(self, leaves: Sequence[Any]) -> Array:
        """The result, of an equation that calls the function."""
        operands = [leaves[k] for k in self.places]
        outs = HostCall(self, self.results(operands)).bind(*operands)
        return tree.unflatten(self.out_tree, outs)

    def results(self, operands: Sequence[Any]) -> tuple[Aval, ...]:
        """The types of the leaves of the result.

        Where values are known the function is called, and what it returns is kept for its evaluation.
        Elsewhere it is called with some numbers: types are checked again when it is evaluated.
        """
        avals = tuple([aval_of(x) for x in operands])
        found = self._results.get(avals)
        if found is None:
            if all(x.has_value() for x in operands if type(x) is Tracer):
                values = [x.concrete() if type(x) is Tracer else np.asarray(x)[()] for x in operands]
                outs = self(*values)
                self._last = values, outs
            else:
                outs = self(*[np.full(a.shape, 0.5).astype(a.dtype)[()] for a in avals])
            found = self._results[avals] = tuple([Aval(np.shape(x), np.asarray(x).dtype) for x in outs])
        return found

    def arguments(self, operands: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the keyword arguments with these leaves."""
        found = {**self.fixed, **dict(zip(self.places, operands, strict=True))}
        args, kwargs = tree.unflatten(self.treedef, [found[k] for k in range(self.treedef.num_leaves)])
        return args, kwargs

    def __call__(self, *values: Tree) -> list[Any]:
        """The leaves of the result, for values."""
        last, self._last = self._last, None
        if last is not None and all(x is y for x, y in zip(last[0], values, strict=True)):
            return last[1]
        args, kwargs = self.arguments(values)
        outs, out_tree = tree.flatten(self.f_raw(*args, **kwargs))
        if self.out_tree is not None and self.out_tree != out_tree:
            raise TypeError(f"{self.__name__} returned {out_tree} where it had returned {self.out_tree}")
        self.out_tree = out_tree
        return outs

    # -- derivatives -------------------------------------------------------------------------------------

    def host_jvp(self, primals: Sequence[Any], outs: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
        """The tangents of the results, by the forward rule, or as the transpose of the backward one."""
        active = tuple([k for k, t in enumerate(tangents) if t is not None])
        dotted = [a.inexact for a in map(aval_of, outs)]
        if self.rules.jvp is not None and (FORWARD.get() or self.rules.vjp is None):
            forward = Forward(self, active, len(primals), tuple(map(aval_of, outs)))
            flat = [*primals, *outs, *[tangents[k] for k in active]]
            given = iter(forward.recorded(flat) if FORWARD.get() else forward.traced(flat))
            return [next(given) if inexact else None for inexact in dotted]
        backward = Backward(self, active, len(primals), tuple(dotted), tuple(map(aval_of, primals)))
        residuals = [*primals, *outs]
        rule = FlatRule(
            backward.traced if FORWARD.get() else backward.recorded,
            backward.__name__,
            (backward, FORWARD.get()),
        )
        linear = tuple([aval_of(tangents[k]) for k in active])
        results = tuple([aval_of(x).strong for x in outs if aval_of(x).inexact])
        tangent_map = CustomVjpTangents(rule, len(residuals), linear, results)
        dots = iter(tangent_map.bind(*residuals, *[tangents[k] for k in active]))
        return [next(dots) if inexact else None for inexact in dotted]

    def forward(
        self, primals: Sequence[Any], outs: Sequence[Any], tangents: Sequence[Any], active: tuple[int, ...]
    ) -> list[Any]:
        """The tangents of the results by the user's forward rule."""
        args, kwargs = self.arguments(primals)
        dots = {self.places[k]: tangents[k] for k in active}
        argnums = self.argnums(active)
        gs = []
        for argnum in argnums:
            leaves = tree.leaves(args[argnum])
            full = [dots.get(k, 0.0 * leaf) for k, leaf in zip(self.leaves_of(argnum), leaves, strict=True)]
            gs.append(tree.unflatten(tree.structure(args[argnum]), full))
        assert self.rules.jvp is not None
        return tree.leaves(
            self.rules.jvp(argnums, tuple(gs), tree.unflatten(self.out_tree, outs), args, kwargs)
        )

    def argnums(self, active: Sequence[int]) -> tuple[int, ...]:
        """The numbers of the positional arguments that hold these operands."""
        wanted = {self.places[k] for k in active}
        args_tree, _ = self.treedef.children()
        return tuple([n for n in range(len(args_tree.children())) if wanted.intersection(self.leaves_of(n))])

    def leaves_of(self, argnum: int) -> list[int]:
        """The numbers of the leaves of a positional argument."""
        args_tree, _ = self.treedef.children()
        counts = [child.num_leaves for child in args_tree.children()]
        return list(range(sum(counts[:argnum]), sum(counts[: argnum + 1])))


@dataclass(frozen=True)
class Forward:
    """The forward rule of a call by some of its operands: the tangents of its results.

    Its inputs are the operands, the results, and the tangents of the active operands.
    """

    call: Call
    active: tuple[int, ...]
    n_operands: int
    avals: tuple[Aval, ...]

    @property
    def __name__(self) -> str:
        return f"jvp_{self.call.__name__}"

    def recorded(self, flat: Sequence[Any]) -> Sequence[Any]:
        """An equation that runs the rule on values, as autograd does."""
        results = tuple([aval.strong for aval in self.avals if aval.inexact])
        found: Sequence[Any] = HostCall(self, results).bind(*flat)
        return found

    def __call__(self, *values: Tree) -> list[Any]:
        dtypes = [aval.dtype for aval in self.avals if aval.inexact]
        return [in_dtype(x, dtype) for x, dtype in zip(self.traced(values), dtypes, strict=True)]

    def traced(self, flat: Sequence[Any]) -> list[Any]:
        """The rule on whatever it is given; the tangents of the results that have one."""
        n, n_outs = self.n_operands, len(self.avals)
        tangents: list[Any] = [None] * n
        for k, t in zip(self.active, flat[n + n_outs :], strict=True):
            tangents[k] = t
        found = self.call.forward(flat[:n], flat[n : n + n_outs], tangents, self.active)
        return [t for t, aval in zip(found, self.avals, strict=True) if aval.inexact]

    def host_jvp(self, primals: Sequence[Any], outs: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
        """Differentiate the rule once more, as it runs on boxes."""
        return differentiated(self.traced, primals, tangents)


def differentiated(rule: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
    """The tangents of what a rule gives, which is recorded as it runs."""
    active = [k for k, t in enumerate(tangents) if t is not None]

    def of_active(*values: Tree) -> tuple[Any, ...]:
        flat = list(primals)
        for k, x in zip(active, values, strict=True):
            flat[k] = x
        return tuple(rule(flat))

    dots: Sequence[Any]
    _, dots = fg.jvp(of_active, tuple([primals[k] for k in active]), tuple([tangents[k] for k in active]))
    return dots


@dataclass(frozen=True)
class Backward:
    """The backward rule of a call by some of its operands, between flat lists.

    Its inputs are the operands, the results, and the cotangents of the results that have one.
    """

    call: Call
    active: tuple[int, ...]
    n_operands: int
    dotted: tuple[bool, ...]
    avals: tuple[Aval, ...]

    @property
    def __name__(self) -> str:
        return f"vjp_{self.call.__name__}"

    def recorded(self, flat: Sequence[Any]) -> Sequence[Any]:
        """An equation that runs the rule on values, as autograd does."""
        results = tuple([self.avals[k].strong for k in self.active])
        found: Sequence[Any] = HostCall(self, results).bind(*flat)
        return found

    def __call__(self, *values: Tree) -> list[Any]:
        # Rules may give integers, and complex numbers whose imaginary part belongs to no real argument.
        avals = [self.avals[k] for k in self.active]
        found = [in_dtype(x, aval.dtype) for x, aval in zip(self.traced(values), avals, strict=True)]
        # One number is one number there, with axes or without.
        return [
            x.reshape(aval.shape) if x.size == aval.size == 1 else x
            for x, aval in zip(found, avals, strict=True)
        ]

    def host_jvp(self, primals: Sequence[Any], outs: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
        """Differentiate the rule once more, as it runs on boxes."""
        return differentiated(self.traced, primals, tangents)

    def traced(self, flat: Sequence[Any]) -> list[Any]:
        """The rule on whatever it is given; the cotangents of the active operands."""
        call, n = self.call, self.n_operands
        outs, bars = flat[n : n + len(self.dotted)], iter(flat[n + len(self.dotted) :])
        args, kwargs = call.arguments(flat[:n])
        argnums = call.argnums(self.active)
        if call.rules.vjp is None:
            raise NotImplementedError(f"VJP of {call.__name__} wrt argnums {argnums} not defined")
        gs = [next(bars) if dot else np.zeros(np.shape(x)) for x, dot in zip(outs, self.dotted, strict=True)]
        ans, g = tree.unflatten(call.out_tree, outs), tree.unflatten(call.out_tree, gs)
        found: dict[int, Any] = {}
        for argnum, part in zip(argnums, call.rules.vjp(argnums, ans, args, kwargs)(g), strict=True):
            places = call.leaves_of(argnum)
            found.update(zip(places, cotangents_of(part, args[argnum]), strict=True))
        return [found[call.places[k]] for k in self.active]


def cotangents_of(part: ArrayLike, argument: ArrayLike) -> list[Any]:
    """What a rule gives for the leaves of an argument; for a list of numbers it may give one array."""
    structure = tree.structure(argument)
    if structure.num_leaves == 1 and not isinstance(part, tuple | list | dict):
        return [part]
    leaves = tree.leaves(part)
    if len(leaves) == structure.num_leaves:
        return leaves
    keys = [[getattr(key, "idx", getattr(key, "key", None)) for key in path] for path in structure.paths()]
    return [reduce(getitem, path, part) for path in keys]


def in_dtype(x: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """What a rule gives, as what it belongs to: real parts for what is real."""
    return np.asarray(np.real(x) if dtype.kind == "f" else x, dtype)


def aval_of(x: ArrayLike) -> Aval:
    """The type of an operand."""
    return x.aval.strong if type(x) is Tracer else Aval(np.shape(x), np.asarray(x).dtype)
