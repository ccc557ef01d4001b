"""Pytrees: what is a container, what the functions on trees promise, and what mistakes are told."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from funcgrad import tree
from funcgrad.errors import FuncgradError, TreeError
from funcgrad.tree.treedef import LEAF
from tests.trees import Frozen, Layer, Named, Pair, Point, double


class SubclassedPoint(Point):
    """Has no fields of its own, and a ``__new__`` that does not take those of its base."""

    def __new__(cls, both):
        return super().__new__(cls, both, both)


class Typed(NamedTuple):
    a: Any
    b: Any = None


@tree.register_static
class Unit(str):
    """All static."""


# A tree, its leaves, and how its structure prints.
TREES = [
    (1.0, [1.0], "*"),
    (None, [], "None"),
    ((), [], "()"),
    ([], [], "[]"),
    ({}, [], "{}"),
    ((1,), [1], "(*,)"),
    ((1, 2), [1, 2], "(*, *)"),
    ([1, [2, (3, None)]], [1, 2, 3], "[*, [*, (*, None)]]"),
    ({"b": 1, "a": (2, 3)}, [2, 3, 1], "{'a': (*, *), 'b': *}"),
    ({2: "two", 1: "one"}, ["one", "two"], "{1: *, 2: *}"),
    ({(1, "b"): 1, (0, "a"): 2}, [2, 1], "{(0, 'a'): *, (1, 'b'): *}"),
    ({None: 1}, [1], "{None: *}"),
    (OrderedDict(b=1, a=2), [1, 2], "CustomNode(OrderedDict[('b', 'a')], [*, *])"),
    (
        defaultdict(int, b=1, a=2),
        [2, 1],
        "CustomNode(defaultdict[(<class 'int'>, ('a', 'b'))], [*, *])",
    ),
    (deque([1, (2,)], maxlen=3), [1, 2], "CustomNode(deque[3], [*, (*,)])"),
    (Point(1, [2]), [1, 2], "CustomNode(namedtuple[Point], [*, [*]])"),
    (SubclassedPoint(1), [1, 1], "CustomNode(namedtuple[SubclassedPoint], [*, *])"),
    (Typed(1), [1], "CustomNode(namedtuple[Typed], [*, None])"),
    (Layer(1, (2, 3)), [1, 2, 3], "CustomNode(Layer[('layer',)], [*, (*, *)])"),
    (Frozen(w=1), [1, 0.0], "CustomNode(Frozen[('frozen',)], [*, *])"),
    (Pair(1, [2], "p"), [1, 2], "CustomNode(Pair[p], [*, [*]])"),
    (Named(1, None), [1], "CustomNode(Named[None], [*, None])"),
    ([Unit("m"), 1], [1], "[CustomNode(Unit[m], []), *]"),
    ("text", ["text"], "*"),
    ({1, 2}, [{1, 2}], "*"),
    (Layer, [Layer], "*"),
    (Counter("aab"), [Counter("aab")], "*"),
]
IDS = [text for _, _, text in TREES]
each_tree = pytest.mark.parametrize(("value", "leaves", "text"), TREES, ids=IDS)
trees_only = pytest.mark.parametrize("value", [value for value, _, _ in TREES], ids=IDS)


# What is a container


@each_tree
def test_leaves_structure_and_round_trip(value, leaves, text):
    found, treedef = tree.flatten(value)
    assert found == leaves
    assert str(treedef) == f"PyTreeDef({text})"
    assert treedef.num_leaves == len(leaves)
    rebuilt = tree.unflatten(treedef, found)
    assert rebuilt == value
    assert type(rebuilt) is type(value)
    assert tree.leaves(value) == found
    assert tree.structure(value) == treedef


@trees_only
def test_flatten_up_to_its_own_structure(value):
    leaves, treedef = tree.flatten(value)
    assert treedef.flatten_up_to(value) == leaves


@trees_only
def test_two_flattenings_are_equal_and_hash_alike(value):
    one, other = tree.structure(value), tree.structure(tree.map(id, value))
    assert one == other
    assert hash(one) == hash(other)


@trees_only
def test_structures_pickle_and_copy(value):
    leaves, treedef = tree.flatten(value)
    for restored in (pickle.loads(pickle.dumps(treedef)), copy.copy(treedef), copy.deepcopy(treedef)):
        assert restored == treedef
        assert hash(restored) == hash(treedef)
        assert restored.unflatten(leaves) == value


@trees_only
def test_with_path_agrees_with_flatten(value):
    pairs, treedef = tree.flatten_with_path(value)
    assert [leaf for _, leaf in pairs] == tree.leaves(value)
    assert treedef == tree.structure(value)
    assert hash(treedef) == hash(tree.structure(value))
    assert tree.leaves_with_path(value) == pairs


def test_all_structures_differ():
    structures = [tree.structure(value) for value, _, text in TREES if text != "*"]
    assert len(set(structures)) == len(structures)
    assert len({str(treedef) for treedef in structures}) == len(structures)
    for place, one in enumerate(structures):
        for other in structures[place + 1 :]:
            assert one != other


def test_unregistered_subclasses_of_containers_are_leaves():
    class MyTuple(tuple):
        __slots__ = ()

    class MyList(list):
        pass

    class MyDict(dict):
        pass

    class MyDeque(deque):
        pass

    class MyOrderedDict(OrderedDict):
        pass

    @dataclass
    class Output(dict):
        a: int = 1

    values = [MyTuple((1, 2)), MyList([1]), MyDict(a=1), MyDeque([1]), MyOrderedDict(a=1), Output()]
    assert tree.leaves(values) == values


def test_arrays_and_their_scalars_are_leaves():
    array = np.zeros((2, 2))
    found = tree.leaves({"a": array, "b": np.float64(1.0), "c": np.ma.zeros(2)})
    assert found[0] is array
    assert len(found) == 3


def test_dict_comes_back_plain_in_sorted_order_with_its_own_keys():
    rebuilt = tree.map(double, {"b": 1, "a": {"d": 2, "c": 3}})
    assert list(rebuilt) == ["a", "b"]
    assert list(rebuilt["a"]) == ["c", "d"]

    class Name(str):
        __slots__ = ()

    for key in (True, 1, 1.0, np.float64(1.0), Name("a"), "a"):
        [found] = tree.map(double, {key: 1})
        assert type(found) is type(key)


def test_default_dict_keeps_its_factory():
    rebuilt = tree.map(double, defaultdict(list, a=1))
    assert rebuilt["missing"] == []
    assert tree.structure(defaultdict(list, a=1)) != tree.structure(defaultdict(int, a=1))


def test_deque_keeps_its_length():
    assert tree.map(double, deque([1, 2], maxlen=2)).maxlen == 2
    assert tree.structure(deque([1], maxlen=2)) != tree.structure(deque([1]))


def test_unflatten_does_not_keep_the_list_it_was_given():
    leaves, treedef = tree.flatten([1, 2])
    rebuilt = treedef.unflatten(leaves)
    rebuilt.append(3)
    assert leaves == [1, 2]


def test_small_structures_are_shared():
    a, b = np.zeros(2), 3.0
    for one, other in [(a, b), ((a,), (b,)), ([a, b], [b, a]), ({"w": a, "b": b}, {"b": a, "w": b})]:
        assert tree.structure(one) is tree.structure(other)
        assert pickle.loads(pickle.dumps(tree.structure(one))) is tree.structure(one)


def test_structure_is_immutable():
    treedef = tree.structure((1, 2))
    for name in ("num_leaves", "num_nodes", "anything"):
        with pytest.raises(AttributeError):
            setattr(treedef, name, 1)
    children = treedef.children()
    children.clear()
    assert len(treedef.children()) == 2


def test_structure_is_no_tuple_and_not_equal_to_other_things():
    assert tree.structure((1, 2)) != (1, 2)
    assert tree.structure(1) != "*"


# Structures


def test_children_and_counts():
    treedef = tree.structure(((1, 2, 3), (4,), None))
    assert treedef.children() == [tree.structure((0, 0, 0)), tree.structure((0,)), tree.structure(None)]
    assert tree.treedef_tuple(treedef.children()) == treedef
    assert tree.treedef_tuple([LEAF, LEAF]) is tree.structure((1, 2))
    assert (treedef.num_leaves, treedef.num_nodes) == (4, 8)
    assert LEAF.children() == []
    assert LEAF.num_nodes == 1


@trees_only
def test_compose(value):
    outer, inner = tree.structure(value), tree.structure([0, (0, 0)])
    composed = outer.compose(inner)
    count = outer.num_leaves * 3
    assert composed.num_leaves == count
    assert composed.num_nodes == outer.num_nodes - outer.num_leaves + outer.num_leaves * inner.num_nodes
    assert composed == tree.structure(tree.map(lambda _: [0, (0, 0)], value))
    assert tree.leaves(composed.unflatten(range(count))) == list(range(count))
    assert outer.compose(LEAF) == outer
    assert LEAF.compose(outer) == outer


def test_static_data_may_be_unhashable_and_must_not_be_arrays():
    one, other = (tree.structure(Layer(1, 2, name)) for name in (["a"], ["a"]))
    assert one == other
    assert hash(one) == hash(other)
    assert one != tree.structure(Layer(1, 2, ["b"]))
    array = np.zeros(2)
    assert tree.structure(Layer(1, 2, array)) == tree.structure(Layer(1, 2, array))
    with pytest.raises(TreeError, match="cannot compare the static data of two Layer: The truth value of"):
        tree.structure(Layer(1, 2, np.zeros(2))) == tree.structure(Layer(1, 2, np.zeros(2)))  # noqa: B015


def test_number_of_leaves_must_fit():
    treedef = tree.structure({"a": 1, "b": 2})
    for leaves in ([], [1], [1, 2, 3], range(3)):
        with pytest.raises(TreeError) as caught:
            treedef.unflatten(leaves)
        assert str(caught.value) == f"PyTreeDef({{'a': *, 'b': *}}) takes 2 leaves, got {len(leaves)}"
    with pytest.raises(TreeError, match="takes 1 leaf, got 0"):
        LEAF.unflatten([])
    with pytest.raises(TreeError, match="takes 0 leaves, got 1"):
        tree.structure(None).unflatten([1])
    assert treedef.unflatten(iter([1, 2])) == {"a": 1, "b": 2}


def test_unflatten_with_arguments_swapped():
    with pytest.raises(TreeError) as caught:
        tree.unflatten([1, 2], tree.structure((1, 2)))
    assert str(caught.value) == (
        "unflatten got [1, 2] in place of a structure\n"
        "  The structure comes first: unflatten(treedef, leaves)."
    )


def test_tree_error_is_caught_as_in_jax():
    assert issubclass(TreeError, ValueError)
    assert issubclass(TreeError, FuncgradError)


def test_unsortable_dict_keys():
    with pytest.raises(TreeError) as caught:
        tree.flatten([{"a": 1, 2: 3}])
    assert str(caught.value) == (
        "cannot sort the keys of a dict: '<' not supported between instances of 'int' and 'str'\n"
        "  Give all keys one type that has an order, or use an OrderedDict."
    )
    assert tree.leaves(OrderedDict({"a": 1, 2: 3})) == [1, 3]


# Large and deep trees


def test_long_lists_do_not_recurse():
    value = [(number,) for number in range(10_000)]
    leaves, treedef = tree.flatten(value)
    assert leaves == list(range(10_000))
    assert treedef.unflatten(leaves) == value
    assert treedef == tree.structure(value)
    assert hash(treedef) == hash(tree.structure(value))
    assert treedef.flatten_up_to(value) == leaves


def nested(depth):
    value = 1.0
    for _ in range(depth):
        value = [value]
    return value


def test_deep_trees_are_refused_with_an_error():
    cyclic = []
    cyclic.append(cyclic)
    for value in (nested(10_000), cyclic):
        for attempt in (tree.flatten, tree.flatten_with_path, tree.leaves, tree.structure):
            with pytest.raises(TreeError) as caught:
                attempt(value)
            assert str(caught.value) == (
                "cannot flatten this pytree: it is nested too deeply, or contains itself\n"
                "  Stack the leaves into arrays, or keep them in one flat list."
            )
    deep = LEAF
    for _ in range(10_000):
        deep = tree.treedef_tuple([deep, LEAF])
    with pytest.raises(TreeError, match="cannot unflatten this pytree: it is nested too deeply"):
        deep.unflatten(range(10_001))


def test_moderately_deep_trees_work():
    value = nested(300)
    leaves, treedef = tree.flatten(value)
    assert leaves == [1.0]
    assert treedef.unflatten(leaves) == value
    assert treedef == tree.structure(value)
    assert hash(treedef) == hash(tree.structure(value))
    assert len(treedef.paths()[0]) == 300


# Partial


def test_partial_is_a_pytree_and_a_partial():
    bound = tree.Partial(divmod, 7.0)
    assert bound(2) == (3, 1)
    assert isinstance(bound, functools.partial)
    doubled = tree.map(double, bound)
    assert type(doubled) is tree.Partial
    assert doubled.args == (14.0,)
    assert tree.structure(bound) == tree.structure(tree.Partial(divmod, 1))
    assert tree.structure(bound) != tree.structure(tree.Partial(max, 1))
    with_keywords = tree.Partial(print, 1, end=2, sep={"a": 3})
    assert [tree.keystr(path) for path, _ in tree.leaves_with_path(with_keywords)] == [
        ".args[0]",
        ".keywords['end']",
        ".keywords['sep']['a']",
    ]
    assert str(tree.structure(with_keywords)) == (
        "PyTreeDef(CustomNode(Partial[<built-in function print>], [(*,), {'end': *, 'sep': {'a': *}}]))"
    )


def test_partial_leaves_the_arguments_of_a_plain_partial_alone():
    plain = functools.partial(divmod, 7)
    bound = tree.Partial(plain, 2)
    assert bound() == (3, 1)
    assert tree.leaves(bound) == [2]
    assert tree.structure(bound) == tree.structure(tree.Partial(plain, 3))
    assert hash(tree.structure(bound)) == hash(tree.structure(tree.Partial(plain, 3)))
    assert pickle.loads(pickle.dumps(bound))() == (3, 1)
    assert tree.leaves(tree.Partial(tree.Partial(divmod, 7), 2)) == [7, 2]


# Pickles in other processes


def test_structure_pickles_to_another_process(tmp_path):
    (tmp_path / "shapes.py").write_text("class Box:\n    def __init__(self, x):\n        self.x = x\n")
    (tmp_path / "registering.py").write_text(
        "from shapes import Box\n"
        "from funcgrad import tree\n"
        "tree.register_node(Box, lambda box: ((box.x,), None), lambda _, children: Box(*children))\n"
    )
    make = (
        "import pickle, sys, registering, collections\n"
        "from funcgrad import tree\n"
        "value = {'a': [1, (2, None)], 'b': registering.Box(3), 'c': collections.OrderedDict(z=1)}\n"
        "sys.stdout.write(pickle.dumps(tree.structure(value)).hex())\n"
    )
    pickled = run_python(make, tmp_path)
    read = (
        "import pickle, sys\n"
        "from funcgrad import tree\n"
        "treedef = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "assert hash(treedef) == hash(tree.structure(treedef.unflatten(range(4))))\n"
        "print(treedef, treedef.unflatten(range(4))['b'].x)\n"
    )
    printed = run_python("import registering\n" + read, tmp_path, pickled)
    assert printed == (
        "PyTreeDef({'a': [*, (*, None)], 'b': CustomNode(Box[None], [*]), "
        "'c': CustomNode(OrderedDict[('z',)], [*])}) 2\n"
    )
    wary = (
        "import pickle, sys\n"
        "from funcgrad import errors\n"
        "try:\n"
        "    pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "except errors.TreeError as error:\n"
        "    print(error)\n"
    )
    assert run_python(wary, tmp_path, pickled) == (
        "a pickled tree structure contains shapes.Box, here no container\n"
        "  Import the module that registers the class before unpickling.\n"
    )


def run_python(source: str, folder: Path, *arguments: str) -> str:
    """Return what a new interpreter prints that can import from ``folder`` and from here."""
    paths = [str(folder), str(Path(__file__).parents[1]), *sys.path]
    source = f"import sys\nsys.path[:0] = {paths!r}\n{source}"
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
