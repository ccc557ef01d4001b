"""Lowering of sums of products of vectors that slide past each other: convolution and correlation.

One product after the other is added to all sums, so that neighbouring sums are computed together; where there
are few sums of many products, each sum is computed by itself.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer, combination, start_of
from funcgrad.compile.lower.cumulative import lines_along
from funcgrad.compile.lower.slice_updates import check_dtype
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
from funcgrad.ops.reducing.folds import IN_ORDER, PROD, SUM
from funcgrad.ops.signal.sliding import Convolve, Correlate

LARGE = 1 << 20
"""Operations from which BLAS, which NumPy calls, is faster outside of loops."""


@lowers(Convolve, Correlate)
def lower_sliding(scheduler: Scheduler, equation: Equation) -> None:
    """The sums for each row of a stack."""
    check_dtype(equation)
    primitive, (out,) = equation.primitive, equation.outputs
    avals = [a.aval for a in equation.inputs]
    flops = primitive.flops(avals, [out.aval])
    if out.aval.dtype.kind == "b":
        raise NotLowered(f"{primitive.name} of booleans has no native form")
    if flops >= LARGE and not scheduler.inside:
        raise NotLowered(f"{primitive.name} of {avals[0]} and {avals[1]} is faster with BLAS")
    x, y = [scheduler.stored(a) for a in equation.inputs]
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        with ExitStack() as stack:
            rows = lines_along(writer, stack, out.aval.shape, out.aval.ndim - 1)[:-1]
            sums = Sums(writer, rows, x, y, target)
            if isinstance(primitive, Convolve):
                sums.spread()
            elif y.shape[-1] <= target.shape[-1]:
                sums.gather()
            else:
                sums.one_by_one()

    position = scheduler.special(primitive.name, emit, [x, y], [target], flops=flops)
    scheduler.define_view(out, target, position)


class Sums(NamedTuple):
    """The sums of one row."""

    writer: Writer
    rows: list[str]
    x: View
    y: View
    target: View

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """That of the sums."""
        return self.target.buffer.dtype

    def of(self, view: View, place: str) -> str:
        """An element of the row of a view."""
        return self.writer.element(view, [*self.rows, place])

    def clear(self) -> None:
        """No sum has a product yet."""
        i = self.writer.local.fresh("t")
        with self.writer.loop(i, self.target.shape[-1]):
            self.writer.line(f"{self.of(self.target, i)} = {start_of(SUM, self.dtype)}")

    def add(self, place: str, factor: str, other: str) -> None:
        """Add a product to a sum."""
        product = combination(PROD, self.dtype).format(factor, other)
        total = self.of(self.target, place)
        self.writer.line(f"{total} = {combination(IN_ORDER, self.dtype).format(total, product)}")

    def spread(self) -> None:
        """``out[i + j] += x[j] * y[i]``, the longer row in the inner loop."""
        self.clear()
        long, short = (self.x, self.y) if self.x.shape[-1] >= self.y.shape[-1] else (self.y, self.x)
        w = self.writer
        i, j, factor = (w.local.fresh(stem) for stem in ("t", "t", "factor"))
        with w.loop(i, short.shape[-1]):
            w.line(f"{factor} = {self.of(short, i)}")
            with w.loop(j, long.shape[-1]):
                self.add(f"({i} + {j})", factor, self.of(long, j))

    def gather(self) -> None:
        """``out[i] += x[i + k] * y[k]``, the sums in the inner loop."""
        self.clear()
        w = self.writer
        k, i, factor = (w.local.fresh(stem) for stem in ("t", "t", "factor"))
        with w.loop(k, self.y.shape[-1]):
            w.line(f"{factor} = {self.of(self.y, k)}")
            with w.loop(i, self.target.shape[-1]):
                self.add(i, factor, self.of(self.x, f"({i} + {k})"))

    def one_by_one(self) -> None:
        """``out[i] = sum_k x[i + k] * y[k]``."""
        w = self.writer
        i, k, total = (w.local.fresh(stem) for stem in ("t", "t", "total"))
        with w.loop(i, self.target.shape[-1]):
            w.line(f"{total} = {start_of(SUM, self.dtype)}")
            with w.loop(k, self.y.shape[-1]):
                product = combination(PROD, self.dtype).format(
                    self.of(self.x, f"({i} + {k})"), self.of(self.y, k)
                )
                w.line(f"{total} = {combination(SUM, self.dtype).format(total, product)}")
            w.line(f"{self.of(self.target, i)} = {total}")
