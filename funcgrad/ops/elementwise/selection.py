"""Selection: `where`, and the operations built on choosing one of their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.families import Pointwise, broadcast_to, listed, summed_to, ufunc_dtypes
from funcgrad.ops.native import of_any_kind
from funcgrad.tracing.primitive import Flags, Linear
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.samples import ErrorSample, Sample, booleans, edge, fixed, normal
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array


class Where(Pointwise):
    """``x`` where the condition holds, else ``y``.

    The branch not taken contributes exactly nothing to a derivative, even where it is NaN or infinite.
    """

    name = "where"
    selects = True
    ufunc = staticmethod(np.where)
    native = of_any_kind("select({0}, {1}, {2})")

    def __call__(self, condition: Array, x: Array, y: Array) -> Array:
        # The common cases, decided without any general machinery, as in `Binary`: plain tracers of one trace,
        # one branch perhaps a Python number, whose avals this operation has accepted before.
        if type(condition) is Tracer and condition._view is None:
            recorder = condition._recorder
            if type(x) is Tracer and x._view is None and x._recorder is recorder:
                like = x.aval
            elif type(y) is Tracer and y._view is None and y._recorder is recorder:
                like = y.aval
            else:
                return self.apply(condition, x, y)
            branches: list[Any] = [branch_aval(branch, recorder, like) for branch in (x, y)]
            out = self._inferred.get((condition.aval, *branches))
            if out is not None and not recorder.closed:
                dtype = like.dtype
                i = x._index if type(x) is Tracer else recorder.literal(x, dtype)
                j = y._index if type(y) is Tracer else recorder.literal(y, dtype)
                return recorder.append_typed((self, condition._index, i, j), out)
        return self.apply(condition, x, y)

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        # The two branches promote as the operands of an addition do, booleans included.
        branches = avals[1:]
        if all(a.dtype.kind == "b" for a in branches):
            return np.dtype(np.bool_), np.dtype(np.bool_), np.dtype(np.bool_)
        common = ufunc_dtypes(self.name, np.add, branches)[-1]
        return np.dtype(np.bool_), common, common

    def infer(self, *avals: Aval) -> Aval:
        condition, x, y = avals
        shapes = {a.shape for a in avals if a.shape}
        if len(shapes) > 1:
            raise ShapeError(f"where of {listed(avals)}: shapes differ")
        if condition.dtype.kind != "b" or x.dtype != y.dtype:
            raise DtypeError(f"where of {listed(avals)}: it takes a boolean, and branches of one dtype")
        return Aval(shapes.pop() if shapes else (), x.dtype, x.weak and y.weak)

    def evaluate(self, *values: Array) -> Array:
        return chosen(*values)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.where({', '.join(names)})"

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        return self.expression(names, avals) if max([a.size for a in avals]) < MANY else None

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

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
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

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(3), normal(3), normal(3), words="takes a boolean", error=DtypeError),
            ErrorSample(booleans(2), normal(3), normal(3), words="shapes differ", error=ShapeError),
        )


MANY = 2048
"""From this many elements on, `chosen` beats ``np.where``."""

_BITS: dict[int, Any] = {
    1: np.dtype(np.uint8),
    2: np.dtype(np.uint16),
    4: np.dtype(np.uint32),
    8: np.dtype(np.uint64),
}


def chosen(condition: Array, x: Array, y: Array) -> Array:
    """``np.where(condition, x, y)`` for branches of one dtype.

    NumPy jumps at every element, and a processor cannot guess which way a mask without a pattern goes: that
    takes ten times as long as to compute with the bits of both branches.

    >>> chosen(np.array([True, False]), np.array([1.0, np.nan]), 0.0)
    array([1., 0.])
    """
    if np.size(condition) < MANY:
        return np.where(condition, x, y)
    if type(x) is not np.ndarray and type(y) is np.ndarray:
        condition, x, y = np.logical_not(condition), y, x
    if type(x) is not np.ndarray or x.dtype.itemsize not in _BITS:
        return np.where(condition, x, y)
    bits = _BITS[x.dtype.itemsize]
    if type(y) is not np.ndarray and not x.dtype.type(y).view(bits):
        return np.multiply(x.view(bits), condition).view(x.dtype)
    others = np.asarray(y, x.dtype).view(bits)
    mixed = x.view(bits) ^ others
    mixed *= condition
    mixed ^= others
    return mixed.view(x.dtype)


def branch_aval(x: Array, recorder: Recorder, like: Aval) -> Aval | None:
    """The aval of a plain tracer of this trace, or of a Python number beside `like`; else None."""
    if type(x) is Tracer:
        return x.aval if x._recorder is recorder and x._view is None else None
    return like.scalar if like.inexact and (type(x) is float or type(x) is int) else None


where = Where()
