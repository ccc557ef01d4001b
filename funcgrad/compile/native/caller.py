"""Makes Python callables of machine code. Chooses the native caller, or the one through ctypes."""

from __future__ import annotations

from collections.abc import Callable

from funcgrad.compile.native.layout import CallLayout
from funcgrad.compile.native.plain import PlainCaller

__all__ = ["make_caller"]


def make_caller(
    address: int,
    layout: CallLayout,
    keep: object = None,
    fallback: Callable[..., object] | None = None,
) -> Callable[..., object]:
    """A callable of the C function ``void run(char **p, int64_t *n)`` at ``address``.

    Called with positional arguments that are exactly what the layout expects, it returns new results; called with
    anything else it has no effect and returns ``NotImplemented``, or what ``fallback`` returns for the arguments.
    ``keep`` (the loaded code) is held for as long as the callable lives.
    """
    return PlainCaller(address, layout, keep, fallback)
