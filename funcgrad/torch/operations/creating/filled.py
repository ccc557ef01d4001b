"""Making tensors that are filled, and ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.dtypes import complex_of, default_complex, number_in, numpy_dtype, weak_dtype
from funcgrad.torch.core.layout import laid_as
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor, method
from funcgrad.torch.operations.creating.data import array_from, device_like, finished, made_on, shape_of
from funcgrad.torch.operations.registry import FUNCTIONS, operation, published
from funcgrad.types import Anything, Array, ArrayLike, Device, DTypeLike, Number, ShapeLike


def _filler(name: str, make: Callable[..., Any]) -> None:
    def filled(
        *size: ShapeLike,
        dtype: DTypeLike = None,
        requires_grad: bool = False,
        out: Operand = None,
        **options: Anything,
    ) -> Operand:
        if "size" in options:
            size = (options.pop("size"),)
        elif not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
        value = made_on(options.get("device"), make, shape_of(size, name), wanted)
        made = finished(value, requires_grad, called=name, **options)
        if out is not None:
            out.resize_(made.shape)
            return out.copy_(made)
        return made

    def like(
        input: Tensor, *, dtype: DTypeLike = None, requires_grad: bool = False, **options: Anything
    ) -> Tensor:
        wanted = input._value.dtype if dtype is None else numpy_dtype(dtype)
        in_rows = getattr(options.pop("memory_format", None), "name", None) == "contiguous_format"
        options["device"] = device_like(input, options)
        made = made_on(options["device"], make, input._value.shape, wanted)
        made = made if in_rows else laid_as(made, input._value)
        return finished(made, requires_grad, called=f"{name}_like", **options)

    def new(
        self: Tensor,
        *size: ShapeLike,
        dtype: DTypeLike = None,
        requires_grad: bool = False,
        **options: Anything,
    ) -> Tensor:
        if "size" in options:
            size = (options.pop("size"),)
        wanted = self._value.dtype if dtype is None else numpy_dtype(dtype)
        options["device"] = device_like(self, options)
        made = made_on(options["device"], make, shape_of(size), wanted)
        return finished(made, requires_grad, called=f"new_{name}", **options)

    for f, title in ((filled, name), (like, f"{name}_like"), (new, f"new_{name}")):
        f.__name__ = f.__qualname__ = title
    filled.__doc__ = f"A new tensor of `{name}`."
    FUNCTIONS[name], FUNCTIONS[f"{name}_like"] = filled, like
    setattr(Tensor, f"new_{name}", new)


_filler("zeros", np.zeros)
_filler("ones", np.ones)
# Memory that is not cleared would make results depend on what ran before.
_filler("empty", np.zeros)


def _full_dtype(fill: Operand, dtype: DTypeLike) -> Anything:
    if dtype is not None:
        return numpy_dtype(dtype)
    if isinstance(fill, Tensor) and fill._value.dtype.kind == "f":
        return SETTINGS.default_dtype
    return fill._value.dtype if isinstance(fill, Tensor) else weak_dtype(fill)


def full(
    size: ShapeLike,
    fill_value: Number,
    *,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: Anything,
) -> Tensor:
    """A new tensor of one number."""
    value = fill_value._value if isinstance(fill_value, Tensor) else fill_value
    if value is None or isinstance(value, str | list | tuple):
        raise TypeError(
            f"full(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}"
        )
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    shape = shape_of((size,), "full")
    number = number_in(value, _full_dtype(fill_value, dtype))
    found = made_on(options.get("device"), lambda shape, dtype: np.full(shape, number), shape, number.dtype)
    return finished(found, requires_grad, called="full", **options)


def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: Anything,
) -> Tensor:
    """A new tensor of one number in the shape of another."""
    options.pop("memory_format", None)
    wanted = input._value.dtype if dtype is None else numpy_dtype(dtype)
    value = fill_value._value if isinstance(fill_value, Tensor) else fill_value
    options["device"], number = device_like(input, options), number_in(value, wanted)
    shape = input._value.shape
    found = made_on(options["device"], lambda shape, dtype: np.full(shape, number), shape, wanted)
    return finished(laid_as(found, input._value), requires_grad, called="full_like", **options)


FUNCTIONS["full"], FUNCTIONS["full_like"] = full, full_like


@method()
def new_full(
    self: Tensor, size: ShapeLike, fill_value: Number, *, dtype: DTypeLike = None, **options: Anything
) -> Tensor:
    """A new tensor of one number, with this tensor's dtype."""
    options["device"] = device_like(self, options)
    return full(size, fill_value, dtype=self.dtype if dtype is None else dtype, **options)


@method()
def new_tensor(
    self: Tensor,
    data: ArrayLike,
    *,
    dtype: DTypeLike = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """A new tensor of the data, with this tensor's dtype."""
    wanted = self._value.dtype if dtype is None else numpy_dtype(dtype)
    return finished(array_from(data, wanted), requires_grad, device_like(self, {"device": device}))


@published()
def eye(
    n: int, m: int | None = None, *, dtype: DTypeLike = None, requires_grad: bool = False, **options: Anything
) -> Tensor:
    """The identity matrix."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    shape = n, n if m is None else m
    found = made_on(options.get("device"), lambda shape, dtype: np.eye(*shape, dtype=dtype), shape, wanted)
    return finished(found, requires_grad, called="eye", **options)


def _item(x: Array) -> Array:
    return x.item() if isinstance(x, Tensor | np.generic) else x


@published()
def arange(
    start: Number,
    end: Number = None,
    step: Number = 1,
    *,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: Anything,
) -> Tensor:
    """Numbers from `start` to before `end`."""
    if end is None:
        start, end = 0, start
    start, end, step = _item(start), _item(end), _item(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) / step < 0 and start != end:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(x, int) for x in (start, end, step))
    wanted = (
        numpy_dtype(dtype) if dtype is not None else np.dtype(np.int64) if whole else SETTINGS.default_dtype
    )
    if wanted == np.int64 and not whole:
        # As in PyTorch, numbers become integers before they are counted.
        start, end, step, whole = int(start), int(end), int(step), True
    if whole:
        value = np.arange(start, end, step).astype(wanted)
    else:
        count = max(int(np.ceil((end - start) / step)), 0)
        value = (start + np.arange(count) * step).astype(wanted)
    return finished(value, requires_grad, called="arange", **options)


def linspace(
    start: Number,
    end: Number,
    steps: int,
    *,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: Anything,
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    start, end = _item(start), _item(end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    plain = (
        default_complex()
        if isinstance(start, complex) or isinstance(end, complex)
        else SETTINGS.default_dtype
    )
    wanted = plain if dtype is None else numpy_dtype(dtype)
    if wanted.kind in "iu":
        value = _whole_steps(int(start), int(end), steps).astype(wanted)
    else:
        value = np.linspace(start, end, steps, dtype=np.promote_types(wanted, np.float64)).astype(wanted)
    return finished(value, requires_grad, called="linspace", **options)


def _whole_steps(start: int, end: int, steps: int) -> Array:
    """Steps between integers, counted from the nearer end as PyTorch's are."""
    if steps == 1:
        return np.full(1, start)
    step = (end - start) / max(steps - 1, 1)
    k = np.arange(steps)
    return np.trunc(np.where(k < steps // 2, start + step * k, end - step * (steps - 1 - k)))


def logspace(
    start: Number,
    end: Number,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: Anything,
) -> Tensor:
    """Powers of `base` with exponents at equal distances."""
    wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
    start, end = _item(start), _item(end)
    if wanted.kind in "iu":
        start, end = int(start), int(end)
    value = np.logspace(start, end, steps, base=base).astype(wanted)
    return finished(value, requires_grad, called="logspace", **options)


FUNCTIONS["linspace"], FUNCTIONS["logspace"] = linspace, logspace


def indices_of_triangle(make: Callable[..., Any]) -> Callable[..., Any]:
    """``tril_indices`` or ``triu_indices``."""

    def indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = None, **rest: Anything) -> Tensor:
        for name, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{name} must be non-negative, got{n}")
        found = np.array(make(row, offset, col), np.int64 if dtype is None else numpy_dtype(dtype))
        return finished(found, **rest)

    return indices


FUNCTIONS["tril_indices"] = indices_of_triangle(np.tril_indices)
FUNCTIONS["triu_indices"] = indices_of_triangle(np.triu_indices)


@op("ComplexBackward0", input_names=("real", "imag"))
def _complex(x: Array, y: Array) -> Array:
    return (x + 1j * y).astype(complex_of(x.dtype))


@published("complex")
def complex_tensor(real: Tensor, imag: Tensor) -> Tensor:
    """The complex tensor of these real and imaginary parts."""
    if real._value.dtype != imag._value.dtype:
        first, second = str(real.type())[6:-6], str(imag.type())[6:-6]
        if real._value.dtype.kind == imag._value.dtype.kind == "f":
            raise RuntimeError(
                f"Expected object of scalar type {first} but got scalar type {second} for second argument"
            )
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {first} and {second}"
        )
    return apply(_complex, (real, imag))  # type: ignore[no-any-return]


@op("PolarBackward0", input_names=("abs", "angle"))
def _polar(size: Array, angle: Array) -> Array:
    return (size * np.cos(angle) + 1j * (size * np.sin(angle))).astype(complex_of(size.dtype))


@operation(method=False)
def polar(abs: Tensor, angle: Tensor) -> Operand:
    """The complex tensor of these absolute values and angles."""
    return apply(_polar, (abs, angle))
