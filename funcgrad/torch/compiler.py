"""``torch.compiler`` and ``torch.compile``: programs run as they are, and what asks is told so.

`fg.jit` compiles, but records: a function that changes modules, draws random numbers or builds a history for
``backward`` would not do so again on its second call. What `torch.compile` is given may do all of these,
so it stays what it is; a function that does none of them is one to give to `fg.jit`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
]

F = TypeVar("F", bound=Callable[..., Any])


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: object = "inductor",
    mode: str | None = None,
    options: object = None,
    disable: bool = False,
) -> Callable[..., Any]:
    """The function or module itself; without one, a decorator that returns what it is given.

    Raises RuntimeError where both `mode` and `options` are given, as PyTorch does.

    >>> @fg.torch.compile
    ... def double(x):
    ...     return x + x
    >>> double(fg.torch.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    return _itself if model is None else model


def _itself(function: F) -> F:
    return function


def disable(
    fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None
) -> Callable[..., Any]:
    """The function itself: nothing is compiled."""
    return _itself if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def reset() -> None:
    """Nothing: nothing is kept."""


def cudagraph_mark_step_begin() -> None:
    """Nothing: there is no CUDA here."""


def is_compiling() -> bool:
    """False."""
    return False


is_dynamo_compiling = is_exporting = functools.partial(bool)


def list_backends(exclude_tags: object = ()) -> list[str]:
    """Empty."""
    return []
