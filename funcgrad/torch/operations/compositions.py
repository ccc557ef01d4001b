"""Functions that are compositions of others: copies of views, old norms, short-time spectra, histograms."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.inplace import in_place, require_no_history
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, method, wrap
from funcgrad.torch.operations.creating.data import shape_of
from funcgrad.torch.operations.creating.random import generator_of
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published, take_out, with_out
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything, Array, ArrayLike, AxisLike, Device, DTypeLike, Number, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.operations.creating.random import Generator

__all__: list[str] = []


def _late(module: str, name: str) -> Anything:
    return getattr(import_module(f"funcgrad.torch.{module}"), name)


# -- under other names ------------------------------------------------------------------------------------


def _changing(name: str) -> None:
    """``name_``: the function of `nn.functional`, in place."""

    def function(input: Tensor, *args: Operand, **kwargs: Anything) -> Operand:
        return _late("nn.functional", name)(input, *args, **kwargs)

    FUNCTIONS[f"{name}_"] = in_place(function, f"{name}_")


for _name in ("alpha_dropout", "celu", "dropout", "feature_alpha_dropout", "rrelu", "selu", "threshold"):
    _changing(_name)


def _method_of_functional(name: str) -> None:
    def method(self: Tensor, *args: Operand, **kwargs: Anything) -> Operand:
        return _late("nn.functional", name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    setattr(Tensor, name, method)


for _name in ("hardshrink", "prelu"):
    _method_of_functional(_name)


@published()
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Operand:
    """`conv1d` of signals laid as time, batch, channel; the weight as time, channel in, channel out."""
    for name, t in (("Input", input), ("Weight", weight)):
        if len(t._value.shape) != 3:
            raise RuntimeError(f"{name} must have 3 dims: time, batch, in_channel")
    if len(bias._value.shape) != 1:
        raise RuntimeError("Bias must be 1-D")
    x, kernel = input.permute(1, 2, 0), weight.permute(2, 1, 0)
    return _late("nn.functional", "conv1d")(x, kernel, bias, padding=pad).permute(2, 0, 1)


@published()
def max_pool1d_with_indices(input: Tensor, *args: Operand, **kwargs: Anything) -> Operands:
    """`max_pool1d`, and where the greatest elements stand."""
    return _late("nn.functional", "max_pool1d")(input, *args, return_indices=True, **kwargs)


@published()
def empty_permuted(size: ShapeLike, physical_layout: ShapeLike, **options: Anything) -> Tensor:
    """A new tensor of zeros whose dimensions lie in this order in memory."""
    order = tuple(physical_layout)
    made = FUNCTIONS["empty"](tuple([size[k] for k in order]), **options)
    return made.permute([order.index(k) for k in range(len(order))])  # type: ignore[no-any-return]


@published("feature_dropout")
def _feature_dropout(input: Tensor, p: float, train: bool) -> Operand:
    """Whole channels set to zero."""
    shape = (*input._value.shape[:2], *[1] * (len(input._value.shape) - 2))
    kept = FUNCTIONS["bernoulli"](FUNCTIONS["empty"](shape, dtype=input.dtype), 1.0 - p)
    return input * kept / (1.0 - p) if train and p else input.clone()


FUNCTIONS["feature_dropout_"] = in_place(_feature_dropout, "feature_dropout_")
FUNCTIONS["conj_physical_"] = in_place(FUNCTIONS["conj_physical"], "conj_physical_")
for _name in ("conj_physical", "polygamma"):
    setattr(Tensor, f"{_name}_", in_place(getattr(Tensor, _name), f"{_name}_"))


def _copied(part: Callable[..., Any]) -> Callable[..., Any]:
    def function(input: Tensor, *args: Operand, **kwargs: Anything) -> Operand:
        found = part(input, *args, **kwargs)
        return tuple([t.clone() for t in found]) if isinstance(found, tuple | list) else found.clone()

    return function


def _sliced(input: Tensor, dim: int = 0, start: Array = None, end: Array = None, step: int = 1) -> Operand:
    return input[(*[slice(None)] * (dim % len(input._value.shape)), slice(start, end, step))]


for _name, _part in (
    ("alias_copy", lambda t: t[...]),
    ("detach_copy", lambda t: t.detach()),
    ("slice_copy", _sliced),
    ("split_with_sizes_copy", lambda t, sizes, dim=0: t.split(sizes, dim)),
    ("view_as_complex_copy", FUNCTIONS["view_as_complex"]),
    ("view_as_real_copy", FUNCTIONS["view_as_real"]),
):
    FUNCTIONS[_name] = with_out(_copied(_part), _name)


@operation(method=False)
def frobenius_norm(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
    """The root of the sum of the squares of all elements, or along dimensions."""
    return FUNCTIONS["norm"](input, 2, dim, keepdim)


@operation(method=False)
def nuclear_norm(input: Tensor, dim: AxisLike = None, keepdim: bool = False) -> Operand:
    """The sum of the singular values."""
    axes = (-2, -1) if dim is None else tuple(dim)
    return _late("linalg", "matrix_norm")(input, "nuc", axes, keepdim)


@operation(method=False)
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Operand:
    """The norm over all dimensions but one, which stays."""
    axes = [k for k in range(len(v._value.shape)) if k != dim]
    if not axes:
        return abs(v)
    return FUNCTIONS["norm"](v, pow, axes, True) if dim != -1 else FUNCTIONS["norm"](v, pow)


@operation("cholesky_inverse")
def cholesky_inverse(L: Tensor, upper: bool = False) -> Operand:
    """The inverse of a matrix, from its Cholesky factor."""
    one = FUNCTIONS["eye"](L._value.shape[-1], dtype=L.dtype).expand(L._value.shape)
    return FUNCTIONS["cholesky_solve"](one, L, upper)


setattr(Tensor, "cholesky_solve", FUNCTIONS["cholesky_solve"])  # noqa: B010 - a name among many


@operation(method=False)
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws of binomial variables."""
    n, p = np.broadcast_arrays(count._value.astype(np.float64), prob._value.astype(np.float64))
    return wrap(generator_of(generator).binomial(n, p).astype(count._value.dtype))


@operation()
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The places of the first `size` elements that are not zero; what is left over is `fill_value`."""
    places = np.argwhere(input._value)[:size]
    found = np.full((size, places.shape[1]), fill_value, np.int64)
    found[: len(places)] = places
    return wrap(found)


@operation()
def histogram(
    input: Tensor,
    bins: ArrayLike,
    *,
    range: ArrayLike = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Operands:
    """Counts (or sums of weights) between edges, and the edges."""
    value = input._value.reshape(-1)
    edges = bins._value if isinstance(bins, Tensor) else int(bins)
    weights = None if weight is None else weight._value.reshape(-1)
    counts, found = np.histogram(value, edges, range, weights=weights, density=density)
    return named("histogram", "hist bin_edges")(
        wrap(counts.astype(value.dtype)), wrap(np.asarray(found, value.dtype))
    )


# -- short-time spectra -----------------------------------------------------------------------------------


def _window_of(window: ShapeLike, length: int, n_fft: int, dtype: DTypeLike) -> Operand:
    found = FUNCTIONS["ones"](length, dtype=dtype) if window is None else window
    before = (n_fft - length) // 2
    return _late("nn.functional", "pad")(found, (before, n_fft - length - before))


@operation()
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: object = None,
) -> Operand:
    """The spectra of windows that move along a signal: (frequencies, frames)."""
    if return_complex is None and input._value.dtype.kind != "c":
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require "
            "that return_complex=True in a future PyTorch release."
        )
    is_complex = return_complex or input._value.dtype.kind == "c"
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    single = len(input._value.shape) == 1
    x = input.unsqueeze(0) if single else input
    if center:
        half = n_fft // 2
        x = _late("nn.functional", "pad")(x.unsqueeze(1), (half, half), pad_mode).squeeze(1)
    frames = x.unfold(-1, n_fft, hop) * _window_of(window, length, n_fft, input.dtype)
    half_only = input._value.dtype.kind != "c" if onesided is None else onesided
    found = _late("fft", "rfft" if half_only else "fft")(frames, dim=-1, norm="ortho" if normalized else None)
    found = found.transpose(-2, -1)
    found = found.squeeze(0) if single else found
    return FUNCTIONS["view_as_real"](found) if return_complex is False or not is_complex else found


@operation()
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Operand:
    """The signal of the spectra that `stft` finds: the least squares of the overlapping windows."""
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    single = len(input._value.shape) == 2
    x = input.unsqueeze(0) if single else input
    half_only = (input._value.shape[-2] != n_fft) if onesided is None else onesided
    norm = "ortho" if normalized else None
    spectra = x.transpose(-2, -1)
    if return_complex:
        frames = _late("fft", "ifft")(spectra, dim=-1, norm=norm)
    else:
        half = spectra if half_only else spectra[..., : n_fft // 2 + 1]
        frames = _late("fft", "irfft")(half, n_fft, dim=-1, norm=norm)
    kind = window.dtype if window is not None else frames.dtype
    w = _window_of(window, size, n_fft, kind)
    count = frames._value.shape[1]
    total = n_fft + hop * (count - 1)
    places = wrap((np.arange(count)[:, None] * hop + np.arange(n_fft)).reshape(-1))
    summed = frames.new_zeros((frames._value.shape[0], total))
    summed = summed.index_add(1, places, (frames * w).reshape(frames._value.shape[0], -1))
    weights = w.new_zeros(total).index_add(0, places, (w * w).expand(count, n_fft).reshape(-1))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else (total - start if center else total)
    stop = min(end, total)
    if float(weights.detach()[start:stop].abs().min()) < 1e-11:
        raise RuntimeError(
            "istft: window overlap add min is too small: the signal cannot be found from the windows"
        )
    found = summed[:, start:stop] / weights[start:stop]
    if end > total:
        found = _late("nn.functional", "pad")(found, (0, end - total))
    return found.squeeze(0) if single else found


@operation(inplace=True)
def mvlgamma(input: Tensor, p: int) -> Operand:
    """The logarithm of the multivariate gamma function."""
    return _late("special", "multigammaln")(input, p)


# -- small factors ----------------------------------------------------------------------------------------


@operation("svd_lowrank", method=False)
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, ...]:
    """The largest `q` singular values with their vectors; computed from the whole decomposition."""
    u, s, vh = _late("linalg", "svd")(A if M is None else A - M, False)
    return u[..., :q], s[..., :q], vh.mH[..., :q]


@operation("pca_lowrank", method=False)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, ...]:
    """The principal components of rows."""
    q = min(6, *A._value.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q)


# -- questions and odd methods ----------------------------------------------------------------------------


def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same memory, in the same shape."""
    a, b = self._value, tensor._value
    return bool(
        a is b or (a.shape == b.shape and a.strides == b.strides and self.data_ptr() == tensor.data_ptr())
    )


def _map(self: Tensor, *others: Operand) -> Operand:
    """Replace every element by what a function makes of it and of others' elements."""
    *tensors, function = others
    for t in (self, *tensors):
        require_no_history(t, "map2_" if len(tensors) > 1 else "map_")
    spread = np.broadcast_arrays(self._value, *[t._value for t in tensors])
    values = [
        function(*[x.item() for x in row]) for row in zip(*[s.reshape(-1) for s in spread], strict=True)
    ]
    return self.copy_(wrap(np.asarray(values, self._value.dtype).reshape(self._value.shape)))


def _dim_order(self: Tensor, **options: Anything) -> tuple[int, ...]:
    """The dimensions by how far apart their elements lie."""
    return tuple(np.argsort([-s for s in self._value.strides], kind="stable").tolist())


def _as_subclass(self: Tensor, cls: type) -> Operand:
    """The same memory and history, as an instance of a subclass."""
    if not issubclass(cls, Tensor):
        raise TypeError(f"cls must be a subclass of Tensor, got {cls.__name__}")
    found = object.__new__(cls)
    found.__dict__.update(self[...].__dict__)
    return found


def _to_dense(self: Tensor, dtype: DTypeLike = None, **options: Anything) -> Operand:
    """The tensor itself: all are dense."""
    return self if dtype is None else self.to(dtype)


def _is_false(self: Tensor, *args: Operand) -> bool:
    """False: there is no page-locked or shared memory here."""
    return False


def _new_empty_strided(
    self: Tensor, size: ShapeLike, stride: ShapeLike, dtype: DTypeLike = None, **options: Anything
) -> Operand:
    """A new tensor of the dtype of this one."""
    return FUNCTIONS["empty_strided"](size, stride, dtype=dtype or self.dtype, **options)


for _name, _function in {
    "as_subclass": _as_subclass,
    "dim_order": _dim_order,
    "is_pinned": _is_false,
    "is_set_to": _is_set_to,
    "is_shared": _is_false,
    "map2_": _map,
    "map_": _map,
    "new_empty_strided": _new_empty_strided,
    "to_dense": _to_dense,
}.items():
    setattr(Tensor, _name, _function)


def _autocast_off(device_type: Device = None) -> bool:
    """False: numbers stay in the dtype that they have."""
    return False


for _name in ("is_autocast_enabled", "is_autocast_cpu_enabled", "is_autocast_cache_enabled"):
    FUNCTIONS[_name] = _autocast_off


@published()
def set_flush_denormal(mode: bool) -> bool:
    """False: NumPy's treatment of denormal numbers is not changed."""
    return False


@op("RenormBackward0")
def _renorm(x: Array, p: float, axis: int, most: float) -> Array:
    moved = np.moveaxis(x, axis, 0)
    size = np.linalg.norm(np.reshape(moved, (moved.shape[0], -1)), p, axis=1)
    scale = np.where(size > most, most / (size + 1e-7), np.ones((), x.dtype))
    shape = [1] * x.ndim
    shape[axis] = -1
    return x * np.reshape(scale, shape)


@operation(inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Operand:
    """Parts along a dimension scaled down to a largest norm."""
    return apply(_renorm, (input,), (float(p), dim_of(dim, len(input._value.shape)), float(maxnorm)))


def _function_of(name: str) -> None:
    def function(input: Tensor, *args: Operand, **kwargs: Anything) -> Operand:
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    FUNCTIONS[name] = function


for _name in ("detach", "detach_", "zero_", "fill_", "get_device", "is_same_size", "resize_as_"):
    _function_of(_name)


@published()
def fill(input: Tensor, value: Number) -> Tensor:
    """A tensor like `input` of one number."""
    return input.clone().fill_(value)


@method()
def sum_to_size(self: Tensor, *size: ShapeLike) -> Tensor:
    """The sum over what a smaller shape would be broadcast by."""
    shape = shape_of(size)
    lead = len(self._value.shape) - len(shape)
    dims = [*range(lead)]
    dims += [k + lead for k, n in enumerate(shape) if n == 1 and self._value.shape[k + lead] != 1]
    found = self.sum(dims, keepdim=True) if dims or self._value.dtype.kind == "b" else self
    return found if found._value.shape == tuple(shape) else found.reshape(shape)


_OF_NUMBERS = ("arange", "complex", "eye", "full", "linspace", "logspace", "range")
_OF_CHANCE = ("bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm")
take_out(FUNCTIONS, (*_OF_NUMBERS, *_OF_CHANCE, "isin", "true_divide"))
