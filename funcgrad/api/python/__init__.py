"""What rewritten functions ask at run time: Python's statements, done or recorded as control flow."""

from funcgrad.api.python.functions import ACTIVE, recordable

__all__ = ["ACTIVE", "recordable"]
