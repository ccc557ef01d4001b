"""`gradcheck` and `gradgradcheck`: gradients against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.autograd.gradients import grad
from funcgrad.torch.core.operand import Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.types import Anything

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
    inputs: Operands,
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
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    args = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    try:
        _check_inputs(args)
        wanted = [t for t in args if isinstance(t, Tensor) and t._rg]
        outputs = _outputs(func(*args))
        if not outputs:
            _check_constant(func, args, wanted, eps)
        for number, out in enumerate(outputs):
            for k, t in enumerate(wanted):
                numerical = _numerical(func, args, t, number, eps)
                analytical = _analytical(out, t)
                if not np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {number} with respect to input {k},\n"
                        f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n"
                    )
                again = _analytical(out, t)
                if not np.allclose(analytical, again, rtol=0.0, atol=nondet_tol, equal_nan=True):
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output "
                        "multiple times gives different values, although analytical gradient matches "
                        f"numerical gradient.The tolerance for nondeterminism was {nondet_tol}."
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
    for k, t in enumerate(args):
        if not isinstance(t, Tensor) or not t._rg:
            continue
        if any(n > 1 and not stride for stride, n in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(
                f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if any(t._value.dtype.itemsize < 8 for t in wanted):
        warnings.warn(
            "Input #0 requires gradient and is not a double precision floating point or complex. This check "
            "will likely fail if all the inputs are not of double precision floating point or complex. ",
            UserWarning,
            stacklevel=3,
        )


def _check_constant(
    func: Callable[..., Any], args: tuple[Any, ...], wanted: list[Tensor], eps: float
) -> None:
    """Raise GradcheckError where a result without history depends on the inputs all the same."""
    for number, out in enumerate(_tensors(func(*args))):
        if out._value.dtype.kind in "fc" and any(
            np.any(_numerical(func, args, t, number, eps)) for t in wanted
        ):
            raise GradcheckError("Numerical gradient for function expected to be zero")


def _analytical(out: Tensor, t: Tensor) -> Any:
    """The Jacobian, a row for each input element, as PyTorch shows it."""
    jacobian = _jacobian(out, t, 1)
    if out._value.dtype.kind == "c" and t._value.dtype.kind != "c":
        return jacobian + 1j * _jacobian(out, t, 1j)
    return jacobian


def _jacobian(out: Tensor, t: Tensor, one: complex) -> Any:
    """The gradients for a cotangent of `one` at every element of the output."""
    columns = []
    for k in range(out._value.size):
        seed = np.zeros(out._value.size, out._value.dtype)
        seed[k] = one
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
    inputs: Operands,
    grad_outputs: Operands = None,
    *,
    raise_exception: bool = True,
    **options: Anything,
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
