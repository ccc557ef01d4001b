"""Functions of Numba's under transforms."""
