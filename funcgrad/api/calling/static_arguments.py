"""Which arguments of a function are static, by place and by name, however a call spells them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def static_arguments(
    fun: Callable[..., Any], numbers: int | Sequence[int], names: str | Sequence[str]
) -> tuple[tuple[int, ...], frozenset[str]]:
    """Places and names of the static arguments of `fun`; given one kind, the signature tells the other.

    >>> from funcgrad.api.calling.static_arguments import static_arguments
    >>> static_arguments(lambda x, mode: x, (), "mode")
    ((1,), frozenset({'mode'}))
    >>> static_arguments(lambda x, n=2: x, -1, ())
    ((1,), frozenset({'n'}))
    """
    numbers = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    named = frozenset((names,) if isinstance(names, str) else names)
    if not numbers and not named:
        return numbers, named
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):  # some functions written in C
        return numbers, named
    placed = [p for p in parameters if p.kind in PLACED]
    if not any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        # From the end of the signature, not of what one call passes.
        numbers = tuple([n + len(placed) if -len(placed) <= n < 0 else n for n in numbers])
    if not numbers:
        return tuple([n for n, p in enumerate(placed) if p.name in named]), named
    if not named:
        keyable = [p.name for n, p in enumerate(placed) if n in numbers and p.kind is not PLACED[0]]
        return numbers, frozenset(keyable)
    return numbers, named
