"""Reductions of segments that lie one after the other, and histograms of several dimensions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.registry import operation, published
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything, Array, Number

__all__: list[str] = []

_REDUCTIONS: dict[str, tuple[Any, float]] = {
    "sum": (np.sum, 0.0),
    "mean": (np.mean, np.nan),
    "prod": (np.prod, 1.0),
    "max": (np.max, -np.inf),
    "min": (np.min, np.inf),
}
_WORDS = {"amax": "max", "amin": "min"}


@op("SegmentReduceBackward0", input_names=("data",))
def _segmented(x: Array, bounds: Anything, axis: int, name: str, initial: Number) -> Array:
    """The reductions between bounds, which may differ from row to row of what lies before the axis."""
    function, empty = _REDUCTIONS[name]
    rows = []
    flat = np.reshape(x, (-1, *x.shape[axis:]))
    for row, limits in enumerate(bounds):
        parts = []
        for a, b in pairwise(limits):
            if a == b:
                start = empty if initial is None else initial
                parts.append(np.full(x.shape[axis + 1 :], start, x.dtype))
                continue
            part = flat[row, a:b]
            if initial is not None and name in ("max", "min"):
                part = np.concatenate([part, np.full((1, *x.shape[axis + 1 :]), initial, x.dtype)])
            found = function(part, axis=0)
            if initial is not None and name == "sum":
                found = found + x.dtype.type(initial)
            elif initial is not None and name == "prod":
                found = found * x.dtype.type(initial)
            parts.append(found)
        rows.append(np.stack(parts) if parts else np.zeros((0, *x.shape[axis + 1 :]), x.dtype))
    return np.reshape(np.stack(rows), (*x.shape[:axis], len(bounds[0]) - 1, *x.shape[axis + 1 :]))


@published()
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number = None,
) -> Operand:
    """The sum, mean, product, maximum or minimum of each segment along a dimension.

    Segments are given by their lengths, or by offsets from which each goes to the next. Segments without
    elements have `initial`, or what adds nothing (NaN for means). RuntimeError where lengths do not sum to
    the size of the dimension, unless `unsafe`.

    >>> from funcgrad import torch
    >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "sum", lengths=torch.tensor([1, 2]))
    tensor([1., 5.])
    """
    name = _WORDS.get(reduce, reduce)
    if name not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None:
        if offsets is None:
            raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
        bounds = np.asarray(offsets._value)
    else:
        counts = np.asarray(lengths._value)
        if not unsafe and (counts.sum(-1) != data._value.shape[axis]).any():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
        bounds = np.concatenate([np.zeros((*counts.shape[:-1], 1), np.int64), counts.cumsum(-1)], -1)
    each = tuple([tuple(row) for row in bounds.reshape(-1, bounds.shape[-1]).tolist()])
    return apply(_segmented, (data,), (each, bounds.ndim - 1, name, initial))


@operation("histogramdd", method=False)
def histogramdd(
    input: Tensor, bins: Anything, range: Anything = None, weight: Tensor | None = None, density: bool = False
) -> Operands:
    """How many points, of coordinates in the last dimension, lie in each box, and the edges of the boxes.

    >>> from funcgrad import torch
    >>> torch.histogramdd(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 2).hist
    tensor([[0., 1.],
            [1., 0.]])
    """
    value = np.asarray(input._value).reshape(-1, input._value.shape[-1])
    count = value.shape[1]
    sizes: Any = [bins] * count if isinstance(bins, int) else list(bins)
    if len(sizes) != count:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    sizes = [b._value if isinstance(b, Tensor) else b for b in sizes]
    limits = None if range is None else [tuple(range[2 * k : 2 * k + 2]) for k in np.arange(count)]
    weights = None if weight is None else np.asarray(weight._value).reshape(-1)
    found, edges = np.histogramdd(value, sizes, limits, density, weights)
    dtype = value.dtype
    return named("histogramdd", "hist bin_edges")(
        wrap(found.astype(dtype)), tuple([wrap(np.asarray(e).astype(dtype)) for e in edges])
    )
