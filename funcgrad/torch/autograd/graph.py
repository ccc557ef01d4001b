"""Looking at histories: gradient edges, and nodes as a class to test against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import funcgrad as fg
from funcgrad.torch.autograd.variable import Variable
from funcgrad.torch.core.backward.engine import Captures, run_backward
from funcgrad.torch.core.backward.history import Node, Output, accumulator_of
from funcgrad.torch.core.backward.hooks import RemovableHandle, added_hook
from funcgrad.torch.core.backward.packing import disabled, hooked
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.core.unsupported import missing
from funcgrad.types import Anything, Array, Tree

__all__ = [
    "GradientEdge",
    "Node",
    "Variable",
    "allow_mutation_on_saved_tensors",
    "backward_program",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class GradientEdge(tuple[Any, ...]):
    """A node and the number of its output: where a gradient goes."""

    spec: tuple[Any, Any] | None = None
    """The shape and dtype of the output, where they are known."""

    def __new__(cls, node: Anything, output_nr: int, ownership_token: Anything = None) -> GradientEdge:
        return tuple.__new__(cls, (node, output_nr))

    def __repr__(self) -> str:
        return f"GradientEdge(node={self[0]}, output_nr={self[1]}, ownership_token=None)"

    @property
    def leaf(self) -> Anything:
        """The leaf, where the edge leads to one."""
        return self[0].variable

    def shaped(self) -> Tensor:
        """A tensor of the shape and dtype of the output."""
        if self.spec is None:
            raise RuntimeError("the gradient at an edge has to be given: nothing is known of its shape")
        return wrap(np.zeros(*self.spec))

    @property
    def node(self) -> Anything:
        """The node."""
        return self[0]

    @property
    def output_nr(self) -> int:
        """The number of its output."""
        return self[1]  # type: ignore[no-any-return]

    @property
    def edge(self) -> Anything:
        """The edge as histories hold it."""
        node = self[0]
        if hasattr(node, "variable"):
            return node.variable
        return node if node.outputs == 1 else Output(node, self[1])


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge where the gradient of a tensor goes."""
    if not tensor._rg:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    node = tensor.grad_fn or accumulator_of(tensor)
    edge = GradientEdge(node, tensor.output_nr)
    edge.spec = tensor._value.shape, tensor._value.dtype
    return edge


def backward_program(output: Tensor, inputs: Operands) -> fg.Program:
    """The backward pass from a tensor to others as one Program: a cotangent in, gradients out.

    Saved values are captured arrays of the Program; the history stays as it is.

    >>> x = fg.torch.tensor([1.0, 2.0], requires_grad=True)
    >>> program = backward_program((x.sin() * 3.0).sum(), x)
    >>> print(program.text(sources=False))
    program pass_back(cotangent: f32[]):
      captured a: f32[2] = [1.0, 2.0]
      b: f32[2] = broadcast(cotangent, shape=(2,), axes=())
      c: f32[2] = mul(b, 3.0:f32)
      d: f32[2] = cos(a)
      e: f32[2] = mul(c, d)
      return e
    """
    wanted = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)

    def pass_back(cotangent: Array) -> Operands:
        captures = Captures([t._node or t for t in wanted])
        return run_backward([output._node or output], [cotangent], True, False, captures)

    return fg.make_program(pass_back)(output._value)


def increment_version(tensor: Operand) -> None:
    """Count a change of a tensor's memory that was made behind its back."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._version_box[0] += 1


@contextmanager
def preserved_version(tensor: Tree) -> Iterator[None]:
    """Changes in place that do not count, while this is open."""
    boxes = [t._version_box for t in ((tensor,) if isinstance(tensor, Tensor) else tensor)]
    before = [box[0] for box in boxes]
    try:
        yield
    finally:
        for box, version in zip(boxes, before, strict=True):
            box[0] = version


def register_multi_grad_hook(
    tensors: Operands, fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` with the gradients of several tensors, once in each backward pass.

    By default when all that the pass computes are there (None for the others), with ``mode="any"`` at once.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    gathered: WeakKeyDictionary[Any, dict[int, Any]] = WeakKeyDictionary()
    handles = []
    holder: dict[int, Any] = {}

    def arrived(k: int) -> Callable[[Any], None]:
        def note(g: Array) -> None:
            found = gathered.setdefault(MODES.running, {})
            found[k] = g
            if mode == "any":
                if len(found) == 1:
                    fn(g)
            elif len(found) == sum(map(MODES.running.reaches, tensors)):
                fn([found.get(j) for j in range(len(tensors))])

        return note

    for k, t in enumerate(tensors):
        handles.append(t.register_hook(arrived(k)))

    class All(RemovableHandle):
        """Removes every hook."""

        def remove(self) -> None:
            for handle in handles:
                handle.remove()

    added_hook(holder, fn)
    return All(holder, 0)


class saved_tensors_hooks(ContextDecorator):
    """Pack what operations inside of this context save for their backward, and unpack it when it is needed.

    >>> x = fg.torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.numpy().tolist(), fg.torch.tensor):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._open: list[Any] = []

    def __enter__(self) -> None:
        context = hooked(self.pack_hook, self.unpack_hook)
        context.__enter__()
        self._open.append(context)

    def __exit__(self, *error: Array) -> None:
        self._open.pop().__exit__(*error)


def _itself(t: Tensor) -> Tensor:
    return t


class save_on_cpu(saved_tensors_hooks):
    """What is saved stays on the CPU, where everything is."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_itself, _itself)


class _AllowMutation:
    """The context of `allow_mutation_on_saved_tensors`."""

    def clear(self) -> None:
        """Nothing: copies belong to the nodes that need them."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutation]:
    """Let tensors that were saved be changed in place: what is saved inside of this context is a copy."""

    def copied(t: Tensor) -> Operands:
        return t.clone()

    with hooked(copied, _itself):
        yield _AllowMutation()


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse hooks of saved tensors inside of this context, with this message."""
    with disabled(error_message):
        yield


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
