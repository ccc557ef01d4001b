"""Products with weights: `linear`, `bilinear`, `embedding`, and similarity of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from funcgrad import stop_gradient
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.dtypes import TYPE_NAMES
from funcgrad.torch.core.errors import require_one_dtype
from funcgrad.torch.core.meta import is_shape_only
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import wrap
from funcgrad.torch.operations.places.combining import combined
from funcgrad.torch.operations.pointwise.arithmetic import of_one_dtype
from funcgrad.torch.operations.reducing.norms import vector_norm
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.torch.operations.requiring import kind_of, long_word
from funcgrad.types import Array, AxisLike, Index

if TYPE_CHECKING:
    from funcgrad.torch.core.tensor import Tensor

__all__ = [
    "bilinear",
    "cosine_similarity",
    "embedding",
    "embedding_bag",
    "linear",
    "normalize",
    "one_hot",
    "pairwise_distance",
]


def shifted(product: object, bias: Operand) -> Operand:
    """``product + bias``, in the memory of the product where nothing is traced."""
    if type(product) is np.ndarray and type(bias) is np.ndarray and product.dtype == bias.dtype:
        return np.add(product, bias, out=product)
    return product + bias


@op("AddmmBackward0", input_names=("self", "mat1", "mat2"))
def _addmm(bias: Array, x: Array, weight: Operand) -> Array:
    return shifted(x @ weight.T, bias)


@op("MmBackward0", input_names=("self", "mat2"))
def _mm(x: Array, weight: Operand) -> Array:
    return x @ weight.T


@op("ViewBackward0", input_names=("self", "mat1", "mat2"))
def _addmm_of_rows(bias: Array, x: Array, weight: Operand) -> Array:
    rows = x.reshape((-1, x.shape[-1]))
    return shifted(rows @ weight.T, bias).reshape((*x.shape[:-1], weight.shape[0]))


@op("UnsafeViewBackward0")
def _mm_of_rows(x: Array, weight: Operand) -> Array:
    return (x.reshape((-1, x.shape[-1])) @ weight.T).reshape((*x.shape[:-1], weight.shape[0]))


def linear(input: Operand, weight: Operand, bias: Operand | None = None) -> Operand:
    """``input @ weight.T + bias``.

    >>> from funcgrad import torch
    >>> torch.nn.functional.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.ones(1))
    tensor([[4.]])
    """
    a, w = input._value, weight._value
    if len(w.shape) != 2 or not a.shape or a.shape[-1] != w.shape[1]:
        _refuse_linear(a.shape, w.shape)
    if bias is None:
        require_one_dtype(input._value.dtype, weight._value.dtype)
    elif a.dtype != w.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {kind_of(input)} and {kind_of(weight)}"
        )
    if a.dtype.kind == "b":
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    is_matrix = len(a.shape) == 2
    if bias is not None and (bias._value.dtype != w.dtype or bias._value.shape != (w.shape[0],)):
        _require_bias(bias, weight, a.size // a.shape[-1] if a.size else 0)
    if bias is None:
        return apply(_mm if is_matrix else _mm_of_rows, (input, weight))
    return apply(_addmm if is_matrix else _addmm_of_rows, (bias, input, weight))


def _require_bias(bias: Operand, weight: Operand, rows: int) -> None:
    """Raise RuntimeError for a bias of another dtype, or that does not broadcast to the result."""
    if bias._value.dtype != weight._value.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {kind_of(bias)} and {kind_of(weight)}"
        )
    wanted, found = (rows, weight._value.shape[0]), bias._value.shape
    for k in range(1, len(found) + 1):
        if k > 2 or found[-k] not in (1, wanted[-k]):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted[-k] if k < 3 else 1}) must match the existing "
                f"size ({found[-k]}) at non-singleton dimension {2 - k}.  Target sizes: {list(wanted)}.  "
                f"Tensor sizes: {list(found)}"
            )


def _refuse_linear(x: tuple[int, ...], w: tuple[int, ...]) -> None:
    if len(w) == 1:
        raise RuntimeError("linear(): weight must be a matrix; use torch.matmul for vectors")
    rows = 1
    for n in x[:-1]:
        rows *= n
    raise RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x[-1] if x else 1} and {w[-1]}x{w[0]})"
    )


@op("BilinearBackward0", input_names=("input1", "input2", "weight"))
def _bilinear(x: Array, y: Array, weight: Operand) -> Array:
    return np.einsum("...i,kij,...j->...k", x, weight, y)


def bilinear(input1: Operand, input2: Operand, weight: Operand, bias: Operand | None = None) -> Operand:
    """``input1 @ weight[k] @ input2 + bias[k]`` for every k."""
    for k, x in enumerate((input1, input2), 1):
        if x.shape[-1] != weight.shape[k]:
            raise RuntimeError(
                f"bilinear(): input{k} size does not match weight size: got {x.shape[-1]} but expected "
                f"{weight.shape[k]}"
            )
    for k, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {k}: got {n} and {m}")
    words = [long_word(t) for t in (input1, input2, weight)]
    if len(set(words)) > 1:
        raise RuntimeError(
            f"All tensors must have the same dtype, got input1: {words[0]}, input2: {words[1]}, weight: "
            f"{words[2]}"
        )
    out = apply(_bilinear, (input1, input2, weight))
    return out if bias is None else out + bias


# -- embedding ------------------------------------------------------------------------------------------


@op("EmbeddingBackward0", input_names=("weight", "indices"), visible=1)
def _embedding(weight: Operand, index: Index, padding: int | None) -> Array:
    out = weight[index]
    if padding is None:
        return out
    # The padding row has a value, and takes no part in derivatives.
    fixed = (index == padding)[..., None]
    return np.where(fixed, _constant(out), out)


def _constant(x: Array) -> Array:
    return stop_gradient(x)


def embedding(
    input: Operand,
    weight: Operand,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Operand:
    """The rows of `weight` that the integers of `input` name; row `padding_idx` has no gradient.

    >>> from funcgrad import torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 1]), torch.tensor([[0.0], [5.0]]))
    tensor([[5.],
            [5.]])
    """
    if len(weight._value.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    rows = weight._value.shape[0]
    index = input._value
    _check_rows(index, rows, sparse, "embedding")
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        _renormalise(weight, index, max_norm, norm_type)
    found = apply(_embedding, (weight, input), (padding_idx,))
    return by_frequency(found, index, rows) if scale_grad_by_freq and found.requires_grad else found


def by_frequency(found: Operand, index: Array, rows: int) -> Operand:
    """Embeddings whose gradients are divided by how often their row occurs."""
    if not isinstance(index, np.ndarray):
        raise NotImplementedError(
            "funcgrad.torch does not support scale_grad_by_freq of indices that are traced; leave it False"
        )
    counts = np.bincount(index.reshape(-1), minlength=rows)[index].astype(found._value.dtype)
    fixed = found.detach()
    return fixed + (found - fixed) / wrap(counts[..., None])


def require_type(value: Array, argument: str, name: str, *words: str) -> None:
    """Raise RuntimeError for an array of another dtype than PyTorch's words say."""
    word = TYPE_NAMES[value.dtype.name]
    if word not in words:
        got = f"CPU{word}Type" if value.dtype.kind in "bc" else f"torch.{word}Tensor"
        raise RuntimeError(
            f"Expected tensor for argument #1 '{argument}' to have one of the following scalar types: "
            f"{', '.join(words)}; but got {got} instead (while checking arguments for {name})"
        )


def _check_rows(index: Index, rows: int, is_special: bool, name: str) -> None:
    if is_special:
        raise NotImplementedError(
            "funcgrad.torch does not support sparse gradients of embeddings, nor scale_grad_by_freq of bags; "
            "leave them False"
        )
    require_type(index, "indices", name, "Long", "Int")
    if isinstance(index, np.ndarray | np.generic) and index.size and (index.min() < 0 or index.max() >= rows):
        raise IndexError("index out of range in self")


def _renormalise(weight: Operand, index: Index, max_norm: float, norm_type: float) -> None:
    """Scale the rows in use that are longer than `max_norm`, in place."""
    value = weight._value
    if value.dtype.kind not in "fc":
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {kind_of(weight)} instead."
        )
    used = np.unique(index)
    lengths = np.linalg.norm(value[used], ord=norm_type, axis=1)
    long = lengths > max_norm
    value[used[long]] *= (max_norm / (lengths[long] + 1e-7))[:, None].astype(value.dtype)
    weight._version_box[0] += 1


def _starts_of_bags(input: Tensor, offsets: Operand, has_end: bool) -> Array:
    """Where bags begin in all that is looked up."""
    rank = len(input._value.shape)
    if rank == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        count, size = input._value.shape
        return np.arange(count) * size
    if rank != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {rank}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    return offsets._value[:-1] if has_end else offsets._value


def embedding_bag(
    input: Operand,
    weight: Operand,
    offsets: Operand = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Operand = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Operand:
    """The sums, means or maxima of the embeddings of bags: rows of a matrix, or parts between offsets."""
    if weight._value.dtype.kind in "iu" and input._value.dtype.kind == "f":
        input, weight = weight, input  # the order of old PyTorch
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    starts = _starts_of_bags(input, offsets, include_last_offset)
    if len(input._value.shape) == 2:
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    index = input._value
    _check_rows(index, weight._value.shape[0], scale_grad_by_freq or sparse, "embedding_bag")
    require_type(weight._value, "weight", "embedding_bag", "Half", "BFloat16", "Float", "Double")
    if max_norm is not None:
        _renormalise(weight, index, max_norm, norm_type)
    bags = np.searchsorted(starts, np.arange(index.size), "right") - 1
    if padding_idx is not None:
        counted = np.flatnonzero(index != padding_idx % weight._value.shape[0])
        input, bags = input[wrap(counted)], bags[counted]
        per_sample_weights = None if per_sample_weights is None else per_sample_weights[wrap(counted)]
    inputs = (
        (weight, input, bags) if per_sample_weights is None else (weight, input, bags, per_sample_weights)
    )
    return apply(_embedding_bag, inputs, (len(starts), {"max": "amax"}.get(mode, mode)))


@op("EmbeddingBagBackward0", input_names=("weight", "indices"), visible=1)
def _embedding_bag(weight: Operand, index: Index, bags: Array, *rest: Array) -> Array:
    *own, count, how = rest
    rows = np.take(weight, index, axis=0)
    rows = rows * own[0][:, None] if own else rows
    where = np.broadcast_arrays(bags[:, None], np.arange(weight.shape[1]))
    return combined(np.zeros((count, weight.shape[1]), weight.dtype), rows, tuple(where), how, False)


def one_hot(tensor: Operand, num_classes: int = -1) -> Tensor:
    """Rows of zeros with a one at the place that each integer names.

    >>> from funcgrad import torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    index = tensor._value
    if index.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes == -1:
        if not index.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(index.max()) + 1
    elif index.size and not is_shape_only(index) and index.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    if index.size and not is_shape_only(index) and index.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    return wrap((index[..., None] == np.arange(num_classes)).astype(np.int64))


# -- directions and distances ---------------------------------------------------------------------------


def normalize(
    input: Operand, p: float = 2.0, dim: AxisLike = 1, eps: float = 1e-12, out: Operand = None
) -> Operand:
    """``input / max(norm(input), eps)`` along `dim`."""
    length = FUNCTIONS["norm"](input, p, dim, keepdim=True)
    found = input / length.clamp_min(eps).expand_as(input)
    return found if out is None else out.copy_(found)


def cosine_similarity(x1: Operand, x2: Operand, dim: int = 1, eps: float = 1e-8) -> Operand:
    """The cosine of the angle between vectors along `dim`."""
    x1, x2 = FUNCTIONS["broadcast_tensors"](*of_one_dtype(x1, x2))
    if x1._value.dtype.kind != "f":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {kind_of(x1)}")
    lengths = [FUNCTIONS["norm"](x, 2, dim, keepdim=True).clamp_min(eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


def pairwise_distance(
    x1: Operand, x2: Operand, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Operand:
    """The norm of ``x1 - x2 + eps`` along the last dimension."""
    return apply(_LAST_NORM, (x1 - x2 + eps,), (float(p), (-1,), keepdim))


_LAST_NORM = Op("NormBackward1", vector_norm, keeps_result=True)
