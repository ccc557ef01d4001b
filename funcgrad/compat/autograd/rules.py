"""The rules of primitives, by primitive, and what sets them for cotangents of all arguments at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from funcgrad.compat.autograd.vspaces import vspace
from funcgrad.compat.autograd.wrap_util import get_name
from funcgrad.types import Anything, Tree

__all__ = ["RULES", "Rules", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums", "zero_vjp"]

Function = Callable[..., Any]


class Rules:
    """What is known of the derivative of a primitive, and the calls of it that were met."""

    def __init__(self, fun: Function) -> None:
        self.fun = fun
        self.instead_of: Function | None = None
        """The function of the library's that it stands for."""
        self.vjp: Function | None = None
        self.jvp: Function | None = None
        self.calls: dict[Hashable, Any] = {}


class _Registry(dict[int, Rules]):
    """The rules of primitives."""

    def __init__(self) -> None:
        super().__init__()
        self.in_place_of: Callable[[Function], Rules | None] = lambda fun: None
        """What makes a primitive of a function of the library's that is given a rule."""

    def of(self, fun: Function) -> Rules:
        """The rules of a primitive; raises NotImplementedError for a function that is none."""
        found = self.get(id(fun))
        if found is None or (found.fun is not fun and found.instead_of is not fun):
            found = self.in_place_of(fun)
        if found is None:
            raise NotImplementedError(f"{get_name(fun)} is no primitive: wrap it with primitive first")
        return found


RULES = _Registry()


def defvjp_argnums(fun: Function, vjpmaker: Function) -> None:
    """Set the rule ``vjpmaker(argnums, ans, args, kwargs)``, a function of g that gives their cotangents."""
    rules = RULES.of(fun)
    rules.vjp = vjpmaker
    rules.calls.clear()


def defvjp_argnum(fun: Function, vjpmaker: Function) -> None:
    """Set the rule ``vjpmaker(argnum, ans, args, kwargs)``, a function of g."""

    def vjp_argnums(argnums: Anything, *given: Tree) -> Function:
        vjps = [vjpmaker(argnum, *given) for argnum in argnums]
        return lambda g: tuple([vjp(g) for vjp in vjps])

    defvjp_argnums(fun, vjp_argnums)


def defvjp(fun: Function, *vjpmakers: Function | None, argnums: Sequence[int] | None = None) -> None:
    """Set a rule ``vjpmaker(ans, *args, **kwargs)``, a function of g, for each argument; None is zero."""
    numbers = range(len(vjpmakers)) if argnums is None else argnums
    makers = dict(zip(numbers, vjpmakers, strict=False))

    def vjp_argnums(argnums: Anything, ans: Tree, args: Tree, kwargs: Tree) -> Function:
        for argnum in argnums:
            if argnum not in makers:
                raise NotImplementedError(f"VJP of {fun.__name__} wrt argnum {argnum} not defined")
        vjps = [zero_vjp(args[n]) if makers[n] is None else makers[n](ans, *args, **kwargs) for n in argnums]  # type: ignore[misc]
        return lambda g: tuple([vjp(g) for vjp in vjps])

    defvjp_argnums(fun, vjp_argnums)


def zero_vjp(arg: object) -> Function:
    """The backward function of an argument on which nothing depends."""
    return lambda g: vspace(arg).zeros()


def defjvp_argnums(fun: Function, jvpmaker: Function) -> None:
    """Set the rule ``jvpmaker(argnums, gs, ans, args, kwargs)``, the tangent of the result."""
    rules = RULES.of(fun)
    rules.jvp = jvpmaker
    rules.calls.clear()
