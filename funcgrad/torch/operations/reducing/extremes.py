"""Largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.errors import dim_of, dims_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.torch.operations.results import named
from funcgrad.types import Array, Arrays, AxisLike, Index


def _require_elements(x: Tensor, name: str) -> None:
    if not x._value.size:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )


def _max(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    return np.max(x, axis=axes, keepdims=keepdims)


def _min(x: Array, axes: AxisLike, keepdims: bool) -> Array:
    return np.min(x, axis=axes, keepdims=keepdims)


def _shared(reduced: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction whose slope is shared by the elements that equal the result: NaN equals none of them."""

    def extreme(axes: AxisLike, keepdims: bool, x: Array) -> Array:
        return reduced(x, axes, keepdims)

    def extreme_jvp(axes: AxisLike, keepdims: bool, primals: Arrays, tangents: Arrays) -> Arrays:
        (x,), (dx,) = primals, tangents
        out = moved(axes, keepdims, x)
        each = np.reshape(out, [1 if k in axes else n for k, n in enumerate(x.shape)])
        share = (x == each).astype(x.dtype)
        share = share / np.sum(share, axis=axes, keepdims=True)
        return out, np.sum(share * dx, axis=axes, keepdims=keepdims)

    moved = custom_jvp(extreme, nondiff_argnums=(0, 1))
    moved.defjvp(extreme_jvp)

    def applied(x: Array, axes: AxisLike, keepdims: bool) -> Array:
        is_plain = isinstance(x, np.ndarray | np.generic) or x.dtype.kind not in "fc"
        return reduced(x, axes, keepdims) if is_plain else moved(axes, keepdims, x)

    return applied


_amax, _amin = _shared(_max), _shared(_min)


def taken_at(x: Array, index: Index, axis: int, keepdims: bool) -> Arrays:
    """The elements at an index along an axis, and the index."""
    if not x.ndim:
        return (x if isinstance(x, np.generic) else x.copy()), np.int64(0)
    values = np.take_along_axis(x, np.expand_dims(index, axis), axis)
    if keepdims:
        return values, np.expand_dims(index, axis)
    return np.squeeze(values, axis), index


def _max_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return taken_at(x, np.argmax(x, axis=axis) if x.ndim else 0, axis, keepdims)


def _min_dim(x: Array, axis: int, keepdims: bool) -> Array:
    return taken_at(x, np.argmin(x, axis=axis) if x.ndim else 0, axis, keepdims)


_EXTREMES = {
    "max": (
        Op("MaxBackward1", _max, keeps_result=True),
        Op("MaxBackward0", _max_dim, keeps_result=True, output_names=("result", "indices")),
        Op("AmaxBackward0", _amax, keeps_result=True),
    ),
    "min": (
        Op("MinBackward1", _min, keeps_result=True),
        Op("MinBackward0", _min_dim, keeps_result=True, output_names=("result", "indices")),
        Op("AminBackward0", _amin, keeps_result=True),
    ),
}


def _refuse_empty_dim(x: Tensor, dim: int, name: str) -> None:
    if x._value.shape and not x._value.shape[dim]:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def _extreme(name: str) -> None:
    whole, along, many = _EXTREMES[name]
    both = f"{name}imum"
    result = named(name)

    def extreme(
        input: Tensor, dim: AxisLike = None, keepdim: bool = False, other: Operand = None
    ) -> Operands:
        if isinstance(dim, Tensor) or other is not None:
            return FUNCTIONS[both](input, dim if other is None else other)
        if dim is None:
            _require_elements(input, name)
            return apply(whole, (input,), (None, False))
        at = dim_of(dim, len(input._value.shape))
        _refuse_empty_dim(input, at, name)
        return result(*apply(along, (input,), (at, keepdim)))

    def spread(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
        if dim is None or dim == ():
            _require_elements(input, f"a{name}")
        axes = dims_of(dim, len(input._value.shape))
        for at in axes:
            _refuse_empty_dim(input, at, f"a{name}")
        return apply(many, (input,), (axes, keepdim))

    def argument(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
        x = input._value
        if not x.size and dim is None:
            raise IndexError(f"arg{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        if dim is None:
            return apply(_ARGUMENT[name], (input.detach(),), (None, keepdim))
        at = dim_of(dim, len(x.shape))
        _refuse_empty_dim(input, at, f"arg{name}")
        return apply(_ARGUMENT[name], (input.detach(),), (at if x.shape else None, keepdim))

    for f, title in ((extreme, name), (spread, f"a{name}"), (argument, f"arg{name}")):
        f.__name__ = f.__qualname__ = title
        operation(title)(f)


@op("NotDifferentiable")
def _argmax(x: Array, axis: AxisLike, keepdims: bool) -> Array:
    return np.argmax(x, axis=axis, keepdims=keepdims)


@op("NotDifferentiable")
def _argmin(x: Array, axis: AxisLike, keepdims: bool) -> Array:
    return np.argmin(x, axis=axis, keepdims=keepdims)


_ARGUMENT = {"max": _argmax, "min": _argmin}
_extreme("max")
_extreme("min")


@operation()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Operands:
    """The smallest and the largest element."""
    axes = tuple(range(len(input._value.shape))) if dim is None else (dim_of(dim, len(input._value.shape)),)
    return named("aminmax", "min max")(*apply(_aminmax, (input,), (axes, keepdim)))


@op("AminmaxBackward0", keeps_result=True)
def _aminmax(x: Array, axes: AxisLike, keepdims: bool) -> Arrays:
    return _amin(x, axes, keepdims), _amax(x, axes, keepdims)
