"""Compiled functions for others: modules of their own, Numba's functions, C functions."""
