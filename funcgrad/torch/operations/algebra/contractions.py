"""Products of vectors and matrices."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.errors import broadcast_error, dim_of, require_one_dtype
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.pointwise.arithmetic import F32, F64, of_one_dtype, remember_two
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.types import Anything, Array, Arrays, AxisLike


def _matmul(x: Array, y: Array) -> Array:
    return np.matmul(x, y)


_DOT = Op("DotBackward0", _matmul, input_names=("self", "tensor"))
_MV = Op("MvBackward0", _matmul, input_names=("self", "vec"))
_MM = Op("MmBackward0", _matmul, input_names=("self", "mat2"))
_BMM = Op("BmmBackward0", _matmul, input_names=("self", "mat2"))
_SQUEEZED = Op("SqueezeBackward4", _matmul)
_UNSAFE = Op("UnsafeViewBackward0", _matmul, input_names=("self", "mat2"))


_PLAIN = {(1, 1): _DOT, (2, 1): _MV, (2, 2): _MM, (1, 2): _SQUEEZED}


def _matmul_operator(self: Tensor, other: Operand) -> Operand:
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


setattr(Tensor, "__matmul__", _matmul_operator)  # noqa: B010 - given like every operation


@operation("matmul")
def matmul(input: Tensor, other: Operand) -> Operand:
    """The product of vectors, matrices or batches of matrices."""
    if not isinstance(other, Tensor):
        kind = type(other).__name__
        raise TypeError(f"matmul(): argument 'other' (position 1) must be Tensor, not {kind}")
    a, b = input._value, other._value
    x, y = a.shape, b.shape
    dtype = a.dtype
    if (
        len(y) <= 2
        and 0 < len(x) <= 2
        and dtype is b.dtype
        and (dtype is F32 or dtype is F64)
        and y
        and x[-1] == y[0]
    ):
        t = wrap(a @ b)
        if len(x) < len(y):
            # PyTorch makes a matrix of the vector and squeezes the result in place.
            t._version_box[0] = 1
        needs = (1 if input._rg else 0) + (2 if other._rg else 0)
        if needs:
            remember_two(_PLAIN[len(x), len(y)], t, needs, input, other, a, b)
        return t
    if not x or not y:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(x)}D and {len(y)}D"
        )
    chosen = _check_matmul(input, other, x, y)
    return apply(chosen, (input, other))


def _check_matmul(input: Tensor, other: Tensor, x: tuple[int, ...], y: tuple[int, ...]) -> Op:
    inner = y[-2] if len(y) > 1 else y[0]
    fits = x[-1] == inner
    if len(x) == 1 and len(y) == 1:
        if input._value.dtype != other._value.dtype:
            _same_dtype_dot(input, other)
        if not fits:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor {list(x)} and src {list(y)} to have the same "
                f"number of elements, but got {x[0]} and {y[0]} elements respectively"
            )
        return _DOT
    if len(x) == 2 and len(y) == 1:
        if not fits:
            raise RuntimeError(f"size mismatch, got input ({x[0]}), mat ({x[0]}x{x[1]}), vec ({y[0]})")
        require_one_dtype(input._value.dtype, other._value.dtype)
        return _MV
    if len(x) <= 2 and len(y) == 2:
        rows = x[0] if len(x) == 2 else 1
        if not fits:
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x[-1]} and {y[0]}x{y[1]})"
            )
        require_one_dtype(input._value.dtype, other._value.dtype)
        return _MM if len(x) == 2 else _SQUEEZED
    require_one_dtype(input._value.dtype, other._value.dtype)
    if not fits:
        if len(y) <= 2:
            columns = y[1] if len(y) == 2 else 1
            rows = int(np.prod(x[:-1]))
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x[-1]} and {y[0]}x{columns})"
            )
        batch = int(np.prod(np.broadcast_shapes(x[:-2], y[:-2])))
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {x[-1]}] but got: "
            f"[{batch}, {y[-2]}]."
        )
    try:
        np.broadcast_shapes(x[:-2], y[:-2])
    except ValueError:
        raise broadcast_error(np.empty(x[:-2]), np.empty(y[:-2]), ValueError()) from None
    return _UNSAFE


def _same_dtype_dot(x: Tensor, y: Tensor) -> None:
    words = [str(t.type()).removeprefix("torch.").removesuffix("Tensor") for t in (x, y)]
    raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {words[0]} and {words[1]}")


@operation()
def mm(input: Tensor, mat2: Tensor) -> Operand:
    """The product of two matrices."""
    if len(input._value.shape) != 2:
        raise RuntimeError("self must be a matrix")
    if len(mat2._value.shape) != 2:
        raise RuntimeError("mat2 must be a matrix")
    return matmul(input, mat2)


@operation()
def bmm(input: Tensor, mat2: Tensor) -> Operand:
    """The products of two batches of matrices."""
    x, y = input._value.shape, mat2._value.shape
    if len(x) != 3 or len(y) != 3:
        which = "batch1" if len(x) != 3 else "batch2"
        raise RuntimeError(f"{which} must be a 3D tensor")
    if x[0] != y[0] or x[2] != y[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{x[0]}, {x[2]}] but got: "
            f"[{y[0]}, {y[1]}]."
        )
    return apply(_BMM, (input, mat2))


@operation()
def mv(input: Tensor, vec: Tensor) -> Operand:
    """The product of a matrix and a vector."""
    if len(input._value.shape) != 2 or len(vec._value.shape) != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got 1, {len(input._value.shape)}, {len(vec._value.shape)}"
        )
    return matmul(input, vec)


@operation()
def dot(input: Tensor, tensor: Tensor) -> Operand:
    """The product of two vectors."""
    x, y = input._value.shape, tensor._value.shape
    if len(x) != 1 or len(y) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(x)}D and {len(y)}D tensors")
    return matmul(input, tensor)


@op("VdotBackward0", input_names=("self", "other"))
def _vdot(x: Array, y: Array) -> Array:
    return np.sum(np.conj(x) * y) if x.dtype.kind == "c" else np.matmul(x, y)


@operation()
def vdot(input: Tensor, other: Tensor) -> Operand:
    """The product of two vectors, the first conjugated."""
    if len(input._value.shape) != 1 or len(other._value.shape) != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {len(input._value.shape)}D and {len(other._value.shape)}D tensors"
        )
    return apply(_vdot, (input, other))


@operation("outer", "ger")
def outer(input: Tensor, vec2: Tensor) -> Operand:
    """All products of elements of two vectors."""
    for name, t in (("self", input), ("vec2", vec2)):
        if len(t._value.shape) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {len(t._value.shape)}-D")
    return input.view(-1, 1) * vec2


@operation()
def inner(input: Tensor, other: Tensor) -> Operand:
    """The sums of products over the last dimensions."""
    x, y = input._value.shape, other._value.shape
    if not x or not y:
        return input * other
    if x[-1] != y[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(x)} and "
            f"{list(y)}"
        )
    return tensordot(input, other, ([-1], [-1]))


# -- general contractions ---------------------------------------------------------------------------------


def _tensordot(x: Array, y: Array, axes: AxisLike) -> Array:
    return np.tensordot(x, y, axes)


_TENSORDOT = Op("ViewBackward0", _tensordot)


@operation("tensordot", method=False)
def tensordot(a: Tensor, b: Tensor, dims: AxisLike = 2) -> Operand:
    """The sums of products over several dimensions."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        first, second = tuple(range(-dims, 0)), tuple(range(dims))
    else:
        first, second = tuple(dims[0]), tuple(dims[1])
    x, y = a._value.shape, b._value.shape
    for k, (i, j) in enumerate(zip(first, second, strict=True)):
        n, m = x[dim_of(i, len(x))], y[dim_of(j, len(y))]
        if n == 1 != m:
            b = b.sum(j, keepdim=True)
        elif m == 1 != n:
            a = a.sum(i, keepdim=True)
        elif n != m:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {x[i]} in dim {i} and second has "
                f"size {y[j]} in dim {j}"
            )
        del k
    return apply(_TENSORDOT, (a, b), ((first, second),))


def _einsum(*values: Array) -> Array:
    *arrays, subscripts = values
    return np.einsum(subscripts, *arrays)


_EINSUMS = {name: Op(f"{name}Backward0", _einsum) for name in ("View", "Mul", "Permute")}
_EINSUMS["Sum"] = Op("SumBackward1", _einsum)


def _einsum_op(text: str, named: list[str]) -> Op:
    """The operation PyTorch would have come to last."""
    kept = text.split("->")[1] if "->" in text else None
    labels = set("".join(named))
    if kept is None:
        together = "".join(named)
        kept = "".join([c for c in labels if together.count(c) == 1])
    summed = labels - set(kept)
    if len(named) == 1:
        return _EINSUMS["Sum" if summed else "Permute"]
    return _EINSUMS["View" if summed else "Mul"]


def _check_subscripts(named: list[str], operands: Arrays) -> None:
    """Raise RuntimeError for sizes that do not fit the subscripts."""
    sizes: dict[str, int] = {}
    for k, (labels, t) in enumerate(zip(named, operands, strict=True)):
        if "." in labels:
            continue
        if len(labels) != len(t._value.shape):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(labels)}) does not match the "
                f"number of dimensions ({len(t._value.shape)}) for operand {k} and no ellipsis was given"
            )
        mine: dict[str, int] = {}
        for label, n in zip(labels, t._value.shape, strict=True):
            if mine.setdefault(label, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {k} but the sizes don't match, "
                    f"{n} != {mine[label]}"
                )
            seen = sizes.get(label, 1)
            if seen != 1 and n not in (1, seen):
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {n} for operand {k} which does not broadcast "
                    f"with previously seen size {seen}"
                )
            sizes[label] = max(seen, n)


_PAIR = 2


def _require_letters(equation: str) -> None:
    """Raise RuntimeError for what is no letter, arrow, comma, blank or ellipsis."""
    arrow = equation.find("->")
    for at, c in enumerate(equation):
        letter = c.isascii() and c.isalpha()
        if not letter and c not in ".," and not c.isspace() and not (arrow >= 0 and at in (arrow, arrow + 1)):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be "
                "in [a-zA-Z]"
            )


def _require_products(named: list[str], operands: Arrays, kept: str | None) -> None:
    """Raise RuntimeError where sums of products would be of different dtypes; products alone promote."""
    for k, t in enumerate(operands[1:], 1):
        first = operands[0]
        shared = set(named[0]) & set(named[k]) - {"."}
        summed = shared if kept is None else {c for c in shared if c not in kept}
        if not summed or len(operands) > _PAIR:
            continue
        if first._value.dtype.kind == t._value.dtype.kind == "b":
            raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
        if first._value.dtype != t._value.dtype:
            raise RuntimeError(f"expected scalar type {kind_of(first)} but found {kind_of(t)}")


def with_dots_summed(text: str, operands: Operand) -> str:
    """The equation, with letters for an ellipsis that the result does not have: its dimensions are summed."""
    if "->" not in text or "." not in text or "." in text.split("->")[1]:
        return text
    left, right = text.split("->")
    named = left.split(",")
    if len(named) != len(operands):
        return text
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    counts = [len(t._value.shape) - len(n.replace("...", "")) for n, t in zip(named, operands, strict=True)]
    most = max([count for n, count in zip(named, counts, strict=True) if "..." in n], default=0)
    letters = "".join(free[:most])
    filled = [
        n.replace("...", letters[most - max(count, 0) :]) for n, count in zip(named, counts, strict=True)
    ]
    return f"{','.join(filled)}->{right}"


@published()
def einsum(equation: Anything, *operands: Operand) -> Operand:
    """Sums of products by subscripts: ``einsum("ij,jk->ik", a, b)``."""
    if isinstance(equation, Tensor):
        equation, operands = from_sublists((equation, *operands))
    if len(operands) == 1 and not isinstance(operands[0], Tensor):
        operands = tuple(operands[0])
    _require_letters(equation)
    text = with_dots_summed(equation.replace(" ", ""), operands)
    named = text.split("->")[0].split(",")
    if len(named) != len(operands):
        more = "more operands were provided" if len(named) < len(operands) else "fewer operands were provided"
        raise RuntimeError(f"einsum(): {more} than specified in the equation")
    _check_subscripts(named, operands)
    wanted = text.split("->")[1] if "->" in text else ""
    for label in wanted:
        if label != "." and wanted.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label != "." and label not in "".join(named):
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
    _require_products(named, operands, wanted if "->" in text else None)
    try:
        return apply(_einsum_op(text, named), operands, (text,))
    except ValueError as error:
        raise RuntimeError(f"einsum(): {error}") from None


def from_sublists(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation and the operands of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    letters = string.ascii_uppercase + string.ascii_lowercase

    def subscripts(numbers: Anything) -> str:
        return "".join(["..." if k is Ellipsis else letters[k] for k in numbers])

    pairs = len(given) // 2
    equation = ",".join([subscripts(given[2 * k + 1]) for k in range(pairs)])
    if len(given) % 2:
        equation += "->" + subscripts(given[-1])
    return equation, given[: 2 * pairs : 2]


@op("UnsafeViewBackward0")
def _kron(x: Array, y: Array) -> Array:
    return np.kron(x, y)


@operation()
def kron(input: Tensor, other: Tensor) -> Operand:
    """The Kronecker product."""
    if not isinstance(other, Tensor):
        raise TypeError(f"kron(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    return apply(_kron, of_one_dtype(input, other))


@op("LinalgCrossBackward0", input_names=("self", "other"))
def _cross(x: Array, y: Array, axis: int) -> Array:
    return np.cross(x, y, axis=axis)


@operation()
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Operand:
    """The cross product of vectors of three elements."""
    shape = input._value.shape
    if dim is None:
        dim = next((k for k, n in enumerate(shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    at = dim_of(dim, len(shape))
    if shape[at] != 3 or other._value.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {shape[at]} and "
            f"{other._value.shape[at]}"
        )
    return apply(_cross, (input, other), (at,))


@op("TraceBackward0")
def _trace(x: Array) -> Array:
    return np.trace(x)


@operation()
def trace(input: Tensor) -> Operand:
    """The sum of the diagonal of a matrix."""
    if len(input._value.shape) != 2:
        raise RuntimeError(
            "trace: expected a matrix, but got tensor with dim " + str(len(input._value.shape))
        )
    return apply(_trace, (input,))


@operation("chain_matmul", method=False)
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices."""
    found = matrices[0].clone() if len(matrices) == 1 else matrices[0]
    for m in matrices[1:]:
        found = matmul(found, m)
    return found


@operation("matrix_power")
def matrix_power(input: Tensor, n: int) -> Operand:
    """A matrix times itself, `n` times."""
    rows, columns = (1, 1, *input._value.shape)[-2:]
    if rows != columns:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{rows} by {columns} matrices"
        )
    if n < 0:
        return matrix_power(FUNCTIONS["inverse"](input), -n)
    if n == 0:
        shape = input._value.shape
        return FUNCTIONS["eye"](shape[-1], dtype=input.dtype).expand(shape).clone()
    if n == 1:
        return input.clone()
    found, square = None, input
    while n:
        if n & 1:
            found = square if found is None else matmul(found, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    return found
