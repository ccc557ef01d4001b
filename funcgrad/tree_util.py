"""Pytrees under the names of ``jax.tree_util``: those of `funcgrad.tree` with ``tree_`` in front."""

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

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
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
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_tuple",
]
