"""What a user's derivative rules are between flat lists, and when they are recorded.

A rule is recorded where a transform needs it, which may be after the trace has ended in which the function
was called. Where a trace further out will take the derivative, it is recorded at once: the rule may close
over values of the traces that are open now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.calls import Traced, name_of, trace
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.errors import CustomRuleError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program, Var
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.ops.families import cast
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import RULE, active_recorder, outlived
from funcgrad.transforms.custom import CustomVjp, FlatRule, RecordedRule, Rule
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Anything, Array, Result, Tree

if TYPE_CHECKING:
    from funcgrad.tree.treedef import TreeDef

Function = Callable[..., Any]


class CallShape:
    """The structure of a call of a custom function, without the values of its differentiable leaves."""

    __slots__ = ("_count", "_dynamic", "avals", "fun", "static", "treedef")

    def __init__(
        self,
        fun: Function,
        static: Sequence[int],
        args: tuple[Any, ...],
        treedef: TreeDef,
        avals: Sequence[Aval],
    ) -> None:
        self.fun = fun
        self._count = len(args)
        self._dynamic = tuple([n for n in range(len(args)) if n not in static])
        self.static = {n: args[n] for n in sorted(static)}
        self.treedef = treedef
        self.avals = tuple(avals)

    @property
    def key(self) -> object:
        """Equal keys mean calls of one structure; a call with unhashable static arguments equals none."""
        key = (self.fun, tuple(self.static.items()), self.treedef, self.avals)
        try:
            hash(key)
        except TypeError:
            return object()
        return key

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """All positional arguments, with these leaves for the differentiable ones."""
        dynamic = dict(zip(self._dynamic, tree.unflatten(self.treedef, leaves), strict=True))
        return [dynamic[n] if n in dynamic else self.static[n] for n in range(self._count)]


def recorded_now(rule: Function, flat: Function, avals: Sequence[Aval]) -> Traced | None:
    """The rule recorded now, while the traces are open whose values it may close over.

    None where it fails: nobody may ask for the derivative, and who does is told by the rule itself.
    """
    try:
        return trace(rule, flat, [None] * len(avals), RULE, list, avals=avals, with_values=False)
    except Exception:  # noqa: BLE001 - whatever the user's rule raises, it raises again when it is needed
        return None


def constants_of(traced: Traced) -> list[Any]:
    """The values that a recorded rule has beside its inputs."""
    return traced.operands[traced.n_inputs :]


def itself(program: Program) -> Program:
    """The Program."""
    return program


def jvp_rule(
    rule: Function, shape: CallShape, out_tree: TreeDef, out_avals: Sequence[Aval], *, now: bool
) -> tuple[Rule, list[Any]]:
    """The rule of a `custom_jvp` call and the constants it takes after its inputs."""
    flat = FlatJvp(rule, shape, out_tree, out_avals)
    if now:
        found = recorded_now(rule, flat, [*shape.avals, *[a.strong for a in shape.avals if a.inexact]])
        if found is not None:
            return RecordedRule(found.transformed("custom rule", itself)), constants_of(found)
    return FlatRule(flat, name_of(rule), (rule, shape.key, out_tree, tuple(out_avals))), []


class FlatJvp:
    """A user's jvp rule between flat lists."""

    __slots__ = ("_out_avals", "_out_tree", "_rule", "_shape")

    def __init__(
        self, rule: Function, shape: CallShape, out_tree: TreeDef, out_avals: Sequence[Aval]
    ) -> None:
        self._rule = rule
        self._shape = shape
        self._out_tree = out_tree
        self._out_avals = out_avals

    def __call__(self, flat: Sequence[Any]) -> list[Any]:
        shape = self._shape
        n = len(shape.avals)
        dots = iter(flat[n:])
        tangents = [next(dots) if a.inexact else None for a in shape.avals]
        result = recordable_by_default(self._rule)(
            *shape.static.values(),
            tree.unflatten(shape.treedef, flat[:n]),
            tree.unflatten(shape.treedef, tangents),
        )
        name = name_of(self._rule)
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise CustomRuleError(
                f"the jvp rule {name} must return (value, tangent), "
                f"and it returned a {type(result).__name__}",
                source=here(),
            )
        values = rule_leaves(
            result[0], self._out_tree, self._out_avals, f"the value returned by the jvp rule {name}"
        )
        tangents_out = rule_leaves(
            result[1],
            self._out_tree,
            [a.strong for a in self._out_avals],
            f"the tangent returned by the jvp rule {name}",
        )
        return [*values, *[t for t, a in zip(tangents_out, self._out_avals, strict=True) if a.inexact]]


def rule_leaves(value: Tree, treedef: TreeDef, avals: Sequence[Aval], what: str) -> list[Any]:
    """The leaves of what a rule returned, checked against the structure and types it must have."""
    leaves, seen = tree.flatten(value)
    if seen != treedef:
        raise CustomRuleError(
            f"{what} has the wrong structure: {tree.explain_mismatch(treedef, seen)}", source=here()
        )
    checked = []
    for leaf, aval in zip(map(asoperand, leaves), avals, strict=True):
        got = aval_of_any(leaf)
        if got.shape != aval.shape and aval.inexact:
            raise CustomRuleError(f"{what} has a leaf of type {got} where {aval} is expected", source=here())
        checked.append(
            cast(leaf, aval.dtype) if aval.inexact and (got.dtype != aval.dtype or got.weak) else leaf
        )
    return checked


class ResidualTree(NamedTuple):
    """The structure of residuals, with the sizes, flags and names among them.

    The backward rule is given those as they are: ``np.zeros(shape)`` and ``if flag`` mean what they do in the
    forward rule.
    """

    treedef: TreeDef
    fixed: tuple[tuple[type, object], ...]
    """For each leaf its type and itself where it is one of these, ``(object, None)`` for others."""

    @property
    def n_arrays(self) -> int:
        """How many leaves are arrays or other numbers."""
        return sum(kind is object for kind, _ in self.fixed)

    def joined(self, arrays: Sequence[Any]) -> Tree:
        """The residuals, from those that are no longer known."""
        found = iter(arrays)
        return tree.unflatten(self.treedef, [next(found) if k is object else x for k, x in self.fixed])


def parted(residuals: Tree) -> tuple[ResidualTree, list[Any]]:
    """The structure of residuals, and those that are computed with."""
    leaves, treedef = tree.flatten(residuals)
    fixed = tuple([(type(x), x) if type(x) in (int, bool, str) else (object, None) for x in leaves])
    return ResidualTree(treedef, fixed), [x for x, (k, _) in zip(leaves, fixed, strict=True) if k is object]


class VjpRules:
    """A user's forward and backward rules between flat lists, and the equation of a call with them."""

    __slots__ = ("_backward", "_forward", "_out_avals", "_shape", "out_tree", "residual_tree")

    def __init__(self, forward: Function, backward: Function, shape: CallShape) -> None:
        self._forward = forward
        self._backward = backward
        self._shape = shape
        self.out_tree: Any = None
        """Known once the function or its forward rule has been recorded."""
        self._out_avals: Sequence[Aval] | None = None
        self.residual_tree: Any = None
        """Known once the forward rule has been recorded, which comes before the backward rule."""

    def differentiated(self, leaves: Sequence[Any]) -> Result:
        """The call where its derivative is being taken: the forward rule runs instead of the function.

        With values at hand it may branch on them, as the function itself may.
        """
        forward = trace(self._forward, self.forward, leaves, RULE, list, avals=self._shape.avals)
        count = self.out_tree.num_leaves
        self._out_avals = [forward.recorder.avals[i] for i in forward.outputs[:count]]

        def value_alone(program: Program) -> Program:
            return simplify_program(
                Program(
                    program.inputs, program.captured, program.equations, program.outputs[:count], program.name
                )
            )

        program = forward.transformed(("custom value", count), value_alone)
        return self._bound(program, forward.operands, forward)

    def recorded(self, leaves: Sequence[Any], traced: Traced, out_tree: TreeDef) -> Result:
        """The call as the function itself, with its rules for whoever will take a derivative."""
        self.out_tree = out_tree
        self._out_avals = [traced.recorder.avals[i] for i in traced.outputs]
        program = traced.transformed("custom_vjp", itself)
        forward = None
        if outlived(active_recorder()):
            forward = recorded_now(self._forward, self.forward, self._shape.avals)
        return self._bound(program, traced.operands, forward)

    def _bound(self, program: Program, operands: Sequence[Any], forward: Traced | None) -> Anything:
        """The results of the equation; the forward rule may be recorded already or not."""
        constants: list[Any] = []
        kept: list[Any] = []
        key = (self._forward, self._shape.key, self.out_tree, tuple(self._out_avals or ()))
        backward: Rule | None = None
        if forward is not None and outlived(active_recorder()):
            backward, kept = self._backward_now(forward)
        if backward is None:
            backward = FlatRule(
                self.backward, name_of(self._backward), (self._backward, self.residual_tree, *key)
            )
        rule: Rule
        if forward is None:
            rule = FlatRule(self.forward, name_of(self._forward), key)
        else:
            constants = [*constants_of(forward), *kept]
            passed = tuple(map(aval_of_any, kept))
            made = forward.transformed(("custom forward", passed), lambda p: with_residuals(p, passed))
            rule = RecordedRule(made)
        return CustomVjp(program, rule, backward, len(self._shape.avals)).bind(*operands, *constants)

    def _backward_now(self, forward: Traced) -> tuple[Rule | None, list[Any]]:
        """The backward rule recorded now; the constants it closes over are further residuals."""
        out_avals = self._out_avals or ()
        avals = [forward.recorder.avals[i] for i in forward.outputs]
        residuals = avals[len(out_avals) :]
        bars = [a.strong for a in out_avals if a.inexact]
        found = recorded_now(self._backward, self.backward, [*residuals, *bars])
        if found is None:
            return None, []
        first, last = len(residuals), len(residuals) + len(bars)

        def constants_before_cotangents(program: Program) -> Program:
            given = program.inputs
            order = (*given[:first], *given[last:], *given[first:last])
            return Program(order, program.captured, program.equations, program.outputs, program.name)

        program = found.transformed(("custom backward", first, last), constants_before_cotangents)
        return RecordedRule(program), constants_of(found)

    def forward(self, flat: Sequence[Any]) -> list[Any]:
        """Outputs, then residuals."""
        name = name_of(self._forward)
        result = recordable_by_default(self._forward)(*self._shape.arguments(flat))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise CustomRuleError(
                f"the forward rule {name} must return (value, residuals), "
                f"and it returned a {type(result).__name__}",
                source=here(),
            )
        if self._out_avals is None:
            values, self.out_tree = tree.flatten(result[0])
        else:
            what = f"the value returned by the forward rule {name}"
            values = rule_leaves(result[0], self.out_tree, self._out_avals, what)
        self.residual_tree, residuals = parted(result[1])
        return [*values, *residuals]

    def backward(self, flat: Sequence[Any]) -> list[Any]:
        """Cotangents of the inexact leaves, zeros where the rule says None."""
        shape, name = self._shape, name_of(self._backward)
        n = self.residual_tree.n_arrays
        bars = iter(flat[n:])
        cotangents = [next(bars) if a.inexact else None for a in self._out_avals or ()]
        result = recordable_by_default(self._backward)(
            *shape.static.values(),
            self.residual_tree.joined(flat[:n]),
            tree.unflatten(self.out_tree, cotangents),
        )
        what = f"the result of the backward rule {name}"
        if not isinstance(result, tuple | list):
            raise CustomRuleError(
                f"{what} must be a tuple of cotangents, one per differentiable argument, and it is a "
                f"{type(result).__name__}",
                source=here(),
                remedy="Return (cotangent,) for a function of one argument.",
            )
        arguments = tree.unflatten(shape.treedef, shape.avals)
        if len(result) != len(arguments):
            raise CustomRuleError(
                f"{what} has {len(result)} cotangents for {len(arguments)} differentiable arguments",
                source=here(),
            )
        found: list[Any] = []
        for k, (bar, argument) in enumerate(zip(result, arguments, strict=True)):
            found += argument_cotangents(bar, argument, f"cotangent {k} of {what}")
        return found


def argument_cotangents(bar: object, argument: object, what: str) -> list[Any]:
    """The inexact leaves of one argument's cotangent, zeros where the rule says None."""
    leaves, treedef = tree.flatten(argument)
    avals = [a.strong for a in leaves]
    bar = with_zeros(bar, argument)
    return [x for x, a in zip(rule_leaves(bar, treedef, avals, what), avals, strict=True) if a.inexact]


def with_zeros(bar: object, argument: object) -> Tree:
    """A cotangent with zeros for what is None in it: for a leaf of the argument or a whole subtree."""
    if bar is None:
        return tree.map(broadcast_zero, argument)
    parts, node = tree.flatten(argument, is_leaf=lambda x: x is not argument)
    given, seen = tree.flatten(bar, is_leaf=lambda x: x is not bar)
    if seen != node or parts == [argument]:
        return bar
    return tree.unflatten(node, [with_zeros(x, part) for x, part in zip(given, parts, strict=True)])


def broadcast_zero(aval: Aval) -> Array:
    """Zeros of an aval."""
    return np.zeros(aval.shape, aval.dtype)


def with_residuals(program: Program, avals: Sequence[Aval]) -> Program:
    """The Program with further inputs that are its last outputs."""
    more = tuple([Var(a) for a in avals])
    return Program(
        (*program.inputs, *more), program.captured, program.equations, (*program.outputs, *more), program.name
    )
