"""The vector spaces of arrays, under the names that packages import."""

from funcgrad.compat.autograd.vspaces import VSpace


class ArrayVSpace(VSpace):
    """The space of arrays of one shape and dtype."""


class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays of one shape and dtype."""


__all__ = ["ArrayVSpace", "ComplexArrayVSpace"]
