"""Trips of loops that do not read each other: what proves it, and how they are shared between threads."""
