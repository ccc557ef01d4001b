"""Selection: `where`, and the operations built on choosing one of their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.families import Pointwise, broadcast_to, summed_to, ufunc_dtypes
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.samples import Sample, booleans, edge, fixed, normal


class Where(Pointwise):
    """``x`` where the condition holds, else ``y``.

    The branch not taken contributes exactly nothing to a derivative, even where it is NaN or infinite.
    """

    name = "where"
    selects = True
    ufunc = staticmethod(np.where)

    def __call__(self, condition: Any, x: Any, y: Any) -> Any:
        return self.apply(condition, x, y)

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        # The two branches promote as the operands of an addition do, booleans included.
        branches = avals[1:]
        if all(a.dtype.kind == "b" for a in branches):
            return np.dtype(np.bool_), np.dtype(np.bool_), np.dtype(np.bool_)
        common = ufunc_dtypes(self.name, np.add, branches)[-1]
        return np.dtype(np.bool_), common, common

    def infer(self, *avals: Aval) -> Aval:
        shape: Shape = ()
        for x in avals:
            shape = shape or x.shape
        return Aval(shape, avals[1].dtype, avals[1].weak and avals[2].weak)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.where({', '.join(names)})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        condition, x, y = primals
        out = self.bind(condition, x, y)
        _, x_dot, y_dot = tangents
        if not out.aval.inexact or (x_dot is None and y_dot is None):
            return out, None
        zero = out.aval.dtype.type(0)
        dot = self.apply(condition, zero if x_dot is None else x_dot, zero if y_dot is None else y_dot)
        return out, broadcast_to(dot, out.aval.shape)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True, True)

    def transpose(self, cotangent: Any, *inputs: Any) -> tuple[Any, ...]:
        condition, x, y = inputs
        zero = cotangent.aval.dtype.type(0)
        x_bar = summed_to(self.apply(condition, cotangent, zero), x.aval) if isinstance(x, Linear) else None
        y_bar = summed_to(self.apply(condition, zero, cotangent), y.aval) if isinstance(y, Linear) else None
        return None, x_bar, y_bar

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(booleans(3, 2), normal(3, 2), normal(3, 2)),
            Sample(booleans(3), normal(), normal(3)),
            Sample(fixed(np.bool_(True)), normal(3), normal(3)),
            Sample(
                fixed(np.array([True, False])), edge(1.0, np.nan), edge(np.inf, 2.0), differentiable=False
            ),
        )


where = Where()
