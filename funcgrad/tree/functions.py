"""Owns what is done with whole trees: mapping, reducing, transposing, broadcasting."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from funcgrad.errors import TreeError
from funcgrad.tree.keys import KeyPath
from funcgrad.tree.mismatch import explain_value_mismatch
from funcgrad.tree.nodes import Tree
from funcgrad.tree.treedef import LEAF, IsLeaf, TreeDef, flatten, flatten_with_path, leaves_up_to
from funcgrad.types import Anything, Result


class _Missing:
    """The default of arguments for which ``None`` is a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


_MISSING: Final = _Missing()


def leaves(tree: Tree, is_leaf: IsLeaf | None = None) -> list[Any]:
    """Return the leaves of a tree, in the order of `flatten`.

    >>> fg.tree.leaves({"w": (1.0, 2.0), "b": 3.0})
    [3.0, 1.0, 2.0]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Tree, is_leaf: IsLeaf | None = None) -> TreeDef:
    """Return the structure of a tree.

    >>> fg.tree.structure({"w": (1.0, 2.0), "b": 3.0})
    PyTreeDef({'b': *, 'w': (*, *)})
    """
    return flatten(tree, is_leaf)[1]


def leaves_with_path(
    tree: Tree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of a tree, each beside its path; the arguments are those of `flatten_with_path`.

    >>> fg.tree.leaves_with_path([1.0, {"a": 2.0}])
    [((SequenceKey(idx=0),), 1.0), ((SequenceKey(idx=1), DictKey(key='a')), 2.0)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map(f: Callable[..., Any], tree: Tree, *rest: Tree, is_leaf: IsLeaf | None = None) -> Tree:
    """Return the tree of ``f(leaf, *leaves_of_rest)``, in the structure of ``tree``.

    Each of ``rest`` has ``tree`` as a prefix: where ``tree`` has a leaf it may have a whole subtree,
    with which ``f`` is then called.

    Raises `TreeError` if one of ``rest`` differs from ``tree`` above its leaves.

    >>> fg.tree.map(max, {"a": 1.0, "b": (2.0, None)}, {"a": 3.0, "b": (0.0, None)})
    {'a': 3.0, 'b': (2.0, None)}
    """
    found, treedef = flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten([f(leaf) for leaf in found])
    columns = _columns_up_to(treedef, rest, "map")
    return treedef.unflatten([f(*row) for row in zip(found, *columns, strict=True)])


def map_with_path(
    f: Callable[..., Any],
    tree: Tree,
    *rest: Tree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Tree:
    """Do as `map` does, with the path of the leaf before the other arguments of ``f``.

    >>> def label(path, leaf):
    ...     return f"{fg.tree.keystr(path)} = {leaf}"
    >>> fg.tree.map_with_path(label, {"a": [1.0]})
    {'a': ["['a'][0] = 1.0"]}
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _columns_up_to(treedef, rest, "map_with_path")
    return treedef.unflatten([f(*pair, *row) for pair, *row in zip(pairs, *columns, strict=True)])


def _columns_up_to(treedef: TreeDef, rest: Iterable[Tree], name: str) -> list[list[Tree]]:
    return [leaves_up_to(treedef, tree, f"tree {place} of {name}") for place, tree in enumerate(rest, 2)]


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Tree,
    initializer: Result = _MISSING,
    is_leaf: IsLeaf | None = None,
) -> Result:
    """Combine the leaves of a tree from the first to the last, starting with ``initializer`` if there is one.

    Raises `TreeError` if there is nothing to combine.

    >>> fg.tree.reduce(max, {"a": 1.0, "b": (4.0, 2.0)})
    4.0
    """
    found = flatten(tree, is_leaf)[0]
    if initializer is not _MISSING:
        return functools.reduce(function, found, initializer)
    if not found:
        raise TreeError("cannot reduce a pytree without leaves", remedy="Pass initializer=.")
    return functools.reduce(function, found)


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Tree,
    *,
    identity: Result = _MISSING,
    is_leaf: IsLeaf | None = None,
) -> Result:
    """Combine the leaves of a tree by halves, which an associative operation does not notice.

    Rounding errors of a sum grow with the logarithm of the number of leaves, not with the number.
    ``identity`` is the result for a tree without leaves; without it `TreeError` is raised.

    >>> fg.tree.reduce_associative(max, [1.0, (4.0, 2.0)])
    4.0
    """
    found = flatten(tree, is_leaf)[0]
    if found:
        return _combined_by_halves(operation, found)
    if identity is _MISSING:
        raise TreeError("cannot reduce a pytree without leaves", remedy="Pass identity=.")
    return identity


def _combined_by_halves(operation: Callable[[Any, Any], Any], values: list[Any]) -> Anything:
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    first = _combined_by_halves(operation, values[:middle])
    return operation(first, _combined_by_halves(operation, values[middle:]))


def all(tree: Tree, *, is_leaf: IsLeaf | None = None) -> bool:
    """Whether all leaves of a tree are true.

    >>> fg.tree.all({"a": True, "b": (True, False)})
    False
    """
    return builtins.all(flatten(tree, is_leaf)[0])


def all_leaves(iterable: Iterable[Tree], is_leaf: IsLeaf | None = None) -> bool:
    """Whether all items are leaves.

    >>> fg.tree.all_leaves([1.0, "two"]), fg.tree.all_leaves([1.0, None])
    (True, False)
    """
    return builtins.all(flatten(item, is_leaf)[1] is LEAF for item in iterable)


def transpose(outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: Tree) -> Tree:
    """Turn a tree of structure outer-of-inner inside out, into inner-of-outer.

    Without ``inner_treedef`` it is the structure of the first subtree.

    Raises `TreeError` if the tree does not have the structure ``outer_treedef.compose(inner_treedef)``.

    >>> outer, inner = fg.tree.structure([0, 0, 0]), fg.tree.structure({"a": 0, "b": 0})
    >>> pairs = [{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 6}]
    >>> fg.tree.transpose(outer, inner, pairs)
    {'a': [1, 3, 5], 'b': [2, 4, 6]}
    """
    what = "Mismatch: the tree to transpose"
    if inner_treedef is None:
        subtrees = leaves_up_to(outer_treedef, pytree_to_transpose, what)
        if not subtrees:
            raise TreeError(
                "the tree to transpose has no leaves that show the inner structure",
                remedy="Pass inner_treedef.",
            )
        inner_treedef = structure(subtrees[0])
    found = leaves_up_to(outer_treedef.compose(inner_treedef), pytree_to_transpose, what)
    step = inner_treedef.num_leaves
    return inner_treedef.unflatten([outer_treedef.unflatten(found[start::step]) for start in range(step)])


def broadcast(prefix_tree: Tree, full_tree: Tree, is_leaf: IsLeaf | None = None) -> Tree:
    """Return the structure of ``full_tree`` with, at each leaf, the one that ``prefix_tree`` has there.

    ``is_leaf`` is asked about containers of ``prefix_tree``.

    Raises `TreeError` if ``prefix_tree`` is not a prefix of ``full_tree``.

    >>> fg.tree.broadcast((1, 2), ([0.0, 0.0], {"a": 0.0}))
    ([1, 1], {'a': 2})
    """
    values, prefix = flatten(prefix_tree, is_leaf)
    subtrees = leaves_up_to(prefix, full_tree, "the full tree")
    repeated: list[Any] = []
    for value, subtree in zip(values, subtrees, strict=True):
        repeated += [value] * structure(subtree).num_leaves
    return structure(full_tree).unflatten(repeated)


def flatten_prefix(prefix: Tree, treedef: TreeDef, what: str) -> list[Any]:
    """Return one value for each leaf of a structure, out of a tree that is a prefix of it.

    In ``prefix``, ``None`` is a value like any other, as in the ``in_axes`` of `vmap`. ``what`` is
    what an error calls the prefix.

    Raises `TreeError` if ``prefix`` is not a prefix of the structure, and names the place.

    >>> arguments = fg.tree.structure((1.0, {"w": 2.0, "b": [3.0, 4.0]}))
    >>> fg.tree.flatten_prefix((0, {"w": None, "b": 1}), arguments, "in_axes")
    [0, 1, 1, None]
    """
    values, prefix_treedef = flatten(prefix, _is_none)
    if prefix_treedef is LEAF:
        return values * treedef.num_leaves
    repeated: list[Any] = []
    if not _append_repeated(prefix_treedef, treedef, iter(values), repeated):
        raise TreeError(
            f"{what} does not fit: {explain_value_mismatch(treedef, prefix_treedef)}",
            remedy="Give one value for a whole subtree, or its containers with a value for each child.",
        )
    return repeated


def _append_repeated(prefix: TreeDef, treedef: TreeDef, values: Iterator[Any], repeated: list[Any]) -> bool:
    """Append each value as often as the structure has leaves in its place, unless it has no such place."""
    if prefix is LEAF:
        repeated += [next(values)] * treedef.num_leaves
        return True
    if not prefix.has_same_container(treedef):
        return False
    for child, other in zip(prefix.children(), treedef.children(), strict=True):
        if not _append_repeated(child, other, values, repeated):
            return False
    return True


def _is_none(tree: Tree) -> bool:
    return tree is None
