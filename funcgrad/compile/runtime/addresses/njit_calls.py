"""C functions around functions of Numba's, for kernels to call by address.

One is made for each function, structure of arguments, and their shapes and dtypes; it takes a pointer to each
argument and to each result, and goes through nothing of Python's. Where the function raises, Numba says so on
the error output, and the results are NaN, or zero where they are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core.types import CPointer
from numba.np.numpy_support import from_dtype

from funcgrad import tree
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.types import Foreign, NumbaFunction, Tree

if TYPE_CHECKING:
    from funcgrad.tree.treedef import TreeDef


carray: Any = getattr(numba, "carray")  # noqa: B009 - its type stubs leave it out
pointer_to: Any = CPointer

_KEPT: dict[tuple[Any, ...], Any] = {}
"""The C functions that have been made. Kernels hold their addresses for as long as the process lives."""


def address_of(dispatcher: NumbaFunction, in_tree: TreeDef, avals: Sequence[Aval], result: Tree) -> int:
    """The address for arguments of these avals, where the function returns what is like `result`."""
    outs = tuple([aval_of(x).strong for x in tree.leaves(result)])
    key = (dispatcher, in_tree, tuple(avals), outs)
    found: Any = _KEPT.get(key)
    if found is None:
        # Another thread may have made one meanwhile: that one stays, since kernels may call it.
        found = _KEPT.setdefault(key, compiled(dispatcher, in_tree, avals, result, outs))
    return int(found.address)


def number_function(function: object, count: int) -> int:
    """The address of a C function of so many double-precision numbers, which returns one."""
    key = (function, count)
    found: Any = _KEPT.get(key)
    if found is None:
        names = ", ".join([f"x{k}" for k in range(count)])
        held: dict[str, Any] = {"function": function}
        exec(f"def called({names}):\n    return function({names})", held)
        number = numba.types.float64
        found = _KEPT.setdefault(key, numba.cfunc(number(*[number] * count))(held["called"]))
    return int(found.address)


def compiled(
    dispatcher: NumbaFunction, in_tree: TreeDef, avals: Sequence[Aval], result: Tree, outs: Sequence[Aval]
) -> Foreign:
    """The C function."""
    names: dict[str, Any] = {"function": dispatcher, "carray": carray, "nan": np.nan}
    arguments = tree.unflatten(in_tree, [f"x{k}" for k in range(len(avals))])
    spelled = ", ".join([spelled_argument(x, names) for x in arguments])
    lines = [f"    x{k} = {read(k, a)}" for k, a in enumerate(avals)]
    lines += [f"    carray(r{k}, {a.shape or (1,)})[:] = {unset(a)}" for k, a in enumerate(outs)]
    lines.append(f"    found = function({spelled})")
    lines += [
        f"    carray(r{k}, {a.shape or (1,)})[{':' if a.shape else '0'}] = {path}"
        for (k, a), path in zip(enumerate(outs), paths(result, "found"), strict=True)
    ]
    pointers = ", ".join([*[f"p{k}" for k in range(len(avals))], *[f"r{k}" for k in range(len(outs))]])
    exec("\n".join([f"def called({pointers}):", *lines]), names)
    types = [pointer_to(from_dtype(a.dtype)) for a in (*avals, *outs)]
    made: Callable[..., Any] = numba.cfunc(numba.types.void(*types))
    return made(names["called"])


def read(k: int, aval: Aval) -> str:
    """The text of an argument: a copy, since the function may write into it."""
    return f"carray(p{k}, {aval.shape}).copy()" if aval.shape else f"carray(p{k}, (1,))[0]"


def unset(aval: Aval) -> str:
    """What a result is until it is there."""
    return "nan" if aval.inexact else "0"


def spelled_argument(x: object, names: dict[str, Any]) -> str:
    """The text of an argument of names in tuples."""
    if not isinstance(x, tuple):
        return str(x)
    inner = "".join([f"{spelled_argument(y, names)}, " for y in x])
    if not hasattr(x, "_fields"):
        return f"({inner})"
    names[type(x).__name__] = type(x)
    return f"{type(x).__name__}({inner})"


def paths(x: object, name: str) -> Iterator[str]:
    """The texts of the leaves of a result, in their order."""
    if not isinstance(x, tuple):
        yield name
        return
    for k, item in enumerate(x):
        yield from paths(item, f"{name}[{k}]")
