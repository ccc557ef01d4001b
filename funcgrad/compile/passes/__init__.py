"""A Program rewritten, scheduled, its steps arranged: `pipeline` and `kernel` are the order."""
