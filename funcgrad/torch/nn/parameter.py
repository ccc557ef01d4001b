"""Parameters and buffers: the tensors that a module owns."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad.torch.core.meta import is_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, ArrayLike, ShapeLike

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]


class Parameter(Tensor):
    """A tensor that requires grad and, as the attribute of a module, is one of its parameters.

    >>> from funcgrad import torch
    >>> torch.nn.Parameter(torch.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    __module__ = "funcgrad.torch.nn"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Anything:
        if data is None:
            data = FUNCTIONS["empty"](0)
        if not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
        if requires_grad and data._value.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        if requires_grad and data._inference and not MODES.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        return owning(cls, own(data), requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """What `__new__` has done."""

    # mypy takes the names of arguments away from special methods.
    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = owning(type(self), own(self).copy(), self._rg)
        return found  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Anything) -> Anything:
        if is_meta(self):
            return super().__reduce_ex__(protocol)
        return rebuilt, (type(self), own(self), self._rg)


def owning(cls: type, value: ArrayLike, requires_grad: bool) -> Operand:
    """A leaf tensor of a class, on this memory."""
    t: Any = object.__new__(cls)
    t._value = value
    t._version_box = [0]
    t.requires_grad = requires_grad
    return t


def rebuilt(cls: type, value: ArrayLike, requires_grad: bool) -> Operand:
    """What pickle calls to make a parameter again."""
    return owning(cls, value, requires_grad)


class Buffer(Tensor):
    """A tensor that, as the attribute of a module, is part of its state but is not trained."""

    __module__ = "funcgrad.torch.nn"
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Anything:
        if data is None:
            data = FUNCTIONS["empty"](0)
        t = owning(cls, own(data), False)
        t.persistent = persistent
        return t

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        """What `__new__` has done."""


class _Uninitialized(Tensor):
    """A tensor without memory, so that nothing can be computed."""

    cls_to_become: ClassVar[type[Tensor]]

    @property
    def shape(self) -> ShapeLike:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    # mypy takes the names of arguments away from special methods.
    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return f"<{type(self).__name__}>"

    def materialize(self, shape: ShapeLike, device: Anything = None, dtype: Anything = None) -> None:
        """Become an ordinary one of this shape, without values."""
        self.hold(own(FUNCTIONS["empty"](shape, dtype=dtype or self.dtype)))

    def hold(self, memory: ArrayLike) -> None:
        """Become an ordinary one on this memory."""
        self._value = memory
        object.__setattr__(self, "__class__", self.cls_to_become)


# mypy takes the names of arguments away from special methods.
class UninitializedParameter(_Uninitialized, Parameter):  # type: ignore[misc]
    """A parameter of a lazy layer before its first call."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Anything = None, dtype: Anything = None) -> Anything:
        return owning(cls, own(FUNCTIONS["empty"](0, dtype=dtype)), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Anything = None, dtype: Anything = None) -> None:
        """What `__new__` has done."""


class UninitializedBuffer(_Uninitialized):
    """A buffer whose shape is not known yet; `materialize` gives it memory and makes it a tensor."""

    cls_to_become = Tensor
    persistent: bool

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Anything = None,
        dtype: Anything = None,
        persistent: bool = True,
    ) -> Anything:
        t = owning(cls, own(FUNCTIONS["empty"](0, dtype=dtype)), requires_grad)
        t.persistent = persistent
        return t

    def __init__(
        self,
        requires_grad: bool = False,
        device: Anything = None,
        dtype: Anything = None,
        persistent: bool = True,
    ) -> None:
        """What `__new__` has done."""
