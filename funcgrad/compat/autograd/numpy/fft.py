"""`numpy.fft`, as autograd wraps it: ours where we have a name, NumPy's own elsewhere."""

from __future__ import annotations

from funcgrad.compat.autograd.namespaces import combined, fill

fill(globals(), *combined("funcgrad.numpy.fft", "numpy.fft"))
