"""A small compiler front end: a plain subset of Python over numbers and raw memory, to LLVM assembly.

It follows Numba's typing of that subset, and takes milliseconds where Numba's front end takes tenths of a
second and half a second to load. What it does not know it refuses.
"""
