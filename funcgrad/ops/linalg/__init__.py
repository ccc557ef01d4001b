"""Linear algebra: systems, determinants, decompositions and functions of matrices, each on stacks of matrices.

Imported when first asked for. SciPy is imported inside the functions that need it.
"""
