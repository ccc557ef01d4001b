"""The derivative at one point, as `vjp` and `linearize` return it: a linear function and its Program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from funcgrad import tree
from funcgrad.api.calling.calls import CACHE, run
from funcgrad.api.calling.results import full_gradients, matching_leaves, zeros
from funcgrad.ir.avals import Aval
from funcgrad.ir.presenters import presenter
from funcgrad.ir.program import Program
from funcgrad.later import Later
from funcgrad.ops.arrays.structure import move_axis
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Tree

# What dense Jacobians of some functions are made of.
unit_products = Later("funcgrad.transforms.unit_products")

Cotangents = TypeVar("Cotangents")
Tangent = TypeVar("Tangent")


class LinearMap:
    """A linear Program, the residuals of one point that it reads, and which outputs have tangents.

    It may be called any number of times.
    """

    __slots__ = ("_avals", "_has_tangent", "_in_tree", "_out_avals", "_out_tree", "_program", "_residuals")

    def __init__(
        self,
        program: Program,
        residuals: Sequence[Any],
        has_tangent: tuple[bool, ...],
        avals: Sequence[Aval],
        in_tree: Anything,
        out_avals: Sequence[Aval],
        out_tree: TreeDef,
    ) -> None:
        self._program = program
        self._residuals = tuple(residuals)
        self._has_tangent = has_tangent
        self._avals = tuple(avals)
        self._in_tree = in_tree
        self._out_avals = tuple(out_avals)
        self._out_tree = out_tree

    @property
    def n_residuals(self) -> int:
        """How many values of the point are kept."""
        return len(self._residuals)

    @property
    def is_whole(self) -> bool:
        """Whether every leaf is among the inputs and outputs: none is a whole number, or constant."""
        return all(self._has_tangent) and all(a.inexact for a in self._avals)

    def _repr_html_(self) -> str:
        """The linear Program as notebooks show it."""
        html: str = presenter("results", "linear_map_html")(self)
        return html


class Pullback(LinearMap, Generic[Cotangents]):
    """What `vjp` returns: maps a cotangent of the outputs to cotangents of the inputs."""

    __slots__ = ()

    @property
    def program(self) -> Program:
        """The backward Program: residuals and cotangents in, cotangents out."""
        return self._program

    def __repr__(self) -> str:
        return f"<pullback: {listed(self._out_avals)} to {listed(self._avals)}>"

    def __call__(self, cotangent: Tree) -> Cotangents:
        leaves = matching_leaves(cotangent, self._out_tree, self._out_avals, "pullback", "cotangent")
        given = [x for x, keep in zip(leaves, self._has_tangent, strict=True) if keep]
        found = run(self._program, [*self._residuals, *given])
        grads = full_gradients(self._avals, found)
        results = []
        for treedef in self._in_tree:
            count = treedef.num_leaves
            results.append(tree.unflatten(treedef, grads[:count]))
            grads = grads[count:]
        cotangents: Any = tuple(results)
        return cotangents  # type: ignore[no-any-return] # the trees say its type


class Pushforward(LinearMap, Generic[Tangent]):
    """What `linearize` returns: maps tangents of the inputs to a tangent of the outputs."""

    __slots__ = ()

    @property
    def program(self) -> Program:
        """The linear Program: residuals and tangents in, tangents out."""
        return self._program

    def __repr__(self) -> str:
        return f"<pushforward: {listed(self._avals)} to {listed(self._out_avals)}>"

    def without_unit_products(self) -> tuple[Pushforward[Any], list[Any]] | None:
        """The map of a vector and of its products with residuals, and what these are of all unit vectors.

        None where no residual is multiplied with the tangent, or that is more than one vector.
        """
        if not self.is_whole:
            return None
        key = "unit products", self.n_residuals, self._program
        # In a tuple: that there are none is worth keeping, too.
        (found,) = CACHE.get(
            key,
            len(self._program),
            lambda: (unit_products.without_unit_products(self._program, self.n_residuals),),
        )
        if found is None:
            return None
        program, products = found
        columns = [move_axis(self._residuals[product.residual], product.axis, 0) for product in products]
        avals = [v.aval for v in program.inputs[self.n_residuals :]]
        in_tree = tree.structure(([0.0], [0.0] * len(products)))
        made: Pushforward[Any] = Pushforward(
            program, self._residuals, self._has_tangent, avals, in_tree, self._out_avals, self._out_tree
        )
        return made, columns

    def __call__(self, *tangents: Tree) -> Tangent:
        leaves = matching_leaves(tangents, self._in_tree, self._avals, "the linearized function", "tangent")
        dots = [t for t, a in zip(leaves, self._avals, strict=True) if a.inexact]
        found = iter(run(self._program, [*self._residuals, *dots]))
        outs = [
            next(found) if has else zeros(a)
            for a, has in zip(self._out_avals, self._has_tangent, strict=True)
        ]
        tangent: Tangent = tree.unflatten(self._out_tree, outs)
        return tangent


class Fixed:
    """What a linear map is beside its residuals; equal to what is the same, of the same Program."""

    __slots__ = ("_kind", "_parts")

    def __init__(self, kind: type[LinearMap], parts: tuple[Any, ...]) -> None:
        self._kind = kind
        self._parts = parts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fixed) or self._kind is not other._kind:
            return False
        mine, theirs = self._parts, other._parts
        return mine[1:] == theirs[1:] and (mine[0] is theirs[0] or str(mine[0]) == str(theirs[0]))

    def __hash__(self) -> int:
        return hash((self._kind, self._parts[1], self._parts[2]))

    def rebuilt(self, residuals: Sequence[Any]) -> LinearMap:
        """The map with these residuals."""
        return self._kind(self._parts[0], residuals, *self._parts[1:])


def taken_apart(x: LinearMap) -> tuple[tuple[Any, ...], Fixed]:
    """The residuals, and the rest."""
    rest = (x._program, x._has_tangent, x._avals, x._in_tree, x._out_avals, x._out_tree)
    return x._residuals, Fixed(type(x), rest)


def put_together(fixed: Fixed, residuals: Sequence[Any]) -> LinearMap:
    """The inverse of `taken_apart`."""
    return fixed.rebuilt(residuals)


tree.register_node(Pullback, taken_apart, put_together)
tree.register_node(Pushforward, taken_apart, put_together)


def listed(avals: Sequence[Aval]) -> str:
    """Types with commas between them."""
    return ", ".join([str(a) for a in avals])
