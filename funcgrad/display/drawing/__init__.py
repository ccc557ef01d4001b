"""Boxes and lines: where they stand, and the finished picture."""
