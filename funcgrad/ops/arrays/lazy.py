"""Stand-ins for ufuncs: those of SciPy, found when first needed, and functions composed of NumPy's.

A pointwise primitive asks two things of its ``ufunc``: to be called, and to say by ``resolve_dtypes`` which
dtypes NumPy's promotion gives the operands and the result. Importing funcgrad must not import SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.shared import once
from funcgrad.types import Anything, Array, ArrayLike, Arrays, UfuncLike

Dtypes = tuple[np.dtype[Any], ...]


class LazyUfunc:
    """A ufunc of another package with `nin` operands and one result, imported by its first use.

    >>> expit = LazyUfunc("scipy.special", "expit")
    >>> print(expit(0.0))
    0.5
    >>> expit.resolve_dtypes((np.dtype(np.float32), None))
    (dtype('float32'), dtype('float32'))
    """

    nout = 1

    def __init__(self, module: str, name: str, nin: int = 1) -> None:
        self.module = module
        self.__name__ = name
        self.nin = nin

    def __repr__(self) -> str:
        return f"{self.module}.{self.__name__}"

    @once
    def resolved(self) -> UfuncLike:
        """The ufunc itself."""
        found = getattr(import_module(self.module), self.__name__)
        if not isinstance(found, np.ufunc):
            # With SCIPY_ARRAY_API=1 a function that chooses among array libraries stands before it.
            found = getattr(import_module(f"{self.module}._ufuncs"), self.__name__, found)
        return found

    def __call__(self, *args: ArrayLike, **options: Anything) -> Arrays:
        return self.resolved(*args, **options)

    def resolve_dtypes(self, dtypes: tuple[Any, ...], **options: object) -> Dtypes:
        """As the ufunc's own."""
        found: Dtypes = self.resolved.resolve_dtypes(dtypes, **options)
        return found


class ComposedUfunc:
    """A function composed of NumPy's, which promotes as the ufunc `like` does.

    `result` picks one of several results of `like` for the dtypes; the others are left out.

    >>> fraction = ComposedUfunc("fraction", lambda x: np.modf(x)[0], np.modf)
    >>> print(fraction(1.25), fraction.resolve_dtypes((np.dtype(np.int8), None))[-1])
    0.25 float16
    """

    def __init__(self, name: str, function: Callable[..., Any], like: np.ufunc, result: int = 0) -> None:
        self.__name__ = name
        self._function = function
        self._like = like
        self._result = result

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, *args: ArrayLike) -> Array:
        return self._function(*args)

    def resolve_dtypes(self, dtypes: tuple[Any, ...]) -> Dtypes:
        """The operands' dtypes and the one of the result."""
        like = self._like
        found = like.resolve_dtypes((*dtypes[: like.nin], *[None] * like.nout))
        return (*found[: like.nin], found[like.nin + self._result])
