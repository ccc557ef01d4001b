"""Introduces tracers to ``scipy.fft``: its functions ask other libraries first, by `uarray`'s protocol.

Imported when a trace begins and ``scipy.fft`` has been imported (see `funcgrad.tracing.adapters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from funcgrad.later import Later
from funcgrad.tracing.lists import holds_tracer
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Result

fft = Later("funcgrad.scipy.fft")


class TracedTransforms:
    """The backend: it answers for traced arrays, and leaves all others to SciPy."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Result:
        operand = args[0] if args else next(iter(kwargs.values()), None)
        if not isinstance(operand, Tracer) and not holds_tracer([operand]):
            return NotImplemented
        ours = getattr(fft, method.__name__, None)
        return NotImplemented if ours is None else ours(*args, **kwargs)


import_module("scipy.fft").register_backend(TracedTransforms)
