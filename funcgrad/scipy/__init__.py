"""SciPy's functions on arrays and tracers alike. Importing this imports no SciPy."""

from funcgrad.scipy import special as special

__all__ = ["special"]
