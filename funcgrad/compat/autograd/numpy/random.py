"""NumPy's random numbers: they have no derivative."""

from __future__ import annotations

from funcgrad.compat.autograd.namespaces import combined

__getattr__, __dir__ = combined("numpy.random")
