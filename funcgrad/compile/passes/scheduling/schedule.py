"""From equations to a schedule: which loops there are, what each computes, and what is stored between them.

Equations are taken in order. An element-wise equation joins the first nest over its shape that comes after
everything it needs; its result stays a local there, and is stored only when a later step needs it and it is
not cheaper to compute again. Movements of elements are never executed where a view can say them. Primitives
of other kinds are lowered by functions of their own (`lowerings`), which use the public methods here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.lower.elementwise import (
    address_template,
    call_template,
    scalar_template,
    simple_text,
)
from funcgrad.compile.passes.scheduling.extents import NOTED
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowering_of
from funcgrad.compile.passes.scheduling.nests import (
    Let,
    Load,
    Nest,
    Operand,
    Reduce,
    Special,
    Store,
    squeezed,
    squeezed_view,
)
from funcgrad.compile.passes.scheduling.nodes import CHEAP, NOTHING, Node, Nodes, is_identity
from funcgrad.compile.passes.scheduling.numbers import in_no_memory
from funcgrad.compile.passes.scheduling.ranges import Ranges
from funcgrad.compile.passes.scheduling.views import MOVES, Buffer, View, moved
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.structure import Permute, Reshape
from funcgrad.ops.families import Pointwise
from funcgrad.tracing.primitive import Fold

if TYPE_CHECKING:
    from funcgrad.source import Source


position_of = attrgetter("position")


class Scheduler:
    """Makes the steps for the equations of one Program. `locals` is shared with the Programs it holds."""

    def __init__(self, local: Locals, uses: dict[Var, int]) -> None:
        self.local = local
        self.steps: list[Nest | Special] = []
        self.nodes = Nodes()
        self.uses = uses
        """How many equations and outputs read each variable."""
        self.remaining = dict(uses)
        """How many of them are still to come, the equation that is being lowered among them."""
        self.alive: dict[Var, None] = {}
        """What may be computed from memory when it is read, which it yet will be."""
        self.copies: list[tuple[Aval, Any]] = []
        """Arrays that had to be copied before they could be changed, and the user's lines."""
        self.held: set[Buffer] = set()
        """Memory that a loop around carries: it is not changed in the middle of a trip."""
        self.inside = False
        """Whether the Program is held by an equation, which without a native form of this has none."""
        self.created: set[Buffer] = set()
        """Memory for values that no one outside of the steps touches."""
        self.ranges = Ranges()
        self._by_shape: dict[Shape, list[Nest]] = {}
        """The nests that statements may join, by their positions."""
        self._copied_at: dict[Atom, int] = {}
        """The step that copies what has no memory of its own, such as a number spread over a shape."""
        self._source: Any = None
        """The user's line of the equation that is being lowered."""

    # -- inputs and results ------------------------------------------------------------------------------

    def define_view(self, v: Var, view: View, ready: int = -1) -> Node:
        """The variable's elements are those of the view, once the step `ready` has run."""
        node = self.nodes[v] = Node(v.aval)
        node.view, node.ready = view, ready
        return node

    def define_local(self, v: Var, name: str, ready: int = -1) -> Node:
        """The variable's only element is a local."""
        node = self.nodes[v] = Node(v.aval)
        node.name, node.ready = name, ready
        return node

    def run(self, program: Program) -> None:
        """Schedule all equations."""
        for v in program.inputs:
            self._appears(v)
        for v, array in program.captured:
            self._appears(v)
            self.ranges.note(v, self.ranges.of_array(array))
        remaining, alive = self.remaining, self.alive
        for equation in program.equations:
            if equation.outputs[0].aval.dtype.kind in "iu":
                self.ranges.follow(equation)
            self.lower(equation)
            for v in equation.outputs:
                self._appears(v)
            for atom in equation.inputs:
                if type(atom) is Var:
                    left = remaining[atom]
                    if left == 1:
                        del remaining[atom]
                        alive.pop(atom, None)
                    else:
                        remaining[atom] = left - 1

    def _appears(self, v: Var) -> None:
        if v in self.remaining and (v.aval.shape or self.nodes[v].source is not None):
            self.alive[v] = None

    def lower(self, equation: Equation) -> None:
        """Schedule one equation; raises NotLowered."""
        primitive = equation.primitive
        self._source = equation.source
        lowering = lowering_of(primitive)
        if lowering is not None:
            lowering(self, equation)
        elif type(primitive) in MOVES:
            self.move(equation)
        elif isinstance(primitive, Pointwise):
            self.pointwise(equation)
        else:
            raise NotLowered(f"{primitive.name} has no native form")

    # -- element by element ------------------------------------------------------------------------------

    def pointwise(self, equation: Equation) -> None:
        """An equation computed element by element."""
        (out,) = equation.outputs
        template = (
            scalar_template(equation)
            or call_template(equation, self.local.constant)
            or (None if self.local.portable else address_template(equation, self.local.constant))
        )
        if template is None:
            types = ", ".join(str(a.aval) for a in equation.inputs)
            raise NotLowered(f"{equation.primitive.name} of {types} has no native form")
        self.elementwise(equation, out, template, equation.inputs)

    def elementwise(self, equation: Equation, out: Var, template: str, inputs: Sequence[Atom]) -> Node:
        """Define `out` by a template of the elements of the inputs."""
        aval = out.aval
        shape = squeezed(aval.shape)
        nest = self.nest_for(shape, max([self.bound(a, shape) for a in inputs], default=0))
        node = self.nodes[out] = Node(aval)
        node.equation, node.template = equation, template
        cost = equation.primitive.cost
        node.cost, node.loads = self._cone(cost, inputs)
        operands = tuple([self.operand(a, nest) for a in inputs])
        node.name = name = self.local.named(out)
        node.nest = nest
        node.ready = nest.position
        nest.body.append(Let(name, template, operands, aval.dtype, cost, equation.source))
        if equation.primitive.name in NOTED:
            nest.extents.note(self.ranges, equation, name, operands)
        return node

    def define_member(
        self,
        out: Var,
        nest: Nest,
        template: str,
        operands: tuple[Operand, ...],
        cost: int,
        source: Source | None,
    ) -> Node:
        """Define `out` by a statement in a nest; it will not be computed again elsewhere."""
        node = self.nodes[out] = Node(out.aval)
        node.cost = cost
        node.name, node.nest, node.ready = self.local.named(out), nest, nest.position
        nest.body.append(Let(node.name, template, operands, out.aval.dtype, 1, source))
        return node

    def _cone(self, cost: int, inputs: Sequence[Atom]) -> tuple[int, frozenset[Any]]:
        """What it would cost to compute an element again, and what is loaded for that, if it is cheap."""
        loads: set[Any] = set()
        nodes = self.nodes
        for atom in inputs:
            if type(atom) is not Var:
                continue
            node = nodes[atom]
            while (source := node.source) is not None and type(source) is Var:
                node = nodes[source]
            if source is not None or node.is_scalar:
                continue
            if node.view is not None:
                loads.add(atom)
            else:
                cost += node.cost
                loads |= node.loads
        return cost, frozenset(loads) if loads and cost <= CHEAP else NOTHING

    def nest_for(self, shape: Shape, bound: int) -> Nest:
        """The first nest over a shape at or after a position that is not full; else a new one at the end."""
        nests = self._by_shape.get(shape, ())
        for nest in nests if not bound else nests[bisect_left(nests, bound, key=position_of) :]:
            # Straight-line code is never full.
            if not shape or not nest.is_full:
                return nest
        return self.new_nest(shape)

    def nest_at(self, position: int) -> Nest:
        """The nest at a position."""
        nest = self.steps[position]
        assert isinstance(nest, Nest)
        return nest

    def new_nest(self, shape: Shape) -> Nest:
        """A nest at the end."""
        nest = Nest(len(self.steps), shape)
        self.steps.append(nest)
        self._by_shape.setdefault(shape, []).append(nest)
        return nest

    def close(self, nest: Nest) -> None:
        """Let no other statement join a nest."""
        self._by_shape[nest.shape].remove(nest)

    def last_reader(self, view: View) -> int:
        """The last step so far that reads or writes the memory of a view."""
        for step in reversed(self.steps):
            if step.touches(view.buffer):
                return step.position
        return -1

    def bound(self, atom: Atom, shape: Shape) -> int:
        """The first step at which a nest over `shape` can read the atom."""
        if type(atom) is Literal:
            return 0
        node = self.nodes[atom]
        identical = True
        while node.source is not None:
            identical = identical and is_identity(node.move, node)
            if type(node.source) is Literal:
                return 0
            node = self.nodes[node.source]
        if node.is_scalar and node.name is not None:
            straight = not shape and (node.nest is None or not node.nest.shape)
            return node.ready + (0 if straight and node.ready >= 0 else 1)
        if node.nest is not None and identical and node.nest.shape == shape:
            return node.nest.position
        return node.ready + 1

    def literal(self, atom: Literal) -> str:
        """The text of a number: the simplest as they are, others as locals, whatever their value."""
        if atom.aval.dtype.char in "egG":
            raise NotLowered(f"a number of {atom.aval.dtype} has no native form")
        return simple_text(atom) or self.local.number(atom.value, atom.aval.dtype)

    def operand(self, atom: Atom, nest: Nest, moves: tuple[Any, ...] = ()) -> Operand:
        """The atom's element in a nest, after movements; the nest must come no earlier than its bound."""
        while type(atom) is Var and (node := self.nodes[atom]).source is not None:
            atom, moves = node.source, (node.move, *moves)
        if type(atom) is Literal:
            return self.literal(atom)
        if node.name is not None and (node.is_scalar or (node.nest is nest and self._stays(node, moves))):
            return node.name
        if node.view is None and self.nodes.is_cheap(node, moves):
            return self._again(node, nest, moves)
        view = self.stored_node(node)
        found = moved(view, moves) if moves else view
        if found is None:
            raise AssertionError("a reshape that needs a copy was left for later")
        if 1 in found.shape:
            found = squeezed_view(found)
        if nest.shape and not found.shape:
            # One number of an array, mixed into a larger shape: every turn of the loops reads it.
            found = View(found.buffer, nest.shape, (0,) * len(nest.shape), found.offset, found.base)
        return Load(in_no_memory(found))

    def _stays(self, node: Node, moves: Sequence[Any]) -> bool:
        """Whether the movements leave elements where they are, but for axes of size one."""
        if not moves:
            return True
        shape = squeezed(node.aval.shape)
        return all(type(m) in MOVES and squeezed(getattr(m, "shape", ())) == shape for m in moves)

    def _again(self, node: Node, nest: Nest, moves: tuple[Any, ...]) -> str:
        """The name of a cheap element computed once more, in another nest."""
        key = (node, moves)
        name = nest.memo.get(key)
        if name is None:
            equation = node.equation
            assert equation is not None, "only what an equation computes is cheap"
            operands = tuple(
                [self.operand(a, nest, moves if squeezed(a.aval.shape) else ()) for a in equation.inputs]
            )
            name = nest.memo[key] = self.local.fresh(node.name or "again")
            weight = equation.primitive.cost
            nest.body.append(Let(name, node.template, operands, node.aval.dtype, weight, equation.source))
            nest.extents.note(self.ranges, equation, name, operands)
        return name

    # -- memory ------------------------------------------------------------------------------------------

    def buffer_like(self, aval: Aval, hint: str = "") -> View:
        """A new block of memory for an array, in row-major order."""
        view = View.whole(self.local.scratch(aval.dtype, aval.size, hint), aval.shape)
        view.buffer.shape = aval.shape
        self.created.add(view.buffer)
        return view

    def stored(self, atom: Atom, order: Sequence[int] = ()) -> View:
        """The elements in memory, in whatever order; readable from the next step on.

        `order` is the one in which the reader likes the axes to lie best: it holds where nothing is decided.
        """
        wanted = self.nodes.order_for(atom, order) if order else None
        if wanted is not None:
            node, axes = wanted
            shape = tuple([node.aval.shape[a] for a in axes])
            laid = self.buffer_like(Aval(shape, node.aval.dtype), node.name or "")
            node.view = laid.permute(Permute(tuple([axes.index(k) for k in range(len(axes))])))
            self.store_local(node, node.view)
        origin, moves = self.nodes.origin(atom)
        if isinstance(origin, Literal):
            return self.copied_atom(atom)
        view = moved(self.stored_node(origin), moves)
        assert view is not None, "a reshape that needs a copy was left for later"
        return view

    def view_in_memory(self, atom: Atom) -> View | None:
        """The elements where they have been stored already, moved or not; None where they have not."""
        origin, moves = self.nodes.origin(atom)
        view = None if isinstance(origin, Literal) else origin.view
        return None if view is None else moved(view, moves)

    def contiguous(self, atom: Atom) -> View:
        """The elements in memory, in row-major order."""
        view = self.stored(atom)
        return view if view.contiguous else self.copied_atom(atom)

    def copied_atom(self, atom: Atom) -> View:
        """The elements in memory of their own, in row-major order."""
        view = self.buffer_like(atom.aval)
        shape = squeezed(atom.aval.shape)
        nest = self.nest_for(shape, self.bound(atom, shape))
        nest.body.append(Store(squeezed_view(view), self.operand(atom, nest), None))
        self._copied_at[atom] = nest.position
        return view

    def copied(self, view: View, move: object, atom: Atom) -> View:
        """What is in memory, moved, in memory of its own in row-major order."""
        source = moved(view, [move])
        assert source is not None
        target = self.buffer_like(Aval(source.shape, view.buffer.dtype))
        shape = squeezed(source.shape)
        nest = self.nest_for(shape, self.ready_of(atom) + 1)
        nest.body.append(Store(squeezed_view(target), Load(squeezed_view(source)), None))
        return target

    def stored_node(self, node: Node) -> View:
        """The memory of a node; a local of a nest is stored there now."""
        if node.view is None:
            node.view = self.buffer_like(node.aval, node.name or "")
            self.store_local(node, node.view)
        return node.view

    def store_local(self, node: Node, view: View) -> None:
        """Store a local in the nest that computes it, or a scalar as soon as it is known."""
        assert node.name is not None
        nest = node.nest
        if nest is None or (node.is_scalar and nest.shape):
            nest = self.nest_for((), node.ready + 1)
            node.ready = nest.position
        nest.body.append(Store(squeezed_view(view), node.name, None))

    def ready_of(self, atom: Atom) -> int:
        """The step after which the atom's memory can be read."""
        origin, _ = self.nodes.origin(atom)
        return max(-1 if isinstance(origin, Literal) else origin.ready, self._copied_at.get(atom, -1))

    # -- movement ----------------------------------------------------------------------------------------

    def move(self, equation: Equation) -> None:
        """A movement of elements: a view, or a remark for whoever reads them."""
        (x,), (out,) = equation.inputs, equation.outputs
        node = Node(out.aval)
        node.source, node.move = x, equation.primitive
        self.nodes[out] = node
        if isinstance(equation.primitive, Reshape) and not self.nodes.reaches(out):
            del self.nodes[out]
            view = self.copied_atom(x)
            self.define_view(out, View.whole(view.buffer, out.aval.shape), len(self.steps) - 1)

    def alias(self, out: Var, x: Atom) -> None:
        """`out` is `x` under another name."""
        node = Node(out.aval)
        node.source, node.move = x, Reshape(out.aval.shape)
        self.nodes[out] = node

    # -- reductions and other steps ----------------------------------------------------------------------

    def reduction(self, out: Var, x: Atom, axes: Sequence[int], fold: Fold, source: Source | None) -> None:
        """Define `out` as a reduction of the elements of `x` over axes."""
        full = x.aval.shape
        shape = squeezed(full)
        nest = self.nest_for(shape, self.bound(x, shape))
        operand = self.operand(x, nest)
        places = {a: k for k, a in enumerate([a for a, n in enumerate(full) if n != 1])}
        reduced = tuple([places[a] for a in axes if a in places])
        node = self.nodes[out] = Node(out.aval)
        node.ready = nest.position
        if node.is_scalar and len(reduced) == len(shape):
            node.name = self.local.named(out)
            node.nest = nest
            target: View | str = node.name
        else:
            node.view = self.buffer_like(out.aval, self.local.named(out))
            kept = [a for a in range(len(full)) if a not in axes]
            strides = [0] * len(full)
            for a, stride in zip(kept, node.view.strides, strict=True):
                strides[a] = stride
            target = squeezed_view(View(node.view.buffer, full, tuple(strides)))
        nest.body.append(Reduce(target, fold, operand, out.aval.dtype, reduced, source))

    def special(
        self,
        kind: str,
        emit: Callable[[Any], None],
        reads: Sequence[View],
        writes: Sequence[View],
        *,
        names: Sequence[str] = (),
        scratch: Sequence[View] = (),
        flops: float = 0.0,
        defines: bool = False,
        shares: bool = False,
    ) -> int:
        """A step of another kind at the end; returns its position."""
        position = len(self.steps)
        self.steps.append(
            Special(
                position,
                kind,
                tuple(reads),
                tuple(writes),
                frozenset(names),
                emit,
                tuple(scratch),
                flops,
                defines,
                self._source,
                shares=shares,
            )
        )
        return position

    def scalar(self, atom: Atom) -> str:
        """The text of a single element, readable by a step at the end."""
        if isinstance(atom, Literal):
            return self.literal(atom)
        nest = self.nest_for((), self.bound(atom, ()))
        operand = self.operand(atom, nest)
        if isinstance(operand, str):
            return operand
        name = self.local.fresh("s")
        nest.body.append(Let(name, "{0}", (operand,), atom.aval.dtype, 0, None))
        return name
