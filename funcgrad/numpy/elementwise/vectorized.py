"""``fg.numpy.vectorize``: a function of numbers, called for every element of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from typing import Any

import numpy as np

from funcgrad.api.batch import vmap
from funcgrad.api.njit.vectorized import named_shapes
from funcgrad.errors import DtypeError
from funcgrad.ir.steps import as_source
from funcgrad.numpy.arrays.joining import stack
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, broadcast_to, cast, reshape, shape_of
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays

Function = Callable[..., Any]


class vectorize:
    """A function of numbers as one of arrays, which traced arrays can pass; arguments as of ``np.vectorize``.

    Where values are known it is a loop in Python, as NumPy's is. Under `jit` and `vmap` it is `vmap` of the
    function, whose branches become choices. Objects of ``np.vectorize`` in functions that are traced are
    treated alike. Raises DtypeError where NumPy would cut results to the dtype of the first one.

    >>> @fg.numpy.vectorize
    ... def hinge(x, least):
    ...     return x if x > least else least
    >>> print(fg.grad(lambda x: hinge(x, 1.0).sum())(np.array([0.5, 2.0])))
    [0. 1.]
    """

    def __init__(
        self,
        pyfunc: Function | None = None,
        otypes: Array = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self._options = (otypes, doc, excluded, cache, signature)
        self.otypes = otypes
        self.excluded = frozenset(excluded or ())
        self.signature = signature
        self.mapped = False
        """Whether no Python loop goes over the elements."""
        if pyfunc is not None:
            self.pyfunc = pyfunc
            self.numpys: Any = np.vectorize(pyfunc, otypes, doc, excluded, cache, signature)
            update_wrapper(self, pyfunc)
            self.__doc__ = doc if doc is not None else pyfunc.__doc__

    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> Arrays:
        """Call the function for every element of the arguments, which are broadcast."""
        if not hasattr(self, "pyfunc"):
            return vectorize(args[0], *self._options)
        if active_recorder() is None:
            return self.numpys(*args, **kwargs)
        given: dict[Any, Any] = dict(enumerate(args)) | kwargs
        places = [key for key in given if key not in self.excluded]
        operands = [asoperand(given[key]) for key in places]

        def one(*now: ArrayLike) -> Arrays:
            called = given | dict(zip(places, now, strict=True))
            return self.pyfunc(*[called[n] for n in range(len(args))], **{key: called[key] for key in kwargs})

        cores = self._cores(operands)
        loops = [shape_of(x)[: len(shape_of(x)) - n] for x, n in zip(operands, cores, strict=True)]
        loop = np.broadcast_shapes(*loops)
        if 0 in loop and self.otypes is None:
            raise refused("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        full = [
            broadcast_to(x, (*loop, *shape_of(x)[len(mine) :]))
            for x, mine in zip(operands, loops, strict=True)
        ]
        unknown = any(isinstance(x, Tracer) and not x.has_value() for x in operands)
        each = over_axes if (self.mapped or unknown) and loop else over_elements
        return each(one, full, loop, self._dtypes())

    def _dtypes(self) -> list[np.dtype[Any]] | None:
        return None if self.otypes is None else [np.dtype(t) for t in self.otypes]

    def _cores(self, operands: Sequence[Any]) -> list[int]:
        """How many axes of each operand the function takes at once."""
        if self.signature is None:
            return [0] * len(operands)
        names = named_shapes(self.signature.partition("->")[0])
        if len(names) != len(operands):
            raise refused(f"wrong number of positional arguments: expected {len(names)}, got {len(operands)}")
        sizes: dict[str, int] = {}
        for x, core in zip(operands, names, strict=True):
            shape = shape_of(x)
            if len(shape) < len(core):
                raise refused(f"{len(shape)}-dimensional argument does not have enough dimensions for {core}")
            for name, size in zip(core, shape[len(shape) - len(core) :], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise refused(f"inconsistent size for core dimension {name!r}: {size} and {sizes[name]}")
        return [len(core) for core in names]


def over_elements(
    one: Function, operands: Sequence[Any], loop: tuple[int, ...], dtypes: list[np.dtype[Any]] | None
) -> Arrays:
    """The results of calls one by one, in Python."""
    results = [one(*[x[index] if loop else x for x in operands]) for index in np.ndindex(loop)]
    if not results:
        empty = tuple([np.empty(loop, dtype) for dtype in dtypes or ()])
        return empty[0] if len(empty) == 1 else empty
    if not isinstance(results[0], tuple):
        return joined(results, loop, dtypes[0] if dtypes else None)
    parts = zip(*results, strict=True)
    return tuple([joined(part, loop, dtypes[k] if dtypes else None) for k, part in enumerate(parts)])


def joined(results: Sequence[Any], loop: tuple[int, ...], dtype: np.dtype[Any] | None) -> Array:
    """One result for all elements as one array."""
    parts = [asoperand(x) for x in results]
    first = aval(parts[0]).dtype
    if dtype is None:
        check_first(first, [aval(x).dtype for x in parts])
    elif not any(isinstance(x, Tracer) for x in parts):
        parts = [np.asarray(x, dtype) for x in parts]
    found = reshape(stack(parts), (*loop, *shape_of(parts[0])))
    return found if dtype is None else cast(found, dtype)


def check_first(first: np.dtype[Any], all_of_them: Sequence[np.dtype[Any]]) -> None:
    """Raise DtypeError if NumPy, which takes the dtype of the first result, would cut a later one."""
    for dtype in all_of_them:
        if not np.can_cast(dtype, first, "same_kind"):
            raise DtypeError(
                f"np.vectorize takes the dtype of its first result, {first}, and would cut others, {dtype}",
                source=as_source(user_location()),
                remedy=f"Say what the results are: np.vectorize(f, otypes=[{str(dtype)!r}]).",
            )


def over_axes(
    one: Function, operands: Sequence[Any], loop: tuple[int, ...], dtypes: list[np.dtype[Any]] | None
) -> Arrays:
    """The results by `vmap` over all elements."""
    flat = [reshape(x, (math.prod(loop), *shape_of(x)[len(loop) :])) for x in operands]
    found: Any = vmap(one)(*flat)
    parts = found if isinstance(found, tuple) else (found,)
    whole = [reshape(x, (*loop, *shape_of(x)[1:])) for x in parts]
    if dtypes is not None:
        whole = [cast(x, dtype) for x, dtype in zip(whole, dtypes, strict=True)]
    return tuple(whole) if isinstance(found, tuple) else whole[0]
