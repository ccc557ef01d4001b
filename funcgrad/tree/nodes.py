"""Owns how each kind of container comes apart into children and goes together again.

Does not decide which class is a container: that is the registry's. Knows nothing about whole trees.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from funcgrad.errors import TreeError
from funcgrad.tree.keys import DictKey, FlattenedIndexKey, GetAttrKey, Key, SequenceKey
from funcgrad.types import Anything, Tree

__all__ = [
    "BUILTIN_NODE_TYPES",
    "DICT",
    "LIST",
    "TUPLE",
    "Aux",
    "CustomNode",
    "DataclassNode",
    "NamedTupleNode",
    "NodeType",
    "Partial",
    "StaticNode",
    "Tree",
    "dataclass_node",
]

# What a container knows besides its children: dict keys, static fields. Compared with ==.
Aux: TypeAlias = Any

# `inspect.CO_VARKEYWORDS`, without the milliseconds that importing `inspect` takes.
_TAKES_ANY_KEYWORD = 0x08


class NodeType:
    """How containers of one class come apart into children and static data, and go together again."""

    __slots__ = ("cls",)

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        """The children of a node, in order, and its static data."""
        raise NotImplementedError

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        """The node made of static data and children; ``children`` still belongs to the caller."""
        raise NotImplementedError

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        """The names of the children, as far as they are known without a node at hand."""
        return tuple(FlattenedIndexKey(index) for index in range(count))

    def flatten_with_keys(self, node: Tree) -> tuple[Sequence[Tree], Aux, Sequence[Key]]:
        """What `flatten` returns, and the names of the children."""
        children, aux = self.flatten(node)
        return children, aux, self.keys(aux, len(children))

    def text(self, aux: Aux, children: Iterable[str]) -> str:
        """The printed form of a node whose children print as given."""
        return f"CustomNode({self.cls.__name__}[{aux}], [{', '.join(children)}])"

    def noun(self, count: int) -> str:
        """What an error message calls such a node, after "expected" or "got"."""
        return _with_article(self.cls.__name__)


class NoneNode(NodeType):
    """``None``, a container without children."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return (), None

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return None

    def text(self, aux: Aux, children: Iterable[str]) -> str:
        return "None"

    def noun(self, count: int) -> str:
        return "None"


class SequenceNode(NodeType):
    """What tuples, lists and deques have in common: numbered children."""

    __slots__ = ()

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        return tuple(SequenceKey(index) for index in range(count))

    def noun(self, count: int) -> str:
        return f"{_with_article(self.cls.__name__)} of {count}"


class TupleNode(SequenceNode):
    """Plain tuples."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return node, None

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return tuple(children)

    def text(self, aux: Aux, children: Iterable[str]) -> str:
        texts = list(children)
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


class ListNode(SequenceNode):
    """Plain lists."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return node, None

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return list(children)

    def text(self, aux: Aux, children: Iterable[str]) -> str:
        return f"[{', '.join(children)}]"


class DequeNode(SequenceNode):
    """Deques; the static data is ``maxlen``."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return tuple(node), node.maxlen

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return deque(children, maxlen=aux)


class MappingNode(NodeType):
    """What the kinds of dict have in common: children named by keys."""

    __slots__ = ()

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        return tuple(DictKey(key) for key in aux)

    def noun(self, count: int) -> str:
        keys = "key" if count == 1 else "keys"
        return f"{_with_article(self.cls.__name__)} with {count} {keys}"


class DictNode(MappingNode):
    """Plain dicts; the static data is the sorted keys, so insertion order is no part of the structure."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        keys = _sorted_keys(node)
        return [node[key] for key in keys], keys

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return dict(zip(aux, children, strict=True))

    def text(self, aux: Aux, children: Iterable[str]) -> str:
        items = (f"{key!r}: {child}" for key, child in zip(aux, children, strict=True))
        return f"{{{', '.join(items)}}}"


class OrderedDictNode(MappingNode):
    """Ordered dicts; the static data is the keys in their order."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return list(node.values()), tuple(node)

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return OrderedDict(zip(aux, children, strict=True))


class DefaultDictNode(MappingNode):
    """Default dicts; the static data is the factory and the sorted keys."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        keys = _sorted_keys(node)
        return [node[key] for key in keys], (node.default_factory, keys)

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        factory, keys = aux
        return defaultdict(factory, zip(keys, children, strict=True))

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        return super().keys(aux[1], count)


class NamedTupleNode(NodeType):
    """One class of namedtuples. Rebuilt with ``_make``, so a ``__new__`` of its own is not run again."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return node, None

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return self.make(children)

    @property
    def make(self) -> Callable[[Iterable[Tree]], Tree]:
        """What makes one of its elements."""
        return self.cls._make  # type: ignore[attr-defined,no-any-return]

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        return tuple(GetAttrKey(name) for name in self.cls._fields)  # type: ignore[attr-defined]

    def text(self, aux: Aux, children: Iterable[str]) -> str:
        return f"CustomNode(namedtuple[{self.cls.__name__}], [{', '.join(children)}])"


class DataclassNode(NodeType):
    """One class whose children are attributes; the static data is the values of its static fields."""

    __slots__ = ("data_fields", "rebuild", "static_fields")

    def __init__(
        self,
        cls: type,
        data_fields: Iterable[str],
        static_fields: Iterable[str],
        rebuild: Callable[[type, dict[str, Any]], Tree],
    ) -> None:
        super().__init__(cls)
        self.data_fields = tuple(data_fields)
        self.static_fields = tuple(static_fields)
        self.rebuild = rebuild

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        children = [getattr(node, name) for name in self.data_fields]
        return children, tuple([getattr(node, name) for name in self.static_fields])

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        fields = dict(zip(self.data_fields, children, strict=True))
        fields.update(zip(self.static_fields, aux, strict=True))
        return self.rebuild(self.cls, fields)

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        return tuple(GetAttrKey(name) for name in self.data_fields)


class StaticNode(NodeType):
    """One class whose instances are static data through and through."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return (), node

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return aux


class CustomNode(NodeType):
    """One class that a user registered, by functions of which nothing is taken on trust."""

    __slots__ = ("from_children", "to_children", "to_keyed_children")

    def __init__(
        self,
        cls: type,
        to_children: Callable[[Any], tuple[Iterable[Tree], Aux]] | None,
        from_children: Callable[[Aux, tuple[Tree, ...]], Any],
        to_keyed_children: Callable[[Any], tuple[Iterable[tuple[Key, Tree]], Aux]] | None,
    ) -> None:
        super().__init__(cls)
        self.to_children = to_children
        self.from_children = from_children
        self.to_keyed_children = to_keyed_children

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        if self.to_children is None:
            children, aux, _ = self.flatten_with_keys(node)
            return children, aux
        return self._checked(self.to_children(node))

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        return self.from_children(aux, tuple(children))

    def flatten_with_keys(self, node: Tree) -> tuple[Sequence[Tree], Aux, Sequence[Key]]:
        if self.to_keyed_children is None:
            return super().flatten_with_keys(node)
        pairs, aux = self._checked(self.to_keyed_children(node))
        return tuple(child for _, child in pairs), aux, tuple(key for key, _ in pairs)

    def noun(self, count: int) -> str:
        return f"{super().noun(count)} of {count}"

    def _checked(self, parts: Anything) -> tuple[tuple[Any, ...], Aux]:
        """The parts that a user's flatten function returned, if they are what it must return."""
        if isinstance(parts, tuple) and len(parts) == 2 and isinstance(parts[0], Iterable):
            return tuple(parts[0]), parts[1]
        raise TreeError(
            f"the function registered to flatten {self.cls.__qualname__} returned {parts!r}",
            remedy="It must return a tuple (children, static data) whose first part is iterable.",
        )


class Partial(functools.partial[Any]):
    """A `functools.partial` that is a pytree: the bound arguments are its children, the function is static.

    So a function with its parameters can be an argument of a transformed function.

    >>> scale = fg.tree.Partial(np.multiply, 3.0)
    >>> scale(2.0)
    np.float64(6.0)
    >>> fg.tree.leaves(scale)
    [3.0]
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Anything, **keywords: Anything) -> Partial:
        # `functools.partial` would take over the arguments of a plain partial, and make children of what
        # its owner never offered as such. A bound method is as good to call and to compare, and opaque.
        if isinstance(func, functools.partial) and not isinstance(func, Partial):
            func = func.__call__
        return super().__new__(cls, func, *args, **keywords)


class PartialNode(NodeType):
    """`Partial`; the static data is the function."""

    __slots__ = ()

    def flatten(self, node: Tree) -> tuple[Sequence[Tree], Aux]:
        return (node.args, node.keywords), node.func

    def unflatten(self, aux: Aux, children: Sequence[Tree]) -> Tree:
        args, keywords = children
        return Partial(aux, *args, **keywords)

    def keys(self, aux: Aux, count: int) -> tuple[Key, ...]:
        return GetAttrKey("args"), GetAttrKey("keywords")


TUPLE = TupleNode(tuple)
LIST = ListNode(list)
DICT = DictNode(dict)

BUILTIN_NODE_TYPES: tuple[NodeType, ...] = (
    NoneNode(type(None)),
    TUPLE,
    LIST,
    DICT,
    OrderedDictNode(OrderedDict),
    DefaultDictNode(defaultdict),
    DequeNode(deque),
    PartialNode(Partial),
)


def dataclass_node(cls: type) -> DataclassNode:
    """The node type of a dataclass: fields of ``__init__`` are children, unless marked as static.

    A class whose ``__init__`` cannot be called with its fields is rebuilt without calling it; as nothing
    then recomputes the fields with ``init=False``, they are children too.
    """
    init_fields = [field for field in fields(cls) if field.init]
    if _init_takes({field.name for field in init_fields}, cls):
        chosen, rebuild = init_fields, call_with_fields
    else:
        chosen, rebuild = list(fields(cls)), set_fields
    return DataclassNode(
        cls,
        [field.name for field in chosen if not field.metadata.get("static", False)],
        [field.name for field in chosen if field.metadata.get("static", False)],
        rebuild,
    )


def call_with_fields(cls: type, fields: dict[str, Any]) -> Anything:
    """An instance made as its class means it to be made, so that ``__post_init__`` runs."""
    return cls(**fields)


def set_fields(cls: type[Any], fields: dict[str, Any]) -> Anything:
    """An instance whose fields are set from outside, frozen or not."""
    # mypy takes the class for a metaclass here.
    made: Any = cls.__new__(cls)  # type: ignore[call-overload]
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def _init_takes(names: set[str], cls: type) -> bool:
    """Whether ``cls(**fields)`` is a call that ``__init__`` accepts, given fields of exactly these names."""
    init: Any = cls.__init__  # type: ignore[misc]
    code = getattr(init, "__code__", None)
    if code is None:
        return False
    if code.co_flags & _TAKES_ANY_KEYWORD:
        return True
    count = code.co_argcount
    keyword_only = code.co_varnames[count : count + code.co_kwonlyargcount]
    accepted = {*code.co_varnames[max(1, code.co_posonlyargcount) : count], *keyword_only}
    required = {*code.co_varnames[1 : count - len(init.__defaults__ or ())], *keyword_only}
    return required - (init.__kwdefaults__ or {}).keys() <= names <= accepted


def _sorted_keys(node: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(node))
    except TypeError as error:
        raise TreeError(
            f"cannot sort the keys of a dict: {error}",
            remedy="Give all keys one type that has an order, or use an OrderedDict.",
        ) from error


def _with_article(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"
