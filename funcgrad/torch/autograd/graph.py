"""Looking at histories: gradient edges, and nodes as a class to test against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.history import Node, Output, accumulator_of
from funcgrad.torch.core.hooks import RemovableHandle, added_hook
from funcgrad.torch.core.tensor import Tensor

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "increment_version", "register_multi_grad_hook"]


class GradientEdge(tuple[Any, ...]):
    """A node and the number of its output: where a gradient goes."""

    __slots__ = ()

    def __new__(cls, node: Any, output_nr: int, ownership_token: Any = None) -> GradientEdge:
        return tuple.__new__(cls, (node, output_nr))

    @property
    def node(self) -> Any:
        """The node."""
        return self[0]

    @property
    def output_nr(self) -> int:
        """The number of its output."""
        return self[1]  # type: ignore[no-any-return]

    @property
    def edge(self) -> Any:
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
    return GradientEdge(node, tensor.output_nr)


def increment_version(tensor: Any) -> None:
    """Count a change of a tensor's memory that was made behind its back."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._version_box[0] += 1


def register_multi_grad_hook(tensors: Any, fn: Callable[..., Any], *, mode: str = "all") -> RemovableHandle:
    """Call `fn` with the gradients of several tensors, once all (or any) of them are computed."""
    collected: dict[int, Any] = {}
    handles = []
    holder: dict[int, Any] = {}

    def arrived(k: int) -> Callable[[Any], None]:
        def note(g: Any) -> None:
            if mode == "any":
                if not collected:
                    collected[k] = g
                    fn(g)
                return
            collected[k] = g
            if len(collected) == len(tensors):
                grads = [collected.get(j) for j in range(len(tensors))]
                collected.clear()
                fn(grads)

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


class saved_tensors_hooks:
    """Would pack saved tensors; here what is saved are plain arrays, and the hooks see them as they are."""

    def __init__(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        raise NotImplementedError(
            "funcgrad.torch does not support saved_tensors_hooks; use funcgrad.torch.utils.checkpoint to "
            "keep less"
        )
