"""What happens to a cotangent where it arrives: sums, hooks, and the gradients of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.backward.hooks import hook_name
from funcgrad.torch.core.layout import laid_as_leaf
from funcgrad.torch.core.state import quiet
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.types import Array, ArrayLike, Arrays


def summed(a: Array, b: Array) -> Array:
    """The sum of two cotangents, arrays or tensors, without NumPy's warnings."""
    token = quiet.enter()
    try:
        return a + b
    finally:
        quiet.leave(token)


def as_tensor(x: object) -> Arrays:
    """A cotangent as a tensor."""
    return x if x is None or isinstance(x, Tensor) else wrap(x)


def hooked(hooks: dict[int, Any], g: object, create: bool) -> Arrays:
    """A cotangent after the hooks of its tensor."""
    t = as_tensor(g)
    for hook in list(hooks.values()):
        found = hook(t)
        if found is None:
            continue
        if not isinstance(found, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
        if t is None:
            t = found
            continue
        if found._value.shape != t._value.shape:
            raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")
        if found._value.dtype != t._value.dtype:
            raise RuntimeError(
                f"hook '{hook_name(hook)}' has changed the type of value (was {t.type()} got {found.type()})"
            )
        t = found
    return t if create or t is None else t._value


def replaced(given: tuple[Any, ...], found: object, hook: object, fixed: bool = False) -> tuple[Any, ...]:
    """The gradients after a hook of a node; RuntimeError where it returned another number of them.

    Those after the node have their shapes fixed.
    """
    if found is None:
        return given
    if fixed and not isinstance(found, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(found).__name__}'")
    values: tuple[Any, ...] = found if isinstance(found, tuple) else (found,)
    if len(values) != len(given):
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has returned an incorrect number of values (got {len(values)}, but "
            f"expected {len(given)})"
        )
    for before, now in zip(given, values, strict=True):
        if now is not None and not isinstance(now, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(now).__name__}'")
        if fixed and before is not None and now is not None and before._value.shape != now._value.shape:
            raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")
    return values


def retain(tensor: Tensor, g: object, create: bool) -> None:
    """Keep the gradient of a non-leaf."""
    if tensor._grad is None:
        tensor._grad = as_tensor(g if create else _copied(g))
    else:
        tensor._grad = as_tensor(tensor._grad + as_tensor(g))


def _copied(g: Array) -> Array:
    return g if type(g) is Tracer else np.array(g)


def accumulate(leaf: Tensor, g: ArrayLike, create: bool) -> None:
    """Add a gradient to a leaf's, and call what waits for it."""
    t = as_tensor(g)
    value = t._value
    mine = leaf._value
    if value.dtype is not mine.dtype and value.dtype != mine.dtype:
        t = wrap(value.astype(mine.dtype)) if not create else t.to(leaf.dtype)
    before = leaf._grad
    if before is None:
        # Others may hold what arrived: the caller, hooks, functions of the user's, another leaf.
        leaf._grad = t.new_empty(t.shape).copy_(t) if create else wrap(laid_as_leaf(_copied(t._value), mine))
    elif create:
        leaf._grad = before + t
    elif type(before._value) is Tracer or type(t._value) is Tracer:
        before._value = before._value + t._value
        before._version_box[0] += 1
    else:
        memory = own(before)
        token = quiet.enter()
        np.add(memory, t._value, out=memory)
        quiet.leave(token)
        before._version_box[0] += 1
    if leaf._post_hooks:
        for hook in list(leaf._post_hooks.values()):
            found = hook(leaf)
            if found is not None:
                kind = RuntimeError if isinstance(found, Tensor) else TypeError
                raise kind("Tensor post accumulate grad hooks should return None.")
    if leaf._accumulator is not None and leaf._accumulator.extra is not None:
        for hook in list(leaf._accumulator.extra.posthooks.values()):
            hook((), (t,))
