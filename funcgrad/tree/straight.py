"""Taking trees of one known structure apart, and making them, by straight-line code written for it.

Walking a structure costs some 100 ns a node; a line of Python that knows where the leaves are costs 20. What
is written here takes a tree only when it has exactly the structure that it was written for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from operator import itemgetter
from sys import intern
from types import FunctionType
from typing import Any

from funcgrad.tree.nodes import (
    DICT,
    LIST,
    TUPLE,
    CustomNode,
    DataclassNode,
    NamedTupleNode,
    NodeType,
    NoneNode,
    call_with_fields,
)
from funcgrad.tree.treedef import LEAF, TreeDef
from funcgrad.types import Anything

FEW = 8
"""Leaves of one container that are faster one by one."""

MOST_LEAVES = 2000
"""Leaves beyond which nobody waits for a microsecond."""

PLAIN_KEYS = (str, int, bytes)
"""Keys whose equality is beyond doubt."""


def straight_call(call: Callable[..., Any], arguments: TreeDef, result: TreeDef) -> Callable[..., Any] | None:
    """A function of positional and keyword arguments that hands their leaves to `call`, if it can be written.

    `arguments` is the structure of ``(args, kwargs)``, `result` that of what is made of the tuple that `call`
    returns. For arguments of another structure the function returns NotImplemented, as `call` may.

    >>> arguments = fg.tree.structure((({"w": 0, "b": 0},), {}))
    >>> swapped = straight_call(lambda b, w: (w, b), arguments, fg.tree.structure((0, [0])))
    >>> swapped(({"w": 1.0, "b": 2.0},), {}), swapped((3.0,), {})
    ((1.0, [2.0]), NotImplemented)
    """
    if max(arguments.num_leaves, result.num_leaves) > MOST_LEAVES:
        return None
    writer = _Writer(call)
    positional, keywords = arguments.children()
    if not (writer.take_all(positional, "args") and writer.take_all(keywords, "kwargs")):
        return None
    return writer.function(result)


def straight_result(result: TreeDef) -> Callable[[Sequence[Any]], Any]:
    """The function that makes a tree of this structure of its leaves, a tuple.

    >>> straight_result(fg.tree.structure([0, (0,)]))((1.0, 2.0))
    [1.0, (2.0,)]
    """
    writer = _Writer(None)
    return writer.compiled(["def straight(out):", *writer.result(result)])


def is_row(children: Sequence[TreeDef]) -> bool:
    """Whether children are many leaves, and nothing else: they are handed on together."""
    return len(children) > FEW and all(child is LEAF for child in children)


def is_called_with_fields(node_type: DataclassNode) -> bool:
    """Whether a class is called with its fields, and these can be written as keyword arguments."""
    names = (*node_type.data_fields, *node_type.static_fields)
    written = all(name.isidentifier() and not iskeyword(name) for name in names)
    return written and node_type.rebuild is call_with_fields


def order_of_call(node_type: DataclassNode) -> list[str] | None:
    """The fields in the order in which ``__init__`` takes them; None where a call has to name them.

    Python looks for each name among all that a function takes: a hundred of them cost it five microseconds.
    """
    cls, names = node_type.cls, {*node_type.data_fields, *node_type.static_fields}
    found = getattr(cls, "__init__", None)
    plain = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__  # type: ignore[comparison-overlap]
    if not plain or not isinstance(found, FunctionType):
        return None
    taken = [*found.__code__.co_varnames[1 : found.__code__.co_argcount]]
    return taken[: len(names)] if {*taken[: len(names)]} == names else None


def is_made_of_row(node_type: NodeType) -> bool:
    """Whether an object is made of its leaves together."""
    if isinstance(node_type, DataclassNode):
        in_order = order_of_call(node_type) == [*node_type.data_fields]
        return in_order and is_called_with_fields(node_type)
    return isinstance(node_type, NamedTupleNode) or node_type in (TUPLE, LIST, DICT)


class _Writer:
    """Collects the lines of one function, the names of its leaves, and the objects that it uses."""

    def __init__(self, call: Callable[..., Any] | None) -> None:
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self.making: list[str] = []
        self.names = self.made_leaves = self.rows = 0
        self.objects: dict[str, Any] = {"call": call}

    def named(self, thing: object) -> str:
        """A name for an object that the code uses."""
        name = f"o{len(self.objects)}"
        self.objects[name] = thing
        return name

    def take(self, treedef: TreeDef, name: str) -> bool:
        """Write what takes apart the tree that is called `name`; whether it can be written."""
        if not name.isidentifier():
            self.names += 1
            self.lines.append(f"t{self.names} = {name}")
            name = f"t{self.names}"
        if treedef is LEAF:
            self.leaves.append(name)
            return True
        node_type = treedef.node_type
        children = treedef.children()
        if isinstance(node_type, NoneNode):
            self.refuse(f"{name} is not None")
            return True
        assert node_type is not None
        takes = _TAKES.get(type(node_type))
        return takes is not None and takes(self, node_type, treedef.aux, children, name)

    def take_all(self, treedef: TreeDef, name: str) -> bool:
        """As `take`, for what is a tuple or a dictionary in every call."""
        children = treedef.children()
        if is_row(children):
            return self.take(treedef, name)
        self.refuse(f"len({name}) != {len(children)}")
        if not children or treedef.node_type is TUPLE:
            return self.parted(children, name)
        return self.entries(treedef.aux, children, name)

    def refuse(self, condition: str) -> None:
        """Write that trees for which this holds have another structure."""
        self.lines += [f"if {condition}:", "    return NotImplemented"]

    def sequence(
        self, node_type: NodeType, aux: Anything, children: list[TreeDef], name: str, *, counted: bool = True
    ) -> bool:
        """A tuple or a list."""
        length = f" or len({name}) != {len(children)}" if counted else ""
        self.refuse(f"type({name}) is not {self.named(node_type.cls)}{length}")
        if is_row(children):
            self.leaves.append(f"*{name}")
            return True
        return self.parted(children, name)

    def parted(self, children: list[TreeDef], name: str) -> bool:
        """The elements of a sequence, one by one."""
        parts = [f"{name}_{k}" for k in range(len(children))]
        if parts:
            self.lines.append(f"{', '.join(parts)}, = {name}")
        return self.all_taken(children, parts)

    def named_tuple(self, node_type: NodeType, aux: Anything, children: list[TreeDef], name: str) -> bool:
        """A named tuple: its class says how long it is."""
        return self.sequence(node_type, aux, children, name, counted=False)

    def mapping(self, node_type: NodeType, aux: Anything, children: list[TreeDef], name: str) -> bool:
        """A dictionary."""
        self.refuse(f"type({name}) is not dict or len({name}) != {len(children)}")
        return self.entries(aux, children, name)

    def entries(self, aux: Anything, children: list[TreeDef], name: str) -> bool:
        """The entries of a dictionary with keys whose equality is beyond doubt."""
        if any(type(key) not in PLAIN_KEYS for key in aux):
            return False
        if is_row(children):
            self.names += 1
            self.lines.append(f"t{self.names} = {self.named(itemgetter(*aux))}({name})")
            self.leaves.append(f"*t{self.names}")
            return True
        return self.all_taken(children, [f"{name}[{key!r}]" for key in aux])

    def record(self, node_type: NodeType, aux: Anything, children: list[TreeDef], name: str) -> bool:
        """A dataclass without static fields."""
        assert isinstance(node_type, DataclassNode)
        if node_type.static_fields:
            return False
        self.refuse(f"type({name}) is not {self.named(node_type.cls)}")
        return self.all_taken(children, [f"{name}.{field}" for field in node_type.data_fields])

    def custom(self, node_type: NodeType, aux: Anything, children: list[TreeDef], name: str) -> bool:
        """An object of a registered class, taken apart by what was registered."""
        self.refuse(f"type({name}) is not {self.named(node_type.cls)}")
        self.names += 1
        held, static = f"t{self.names}", f"a{self.names}"
        self.lines.append(f"{held}, {static} = {self.named(node_type.flatten)}({name})")
        known = self.named(aux)
        self.refuse(
            f"len({held}) != {len(children)} or ({static} is not {known} and not {static} == {known})"
        )
        if is_row(children):
            self.leaves.append(f"*{held}")
            return True
        return self.parted(children, held)

    def all_taken(self, children: list[TreeDef], names: list[str]) -> bool:
        """Take children apart; whether all of it can be written."""
        return all(self.take(child, name) for child, name in zip(children, names, strict=True))

    def made(self, treedef: TreeDef, leaves: list[str]) -> str:
        """The expression of a tree; takes its leaves from the front of `leaves`."""
        if treedef is LEAF:
            self.made_leaves += 1
            return leaves.pop(0)
        node_type = treedef.node_type
        assert node_type is not None
        if is_row(treedef.children()) and is_made_of_row(node_type):
            return self.made_row(node_type, treedef, leaves)
        parts = [self.made(child, leaves) for child in treedef.children()]
        if node_type is TUPLE:
            return f"({''.join(part + ', ' for part in parts)})"
        if node_type is LIST:
            return f"[{', '.join(parts)}]"
        if node_type is DICT:
            keys = [repr(key) if type(key) in PLAIN_KEYS else self.named(key) for key in treedef.aux]
            items = [f"{key}: {part}" for key, part in zip(keys, parts, strict=True)]
            return f"{{{', '.join(items)}}}"
        return self.made_object(node_type, treedef.aux, parts)

    def made_object(self, node_type: NodeType, aux: Anything, parts: list[str]) -> str:
        """The expression of an object of the user's, by the call that its node type would make."""
        if isinstance(node_type, DataclassNode) and is_called_with_fields(node_type):
            return self.called(node_type, aux, parts)
        inside = f"({''.join(part + ', ' for part in parts)})"
        if isinstance(node_type, CustomNode):
            return f"{self.named(node_type.from_children)}({self.named(aux)}, {inside})"
        if isinstance(node_type, NamedTupleNode):
            return f"{self.named(node_type.make)}({inside})"
        return f"{self.named(node_type.unflatten)}({self.named(aux)}, {inside})"

    def called(self, node_type: DataclassNode, static: Sequence[Any], parts: list[str]) -> str:
        """The expression of a dataclass: its call with the fields, as `call_with_fields` makes it."""
        given = dict(zip(node_type.data_fields, parts, strict=True))
        given.update({n: self.named(x) for n, x in zip(node_type.static_fields, static, strict=True)})
        order = order_of_call(node_type)
        operands = [f"{n}={x}" for n, x in given.items()] if order is None else [given[n] for n in order]
        return f"{self.named(node_type.cls)}({', '.join(operands)})"

    def made_row(self, node_type: NodeType, treedef: TreeDef, leaves: list[str]) -> str:
        """The expression of a container of many leaves, which takes them out of the results together."""
        self.rows += 1
        first, self.made_leaves = self.made_leaves, self.made_leaves + treedef.num_leaves
        taken = [leaves.pop(0) for _ in range(treedef.num_leaves)]
        if node_type is DICT:
            return self.made_dictionary(treedef.aux, taken)
        part = f"out[{first}:{self.made_leaves}]"
        if isinstance(node_type, DataclassNode):
            return f"{self.named(node_type.cls)}(*{part})"
        if isinstance(node_type, NamedTupleNode):
            return f"{self.named(node_type.make)}({part})"
        return part if node_type is TUPLE else f"[*{part}]"

    def made_dictionary(self, keys: Sequence[Any], leaves: list[str]) -> str:
        """The name of a dictionary of many leaves: a copy of one that has the keys, and so never grows."""
        name = f"d{self.rows}"
        # Written strings are interned: those of the copied dictionary are found by what they are.
        whole = dict.fromkeys([intern(key) if type(key) is str else key for key in keys])
        self.making.append(f"{name} = {self.named(whole)}.copy()")
        for key, leaf in zip(keys, leaves, strict=True):
            written = repr(key) if type(key) in PLAIN_KEYS else self.named(key)
            self.making.append(f"{name}[{written}] = {leaf}")
        return name

    def function(self, result: TreeDef) -> Callable[..., Any]:
        """The function of all that was taken, which makes a tree of what `call` returns."""
        lines = ["def straight(args, kwargs):", "    try:", *[f"        {line}" for line in self.lines]]
        lines += ["    except (KeyError, AttributeError, ValueError):", "        return NotImplemented"]
        if result.node_type is TUPLE and all(child is LEAF for child in result.children()):
            return self.compiled([*lines, f"    return call({', '.join(self.leaves)})"])
        lines += [
            f"    out = call({', '.join(self.leaves)})",
            "    if out is NotImplemented:",
            "        return out",
        ]
        return self.compiled([*lines, *self.result(result)])

    def result(self, result: TreeDef) -> list[str]:
        """The lines that return a tree of the leaves in `out`."""
        names = [f"r{k}" for k in range(result.num_leaves)]
        expression = self.made(result, list(names))
        if self.rows:
            self.made_leaves, self.making = 0, []
            expression, names = self.made(result, [f"out[{k}]" for k in range(len(names))]), []
        lines = [f"    {', '.join(names)}, = out"] if names else []
        return [*lines, *(f"    {line}" for line in self.making), f"    return {expression}"]

    def compiled(self, lines: list[str]) -> Callable[..., Any]:
        """The function that lines define."""
        namespace: dict[str, Any] = {**self.objects}
        exec("\n".join(lines), namespace)
        found: Callable[..., Any] = namespace["straight"]
        return found


_TAKES: Mapping[type[NodeType], Callable[..., bool]] = {
    type(TUPLE): _Writer.sequence,
    type(LIST): _Writer.sequence,
    type(DICT): _Writer.mapping,
    NamedTupleNode: _Writer.named_tuple,
    DataclassNode: _Writer.record,
    CustomNode: _Writer.custom,
}
