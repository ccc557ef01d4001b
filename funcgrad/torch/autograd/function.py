"""`Function`: operations whose backward the user writes."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.torch.autograd.function_calls import by_position, require_views, with_defaults, with_history
from funcgrad.torch.autograd.recorded_calls import is_traced, recorded_call
from funcgrad.torch.core.backward.grad_mode import no_grad
from funcgrad.torch.core.backward.history import FREED, Node, Output, changed_message, edge_of
from funcgrad.torch.core.backward.packing import Packed, once_packed, pack
from funcgrad.torch.core.backward.saved import SavedTensor
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES, SEQUENCE
from funcgrad.torch.core.tensor import Tensor, alias_of, wrap
from funcgrad.types import Anything, Array

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionNode(Node):
    """The node of a `Function`, which is also the `ctx` its methods get."""

    is_python = True
    function: type[Function]

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"

    needs_input_grad: tuple[bool, ...] = ()
    node: FunctionNode
    """Of a `Transposed` rule: the node whose rule it is."""
    materialize_grads = True

    def __init__(self) -> None:
        self._to_save: tuple[Any, ...] = ()
        self._kept: list[Any] | None = []
        self._for_forward: tuple[Any, ...] | None = None
        self._in_jvp = False
        self._dirty: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self._out_specs: tuple[Any, ...] = ()
        self._tensor_inputs: tuple[int, ...] = ()
        self._count = 0

    def about(self, args: tuple[Any, ...], needs: Sequence[bool]) -> None:
        """Note the arguments of a call, and which of its tensors need a gradient."""
        asked = iter(needs)
        self.needs_input_grad = tuple([isinstance(x, Tensor) and next(asked) for x in args])
        self._count = len(args)
        self._tensor_inputs = tuple([k for k, x in enumerate(args) if isinstance(x, Tensor)])
        self._in_shapes = {k: args[k]._value.shape for k in self._tensor_inputs}
        self._in_dtypes = {k: args[k]._value.dtype for k in self._tensor_inputs}

    # -- what forward and setup_context may call -------------------------------------------------------

    def save_for_backward(self, *tensors: Operand) -> None:
        """Keep tensors for `backward`, which finds them in `saved_tensors`."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Operand) -> None:
        """Keep tensors for `jvp`, which finds them in `saved_tensors`."""
        self._for_forward = tensors

    def mark_dirty(self, *tensors: Operand) -> None:
        """Say which inputs `forward` changed in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Operand) -> None:
        """Say which outputs have no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients arrive as zeros (as they do by default) or as None."""
        self.materialize_grads = value

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self.is_freed:
            raise RuntimeError(FREED)
        return tuple([SavedTensor(self, k) for k in range(len(self._kept or ()))])

    @property
    def is_freed(self) -> bool:
        """Whether the saved tensors are gone."""
        return self._kept is None

    def pack_one(self, k: int, hooks: tuple[Any, Any]) -> None:
        """Keep one saved tensor packed by these hooks."""
        kept = list(self._kept or ())
        value, edge, *rest = kept[k]
        kept[k] = (once_packed(value, None, hooks), edge, *rest)
        self._kept = kept

    @property
    def _forward_cls(self) -> type[Function]:
        return self.function

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept; in `jvp` what `save_for_forward` kept."""
        if self._in_jvp and self._for_forward is not None:
            return self._for_forward
        if self._kept is None:
            raise RuntimeError(FREED)
        found: list[Any] = []
        for kept in self._kept:
            if kept is None:
                found.append(None)
                continue
            value, edge, box, version, original = kept
            if type(value) is Packed:
                t = wrap(value.value())
                if original is not None and original._rg:
                    t._node, t._rg = original, True
                elif edge is not None:
                    t._node, t._rg = (self if edge is _OUTPUT else edge), True
                found.append(t)
                continue
            if box[0] != version:
                raise RuntimeError(changed_message(value, box, version, None if edge is _OUTPUT else edge))
            if original is not None:
                found.append(original)
                continue
            t = wrap(value)
            if edge is not None:
                t._node = self if edge is _OUTPUT else edge
                t._rg = True
            found.append(t)
        return tuple(found)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def _keep(self, outputs: tuple[Any, ...]) -> None:
        kept: list[Any] = []
        for place, t in enumerate(self._to_save):
            if t is None:
                kept.append(None)
                continue
            if not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type "
                    + type(t).__name__
                )
            number = next((k for k, out in enumerate(outputs) if out is t), None)
            edge: Any = None
            original = None
            if number is not None and t._rg:
                # A reference to the output itself would be a cycle.
                edge = _OUTPUT if self.outputs == 1 else Output(self, number)
            elif t._rg:
                edge = t._node
                original = t if edge is None else None
            else:
                original = t
            value = pack(t._value, original if edge is None else None) if MODES.saved_hooks else t._value
            kept.append((value, edge, t._version_box, t._version_box[0], original))
        self._kept = kept
        self._to_save = ()

    # -- what the backward pass calls ------------------------------------------------------------------

    def backward_python(self, cotangents: list[Any]) -> list[Any]:
        """Run the user's backward; a gradient (or None) for each tensor input."""
        function = self.function
        if MODES.pushing and not (
            function.jvp is Function.jvp and function.__module__.startswith("funcgrad.")
        ):
            return self._pushed(cotangents)
        given = list(cotangents)
        if self.materialize_grads:
            for k, g in enumerate(given):
                if g is None and self._out_specs[k] is not None:
                    shape, dtype = self._out_specs[k]
                    given[k] = wrap(np.zeros(shape, dtype))
        user = function.backward if function.backward is not Function.backward else function.vjp
        found = user(self, *given)
        grads = found if isinstance(found, tuple) else (found,)
        if len(grads) < self._count or any(g is not None for g in grads[self._count :]):
            raise RuntimeError(
                f"function {self._name()} returned an incorrect number of gradients (expected "
                f"{self._count}, got {len(grads)})"
            )
        for k in range(self._count):
            if grads[k] is not None and k not in self._tensor_inputs:
                raise RuntimeError(
                    f"function {self._name()} returned a gradient different than None at position {k + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
        return [self._checked(k, grads[k]) for k in self._tensor_inputs]

    def _pushed(self, cotangents: list[Any]) -> list[Any]:
        """Cotangents whose derivative by those given is the user's rule for tangents, transposed."""
        if self.function.jvp is Function.jvp:
            Function.jvp(self)
        given = [
            wrap(np.zeros(*spec)) if g is None and spec is not None else g
            for g, spec in zip(cotangents, self._out_specs, strict=True)
        ]
        MODES.pushing = False
        try:
            return list(Transposed.apply(self, *given))
        finally:
            MODES.pushing = True

    def _checked(self, k: int, g: Array) -> Operands:
        if g is None:
            return None
        if not isinstance(g, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
        shape = self._in_shapes[k]
        if g._value.shape != shape:
            try:
                fits = np.broadcast_shapes(g._value.shape, shape) == g._value.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(
                    f"Function {self._name()} returned an invalid gradient at index {k} - got "
                    f"{list(g._value.shape)} but expected shape compatible with {list(shape)}"
                )
            lead = len(g._value.shape) - len(shape)
            dims = [
                *range(lead),
                *[lead + d for d, n in enumerate(shape) if n == 1 and g._value.shape[lead + d] != 1],
            ]
            g = g.sum(dims, keepdim=True).reshape(shape)
        if g._value.dtype.kind == "c" and self._in_dtypes[k].kind == "f":
            raise RuntimeError(
                f"Function {self._name()} returned a complex gradient at index {k} for a real input; return "
                "its real part"
            )
        return g

    _in_shapes: dict[int, tuple[int, ...]]
    _in_dtypes: dict[int, Any]

    def release(self) -> None:
        """Free the saved tensors."""
        if self._kept:
            self._kept = None

    def __getattr__(self, name: str) -> Anything:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


_OUTPUT = object()
FunctionCtx = FunctionNode
BackwardCFunction = FunctionNode


class Function:
    """A differentiable operation with a `forward` and a `backward` of the user's.

    >>> class Cube(fg.torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x**2
    >>> x = fg.torch.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    _node_class: Any = None
    _backward_cls: Any = None
    """The class of its nodes, under PyTorch's name for it."""
    node_name: ClassVar[str] = ""
    """What nodes are called, where that is not the name of the class and "Backward"."""
    generate_vmap_rule = False

    def __init_subclass__(cls) -> None:
        cls._node_class = cls._backward_cls = type(
            cls.node_name or f"{cls.__name__}Backward",
            (FunctionNode,),
            {"function": cls, "__module__": cls.__module__},
        )

    def __init__(self, *args: Anything, **kwargs: Anything) -> None:
        """Take anything: functions are called by `apply`, as classes."""

    def __call__(self, *args: Anything, **kwargs: Anything) -> Anything:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Anything, **kwargs: Anything) -> Operands:
        """Compute the result; override it."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: Operands, output: object) -> Operands:
        """Save what `backward` needs, where `forward` takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Anything, *grad_outputs: Operand) -> Operands:
        """The gradients of the inputs from those of the outputs; override it (or `vjp`)."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: FunctionCtx, *grad_outputs: Operand) -> Operands:
        """Another name for `backward`."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: FunctionCtx, *grad_inputs: object) -> Operands:
        """Forward mode, which is not asked for here."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Anything, in_dims: Anything, *args: Operand) -> Operands:
        """The results for a whole mapped dimension, and where that lies in them; override it."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Anything, **kwargs: Anything) -> Operands:
        """Run `forward`, and remember to run `backward`."""
        node = cls._node_class()
        separate = cls.setup_context is not Function.setup_context
        if separate:
            args = with_defaults(cls.forward, args, kwargs)
        args = by_position(cls.forward, args, {} if separate else kwargs)
        tensors = [x for x in args if isinstance(x, Tensor)]
        remembering = MODES.grad and any(t._rg for t in tensors)
        if is_traced(args):
            if MODES.mapping is not None:
                MODES.mapping.meet(cls, remembering)
            if not remembering:
                return recorded_call(cls, args, separate)
        node.about(args, [t._rg and MODES.grad for t in tensors])
        edges = tuple([(t._node or t) if t._rg else None for t in tensors])
        node.seq = next(SEQUENCE)
        with no_grad():
            if separate:
                out = cls.forward(*args)
                cls.setup_context(node, args, out)
                if remembering:
                    require_views(node, args, out)
            else:
                out = cls.forward(node, *args)
        return with_history(node, out, tensors, edges, remembering)


Function._node_class = Function._backward_cls = type(
    "FunctionBackward", (FunctionNode,), {"function": Function, "__module__": Function.__module__}
)


class Transposed(Function):
    """A rule of the user's for tangents, transposed: of cotangents that count by their history alone."""

    @staticmethod
    def forward(ctx: FunctionNode, node: FunctionNode, *cotangents: Tensor) -> tuple[Tensor, ...]:
        """Zeros of the shapes of the node's inputs."""
        ctx.node = node
        return tuple([wrap(np.zeros(node._in_shapes[k], node._in_dtypes[k])) for k in node._tensor_inputs])

    @staticmethod
    def backward(ctx: FunctionNode, *tangents: Tensor) -> tuple[Any, ...]:
        """The tangents of the node's outputs."""
        node = ctx.node
        given: list[Any] = [None] * node._count
        for k, t in zip(node._tensor_inputs, tangents, strict=True):
            given[k] = t
        node._in_jvp = True
        try:
            found = node.function.jvp(node, *given)
        finally:
            node._in_jvp = False
        return (None, *(found if isinstance(found, tuple) else (found,)))


class InplaceFunction(Function):
    """A `Function` whose instances remember whether they work in place."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


class DelayedError(Node):
    """The node of gradients that have no derivative: raises when a backward pass comes to it."""

    is_python = True

    def __init__(self, edges: tuple[Any, ...]) -> None:
        self.edges = edges
        self.seq = next(SEQUENCE)

    def backward_python(self, cotangents: list[Any]) -> list[Any]:
        """Raise RuntimeError."""
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(function: Callable[..., Any]) -> Operands:
    """Mark a backward that cannot be differentiated again: a second pass through its results raises."""

    @functools.wraps(function)
    def once(ctx: Anything, *grads: Operand) -> Operands:
        with no_grad():
            found = function(ctx, *grads)
        edges = tuple([edge_of(g) for g in grads if isinstance(g, Tensor) and g._rg])
        if not MODES.grad or not edges:
            return found
        parts = found if isinstance(found, tuple) else (found,)
        guarded = []
        for part in parts:
            t = part
            if isinstance(part, Tensor) and part._value.dtype.kind in "fc":
                t = alias_of(part)
                t._node, t._rg = DelayedError(edges), True
            guarded.append(t)
        return tuple(guarded) if isinstance(found, tuple) else guarded[0]

    return once
