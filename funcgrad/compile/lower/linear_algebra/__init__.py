"""Products, factorizations and systems of linear equations."""
