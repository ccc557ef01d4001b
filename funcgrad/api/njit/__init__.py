"""Functions of Numba's under transforms: what they are, how their Python source is traced."""
