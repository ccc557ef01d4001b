"""`scipy.integrate`: ours where we have a name, SciPy's own elsewhere."""

from __future__ import annotations

from funcgrad.compat.autograd.namespaces import combined

__getattr__, __dir__ = combined("funcgrad.scipy.integrate", "scipy.integrate")
