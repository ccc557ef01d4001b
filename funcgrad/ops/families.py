"""Families: what operations of one kind share, so that one operation is a few lines.

Pointwise operations take operands of one common shape, except that scalars (rank 0) may be mixed in:
``mul(x, 2.0)`` needs no equation that spreads the 2.0. Their dtypes come from NumPy's own ufunc
loops, so promotion is NumPy's by construction. Everything else broadcasts explicitly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, mul, sub, truediv
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, FuncgradError, ShapeError
from funcgrad.ir.avals import INTERNED, Aval, Shape, aval_of
from funcgrad.ops.arrays.structure import (
    Reduction,
    aval,
    broadcast,
    broadcast_to,
    cast,
    primitive_called,
    reduce_sum,
    reshape,
    shape_of,
)
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.primitive import MOST_INFERRED, Flags, Primitive
from funcgrad.tracing.recorder import Recorder, located, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, UfuncLike

_PYTHON_SCALARS = (float, int, complex, bool)
_SINGLE = {np.dtype(np.float64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.complex64)}
_WEAK_TYPES: dict[str, Any] = {"b": np.dtype(np.bool_), "i": int, "f": float, "c": complex}


OPERATORS: dict[str, Callable[..., Any]] = {"+": add, "-": sub, "*": mul, "/": truediv}
"""Of arrays they are NumPy's ufuncs, of two scalars a tenth of the time."""

Fit = tuple[np.dtype[Any] | None, Shape | None]


class Pointwise(Primitive):
    """Element by element. A concrete class sets ``ufunc`` and says its ``partial`` derivatives."""

    ufunc: ClassVar[Any] = None
    """The NumPy ufunc (or an object with the same call and ``resolve_dtypes``) that evaluates it.

    A class without one defines `evaluate`; its operands promote as those of an addition.
    """
    symbol: ClassVar[str] = ""
    """Python operator for the printed source: infix for two operands, prefix for one."""
    keeps_weak: ClassVar[bool] = False
    """Whether Python scalars stay Python scalars, as they do under Python's own operators."""
    kinds: ClassVar[str] = "fc"
    """The dtype kinds on which it is differentiable."""

    # -- calling ---------------------------------------------------------------------------------------

    def apply(self, *args: Array) -> Array:
        """Promote, broadcast and bind; arrays without any tracer are evaluated by NumPy directly."""
        args = tuple([x if type(x) is Tracer else asoperand(x) for x in args])
        recorder = recorder_of(args)
        if recorder is None:
            return self.on_arrays(*args)
        avals = tuple([x.aval if type(x) is Tracer else aval_of(x) for x in args])
        plan = self._plans.get(avals)
        if plan is None:
            try:
                plan = self._planned(avals)
            except FuncgradError as error:
                raise located(error, user_location()) from None
        step: list[Any] = [self]
        for x, seen, (dtype, shape) in zip(args, avals, plan, strict=True):
            if type(x) is not Tracer and (type(x) in _PYTHON_SCALARS or isinstance(x, np.generic)):
                # Beside an operand of its dtype that is not weak, whether a scalar is makes no difference.
                weak = seen.weak or any(type(y) is Tracer and not y.aval.weak for y in args)
                step.append(recorder.literal(x, dtype or seen.dtype, weak))
            elif dtype is None and shape is None:
                step.append(recorder.index_of(x))
            else:
                step.append(recorder.index_of(fitted(recorder, x, seen, dtype, shape)))
        return recorder.append(self, tuple(step))

    def _planned(self, avals: tuple[Aval, ...]) -> tuple[Fit, ...]:
        """What each operand needs: another dtype, another shape, or None; remembered."""
        dtypes = self.operand_dtypes(avals)
        shape = broadcast_shapes(self.name, avals)
        plan = tuple(
            [
                (None if x.dtype == dtype else dtype, None if not x.shape or x.shape == shape else shape)
                for x, dtype in zip(avals, dtypes, strict=True)
            ]
        )
        if len(self._plans) >= MOST_INFERRED:
            self._plans.clear()
        self._plans[avals] = plan
        return plan

    def on_arrays(self, *args: Array) -> Array:
        """The result on arrays and scalars alone, with NumPy's own promotion and broadcasting."""
        if self.ufunc is not None:
            return self.ufunc(*args)
        dtypes = self.operand_dtypes(tuple([aval_of(x) for x in args]))
        operands = np.broadcast_arrays(*[np.asarray(x, dtype) for x, dtype in zip(args, dtypes, strict=True)])
        return np.asarray(self.evaluate(*operands))[()]

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        """The dtypes that NumPy's promotion gives the operands."""
        return self._loop_dtypes(avals)[:-1]

    def _loop_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        # Without a ufunc of its own an operation has the types of the plainest one.
        return ufunc_dtypes(self.name, self.ufunc or (np.positive, np.add)[len(avals) - 1], avals)

    # -- rules -----------------------------------------------------------------------------------------

    def infer(self, *avals: Aval) -> Aval:
        shape: Shape = ()
        for x in avals:
            if x.shape and shape and x.shape != shape:
                raise ShapeError(f"{self.name} of {listed(avals)}: shapes differ")
            shape = shape or x.shape
        dtypes = self._loop_dtypes(tuple([x.strong for x in avals]))
        if any(x.dtype != d for x, d in zip(avals, dtypes, strict=False)):
            raise DtypeError(
                f"{self.name} of {listed(avals)}: operands must be cast to {listed(dtypes[:-1])} first"
            )
        return Aval(shape, dtypes[-1], self.keeps_weak and all(x.weak for x in avals))

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(self.cost * outputs[0].size)

    def evaluate(self, *values: Array) -> Array:
        return self.ufunc(*values)

    def evaluator(self) -> Callable[..., Any]:
        direct = self.ufunc is not None and type(self).evaluate is Pointwise.evaluate
        return self.ufunc if direct else self.evaluate

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if self.symbol:
            return f"{names[0]} {self.symbol} {names[1]}" if len(names) == 2 else f"{self.symbol}{names[0]}"
        called = getattr(self.ufunc, "__name__", "")
        if isinstance(self.ufunc, np.ufunc) and getattr(np, called, None) is self.ufunc:
            return f"np.{called}({', '.join(names)})"
        return None

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        """The derivative of the result by operand `i`; None where it is zero."""
        raise NotImplementedError(f"{self.name}: partial")

    def along(self, tangent: Array, factor: Array) -> Array:
        """The part of the tangent that one operand gives."""
        return scaled(tangent, factor)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        if not out.aval.inexact:
            return out, None
        total = None
        for i, tangent in enumerate(tangents):
            factor = None if tangent is None else self.partial(i, primals, out)
            if factor is not None:
                total = added(total, self.along(tangent, factor))
        return out, None if total is None else broadcast_to(total, out.aval.shape)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        inner: Shape = ()
        for x, flag in zip(inputs, batched, strict=True):
            inner = shape_of(x)[1:] if flag else shape_of(x)
            if inner:
                break
        full = (size, *inner)
        aligned = [self._aligned(x, flag, full) for x, flag in zip(inputs, batched, strict=True)]
        return self.bind(*aligned), True

    @staticmethod
    def _aligned(x: Array, flag: bool, full: Shape) -> Array:
        if flag:
            return x if shape_of(x) == full else broadcast(x, full, (0,))
        return broadcast_to(x, full) if shape_of(x) else x


class Unary(Pointwise):
    """One operand. A concrete class defines ``derivative(x, out)``; None means zero everywhere."""

    def __call__(self, x: Array) -> Array:
        if type(x) is Tracer and x._view is None:
            out = self._inferred.get((x.aval,))
            recorder = x._recorder
            if out is not None and not recorder.closed:
                return recorder.append_typed((self, x._index), out)
        return self.apply(x)

    def derivative(self, x: Array, out: Array) -> Array:
        """The derivative at `x`, where the value is `out`."""
        raise NotImplementedError(f"{self.name}: derivative")

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        return self.derivative(primals[0], out)


NOTHING = Aval((), np.dtype(np.object_))
"""No operand has this type."""


class Binary(Pointwise):
    """Two operands."""

    def evaluator(self) -> Callable[..., Any]:
        run = super().evaluator()
        return OPERATORS.get(self.symbol, run) if run is self.ufunc else run

    def __call__(self, x: Array, y: Array) -> Array:  # noqa: C901 - one decision, unrolled for speed
        # The common cases, decided without any general machinery: two plain tracers of one trace, or one
        # and a number or array, whose avals this operation has accepted before.
        if type(x) is Tracer and x._view is None:
            recorder = x._recorder
            kind = type(y)
            if kind is Tracer:
                out = self._inferred.get((x.aval, y.aval))
                if out is not None and y._recorder is recorder and y._view is None and not recorder.closed:
                    return recorder.append_typed((self, x._index, y._index), out)
            elif kind is float or kind is int:
                scalar = x.aval.scalar
                out = self._inferred.get((x.aval, scalar))
                if out is not None and x.aval.inexact and not recorder.closed:
                    return recorder.append_typed((self, x._index, recorder.literal_typed(y, scalar)), out)
            elif kind is np.ndarray:
                out = self._inferred.get((x.aval, INTERNED.get((y.shape, y.dtype, False), NOTHING)))
                if out is not None and not recorder.closed:
                    return recorder.append_typed((self, x._index, recorder.index_of(y)), out)
        elif type(y) is Tracer and y._view is None:
            recorder = y._recorder
            kind = type(x)
            if kind is float or kind is int:
                scalar = y.aval.scalar
                out = self._inferred.get((scalar, y.aval))
                if out is not None and y.aval.inexact and not recorder.closed:
                    return recorder.append_typed((self, recorder.literal_typed(x, scalar), y._index), out)
            elif kind is np.ndarray:
                out = self._inferred.get((INTERNED.get((x.shape, x.dtype, False), NOTHING), y.aval))
                if out is not None and not recorder.closed:
                    return recorder.append_typed((self, recorder.index_of(x), y._index), out)
        return self.apply(x, y)


def fitted(
    recorder: Recorder, x: Array, seen: Aval, dtype: np.dtype[Any] | None, shape: Shape | None
) -> Array:
    """An operand in the dtype and shape that an operation needs it in.

    A captured array is recorded as it is, so that the broadcast is an equation like any other.
    """
    if type(x) is not Tracer:
        x = Tracer(recorder, recorder.index_of(x), seen)
    found = x if dtype is None else cast(x, dtype)
    return found if shape is None else broadcast_to(found, shape)


def ufunc_dtypes(name: str, ufunc: UfuncLike, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
    """The dtypes of NumPy's loop for these operands: inputs, then the result."""
    asked = [_WEAK_TYPES[x.dtype.kind] if x.weak else x.dtype for x in avals]
    if all(x.weak for x in avals):
        # NumPy has no loop for Python scalars alone: they act as its default dtypes.
        asked = [x.dtype for x in avals]
        if any(dtype in _SINGLE.values() for dtype in asked):
            # A number that took the dtype of an array beside it; rules combine it with numbers of their own.
            # An integer beside it is no reason for double precision either.
            whole = np.dtype(np.float32)
            asked = [whole if dtype.kind in "iu" else _SINGLE.get(dtype, dtype) for dtype in asked]
    try:
        found: tuple[np.dtype[Any], ...] = ufunc.resolve_dtypes((*asked, None))
    except TypeError as error:
        raise DtypeError(f"{name} of {listed(avals)}: {str(error).splitlines()[0]}") from None
    return found


def broadcast_shapes(name: str, avals: Sequence[Aval]) -> Shape:
    """The common shape under NumPy's rules; raises ShapeError naming the operands."""
    shapes = {x.shape for x in avals}
    if len(shapes) == 1:
        return shapes.pop()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(
            f"{name} of {listed(avals)}: these shapes do not broadcast",
            remedy="Shapes are matched from the last axis; an axis must be equal or 1. "
            "Add an axis with x[:, None] or reshape.",
        ) from None


def listed(items: Sequence[Any]) -> str:
    """``nothing``, ``a``, ``a and b``, or ``a, b and c``."""
    words = [str(x) for x in items]
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def added(total: Array, term: Array) -> Array:
    """The sum of two tangents or cotangents, where None is zero."""
    if total is None or term is None:
        return term if total is None else total
    return primitive_called("add")(total, term)


def scaled(tangent: Array, factor: Array) -> Array:
    """``tangent * factor``, without an operation where the factor is the number 1 or -1."""
    if type(factor) in (int, float):
        if factor == 1:
            return tangent
        if factor == -1:
            return primitive_called("neg")(tangent)
    return primitive_called("mul")(tangent, factor)


def summed_to(x: Array, target: Aval) -> Array:
    """The cotangent `x` for an operand that was a scalar mixed into a larger shape."""
    shape = shape_of(x)
    if shape == target.shape:
        return x
    return reduce_sum(x, tuple(range(len(shape))))


__all__ = [
    "Binary",
    "Pointwise",
    "Reduction",
    "Unary",
    "added",
    "aval",
    "aval_of",
    "broadcast",
    "broadcast_shapes",
    "broadcast_to",
    "cast",
    "listed",
    "reduce_sum",
    "reshape",
    "scaled",
    "shape_of",
    "summed_to",
]
