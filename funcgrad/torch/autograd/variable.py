"""`Variable`, which was a class of its own until tensors took over what it did."""

from __future__ import annotations

from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything

__all__ = ["Variable"]


class _Tensors(type):
    """The class of a class whose instances are all tensors."""

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, Tensor)


class Variable(metaclass=_Tensors):
    """``Variable(data, requires_grad=False)``: a tensor on the memory of another one.

    >>> x = fg.torch.autograd.Variable(fg.torch.ones(2), requires_grad=True)
    >>> x.requires_grad, isinstance(x, fg.torch.autograd.Variable)
    (True, True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Anything:
        """The tensor; raises TypeError for what is none."""
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
