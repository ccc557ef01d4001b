"""The vector space that a value lives in: arrays, numbers, and containers of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad import tree
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, ShapeLike, Tree


class VSpace:
    """The space of pytrees of one structure, with arrays of fixed shapes and dtypes as leaves.

    >>> space = vspace({"w": np.zeros(2), "b": 1.0})
    >>> space.size, space.ones()
    (3, {'b': np.float64(1.0), 'w': array([1., 1.])})
    """

    mappings: dict[type, Callable[[Any], VSpace]] = {}  # noqa: RUF012 - autograd's registry

    def __init__(self, value: Tree) -> None:
        leaves, self.treedef = tree.flatten(value)
        self.leaves = [_leaf_space(x) for x in leaves]

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], VSpace] | None = None) -> None:
        """Let `vspace` make spaces of values of this type by a function, or by this class."""
        VSpace.mappings[value_type] = vspace_maker or cls

    @property
    def size(self) -> int:
        """The number of real coordinates: complex numbers have two."""
        return sum(int(np.prod(shape)) * (1 + (dtype.kind == "c")) for shape, dtype in self.leaves)

    @property
    def shape(self) -> ShapeLike:
        """The shape of the only array; containers have a list of shapes."""
        shapes = [shape for shape, _ in self.leaves]
        return shapes[0] if self.is_array else shapes

    @property
    def ndim(self) -> int:
        """The number of axes of the only array."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the only array."""
        return self.leaves[0][1]

    @property
    def is_array(self) -> bool:
        """Whether it is a space of arrays, not of containers."""
        return self.treedef == tree.structure(0)

    @property
    def iscomplex(self) -> bool:
        """Whether any coordinate is complex."""
        return any(dtype.kind == "c" for _, dtype in self.leaves)

    def _made(self, make: Callable[[tuple[int, ...], np.dtype[Any]], Any]) -> Tree:
        return tree.unflatten(self.treedef, [_number(make(shape, dtype)) for shape, dtype in self.leaves])

    def zeros(self) -> Array:
        """The origin."""
        return self._made(np.zeros)

    def ones(self) -> Array:
        """The sum of the standard basis."""
        return self._made(lambda shape, dtype: np.full(shape, 1 + 1j if dtype.kind == "c" else 1, dtype))

    def randn(self) -> Array:
        """A vector of standard normal numbers, from NumPy's global generator."""

        def drawn(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
            x = np.random.standard_normal(shape)  # noqa: NPY002 - programs seed this generator
            if dtype.kind == "c":
                x = x + 1j * np.random.standard_normal(shape)  # noqa: NPY002
            return np.asarray(x).astype(dtype)

        return self._made(drawn)

    def standard_basis(self) -> Iterator[Any]:
        """The vectors of the standard basis; a complex coordinate has two."""
        for n, (shape, dtype) in enumerate(self.leaves):
            for index in np.ndindex(*shape):
                for unit in (1, 1j) if dtype.kind == "c" else (1,):
                    leaves = [np.zeros(s, d) for s, d in self.leaves]
                    leaves[n][index] = unit
                    yield tree.unflatten(self.treedef, [_number(x) for x in leaves])

    def add(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The sum of two vectors."""
        return tree.map(lambda a, b: a + b, x, y)

    def mut_add(self, x_prev: ArrayLike, x_new: ArrayLike) -> Array:
        """The sum of two vectors; None for the first is zero."""
        return x_new if x_prev is None else self.add(x_prev, x_new)

    def scalar_mul(self, x: ArrayLike, a: ArrayLike) -> Array:
        """A multiple of a vector."""
        return tree.map(lambda leaf: leaf * a, x)

    def inner_prod(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The real inner product of two vectors."""
        parts = [
            fnp.sum(fnp.real(fnp.conj(a) * b)) for a, b in zip(tree.leaves(x), tree.leaves(y), strict=True)
        ]
        return sum(parts, 0.0)

    def covector(self, x: ArrayLike) -> Array:
        """The vector as autograd's backward functions take and give it: conjugated."""
        return tree.map(lambda leaf: fnp.conj(leaf) if np.dtype(leaf.dtype).kind == "c" else leaf, x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and (self.treedef, self.leaves) == (other.treedef, other.leaves)

    def __hash__(self) -> int:
        return hash((self.treedef, tuple(self.leaves)))

    def __repr__(self) -> str:
        parts = [f"{dtype}{list(shape)}" for shape, dtype in self.leaves]
        return f"{type(self).__name__}({self.treedef!r}: {', '.join(parts)})"


def vspace(value: object) -> VSpace:
    """The space that `value` lives in; raises TypeError for what has none."""
    maker = VSpace.mappings.get(type(value), VSpace)
    return maker(value)


def _leaf_space(x: Array) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if type(x) is Tracer:
        return x.aval.shape, x.aval.dtype
    if not isinstance(x, np.ndarray | np.inexact | float | complex):
        raise TypeError(f"Can't find vector space for value {x!r} of type {type(x)}.")
    array = np.asarray(x)
    return array.shape, array.dtype


def _number(x: Array) -> Array:
    """An array, or the number in an array without axes."""
    return x if np.ndim(x) else x[()]
