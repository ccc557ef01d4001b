"""The catalog: one class per primitive operation, grouped by family."""
