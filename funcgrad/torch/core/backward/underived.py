"""Values that PyTorch has no derivative for: a history that raises when a backward pass comes to it."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.core.backward.history import Node, edge_of
from funcgrad.torch.core.state import MODES, SEQUENCE
from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything


class Underived(Node):
    """A node without a derivative."""

    is_python = True
    word = ""

    def __init__(self, edge: Anything) -> None:
        self.edges = (edge,)
        self.seq = next(SEQUENCE)

    def backward_python(self, cotangents: list[Any]) -> list[Any]:
        """Raise NotImplementedError."""
        raise NotImplementedError(f"the derivative for '{self.word}' is not implemented.")


class Undeclared(Underived):
    """The node of what PyTorch has not even declared a derivative for."""

    def _name(self) -> str:
        return "torch::autograd::NotImplemented"

    def backward_python(self, cotangents: list[Any]) -> list[Any]:
        """Raise RuntimeError."""
        raise RuntimeError(f"derivative for aten::{self.word} is not implemented")


_CLASSES = {
    word: type(title, (Underived,), {"word": word, "__module__": "builtins"})
    for word, title in (
        ("_unique2", "Unique2Backward0"),
        ("unique_dim", "UniqueDimBackward0"),
        ("unique_consecutive", "UniqueConsecutiveBackward0"),
        ("_standard_gamma_grad", "StandardGammaGradBackward0"),
        ("to('meta')", "ToCopyBackward0"),
    )
}
_CLASSES.update(
    {
        word: type("NotImplemented", (Undeclared,), {"word": word, "__module__": "builtins"})
        for word in (
            "bincount",
            "floor_divide",
            "heaviside",
            "linalg_ldl_factor_ex",
            "linalg_ldl_solve",
            "set_",
        )
    }
)
# A view shows how it is read out of its base.
_CLASSES["set_ of a view"] = type(
    "AsStridedBackward0", (Undeclared,), {"word": "set_", "__module__": "builtins"}
)


def underived(t: Tensor, source: Tensor, word: str) -> Tensor:
    """A tensor whose history says that there is no derivative, where one could be asked for."""
    if MODES.grad and source._rg:
        t._node, t._rg = _CLASSES[word](edge_of(source)), True
    return t
