"""Views that a tensor becomes itself: ``t_``, ``squeeze_``, ``as_strided_`` and their kin. Nothing is copied.

The memory stays, so views that others hold of it stay what they are: their way to the tensor first undoes
the new shape.
"""

from __future__ import annotations

from collections.abc import Callable

from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.inplace import require_writeable
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.core.views import live_views
from funcgrad.torch.operations.movement import (
    MATRIX_TRANSPOSE,
    SQUEEZE,
    SQUEEZE_ONE,
    SQUEEZE_SOME,
    TRANSPOSE,
    UNSQUEEZE,
)
from funcgrad.torch.operations.places.parts import STRIDED
from funcgrad.torch.operations.registry import FUNCTIONS

__all__: list[str] = []

# The nodes of the same in place have names of their own.
_IN_PLACE = {
    made: Op(title, made.function)
    for made, title in (
        (TRANSPOSE, "TransposeBackward1"),
        (MATRIX_TRANSPOSE, "TBackward1"),
        (UNSQUEEZE, "UnsqueezeBackward1"),
        (SQUEEZE, "SqueezeBackward3"),
        (SQUEEZE_ONE, "SqueezeBackward4"),
        (SQUEEZE_SOME, "SqueezeBackward5"),
        (STRIDED, "AsStridedBackward1"),
    )
}


def _in_place(name: str) -> Callable[..., Tensor]:
    """The method that makes a tensor the view of itself that another method returns."""

    def method_in_place(self: Tensor, *args: Operand) -> Tensor:
        require_writeable(self)
        made = getattr(self, name)(*args)
        self._version_box[0] += 1
        if self._view is not None:
            self._view.chain, self._view.version = made._view.chain, self._version_box[0]
        else:
            _keep_views(self, made)
        if made._node is not None and made._node.op in _IN_PLACE:
            made._node.__class__ = _IN_PLACE[made._node.op].node_class
        self._value, self._node, self._rg = made._value, made._node, made._rg
        return self

    method_in_place.__name__ = method_in_place.__qualname__ = f"{name}_"
    method_in_place.__doc__ = f"As `{name}`, in place; returns the tensor."
    return method_in_place


def _keep_views(t: Tensor, made: Tensor) -> None:
    """Let the other views of a tensor find their elements in what it is about to become."""
    held = [v for v in live_views(t) if v is not made]
    t._views = [r for r in t._views or () if r() is not made] or None
    step, params = made._view.chain[-1]
    if not held:
        return
    if step is STRIDED:
        raise NotImplementedError(
            "funcgrad.torch does not support as_strided_ of a tensor that views are held of; clone it first, "
            "or use as_strided"
        )
    swaps = step in (TRANSPOSE, MATRIX_TRANSPOSE)
    undo = (step, params) if swaps else (SQUEEZE, (t._value.shape,))
    for view in held:
        view._view.chain = (undo, *view._view.chain)


for _name in ("as_strided", "squeeze", "unsqueeze", "transpose", "t", "swapaxes", "swapdims"):
    setattr(Tensor, f"{_name}_", _in_place(_name))
FUNCTIONS["as_strided_"] = getattr(Tensor, "as_strided_")  # noqa: B009 - given like every operation
