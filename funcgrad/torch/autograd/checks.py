"""`gradcheck` and `gradgradcheck`: gradients against finite differences."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.autograd import forward_ad
from funcgrad.torch.autograd.gradients import grad
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient that does not agree with finite differences."""

    __module__ = "funcgrad.torch.autograd.gradcheck"


def _tensors(x: Array) -> list[Tensor]:
    values = x if isinstance(x, tuple | list) else (x,)
    return [t for t in values if isinstance(t, Tensor)]


def _outputs(x: Array) -> list[Tensor]:
    return [t for t in _tensors(x) if t._value.dtype.kind in "fc" and t._rg]


_NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
    "different values, although analytical gradient matches numerical gradient.The tolerance for "
    "nondeterminism was {}."
)


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
    _check_options(rtol, atol, check_forward_ad or check_backward_ad)
    args = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    try:
        _check_inputs(args)
        wanted = [t for t in args if isinstance(t, Tensor) and t._rg]
        outputs = _outputs(func(*args))
        if not outputs:
            _check_constant(func, args, wanted, eps)
        if check_forward_ad:
            _check_forward(func, args, wanted, eps, {"rtol": rtol, "atol": atol})
        for number, out in enumerate(outputs if check_backward_ad else ()):
            for k, t in enumerate(wanted):
                numerical = _numerical(func, args, t, number, eps)
                analytical, again = _analytical(out, t), _analytical(out, t)
                if not np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {number} with respect to input {k},\n"
                        f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n"
                    )
                if not np.allclose(analytical, again, rtol=0.0, atol=nondet_tol, equal_nan=True):
                    raise GradcheckError(_NOT_REENTRANT.format(nondet_tol))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_options(rtol: float, atol: float, checks: bool) -> None:
    """Raise AssertionError where nothing is to be checked, RuntimeError for a negative tolerance."""
    if not checks:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")


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


def _check_forward(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    wanted: list[Tensor],
    eps: float,
    tolerances: dict[str, float],
) -> None:
    """Raise GradcheckError where tangents differ from differences along them."""
    for k, t in enumerate(wanted):
        flat = t.detach().numpy().reshape(-1)
        for place in range(flat.size):
            for one in (1, 1j) if flat.dtype.kind == "c" else (1,):
                tangent = np.zeros(flat.size, flat.dtype)
                tangent[place] = one
                found = _tangents(func, args, t, wrap(tangent.reshape(t._value.shape)))
                for number, analytical in enumerate(found):
                    value = functools.partial(_value, func, args, number)
                    numerical = _central(flat, place, flat[place], one * eps, value)
                    if not np.allclose(analytical, numerical, equal_nan=True, **tolerances):
                        raise GradcheckError(
                            f"Jacobian computed with forward mode mismatch for output {number} with respect "
                            f"to input {k},\nnumerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n"
                        )


def _tangents(func: Callable[..., Any], args: tuple[Any, ...], t: Tensor, tangent: Tensor) -> list[Any]:
    """The tangents of the differentiable results, flat."""
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(t, tangent)
        found = []
        for out in _tensors(func(*[dual if x is t else x for x in args])):
            part = forward_ad.unpack_dual(out).tangent if out._value.dtype.kind in "fc" else None
            zeros = np.zeros(out._value.size, out._value.dtype)
            found.append(zeros if part is None else np.asarray(part.detach()._value).reshape(-1))
    return found


def _value(func: Callable[..., Any], args: tuple[Any, ...], number: int) -> Anything:
    """One result as a flat array of its own."""
    return np.array(_tensors(func(*args))[number].detach()._value).reshape(-1)


def _analytical(out: Tensor, t: Tensor) -> Anything:
    """The Jacobian, a row for each input element, as PyTorch shows it."""
    jacobian = _jacobian(out, t, 1)
    if out._value.dtype.kind == "c" and t._value.dtype.kind != "c":
        return jacobian + 1j * _jacobian(out, t, 1j)
    return jacobian


def _jacobian(out: Tensor, t: Tensor, one: complex) -> Array:
    """The gradients for a cotangent of `one` at every element of the output."""
    columns = []
    for k in range(out._value.size):
        seed = np.zeros(out._value.size, out._value.dtype)
        seed[k] = one
        (g,) = grad(out, t, wrap(seed.reshape(out._value.shape)), retain_graph=True, allow_unused=True)
        found = np.zeros(t._value.shape, t._value.dtype) if g is None else g._value
        columns.append(np.asarray(found).reshape(-1))
    return np.stack(columns, 1) if columns else np.zeros((t._value.size, 0))


def _numerical(func: Callable[..., Any], args: tuple[Any, ...], t: Tensor, number: int, eps: float) -> Array:
    memory = t.detach().numpy()
    flat = memory.reshape(-1)

    def value() -> Anything:
        return _value(func, args, number)

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


def _central(flat: Array, k: int, before: Array, step: Array, value: Callable[[], Any]) -> Array:
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
        # Drawn as PyTorch draws them, so that what is drawn afterwards is the same as well.
        weights = [FUNCTIONS["rand_like"](o.detach()).mul_(2).sub_(1).requires_grad_() for o in outputs]
    else:
        weights = list(grad_outputs) if isinstance(grad_outputs, tuple | list) else [grad_outputs]
    count = len(args)

    def first(*values: Array) -> Operand:
        own, given = values[:count], values[count:]
        outs = _outputs(func(*own))
        wanted = [t for t in own if isinstance(t, Tensor) and t._rg]
        return grad(outs, wanted, given, create_graph=True, allow_unused=True, materialize_grads=True)

    options = {k: v for k, v in options.items() if k in ("eps", "atol", "rtol", "check_forward_ad")}
    return gradcheck(first, (*args, *weights), raise_exception=raise_exception, **options)
