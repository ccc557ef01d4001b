"""The backward pass: cotangents through the nodes of a history, newest first.

Runs on arrays; with `create_graph` on tensors, so that the pass has a history itself. Knows hooks, captured
gradients and the freeing of saved values, and no derivative.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from funcgrad.torch.core.backward.anomaly import require_no_nan
from funcgrad.torch.core.backward.arguments import inputs_of, renamed, roots_of
from funcgrad.torch.core.backward.arrivals import accumulate, as_tensor, hooked, replaced, retain, summed
from funcgrad.torch.core.backward.history import AccumulateGrad, Node, Output
from funcgrad.torch.core.backward.quick import quick_backward
from funcgrad.torch.core.backward.steps import pull, python_pull, tensor_pull
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES, SETTINGS
from funcgrad.torch.core.tensor import Tensor, method
from funcgrad.types import Anything, ArrayLike, Arrays

_by_sequence = attrgetter("seq")


def backward(
    tensors: Operands,
    grad_tensors: Operands = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Operand = None,
    inputs: Operands = None,
) -> None:
    """Sum of the derivatives of `tensors`, added to the `grad` of the leaves (or of `inputs` only)."""
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    simple = grad_tensors is None and inputs is None and not create_graph
    if simple and isinstance(tensors, Tensor) and quick_backward(tensors, bool(retain_graph)):
        return
    if inputs is not None:
        inputs = inputs_of(inputs)
    edges, grads = roots_of(tensors, grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_of_cycle()
    run_backward(edges, grads, keep, create_graph, into=inputs)


@method("backward")
def backward_of(
    self: Tensor,
    gradient: Operand = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Operands = None,
) -> None:
    """Add the derivative of this tensor to the `grad` of every leaf it was computed from.

    Raises RuntimeError where PyTorch does, in its words.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def warn_of_cycle() -> None:
    """PyTorch's warning for `backward(create_graph=True)`, once."""
    if not SETTINGS.may_warn("cycle"):
        return
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and "
        "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
        "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of your "
        "parameters to None after use to break the cycle and avoid the leak.",
        UserWarning,
        stacklevel=4,
    )


def nodes_behind(edges: Sequence[Any]) -> list[Node]:
    """All nodes reachable from these edges, newest first: results before what they were computed from."""
    found: set[Node] = set()
    stack = [e.node if type(e) is Output else e for e in edges if not isinstance(e, Tensor)]
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found.add(node)
        for e in node.edges:
            if e is None:
                continue
            if isinstance(e, Node):
                if e not in found:
                    stack.append(e)
            elif type(e) is Output:
                stack.append(e.node)
    return sorted(found, key=_by_sequence, reverse=True)


class Captures:
    """Which edges a caller of `autograd.grad` or `backward(inputs=)` asked for."""

    __slots__ = ("by_leaf", "by_output", "nodes", "raw", "values")

    def __init__(self, edges: Sequence[Any], raw: bool = False) -> None:
        self.raw = raw
        """Whether gradients of leaves are wanted before the leaves' hooks: another pass will call them."""
        self.by_leaf: dict[int, list[int]] = {}
        self.by_output: dict[tuple[Node, int], list[int]] = {}
        self.values: list[Any] = [None] * len(edges)
        for k, e in enumerate(edges):
            if isinstance(e, AccumulateGrad):
                e = e.variable  # noqa: PLW2901 - the leaf it stands for
            if isinstance(e, Tensor):
                self.by_leaf.setdefault(id(e), []).append(k)
            elif type(e) is Output:
                self.by_output.setdefault((e.node, e.number), []).append(k)
            else:
                self.by_output.setdefault((e, 0), []).append(k)
        self.nodes = {node for node, _ in self.by_output}

    def needed(self, nodes: Sequence[Node]) -> set[Node]:
        """The nodes that have to run so that every captured gradient is known."""
        run: set[Node] = set()
        reached: set[Node] = set(self.nodes)
        for node in reversed(nodes):
            for e in node.edges:
                if e is None:
                    continue
                target = e.node if type(e) is Output else e
                if (isinstance(target, Tensor) and id(target) in self.by_leaf) or target in reached:
                    run.add(node)
                    reached.add(node)
                    break
        return run


class Pass:
    """One backward pass: the cotangents on their way, and what to do with those that arrive."""

    __slots__ = (
        "__weakref__",
        "captures",
        "create",
        "executed",
        "grads",
        "into",
        "keep",
        "leaves",
        "pending",
    )

    def __init__(self, keep: bool, create: bool, captures: Captures | None, into: bool) -> None:
        self.keep = keep
        self.create = create
        self.captures = captures
        self.into = into
        """Whether captured leaves accumulate instead of being returned."""
        self.grads: dict[Node, Any] = {}
        self.leaves: dict[Tensor, Any] = {}
        self.pending: dict[Tensor, int] = {}
        self.executed: frozenset[Node] = frozenset()

    def reaches(self, t: Tensor) -> bool:
        """Whether the hooks of a tensor will be called in this pass."""
        node = t._node.node if type(t._node) is Output else t._node
        if node is not None:
            return node in self.executed
        return t in self.pending and (self.captures is None or id(t) in self.captures.by_leaf)

    def add(self, edge: Anything, g: ArrayLike) -> None:
        """A cotangent that arrives at an edge."""
        if isinstance(edge, Node):
            if edge.outputs == 1:
                before = self.grads.get(edge)
                self.grads[edge] = g if before is None else summed(before, g)
                return
            self.add_output(edge, 0, g)
        elif type(edge) is Output:
            self.add_output(edge.node, edge.number, g)
        else:
            before = self.leaves.get(edge)
            self.leaves[edge] = g if before is None else summed(before, g)

    def add_output(self, node: Node, number: int, g: object) -> None:
        """A cotangent of one of several results."""
        if node.outputs == 1:
            before = self.grads.get(node)
            self.grads[node] = g if before is None else summed(before, g)
            return
        slots = self.grads.get(node)
        if slots is None:
            slots = self.grads[node] = [None] * node.outputs
        slots[number] = g if slots[number] is None else summed(slots[number], g)

    def expect(self, nodes: Iterable[Node], roots: Sequence[Any]) -> None:
        """Count the contributions that every leaf will get."""
        pending = self.pending
        for edges in (*[node.edges for node in nodes], roots):
            for e in edges:
                if isinstance(e, Tensor):
                    pending[e] = pending.get(e, 0) + 1

    def arrived(self, leaf: Tensor) -> None:
        """One of the contributions to a leaf has arrived (or never will); the last one finishes it."""
        left = self.pending[leaf] - 1
        self.pending[leaf] = left
        if not left and leaf in self.leaves:
            self.finish(leaf, self.leaves.pop(leaf))

    def finish(self, leaf: Tensor, g: object) -> None:
        """Run the leaf's hooks, and accumulate or capture its gradient."""
        captured = self.captures.by_leaf.get(id(leaf)) if self.captures is not None else None
        if self.captures is not None and captured is None:
            return
        if leaf._hooks and not (self.captures is not None and self.captures.raw):
            g = hooked(leaf._hooks, g, self.create)
        extra = leaf._accumulator.extra if leaf._accumulator is not None else None
        if extra is not None and extra.prehooks and (self.captures is None or self.into):
            for hook in list(extra.prehooks.values()):
                (t,) = replaced((as_tensor(g),), hook((as_tensor(g),)), hook)
                g = t if self.create or t is None else t._value
        if not leaf._rg:
            # It stopped asking for gradients after it was used.
            return
        if self.captures is not None and captured is not None and not self.into:
            for k in captured:
                self.captures.values[k] = g
            return
        accumulate(leaf, g, self.create)

    def run(self, nodes: Sequence[Node], chosen: set[Node] | None) -> None:
        """Send the cotangents through the nodes."""
        grads = self.grads
        for node in nodes:
            has = node in grads
            runs = chosen is None or node in chosen
            if has:
                g = self.arrived_at(node, grads.pop(node), runs)
            if not runs:
                continue
            if has:
                found = self.pulled(node, g)
                for edge, x in zip(node.edges, found, strict=True):
                    if x is not None and edge is not None:
                        self.add(edge, x)
                if not self.keep:
                    node.release()
            for edge in node.edges:
                if edge in self.pending:
                    self.arrived(edge)

    def arrived_at(self, node: Node, g: object, runs: bool) -> Arrays:
        """The cotangents of a node that is next, after its hooks; those who asked for them get them."""
        asked = self.captures is not None and node in self.captures.nodes
        # As in PyTorch, `grad` sees what comes before the hooks of a node that runs.
        early = runs and not self.into
        if asked and early:
            self.capture(node, g)
        if node.extra is not None:
            g = self.before(node, g)
        if asked and not early:
            self.capture(node, g)
        if node.extra is not None and node.extra.prehooks and (runs or self.into):
            g = self.after_prehooks(node, g)
        return g

    def before(self, node: Node, g: ArrayLike) -> Arrays:
        """Tensor hooks and retained gradients."""
        extra = node.extra
        assert extra is not None
        cotangents = list(g) if node.outputs > 1 else [g]
        for number, hooks in extra.hooks.items():
            # As PyTorch's, hooks of an output that nothing used are called with None.
            cotangents[number] = hooked(hooks, cotangents[number], self.create)
        for number, kept in extra.retained.items():
            tensor = kept()
            if tensor is not None and cotangents[number] is not None:
                retain(tensor, cotangents[number], self.create)
        return cotangents if node.outputs > 1 else cotangents[0]

    def after_prehooks(self, node: Node, g: ArrayLike) -> Arrays:
        """The cotangents after the prehooks of their node."""
        assert node.extra is not None
        given = tuple([as_tensor(x) for x in (g if node.outputs > 1 else [g])])
        for hook in list(node.extra.prehooks.values()):
            given = replaced(given, hook(given), hook, fixed=True)
        cotangents = [x if self.create or x is None else x._value for x in given]
        return cotangents if node.outputs > 1 else cotangents[0]

    def capture(self, node: Node, g: ArrayLike) -> None:
        """Hand the cotangents of a node's results to those who asked for them."""
        captures = self.captures
        assert captures is not None
        for number in range(node.outputs):
            for k in captures.by_output.get((node, number), ()):
                captures.values[k] = g[number] if node.outputs > 1 else g

    def pulled(self, node: Node, g: object) -> Sequence[Any]:
        """The cotangents of a node's inputs."""
        if node.is_python:
            found = python_pull(node, g, self.create)
        elif self.create:
            found = tensor_pull(node, g)
        else:
            found = pull(node, g)
        if MODES.anomaly and MODES.check_nan:
            require_no_nan(node, list(found))
        if node.extra is not None and node.extra.posthooks:
            found = self.after(node, found, g)
        return found

    def after(self, node: Node, found: Sequence[Any], g: ArrayLike) -> Sequence[Any]:
        """Post hooks of a node: ``hook(grad_inputs, grad_outputs)``."""
        outputs = tuple([as_tensor(x) for x in (g if node.outputs > 1 else [g])])
        inputs = tuple([as_tensor(x) for x in found])
        assert node.extra is not None
        for hook in list(node.extra.posthooks.values()):
            inputs = replaced(inputs, hook(inputs, outputs), hook, fixed=True)
        return [x if self.create or x is None else x._value for x in inputs]


def run_backward(
    edges: Sequence[Any],
    grads: Sequence[Any],
    keep: bool,
    create: bool,
    captures: Captures | None = None,
    into: Sequence[Tensor] | None = None,
) -> list[Any]:
    """Run one backward pass from `edges`; returns what was captured."""
    if into is not None:
        captures = Captures([(t._node or t) for t in into])
    work = Pass(keep, create, captures, into is not None)
    nodes = nodes_behind(edges)
    chosen = captures.needed(nodes) if captures is not None else None
    work.expect(nodes if chosen is None else chosen, edges)
    work.executed = frozenset(nodes if chosen is None else chosen | captures.nodes)  # type: ignore[union-attr]
    before = MODES.grad, MODES.said, MODES.running
    MODES.grad, MODES.said, MODES.running = create, create, work
    MODES.settle()
    try:
        for edge, g in zip(edges, grads, strict=True):
            work.add(edge, g)
        for edge in edges:
            if isinstance(edge, Tensor):
                work.arrived(edge)
        work.run(nodes, chosen)
    finally:
        MODES.grad, MODES.said, MODES.running = before
        MODES.settle()
    if into is not None:
        assert captures is not None
        for t, g in zip(into, captures.values, strict=True):
            if g is not None:
                accumulate(t, g, create)
    return captures.values if captures is not None else []
