"""Whole derivatives of functions of tensors: `jacobian`, `hessian` and products with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.autograd.gradients import grad
from funcgrad.torch.core.backward.grad_mode import enable_grad
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Array

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(x: Array, where: str, function: str) -> tuple[bool, tuple[Any, ...]]:
    is_tuple = isinstance(x, tuple)
    found = x if is_tuple else (x,)
    for k, t in enumerate(found):
        if not isinstance(t, Tensor):
            if is_tuple:
                raise TypeError(
                    f"The {where} given to {function} must be either a Tensor or a tuple of Tensors but the "
                    f"value at index {k} has type {type(t)}."
                )
            raise TypeError(
                f"The {where} given to {function} must be either a Tensor or a tuple of Tensors but the "
                f"given {where} has type {type(t)}."
            )
    return is_tuple, tuple(found)


def _prepared(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Inputs of their own for the function: connected to the given ones only where a graph is wanted."""
    if create_graph:
        return tuple([t.view_as(t) if t._rg else t.detach().requires_grad_() for t in inputs])
    return tuple([t.detach().requires_grad_() for t in inputs])


def _outputs_of(func: Callable[..., Any], inputs: tuple[Any, ...], name: str) -> tuple[bool, tuple[Any, ...]]:
    return _tuple(func(*inputs), "outputs of the user-provided function", name)


def _zeros(t: Tensor) -> Tensor:
    return wrap(np.zeros(t._value.shape, t._value.dtype))


def _gradients(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], given: Array, create: bool, strict: bool, name: str
) -> tuple[Any, ...]:
    wanted = [(o, g) for o, g in zip(outputs, given, strict=True) if o._rg]
    if not wanted:
        found: tuple[Any, ...] = (None,) * len(inputs)
    else:
        found = grad(
            [o for o, _ in wanted],
            inputs,
            [g for _, g in wanted],
            create_graph=create,
            retain_graph=True,
            allow_unused=True,
        )
    if strict and not wanted:
        raise RuntimeError(
            "Output 0 of the user-provided function does not require gradients. The outputs must be "
            "computed in a differentiable manner from the input when running in strict mode."
        )
    if strict and any(g is None for g in found):
        k = next(k for k, g in enumerate(found) if g is None)
        which = "The output" if name == "vjp" else "Output 0"
        raise RuntimeError(
            f"{which} of the user-provided function is independent of input {k}. This is not allowed in "
            "strict mode."
        )
    return tuple([_zeros(t) if g is None else g for g, t in zip(found, inputs, strict=True)])


def _released(found: Array, create_graph: bool) -> Operands:
    if isinstance(found, tuple):
        return tuple([_released(x, create_graph) for x in found])
    return found if create_graph else found.detach()


def _unwrapped(found: tuple[Any, ...], is_tuple: bool) -> Operands:
    return found if is_tuple else found[0]


def _check_v(v: Array, like: tuple[Any, ...], is_tuple: bool) -> tuple[Any, ...]:
    given = v if isinstance(v, tuple) else (v,)
    if len(given) != len(like):
        if is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for k, (x, t) in enumerate(zip(given, like, strict=True)):
        if x._value.shape != t._value.shape:
            prefix = f"Entry {k} in " if is_tuple else ""
            raise RuntimeError(f"{prefix}v has invalid size: should be {t.size()} but got {x.size()}.")
    return tuple(given)


def vjp(
    func: Callable[..., Any],
    inputs: Operands,
    v: Operand = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func` and the product of `v` with its Jacobian."""
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "vjp")
        own = _prepared(given, create_graph)
        outs_tuple, outs = _outputs_of(func, own, "vjp")
        if v is not None:
            vectors = _check_v(v, outs, outs_tuple)
        elif len(outs) != 1 or outs[0]._value.size != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
        else:
            vectors = (wrap(np.ones(outs[0]._value.shape, outs[0]._value.dtype)),)
        found = _gradients(outs, own, vectors, create_graph, strict, "vjp")
    return (
        _unwrapped(_released(outs, create_graph), outs_tuple),
        _unwrapped(_released(found, create_graph), is_tuple),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Operands,
    v: Operand = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func` and the product of its Jacobian with `v`: a pullback, pulled back."""
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "jvp")
        own = _prepared(given, create_graph)
        if v is not None:
            vectors = _check_v(v, own, is_tuple)
        elif len(own) != 1 or own[0]._value.size != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor "
                "with a single element."
            )
        else:
            vectors = (wrap(np.ones(own[0]._value.shape, own[0]._value.dtype)),)
        outs_tuple, outs = _outputs_of(func, own, "jvp")
        weights = tuple([_zeros(o).requires_grad_() for o in outs])
        pulled = _gradients(outs, own, weights, True, strict, "jvp")
        found = _gradients(pulled, weights, vectors, create_graph, False, "jvp")
    return (
        _unwrapped(_released(outs, create_graph), outs_tuple),
        _unwrapped(_released(found, create_graph), outs_tuple),
    )


_INDEPENDENT = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {} is independent of the input. This is not allowed in strict mode. You should ensure that your "
    "function is twice differentiable and that the jacobian depends on the inputs (this would be violated by "
    "a linear function for example)."
)
_CONSTANT = (
    "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict "
    "mode when create_graph=True."
)


def _dependent(first: tuple[Any, ...], strict: bool, words: str) -> tuple[Any, ...]:
    """Derivatives; RuntimeError for one that does not depend on the inputs, where that is asked for."""
    for k, g in enumerate(first):
        if strict and not g._rg:
            raise RuntimeError(words.format(k))
    return first


_STRATEGY = (
    'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more '
    'outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
    '"reverse-mode".'
)


def _row_of_jacobian(
    out: Tensor, own: tuple[Tensor, ...], create_graph: bool, strict: bool
) -> tuple[Tensor, ...]:
    """The derivatives of one output by each input."""
    shape = out._value.shape
    parts: list[list[Tensor]] = [[] for _ in own]
    for k in range(out._value.size):
        seed = np.zeros(out._value.size, out._value.dtype)
        seed[k] = 1
        found = _gradients((out,), own, (wrap(seed.reshape(shape)),), create_graph, strict, "jacobian")
        found = _dependent(found, strict and create_graph, _CONSTANT)
        for part, g in zip(parts, found, strict=True):
            part.append(g)
    sizes = [(*shape, *t._value.shape) for t in own]
    return tuple(
        [
            FUNCTIONS["stack"](part).reshape(size) if part else wrap(np.zeros(size, out._value.dtype))
            for part, size in zip(parts, sizes, strict=True)
        ]
    )


def jacobian(
    func: Callable[..., Any],
    inputs: Operands,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Operands:
    """All derivatives of the outputs of `func` with respect to its inputs, a row for each output element."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(_STRATEGY)
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "jacobian")
        own = _prepared(given, create_graph)
        outs_tuple, outs = _outputs_of(func, own, "jacobian")
        if strict and vectorize:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                "together. Please either set `strict=False` or `vectorize=False`."
            )
        rows = [_row_of_jacobian(out, own, create_graph, strict) for out in outs]
    rows = [_released(row, create_graph) for row in rows]
    if outs_tuple:
        return tuple(rows) if is_tuple else tuple([row[0] for row in rows])
    return rows[0] if is_tuple else rows[0][0]


def _scalar(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    def checked(*args: Operand) -> Operands:
        out = func(*args)
        is_tuple, outs = _tuple(out, "outputs of the user-provided function", name)
        if is_tuple:
            raise RuntimeError(f"The function given to {name} should return a single Tensor")
        if outs[0]._value.size != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {name} should contain a single element"
            )
        return outs[0].squeeze()

    return checked


def hessian(
    func: Callable[..., Any],
    inputs: Operands,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Operands:
    """The second derivatives of a scalar function."""
    is_tuple, given = _tuple(inputs, "inputs", "hessian")
    single = _scalar(func, "hessian")

    def first(*args: Operand) -> Operands:
        return _dependent(
            _gradients((single(*args),), args, (None,), True, strict, "jacobian"), strict, _INDEPENDENT
        )

    found = jacobian(first, given, create_graph=create_graph, strict=strict, vectorize=vectorize)
    return found if is_tuple else found[0][0]


def vhp(
    func: Callable[..., Any],
    inputs: Operands,
    v: Operand = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a scalar function and the product of `v` with its Hessian."""
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "vhp")
        own = _prepared(given, create_graph)
        vectors = _vectors(v, own, is_tuple)
        out = _scalar(func, "vhp")(*own)
        first = _dependent(_gradients((out,), own, (None,), True, strict, "vhp"), strict, _INDEPENDENT)
        found = _gradients(first, own, vectors, create_graph, strict, "vhp")
    return _released(out, create_graph), _unwrapped(_released(found, create_graph), is_tuple)


def _vectors(v: Array, own: tuple[Any, ...], is_tuple: bool) -> tuple[Any, ...]:
    if v is not None:
        return _check_v(v, own, is_tuple)
    if len(own) != 1 or own[0]._value.size != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor "
            "with a single element."
        )
    return (wrap(np.ones(own[0]._value.shape, own[0]._value.dtype)),)


def hvp(
    func: Callable[..., Any],
    inputs: Operands,
    v: Operand = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a scalar function and the product of its Hessian with `v`."""
    # The Hessian is symmetric, and a second pullback is cheaper than a pushforward.
    return vhp(func, inputs, v, create_graph, strict)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
