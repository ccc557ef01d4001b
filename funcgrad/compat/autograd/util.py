"""Small things that programs for autograd import."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from funcgrad.compat.autograd.places import subval, subvals
from funcgrad.compat.autograd.test_util import check_grads
from funcgrad.types import Anything, ArrayLike

__all__ = ["func", "quick_grad_check", "subval", "subvals"]


def quick_grad_check(
    fun: Callable[..., Any],
    arg0: ArrayLike,
    extra_args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    **_: object,
) -> None:
    """Hold a gradient against differences; deprecated in favour of `test_util.check_grads`."""
    warnings.warn("quick_grad_check is deprecated: use check_grads.", stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)


def func(f: object) -> Anything:
    """The function itself: a method of Python 2 was something else."""
    return f
