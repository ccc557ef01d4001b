"""`numpy.fft`, as autograd wraps it: ours where we have a name, NumPy's own elsewhere."""

from __future__ import annotations

from funcgrad.compat.autograd.namespaces import combined

__getattr__, __dir__ = combined("funcgrad.numpy.fft", "numpy.fft")
