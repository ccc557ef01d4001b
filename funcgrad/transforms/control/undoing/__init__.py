"""Reverse mode of nested loops that write in place: what they overwrite is kept, and put back."""
