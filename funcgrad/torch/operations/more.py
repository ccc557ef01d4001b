"""Less frequent operations: parts replaced, windows, numerical gradients, and old names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.history import op
from funcgrad.torch.core.inplace import require_writeable
from funcgrad.torch.core.state import MODES, SETTINGS
from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.torch.operations.conversion import device
from funcgrad.torch.operations.creation import finished, shape_of
from funcgrad.torch.operations.random import generator_of
from funcgrad.torch.operations.registry import FUNCTIONS, operation, tensor_of

__all__: list[str] = []


# -- functions of what elsewhere are methods --------------------------------------------------------------


def _function_of(name: str) -> None:
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    FUNCTIONS[name] = function


for _name in ("detach", "detach_", "zero_", "fill_", "get_device", "is_same_size", "resize_as_"):
    _function_of(_name)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` of one number."""
    return input.clone().fill_(value)  # type: ignore[no-any-return]


FUNCTIONS["fill"] = fill


def _copy_of(name: str) -> None:
    def copied(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        found = getattr(input, name)(*args, **kwargs)
        return tuple([x.clone() for x in found]) if isinstance(found, tuple) else found.clone()

    copied.__name__ = copied.__qualname__ = f"{name}_copy"
    FUNCTIONS[f"{name}_copy"] = copied


for _name in (
    "as_strided",
    "diagonal",
    "expand",
    "narrow",
    "permute",
    "select",
    "split",
    "squeeze",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsqueeze",
    "view",
):
    _copy_of(_name)


def _unsafe(name: str) -> None:
    def parts(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return tuple([x.clone() for x in getattr(input, name)(*args, **kwargs)])

    operation(f"unsafe_{name}")(parts)


_unsafe("chunk")
_unsafe("split")


@method()
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Any:
    """A copy of `length` entries of a dimension."""
    return self.narrow(dim, start, length).clone()


@method()
def resize_as_(self: Tensor, other: Tensor) -> Tensor:
    """The shape of another tensor; what is new is zero."""
    return self.resize_(other._value.shape)  # type: ignore[no-any-return]


@method()
def sum_to_size(self: Tensor, *size: Any) -> Any:
    """The sum over what a smaller shape would be broadcast by."""
    shape = shape_of(size)
    lead = len(self._value.shape) - len(shape)
    dims = [*range(lead)]
    dims += [k + lead for k, n in enumerate(shape) if n == 1 and self._value.shape[k + lead] != 1]
    found = self.sum(dims, keepdim=True) if dims else self
    return found.reshape(shape)


@method()
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by what a Python function makes of it."""
    require_writeable(self)
    memory = own(self)
    for where in np.ndindex(*memory.shape):
        memory[where] = callable(memory[where].item())
    self._version_box[0] += 1
    return self


# -- a part replaced --------------------------------------------------------------------------------------


def _with_part(input: Tensor, src: Any, part: Callable[[Tensor], Any]) -> Tensor:
    found: Tensor = input.clone()
    part(found).copy_(src)
    return found


@operation()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Any:
    """The tensor with the part at one index replaced."""

    def part(t: Tensor) -> Any:
        return t.select(dim, index)

    return _with_part(input, src, part)


@operation()
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """The tensor with a slice of a dimension replaced."""
    at = dim_of(dim, len(input._value.shape))

    def part(t: Tensor) -> Any:
        return t[(*[slice(None)] * at, slice(start, end, step))]

    return _with_part(input, src, part)


@operation()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with a diagonal replaced."""

    def part(t: Tensor) -> Any:
        return t.diagonal(offset, dim1, dim2)

    return _with_part(input, src, part)


@operation()
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    """The tensor with the elements at these distances replaced."""

    def part(t: Tensor) -> Any:
        return t.as_strided(size, stride, storage_offset)

    return _with_part(input, src, part)


@operation(inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """The tensor with the elements at `index` of the flattened tensor replaced."""
    flat = input.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(input._value.shape)


# -- numbers ----------------------------------------------------------------------------------------------


def unravel_index(indices: Tensor, shape: Any) -> Any:
    """Indices of a flattened tensor as indices of its dimensions."""
    found = np.unravel_index(indices._value, (shape,) if isinstance(shape, int) else tuple(shape))
    return tuple([wrap(np.asarray(x)) for x in found])


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Derivatives along dimensions by finite differences."""
    ndim = len(input._value.shape)
    dims = tuple(range(ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if isinstance(spacing, int | float):
        steps: Any = [spacing] * len(dims)
    else:
        steps = [x._value if isinstance(x, Tensor) else x for x in spacing]
    return tuple(
        [apply(_gradient, (input,), (k, _static(h), edge_order)) for k, h in zip(dims, steps, strict=True)]
    )


def _static(h: Any) -> Any:
    return tuple(h.tolist()) if isinstance(h, np.ndarray) and h.shape else float(h)


@op("CatBackward0")
def _gradient(x: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    step = np.array(spacing) if isinstance(spacing, tuple) else spacing
    gradient_of: Any = np.gradient
    return gradient_of(x, step, axis=axis, edge_order=edge_order).astype(x.dtype)


def _special(name: str, title: str | None = None) -> None:
    def function(input: Tensor, *args: Any) -> Any:
        return getattr(import_module("funcgrad.torch.special"), title or name)(input, *args)

    function.__name__ = function.__qualname__ = name
    operation(name, inplace=True)(function)


_special("i0")
_special("igamma", "gammainc")
_special("igammac", "gammaincc")


def arange_including(start: Any, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """``torch.range``: as `arange`, with the end."""
    if end is None:
        start, end = 0, start
    wanted = numpy_dtype(options.pop("dtype")) if "dtype" in options else SETTINGS.default_dtype
    count = int(np.floor((end - start) / step)) + 1
    return finished((start + np.arange(count) * step).astype(wanted), **options)


FUNCTIONS["range"] = arange_including


def _window(name: str, make: Callable[..., Any]) -> None:
    def window(
        window_length: int, periodic: bool = True, *args: Any, dtype: Any = None, requires_grad: bool = False
    ) -> Tensor:
        wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
        if window_length <= 1:
            return finished(np.ones(window_length, wanted), requires_grad)
        full = make(window_length + bool(periodic), *args)
        return finished(np.asarray(full[:window_length]).astype(wanted), requires_grad)

    window.__name__ = window.__qualname__ = name
    FUNCTIONS[name] = window


def _kaiser(count: int, beta: float = 12.0) -> Any:
    return np.kaiser(count, beta)


_window("hann_window", np.hanning)
_window("hamming_window", np.hamming)
_window("blackman_window", np.blackman)
_window("bartlett_window", np.bartlett)
_window("kaiser_window", _kaiser)


# -- settings and questions -------------------------------------------------------------------------------


def get_default_device() -> device:
    """The CPU."""
    return device("cpu")


def set_default_device(wanted: Any) -> None:
    """Accepted for the CPU; RuntimeError for anything else."""
    device(wanted)


def set_default_tensor_type(t: Any) -> None:
    """Choose the dtype of Python floats by the name of a tensor type."""
    names = {
        "torch.FloatTensor": np.float32,
        "torch.DoubleTensor": np.float64,
        "torch.HalfTensor": np.float16,
    }
    found: Any = names[t] if isinstance(t, str) else t.numpy
    SETTINGS.default_dtype = np.dtype(found)


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted without effect: products are always of full precision."""


def get_float32_matmul_precision() -> str:
    """Always "highest"."""
    return "highest"


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off."""
    MODES.anomaly, MODES.check_nan = mode, check_nan
    MODES.settle()


def is_storage(x: Any) -> bool:
    """False: there are no storages here; `numpy()` is the memory."""
    return False


def to_dlpack(tensor: Tensor) -> Any:
    """The capsule that other libraries import."""
    return tensor_of(tensor).__dlpack__()


for _function in (
    unravel_index,
    gradient,
    get_default_device,
    set_default_device,
    set_default_tensor_type,
    set_float32_matmul_precision,
    get_float32_matmul_precision,
    set_anomaly_enabled,
    is_storage,
    to_dlpack,
):
    FUNCTIONS[_function.__name__] = _function


# -- random numbers in place ------------------------------------------------------------------------------


def _filler(name: str, draw: Callable[..., Any]) -> None:
    def filled(self: Tensor, *args: float, generator: Any = None) -> Tensor:
        require_writeable(self)
        own(self)[...] = draw(generator_of(generator), self._value.shape, *args)
        self._version_box[0] += 1
        return self

    filled.__name__ = filled.__qualname__ = name
    setattr(Tensor, name, filled)


def _geometric(rng: Any, shape: Any, p: float) -> Any:
    return rng.geometric(p, shape)


def _cauchy(rng: Any, shape: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    return median + sigma * rng.standard_cauchy(shape)


def _log_normal(rng: Any, shape: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    return rng.lognormal(mean, std, shape)


_filler("geometric_", _geometric)
_filler("cauchy_", _cauchy)
_filler("log_normal_", _log_normal)
