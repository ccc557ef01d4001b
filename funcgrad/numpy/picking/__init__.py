"""Elements chosen by where they are or by how they compare: indices, positions, order, sets."""
