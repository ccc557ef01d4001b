"""Names at the edges: limits of dtypes, old constructors, statistics, integrals, old linear algebra."""

from __future__ import annotations

import itertools
import warnings
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.dtypes import TYPE_NAMES, numpy_dtype
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.history import op
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.conversion import device
from funcgrad.torch.operations.creation import array_from, finished
from funcgrad.torch.operations.movement import broadcast_shape
from funcgrad.torch.operations.questions import STRIDED, layout
from funcgrad.torch.operations.reductions import named
from funcgrad.torch.operations.registry import FUNCTIONS, operation

__all__: list[str] = []


# -- limits of dtypes -------------------------------------------------------------------------------------


class finfo:
    """The limits of a floating-point dtype."""

    __module__ = "torch"

    def __init__(self, type: Any = None) -> None:
        found = numpy_dtype(type) if type is not None else SETTINGS.default_dtype
        if found.kind not in "fc":
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{type}'"
            )
        limits = np.finfo(found)
        self.bits = int(limits.bits)
        self.eps = float(limits.eps)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(limits.resolution)
        self.dtype = limits.dtype.name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype."""

    __module__ = "torch"

    def __init__(self, type: Any) -> None:
        found = numpy_dtype(type)
        if found.kind not in "iu":
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        limits = np.iinfo(found)
        self.bits, self.max, self.min = int(limits.bits), int(limits.max), int(limits.min)
        self.dtype = found.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


# -- old constructors -------------------------------------------------------------------------------------


class TypedMeta(type):
    """Lets ``isinstance(t, torch.FloatTensor)`` ask for the dtype."""

    numpy: Any

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x._value.dtype == cls.numpy


def typed_constructor(name: str, word: str) -> Any:
    """``torch.FloatTensor`` and its like."""

    def make(cls: Any, *args: Any) -> Tensor:
        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].to(cls.numpy)[...]  # type: ignore[no-any-return]
        if len(args) == 1 and not isinstance(args[0], int):
            return finished(array_from(args[0], cls.numpy))
        return finished(np.zeros(args, cls.numpy))

    return TypedMeta(f"{word}Tensor", (), {"__new__": make, "numpy": np.dtype(name), "__module__": "torch"})


for _name, _word in TYPE_NAMES.items():
    if not _word.startswith(("UInt", "Complex")):
        FUNCTIONS[f"{_word}Tensor"] = typed_constructor(_name, _word)


def scalar_tensor(value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A tensor of rank 0."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.asarray(value, wanted), **options)


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A new tensor; the order of its elements in memory is always the usual one."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    return finished(np.zeros(tuple(size), wanted), **options)


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor on the memory of a buffer."""
    return finished(np.frombuffer(buffer, numpy_dtype(dtype), count, offset), requires_grad)


def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of shapes."""
    return Size(broadcast_shape(*shapes))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` elements, a row each."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    index = np.array(list(choose(range(input._value.size), r)), np.int64).reshape(-1, r)
    return input[FUNCTIONS["as_tensor"](index)]


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of elements, a column each."""
    count = x._value.shape[0] if N is None else N
    powers = range(count) if increasing else range(count - 1, -1, -1)
    return FUNCTIONS["stack"]([x**k for k in powers], 1)


# -- statistics and integrals -----------------------------------------------------------------------------


@operation()
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables in rows."""
    if (rank := len(input._value.shape)) > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {rank} dimensions"
        )
    rows = input if rank > 1 else input.reshape(1, -1)
    count = rows._value.shape[1]
    weights = _weights_of(count, fweights, aweights)
    if weights is None:
        norm: Any = count - correction
        centred = scaled = rows - rows.mean(1, keepdim=True)
    else:
        total = weights.sum()
        centred = rows - (rows * weights).sum(1, keepdim=True) / total
        scaled = centred * weights
        each = correction if aweights is None else correction * (weights * aweights).sum() / total
        norm = total - each
    if norm <= 0:
        warnings.warn("cov(): no more observations than the correction takes away", UserWarning, stacklevel=2)
        norm = 0
    return (centred @ scaled.mH / norm).squeeze()


def _weights_of(count: int, fweights: Any, aweights: Any) -> Any:
    """How often, and how much, each observation counts; None where all count once."""
    for name, weights, kinds, word in (
        ("fweights", fweights, "iu", "integral"),
        ("aweights", aweights, "f", "floating point"),
    ):
        if weights is None:
            continue
        value, kind = weights._value, weights.type().removeprefix("torch.").removesuffix("Tensor")
        if value.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {value.ndim} "
                f"dimensions"
            )
        if value.dtype.kind not in kinds:
            raise RuntimeError(
                f"cov(): expected {name} to have {word} dtype but got {name} with {kind} dtype"
            )
        if value.size != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input "
                f"but got "
                f"{value.size} != {count}"
            )
        if (value < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return fweights * aweights


@operation()
def corrcoef(input: Tensor) -> Any:
    """The correlation matrix of variables in rows."""
    found = cov(input)
    if not found._value.shape:
        return found / found
    scale = found.diagonal().sqrt()
    return (found / scale.unsqueeze(1) / scale.unsqueeze(0)).clip(-1, 1)


def trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The integral by the trapezoidal rule."""
    size = y._value.shape[dim]
    if x is not None:
        return ((y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)) * _widths(x, y, dim)).sum(dim) / 2.0
    total = y.sum(dim) * 2 - y.select(dim, 0) - y.select(dim, size - 1)
    return total * (dx / 2.0)


def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The running integral by the trapezoidal rule."""
    size = y._value.shape[dim]
    pairs = y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)
    if x is None:
        return (pairs * (dx / 2.0)).cumsum(dim)
    return (pairs * _widths(x, y, dim) / 2.0).cumsum(dim)


def _widths(x: Tensor, y: Tensor, dim: int) -> Any:
    found = x.diff(dim=-1 if len(x._value.shape) == 1 else dim)
    if len(x._value.shape) == 1:
        ndim = len(y._value.shape)
        shape = [1] * ndim
        shape[dim_of(dim, ndim)] = -1
        found = found.reshape(shape)
    return found


@op("RenormBackward0")
def _renorm(x: Any, p: float, axis: int, most: float) -> Any:
    moved = np.moveaxis(x, axis, 0)
    size = np.linalg.norm(np.reshape(moved, (moved.shape[0], -1)), p, axis=1)
    scale = np.where(size > most, most / (size + 1e-7), np.ones((), x.dtype))
    shape = [1] * x.ndim
    shape[axis] = -1
    return x * np.reshape(scale, shape)


@operation(inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Any:
    """Parts along a dimension scaled down to a largest norm."""
    return apply(_renorm, (input,), (float(p), dim_of(dim, len(input._value.shape)), float(maxnorm)))


@operation(inplace=True)
def ldexp(input: Tensor, other: Tensor) -> Any:
    """``input * 2 ** other``."""
    return input * FUNCTIONS["pow"](2.0, other)


@operation()
def frexp(input: Tensor) -> Any:
    """The mantissa and the exponent of floating-point numbers."""
    exponent = np.asarray(np.frexp(input._value)[1])
    mantissa = apply(_mantissa, (input, np.ldexp(input._value.dtype.type(1), -exponent)))
    return named("frexp", "mantissa exponent")(mantissa, wrap(exponent))


@op("FrexpBackward0", visible=1)
def _mantissa(x: Any, scale: Any) -> Any:
    return x * scale


# -- old names of linear algebra --------------------------------------------------------------------------


def _linalg(name: str) -> Any:
    return getattr(import_module("funcgrad.torch.linalg"), name)


def _renamed(name: str, modern: str) -> None:
    def old(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return _linalg(modern)(input, *args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"``torch.linalg.{modern}``."
    operation(name)(old)


for _name, _modern in (
    ("inverse", "inv"),
    ("det", "det"),
    ("slogdet", "slogdet"),
    ("pinverse", "pinv"),
    ("matrix_exp", "matrix_exp"),
):
    _renamed(_name, _modern)


@operation()
def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant, NaN where that is negative."""
    sign, log = _linalg("slogdet")(input)
    return FUNCTIONS["where"](sign == -1, float("nan"), log)


def _deprecated(name: str, use: str) -> None:
    warnings.warn(
        f"torch.{name} is deprecated in favor of torch.linalg.{use} and will be removed in a future PyTorch "
        "release.",
        UserWarning,
        stacklevel=4,
    )


@operation()
def cholesky(input: Tensor, upper: bool = False) -> Any:
    """``torch.linalg.cholesky``, under its old name."""
    _deprecated("cholesky", "cholesky")
    return _linalg("cholesky")(input, upper=upper)


@operation()
def qr(input: Tensor, some: bool = True) -> Any:
    """``torch.linalg.qr``, under its old name."""
    _deprecated("qr", "qr")
    return named("qr", "Q R")(*_linalg("qr")(input, "reduced" if some else "complete"))


@operation()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """``torch.linalg.svd`` with V instead of its transpose."""
    u, s, vh = _linalg("svd")(input, not some)
    return named("svd", "U S V")(u, s, vh.mH)


@operation(method=False)
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Any:
    """The solution of ``A X = B`` by the Cholesky factor of A."""
    factor = L.mH if upper else L
    half = _linalg("solve_triangular")(factor, B, upper=False)
    return _linalg("solve_triangular")(factor.mH, half, upper=True)


@operation("triangular_solve")
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """``torch.linalg.solve_triangular``, under its old name."""
    matrix = A.mT if transpose else A
    found = _linalg("solve_triangular")(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return named("triangular_solve", "solution cloned_coefficient")(found, A.clone())


# -- settings ---------------------------------------------------------------------------------------------


def set_warn_always(b: bool) -> None:
    """Accepted: warnings are never suppressed here except by Python's filters."""
    SETTINGS.warn_always = b


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` set."""
    return SETTINGS.warn_always


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted: every algorithm here is deterministic."""
    SETTINGS.deterministic = mode


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` set."""
    return SETTINGS.deterministic


def get_num_threads() -> int:
    """1: NumPy decides for itself how many threads its BLAS uses."""
    return 1


def set_num_threads(count: int) -> None:
    """Accepted without effect: NumPy decides for itself."""


def get_num_interop_threads() -> int:
    """1: operations run one after another."""
    return 1


def set_num_interop_threads(count: int) -> None:
    """Accepted without effect: operations run one after another."""


def typename(x: Any) -> str:
    """The name of a tensor's type."""
    return x.type() if isinstance(x, Tensor) else f"{type(x).__module__}.{type(x).__qualname__}"


def _reversed(self: Tensor) -> Any:
    return self.flip(0) if self._value.shape else self


def _cuda(self: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
    """Not supported: there is no CUDA here."""
    raise AssertionError("Torch not compiled with CUDA enabled")


setattr(Tensor, "cuda", _cuda)  # noqa: B010 - given like every operation
setattr(Tensor, "__reversed__", _reversed)  # noqa: B010 - given like every operation


class memory_format:
    """How elements lie in memory; accepted and not used."""

    __module__ = "torch"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


for _name in ("contiguous_format", "preserve_format", "channels_last"):
    FUNCTIONS[_name] = memory_format(_name)  # type: ignore[assignment]
FUNCTIONS["memory_format"] = memory_format
FUNCTIONS["strided"] = STRIDED  # type: ignore[assignment]
FUNCTIONS["layout"], FUNCTIONS["device"] = layout, device
for _function in (
    finfo,
    iinfo,
    scalar_tensor,
    empty_strided,
    frombuffer,
    broadcast_shapes,
    combinations,
    vander,
    trapezoid,
    cumulative_trapezoid,
    set_warn_always,
    is_warn_always_enabled,
    use_deterministic_algorithms,
    are_deterministic_algorithms_enabled,
    get_num_threads,
    set_num_threads,
    get_num_interop_threads,
    set_num_interop_threads,
    typename,
):
    FUNCTIONS[_function.__name__] = _function
FUNCTIONS["trapz"] = trapezoid
