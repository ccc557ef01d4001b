"""The run time itself, written in the compiler's own subset of Python and compiled to machine code.

These modules are read as source and never run: all addresses are integers, and nothing is checked.
"""
