"""Products that are added to a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype, result_dtype
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Array, Number


def _added(x: Array, a: Array, b: Array, beta: Operand, alpha: Operand) -> Array:
    product = np.matmul(a, b)
    if alpha != 1:
        product = product * alpha
    return product if beta == 0 else (x if beta == 1 else x * beta) + product


_ADDED = {
    "addmm": (Op("AddmmBackward0", _added, input_names=("self", "mat1", "mat2")), 2, 2),
    "addmv": (Op("AddmvBackward0", _added, input_names=("self", "mat", "vec")), 2, 1),
    "baddbmm": (Op("BaddbmmBackward0", _added, input_names=("self", "batch1", "batch2")), 3, 3),
}


def factors(beta: Number, alpha: Number, *tensors: Tensor) -> tuple[Any, Any]:
    """Two numbers as factors of tensors: among integers their whole parts, among truth values theirs."""
    dtype = result_dtype(*tensors)
    return (beta, alpha) if dtype.kind in "fc" else (dtype.type(beta), dtype.type(alpha))


def _adding(name: str) -> None:
    made, m, n = _ADDED[name]

    def product(
        input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Operand = 1, alpha: Operand = 1
    ) -> Operand:
        a, b = mat1._value.shape, mat2._value.shape
        if len(a) != m or len(b) != n:
            raise RuntimeError(f"{name}: expected dimensions {m} and {n}, got {len(a)} and {len(b)}")
        inner_size = b[-2] if n > 1 else b[0]
        if a[-1] != inner_size:
            columns = b[-1] if n > 1 else 1
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({a[-2]}x{a[-1]} and "
                f"{b[-2] if n > 1 else b[0]}x{columns})"
            )
        return apply(made, (input, mat1, mat2), factors(beta, alpha, input, mat1, mat2))

    product.__name__ = product.__qualname__ = name
    operation(name, inplace=True)(product)


for _name in _ADDED:
    _adding(_name)


@op("AddbmmBackward0", input_names=("self", "batch1", "batch2"))
def _addbmm(x: Array, a: Array, b: Array, beta: Operand, alpha: Operand) -> Array:
    return beta * x + alpha * np.sum(np.matmul(a, b), axis=0)


@operation(inplace=True)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Operand:
    """`input` plus the sum of the products of a batch."""
    return apply(_addbmm, (input, batch1, batch2), factors(beta, alpha, input, batch1, batch2))


@op("AddrBackward0", input_names=("self", "vec1", "vec2"))
def _addr(x: Array, a: Array, b: Array, beta: Operand, alpha: Operand) -> Array:
    return beta * x + alpha * (np.expand_dims(a, 1) * b)


@operation(inplace=True)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Operand:
    """`input` plus the outer product of two vectors."""
    return apply(_addr, (input, vec1, vec2), factors(beta, alpha, input, vec1, vec2))


@op("AddcmulBackward0", input_names=("self", "tensor1", "tensor2"))
def _addcmul(x: Array, a: Array, b: Array, value: Array) -> Array:
    return x + (a * b if value == 1 else value * (a * b))


@operation(inplace=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Operand:
    """``input + value * tensor1 * tensor2``."""
    factor = int(value) if input._value.dtype.kind in "iu" else value
    return apply(_addcmul, of_one_dtype(input, tensor1, tensor2), (factor,))


@op("AddcdivBackward0", input_names=("self", "tensor1", "tensor2"))
def _addcdiv(x: Array, a: Array, b: Array, value: Array) -> Array:
    return x + (a / b if value == 1 else value * (a / b))


@operation(inplace=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Operand:
    """``input + value * tensor1 / tensor2``."""
    if tensor1._value.dtype.kind in "iub" and tensor2._value.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
            "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
            "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
            "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
            "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
            "dtypes."
        )
    return apply(_addcdiv, of_one_dtype(input, tensor1, tensor2), (value,))
