"""Checks of what `backward` and `autograd.grad` are given: outputs, and one cotangent for each."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.core.meta import is_meta, on_meta
from funcgrad.torch.core.operand import Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Array, ArrayLike, Tree

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operand


NO_GRAD_FN = "element {} of tensors does not require grad and does not have a grad_fn"


def _as_tuple(x: Array) -> tuple[Any, ...]:
    if isinstance(x, Tensor) or hasattr(x, "edge"):
        return (x,)
    return tuple(x)


def renamed(grads: object, variables: object) -> object:
    """The gradients given under their old name, with PyTorch's warning."""
    warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3)
    if grads is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please "
            "only use `grad_tensors`."
        )
    return variables


def inputs_of(given: Tree) -> tuple[Tensor, ...]:
    """The tensors that `backward` is asked to accumulate into."""
    found = (
        (given,)
        if isinstance(given, Tensor) or hasattr(given, "edge")
        else tuple(given.values() if type(given) is dict else given)
    )
    if not found:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    found = tuple([getattr(t, "leaf", t) for t in found])
    for t in found:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        if not t._rg:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    return found


def roots_of(tensors: Operands, grads: Operands, create: bool) -> tuple[list[Any], list[Any]]:
    """The edges a backward pass starts from and the cotangents there; RuntimeError for what does not fit."""
    if type(tensors) is Tensor and grads is None:
        # What nearly every call of `backward` is.
        node = tensors._node
        if node is not None or tensors._rg:
            return [node or tensors], [implicit(tensors, create)]
    outputs = _as_tuple(tensors)
    given = (None,) * len(outputs) if grads is None else _as_tuple(grads)
    if len(given) == 1 and len(outputs) != 1 and given[0] is None:
        given = (None,) * len(outputs)
    given = given[: len(outputs)]
    if len(outputs) != len(given):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    edges, cotangents = [], []
    for k, (out, g) in enumerate(zip(outputs, given, strict=True)):
        if not isinstance(out, Tensor):
            found = getattr(out, "edge", None)
            if found is None:
                raise TypeError(f"expected a Tensor, got {type(out).__name__}")
            given_there = implicit(out.shaped(), create) if g is None else g
            edges.append(found)
            cotangents.append(given_there if create or g is None else g._value)
            continue
        if g is None and not out._rg:
            raise RuntimeError(NO_GRAD_FN.format(k))
        value = implicit(out, create) if g is None else explicit(out, g, k, create)
        if not out._rg:
            raise RuntimeError(NO_GRAD_FN.format(k))
        edges.append(out._node or out)
        cotangents.append(value)
    return edges, cotangents


def implicit(out: Tensor, create: bool) -> Operand:
    """One, for an output of one element."""
    value = out._value
    if value.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if value.dtype.kind == "c":
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
    one = on_meta(value) if is_meta(out) else np.ones(value.shape, value.dtype)
    if create:
        return wrap(one)
    return one


def explicit(out: Tensor, g: ArrayLike, k: int, create: bool) -> Operand:
    """The cotangent the caller gave, which must fit the output."""
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g._value.shape != out._value.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{k}] has a shape of {g.shape} and output[{k}] has a shape of "
            f"{out.shape}."
        )
    if (g._value.dtype.kind == "c") != (out._value.dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
            "in dtype: "
            f"grad_output[{k}] has a dtype of {g.dtype} and output[{k}] has a dtype of {out.dtype}."
        )
    if g._value.dtype != out._value.dtype:
        g = g.to(out.dtype)
    return g if create else g._value
