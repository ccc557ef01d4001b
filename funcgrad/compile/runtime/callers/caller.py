"""Makes Python callables of machine code: builtins of the native run time, or objects that use ctypes."""

from __future__ import annotations

import functools
from collections.abc import Callable

from funcgrad.compile.differs import say_portable
from funcgrad.compile.runtime.callers.call_layout import CallLayout
from funcgrad.compile.runtime.callers.call_trial import trial_difference
from funcgrad.compile.runtime.callers.ctypes_caller import PlainCaller
from funcgrad.compile.runtime.callers.native_caller import make_native_caller
from funcgrad.compile.runtime.machine_code import Runtime, runtime, runtime_difference

# Longer tables would not fit on the stack of a thread.
_MOST_SLOTS = 4096


def make_caller(
    address: int, layout: CallLayout, keep: object = None, fallback: Callable[..., object] | None = None
) -> Callable[..., object]:
    """A callable of the C function ``void run(char **p, int64_t *n)`` at ``address`` (or ``int64_t run``).

    Called with positional arguments that are exactly what the layout expects, it returns new results;
    called with anything else it has no effect and returns ``NotImplemented``, or what ``fallback`` returns
    for the arguments. ``keep`` (the loaded code) is held for as long as the callable lives.
    """
    found = trusted_runtime()
    if found is None or layout.slots + len(layout.outputs) > _MOST_SLOTS:
        return PlainCaller(address, layout, keep, fallback)
    return make_native_caller(found, address, layout, keep, fallback)


@functools.cache
def trusted_runtime() -> Runtime | None:
    """The native run time, if its calls do what they should; else None, and the user is told once."""
    found = runtime()
    difference = runtime_difference() if found is None else trial_difference(found)
    if difference is not None:
        say_portable(difference)
        return None
    return found
