"""What elsewhere are views: copies (``*_copy``), and parts in shared memory that are none (``unsafe_*``)."""

from __future__ import annotations

from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, alias_of, method
from funcgrad.torch.operations.registry import FUNCTIONS, operation, with_out
from funcgrad.types import Anything

__all__: list[str] = []


def _copy_of(name: str) -> None:
    def copied(input: Tensor, *args: Operand, **kwargs: Anything) -> Operands:
        found = getattr(input, name)(*args, **kwargs)
        return tuple([x.clone() for x in found]) if isinstance(found, tuple) else found.clone()

    copied.__name__ = copied.__qualname__ = f"{name}_copy"
    FUNCTIONS[f"{name}_copy"] = with_out(copied, f"{name}_copy")


for _name in (
    "as_strided",
    "diagonal",
    "expand",
    "narrow",
    "permute",
    "select",
    "split",
    "squeeze",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsqueeze",
    "view",
):
    _copy_of(_name)


def _unsafe(name: str) -> None:
    def parts(input: Tensor, *args: Operand, **kwargs: Anything) -> Operands:
        return tuple([_apart(x) for x in getattr(input, name)(*args, **kwargs)])

    operation(f"unsafe_{name}")(parts)


def _apart(view: Tensor) -> Tensor:
    """The memory and history of a view in a tensor that is none: its base does not notice a change there."""
    t = alias_of(view)
    t._node, t._rg = view._node, view._rg
    return t


for _name in ("chunk", "split", "split_with_sizes"):
    _unsafe(_name)


@method()
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Operand:
    """A copy of `length` entries of a dimension."""
    return self.narrow(dim, start, length).clone()
