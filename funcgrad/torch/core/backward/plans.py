"""Pullbacks of operations, asked of the public `vjp` and kept by what they depend on.

A plan is one backward Program: saved values and cotangents in, cotangents of the inputs out. It is made
once for each operation, parameters, shapes and dtypes. What it turns out to use is what a history keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.extend import Aval, Tracer, call_program
from funcgrad.shared import forget_oldest
from funcgrad.torch.core.backward.history import Node, Op
from funcgrad.torch.core.operand import Operand
from funcgrad.types import Anything, Array, ArrayLike, Arrays

Spec = tuple[tuple[int, ...], Any]


class Plan:
    """A backward Program and how its inputs and outputs are dealt out."""

    __slots__ = (
        "_op",
        "active_outputs",
        "evaluate",
        "in_specs",
        "name",
        "needed",
        "out_specs",
        "parts",
        "passed",
        "program",
        "used_inputs",
        "used_outputs",
    )

    def __init__(
        self,
        program: fg.Program,
        used_inputs: tuple[int, ...],
        used_outputs: tuple[int, ...],
        needed: tuple[int, ...],
        out_specs: tuple[Spec, ...],
        in_specs: tuple[Spec, ...],
        name: str = "",
    ) -> None:
        self.program = program
        self.evaluate = program.evaluate
        self.used_inputs = used_inputs
        self.used_outputs = used_outputs
        self.needed = needed
        """The inputs whose cotangents the Program returns."""
        self.out_specs = out_specs
        self.active_outputs = tuple([k for k, (_, dtype) in enumerate(out_specs) if dtype.kind in "fc"])
        self.in_specs = in_specs
        self.name = name
        first_cotangent = len(program.inputs) - len(self.active_outputs)
        cotangents = {v: k for k, v in enumerate(program.inputs[first_cotangent:])}
        self.passed = tuple([cotangents.get(v) for v in program.outputs])  # type: ignore[arg-type]
        """For each output, the number of the cotangent it simply is, or None."""
        self.parts = tuple([k for k, j in enumerate(self.passed) if j is None])
        self._op: Op | None = None

    @property
    def is_constant(self) -> bool:
        """Whether every gradient that comes out is zero, whatever goes in."""
        return all(_is_zero(self.program, v) for v in self.program.outputs)

    @property
    def op(self) -> Op:
        """The backward pass as an operation of its own, so that it has a history where one is wanted."""
        if self._op is None:
            title = _TITLES_OF_BACKWARD.get(self.name) or _title(self.program, self.parts)
            self._op = Op(title, self._computed)
        return self._op

    def _computed(self, *values: Array) -> Anything:
        outs = call_program(self.program, *values)
        if len(self.parts) == 1:
            return outs[self.parts[0]]
        return tuple([outs[k] for k in self.parts])


def _is_zero(program: fg.Program, v: Array) -> bool:
    if hasattr(v, "value"):
        return not np.any(v.value)
    for var, x in program.captured:
        if var is v:
            return not np.any(x)
    for equation in program.equations:
        if v in equation.outputs:
            return equation.primitive.name == "broadcast" and _is_zero(program, equation.inputs[0])
    return False


_TITLES = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "strong_zero_mul": "Mul",
    "strong_product": "Mul",
    "div": "Div",
    "neg": "Neg",
    "broadcast": "Expand",
    "reshape": "View",
    "permute": "Permute",
    "reduce_sum": "Sum",
    "dot_general": "Mm",
    "select": "Where",
    "where": "Where",
    "conj": "Conj",
}


_TITLES_OF_BACKWARD = {
    "SigmoidBackward0": "SigmoidBackwardBackward0",
    "TanhBackward0": "TanhBackwardBackward0",
    "ReluBackward0": "ThresholdBackwardBackward0",
    "SoftmaxBackward0": "SoftmaxBackwardDataBackward0",
    "LogSoftmaxBackward0": "LogSoftmaxBackwardDataBackward0",
    "LogBackward0": "DivBackward0",
    "Log2Backward0": "DivBackward0",
    "Log10Backward0": "DivBackward0",
    "Log1PBackward0": "DivBackward0",
    "SqrtBackward0": "DivBackward0",
    "AtanBackward0": "DivBackward0",
    "CumprodBackward0": "DivBackward0",
    "VarBackward0": "MulBackward0",
    "StdBackward0": "MulBackward0",
}
"""What PyTorch comes to last in these backwards, where our Programs end otherwise."""


def _title(program: fg.Program, parts: Sequence[int]) -> str:
    made = {v: e.primitive.name for e in program.equations for v in e.outputs}
    last = made.get(program.outputs[parts[0]], "mul") if parts else "mul"  # type: ignore[arg-type]
    word = _TITLES.get(last)
    if word is None:
        word = "".join([part.capitalize() for part in last.split("_")])
    return f"{word}Backward0"


def plan_for(
    op: Op,
    params: tuple[Any, ...],
    needs: int,
    specs: tuple[Spec, ...],
    out_specs: tuple[Spec, ...],
    mask: int | None = None,
) -> Plan:
    """The plan for these inputs, kept under them."""
    key = (params, needs, specs)
    found = op.plans.get(key)
    if found is None:
        make_room(op)
        found = op.plans[key] = built_plan(op, params, needs, specs, out_specs, mask)
    return found


MOST_PLANS = 2048
"""Plans an operation keeps: who changes shapes or exponents for ever must not fill the memory."""


def make_room(op: Op) -> None:
    """Forget the oldest plan of an operation that has too many."""
    forget_oldest(op.plans, MOST_PLANS - 1)


def built_plan(
    op: Op,
    params: tuple[Any, ...],
    needs: int,
    specs: tuple[Spec, ...],
    out_specs: tuple[Spec, ...],
    mask: int | None,
) -> Plan:
    """Record the operation and its pullback, and keep what the pullback uses."""
    n_inputs, n_outputs = len(specs), len(out_specs)
    needed = tuple([k for k in range(n_inputs) if needs >> k & 1])
    active = [k for k, (_, dtype) in enumerate(out_specs) if dtype.kind in "fc"]
    is_complex = any(dtype.kind == "c" for _, dtype in (*specs, *out_specs))

    inputs: tuple[Any, ...] = ()

    def forward(*given: Array) -> Arrays:
        values = list(inputs)
        for k, x in zip(needed, given, strict=True):
            values[k] = x
        out = op.function(*values, *params)
        outs = out if isinstance(out, tuple) else (out,)
        return tuple([outs[k] for k in active]), outs

    def both(*args: Operand) -> Arrays:
        nonlocal inputs
        inputs, cotangents = args[:n_inputs], args[n_inputs:]
        if op.inverse is not None:
            inputs = (op.inverse(inputs[0]),)
        if is_complex:
            cotangents = tuple([_conj(c) for c in cotangents])
        _, pullback, outs = fg.vjp(forward, *[inputs[k] for k in needed], has_aux=True)
        found = pullback(tuple(cotangents))
        # The gradient of PyTorch's convention is the conjugate of ours.
        return outs, [_conj(g) for g in found] if is_complex else list(found)

    avals = [Aval(shape, dtype) for shape, dtype in specs]
    avals += [Aval(*out_specs[k]) for k in active]
    whole = fg.make_program(both)(*avals)
    if op.inverse is not None:
        program, used_in, used_out = cut(whole, n_inputs, n_outputs, False, None)
        used_in, used_out = used_out, used_in
    else:
        program, used_in, used_out = cut(whole, n_inputs, n_outputs, op.keeps_result, mask)
    return Plan(program, used_in, used_out, needed, out_specs, specs, op.name)


def _conj(x: Array) -> Array:
    return np.conj(x) if x.dtype.kind == "c" else x


def cut(
    whole: fg.Program, n_inputs: int, n_outputs: int, keeps_result: bool, mask: int | None
) -> tuple[fg.Program, tuple[int, ...], tuple[int, ...]]:
    """The part of a Program of results and cotangents that computes the cotangents.

    With `keeps_result` the results are given; otherwise what of them is needed is computed again.
    """
    inputs, outs = whole.inputs[:n_inputs], whole.outputs[:n_outputs]
    given: dict[Any, int] = {}
    if keeps_result or (mask is not None and mask >> n_inputs):
        made = {v for e in whole.equations for v in e.outputs}
        given = {v: k for k, v in enumerate(outs) if v in made}
    needed = {v for v in whole.outputs[n_outputs:] if not hasattr(v, "value")}
    kept = []
    for equation in reversed(whole.equations):
        if any(v in needed and v not in given for v in equation.outputs):
            kept.append(equation)
            needed.update([a for a in equation.inputs if not hasattr(a, "value")])
    used_in = tuple([k for k, v in enumerate(inputs) if v in needed])
    used_out = tuple([k for v, k in given.items() if v in needed])
    if mask is not None:
        wanted = tuple([k for k in range(n_inputs) if mask >> k & 1])
        wanted_out = tuple([k for k in range(n_outputs) if mask >> n_inputs + k & 1])
        if not set(used_in) <= set(wanted) or not set(used_out) <= set(wanted_out):
            raise AssertionError("a pointwise pullback needs other values in other shapes")
        used_in, used_out = wanted, wanted_out
    heads = (*[inputs[k] for k in used_in], *[outs[k] for k in used_out], *whole.inputs[n_inputs:])
    captured = tuple([(v, x) for v, x in whole.captured if v in needed])
    program = fg.Program(heads, captured, tuple(reversed(kept)), whole.outputs[n_outputs:], "pullback")  # type: ignore[arg-type]
    return program, used_in, used_out


def pointwise_mask(op: Op, needs: int, values: Sequence[Any], out: ArrayLike) -> int:
    """Which values the pullback of a pointwise operation needs: bit k for input k, then the result."""
    specs = tuple([(x.shape, x.dtype) for x in values])
    plan = built_plan(op, (), needs, specs, ((out.shape, out.dtype),), None)
    mask = sum(1 << k for k in plan.used_inputs)
    if plan.used_outputs:
        mask |= 1 << len(values)
    op.masks[needs] = mask
    return mask


def late_plan(node: Node, cotangent: ArrayLike) -> Plan:
    """The plan of a node that took the short path: all of one dtype, one result."""
    dtype, op, needs = cotangent.dtype, node.op, node.needs
    key = (node.params, needs, node.specs, dtype)
    plan = op.plans.get(key)
    if plan is None:
        specs = tuple([(shape, dtype) for shape in node.specs])
        mask = op.masks.get(needs) if node.saved else 0
        make_room(op)
        plan = built_plan(op, node.params, needs, specs, ((cotangent.shape, dtype),), mask)
        op.plans[key] = plan
    return plan


def is_traced(values: Sequence[Any]) -> bool:
    """Whether any of the values is being recorded."""
    return any(type(x) is Tracer for x in values)
