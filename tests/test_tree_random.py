"""Random trees: the laws that hold for all of them, and the same answers as JAX."""

from __future__ import annotations

import inspect
import pickle
from collections import OrderedDict, defaultdict, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import tree
from tests.trees import Frozen, Layer, Named, Pair, Point, is_none

# Random trees, and the same in JAX


def containers(children: st.SearchStrategy) -> st.SearchStrategy:
    """Strategies for one more level of containers."""
    names = st.dictionaries(st.text("abc", max_size=2), children, max_size=3)
    return st.one_of(
        st.lists(children, max_size=4),
        st.lists(children, max_size=4).map(tuple),
        names,
        names.map(OrderedDict),
        names.map(lambda d: defaultdict(int, d)),
        st.dictionaries(st.integers(-3, 3), children, max_size=3),
        st.builds(Point, children, children),
    )


def more_containers(children: st.SearchStrategy) -> st.SearchStrategy:
    """Also those that JAX does not know."""
    return st.one_of(
        containers(children),
        st.lists(children, max_size=3).map(deque),
        st.builds(Layer, children, children, st.sampled_from("ab")),
        st.builds(Frozen, w=children, b=children),
        st.builds(Pair, children, children),
        st.builds(Named, children, children),
    )


leaf_values = st.one_of(st.none(), st.integers(), st.text("xyz", max_size=1))
any_trees = st.recursive(leaf_values, more_containers, max_leaves=12)
jax_trees = st.recursive(leaf_values, containers, max_leaves=12)


@given(any_trees)
def test_random_trees_round_trip(value):
    leaves, treedef = tree.flatten(value)
    assert treedef.num_leaves == len(leaves)
    assert treedef.unflatten(leaves) == value
    assert treedef.flatten_up_to(value) == leaves
    assert pickle.loads(pickle.dumps(treedef)) == treedef
    assert treedef == tree.structure(treedef.unflatten([0] * len(leaves)))
    pairs, same = tree.flatten_with_path(value)
    assert same == treedef
    assert [leaf for _, leaf in pairs] == leaves
    assert tree.flatten_prefix(3, treedef, "axes") == [3] * len(leaves)
    numbered = treedef.unflatten(range(len(leaves)))
    assert tree.flatten_prefix(numbered, treedef, "axes") == list(range(len(leaves)))
    assert tree.broadcast(numbered, value) == numbered


@given(any_trees, any_trees)
def test_random_structures_agree_about_being_alike(one, other):
    one, other = tree.structure(one), tree.structure(other)
    alike = tree.explain_mismatch(one, other) == "the structures do not differ"
    assert (one == other) == alike
    assert (repr(one) == repr(other)) == alike
    if alike:
        assert hash(one) == hash(other)


@given(any_trees, st.data())
def test_random_prefixes(value, data):
    stop = data.draw(st.sets(st.integers(0, 3)))

    def at_chosen_depth(path, _):
        return len(path) in stop

    prefix, treedef = tree.flatten_with_path(value, at_chosen_depth, is_leaf_takes_path=True)
    subtrees = [subtree for _, subtree in prefix]
    assert treedef.flatten_up_to(value) == subtrees
    repeated = tree.flatten_prefix(treedef.unflatten(range(len(subtrees))), tree.structure(value), "axes")
    assert repeated == [place for place, subtree in enumerate(subtrees) for _ in tree.leaves(subtree)]


@pytest.mark.peers("jax")
@given(jax_trees)
def test_random_trees_as_in_jax(value):
    import jax

    leaves, treedef = tree.flatten(value)
    jax_leaves, jax_treedef = jax.tree.flatten(value)
    assert leaves == jax_leaves
    assert repr(treedef) == repr(jax_treedef)
    assert (treedef.num_leaves, treedef.num_nodes) == (jax_treedef.num_leaves, jax_treedef.num_nodes)
    paths = [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree.leaves_with_path(value)]
    assert [(tree.keystr(path), leaf) for path, leaf in tree.leaves_with_path(value)] == paths
    assert tree.map(str, value) == jax.tree.map(str, value)
    assert tree.leaves(value, is_none) == jax.tree.leaves(value, is_leaf=is_none)


@pytest.mark.peers("jax")
@given(jax_trees, jax_trees)
def test_random_pairs_as_in_jax(one, other):
    import jax

    assert outcome(tree.map, lambda *row: row, one, other) == outcome(
        jax.tree.map, lambda *row: row, one, other
    )
    assert outcome(tree.broadcast, one, other) == outcome(jax.tree.broadcast, one, other)
    treedefs = tree.structure(one), tree.structure(other)
    jax_treedefs = jax.tree.structure(one), jax.tree.structure(other)
    assert (treedefs[0] == treedefs[1]) == (jax_treedefs[0] == jax_treedefs[1])
    assert repr(treedefs[0].compose(treedefs[1])) == repr(jax_treedefs[0].compose(jax_treedefs[1]))


def outcome(f, *args):
    """What a call returns, or that it raises one of the errors JAX raises for mismatched trees."""
    try:
        return f(*args)
    except (ValueError, TypeError):
        return "refused"


@pytest.mark.peers("jax")
def test_names_and_parameters_are_those_of_jax():

    import jax

    for name in vars(jax.tree):
        if name.startswith("_"):
            continue
        ours = inspect.signature(getattr(tree, name)).parameters
        theirs = inspect.signature(getattr(jax.tree, name)).parameters
        assert {key: p.kind for key, p in ours.items()} == {key: p.kind for key, p in theirs.items()}, name
    for name in ("register_pytree_node", "register_pytree_with_keys", "register_dataclass", "keystr"):
        ours = list(inspect.signature(getattr(tree, name)).parameters)
        theirs = list(inspect.signature(getattr(jax.tree_util, name)).parameters)
        assert ours[1:] == theirs[1:], name


@pytest.mark.peers("jax")
def test_path_keys_carry_the_same_attributes_as_in_jax():
    import jax

    keys = [tree.SequenceKey(1), tree.DictKey("a"), tree.GetAttrKey("a"), tree.FlattenedIndexKey(1)]
    for ours in keys:
        theirs = getattr(jax.tree_util, type(ours).__name__)
        [name] = theirs.__match_args__
        assert ours.__match_args__ == (name,)
        same = theirs(getattr(ours, name))
        assert str(ours) == str(same)
        assert repr(ours) == repr(same)
