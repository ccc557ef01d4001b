"""Linear algebra: products, contractions, norms, decompositions, systems of equations."""
