"""`checkpoint`: forget what a function computed, and compute it again in the backward pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from funcgrad.torch.core.backward.engine import Captures, accumulate, as_tensor, nodes_behind, run_backward
from funcgrad.torch.core.backward.grad_mode import enable_grad, no_grad
from funcgrad.torch.core.backward.history import Node, Output
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.types import Anything, Tree

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands

__all__ = [
    "CheckpointError",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]


class CheckpointError(RuntimeError):
    """A function that was run again did something else."""


def require_same(found: list[Any], made: list[Any]) -> None:
    """Raise CheckpointError where the second run of a function gave other shapes or dtypes than the first."""
    for k, (again, first) in enumerate(zip(found, made, strict=True)):
        if again != first:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata "
                f"than during the forward pass.\noutput {k}: {first[0]}, {first[1]} in the forward pass, "
                f"{again[0]}, {again[1]} in the recomputation. Functions under checkpoint must do the same "
                "twice."
            )


class CheckpointFunctionBackward(Node):
    """A node that runs its function again, and then backward through it."""

    is_python = True

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, state: Any) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.state = state
        self.checked = True
        """Whether the second run has to give outputs of the same shapes and dtypes, which are `made`."""
        self.made: list[Any] = []
        self.captured: list[Tensor] | None = None
        """The leaves that the function closes over; None if they are looked for in the second run."""

    def backward_python(self, cotangents: list[Any]) -> list[Any]:
        """The gradients of the tensor arguments and of the captured leaves."""
        if self.captured is None and MODES.running.captures is not None:
            raise RuntimeError(_REENTRANT)
        before = default_generator.get_state()
        if self.state is not None:
            default_generator.set_state(self.state)
        create = MODES.grad
        with enable_grad():
            # A derivative that is differentiated again leads back to the arguments themselves.
            own, own_args, own_kwargs = with_own(self.args, self.kwargs, _seen if create else _own)
            out = self.function(*own_args, **own_kwargs)
        default_generator.set_state(before)
        outs = tensors_in(out)
        if self.captured is not None and self.checked:
            require_same([(o._value.shape, o._value.dtype) for o in outs], self.made)
        pairs = [(o, g) for o, g in zip(outs, cotangents, strict=True) if o._rg and g is not None]
        wanted = [t for t in own if t._rg]
        captured = self.captured
        if captured is None:
            captured = captured_leaves([o for o, _ in pairs], wanted)
        found: Any = [None] * (len(wanted) + len(captured))
        if pairs and found:
            # Hooks of captured leaves are called by the pass that this one is a part of.
            asked = Captures([t._node or t for t in (*wanted, *captured)], raw=self.captured is not None)
            roots = [o._node or o for o, _ in pairs]
            given = [g if create else g._value for _, g in pairs]
            found = [as_tensor(g) for g in run_backward(roots, given, True, create, asked)]
        grads = iter(found)
        of_arguments = [next(grads) if t._rg else None for t in own]
        if self.captured is not None:
            return [*of_arguments, *grads]
        for leaf, g in zip(captured, grads, strict=True):
            if g is not None:
                accumulate(leaf, g if create else g._value, create)
        return of_arguments


_REENTRANT = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
    "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
    ".backward() without passing the `inputs` argument."
)


def _seen(t: Tensor) -> Tensor:
    return t.view_as(t) if t._rg else t


def _own(t: Tensor) -> Tensor:
    own = t.detach()
    own._rg = t._rg
    return own


def replaced(thing: Tree, change: Callable[[Tensor], Tensor]) -> Tree:
    """Tuples, lists and dictionaries with every tensor in them changed."""
    if isinstance(thing, Tensor):
        return change(thing)
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return type(thing)(*[replaced(x, change) for x in thing])
    if type(thing) in (tuple, list):
        return type(thing)([replaced(x, change) for x in thing])
    if isinstance(thing, dict):
        return {key: replaced(x, change) for key, x in thing.items()}
    return thing


def tensors_in(thing: object) -> list[Tensor]:
    """The tensors in tuples, lists and dictionaries, in order."""
    found: list[Tensor] = []

    def noted(t: Tensor) -> Tensor:
        found.append(t)
        return t

    replaced(thing, noted)
    return found


def with_own(
    args: object, kwargs: object, change: Callable[[Tensor], Tensor] = _own
) -> tuple[list[Tensor], Any, Any]:
    """Arguments in which every tensor is one of its own (a leaf, by default), and those tensors."""
    own_args, own_kwargs = replaced(args, change), replaced(kwargs, change)
    return tensors_in((own_args, own_kwargs)), own_args, own_kwargs


def captured_leaves(outs: list[Tensor], given: list[Tensor]) -> list[Tensor]:
    """The leaves behind outputs that are not among the given ones."""
    known = {id(t) for t in given}
    found: dict[int, Tensor] = {}
    for node in nodes_behind([o._node for o in outs if o._node is not None]):
        for e in node.edges:
            if isinstance(e, Tensor) and id(e) not in known:
                found[id(e)] = e
    return list(found.values())


def noop_context_fn() -> tuple[Any, ...]:
    """Contexts that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: object = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> Operands:
    """``function(*args)``, of which only the arguments are kept for the backward pass.

    >>> x = fg.torch.tensor(2.0, requires_grad=True)
    >>> fg.torch.utils.checkpoint.checkpoint(fg.torch.exp, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(7.3891)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. In version "
            "2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass "
            "use_reentrant=True.",
            UserWarning,
            stacklevel=2,
        )
    tensors = tensors_in((args, kwargs))
    if use_reentrant is not False:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if not any(t._rg for t in tensors):
            message = "None of the inputs have requires_grad=True. Gradients will be None"
            warnings.warn(message, UserWarning, stacklevel=2)
    state = default_generator.get_state() if preserve_rng_state else None
    captured: list[Tensor] = []
    if use_reentrant or not MODES.grad:
        with no_grad():
            out = function(*args, **kwargs)
    else:
        # With a history, which is dropped at once: hooks that are set inside belong to the second run.
        own, own_args, own_kwargs = with_own(args, kwargs)
        out = function(*own_args, **own_kwargs)
        captured = captured_leaves([t for t in tensors_in(out) if t._rg], own)
        out = replaced(out, lambda t: t.detach() if t._rg else t)
    if not MODES.grad or not (any(t._rg for t in tensors) or not use_reentrant):
        return out
    node = CheckpointFunctionBackward(function, args, kwargs, state)
    if not use_reentrant:
        node.captured = captured
        tensors = [*tensors, *captured]
    node.edges = tuple([(t._node or t) if t._rg else None for t in tensors])
    outs = tensors_in(out)
    node.checked = determinism_check != "none"
    node.made = [(t._value.shape, t._value.dtype) for t in outs]
    node.outputs = len(outs)
    node.seq = next(SEQUENCE)
    for k, t in enumerate(outs):
        if t._value.dtype.kind in "fc" and not any(t is x for x in tensors):
            t._node = node if len(outs) == 1 else Output(node, k)
            t._rg = True
    return out


def checkpoint_sequential(
    functions: Anything, segments: int, input: Operand, use_reentrant: bool = True, **options: object
) -> Operands:
    """Functions one after another, in checkpointed segments."""
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = max(len(steps) // segments, 1)

    def through(part: list[Any]) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in part:
                x = step(x)
            return x

        return run

    for k in range(0, len(steps), size):
        part = steps[k : k + size]
        if k + size >= len(steps):
            input = through(part)(input)
        else:
            input = checkpoint(through(part), input, use_reentrant=use_reentrant)
    return input


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Accepted without effect: a function is always run to its end again, which changes no result."""
    yield
