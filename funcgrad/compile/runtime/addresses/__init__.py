"""Where others' machine code is in this process: BLAS, NumPy's loops, SciPy's and Numba's functions."""
