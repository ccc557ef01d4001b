"""Owns the structure of a pytree without its leaves: `TreeDef`, and taking trees apart and together.

What a container is, and how one comes apart, is asked of the registry. Small structures are shared:
every call of a transformed function flattens its arguments, and most of them are a few arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from funcgrad.errors import TreeError
from funcgrad.tree.keys import KeyPath
from funcgrad.tree.mismatch import explain_prefix_mismatch
from funcgrad.tree.nodes import DICT, LIST, TUPLE, Aux, NodeType, Tree
from funcgrad.tree.registry import NODE_TYPES

if TYPE_CHECKING:
    from collections.abc import Sized


IsLeaf: TypeAlias = Callable[[Any], bool]


class TreeDef:
    """The structure of a pytree: its containers, without its leaves. Immutable, hashable, picklable.

    Two are equal if their containers are of the same classes, with equal static data, in the same places.

    >>> fg.tree.structure({"w": (1.0, 2.0), "b": None})
    PyTreeDef({'b': None, 'w': (*, *)})
    """

    __slots__ = ("_aux", "_children", "_hash", "_is_flat", "_node_type", "_num_leaves")

    def __init__(
        self,
        node_type: NodeType | None,
        aux: Aux,
        children: tuple[TreeDef, ...],
        num_leaves: int,
        is_flat: bool,
    ) -> None:
        """Not for users, who get one from `structure` or `flatten`. Without a node type it is the leaf.

        ``is_flat`` tells a container whose children, if any, are all leaves.
        """
        self._node_type = node_type
        self._aux = aux
        self._children = children
        self._num_leaves = num_leaves
        self._is_flat = is_flat
        self._hash: int | None = None

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this structure has."""
        return self._num_leaves

    @property
    def num_nodes(self) -> int:
        """How many containers and leaves a tree of this structure has."""
        count = 1
        for child in self._children:
            count += child.num_nodes
        return count

    @property
    def node_type(self) -> NodeType | None:
        """How the outermost container comes apart; ``None`` for a leaf."""
        return self._node_type

    @property
    def aux(self) -> Aux:
        """The static data of the outermost container."""
        return self._aux

    def children(self) -> list[TreeDef]:
        """Return the structures inside the outermost container.

        >>> fg.tree.structure((1.0, [2.0])).children()
        [PyTreeDef(*), PyTreeDef([*])]
        """
        return list(self._children)

    def unflatten(self, leaves: Iterable[Any]) -> Tree:
        """Return the tree of this structure with the given leaves.

        Raises `TreeError` if there are too few leaves or too many.

        >>> fg.tree.structure({"w": 0, "b": (0, 0)}).unflatten([1.0, 2.0, 3.0])
        {'b': (1.0, 2.0), 'w': 3.0}
        """
        if type(leaves) is not list and type(leaves) is not tuple:
            leaves = list(leaves)
        if len(leaves) != self._num_leaves:
            raise _wrong_number_of_leaves(self, leaves)
        if self._is_flat:
            return self._node_type.unflatten(self._aux, leaves)  # type: ignore[union-attr]
        try:
            return _put_together(self, iter(leaves))
        except RecursionError as error:
            raise _too_deep("unflatten") from error

    def flatten_up_to(self, tree: Tree) -> list[Tree]:
        """Return the subtrees that stand in a tree where this structure has its leaves.

        Raises `TreeError` if the tree differs from this structure above its leaves.

        >>> fg.tree.structure((0, 0)).flatten_up_to(([1.0, 2.0], 3.0))
        [[1.0, 2.0], 3.0]
        """
        return leaves_up_to(self, tree, "this pytree")

    def compose(self, inner: TreeDef) -> TreeDef:
        """Return this structure with ``inner`` in place of each leaf.

        >>> fg.tree.structure((0, 0)).compose(fg.tree.structure({"a": 0}))
        PyTreeDef(({'a': *}, {'a': *}))
        """
        if self is LEAF:
            return inner
        if inner is LEAF or not self._num_leaves:
            return self
        children = tuple([child.compose(inner) for child in self._children])
        num_leaves = self._num_leaves * inner._num_leaves
        return TreeDef(self._node_type, self._aux, children, num_leaves, is_flat=False)

    def has_same_container(self, other: TreeDef) -> bool:
        """Whether the outermost containers are alike, whatever is in them."""
        one, two = self._node_type, other._node_type
        if one is None or two is None:
            return one is two
        return (
            one.cls is two.cls
            and len(self._children) == len(other._children)
            and _equal_aux(one, self._aux, other._aux)
        )

    def paths(self) -> list[KeyPath]:
        """Return the path of each leaf.

        Classes registered with functions for their keys need an instance to tell them; they show numbers.

        >>> [fg.tree.keystr(path) for path in fg.tree.structure({"w": (1.0, 2.0)}).paths()]
        ["['w'][0]", "['w'][1]"]
        """
        found: list[KeyPath] = []
        _collect_paths(self, (), found)
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not TreeDef:
            return NotImplemented
        return _equal(self, other)

    def __hash__(self) -> int:
        return _hash_of(self) if self._hash is None else self._hash

    def __repr__(self) -> str:
        return f"PyTreeDef({_text(self)})"

    def __reduce__(self) -> str | tuple[Callable[..., TreeDef], tuple[Any, ...]]:
        if self._node_type is None:
            return "LEAF"
        return _restored, (self._node_type.cls, self._aux, self._children)


LEAF: Final = TreeDef(None, None, (), 1, is_flat=False)

_SHARED_UP_TO = 16


def _unshared_flat(node_type: NodeType, aux: Aux, count: int) -> TreeDef:
    return TreeDef(node_type, aux, (LEAF,) * count, count, is_flat=True)


_FLAT_TUPLES = tuple(_unshared_flat(TUPLE, None, count) for count in range(_SHARED_UP_TO))
_FLAT_LISTS = tuple(_unshared_flat(LIST, None, count) for count in range(_SHARED_UP_TO))


@lru_cache(maxsize=1024)
def _flat_dict(keys: tuple[str, ...]) -> TreeDef:
    return _unshared_flat(DICT, keys, len(keys))


def _flat(node_type: NodeType, aux: Aux, count: int) -> TreeDef:
    """The structure of one container whose children are leaves; small and frequent ones are shared."""
    if count < _SHARED_UP_TO:
        if node_type is TUPLE:
            return _FLAT_TUPLES[count]
        if node_type is LIST:
            return _FLAT_LISTS[count]
        if node_type is DICT:
            for key in aux:
                # 1, 1.0 and True are one key to a cache, but a tree must come back with its own.
                if type(key) is not str:
                    break
            else:
                return _flat_dict(aux)
    return _unshared_flat(node_type, aux, count)


def flatten(tree: Tree, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeDef]:
    """Return the leaves of a tree, and its structure.

    Containers are tuples, lists, dicts (in the order of their sorted keys), ``None`` (with no leaves),
    namedtuples, dataclasses, `collections.OrderedDict`, `defaultdict` and `deque`, and registered
    classes. Everything else is a leaf, and so is a container for which ``is_leaf`` is true.

    Raises `TreeError` if the keys of a dict cannot be sorted, or if the tree is nested too deeply.

    >>> fg.tree.flatten({"w": (1.0, 2.0), "b": None})
    ([1.0, 2.0], PyTreeDef({'b': None, 'w': (*, *)}))
    """
    node_type = NODE_TYPES[type(tree)]
    if node_type is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LEAF
    leaves: list[Any] = []
    try:
        return leaves, _take_apart(tree, node_type, is_leaf, leaves)
    except RecursionError as error:
        raise _too_deep("flatten") from error


def _take_apart(node: Tree, node_type: NodeType, is_leaf: IsLeaf | None, leaves: list[Any]) -> TreeDef:
    """Append the leaves of a container to ``leaves``, and return its structure."""
    # No call for the two containers that every call of a transformed function has.
    children, aux = (node, None) if node_type is TUPLE or node_type is LIST else node_type.flatten(node)
    for child in children:
        if NODE_TYPES[type(child)] is not None:
            break
    else:
        leaves += children
        return _flat(node_type, aux, len(children))
    before = len(leaves)
    treedefs = []
    for child in children:
        child_type = NODE_TYPES[type(child)]
        if child_type is None or (is_leaf is not None and is_leaf(child)):
            leaves.append(child)
            treedefs.append(LEAF)
        else:
            treedefs.append(_take_apart(child, child_type, is_leaf, leaves))
    if is_leaf is not None:
        return _joined(node_type, aux, tuple(treedefs), len(leaves) - before)
    return TreeDef(node_type, aux, tuple(treedefs), len(leaves) - before, is_flat=False)


def flatten_with_path(
    tree: Tree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], TreeDef]:
    """Do as `flatten` does, with each leaf beside its path.

    ``is_leaf`` is called with a container, and with its path before it if ``is_leaf_takes_path``.

    >>> pairs, _ = fg.tree.flatten_with_path({"w": [1.0, 2.0]})
    >>> [(fg.tree.keystr(path), leaf) for path, leaf in pairs]
    [("['w'][0]", 1.0), ("['w'][1]", 2.0)]
    """
    if is_leaf is None or is_leaf_takes_path:
        stops_at = is_leaf
    else:

        def stops_at(path: KeyPath, node: Tree) -> bool:
            return is_leaf(node)

    pairs: list[tuple[KeyPath, Any]] = []
    try:
        return pairs, _take_apart_with_path(tree, (), stops_at, pairs)
    except RecursionError as error:
        raise _too_deep("flatten") from error


def _take_apart_with_path(
    tree: Tree,
    path: KeyPath,
    stops_at: Callable[[KeyPath, Tree], bool] | None,
    pairs: list[tuple[KeyPath, Any]],
) -> TreeDef:
    node_type = NODE_TYPES[type(tree)]
    if node_type is None or (stops_at is not None and stops_at(path, tree)):
        pairs.append((path, tree))
        return LEAF
    children, aux, keys = node_type.flatten_with_keys(tree)
    before = len(pairs)
    treedefs = []
    for key, child in zip(keys, children, strict=True):
        treedefs.append(_take_apart_with_path(child, (*path, key), stops_at, pairs))
    return _joined(node_type, aux, tuple(treedefs), len(pairs) - before)


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Tree:
    """Return the tree of a structure with the given leaves: the inverse of `flatten`.

    Raises `TreeError` if there are too few leaves or too many.

    >>> leaves, treedef = fg.tree.flatten({"w": 1.0, "b": 2.0})
    >>> fg.tree.unflatten(treedef, [10 * leaf for leaf in leaves])
    {'b': 20.0, 'w': 10.0}
    """
    if type(treedef) is not TreeDef:
        raise TreeError(
            f"unflatten got {_shortened(treedef)} in place of a structure",
            remedy="The structure comes first: unflatten(treedef, leaves).",
        )
    return treedef.unflatten(leaves)


def _put_together(treedef: TreeDef, leaves: Iterator[Any]) -> Tree:
    node_type = treedef._node_type
    if node_type is None:
        return next(leaves)
    children = []
    for child in treedef._children:
        if child is LEAF:
            children.append(next(leaves))
        else:
            children.append(_put_together(child, leaves))
    return node_type.unflatten(treedef._aux, children)


def leaves_up_to(treedef: TreeDef, tree: Tree, what: str) -> list[Tree]:
    """Return the subtrees that stand where a structure has leaves; an error calls the tree ``what``."""
    found: list[Tree] = []
    try:
        fits = _append_up_to(treedef, tree, found)
        if not fits:
            explanation = explain_prefix_mismatch(treedef, flatten(tree)[1])
            raise TreeError(f"{what} does not have the expected structure: {explanation}")
    except RecursionError as error:
        raise _too_deep("flatten") from error
    return found


def _append_up_to(treedef: TreeDef, tree: Tree, found: list[Tree]) -> bool:
    """Append the subtrees in the places of the leaves, unless the tree has no such places."""
    expected = treedef._node_type
    if expected is None:
        found.append(tree)
        return True
    node_type = NODE_TYPES[type(tree)]
    if node_type is None or node_type.cls is not expected.cls:
        return False
    children, aux = node_type.flatten(tree)
    if len(children) != len(treedef._children) or not _equal_aux(node_type, treedef._aux, aux):
        return False
    if treedef._is_flat:
        found += children
        return True
    for child_treedef, child in zip(treedef._children, children, strict=True):
        if not _append_up_to(child_treedef, child, found):
            return False
    return True


def treedef_tuple(treedefs: Iterable[TreeDef]) -> TreeDef:
    """Return the structure of a tuple whose items have the given structures.

    >>> fg.tree.treedef_tuple([fg.tree.structure(1.0), fg.tree.structure([2.0])])
    PyTreeDef((*, [*]))
    """
    children = tuple(treedefs)
    return _joined(TUPLE, None, children, sum(child._num_leaves for child in children))


def _joined(node_type: NodeType, aux: Aux, children: tuple[TreeDef, ...], num_leaves: int) -> TreeDef:
    """The structure of one container with children of any structure."""
    for child in children:
        if child is not LEAF:
            return TreeDef(node_type, aux, children, num_leaves, is_flat=False)
    return _flat(node_type, aux, num_leaves)


def _restored(cls: type, aux: Aux, children: tuple[TreeDef, ...]) -> TreeDef:
    """The structure that was pickled."""
    node_type = NODE_TYPES[cls]
    if node_type is None:
        raise TreeError(
            f"a pickled tree structure contains {cls.__module__}.{cls.__qualname__}, here no container",
            remedy="Import the module that registers the class before unpickling.",
        )
    return _joined(node_type, aux, children, sum(child._num_leaves for child in children))


def _equal(one: TreeDef, other: TreeDef) -> bool:
    if one is other:
        return True
    if one._num_leaves != other._num_leaves or not one.has_same_container(other):
        return False
    if one._is_flat or other._is_flat:
        return one._is_flat and other._is_flat
    for child, other_child in zip(one._children, other._children, strict=True):
        if not _equal(child, other_child):
            return False
    return True


def _equal_aux(node_type: NodeType, one: Aux, other: Aux) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except ValueError as error:
        raise TreeError(
            f"cannot compare the static data of two {node_type.cls.__qualname__}: {error}",
            remedy="Static data must not hold arrays; make them children.",
        ) from error


def _hash_of(treedef: TreeDef) -> int:
    """The hash of a structure, which is then remembered in it."""
    if treedef._hash is not None:
        return treedef._hash
    cls = None if treedef._node_type is None else treedef._node_type.cls
    try:
        found = hash((cls, len(treedef._children), treedef._aux))
    except TypeError:
        # Structures with unhashable static data collide, and equality tells them apart.
        found = hash((cls, len(treedef._children)))
    if not treedef._is_flat:
        for child in treedef._children:
            found = hash((found, _hash_of(child)))
    treedef._hash = found
    return found


def _text(treedef: TreeDef) -> str:
    if treedef._node_type is None:
        return "*"
    return treedef._node_type.text(treedef._aux, [_text(child) for child in treedef._children])


def _collect_paths(treedef: TreeDef, path: KeyPath, found: list[KeyPath]) -> None:
    if treedef._node_type is None:
        found.append(path)
        return
    keys = treedef._node_type.keys(treedef._aux, len(treedef._children))
    for key, child in zip(keys, treedef._children, strict=True):
        _collect_paths(child, (*path, key), found)


def _wrong_number_of_leaves(treedef: TreeDef, leaves: Sized) -> TreeError:
    wanted = "1 leaf" if treedef.num_leaves == 1 else f"{treedef.num_leaves} leaves"
    return TreeError(f"{_shortened(treedef)} takes {wanted}, got {len(leaves)}")


def _too_deep(verb: str) -> TreeError:
    return TreeError(
        f"cannot {verb} this pytree: it is nested too deeply, or contains itself",
        remedy="Stack the leaves into arrays, or keep them in one flat list.",
    )


def _shortened(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 80 else f"{text[:77]}..."
