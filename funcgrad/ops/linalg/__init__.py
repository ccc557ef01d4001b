"""Linear algebra on stacks of matrices: systems, determinants, decompositions, functions.

Imported when first asked for. SciPy is imported inside the functions that need it.
"""
