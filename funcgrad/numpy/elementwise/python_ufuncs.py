"""``fg.numpy.frompyfunc``: a function of numbers as a ufunc of arrays, differentiated and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from funcgrad.api.batch import vmap
from funcgrad.api.control_flow.loops import scan
from funcgrad.numpy.dispatch import unsupported
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays, DTypeLike, Option


class PythonUfunc:
    """What `frompyfunc` returns: called it broadcasts, and it reduces and accumulates as a ufunc."""

    def __init__(self, func: Callable[..., Any], nin: int, nout: int, identity: Option) -> None:
        self.func = func
        self.nin = nin
        self.nout = nout
        self.nargs = nin + nout
        self.identity = identity
        self.__name__ = getattr(func, "__name__", type(func).__name__)
        self.__doc__ = func.__doc__

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__}>"

    def __call__(self, *args: ArrayLike) -> Arrays:
        """The function at every element of the arguments, which are broadcast."""
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} arguments, and {len(args)} were given")
        arrays = [asoperand(x) for x in args]
        shape = np.broadcast_shapes(*[shape_of(x) for x in arrays])
        if not shape:
            return self.func(*arrays)
        lines = [np.broadcast_to(x, shape).reshape(-1) for x in arrays]
        found = vmap(self.func)(*lines)
        if self.nout == 1:
            return found.reshape(shape)
        return tuple([x.reshape(shape) for x in found])

    def reduce(
        self,
        a: ArrayLike,
        axis: int | None = 0,
        dtype: DTypeLike = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
    ) -> Array:
        """All elements along an axis combined, from `initial`, the identity or the first one on."""
        lines = self._lines("reduce", a, axis, dtype)
        start = self.identity if initial is None else initial
        if start is None:
            if not shape_of(lines)[0]:
                raise ValueError(f"{self.__name__} has no identity, and there is nothing to reduce")
            start, lines = lines[0], lines[1:]
        else:
            start = np.full_like(lines, start, shape=shape_of(lines)[1:])
        found, _ = scan(lambda held, x: (self(held, x), None), start, lines)
        if not keepdims:
            return found
        return np.reshape(found, [1] * np.ndim(a)) if axis is None else np.expand_dims(found, axis)

    def accumulate(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike = None) -> Array:
        """The combinations of the elements so far along an axis."""
        lines = self._lines("accumulate", a, axis, dtype)
        if not shape_of(lines)[0]:
            return lines

        def step(held: Array, x: Array) -> tuple[Any, Any]:
            found = self(held, x)
            return found, found

        _, rest = scan(step, lines[0], lines[1:])
        return np.moveaxis(np.concatenate([lines[:1], rest]), 0, axis)

    def outer(self, A: ArrayLike, B: ArrayLike) -> Array:
        """The function at every pair of elements."""
        first, second = asoperand(A), asoperand(B)
        return self(np.reshape(first, shape_of(first) + (1,) * len(shape_of(second))), second)

    def at(self, *args: object) -> NoReturn:
        """Refused."""
        raise unsupported(f"{self.__name__}.at of a ufunc of frompyfunc's")

    def reduceat(self, *args: object) -> NoReturn:
        """Refused."""
        raise unsupported(f"{self.__name__}.reduceat of a ufunc of frompyfunc's")

    def _lines(self, method: str, a: Array, axis: int | None, dtype: DTypeLike) -> Array:
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(f"{method} is for functions of two arguments with one result")
        x = asoperand(a)
        if dtype is not None:
            x = np.astype(x, np.dtype(dtype))
        return np.ravel(x) if axis is None else np.moveaxis(x, axis, 0)


def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: ArrayLike = None
) -> PythonUfunc:
    """A function of `nin` numbers with `nout` results as one of arrays, recorded once for all elements.

    Unlike NumPy's, its results are arrays of numbers, and traced arrays may pass.

    >>> smaller = fg.numpy.frompyfunc(lambda x, y: np.where(x < y, x, 2.0 * y), 2, 1)
    >>> print(smaller(np.array([1.0, 5.0]), 3.0), smaller.reduce(np.array([3.0, 4.0, 1.0])))
    [1. 6.] 2.0
    >>> print(fg.grad(lambda x: smaller(x, 3.0).sum())(np.array([1.0, 5.0])))
    [1. 0.]
    """
    return PythonUfunc(func, nin, nout, identity)
