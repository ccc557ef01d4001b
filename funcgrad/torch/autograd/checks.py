"""`gradcheck` and `gradgradcheck`: gradients against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.autograd.gradients import grad
from funcgrad.torch.core.tensor import Tensor, wrap

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient that does not agree with finite differences."""

    __module__ = "funcgrad.torch.autograd.gradcheck"


def _tensors(x: Any) -> list[Tensor]:
    values = x if isinstance(x, tuple | list) else (x,)
    return [t for t in values if isinstance(t, Tensor)]


def _outputs(x: Any) -> list[Tensor]:
    return [t for t in _tensors(x) if t._value.dtype.kind in "fc" and t._rg]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of `func` agree with finite differences at `inputs`.

    Raises GradcheckError where they do not, unless `raise_exception` is False.
    """
    args = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    try:
        _check_inputs(args)
        wanted = [t for t in args if isinstance(t, Tensor) and t._rg]
        outputs = _outputs(func(*args))
        for number, out in enumerate(outputs):
            for k, t in enumerate(wanted):
                numerical = _numerical(func, args, t, number, eps)
                analytical = _analytical(out, t)
                if not np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {number} with respect to input {k},\n"
                        f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n"
                    )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(args: tuple[Any, ...]) -> None:
    wanted = [t for t in args if isinstance(t, Tensor) and t._rg]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )
    if any(t._value.dtype.itemsize < 8 for t in wanted):
        warnings.warn(
            "Input #0 requires gradient and is not a double precision floating point or complex. This check "
            "will likely fail if all the inputs are not of double precision floating point or complex. ",
            UserWarning,
            stacklevel=3,
        )


def _analytical(out: Tensor, t: Tensor) -> Any:
    """The Jacobian, a row for each input element, as PyTorch shows it."""
    columns = []
    for k in range(out._value.size):
        seed = np.zeros(out._value.size, out._value.dtype)
        seed[k] = 1
        (g,) = grad(out, t, wrap(seed.reshape(out._value.shape)), retain_graph=True, allow_unused=True)
        found = np.zeros(t._value.shape, t._value.dtype) if g is None else g._value
        columns.append(np.asarray(found).reshape(-1))
    return np.stack(columns, 1) if columns else np.zeros((t._value.size, 0))


def _numerical(func: Callable[..., Any], args: tuple[Any, ...], t: Tensor, number: int, eps: float) -> Any:
    memory = t.detach().numpy()
    flat = memory.reshape(-1)

    def value() -> Any:
        out = _tensors(func(*args))[number]
        return np.array(out.detach()._value).reshape(-1)

    rows = []
    for k in range(flat.size):
        before = flat[k]
        step = _central(flat, k, before, eps, value)
        if flat.dtype.kind == "c":
            # The gradient of the real part: its derivatives by real and imaginary part.
            across = _central(flat, k, before, 1j * eps, value)
            step = step.real + 1j * across.real
        rows.append(step)
    return np.stack(rows, 0)


def _central(flat: Any, k: int, before: Any, step: Any, value: Callable[[], Any]) -> Any:
    flat[k] = before + step
    above = value()
    flat[k] = before - step
    below = value()
    flat[k] = before
    return (above - below) / (2 * abs(step))


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    raise_exception: bool = True,
    **options: Any,
) -> bool:
    """Whether the second derivatives of `func` agree with finite differences of the first."""
    args = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    outputs = _outputs(func(*args))
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        weights = [
            wrap(rng.normal(size=o._value.shape).astype(o._value.dtype)).requires_grad_() for o in outputs
        ]
    else:
        weights = list(grad_outputs) if isinstance(grad_outputs, tuple | list) else [grad_outputs]
    count = len(args)

    def first(*values: Any) -> Any:
        own, given = values[:count], values[count:]
        outs = _outputs(func(*own))
        wanted = [t for t in own if isinstance(t, Tensor) and t._rg]
        return grad(outs, wanted, given, create_graph=True, allow_unused=True, materialize_grads=True)

    options = {k: v for k, v in options.items() if k in ("eps", "atol", "rtol")}
    return gradcheck(first, (*args, *weights), raise_exception=raise_exception, **options)
