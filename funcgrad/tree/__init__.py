"""Pytrees: nested containers with arrays at their leaves, under the names of ``jax.tree``.

Every transform takes and returns them. Knows nothing about arrays: whatever is no container is a leaf.
"""

from __future__ import annotations

from funcgrad.tree.functions import (
    all,  # noqa: A004 - jax.tree's name
    all_leaves,
    broadcast,
    flatten_prefix,
    leaves,
    leaves_with_path,
    map,  # noqa: A004 - jax.tree's name
    map_with_path,
    reduce,
    reduce_associative,
    structure,
    transpose,
)
from funcgrad.tree.keys import DictKey, FlattenedIndexKey, GetAttrKey, Key, KeyPath, SequenceKey, keystr
from funcgrad.tree.mismatch import explain_mismatch
from funcgrad.tree.nodes import Partial, Tree
from funcgrad.tree.registry import (
    register_dataclass,
    register_leaf,
    register_node,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    static,
)
from funcgrad.tree.treedef import TreeDef, flatten, flatten_with_path, treedef_tuple, unflatten

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "Key",
    "KeyPath",
    "Partial",
    "SequenceKey",
    "Tree",
    "TreeDef",
    "all",
    "all_leaves",
    "broadcast",
    "explain_mismatch",
    "flatten",
    "flatten_prefix",
    "flatten_with_path",
    "keystr",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "register_dataclass",
    "register_leaf",
    "register_node",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "static",
    "structure",
    "transpose",
    "treedef_tuple",
    "unflatten",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
