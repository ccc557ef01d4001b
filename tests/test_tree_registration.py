"""Classes as pytrees: dataclasses, which need no registration, and everything that is registered."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import pytest

from funcgrad import tree
from funcgrad.errors import TreeError
from funcgrad.tree.registry import Registry
from tests.trees import Frozen, Layer, Pair, Point, double, flatten_pair, pair_of

# Dataclasses


def test_dataclass_static_field_is_part_of_the_structure():
    assert tree.structure(Layer(1, 2)) != tree.structure(Layer(1, 2, "other"))
    assert tree.map(double, Layer(1, 2, "other")) == Layer(2, 4, "other")
    assert tree.map(double, Frozen(w=1, b=2, name="n")) == Frozen(w=2, b=4, name="n")


def test_dataclass_post_init_runs_and_derived_field_follows():
    @dataclass
    class Normed:
        v: float
        norm: float = field(init=False)

        def __post_init__(self):
            self.norm = abs(self.v)

    assert tree.leaves(Normed(-2.0)) == [-2.0]
    assert tree.map(double, Normed(-2.0)).norm == 4.0


def test_dataclass_with_init_of_its_own_is_rebuilt_without_it():
    @dataclass
    class Zeros:
        w: Any
        total: Any = field(init=False, default=0)
        name: str = tree.static(default="zeros")

        def __init__(self, n):
            self.w, self.total = [0.0] * n, n

    value = Zeros(2)
    value.name = "mine"
    rebuilt = tree.map(str, value)
    assert type(rebuilt) is Zeros
    assert (rebuilt.w, rebuilt.total, rebuilt.name) == (["0.0", "0.0"], "2", "mine")


def test_dataclass_with_required_init_variable_is_rebuilt_without_init():
    @dataclass(frozen=True)
    class Scaled:
        w: Any
        scale: InitVar[float]

        def __post_init__(self, scale):
            object.__setattr__(self, "w", self.w * scale)

    assert tree.map(double, Scaled(1.0, 3.0)).w == 6.0


def test_dataclass_with_optional_init_variable_is_rebuilt_with_init():
    @dataclass
    class Shifted:
        w: Any
        shift: InitVar[float] = 0.0

        def __post_init__(self, shift):
            self.w += shift

    assert tree.map(double, Shifted(1.0, 3.0)).w == 8.0


def test_dataclass_whose_init_is_wrapped():
    @dataclass
    class Wrapped:
        w: Any

    plain = Wrapped.__init__

    @functools.wraps(plain)
    def checking_init(self, *args, **kwargs):
        plain(self, *args, **kwargs)

    Wrapped.__init__ = checking_init
    assert tree.map(double, Wrapped(1.0)) == Wrapped(2.0)


def test_dataclass_fields_are_inherited():
    @dataclass
    class Named(Layer):
        extra: Any = None

    value = Named(1, 2, "n", (3,))
    assert tree.leaves(value) == [1, 2, 3]
    assert tree.map(double, value) == Named(2, 4, "n", (6,))


def test_dataclass_with_class_variable():
    @dataclass
    class Counted:
        w: Any
        count: dataclasses.KW_ONLY
        b: Any = 1

    assert tree.leaves(Counted(1, b=2)) == [1, 2]


# Registration


def test_registered_class_of_each_kind():
    class Base:
        def __init__(self, x, y):
            self.x, self.y = x, y

    class Keyed(Base):
        pass

    tree.register_pytree_with_keys(
        Keyed,
        lambda o: ((("x", o.x), ("y", o.y)), None),
        lambda _, children: Keyed(*children),
    )

    @tree.register_pytree_node_class
    class Methods(Base):
        def tree_flatten(self):
            return [self.x, self.y], None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    class Plain(Base):
        pass

    tree.register_pytree_node(
        nodetype=Plain,
        flatten_func=lambda o: ((o.x, o.y), None),
        unflatten_func=lambda _, children: Plain(*children),
        flatten_with_keys_func=lambda o: (((tree.GetAttrKey("x"), o.x), (tree.GetAttrKey("y"), o.y)), None),
    )
    for cls, texts in [
        (Keyed, ["x", "y[0]"]),
        (Methods, ["[<flat index 0>]", "[<flat index 1>][0]"]),
        (Plain, [".x", ".y[0]"]),
    ]:
        value = cls(1, [2])
        assert [tree.keystr(path) for path, _ in tree.leaves_with_path(value)] == texts
        rebuilt = tree.map(double, value)
        assert (type(rebuilt), rebuilt.x, rebuilt.y) == (cls, 2, [4])


def test_registration_covers_no_subclasses_and_overrides_what_was_found_out():
    class Celsius(NamedTuple):
        degrees: float
        place: str

    class Base:
        pass

    class Derived(Base):
        pass

    assert len(tree.leaves([Celsius(1.0, "x"), Base(), Derived()])) == 4
    tree.register_node(Celsius, lambda c: ((c.degrees,), c.place), lambda place, d: Celsius(*d, place))
    tree.register_static(Base)
    assert tree.leaves([Celsius(1.0, "x"), Base()]) == [1.0]
    assert len(tree.leaves(Derived())) == 1


def test_registered_leaf():
    @tree.register_leaf
    @dataclass(frozen=True)
    class Shape:
        sizes: tuple[int, ...]

    shape = Shape((1, 2))
    assert tree.leaves({"a": shape}) == [shape]
    with pytest.raises(TreeError, match="already registered"):
        tree.register_static(Shape)


def test_duplicate_registration_is_an_error():
    with pytest.raises(TreeError) as caught:
        tree.register_node(Pair, flatten_pair, pair_of)
    assert str(caught.value) == (
        f"{Pair.__module__}.Pair is already registered as a pytree\n"
        "  Register each class once, beside its definition."
    )
    for cls in (tuple, list, dict, type(None), OrderedDict, defaultdict, deque, tree.Partial):
        with pytest.raises(TreeError, match="already registered"):
            tree.register_static(cls)


def test_registering_something_else_than_a_class():
    with pytest.raises(TreeError, match="only a class can be registered as a pytree, not 3"):
        tree.register_static(3)


def test_registering_a_class_without_the_methods():
    class Empty:
        pass

    with pytest.raises(TreeError, match="Empty has no method tree_unflatten"):
        tree.register_pytree_node_class(Empty)
    Empty.tree_unflatten = classmethod(lambda cls, _, children: cls())
    with pytest.raises(TreeError, match="Empty has no method tree_flatten_with_keys"):
        tree.register_pytree_with_keys_class(Empty)
    assert tree.leaves(Empty()) != []


@pytest.mark.parametrize("returned", ["hello", (1, 2, 3), (7, 7), 7, None, [(), None]])
def test_bad_flatten_function(returned):
    class Bad:
        pass

    tree.register_node(Bad, lambda bad: returned, lambda _, children: Bad())
    with pytest.raises(TreeError) as caught:
        tree.flatten(Bad())
    assert str(caught.value) == (
        f"the function registered to flatten {Bad.__qualname__} returned {returned!r}\n"
        "  It must return a tuple (children, static data) whose first part is iterable."
    )


def test_register_dataclass():
    @tree.register_dataclass
    @dataclass
    class Inferred:
        x: int
        y: int = tree.static()

    @functools.partial(tree.register_dataclass, data_fields=["x"], meta_fields=["op"])
    @dataclass
    class Told:
        x: int
        op: str

    class Plain:
        def __init__(self, x, op):
            self.x, self.op = x, op

    assert tree.register_dataclass(Plain, data_fields=["x"], meta_fields=["op"]) is Plain
    for cls in (Inferred, Told, Plain):
        assert tree.flatten(cls(1, 3))[0] == [1]
        assert tree.structure(cls(1, 3)) != tree.structure(cls(1, 4))
        assert tree.map(double, cls(1, 3)).x == 2
        with pytest.raises(TreeError, match="already registered"):
            tree.register_dataclass(cls, ["x"], [("op", "y")[cls is Inferred]])


def test_register_dataclass_leaves_fields_out():
    @dataclass
    class Cached:
        x: int
        cache: int = 42

    tree.register_dataclass(Cached, drop_fields=["cache"])
    assert tree.leaves(Cached(1, 2)) == [1]
    assert tree.map(double, Cached(1, 2)) == Cached(2, 42)


def test_register_dataclass_with_wrong_fields():
    @dataclass
    class Foo:
        x: int
        y: int
        z: float = field(init=False)

    class Plain:
        pass

    for cls, data, meta, message in [
        (Foo, ["x"], [], "missing 'y'"),
        (Foo, ["x", "q"], ["y", "z"], "unexpected 'q', 'z'"),
        (Foo, ["x", "y"], ["y"], "both data and meta 'y'"),
        (Foo, ["x"], None, "got only one of"),
        (Plain, None, None, "Plain is not a dataclass"),
    ]:
        with pytest.raises(TreeError, match=message):
            tree.register_dataclass(cls, data, meta)
    tree.register_dataclass(Foo, ["x"], ["y"])


def test_registry_forgets_only_what_it_found_out():
    class Forgetful(Registry):
        most_remembered = 8

    registry = Forgetful()
    registry.register(Pair, None)
    classes = [type(f"Made{number}", (), {}) for number in range(100)]
    for cls in [*classes, Layer, Point]:
        registry[cls]
        assert len(registry) <= 10
    assert Pair in registry
    assert registry[Layer].cls is Layer
    assert registry[classes[0]] is None


def test_threads_may_flatten_and_register_at_once():
    class Work(NamedTuple):
        x: float

    outcomes = []
    start = threading.Barrier(4)

    def flatten_new_classes():
        start.wait()
        for number in range(200):
            cls = namedtuple(f"Made{number}", ["x"])
            tree.register_node(cls, lambda o: ((o.x, 0.0), None), lambda _, children: cls(children[0]))  # noqa: B023
            outcomes.append((tree.leaves((cls(1.0), Work(2.0))), [1.0, 0.0, 2.0]))

    threads = [threading.Thread(target=flatten_new_classes) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 800
    assert all(got == wanted for got, wanted in outcomes)
