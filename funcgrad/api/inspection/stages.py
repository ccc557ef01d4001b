"""The stages of a jitted function at one kind of arguments: recorded, then compiled, each to be looked at."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.errors import FuncgradError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.types import Anything, Tree


class Jitted(Protocol):
    """What stages ask of a jitted function."""

    __name__: str

    def __call__(self, *args: Tree, **kwargs: Tree) -> Tree:
        """Call it."""

    def specialized(self, *args: object, **kwargs: object) -> Anything:
        """What is made for these arguments."""

    def kind(self, *args: object, **kwargs: object) -> tuple[Any, Any, tuple[Aval, ...]]:
        """What of arguments is compiled for."""

    def kernel_source(self, *args: object, **kwargs: object) -> str:
        """The source of the kernels."""


class Stage:
    """What `Lowered` and `Compiled` share: the arguments they were made for, and the types of the results."""

    def __init__(self, function: Jitted, args: Tree, kwargs: Tree) -> None:
        self._function = function
        self._made = function.specialized(*args, **kwargs)
        self._given = args, kwargs
        self.in_tree = tree.structure((args, kwargs))

    @property
    def program(self) -> Program:
        """The Program."""
        found: Program = self._made.program
        return found

    @property
    def in_avals(self) -> tuple[Aval, ...]:
        """The types of the leaves of the arguments that are not static."""
        found: tuple[Aval, ...] = self._made.avals
        return found

    @property
    def out_tree(self) -> Anything:
        """The structure of the result."""
        return self._made.out_tree

    @property
    def out_info(self) -> Tree:
        """The types of the results, in their structure."""
        return self._made.result(self.program.out_avals)

    def cost_analysis(self) -> dict[str, float]:
        """Operations and bytes that a call reads and writes, as counted by `fg.explain`.

        >>> cost = fg.jit(lambda x: 2.0 * x).lower(np.ones(100)).cost_analysis()
        >>> cost["flops"], cost["bytes accessed"]
        (100.0, 1600.0)
        """
        # Explaining is made of jitted functions: imported where one is explained.
        explain: Any = import_module("funcgrad.api.inspection.explain").explain
        args, kwargs = tree.map(as_values, self._given)
        report = explain(self._function)(*args, **kwargs)
        return {
            "flops": float(sum(kernel.flops for kernel in report.kernels)),
            "bytes accessed": float(sum(kernel.bytes_moved for kernel in report.kernels)),
        }

    def __repr__(self) -> str:
        types = ", ".join([str(a) for a in self.in_avals])
        return f"{type(self).__name__}({self._function.__name__}: {types})"


def as_values(leaf: object) -> Anything:
    """Zeros for a type, and values as they are."""
    return np.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, Aval) else leaf


class Lowered(Stage):
    """What ``jit(f).lower(*args)`` returns: the function recorded for one kind of arguments.

    Arguments may be `ShapeDtypeStruct`.

    >>> lowered = fg.jit(lambda x: np.sum(x**2)).lower(fg.ShapeDtypeStruct((3,), float))
    >>> print(lowered.out_info)
    f64[]
    """

    def as_text(self) -> str:
        """The Program as text."""
        return str(self.program)

    def compile(self) -> Compiled:
        """The function compiled for these arguments."""
        return Compiled(self._function, *self._given)


class OtherArgumentsError(FuncgradError, TypeError):
    """Raised by a compiled stage for arguments that it was not compiled for."""


class Compiled(Stage):
    """What ``jit(f).lower(*args).compile()`` returns: native code for one kind of arguments, and no other.

    >>> compiled = fg.jit(lambda x: np.sum(x**2)).lower(np.ones(3)).compile()
    >>> print(compiled(np.arange(3.0)))
    5.0
    >>> compiled(np.ones(4))
    Traceback (most recent call last):
    funcgrad.api.inspection.stages.OtherArgumentsError: compiled for (f64[3]), called with (f64[4])
      ...
    """

    def __init__(self, function: Jitted, args: Tree, kwargs: Tree) -> None:
        super().__init__(function, args, kwargs)
        _ = self._made.executable

    def as_text(self) -> str:
        """The source of the kernels."""
        args, kwargs = self._given
        return self._function.kernel_source(*args, **kwargs)

    def __call__(self, *args: Tree, **kwargs: Tree) -> Tree:
        """Run it; raises TypeError for arguments of another kind."""
        seen = self._function.kind(*args, **kwargs)
        wanted = self._function.kind(*self._given[0], **self._given[1])
        if seen != wanted:
            raise OtherArgumentsError(
                f"compiled for {listed(wanted)}, called with {listed(seen)}",
                source=here(),
                remedy="Lower and compile it for these arguments too, or call the function of fg.jit, which "
                "does it by itself.",
            )
        return self._function(*args, **kwargs)


def listed(kind: Anything) -> str:
    """What of arguments is compiled for, in words: the types, and the values of static arguments."""
    static, _, avals = kind
    said = [f"static {place} = {value!r}" for place, _, value in static if place is not None]
    return "(" + ", ".join([*map(str, avals), *said]) + ")"
