"""What is known of variables while they are scheduled: where elements are, or how to come by them.

A movement is no more than a remark; behind a row of them stands where the elements come from, their *origin*.
Changes nothing, and knows nothing of loops but their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.compile.passes.scheduling.nests import Nest, squeezed
from funcgrad.compile.passes.scheduling.views import Buffer, View, moved
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Var
from funcgrad.ops.arrays.structure import Permute, Reshape

CHEAP = 3
"""Operations that are rather repeated than stored and loaded again."""


NOTHING: frozenset[Any] = frozenset()


class Node:
    """What is known of a variable: where its elements are, or how to come by them."""

    __slots__ = (
        *("aval", "cost", "equation", "in_rows", "is_scalar", "loads", "move", "name", "nest", "ready"),
        *("source", "template", "triangles", "view"),
    )

    def __init__(self, aval: Aval) -> None:
        self.aval = aval
        self.is_scalar = aval.size == 1
        """Whether it has exactly one element."""
        self.name: str | None = None
        """The local that holds its element in `nest`, or its only element."""
        self.nest: Nest | None = None
        self.view: View | None = None
        self.in_rows = False
        """Whether somebody relies on memory in row-major order, before there is any."""
        self.ready = -1
        """The last step that must have run before the view, or the local of a scalar, can be read."""
        self.source: Atom | None = None
        self.move: Any = None
        """It is `source` moved by this primitive."""
        self.equation: Equation | None = None
        self.template = ""
        self.cost = 0
        self.loads: frozenset[Any] = NOTHING
        self.triangles: frozenset[str] = frozenset()
        """``lower``, ``upper`` or both, where all elements of its matrices beside that triangle are zero."""


class Nodes(dict[Var, Node]):
    """The nodes of the variables that have appeared."""

    def origin(self, atom: Atom, moves: tuple[Any, ...] = ()) -> tuple[Node | Literal, tuple[Any, ...]]:
        """The node or number that the elements come from, and the movements from there, then others."""
        while isinstance(atom, Var):
            node = self[atom]
            if node.source is None:
                return node, moves
            atom, moves = node.source, (node.move, *moves)
        return atom, moves

    def number_everywhere(self, atom: Atom) -> Literal | None:
        """The number that an array consists of, if it is one spread over a shape."""
        origin, _ = self.origin(atom)
        return origin if isinstance(origin, Literal) else None

    def is_cheap(self, node: Node, moves: tuple[Any, ...] = ()) -> bool:
        """Whether an element is rather computed again than stored, moved as well."""
        if node.equation is None or node.cost > CHEAP or len(node.loads) > 1:
            return False
        return not moves or self.movable(node, moves)

    def movable(self, node: Node, moves: tuple[Any, ...]) -> bool:
        """Whether all that a cheap element is computed from can be reached by strides, moved further.

        What lies between is moved as well: what is loaded may have had another shape.
        """
        assert node.equation is not None, "only what an equation computes is cheap"
        return all(self._reachable(atom, moves) for atom in node.equation.inputs if squeezed(atom.aval.shape))

    def _reachable(self, atom: Atom, moves: tuple[Any, ...]) -> bool:
        origin, moves = self.origin(atom, moves)
        if isinstance(origin, Literal) or origin.is_scalar:
            return True
        if origin.view is not None:
            return moved(origin.view, moves) is not None
        return origin.equation is not None and self.movable(origin, moves)

    def reaches(self, atom: Atom) -> bool:
        """Whether elements that have been moved can be reached by strides, once they are in memory."""
        origin, moves = self.origin(atom)
        if isinstance(origin, Literal):
            return True
        aval = origin.aval
        if origin.view is not None:
            return moved(origin.view, moves) is not None
        origin.in_rows = origin.in_rows or any(isinstance(move, Reshape) for move in moves)
        view = View.whole(Buffer("", aval.dtype, aval.size, "scratch"), aval.shape)
        return moved(view, moves) is not None

    def order_for(self, atom: Atom, order: Sequence[int]) -> tuple[Node, tuple[int, ...]] | None:
        """The node of an atom that has no memory yet, and the order in which its axes are to lie there.

        `order` says it for the atom's axes. None where the memory is chosen, or would be no rows any more.
        """
        origin, moves = self.origin(atom)
        if isinstance(origin, Literal) or origin.view is not None or origin.is_scalar or origin.in_rows:
            return None
        axes = list(range(len(origin.aval.shape)))
        for move in moves:
            if not isinstance(move, Permute):
                return None
            axes = [axes[a] for a in move.order]
        found = tuple([axes[a] for a in order])
        return None if found[-1] != len(axes) - 1 or found == tuple(range(len(axes))) else (origin, found)


def is_identity(move: object, node: Node) -> bool:
    """Whether a movement leaves the elements where they are, but for axes of size one."""
    source = node.source
    return (
        source is not None and hasattr(move, "shape") and squeezed(source.aval.shape) == squeezed(move.shape)
    )
