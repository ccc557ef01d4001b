"""The history of tensors as a picture: what `backward()` will walk through, and what it has left behind.

Reads histories through what their nodes show (`next_functions`, `_saved_self` and their like), and draws with
`funcgrad.display`. Arrows run the way the values went: gradients come back against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.display.costs import size_words
from funcgrad.display.drawing.diagram import Diagram, Link, Row, drawn, small, title
from funcgrad.display.drawing.diagram import Node as Box
from funcgrad.display.drawing.svg import Picture, picture, shortened
from funcgrad.extend import Tracer
from funcgrad.torch.core.backward.history import Node, accumulator_of
from funcgrad.torch.core.backward.saved import saved_names
from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything, ArrayLike

__all__ = ["history_graph"]

SPELLED_UP_TO = 4
"""Elements of a tensor whose values are shown."""
LEGEND = (
    ("leaf", "pill", "leaf"),
    ("plain", "box", "where gradients add up"),
    ("forward", "box", "operation"),
    ("freed", "box", "operation, values freed"),
    ("result", "double", "result"),
)


def history_graph(
    y: object,
    params: Mapping[str, Tensor] | None = None,
    *,
    show_saved: bool = True,
    direction: str = "down",
    most: int = 120,
) -> Picture:
    """The picture of the history of a tensor, of a sequence of them, or of a dict of them by name.

    Leaves show their names (from `params`, such as ``dict(model.named_parameters())``) and shapes,
    operations the names of their nodes and what they saved, and `AccumulateGrad` the gradient that has been
    accumulated so far. Operations whose values a backward pass has freed are grey: their part of the
    gradient has been added. Histories of more than `most` operations show the latest ones. Raises TypeError
    for what is no tensor.

    >>> x = fg.torch.ones(1, requires_grad=True)
    >>> y, z = x**2, x**3
    >>> y.backward()
    >>> fg.torch.graph({"y": y, "z": z}, {"x": x})
    <Picture of history of y, z>
    """
    if direction not in ("down", "right"):
        raise ValueError(f"direction is 'down' or 'right', not {direction!r}")
    roots = named_roots(y)
    history = History(roots, dict(params or {}), show_saved, most)
    found = drawn(history.diagram(), sideways=direction == "right")
    kinds = {box.kind for box in history.boxes}
    label = f"history of {', '.join(name for name, _ in roots)}"
    return picture(*found, label, [entry for entry in LEGEND if entry[0] in kinds])


def named_roots(y: ArrayLike) -> list[tuple[str, Tensor]]:
    """The tensors to draw the history of, with names."""
    if isinstance(y, Tensor):
        found = [("result", y)]
    elif isinstance(y, Mapping):
        found = [(str(name), t) for name, t in y.items()]
    elif isinstance(y, Iterable):
        found = [(f"result {k}", t) for k, t in enumerate(y)]
    else:
        found = [("", y)]
    for _, t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"graph() draws the history of tensors, not of {type(t).__name__}")
    return found


class History:
    """The boxes and lines of a history."""

    def __init__(
        self, roots: Sequence[tuple[str, Tensor]], params: dict[str, Tensor], show_saved: bool, most: int
    ) -> None:
        self.roots = roots
        self.names: dict[int, str] = {}
        """Names of leaves and of the nodes of other tensors, by identity."""
        for name, t in params.items():
            if not isinstance(t, Tensor):
                raise TypeError(f"params[{name!r}] is no tensor but {type(t).__name__}")
            self.names[id(t)] = name
            if t.grad_fn is not None and t.grad_fn.outputs == 1:
                self.names[id(t.grad_fn)] = name
        self.show_saved = show_saved
        self.most = most
        self.boxes: list[Box] = []
        self.links: list[Link] = []
        self.numbers: dict[int, int] = {}
        """The box of each leaf and each node, by identity."""

    def diagram(self) -> Diagram:
        """All of them."""
        starts = [t.grad_fn if t.grad_fn is not None else _accumulator(t) for _, t in self.roots]
        nodes = nodes_behind([node for node in starts if node is not None])
        users = users_of(nodes)
        shown, rest = nodes, []
        if len(nodes) > self.most:
            newest = sorted([n for n in nodes if not is_accumulator(n)], key=_sequence, reverse=True)
            rest = newest[self.most :]
            hidden = {id(node) for node in rest}
            shown = [n for n in nodes if id(n) not in hidden and self.is_reached(n, users, hidden)]
        self.add_rest(rest)
        for node in shown:
            self.add_node(node, users)
        for node in shown:
            self.add_lines(node)
        for (name, t), node in zip(self.roots, starts, strict=True):
            self.add_result(name, t, node)
        return Diagram(self.boxes, self.links)

    @staticmethod
    def is_reached(node: object, users: Mapping[int, list[Any]], hidden: set[int]) -> bool:
        """Whether a node is used by something that is shown."""
        return not is_accumulator(node) or any(id(user) not in hidden for user in users[id(node)])

    # -- boxes -------------------------------------------------------------------------------------------

    def add_rest(self, rest: Sequence[Any]) -> None:
        """One box for the operations that are not shown."""
        if not rest:
            return
        self.numbers.update(dict.fromkeys([id(node) for node in rest], 0))
        rows = (title(f"… {len(rest)} earlier operations"), small("most= shows more of them"))
        self.boxes.append(Box("freed" if all(map(is_freed, rest)) else "forward", rows))

    def add_node(self, node: Node, users: Mapping[int, list[Any]]) -> None:
        """The box of a node; for an accumulator also that of its leaf."""
        if is_accumulator(node):
            self.add_leaf(node, users[id(node)])
            return
        self.numbers[id(node)] = len(self.boxes)
        name = self.names.get(id(node))
        rows = [title(_title(node), f" → {name}" if name else "")]
        rows += [small(text) for text in parameters(node)]
        if self.show_saved:
            rows += saved_rows(node)
        rows += kept_gradients(node)
        kind = "freed" if is_freed(node) else "forward"
        self.boxes.append(Box(kind, tuple(rows), node_tooltip(node)))

    def add_leaf(self, node: Node, users: Sequence[Any]) -> None:
        """The boxes of a leaf and of where its gradient arrives."""
        leaf = node.variable
        name = self.names.get(id(leaf)) or (leaf.name if isinstance(leaf.name, str) else None)
        rows = [title(name or "leaf"), small(type_text(leaf))]
        if value_text(leaf):
            rows.append(small(value_text(leaf), "fg-faded"))
        self.boxes.append(Box("leaf", tuple(rows), tensor_tooltip(leaf), "pill"))
        self.numbers[id(node)] = len(self.boxes)
        owner = name or "leaf"
        rows = [title("AccumulateGrad"), *gradient_rows(f"{owner}.grad", leaf.grad)]
        if len(users) > 1:
            rows.append(small(f"{len(users)} uses: their gradients are added"))
        tooltip = (
            f"Every backward pass adds to {owner}.grad what arrives here.\n{gradient_tooltip(leaf.grad)}"
        )
        self.links.append(Link(len(self.boxes) - 1, len(self.boxes), "leaf", type_text(leaf)))
        self.boxes.append(Box("plain", tuple(rows), tooltip))

    def add_lines(self, node: Node) -> None:
        """The lines into a node; those that a freed node ends are done with."""
        if is_accumulator(node):
            return
        seen = set()
        target = self.numbers[id(node)]
        for k, (used, number) in enumerate(node.next_functions):
            source = self.numbers.get(id(used)) if used is not None else None
            if source is None or (source, number) in seen:
                continue
            seen.add((source, number))
            kind = "freed" if is_freed(node) else self.boxes[source].kind
            tooltip = input_text(node, k)
            self.links.append(Link(source, target, kind, tooltip, number, dashed=kind == "freed"))

    def add_result(self, name: str, t: Tensor, node: object) -> None:
        """The box of a tensor whose history it is."""
        rows = [title(self.names.get(id(t), name)), small(type_text(t))]
        texts = (value_text(t), "a view" if t._is_view() else "", version_text(t))
        rows += [small(text, "fg-faded") for text in texts if text]
        if node is None:
            rows.append(small("has no history: requires_grad is False"))
        elif t.grad_fn is None:
            return  # a leaf has its box already
        self.boxes.append(Box("result", tuple(rows), tensor_tooltip(t), "double"))
        if node is not None:
            source = self.numbers[id(node)]
            self.links.append(
                Link(source, len(self.boxes) - 1, self.boxes[source].kind, type_text(t), t.output_nr)
            )


# -- walking through histories ----------------------------------------------------------------------------


def nodes_behind(starts: Iterable[Any]) -> list[Any]:
    """The nodes of a history, users before what they use, with accumulators where leaves are used."""
    found: dict[int, Any] = {}
    stack = list(reversed(list(starts)))
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            if not is_accumulator(node):
                stack += [used for used, _ in reversed(node.next_functions) if used is not None]
    return list(found.values())


def users_of(nodes: Iterable[Any]) -> dict[int, list[Any]]:
    """For each node, by identity, the nodes that use it, once for each use."""
    found: dict[int, list[Any]] = {id(node): [] for node in nodes}
    for node in nodes:
        for used, _ in () if is_accumulator(node) else node.next_functions:
            if used is not None:
                found[id(used)].append(node)
    return found


def is_accumulator(node: object) -> bool:
    """Whether a node stands for a leaf."""
    return hasattr(node, "variable")


def is_freed(node: object) -> bool:
    """Whether a backward pass has freed what the node saved."""
    if isinstance(node, Node) and node.saved is None:
        return True
    try:
        getattr(node, "saved_tensors", None)
    except RuntimeError:
        return True
    return False


def _accumulator(t: Tensor) -> Anything:
    return accumulator_of(t) if t.requires_grad else None


def _sequence(node: Anything) -> int:
    return int(node._sequence_nr())


# -- words ------------------------------------------------------------------------------------------------


def _title(node: Anything) -> str:
    return str(node.name()).rpartition("::")[2]


def parameters(node: Node) -> list[str]:
    """What an operation was told besides its inputs, in a short line."""
    op = getattr(type(node), "op", None)
    if op is None:
        return []
    plain = (bool, int, float, complex, str, tuple, np.number)
    found = [
        f"{name}={value}"
        for name, value in zip(op.param_names, node.params, strict=False)
        if isinstance(value, plain)
    ]
    return [shortened(", ".join(found), 40)] if found else []


def saved_rows(node: Node) -> list[Row]:
    """What an operation saved, and whether it was freed or changed since."""
    names = saved_names(node)
    if is_freed(node):
        return [small(f"freed: {', '.join(names)}" if names else "freed", "fg-freed")]
    if not names:
        count = len(getattr(node, "saved_tensors", ()) or ())
        return [small(f"saved: {count} tensor{'s' if count != 1 else ''}", "fg-saved")] if count else []
    rows = []
    for k, name in enumerate(names):
        text = f"saved {name}: {type_text(getattr(node, f'_saved_{name}'))}"
        version = changed(node, k)
        if version:
            text = f"{name} was changed in place: {version}"
        rows.append(small(text, "fg-saved"))
    return rows


def changed(node: Node, k: int) -> str:
    """How the version of a saved value differs from the one that was saved; nothing if it does not."""
    if 2 * k + 1 >= len(node.checks):
        return ""
    box, expected = node.checks[2 * k : 2 * k + 2]
    return "" if box[0] == expected else f"version {box[0]}, saved {expected}"


def kept_gradients(node: Node) -> list[Row]:
    """Gradients that tensors in the middle of a history keep."""
    extra = getattr(node, "extra", None)
    tensors = [reference() for reference in extra.retained.values()] if extra is not None else []
    return [row for t in tensors if t is not None for row in gradient_rows("retained grad", t.grad)]


def gradient_rows(name: str, grad: Tensor | None) -> list[Row]:
    """The gradient that has been accumulated, in the colour of everything that goes backward."""
    if grad is None:
        return [small(f"{name} is None")]
    text = value_text(grad) or type_text(grad)
    return [Row(((f"{name} = ", "fg-dim"), (text, "fg-strong fg-backward")))]


def type_text(t: object) -> str:
    """Shape and dtype."""
    if not isinstance(t, Tensor):
        return type(t).__name__
    return f"{tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}"


def value_text(t: Tensor) -> str:
    """The values of a small tensor; nothing for a large one, or one that is being recorded."""
    if t.numel() > SPELLED_UP_TO or is_recorded(t):
        return ""
    return shortened(str(t.detach()), 40)


def version_text(t: Tensor) -> str:
    """How often a tensor was changed in place."""
    version = 0 if t.is_inference() else t._version
    return f"changed in place: version {version}" if version else ""


def tensor_tooltip(t: Tensor) -> str:
    """What hovering over a tensor shows."""
    lines = [type_text(t), size_words(t.numel() * t.element_size()), *summary(t), version_text(t)]
    return "\n".join([line for line in lines if line])


def gradient_tooltip(grad: Tensor | None) -> str:
    """What hovering over an accumulated gradient shows."""
    return "No pass has yet." if grad is None else "\n".join([f"So far: {type_text(grad)}", *summary(grad)])


def summary(t: Tensor) -> list[str]:
    """The values of a tensor in a line."""
    if not t.numel() or is_recorded(t) or t.is_complex():
        return []
    values = np.asarray(t.detach().numpy(), np.float64)
    # A picture is no place to warn of infinities in.
    with np.errstate(all="ignore"):
        return [f"from {values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"]


def is_recorded(t: Tensor) -> bool:
    """Whether the tensor stands for a value of a trace."""
    return type(t._value) is Tracer


def input_text(node: Node, k: int) -> str:
    """The type of the value that a line carries, where the node knows it."""
    plan = getattr(node, "plan", None)
    if plan is not None and k < len(plan.in_specs):
        shape, dtype = plan.in_specs[k]
        return f"{shape} {dtype}"
    specs = getattr(node, "specs", ())
    return str(specs[k]) if k < len(specs) else ""


def node_tooltip(node: Node) -> str:
    """What hovering over an operation shows."""
    lines = [str(node.name())]
    saved = getattr(node, "saved", None)
    if saved:
        n_bytes = sum([x.nbytes for x in saved if isinstance(x, np.ndarray | np.generic)])
        lines.append(f"keeps {size_words(n_bytes)} for its backward")
    if is_freed(node):
        lines.append("A backward pass has freed what it kept, and has added its part to the gradients.")
    lines += [f"changed in place: {changed(node, k)}" for k in range(len(saved or ())) if changed(node, k)]
    return "\n".join(lines)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
