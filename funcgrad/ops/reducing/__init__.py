"""Sums and their kin over axes, whole or running: reductions, extremes, norms, softmax."""
