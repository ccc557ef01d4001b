"""What rewritten functions ask at run time: Python's statements, done or recorded as control flow."""
