"""The Tensor: a value, a version counter, and a node of a history.

This module owns the object and its autograd attributes. Operations are given to it by the modules of
`funcgrad.torch.operations` through `method`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

import numpy as np

from funcgrad import tree
from funcgrad.extend import Tracer, introduce
from funcgrad.torch.core.backward.history import AccumulateGrad, Node, Output
from funcgrad.torch.core.backward.hooks import RemovableHandle, added_hook
from funcgrad.torch.core.dtypes import dtype as torch_dtype_class
from funcgrad.torch.core.dtypes import torch_dtype
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.printing import tensor_text
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.unsupported import missing_attribute
from funcgrad.types import Anything, Array, ArrayLike

__all__ = ["Tensor", "alias_of", "constant", "method", "own", "wrap"]

F = TypeVar("F", bound=Callable[..., Any])

_new = object.__new__
ndarray = np.ndarray

if TYPE_CHECKING:
    from funcgrad.torch.core.methods import Methods
else:
    Methods = object


class Tensor(Methods):
    """An array that remembers how it was computed, as PyTorch's tensors do.

    >>> x = fg.torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __module__ = "funcgrad.torch"
    __array_priority__ = 1000.0

    # Defaults live on the class: an operation stores only what differs.
    _value: Any
    _version_box: list[Any]
    _node: Any = None
    """The `Node` (or `Output` of one) behind a tensor that is not a leaf."""
    _rg = False
    _grad: Tensor | None = None
    _view: Any = None
    _views: Any = None
    """Weak references to the live views of this base."""
    _hooks: dict[int, Any] | None = None
    _post_hooks: dict[int, Any] | None = None
    _accumulator: AccumulateGrad | None = None
    _inference = False
    _retains = False
    _tangent: Any = None
    _stand_ins: Any = None
    """Weak references to the tensors that stand for this parameter in traces."""
    _aliases: Any = None
    """Weak references to the tensors that share this one's traced memory."""
    _trace: Any = None
    """The trace that a tensor of a module stands for a parameter in."""
    name: Any = None
    is_cuda = is_mps = is_sparse = is_quantized = is_mkldnn = is_nested = is_xpu = is_sparse_csr = False

    if TYPE_CHECKING:

        def __new__(cls, *args: Operand, **kwargs: Anything) -> Anything: ...
        def backward(
            self,
            gradient: Operand = None,
            retain_graph: bool | None = None,
            create_graph: bool = False,
            inputs: Operands = None,
        ) -> None: ...

    def __init_subclass__(cls, **options: Anything) -> None:
        super().__init_subclass__(**options)
        register_tensor(cls)

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return Size(self._value.shape)

    @property
    def dtype(self) -> torch_dtype_class:
        """The data type."""
        return torch_dtype(self._value.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._value.shape)

    @property
    def is_leaf(self) -> bool:
        """Whether no operation that is remembered made this tensor."""
        return self._node is None

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that made this tensor, None for a leaf."""
        if self._view is not None and self._view.base._rg and self._view.version != self._version_box[0]:
            self._view.refresh(self)
        node = self._node
        return node.node if type(node) is Output else node

    @property
    def output_nr(self) -> int:
        """Which output of its node this tensor is."""
        node = self._node
        return node.number if type(node) is Output else 0

    @property
    def _version(self) -> int:
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return int(self._version_box[0])

    # -- gradients -------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients with respect to this tensor are wanted."""
        return self._rg

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._node is not None:
            message = "you can only change requires_grad flags of leaf variables."
            if not wanted:
                message += (
                    " If you want to use a computed variable in a subgraph that doesn't require "
                    "differentiation use var_no_grad = var.detach()."
                )
            raise RuntimeError(message)
        if wanted and self._value.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        if wanted and self._inference and not MODES.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        self._rg = wanted

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad`; returns the tensor."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                + type(requires_grad).__name__
            )
        if self._node is None and requires_grad and self._value.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if self._node is None or not requires_grad:
            self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated here, None before the first."""
        if self._node is not None and not self._retains and self._rg and self._grad is None:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
                "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
                "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If "
                "you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. "
                "See github.com/pytorch/pytorch/pull/30531 for more information.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, given: Tensor | None) -> None:
        if given is None:
            self._grad = None
            return
        if not isinstance(given, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(given).__name__}"
            )
        if given is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if given._value.shape != self._value.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(given._value.shape)}' to a tensor of size "
                f"'{list(self._value.shape)}'. Please ensure that the gradient and the tensor are the same "
                "size"
            )
        if given._value.dtype != self._value.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{_word(given)}' to a tensor with grad_dtype "
                f"'{self.type()[6:-6]}'. The gradient must match the tensor's grad_dtype (defaults to the "
                "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or "
                "None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
                "its gradient may break downstream systems that assume they match."
            )
        self._grad = given

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf tensor in `grad`."""
        if not self._rg:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is None or self._retains:
            return
        self._retains = True
        node = self.grad_fn
        assert node is not None
        node.more().retained[self.output_nr] = ref(self)

    @property
    def _backward_hooks(self) -> dict[int, Any] | None:
        return self._hooks

    @property
    def retains_grad(self) -> bool:
        """Whether this is a non-leaf tensor whose gradient is kept."""
        return self._retains and self._node is not None

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is computed; its result replaces it."""
        if not self._rg:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is None:
            if self._hooks is None:
                self._hooks = {}
            return added_hook(self._hooks, hook)
        node = self.grad_fn
        assert node is not None
        return added_hook(node.more().hooks.setdefault(self.output_nr, {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient was accumulated into this leaf."""
        if not self._rg:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_hooks is None:
            self._post_hooks = {}
        return added_hook(self._post_hooks, hook)

    # -- alias without history -------------------------------------------------------------------------

    def detach(self) -> Tensor:
        """The same memory without history: changes in place show in both."""
        t = alias_of(self)
        t._version_box = self._version_box
        t._inference = self._inference and (self._view is not None or self._rg or MODES.inference)
        return t

    def detach_(self) -> Tensor:
        """Forget the history of this tensor; returns it."""
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
                "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
                "torch/optim/optimizer.py as the solution."
            )
        self._node = None
        self._rg = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history, and with a version counter of its own."""
        return alias_of(self)

    @data.setter
    def data(self, given: Tensor) -> None:
        if not isinstance(given, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(given).__name__}")
        if self._rg and given._value.dtype.kind not in "fc":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        replace_value(self, own(given))

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # -- parts -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._value.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self._value.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self._value.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return tensor_text(self)

    if not TYPE_CHECKING:  # a checker says which attributes there are

        def __getattr__(self, name: str) -> Anything:
            raise missing_attribute(name)


def flatten_tensor(t: Tensor) -> tuple[Any, ...]:
    return (t._value,), (type(t), t._rg and t._node is None)


def unflatten_tensor(aux: Anything, children: Sequence[Any]) -> Tensor:
    cls, requires_grad = aux
    (value,) = children
    t: Tensor = object.__new__(cls)
    t._value = value
    t._version_box = [0]
    if requires_grad and (isinstance(value, np.ndarray | np.generic | Tracer)):
        t._rg = True
    return t


def register_tensor(cls: type) -> None:
    """Let transforms take tensors of this class apart."""
    tree.register_node(cls, flatten_tensor, unflatten_tensor)


def _word(t: Tensor) -> str:
    name = str(t.dtype).removeprefix("torch.")
    return {"float32": "float", "float64": "double"}.get(name, name)


def wrap(value: ArrayLike) -> Tensor:
    """A new tensor without history that owns `value`."""
    introduce()
    t: Tensor = _new(Tensor)
    t._value = value
    t._version_box = [0]
    if MODES.inference:
        t._inference = True
    return t


def own(t: Tensor) -> Array:
    """The array of a tensor, as memory that views and changes in place can share."""
    value = t._value
    if type(value) is ndarray:
        return value
    if type(value) is Tracer:
        # A traced value of rank 0 is a scalar, which cannot be shared, unless it is a view.
        return value
    t._value = value = np.asarray(value)
    return value


def alias_of(t: Tensor) -> Tensor:
    """A new tensor on the same memory, without history."""
    alias = wrap(own(t))
    if type(t._value) is Tracer:
        t._aliases = [*[r for r in t._aliases or () if r() is not None], ref(alias)]
    return alias


class Moved:
    """In a box of versions: which tensor has left its memory, and at what version."""

    __slots__ = ("tensor", "version")

    def __init__(self, t: Tensor, version: int) -> None:
        self.tensor = ref(t)
        self.version = version


def replace_value(t: Tensor, value: Array) -> None:
    """Give a tensor other memory; histories that have saved the tensor find it there, as PyTorch's do."""
    if value is t._value:
        return
    if type(t._value) is Tracer:
        _replace_traced(t, value)
        return
    left = t._version_box
    version = left[0]
    t._version_box = [version, *left[1:2]]
    left[:] = [version + 1, left[1] if len(left) > 1 else None, Moved(t, version)]
    for r in t._views or ():
        view = r()
        if view is not None and view._view.version == version:
            view._view.version = version + 1
    t._value = value


def _replace_traced(t: Tensor, value: Array) -> None:
    """Write what replaces the value of a traced tensor: the caller's tensor is to become it too."""
    memory = t._value
    if value.shape != memory.shape or value.dtype != memory.dtype:
        if t._trace is not None:
            raise NotImplementedError(_OTHER_KIND)
        t._value = value
        return
    if any(r() is not None for r in t._views or ()):
        raise NotImplementedError(_SEEN)
    for r in t._aliases or ():
        alias = r()
        if alias is not None and alias._value is memory:
            alias._value = memory.copy()
    t._aliases = None
    memory[...] = value.copy()


_OTHER_KIND = (
    "funcgrad.torch does not support a parameter whose .data gets another shape or dtype in a compiled "
    "function: replace it outside"
)
_SEEN = (
    "funcgrad.torch does not support replacing the .data of a tensor that has views in a traced function: "
    "write x.data.copy_(y) if the views are to follow"
)


def constant(x: object) -> Anything:
    """The value of a tensor, or `x` as it is."""
    return x._value if isinstance(x, Tensor) else x


def method(*names: str) -> Callable[[F], F]:
    """Give the decorated function to `Tensor` as a method, under its own name or these."""

    def install(function: F) -> F:
        for name in names or (function.__name__,):
            setattr(Tensor, name, function)
        function.__qualname__ = f"Tensor.{names[0] if names else function.__name__}"
        return function

    return install


register_tensor(Tensor)
