"""Python's own statements, rewritten to ask at run time whether what decides them is traced."""
