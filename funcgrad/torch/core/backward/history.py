"""Histories: what an operation remembers, so that a later backward pass can replay it.

An `Op` is an array function, which evaluates on arrays and records on tracers, with the name PyTorch gives
its node. A `Node` is one call of it: parameters, the edges to where its inputs came from, and the values
that its pullback needs. No derivative is written here; `plans` asks the public `vjp` for it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from funcgrad.torch.core.backward.hooks import added_hook
from funcgrad.torch.core.dtypes import TYPE_NAMES
from funcgrad.torch.core.meta import is_shape_only
from funcgrad.torch.core.operand import Operand
from funcgrad.types import Anything, ArrayLike, Arrays

if TYPE_CHECKING:
    from funcgrad.torch.core.backward.plans import Plan
    from funcgrad.torch.core.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward."
)


class Extra:
    """What few nodes have: hooks, metadata, and tensors that keep their gradient."""

    __slots__ = ("anomaly", "hooks", "metadata", "posthooks", "prehooks", "retained", "warned")

    def __init__(self) -> None:
        self.hooks: dict[int, dict[int, Any]] = {}
        """Hooks of the outputs' tensors, by the number of the output."""
        self.prehooks: dict[int, Any] = {}
        self.posthooks: dict[int, Any] = {}
        self.retained: dict[int, Any] = {}
        """Weak references to tensors that keep their gradient, by the number of the output."""
        self.metadata: dict[Any, Any] = {}
        self.anomaly: Any = None


class NodeMethod:
    """A method of a node that prints as PyTorch's built-in one does."""

    __slots__ = ("_node", "_text")

    def __init__(self, node: Node, text: str) -> None:
        self._node = node
        self._text = text

    def __call__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        node = self._node
        return f"<built-in method name of {type(node).__name__} object at {hex(id(node))}>"


class Node:
    """One operation in a history: the ``grad_fn`` of what it returned."""

    if TYPE_CHECKING:  # what the modules above install, by `node_method`

        def __call__(self, *grads: Operand) -> Anything: ...
        def __getattr__(self, name: str) -> Anything: ...

    # Defaults live on the class: a node stores only what differs.
    op: Op
    params: tuple[Any, ...] = ()
    edges: tuple[Any, ...] = ()
    needs = 1
    """Bit k: input k requires grad."""
    saved: tuple[Any, ...] | None = ()
    """The values that the pullback needs, in the order of the plan; None once freed."""
    checks: tuple[Any, ...] = ()
    """Version counters of the saved values and the versions they must still have."""
    plan: Plan | None = None
    specs: tuple[Any, ...] = ()
    """The shapes of the inputs, all of the dtype of the output, where the plan is found later."""
    outputs = 1
    seq = -1
    extra: Extra | None = None
    is_python = False
    """Whether `backward_python` takes and returns tensors instead of the plan arrays."""

    def _name(self) -> str:
        return type(self).__name__

    @property
    def name(self) -> NodeMethod:
        """The name of the operation's backward."""
        return NodeMethod(self, self._name())

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that the gradients of this one go to, with the numbers of their outputs."""
        edges = self.edges
        shown = self.op.visible if hasattr(type(self), "op") else None
        if shown is not None:
            # Parameters that were left out have a place as well.
            edges = (*edges[:shown], *(None,) * (shown - len(edges)))
        return tuple([(edge_node(e), edge_number(e)) for e in edges])

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes."""
        return self.more().metadata

    def more(self) -> Extra:
        """The rarely needed part, made when first needed."""
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    def _sequence_nr(self) -> int:
        return self.seq

    def register_hook(self, hook: Callable[..., Any]) -> Anything:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran backward."""
        return added_hook(self.more().posthooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Anything:
        """Call ``hook(grad_outputs)`` before this node runs backward."""
        return added_hook(self.more().prehooks, hook)

    @property
    def is_freed(self) -> bool:
        """Whether the saved values are gone."""
        return self.saved is None

    def release(self) -> None:
        """Free the saved values."""
        if self.saved:
            self.saved = None

    def keep_copy(self, k: int) -> None:
        """Copy the saved value with this number, whose memory is about to be written."""
        saved = list(self.saved or ())
        if type(saved[k]) is np.ndarray:
            saved[k] = np.array(saved[k])
        self.saved = tuple(saved)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def node_method(name: str) -> Callable[[F], F]:
    """Give the decorated function to `Node` as a method."""

    def install(function: F) -> F:
        setattr(Node, name, function)
        return function

    return install


class Output:
    """The edge of one result among several: a node and the number of its output."""

    __slots__ = ("node", "number")

    def __init__(self, node: Node, number: int) -> None:
        self.node = node
        self.number = number


class AccumulateGrad(Node):
    """Where the gradient of a leaf arrives; made only for those who look at `next_functions`."""

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable
        self.seq = (1 << 64) - 1

    def _name(self) -> str:
        return "torch::autograd::AccumulateGrad"


def edge_node(edge: Anything) -> Anything:
    """The node of an edge, as `next_functions` shows it."""
    if edge is None or isinstance(edge, Node):
        return edge
    if isinstance(edge, Output):
        return edge.node
    return accumulator_of(edge)


def edge_number(edge: Anything) -> int:
    """The number of the output that an edge stands for."""
    return edge.number if isinstance(edge, Output) else 0


def edge_of(tensor: Tensor) -> Anything:
    """The edge to where a tensor's gradient goes: its node, the leaf itself, or None."""
    return (tensor._node or tensor) if tensor._rg else None


def accumulator_of(leaf: Tensor) -> AccumulateGrad:
    """The node that stands for a leaf."""
    if leaf._accumulator is None:
        leaf._accumulator = AccumulateGrad(leaf)
    return leaf._accumulator


_IN_ROWS = """
Cumsum Cumprod Logcumsumexp Softmax LogSoftmax Roll Sum Mean Amax Amin Aminmax Var Std Prod
LinalgVectorNorm Logsumexp NativeLayerNorm MaskedFill Cat Stack LogSigmoid Renorm LinalgCross Nansum
Convolution NativeBatchNorm NativeGroupNorm AvgPool2D AvgPool3D AdaptiveAvgPool2D AdaptiveAvgPool3D
MaxPool2DWithIndices MaxPool3DWithIndices AdaptiveMaxPool2D AdaptiveMaxPool3D
"""
IN_ROWS = frozenset(
    [f"{name}Backward0" for name in _IN_ROWS.split()]
    + [f"{name}Backward1" for name in ("Sum", "Mean", "Prod", "Var", "Std", "Norm")]
)
"""Operations whose results PyTorch lays out in rows however their operands lie; others follow operands."""


def laid_in_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """The array function with its results laid out in rows, so that they can be viewed in other shapes."""

    @functools.wraps(function)
    def laid_out(*args: Operand) -> Arrays:
        out = function(*args)
        if type(out) is tuple:
            return tuple([_rows(x) for x in out])
        return _rows(out)

    return laid_out


def _rows(x: ArrayLike) -> ArrayLike:
    return np.ascontiguousarray(x) if type(x) is np.ndarray and not x.flags.c_contiguous else x


class Op:
    """An operation: what it computes, and what its node is called."""

    __slots__ = (
        "__weakref__",
        "cast_op",
        "function",
        "input_names",
        "inverse",
        "keeps_result",
        "masks",
        "name",
        "node_class",
        "output_names",
        "param_names",
        "plans",
        "title",
        "visible",
    )

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        keeps_result: bool = False,
        inverse: Callable[[Any], Any] | None = None,
        input_names: tuple[str, ...] = ("self", "other"),
        output_names: tuple[str, ...] = ("result",),
        param_names: tuple[str, ...] = (),
        visible: int | None = None,
        title: str | None = None,
        in_rows: bool = False,
    ) -> None:
        self.name = name
        self.function = laid_in_rows(function) if in_rows or name in IN_ROWS else function
        self.keeps_result = keeps_result
        """Whether the pullback uses the result where it can, as PyTorch does for ``exp`` and its like."""
        self.inverse = inverse
        """The input that a result comes from, where the result is kept instead of the input."""
        self.input_names = input_names
        self.output_names = output_names
        self.plans: dict[Any, Plan] = {}
        self.masks: dict[int, int] = {}
        """For pointwise operations: which values the pullback needs, by which inputs require grad."""
        self.cast_op: Op | None = None
        self.title = title
        self.param_names = param_names
        self.visible = visible
        """How many inputs `next_functions` shows: without indices, with parameters that were left out."""
        self.node_class = type(name, (Node,), {"op": self, "__module__": "builtins"})

    def __repr__(self) -> str:
        return f"Op({self.name})"


def op(name: str, **options: Anything) -> Callable[[Callable[..., Any]], Op]:
    """Make an `Op` of the decorated array function."""

    def made(function: Callable[..., Any]) -> Op:
        return Op(name, function, **options)

    return made


def short_name(node: Node) -> str:
    """The name of a node without what says that it goes backward."""
    return re.sub(r"Backward\d*$", "", node._name())


def changed_message(
    value: ArrayLike, box: list[Any], expected: int, edge: Anything, own: bool = False
) -> str:
    """What PyTorch says about a saved value that was changed in place.

    `edge` is where it came from when it was saved; the box of its version knows of a newer history.
    """
    word = TYPE_NAMES[value.dtype.name]
    kind = f"torch.{word}Tensor" if value.dtype.kind != "b" else "CPUBoolType"
    if is_shape_only(value):
        kind = f"Meta{word}Type"
    shape = ", ".join(map(str, value.shape))
    maker = ""
    if len(box) > 1 and box[1] is not None and not own:
        maker = f", which is output 0 of {box[1]},"
    elif isinstance(edge, Node | Output):
        maker = f", which is output {edge_number(edge)} of {short_name(edge_node(edge))},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} [{shape}]]{maker} is at version {box[0]}; expected version {expected} instead. Hint: "
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
