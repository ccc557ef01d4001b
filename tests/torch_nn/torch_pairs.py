"""The same call in funcgrad.torch and in PyTorch: values, gradients, names of nodes and errors compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad.torch as ours


def arrays_in(module: Any, values: Any, grad: bool = True) -> Any:
    """Arrays as tensors of a module; floating-point ones require grad."""
    if isinstance(values, np.ndarray):
        return module.tensor(values, requires_grad=grad and values.dtype.kind == "f")
    if isinstance(values, tuple | list):
        return type(values)([arrays_in(module, v, grad) for v in values])
    if isinstance(values, dict):
        return {k: arrays_in(module, v, grad) for k, v in values.items()}
    return values


def leaves_of(values: Any) -> list[Any]:
    """The tensors in nested tuples, lists and dictionaries."""
    if isinstance(values, tuple | list):
        return [leaf for v in values for leaf in leaves_of(v)]
    if isinstance(values, dict):
        return [leaf for v in values.values() for leaf in leaves_of(v)]
    return [values] if hasattr(values, "detach") else []


def numpy_of(t: Any) -> Any:
    """The values of a tensor of either library."""
    return t.detach().numpy()


def compare(
    function: Callable[..., Any],
    *args: Any,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    names: bool = True,
    **kwargs: Any,
) -> None:
    """Run ``function(module, *args)`` in both; compare results, node names, gradients of a weighted sum."""
    import torch as theirs

    found = []
    for module in (ours, theirs):
        given, options = arrays_in(module, args), arrays_in(module, kwargs)
        out = function(module, *given, **options)
        outs = leaves_of(out)
        total = None
        rng = np.random.default_rng(0)
        for t in outs:
            weights = np.asarray(rng.normal(size=tuple(t.shape)))
            if t.requires_grad:
                term = (t * module.tensor(weights.astype(numpy_of(t).dtype))).sum()
                total = term if total is None else total + term
        if total is not None:
            total.backward()
        grads = [None if t.grad is None else numpy_of(t.grad) for t in leaves_of((given, options))]
        nodes = [None if t.grad_fn is None else t.grad_fn.name() for t in outs]
        found.append(([numpy_of(t) for t in outs], nodes, grads))
    (mine, my_nodes, my_grads), (other, other_nodes, other_grads) = found
    assert len(mine) == len(other)
    for a, b in zip(mine, other, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
    for a, b in zip(my_grads, other_grads, strict=True):
        if b is None or a is None:
            assert not np.any(a), "one of the two has a gradient"
            assert not np.any(b), "one of the two has a gradient"
        else:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
    if names:
        assert my_nodes == other_nodes


def error_of(function: Callable[[Any], Any], module: Any) -> tuple[type, str]:
    """The error that a call raises."""
    try:
        function(module)
    except Exception as error:  # noqa: BLE001 - errors are what is compared
        return type(error), str(error)
    raise AssertionError("no error was raised")


def copy_parameters(mine: Any, other: Any) -> None:
    """Give one module the values of the parameters and buffers of the other."""
    for (name, p), (other_name, q) in zip(mine.named_parameters(), other.named_parameters(), strict=True):
        assert name == other_name
        p.data.copy_(ours.tensor(numpy_of(q).copy()))
    for (name, p), (other_name, q) in zip(mine.named_buffers(), other.named_buffers(), strict=True):
        assert name == other_name
        p.data.copy_(ours.tensor(numpy_of(q).copy()))
