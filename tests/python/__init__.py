"""Plain Python under a compiled function."""
