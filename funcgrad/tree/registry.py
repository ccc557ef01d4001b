"""Owns which classes are containers: the registry, what is found out without one, and registration.

How a container comes apart is its node type's; nothing here looks at a tree.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, TypeVar

from funcgrad.errors import TreeError
from funcgrad.tree.keys import Key
from funcgrad.tree.nodes import (
    BUILTIN_NODE_TYPES,
    Aux,
    CustomNode,
    DataclassNode,
    NamedTupleNode,
    NodeType,
    StaticNode,
    Tree,
    call_with_fields,
    dataclass_node,
)
from funcgrad.types import Anything

Class = TypeVar("Class", bound=type)


class Registry(dict[type, NodeType | None]):
    """Node types by exact class, ``None`` for leaves.

    Looking up a class that nobody registered finds out what it is and remembers it: flattening asks once
    for every leaf, and a subscript that succeeds is the cheapest question there is.
    """

    __slots__ = ("registered",)

    # Classes made in a loop must not be kept alive for ever.
    most_remembered = 4096

    def __init__(self) -> None:
        super().__init__()
        self.registered: set[type] = set()

    def __missing__(self, cls: type) -> NodeType | None:
        found = _unregistered_node_type(cls)
        if len(self) > len(self.registered) + self.most_remembered:
            self._forget()
        # Another thread may have registered the class meanwhile; its answer wins.
        return self.setdefault(cls, found)

    def register(self, cls: type, node_type: NodeType | None) -> None:
        """Enter a class, once."""
        if not isinstance(cls, type):
            raise TreeError(f"only a class can be registered as a pytree, not {cls!r}")
        if cls in self.registered:
            raise TreeError(
                f"{cls.__module__}.{cls.__qualname__} is already registered as a pytree",
                remedy="Register each class once, beside its definition.",
            )
        self.registered.add(cls)
        self[cls] = node_type

    def _forget(self) -> None:
        """Drop what was found out about classes that nobody registered."""
        for cls in self.keys() - self.registered:
            self.pop(cls, None)


def _unregistered_node_type(cls: type) -> NodeType | None:
    """What a class is that nobody registered: a namedtuple, a dataclass, or a leaf."""
    if issubclass(cls, tuple | list | dict):
        is_namedtuple = issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make")
        return NamedTupleNode(cls) if is_namedtuple else None
    if isinstance(getattr(cls, "__dataclass_fields__", None), dict):
        return dataclass_node(cls)
    return None


NODE_TYPES = Registry()
for _node_type in BUILTIN_NODE_TYPES:
    NODE_TYPES.register(_node_type.cls, _node_type)


def register_node(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Tree], Aux]],
    unflatten: Callable[[Aux, tuple[Tree, ...]], Any],
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Key, Tree]], Aux]] | None = None,
) -> None:
    """Make the instances of a class containers. Subclasses are not included.

    ``flatten`` returns the children and the static data of an instance. Static data is part of the
    structure: it is compared with ``==`` and should be hashable. ``unflatten`` makes an instance of static
    data and children, and must not look into the children, which may be any objects.
    ``flatten_with_keys`` is `flatten` with a key beside each child, for readable paths.

    Raises `TreeError` if the class is registered already.

    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> def ends(interval):
    ...     return (interval.low, interval.high), None
    >>> def interval_of(_, ends):
    ...     return Interval(*ends)
    >>> fg.tree.register_node(Interval, ends, interval_of)
    >>> fg.tree.map(abs, Interval(-1.0, 2.0)).low
    1.0
    """
    NODE_TYPES.register(cls, CustomNode(cls, flatten, unflatten, flatten_with_keys))


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Tree], Aux]],
    unflatten_func: Callable[[Aux, tuple[Tree, ...]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Key, Tree]], Aux]] | None = None,
) -> None:
    """Do as `register_node` does, with JAX's names.

    >>> class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    >>> fg.tree.register_pytree_node(Line, lambda x: ((x.slope,), None), lambda _, parts: Line(*parts))
    >>> print(fg.grad(lambda line: line.slope**2)(Line(3.0)).slope)
    6.0
    """
    register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Key, Tree]], Aux]],
    unflatten_func: Callable[[Aux, tuple[Tree, ...]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Tree], Aux]] | None = None,
) -> None:
    """Do as `register_node` does for a class that names its children; ``flatten_func`` only saves time.

    >>> class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    >>> fg.tree.register_pytree_with_keys(
    ...     Line, lambda x: ((("slope", x.slope),), None), lambda _, parts: Line(*parts)
    ... )
    >>> fg.tree.leaves(Line(3.0))
    [3.0]
    """
    NODE_TYPES.register(nodetype, CustomNode(nodetype, flatten_func, unflatten_func, flatten_with_keys))


def register_pytree_node_class(cls: Class) -> Class:
    """Register the decorated class by its methods ``tree_flatten`` and (a classmethod) ``tree_unflatten``.

    >>> @fg.tree.register_pytree_node_class
    ... class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    ...     def tree_flatten(self):
    ...         return (self.inside,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, children):
    ...         return cls(*children)
    >>> fg.tree.leaves(Box([1.0, 2.0]))
    [1.0, 2.0]
    """
    unflatten = _method(cls, "tree_unflatten")
    _method(cls, "tree_flatten")
    register_node(cls, operator.methodcaller("tree_flatten"), unflatten)
    return cls


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Register the decorated class by its methods ``tree_flatten_with_keys`` and ``tree_unflatten``.

    A method ``tree_flatten``, if there is one, is used where keys are not needed.

    >>> @fg.tree.register_pytree_with_keys_class
    ... class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    ...     def tree_flatten_with_keys(self):
    ...         return (("slope", self.slope),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, parts):
    ...         return cls(*parts)
    >>> fg.tree.leaves(Line(3.0))
    [3.0]
    """
    unflatten = _method(cls, "tree_unflatten")
    _method(cls, "tree_flatten_with_keys")
    flatten = operator.methodcaller("tree_flatten") if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, operator.methodcaller("tree_flatten_with_keys"), unflatten, flatten)
    return cls


def register_dataclass(
    cls: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Register a class whose ``data_fields`` are children and whose ``meta_fields`` are static.

    Dataclasses need no registration: the fields of ``__init__`` are children, except those made with
    `static`. Register one to say otherwise, or to have mistakes found early; without ``data_fields`` and
    ``meta_fields`` the fields speak for themselves. A class that is no dataclass must name both, and
    must take them as keywords. ``drop_fields`` are left to their defaults. Usable as a decorator.

    Raises `TreeError` if fields are named that do not fit the class, or if it is registered already.

    >>> from dataclasses import dataclass
    >>> @fg.tree.register_dataclass
    ... @dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = fg.tree.static(default="hidden")
    >>> fg.tree.flatten(Layer(2.0))
    ([2.0], PyTreeDef(CustomNode(Layer[('hidden',)], [*])))
    """
    if (data_fields is None) != (meta_fields is None):
        raise TreeError(
            f"register_dataclass got only one of {data_fields=} and {meta_fields=}",
            remedy="Name both or neither; an empty list is fine.",
        )
    is_dataclass = hasattr(cls, "__dataclass_fields__")
    if not is_dataclass and data_fields is None:
        raise TreeError(
            f"{cls.__qualname__} is not a dataclass, so register_dataclass cannot know its fields",
            remedy="Name data_fields and meta_fields.",
        )
    inferred = dataclass_node(cls) if is_dataclass else None
    if inferred is not None and (data_fields is None or meta_fields is None):
        data_fields = [name for name in inferred.data_fields if name not in drop_fields]
        meta_fields = [name for name in inferred.static_fields if name not in drop_fields]
    assert data_fields is not None
    assert meta_fields is not None
    if inferred is not None:
        _check_fields(cls, data_fields, meta_fields, drop_fields, inferred)
    rebuild = call_with_fields if inferred is None else inferred.rebuild
    NODE_TYPES.register(cls, DataclassNode(cls, data_fields, meta_fields, rebuild))
    return cls


def register_static(cls: Class) -> Class:
    """Make the instances of a class containers without leaves: all of it is static data.

    The class must have ``__eq__`` and ``__hash__`` that tell apart what must not be confused.

    >>> @fg.tree.register_static
    ... class Name(str):
    ...     pass
    >>> fg.tree.leaves([Name("speed"), 3.0])
    [3.0]
    """
    NODE_TYPES.register(cls, StaticNode(cls))
    return cls


def register_leaf(cls: Class) -> Class:
    """Make the instances of a class leaves, though the class is a namedtuple or a dataclass.

    >>> from typing import NamedTuple
    >>> @fg.tree.register_leaf
    ... class Shape(NamedTuple):
    ...     rows: int
    ...     columns: int
    >>> fg.tree.leaves([Shape(2, 3)])
    [Shape(rows=2, columns=3)]
    """
    NODE_TYPES.register(cls, None)
    return cls


def static(**kwargs: Anything) -> Anything:
    """Return a `dataclasses.field` that is static data; the arguments are those of ``field``.

    >>> from dataclasses import dataclass
    >>> @fg.tree.register_dataclass
    ... @dataclass
    ... class Power:
    ...     scale: float
    ...     exponent: int = fg.tree.static(default=2)
    >>> fg.tree.leaves(Power(3.0))
    [3.0]
    """
    kwargs["metadata"] = {**(kwargs.get("metadata") or {}), "static": True}
    return field(**kwargs)


def _method(cls: type, name: str) -> Callable[..., Any]:
    found = getattr(cls, name, None)
    if found is None:
        raise TreeError(
            f"{cls.__qualname__} has no method {name}",
            remedy="Define it, or register the class with funcgrad.tree.register_node.",
        )
    return found  # type: ignore[no-any-return]


def _check_fields(
    cls: type,
    data_fields: Sequence[str],
    meta_fields: Sequence[str],
    drop_fields: Sequence[str],
    inferred: DataclassNode,
) -> None:
    """Raise unless the named fields are those that the dataclass takes, each once."""
    named = {*data_fields, *meta_fields}
    known = {*inferred.data_fields, *inferred.static_fields} - {*drop_fields}
    complaints = [
        f"{complaint} {', '.join(map(repr, sorted(names)))}"
        for complaint, names in (
            ("missing", known - named),
            ("unexpected", named - known),
            ("both data and meta", {*data_fields} & {*meta_fields}),
        )
        if names
    ]
    if complaints:
        raise TreeError(
            f"data_fields and meta_fields do not fit {cls.__qualname__}: {'; '.join(complaints)}",
            remedy="Together they name each field of __init__ once, except those in drop_fields.",
        )
