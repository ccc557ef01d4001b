"""The backward pass: cotangents through the nodes of a history, newest first, by their plans.

Runs on arrays; with `create_graph` on tensors, so that the pass has a history itself. Knows hooks, captured
gradients and the freeing of saved values, and no derivative.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from funcgrad.extend import Tracer, call_program
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.anomaly import require_no_nan
from funcgrad.torch.core.backward.arguments import inputs_of, renamed, roots_of
from funcgrad.torch.core.backward.history import FREED, AccumulateGrad, Node, Output, node_method
from funcgrad.torch.core.backward.hooks import hook_name
from funcgrad.torch.core.backward.plans import late_plan
from funcgrad.torch.core.backward.quick import quick_backward
from funcgrad.torch.core.backward.saved import require_unchanged, saved_tensors
from funcgrad.torch.core.layout import laid_as_leaf
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES, SETTINGS, quiet
from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.types import Anything, Array, ArrayLike, Arrays

__all__ = ["backward", "run_backward"]

_by_sequence = attrgetter("seq")
BY_MASK = frozenset(
    f"{word}Backward{k}"
    for word in ("Max", "Min", "Amax", "Amin", "Clamp", "ClampMin", "ClampMax")
    for k in (0, 1)
)
"""Operations whose backward selects by a comparison: its derivative by the input is nothing, not zero."""


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


# -- one node ---------------------------------------------------------------------------------------------


def zeros_like_spec(spec: tuple[Any, Any]) -> Arrays:
    """A cotangent that nobody sent."""
    return np.zeros(spec[0], spec[1])


def cotangents_for(node: Node, g: ArrayLike) -> list[Any]:
    """The cotangents of all differentiable results, zeros where none arrived."""
    plan = node.plan
    if node.outputs == 1:
        return [g]
    assert plan is not None
    return [g[k] if g[k] is not None else zeros_like_spec(plan.out_specs[k]) for k in plan.active_outputs]


def pull(node: Node, g: object) -> Sequence[Any]:
    """The cotangents of a node's inputs, as arrays."""
    if node.checks:
        require_unchanged(node)
    saved = node.saved
    if saved is None:
        raise RuntimeError(FREED)
    plan = node.plan
    if plan is None:
        plan = late_plan(node, g)
    cotangents = [g] if node.outputs == 1 else cotangents_for(node, g)
    values = [*saved, *cotangents]
    if Tracer in map(type, values):
        outs: Sequence[Any] = evaluate_or_record(plan, values)
    else:
        outs = plan.evaluate(*values)
    if len(outs) == len(node.edges):
        return outs
    found: list[Any] = [None] * len(node.edges)
    for k, x in zip(plan.needed, outs, strict=True):
        found[k] = x
    return found


def evaluate_or_record(plan: Anything, values: Sequence[Any]) -> Sequence[Any]:
    """The plan on values some of which may be recorded."""
    return call_program(plan.program, *values)


def tensor_pull(node: Node, g: ArrayLike) -> Sequence[Any]:
    """The cotangents of a node's inputs, as tensors with a history."""
    require_unchanged(node)
    first = g if node.outputs == 1 else next(x for x in g if x is not None)
    plan = node.plan or late_plan(node, first._value)
    cotangents = [as_tensor(x) for x in cotangents_for(node, g)]
    found: list[Any] = [None] * len(node.edges)
    made: Sequence[Any] = ()
    if plan.parts:
        mask = node.op.masks.get(node.needs, 0) if node.plan is None else 0
        n = len(node.edges)
        used_in = plan.used_inputs if node.plan is not None else [k for k in range(n) if mask >> k & 1]
        used_out = plan.used_outputs if node.plan is not None else [0] * (mask >> n & 1)
        saved = saved_tensors(node, used_in, used_out)
        out = apply(plan.op, [*saved, *cotangents])
        made = out if isinstance(out, tuple) else (out,)
        of_pass = made[0].grad_fn
        masked = node._name() in BY_MASK and of_pass is not None and of_pass.plan is not None
        if masked and of_pass.plan.is_constant:
            for t in made:
                t._node, t._rg = None, False
    for k, part in enumerate(plan.parts):
        found[plan.needed[part]] = made[k]
    for k, j in enumerate(plan.passed):
        if j is not None:
            found[plan.needed[k]] = cotangents[j]
    return found


def single_step(node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node makes of the gradients of its outputs, as tensors; with a history where one is kept."""
    if len(grads) != node.outputs:
        raise TypeError(f"expected {node.outputs} arguments, got {len(grads)} instead")
    g: Any = list(grads) if node.outputs > 1 else grads[0]
    if isinstance(node, AccumulateGrad):
        accumulate(node.variable, g if MODES.grad else g._value, MODES.grad)
        return ()
    if node.is_python:
        return tuple([as_tensor(x) for x in python_pull(node, g, MODES.grad)])
    if MODES.grad:
        return tuple(tensor_pull(node, g))
    given: Any = [None if t is None else t._value for t in g] if node.outputs > 1 else g._value
    return tuple([as_tensor(x) for x in pull(node, given)])


@node_method("__call__")
def called(self: Node, *grads: Operand) -> Arrays:
    """The gradient of the input (a tuple for several) from those of the outputs: a step of a pass."""
    found = single_step(self, grads)
    return found[0] if len(found) == 1 else found


def python_pull(node: Node, g: ArrayLike, create: bool) -> Sequence[Any]:
    """The cotangents of a node whose backward is the user's."""
    cotangents = [as_tensor(x) for x in (g if node.outputs > 1 else [g])]
    found = node.backward_python(cotangents)
    return [x if create or x is None else x._value for x in found]


# -- arrivals ---------------------------------------------------------------------------------------------


def summed(a: Array, b: Array) -> Array:
    """The sum of two cotangents, arrays or tensors, without NumPy's warnings."""
    token = quiet.enter()
    try:
        return a + b
    finally:
        quiet.leave(token)


def as_tensor(x: object) -> Arrays:
    """A cotangent as a tensor."""
    return x if x is None or isinstance(x, Tensor) else wrap(x)


def hooked(hooks: dict[int, Any], g: object, create: bool) -> Arrays:
    """A cotangent after the hooks of its tensor."""
    t = as_tensor(g)
    for hook in list(hooks.values()):
        found = hook(t)
        if found is None:
            continue
        if not isinstance(found, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
        if t is None:
            t = found
            continue
        if found._value.shape != t._value.shape:
            raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")
        if found._value.dtype != t._value.dtype:
            raise RuntimeError(
                f"hook '{hook_name(hook)}' has changed the type of value (was {t.type()} got {found.type()})"
            )
        t = found
    return t if create or t is None else t._value


def replaced(given: tuple[Any, ...], found: object, hook: object, fixed: bool = False) -> tuple[Any, ...]:
    """The gradients after a hook of a node; RuntimeError where it returned another number of them.

    Those after the node have their shapes fixed.
    """
    if found is None:
        return given
    if fixed and not isinstance(found, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(found).__name__}'")
    values: tuple[Any, ...] = found if isinstance(found, tuple) else (found,)
    if len(values) != len(given):
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has returned an incorrect number of values (got {len(values)}, but "
            f"expected {len(given)})"
        )
    for before, now in zip(given, values, strict=True):
        if now is not None and not isinstance(now, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(now).__name__}'")
        if fixed and before is not None and now is not None and before._value.shape != now._value.shape:
            raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")
    return values


def retain(tensor: Tensor, g: object, create: bool) -> None:
    """Keep the gradient of a non-leaf."""
    if tensor._grad is None:
        tensor._grad = as_tensor(g if create else _copied(g))
    else:
        tensor._grad = as_tensor(tensor._grad + as_tensor(g))


def _copied(g: Array) -> Array:
    return g if type(g) is Tracer else np.array(g)


def accumulate(leaf: Tensor, g: ArrayLike, create: bool) -> None:
    """Add a gradient to a leaf's, and call what waits for it."""
    t = as_tensor(g)
    value = t._value
    mine = leaf._value
    if value.dtype is not mine.dtype and value.dtype != mine.dtype:
        t = wrap(value.astype(mine.dtype)) if not create else t.to(leaf.dtype)
    before = leaf._grad
    if before is None:
        # Others may hold what arrived: the caller, hooks, functions of the user's, another leaf.
        leaf._grad = t.new_empty(t.shape).copy_(t) if create else wrap(laid_as_leaf(_copied(t._value), mine))
    elif create:
        leaf._grad = before + t
    elif type(before._value) is Tracer or type(t._value) is Tracer:
        before._value = before._value + t._value
        before._version_box[0] += 1
    else:
        memory = own(before)
        token = quiet.enter()
        np.add(memory, t._value, out=memory)
        quiet.leave(token)
        before._version_box[0] += 1
    if leaf._post_hooks:
        for hook in list(leaf._post_hooks.values()):
            found = hook(leaf)
            if found is not None:
                kind = RuntimeError if isinstance(found, Tensor) else TypeError
                raise kind("Tensor post accumulate grad hooks should return None.")
    if leaf._accumulator is not None and leaf._accumulator.extra is not None:
        for hook in list(leaf._accumulator.extra.posthooks.values()):
            hook((), (t,))
