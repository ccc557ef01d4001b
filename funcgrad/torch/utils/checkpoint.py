"""`checkpoint`: forget what a function computed, and compute it again in the backward pass."""

from __future__ import annotations

import enum
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from funcgrad.torch.core.backward.arrivals import accumulate, as_tensor
from funcgrad.torch.core.backward.engine import Captures, nodes_behind, run_backward
from funcgrad.torch.core.backward.grad_mode import enable_grad, no_grad
from funcgrad.torch.core.backward.history import Node, Output, changed_message
from funcgrad.torch.core.backward.packing import hooked, pack
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.core.unsupported import missing
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.types import Anything, Tree

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands

__all__ = [
    "CheckpointError",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """A function that was run again did something else."""


_CHECKS = ("default", "none")
_STOPS_EARLY: ContextVar[bool] = ContextVar("checkpoint_stops_early", default=True)


class _Stop(Exception):
    """All that is needed has been computed again."""


class Frame:
    """One call of `checkpoint`: counts what its function saves, and runs it again when that is needed."""

    def __init__(
        self, function: Callable[..., Any], args: Anything, kwargs: Anything, preserve: bool
    ) -> None:
        self.function = function
        self.state = default_generator.get_state() if preserve else None
        self.context: Callable[[], Any] = nullcontext
        self.checked = True
        self.stops = _STOPS_EARLY.get()
        self.noted: list[tuple[Any, Any]] = []
        """Shapes and dtypes of what was saved, in order."""
        self.held: dict[int, Tensor] = {}
        """What has been computed again and is not yet used."""
        self.arguments = replaced((args, kwargs), Argument)  # type: ignore[arg-type]

    def pack(self, t: Tensor) -> int:
        """Forget a tensor; its number."""
        self.noted.append((t._value.shape, t._value.dtype))
        return len(self.noted) - 1

    def unpack(self, k: int) -> Tensor:
        """The tensor with this number, computed again."""
        if k not in self.held:
            self.run_again()
        return self.held.pop(k)

    def run_again(self) -> None:
        """Compute all that was saved once more. CheckpointError where the function does something else."""
        wanted = list(self.noted)
        self.held.clear()
        args, kwargs = restored(self.arguments)
        before = default_generator.get_state()
        if self.state is not None:
            default_generator.set_state(self.state)
        try:
            # The pack hook stops the second run where the last tensor that is wanted has come.
            with suppress(_Stop), enable_grad(), hooked(self.keeper(wanted), _unpacked), self.context():
                self.function(*args, **kwargs)
        finally:
            default_generator.set_state(before)
        if len(self.held) < len(wanted):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
                f"and recomputation: {len(wanted)} then, {len(self.held)} now. Functions under checkpoint "
                "must do the same twice."
            )

    def keeper(self, wanted: list[tuple[Any, Any]]) -> Callable[[Tensor], Tensor]:
        """The pack hook of the second run."""
        seen = itertools.count()

        def keep(t: Tensor) -> Tensor:
            k, kept = next(seen), t.detach()
            if k >= len(wanted):
                return kept
            now = (t._value.shape, t._value.dtype)
            if self.checked and now != wanted[k]:
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                    f"metadata than during the forward pass.\ntensor at position {k}: {wanted[k][0]}, "
                    f"{wanted[k][1]} in the forward pass, {now[0]}, {now[1]} in the recomputation. Functions "
                    "under checkpoint must do the same twice."
                )
            self.held[k] = kept
            if self.stops and k + 1 == len(wanted):
                raise _Stop
            return kept

        return keep


def _unpacked(t: Tensor) -> Tensor:
    return t


class Argument:
    """A tensor argument, kept for the second run: packed where the call is inside of another checkpoint."""

    __slots__ = ("box", "kept", "version")

    def __init__(self, t: Tensor) -> None:
        self.box = t._version_box
        self.version = t._version_box[0]
        self.kept: Any = t
        if MODES.saved_hooks and MODES.grad and t._node is not None:
            self.kept = (pack(t._value, t._node), t._node)

    def tensor(self) -> Tensor:
        """The tensor; RuntimeError if it was changed in place since."""
        if isinstance(self.kept, Tensor):
            if self.box[0] != self.version:
                edge = self.kept._node
                raise RuntimeError(changed_message(self.kept._value, self.box, self.version, edge))
            return self.kept
        packed, edge = self.kept
        t = wrap(packed.value())
        t._node, t._rg = edge, True
        return t


def restored(arguments: Tree) -> Tree:
    """The arguments of the first run."""
    if type(arguments) is Argument:
        return arguments.tensor()
    if isinstance(arguments, tuple) and hasattr(arguments, "_fields"):
        return type(arguments)(*map(restored, arguments))
    if type(arguments) in (tuple, list):
        return type(arguments)(map(restored, arguments))
    if isinstance(arguments, dict):
        return {key: restored(x) for key, x in arguments.items()}
    return arguments


class CheckpointFunctionBackward(Node):
    """A node that runs its function again, and then backward through it."""

    is_python = True

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Anything, state: Anything
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.state = state

    def backward_python(self, cotangents: list[Any]) -> list[Any]:
        """The gradients of the tensor arguments; those of captured leaves are added to them at once."""
        if MODES.running.captures is not None:
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
        pairs = [(o, g) for o, g in zip(tensors_in(out), cotangents, strict=True) if o._rg and g is not None]
        wanted = [t for t in own if t._rg]
        captured = captured_leaves([o for o, _ in pairs], wanted)
        found: Any = [None] * (len(wanted) + len(captured))
        if pairs and found:
            asked = Captures([t._node or t for t in (*wanted, *captured)])
            roots = [o._node or o for o, _ in pairs]
            given = [g if create else g._value for _, g in pairs]
            found = [as_tensor(g) for g in run_backward(roots, given, True, create, asked)]
        grads = iter(found)
        of_arguments = [next(grads) if t._rg else None for t in own]
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


class CheckpointPolicy(enum.Enum):
    """What a policy may say of the results of an operation inside of a checkpoint."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What PyTorch hands to a policy; no policy is asked here."""

    def __init__(self, *, is_recompute: bool, op_output: object = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(
    policy_fn_or_list: object, allow_cache_entry_mutation: bool = False
) -> tuple[Any, ...]:
    """Contexts that do nothing: all is computed again, whatever a policy would keep. The same numbers."""
    return noop_context_fn()


def warn_of_reentrance(
    use_reentrant: bool | None, kwargs: Mapping[str, object], tensors: list[Tensor]
) -> None:
    """PyTorch's warnings of its old way, and what that refuses."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. In version "
            "2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass "
            "use_reentrant=True.",
            UserWarning,
            stacklevel=3,
        )
    if use_reentrant is not False:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if not any(t._rg for t in tensors):
            message = "None of the inputs have requires_grad=True. Gradients will be None"
            warnings.warn(message, UserWarning, stacklevel=3)


def checkpoint(
    function: Callable[..., Any],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
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
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {_CHECKS}, but got {determinism_check!r}")
    tensors = tensors_in((args, kwargs))
    warn_of_reentrance(use_reentrant, kwargs, tensors)
    if use_reentrant is False:
        frame = Frame(function, args, kwargs, preserve_rng_state)
        first, frame.context = split(context_fn())
        frame.checked = determinism_check != "none"
        with hooked(frame.pack, frame.unpack), first:
            return function(*args, **kwargs)
    state = default_generator.get_state() if preserve_rng_state else None
    with no_grad():
        out = function(*args, **kwargs)
    if MODES.grad and any(t._rg for t in tensors):
        remember(CheckpointFunctionBackward(function, args, kwargs, state), tensors, tensors_in(out))
    return out


def split(contexts: tuple[Any, Any]) -> tuple[Any, Callable[[], Any]]:
    """The context of the first run, and a function that gives that of the second."""
    first, second = contexts
    return first, lambda: second


def remember(node: Node, tensors: list[Tensor], outs: list[Tensor]) -> None:
    """Give results the history that they come from these tensors by this node."""
    node.edges = tuple([(t._node or t) if t._rg else None for t in tensors])
    node.outputs = len(outs)
    node.seq = next(SEQUENCE)
    for k, t in enumerate(outs):
        if t._value.dtype.kind in "fc" and not any(t is x for x in tensors):
            t._node = node if len(outs) == 1 else Output(node, k)
            t._rg = True


def checkpoint_sequential(
    functions: Anything,
    segments: int,
    input: Operand,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
) -> Operands:
    """Functions one after another, in checkpointed segments."""
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = max(len(steps) // segments, 1)

    def through(part: list[Any]) -> Callable[[Any], Any]:
        def run(x: Anything) -> Anything:
            for step in part:
                x = step(x)
            return x

        return run

    for k in range(0, len(steps), size):
        part = steps[k : k + size]
        if k + size >= len(steps):
            input = through(part)(input)
        else:
            input = checkpoint(
                through(part), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
            )
    return input


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether functions stop where they are run again as soon as all that is needed is there (they do)."""
    token = _STOPS_EARLY.set(enable)
    try:
        yield
    finally:
        _STOPS_EARLY.reset(token)


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accept the wish for more information: errors have the user's lines as it is."""
    yield


def check_backward_validity(inputs: Iterable[object]) -> None:
    """Warn where none of the inputs requires grad."""
    if not any(isinstance(t, Tensor) and t._rg for t in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: tuple[object, ...]) -> tuple[Any, ...]:
    """A tuple with leaves on the same memory for its tensors; RuntimeError for what is no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple([_own(t) if isinstance(t, Tensor) else t for t in inputs])


def get_device_states(*args: object) -> tuple[list[int], list[Tensor]]:
    """Nothing: there are no devices whose random numbers have a state of their own."""
    return [], []


def set_device_states(
    devices: Iterable[int], states: Iterable[Tensor], *, device_type: str | None = None
) -> None:
    """Do nothing: there are no devices whose random numbers have a state of their own."""


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise missing(__name__, name)
