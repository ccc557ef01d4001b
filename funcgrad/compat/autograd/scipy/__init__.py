"""The parts of SciPy that autograd wraps."""

from funcgrad.compat.autograd.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
