"""The box of an array: for `isinstance`."""

from funcgrad.compat.autograd.builtins import SequenceBox
from funcgrad.compat.autograd.tracer import Box


class ArrayBox(Box):
    """What stands for an array or a number while a function is differentiated."""


__all__ = ["ArrayBox", "Box", "SequenceBox"]
