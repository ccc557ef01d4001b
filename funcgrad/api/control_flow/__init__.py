"""Loops, branches, maps and callbacks as functions, and places to write into."""
