"""Small things that programs for autograd import."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def subvals(x: Sequence[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """The items of `x`, with others at the given places.

    >>> subvals((1, 2, 3), [(0, 5)])
    (5, 2, 3)
    """
    found = list(x)
    for k, value in ivs:
        found[k] = value
    return tuple(found)


def subval(x: Sequence[Any], i: int, v: Any) -> tuple[Any, ...]:
    """The items of `x`, with another one at place `i`."""
    return subvals(x, [(i, v)])


def quick_grad_check(
    fun: Callable[..., Any], arg0: Any, extra_args: Sequence[Any] = (), kwargs: Any = None, **_: Any
) -> None:
    """Hold a gradient against differences; deprecated in favour of `test_util.check_grads`."""
    from funcgrad.compat.autograd.test_util import check_grads  # noqa: PLC0415 - it needs this module

    warnings.warn("quick_grad_check is deprecated: use check_grads.", stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)


def func(f: Any) -> Any:
    """The function itself: a method of Python 2 was something else."""
    return f
