"""NumPy's random numbers: they have no derivative."""

from __future__ import annotations

from funcgrad.compat.autograd.namespaces import combined, fill

fill(globals(), *combined("numpy.random"))
