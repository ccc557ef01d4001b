"""How rules were given to primitives before autograd 1.2; old packages still do. Each says so once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.compat.autograd.rules import defvjp
from funcgrad.compat.autograd.vspaces import vspace
from funcgrad.types import Tree

Function = Callable[..., Any]


def warn(method: str) -> None:
    """Say that a method is deprecated."""
    warnings.warn(f"The {method} method is deprecated: use defvjp(fun, *rules).", stacklevel=3)


class OldRules:
    """The rules that were set one argument at a time, by methods of a primitive."""

    def __init__(self, fun: Function) -> None:
        self._fun = fun
        self._makers: dict[int, Function | None] = {}

    def _set(self, argnum: int, maker: Function | None) -> None:
        self._makers[argnum] = maker
        numbers = sorted(self._makers)
        defvjp(self._fun, *[self._makers[n] for n in numbers], argnums=numbers)

    def defvjp(self, vjpmaker: Function, argnum: int = 0) -> None:
        """Set ``vjpmaker(g, ans, vs, gvs, *args, **kwargs)`` for an argument."""
        warn("defvjp")

        def staged(ans: Tree, *args: Tree, **kwargs: Tree) -> Function:
            return lambda g: vjpmaker(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

        self._set(argnum, staged)

    def defgrad(self, gradfun: Function, argnum: int = 0) -> None:
        """Set ``gradfun(ans, *args, **kwargs)``, a function of g, for an argument."""
        warn("defgrad")
        self._set(argnum, gradfun)

    def defvjp_is_zero(self, argnums: Sequence[int] = (0,)) -> None:
        """Say that nothing depends on some arguments."""
        warn("defvjp_is_zero")
        for argnum in argnums:
            self._set(argnum, None)
