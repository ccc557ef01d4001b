"""The functions on trees: what each returns, and the sentence that tells where two trees differ."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from funcgrad import tree, tree_util
from funcgrad.errors import TreeError
from tests.trees import Frozen, Layer, Named, Pair, Point, is_none, is_tuple

# Where two trees differ


@pytest.mark.parametrize(
    ("prefix", "full", "expected"),
    [
        (
            [(1, 2), None, Point(3, 7)],
            [({"a": 7}, (3,)), None, Point((1, 9), None)],
            [{"a": 7}, (3,), (1, 9), None],
        ),
        ([1], [{"a": 7}], [{"a": 7}]),
        ((1,), ([7],), [[7]]),
        ({"a": 1, "b": (2, 3)}, {"a": [7], "b": ([8], (9,))}, [[7], [8], (9,)]),
        (Layer(1, 2), Layer([1], None), [[1], None]),
        (None, None, []),
        (1, None, [None]),
    ],
)
def test_flatten_up_to(prefix, full, expected):
    assert tree.structure(prefix).flatten_up_to(full) == expected


MISMATCHES = [
    ([1, 2], [7], "at the root: expected a list of 2, got a list of 1"),
    ((1,), [7], "at the root: expected a tuple of 1, got a list of 1"),
    ((1,), 7, "at the root: expected a tuple of 1, got a leaf"),
    ({"w": [(1, 2)]}, {"w": [[1, 2, 3]]}, "at ['w'][0]: expected a tuple of 2, got a list of 3"),
    (
        [{"a": 1}],
        [{"b": 7}],
        "at [0]: expected a dict with 1 key, got one without 'a' and with the extra key 'b'",
    ),
    (
        {"a": 1},
        {"a": 7, "b": 8, "c": 9},
        "at the root: expected a dict with 1 key, got one with the extra keys 'b', 'c'",
    ),
    (
        dict.fromkeys(range(9), 0),
        {8: 0},
        "at the root: expected a dict with 9 keys, got one without 0, 1, 2, 3, 4, 5, ...",
    ),
    (
        OrderedDict(a=1, b=2),
        OrderedDict(b=1, a=2),
        "at the root: expected the keys in the order 'a', 'b', got the order 'b', 'a'",
    ),
    (
        {"a": 1},
        OrderedDict(a=1),
        "at the root: expected a dict with 1 key, got an OrderedDict with 1 key",
    ),
    (
        defaultdict(int, a=1),
        defaultdict(list, a=1),
        (
            "at the root: expected a defaultdict with 1 key with static data (<class 'int'>, ('a',)), "
            "got one with (<class 'list'>, ('a',))"
        ),
    ),
    (None, 1, "at the root: expected None, got a leaf"),
    ([None], [(1,)], "at [0]: expected None, got a tuple of 1"),
    (Point(1, (2,)), Point(1, [2]), "at .y: expected a tuple of 1, got a list of 1"),
    (Point(1, 2), (1, 2), "at the root: expected a Point, got a tuple of 2"),
    (
        Point(1, 2),
        namedtuple("Point", "x y", module="elsewhere")(1, 2),
        f"at the root: expected a Point ({Point.__module__}.Point), got a Point (elsewhere.Point)",
    ),
    (
        [Layer(1, 2)],
        [Layer(1, 2, "other")],
        "at [0]: expected a Layer with static data ('layer',), got one with ('other',)",
    ),
    (Pair(1, (2,)), Pair(1, [2]), "at [<flat index 1>]: expected a tuple of 1, got a list of 1"),
    (
        Pair(1, 2),
        Pair(1, 2, "x"),
        "at the root: expected a Pair of 2 with static data 'pair', got one with 'x'",
    ),
    (deque([1]), deque([1, 2]), "at the root: expected a deque of 1, got a deque of 2"),
]


@pytest.mark.parametrize(("expected", "got", "sentence"), MISMATCHES)
def test_mismatch_is_explained(expected, got, sentence):
    treedef = tree.structure(expected)
    assert tree.explain_mismatch(treedef, tree.structure(got)) == sentence
    with pytest.raises(TreeError) as caught:
        treedef.flatten_up_to(got)
    assert str(caught.value) == f"this pytree does not have the expected structure: {sentence}"
    with pytest.raises(TreeError) as caught:
        tree.map(max, expected, expected, got)
    assert str(caught.value) == f"tree 3 of map does not have the expected structure: {sentence}"


def test_mismatch_below_a_leaf_is_one_only_for_whole_structures():
    expected, got = tree.structure((1, 2)), tree.structure((1, [2]))
    assert tree.explain_mismatch(expected, got) == "at [1]: expected a leaf, got a list of 1"
    assert tree.explain_mismatch(expected, expected) == "the structures do not differ"
    assert expected.flatten_up_to((1, [2])) == [1, [2]]


# The functions


def test_map():
    x = ((1, 2), (3, 4, 5))
    y = (([3], None), ({"a": "b"}, 7, [5, 6]))
    expected = (((1, [3]), (2, None)), ((3, {"a": "b"}), (4, 7), (5, [5, 6])))
    assert tree.map(lambda *row: row, x, y) == expected


def test_map_with_is_leaf():
    out = tree.map(lambda *row: row, ((1, 2), [3, 4]), ((5, None), 6), is_leaf=lambda n: isinstance(n, list))
    assert out == (((1, 5), (2, None)), ([3, 4], 6))
    assert tree.map(lambda x, y: (x, y), [None, 1], [2, 3], is_leaf=is_none) == [(None, 2), (1, 3)]


def test_is_leaf_stops_at_containers():
    value = [(1, 2), (3, 4), None]
    assert tree.leaves(value, is_leaf=lambda _: False) == [1, 2, 3, 4]
    assert tree.leaves(value, is_tuple) == [(1, 2), (3, 4)]
    assert tree.leaves(value, is_none) == [1, 2, 3, 4, None]
    assert tree.leaves(value, lambda _: True) == [value]
    treedef = tree.structure(value, is_leaf=lambda x: is_none(x) or is_tuple(x))
    assert treedef == tree.structure([0, 0, 0])
    assert hash(treedef) == hash(tree.structure([0, 0, 0]))
    nested_value = [[[(1,)], [[(2,)], {"a": (3,)}]]]
    assert tree.leaves(nested_value, is_tuple) == [(1,), (2,), (3,)]


def test_map_keeps_exceptions_of_the_function():
    with pytest.raises(StopIteration):
        tree.map(lambda x: next(iter(())), (1, 2))


def test_reduce():
    value = (1, [2, {"a": 3}])
    assert tree.reduce(lambda a, b: (a, b), value) == ((1, 2), 3)
    assert tree.reduce(lambda a, b: (a, b), value, None) == (((None, 1), 2), 3)
    assert tree.reduce(lambda a, b: a + b, [(1,), (2,)], is_leaf=is_tuple) == (1, 2)
    assert tree.reduce(max, [], 3) == 3
    with pytest.raises(TypeError, match="cannot reduce a pytree without leaves"):
        tree.reduce(max, [None])


def test_reduce_associative():
    assert tree.reduce_associative(lambda a, b: (a, b), [1, 2, 3, 4, 5]) == ((1, 2), (3, (4, 5)))
    assert tree.reduce_associative(max, [], identity=0) == 0
    assert tree.reduce_associative(max, [], identity=None) is None
    assert tree.reduce_associative(max, [1, 2], identity=9) == 2
    with pytest.raises(TypeError, match="cannot reduce a pytree without leaves"):
        tree.reduce_associative(max, ())


def test_all():
    assert tree.all([])
    assert tree.all([1, (True, "x")])
    assert not tree.all({"a": True, "b": (True, 0)})
    assert tree.all([(0, 0)], is_leaf=is_tuple)


def test_all_leaves():
    assert tree.all_leaves([1, "a"])
    assert not tree.all_leaves([1, None])
    assert tree.all_leaves([(1, 2)], is_leaf=is_tuple)


@pytest.mark.parametrize(
    "value", [1.0, (1,), [1, (2, None)], {"b": 1, "a": [2]}, Point(1, {"a": 2}), Layer(1, (2, 3)), Pair(1, 2)]
)
def test_transpose(value):
    whole = tree.map(lambda x: [x, {"a": x}, (x,)], value)
    for inner in (tree.structure([0, {"a": 0}, (0,)]), None):
        assert tree.transpose(tree.structure(value), inner, whole) == [value, {"a": value}, (value,)]


@pytest.mark.parametrize("value", [None, (), {"a": [None]}])
def test_transpose_without_leaves(value):
    outer = tree.structure(value)
    assert tree.transpose(outer, tree.structure([0, 0]), value) == [value, value]
    with pytest.raises(TreeError, match="no leaves that show the inner structure"):
        tree.transpose(outer, None, value)


@pytest.mark.parametrize(
    ("outer", "inner", "value"),
    [
        ({"a": 1, "b": 2, "c": 3}, [1, 2], {"a": [1, 2], "b": [3, 4]}),
        ({"a": 1, "b": 2}, [1, 2, 3], {"a": [1, 2], "b": [3, 4]}),
        ([0, 0, 0], (0, 0), [[1, 2], [3, 4], [5, 6]]),
        ([0, 0, 0], [0, 0], [1, [2, [3, [4, [5, [6]]]]]]),
        ([0, 0], None, [[1, 2], [3]]),
    ],
)
def test_transpose_mismatch(outer, inner, value):
    with pytest.raises(TypeError, match="Mismatch"):
        tree.transpose(tree.structure(outer), None if inner is None else tree.structure(inner), value)


def test_broadcast():
    assert tree.broadcast((1, 2, 3), (0, {"a": 0, "b": 0}, (0, None))) == (1, {"a": 2, "b": 2}, (3, None))
    assert tree.broadcast(1, {"a": 0, "b": [0, 0]}) == {"a": 1, "b": [1, 1]}
    assert tree.broadcast((None, 1), (0, [0]), is_leaf=is_none) == (None, [1])
    with pytest.raises(TreeError) as caught:
        tree.broadcast((1, 2), (0, 0, 0))
    assert str(caught.value) == (
        "the full tree does not have the expected structure: "
        "at the root: expected a tuple of 2, got a tuple of 3"
    )
    with pytest.raises(TreeError, match="expected None, got a list of 1"):
        tree.broadcast((None, 1), ([0], 0))


@pytest.mark.parametrize(
    ("prefix", "value", "expected"),
    [
        (0, (1.0, {"w": 1.0, "b": [1.0, 1.0]}), [0, 0, 0, 0]),
        (None, (1.0, [2.0]), [None, None]),
        ((0, None), (1.0, {"w": 1.0, "b": 1.0}), [0, None, None]),
        ((None, {"w": 1, "b": None}), (1.0, {"w": 1.0, "b": [1.0, 1.0]}), [None, None, None, 1]),
        ((0, 1), (None, 1.0), [1]),
        ((None, None), (None, 1.0), [None]),
        (Layer(0, None), Layer([1.0], [2.0, 3.0]), [0, None, None]),
        ((), (), []),
        (3, None, []),
    ],
)
def test_flatten_prefix(prefix, value, expected):
    assert tree.flatten_prefix(prefix, tree.structure(value), "in_axes") == expected


@pytest.mark.parametrize(
    ("prefix", "value", "sentence"),
    [
        ((0, 0), (1.0,), "at the root: expected a tuple of 1, got a tuple of 2"),
        ([0], (1.0,), "at the root: expected a tuple of 1, got a list of 1"),
        ((0, (1, 2)), (1.0, 1.0), "at [1]: expected a leaf, got a tuple of 2"),
        (
            (0, {"w": {"v": 0}}),
            (1.0, {"w": [1.0]}),
            "at [1]['w']: expected a list of 1, got a dict with 1 key",
        ),
        (
            ({"w": 0},),
            ({"w": 1.0, "b": 1.0},),
            "at [0]: expected a dict with 2 keys, got one without 'b'",
        ),
        ((0, (1,)), (1.0, None), "at [1]: expected None, got a tuple of 1"),
    ],
)
def test_flatten_prefix_mismatch(prefix, value, sentence):
    with pytest.raises(TreeError) as caught:
        tree.flatten_prefix(prefix, tree.structure(value), "in_axes")
    assert str(caught.value) == (
        f"in_axes does not fit: {sentence}\n"
        "  Give one value for a whole subtree, or its containers with a value for each child."
    )


# Paths


def test_paths():
    value = [
        Point(12, {"cin": [1, 4], "bar": None}),
        deque([5]),
        Layer(1, Frozen(w=2)),
        Pair(3, 4),
        Named(6, 7),
    ]
    pairs = tree.leaves_with_path(value)
    assert [f"{tree.keystr(path)}: {leaf}" for path, leaf in pairs] == [
        "[0].x: 12",
        "[0].y['cin'][0]: 1",
        "[0].y['cin'][1]: 4",
        "[1][0]: 5",
        "[2].w: 1",
        "[2].b.w: 2",
        "[2].b.b: 0.0",
        "[3][<flat index 0>]: 3",
        "[3][<flat index 1>]: 4",
        "[4].x: 6",
        "[4]y: 7",
    ]
    assert [tree.keystr(path, simple=True, separator="/") for path, _ in pairs][-7:] == [
        "2/w",
        "2/b/w",
        "2/b/b",
        "3/0",
        "3/1",
        "4/x",
        "4/y",
    ]
    assert tree.structure(value).paths()[:-2] == [path for path, _ in pairs][:-2]
    assert tree.keystr(()) == ""
    assert tree.leaves_with_path(3) == [((), 3)]


def test_map_with_path():
    tree_1, tree_2 = [Named(1, {"a": [2, None]}), 3], [Named(4, {"a": [(5,), None]}), [6]]
    out = tree.map_with_path(lambda path, x, y: (tree.keystr(path), x, y), tree_1, tree_2)
    assert out == [Named(("[0].x", 1, 4), {"a": [("[0]y['a'][0]", 2, (5,)), None]}), ("[1]", 3, [6])]
    with pytest.raises(
        TreeError, match=r"tree 2 of map_with_path .* at \[1\]: expected a tuple of 1, got a leaf"
    ):
        tree.map_with_path(lambda path, x, y: x, [1, (2,)], [1, 2])


def test_is_leaf_with_path():
    value = ((1, 2), [3, {4: 4, 5: 5}])

    def is_deep(path, _):
        return len(path) >= 2

    pairs = tree.leaves_with_path(value, is_leaf=is_deep, is_leaf_takes_path=True)
    assert [leaf for _, leaf in pairs] == [1, 2, 3, {4: 4, 5: 5}]
    pairs = tree.leaves_with_path([value[0], 3], is_leaf=is_tuple)
    assert pairs == [((tree.SequenceKey(0),), (1, 2)), ((tree.SequenceKey(1),), 3)]
    assert tree.map_with_path(lambda path, x: len(path), value, is_leaf=is_deep, is_leaf_takes_path=True) == (
        (2, 2),
        [2, 2],
    )


KEYS = [tree.SequenceKey(1), tree.DictKey("a"), tree.GetAttrKey("a"), tree.FlattenedIndexKey(1)]


@pytest.mark.parametrize("key", KEYS)
def test_keys(key):
    assert eval(repr(key), vars(tree)) == key
    for other in (pickle.loads(pickle.dumps(key)), copy.deepcopy(key)):
        assert other == key
        assert hash(other) == hash(key)
    assert sum(other == key for other in KEYS) == 1
    assert sum(hash(other) == hash(key) for other in KEYS) == 1
    [name] = key.__match_args__
    for change in (lambda: setattr(key, name, 2), lambda: delattr(key, name)):
        with pytest.raises(AttributeError, match="is immutable"):
            change()
    assert tree.leaves(key) == [key]


def test_keys_match_patterns():
    match KEYS:
        case [
            tree.SequenceKey(1),
            tree.DictKey(key="a"),
            tree.GetAttrKey(name="a"),
            tree.FlattenedIndexKey(key=1),
        ]:
            return
    pytest.fail("no match")


def test_names_of_jax_for_one_level_and_for_structures() -> None:
    from funcgrad import tree_util

    kind = tree_util.tree_structure({"a": (1, 2), "b": 3})
    assert [str(k) for k in tree_util.treedef_children(kind)] == ["PyTreeDef((*, *))", "PyTreeDef(*)"]
    leaves = (kind, *[tree_util.tree_structure(t) for t in (1, None, ())])
    assert [tree_util.treedef_is_leaf(k) for k in leaves] == [False, True, True, True]
    assert [list(p) for p in tree_util.flatten_one_level({"b": 1, "a": 2})] == [[2, 1], ["a", "b"]]
    with pytest.raises(ValueError, match="can't tree-flatten type"):
        tree_util.flatten_one_level(3)
    assert (tree_util.is_tree_node(list), tree_util.is_tree_node(float)) == (True, False)


def test_an_associative_reduction_combines_halves() -> None:
    from funcgrad import tree_util

    def joined(a: str, b: str) -> str:
        return f"({a}{b})"

    assert tree_util.tree_reduce_associative(joined, ["a", "b", "c", ["d", "e"]]) == "((ab)(c(de)))"
    assert tree_util.tree_reduce_associative(joined, ["a"], identity="i") == "a"
    assert tree_util.tree_reduce_associative(joined, [], identity="i") == "i"
    with pytest.raises(TypeError, match="Must specify identity"):
        tree_util.tree_reduce_associative(joined, [])


def test_the_registry_under_the_name_of_jax() -> None:
    util = tree_util
    registry = util.default_registry
    pairs = [(util.DictKey("a"), [2]), (util.DictKey("b"), 1)]
    assert util.flatten_one_level_with_keys({"b": 1, "a": [2]})[0] == pairs
    assert registry.flatten_one_level_with_keys({"b": 1, "a": [2]})[0] == pairs
    assert registry.flatten_one_level([1, (2,)]) == ([1, (2,)], None)
    assert registry.flatten_one_level(3) is None
    assert registry.is_node(dict)
    assert registry.flatten({"a": [1, 2]})[0] == [1, 2]
    assert registry.flatten_with_path([5])[0] == [((util.SequenceKey(0),), 5)]
    with pytest.raises(TreeError, match="can't tree-flatten"):
        util.flatten_one_level_with_keys(3)
