"""Calls of compiled functions with nested arguments and results: straight-line code for one structure."""

from __future__ import annotations

import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.runtime.callers.structure_caller import structure_call
from funcgrad.tree.straight import straight_call

Point = namedtuple("Point", "x y")


@dataclass
class Model:
    w: Any
    b: Any


TREES = [
    ((1.0, 2.0), {}),
    (({"w": 1.0, "b": (2.0, [3.0])},), {}),
    ((Point(1.0, {"a": 2.0}),), {"scale": 3.0}),
    ((Model(1.0, (2.0,)), None, []), {}),
    (({1: 1.0, 2: 2.0},), {"z": {}, "a": [1.0]}),
    (((),), {}),
    (([float(k) for k in range(12)],), {}),
    ((1.0, {f"p{k}": float(k) for k in range(12)}, [2.0, tuple(range(20, 31))]), {"a": 0.5}),
    (tuple(range(15)), {}),
    (({"rows": [{f"q{k}": k + j for k in range(9)} for j in range(3)]}, Point(*[1.0, [*range(9)]])), {}),
]


in_both_ways = pytest.mark.parametrize("call_of", [straight_call, structure_call])


@in_both_ways
@pytest.mark.parametrize("given", TREES, ids=repr)
def test_leaves_go_in_the_order_of_flatten(given: Any, call_of: Any) -> None:
    leaves, structure = fg.tree.flatten(given)
    found: list[Any] = []
    call = call_of(lambda *x: found.extend(x) or tuple(x), structure, structure)
    assert call is not None
    assert call(*given) == given
    assert found == leaves


@in_both_ways
@pytest.mark.parametrize(
    "other",
    [
        ((1.0,), {}),
        (({"w": 1.0},), {}),
        (({"w": 1.0, "c": 2.0},), {}),
        ((OrderedDict(w=1.0, b=2.0),), {}),
        (({"w": 1.0, "b": 2.0},), {"k": 1.0}),
        (({"w": 1.0, "b": 2.0}, 1.0), {}),
    ],
    ids=repr,
)
def test_another_structure_is_left_to_others(other: Any, call_of: Any) -> None:
    structure = fg.tree.structure((({"w": 0, "b": 0},), {}))
    call = call_of(lambda b, w: (b, w), structure, fg.tree.structure((0, 0)))
    assert call is not None
    assert call(*other) is NotImplemented


@in_both_ways
@pytest.mark.parametrize(
    "other",
    [
        (([0.0] * 11, {f"p{k}": 0.0 for k in range(12)}), {}),
        (([0.0] * 12, {f"q{k}": 0.0 for k in range(12)}), {}),
        (([0.0] * 12, {f"p{k}": 0.0 for k in range(13)}), {}),
        (((0.0,) * 12, {f"p{k}": 0.0 for k in range(12)}), {}),
    ],
    ids=repr,
)
def test_another_structure_of_many_leaves_is_left_to_others(other: Any, call_of: Any) -> None:
    structure = fg.tree.structure((([0.0] * 12, {f"p{k}": 0.0 for k in range(12)}), {}))
    call = call_of(lambda *x: x, structure, fg.tree.structure((0,) * 24))
    assert call is not None
    assert call(*other) is NotImplemented


def test_what_is_not_known_by_sight_is_walked() -> None:
    for given in ((OrderedDict(a=1.0),), ({(1, 2): 1.0},), (fg.tree.Partial(np.add, 1.0),)):
        structure = fg.tree.structure((given, {}))
        assert straight_call(lambda x: (x,), structure, fg.tree.structure(0)) is None


class Scaled:
    """A class of the user's: two children, and a name beside them."""

    def __init__(self, x: Any, y: Any, name: Any) -> None:
        self.x, self.y, self.name = x, y, name


fg.tree.register_node(Scaled, lambda s: ((s.x, s.y), s.name), lambda name, parts: Scaled(*parts, name))


def test_registered_classes_are_taken_apart_by_what_was_registered() -> None:
    given = Scaled(1.0, [2.0], "first")
    structure = fg.tree.structure(((given,), {}))
    call = straight_call(lambda x, y: (y, x), structure, fg.tree.structure(given))
    assert call is not None
    found = call((given,), {})
    assert (found.x, found.y, found.name) == (2.0, [1.0], "first")
    for other in (Scaled(1.0, [2.0], "second"), Scaled(1.0, 2.0, "first"), (1.0, [2.0])):
        assert call((other,), {}) is NotImplemented
    # What cannot be compared is left to who says so.
    assert call((Scaled(1.0, [2.0], np.arange(2.0)),), {}) is NotImplemented


def test_modules_are_walked_as_their_methods_say() -> None:
    """Shared parts count once, parameters stand before buffers, and methods of the user's are asked."""
    nn = fg.torch.nn
    shared = nn.Linear(2, 2)

    class Named(nn.Module):  # type: ignore[misc, name-defined]
        def named_buffers(self, *args: Any, **kwargs: Any) -> Any:
            return iter(())

    for cls in (nn.Module, Named):
        model = cls()
        model.first, model.again, model.norm = shared, nn.Sequential(shared, nn.ReLU()), nn.BatchNorm1d(2)
        model.again.tied = shared.weight
        names, tensors = model._named_tensors()
        expected = [*model.named_parameters(), *model.named_buffers()]
        assert list(zip(names, map(id, tensors), strict=True)) == [(name, id(x)) for name, x in expected]


@in_both_ways
def test_results_of_any_kind_are_made(call_of: Any) -> None:
    result = fg.tree.structure((OrderedDict(b=0, a=0), Model(0, None)))
    call = call_of(lambda x: (x, x, x), fg.tree.structure(((0,), {})), result)
    assert call is not None
    assert call((1.0,), {}) == (OrderedDict(b=1.0, a=1.0), Model(1.0, None))


@in_both_ways
def test_errors_of_the_call_are_raised_once(call_of: Any) -> None:
    calls: list[float] = []

    def failing(x: float) -> Any:
        calls.append(x)
        raise KeyError("of the user")

    call = call_of(failing, fg.tree.structure((({"a": 0},), {})), fg.tree.structure(0))
    assert call is not None
    with pytest.raises(KeyError, match="of the user"):
        call(({"a": 1.0},), {})
    assert calls == [1.0]


@pytest.mark.parametrize("wrap", [dict, lambda d: Point(d["w"], d["b"]), lambda d: Model(d["w"], d["b"])])
def test_jitted_functions_take_and_give_trees(wrap: Any) -> None:
    def loss(p: Any) -> Any:
        w, b = (
            (p["w"], p["b"])
            if isinstance(p, dict)
            else tuple(vars(p).values())
            if isinstance(p, Model)
            else p
        )
        return np.sum(w**2) * b

    step = fg.jit(fg.value_and_grad(loss))
    for k in range(5):
        given = wrap({"w": np.arange(3.0) + k, "b": 2.0 + k})
        value, grad = step(given)
        expected, expected_grad = fg.value_and_grad(loss)(given)
        np.testing.assert_allclose(value, expected)
        assert fg.tree.structure(grad) == fg.tree.structure(expected_grad)
        for a, b in zip(fg.tree.leaves(grad), fg.tree.leaves(expected_grad), strict=True):
            np.testing.assert_allclose(a, b)


def test_another_shape_dtype_or_structure_after_many_calls() -> None:
    double = fg.jit(lambda p, *, scale=2.0: {k: v * scale for k, v in p.items()})
    for given in ({"a": np.ones(3)}, {"a": np.ones(4)}, {"a": np.ones(3, np.float32)}, {"b": 1.0}, {}):
        for _ in range(3):
            out = double(given)
            assert list(out) == list(given)
            for key, value in out.items():
                np.testing.assert_array_equal(value, given[key] * 2.0)
                assert np.result_type(value) == np.result_type(
                    given[key], 1.0 if np.ndim(value) == 0 else value
                )
        assert double(given, scale=3.0).keys() == given.keys()


def test_traced_arguments_are_traced() -> None:
    square = fg.jit(lambda p: {"y": p["x"] ** 2})
    for _ in range(3):
        square({"x": 3.0})
    assert fg.grad(lambda x: square({"x": x})["y"])(3.0) == 6.0


def test_dataclasses_are_made_in_one_call_with_their_static_fields() -> None:
    @dataclass
    class Layer:
        w: Any
        name: str = field(metadata={"static": True})
        made: int = field(default=0, init=False)

        def __post_init__(self) -> None:
            self.made = 1

    structure = fg.tree.structure(Layer(1.0, "first"))
    call = straight_call(lambda x: (x * 2.0,), fg.tree.structure(((1.0,), {})), structure)
    assert call is not None
    found = call((3.0,), {})
    assert (type(found), found.w, found.name, found.made) == (Layer, 6.0, "first", 1)
    entered = []
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        call((3.0,), {})
    finally:
        sys.setprofile(None)
    assert entered == ["straight", "<lambda>", "__init__", "__post_init__"]


def test_dataclasses_whose_init_takes_other_things_are_set_from_outside() -> None:
    @dataclass
    class Turned:
        x: Any
        y: Any

        def __init__(self, both: Any) -> None:
            self.x, self.y = both

    structure = fg.tree.structure(Turned((1.0, 2.0)))
    call = straight_call(lambda x, y: (y, x), fg.tree.structure(((1.0, 2.0), {})), structure)
    assert call is not None
    found = call((3.0, 4.0), {})
    assert (type(found), found.x, found.y) == (Turned, 4.0, 3.0)


@dataclass
class StaticBetween:
    x: Any
    name: str = field(metadata={"static": True})
    y: Any = None


@dataclass(kw_only=True)
class OnlyNamed:
    x: Any
    y: Any


@dataclass
class OtherOrder:
    x: Any
    y: Any

    def __init__(self, y: Any, x: Any, scale: float = 1.0) -> None:
        self.x, self.y = scale * x, scale * y


@dataclass
class TakesAnything:
    x: Any
    y: Any

    def __init__(self, **named: Any) -> None:
        vars(self).update(named)


class Reversing(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args[::-1], **kwargs)


@dataclass
class CalledOtherwise(metaclass=Reversing):
    x: Any
    y: Any


@pytest.mark.parametrize(
    "node",
    [
        StaticBetween(1.0, "first", 2.0),
        OnlyNamed(x=1.0, y=2.0),
        OtherOrder(2.0, 1.0),
        TakesAnything(x=1.0, y=2.0),
        CalledOtherwise(x=1.0, y=2.0),
    ],
    ids=lambda node: type(node).__name__,
)
def test_fields_of_dataclasses_are_what_their_names_say(node: Any) -> None:
    call = straight_call(
        lambda x, y: (3.0, 4.0), fg.tree.structure(((1.0, 2.0), {})), fg.tree.structure(node)
    )
    assert call is not None
    found = call((1.0, 2.0), {})
    assert (type(found), found.x, found.y) == (type(node), 3.0, 4.0)
    assert getattr(found, "name", "first") == "first"


MANY = [f"x{k}" for k in range(12)]


@pytest.mark.parametrize("cls", [make_dataclass("Many", MANY), namedtuple("Row", MANY)])
def test_objects_of_many_leaves_are_made_of_them_together(cls: Any) -> None:
    given = ({"rest": 0.0, "row": cls(*range(12))},), {}
    structure = fg.tree.structure(given)
    call = straight_call(lambda *x: tuple([2.0 * each for each in x]), structure, structure)
    assert call is not None
    ((found,), _) = call(*given)
    assert (found["rest"], type(found["row"])) == (0.0, cls)
    assert [getattr(found["row"], name) for name in MANY] == [2.0 * k for k in range(12)]
