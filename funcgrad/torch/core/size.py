"""`Size`: the shape of a tensor."""

from __future__ import annotations

from math import prod

from funcgrad.types import Anything


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints.

    >>> fg.torch.Size([2, 3]).numel()
    6
    """

    __slots__ = ()
    __module__ = "funcgrad.torch"

    def numel(self) -> int:
        """The number of elements."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __getitem__(self, index: Anything) -> Anything:
        found: Anything = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Anything) -> Anything:
        return Size(tuple.__add__(self, tuple(other)))

    def __mul__(self, count: Anything) -> Anything:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self) -> Anything:
        return Size, (tuple(self),)
