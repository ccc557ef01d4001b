"""``fg.numpy.vectorize``: a function of numbers, called for every element of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import Any

import numpy as np

from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.arrays.joining import stack
from funcgrad.numpy.dispatch import unsupported
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.structure import broadcast_to, cast, reshape, shape_of
from funcgrad.tracing.lists import asoperand


class vectorize:
    """A function of numbers as one of arrays: a loop in Python, like NumPy's, which traced arrays can pass.

    ``fg.vmap`` is faster wherever the function does not branch on its numbers.

    >>> @fg.numpy.vectorize
    ... def hinge(x, least):
    ...     return x if x > least else least
    >>> print(fg.grad(lambda x: hinge(x, 1.0).sum())(np.array([0.5, 2.0])))
    [0. 1.]
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Iterable[Any] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.pyfunc = pyfunc
        self.otypes = otypes
        self.excluded = frozenset(excluded or ())
        self.numpys: Any = np.vectorize(pyfunc, otypes, doc, excluded, cache, signature)
        self.signature = signature
        update_wrapper(self, pyfunc)
        self.__doc__ = doc if doc is not None else pyfunc.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for every element of the arguments, which are broadcast."""
        places = [n for n in range(len(args)) if n not in self.excluded]
        operands = traced(*[args[n] for n in places])
        if operands is None:
            return self.numpys(*args, **kwargs)
        if self.signature is not None:
            raise unsupported("np.vectorize with signature=")
        arrays = [asoperand(args[n]) for n in places]
        shape = np.broadcast_shapes(*[shape_of(x) for x in arrays])
        full = [broadcast_to(x, shape) for x in arrays]
        results = []
        for index in np.ndindex(shape):
            now = list(args)
            for n, x in zip(places, full, strict=True):
                now[n] = x[index] if shape else x
            results.append(self.pyfunc(*now, **kwargs))
        if not results:
            raise refused("cannot call `vectorize` on size 0 inputs")
        if isinstance(results[0], tuple):
            return tuple([self.joined(part, shape, k) for k, part in enumerate(zip(*results, strict=True))])
        return self.joined(results, shape, 0)

    def joined(self, results: Any, shape: tuple[int, ...], k: int) -> Any:
        """The results for all elements as one array."""
        found = reshape(stack([asoperand(x) for x in results]), shape)
        return found if self.otypes is None else cast(found, np.dtype(list(self.otypes)[k]))
