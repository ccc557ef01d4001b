"""Pytrees under the names of ``jax.tree_util``: those of `funcgrad.tree` with ``tree_`` in front."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from funcgrad.errors import TreeError
from funcgrad.tree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    Partial,
    SequenceKey,
    all_leaves,
    keystr,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    treedef_tuple,
)
from funcgrad.tree import TreeDef as PyTreeDef
from funcgrad.tree import all as tree_all
from funcgrad.tree import broadcast as tree_broadcast
from funcgrad.tree import flatten as tree_flatten
from funcgrad.tree import flatten_with_path as tree_flatten_with_path
from funcgrad.tree import leaves as tree_leaves
from funcgrad.tree import leaves_with_path as tree_leaves_with_path
from funcgrad.tree import map as tree_map
from funcgrad.tree import map_with_path as tree_map_with_path
from funcgrad.tree import reduce as tree_reduce
from funcgrad.tree import structure as tree_structure
from funcgrad.tree import transpose as tree_transpose
from funcgrad.tree import unflatten as tree_unflatten
from funcgrad.tree.registry import NODE_TYPES
from funcgrad.types import Anything, Tree

KeyEntry = TypeVar("KeyEntry")
KeyPath = tuple[KeyEntry, ...]

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of a node; none of a leaf.

    >>> treedef_children(tree_structure((1, [2, 3])))
    [PyTreeDef(*), PyTreeDef([*, *])]
    """
    return list(treedef.children())


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is one leaf, or a container with nothing in it.

    >>> treedef_is_leaf(tree_structure(1.0)), treedef_is_leaf(tree_structure([1.0]))
    (True, False)
    """
    return treedef.num_nodes == 1


def is_tree_node(kind: type) -> bool:
    """Whether instances of a class are taken apart as nodes.

    >>> is_tree_node(list), is_tree_node(float)
    (True, False)
    """
    return kind is type(None) or NODE_TYPES[kind] is not None


def flatten_one_level(tree: Tree) -> tuple[Iterable[Any], Any]:
    """The children of a node and its auxiliary data; TreeError, a ValueError, for what is none.

    >>> flatten_one_level([1, (2, 3)])
    ([1, (2, 3)], None)
    """
    node = NODE_TYPES[type(tree)]
    if node is None:
        raise TreeError(f"can't tree-flatten type: {type(tree)}")
    children, aux = node.flatten(tree)
    if aux is None and isinstance(tree, tuple) and hasattr(tree, "_fields"):
        aux = type(tree)
    return children, aux


def flatten_one_level_with_keys(tree: Tree) -> tuple[list[tuple[Any, Any]], Any]:
    """The children of a node, each with its key, and its auxiliary data; TreeError for what is none.

    >>> flatten_one_level_with_keys({"a": 1, "b": (2, 3)})[0]
    [(DictKey(key='a'), 1), (DictKey(key='b'), (2, 3))]
    """
    _, aux = flatten_one_level(tree)
    pairs, _ = tree_flatten_with_path(tree, is_leaf=lambda x: x is not tree)
    return [(path[0], child) for path, child in pairs], aux


class _Registry:
    """The classes that are nodes, as ``jax.tree_util.default_registry`` shows them."""

    def is_node(self, kind: type) -> bool:
        """`is_tree_node`."""
        return is_tree_node(kind)

    def flatten(self, tree: Tree, leaf_predicate: Callable[[Any], bool] | None = None) -> tuple[Any, Any]:
        """`tree_flatten`."""
        leaves, structure = tree_flatten(tree, is_leaf=leaf_predicate)
        return list(leaves), structure

    def flatten_with_path(
        self, tree: Tree, leaf_predicate: Callable[[Any], bool] | None = None
    ) -> tuple[Any, Any]:
        """`tree_flatten_with_path`, of plain pairs."""
        pairs, structure = tree_flatten_with_path(tree, is_leaf=leaf_predicate)
        return [tuple(pair) for pair in pairs], structure

    def flatten_one_level(self, tree: Tree) -> tuple[list[Any], Any] | None:
        """`flatten_one_level`; None for a leaf."""
        if not is_tree_node(type(tree)):
            return None
        children, aux = flatten_one_level(tree)
        return list(children), aux

    def flatten_one_level_with_keys(self, tree: Tree) -> tuple[list[tuple[Any, Any]], Any] | None:
        """`flatten_one_level_with_keys`; None for a leaf."""
        return flatten_one_level_with_keys(tree) if is_tree_node(type(tree)) else None

    def register_node(
        self, kind: type, to_iterable: Callable[[Any], Any], from_iterable: Callable[[Any, Any], Any]
    ) -> None:
        """`register_pytree_node`."""
        register_pytree_node(kind, to_iterable, from_iterable)


default_registry = _Registry()


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Tree,
    *,
    identity: Anything = None,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Anything:
    """The leaves combined two and two, halves first, by an associative function.

    TypeError for a tree without leaves where there is no `identity`.

    >>> tree_reduce_associative(lambda a, b: f"({a}{b})", list("abcde"))
    '((ab)(c(de)))'
    """
    leaves = tree_leaves(tree, is_leaf=is_leaf)
    if not leaves:
        if identity is None:
            raise TypeError("Must specify identity for parallel reduction of empty sequence.")
        return identity

    def combined(part: list[Any]) -> Tree:
        half = len(part) // 2
        return operation(combined(part[:half]), combined(part[half:])) if half else part[0]

    return combined(leaves)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
