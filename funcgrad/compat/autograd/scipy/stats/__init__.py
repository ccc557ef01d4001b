"""The distributions of `scipy.stats` that autograd wraps, and all others that we have."""

from __future__ import annotations

from funcgrad.compat.autograd.namespaces import combined

__getattr__, __dir__ = combined("funcgrad.scipy.stats", "scipy.stats")
