"""Transforms of functions of nested containers: structure in, structure out."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import grad, jacrev, jvp, tree, value_and_grad, vjp, vmap
from funcgrad.errors import NotDifferentiableError

Pair = namedtuple("Pair", "x y")


class Typed(NamedTuple):
    weight: Any
    bias: Any = None


@fg.tree.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    b: Any
    name: str = dataclasses.field(default="layer", metadata={"static": True})


class Box:
    """A container of the user's own, registered below."""

    def __init__(self, inside: Any, label: str) -> None:
        self.inside = inside
        self.label = label


fg.tree.register_node(Box, lambda box: ((box.inside,), box.label), lambda label, parts: Box(parts[0], label))

W, V = np.arange(3.0), np.array([2.0, -1.0, 0.5])

CONTAINERS = {
    "tuple": (W, V),
    "list": [W, V],
    "dict": {"b": W, "a": V},
    "ordered": OrderedDict([("z", W), ("a", V)]),
    "defaultdict": defaultdict(list, {"p": W, "q": V}),
    "namedtuple": Pair(W, V),
    "typed": Typed(W, V),
    "dataclass": Layer(W, V, "first"),
    "registered": Box({"in": [W]}, "label"),
    "nested": {"layers": [Pair(W, {"deep": (V,)}), None], "scale": 2.0},
    "none": {"w": W, "nothing": None, "empty": ()},
}


def loss(p: Any) -> Any:
    return sum(np.sum(k * leaf**2) for k, leaf in enumerate(tree.leaves(p), start=1))


@pytest.mark.parametrize("name", CONTAINERS)
def test_gradient_has_the_structure_of_the_argument(name: str) -> None:
    p = CONTAINERS[name]
    found = grad(loss)(p)
    assert type(found) is type(p)
    assert tree.structure(found) == tree.structure(p)
    expected = [2.0 * k * np.asarray(leaf) for k, leaf in enumerate(tree.leaves(p), start=1)]
    for x, y in zip(tree.leaves(found), expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", CONTAINERS)
def test_results_have_the_structure_that_was_returned(name: str) -> None:
    p = CONTAINERS[name]

    def doubled(p: Any) -> Any:
        return tree.map(lambda leaf: 2.0 * leaf, p)

    out, pullback = vjp(doubled, p)
    assert tree.structure(out) == tree.structure(p)
    (bar,) = pullback(out)
    assert tree.structure(bar) == tree.structure(p)
    out, dot = jvp(doubled, (p,), (p,))
    assert tree.structure(dot) == tree.structure(p)
    for x, y in zip(tree.leaves(dot), tree.leaves(p), strict=True):
        np.testing.assert_array_equal(x, 2.0 * np.asarray(y))


def test_dict_order_is_the_users() -> None:
    found = grad(loss)({"b": 1.0, "a": 2.0})
    assert list(found) == ["b", "a"] or list(found) == ["a", "b"]
    assert found == grad(loss)({"a": 2.0, "b": 1.0})


def test_dataclass_keeps_its_static_fields() -> None:
    found = grad(lambda layer: np.sum(layer.w * layer.b))(Layer(W, V, "mine"))
    assert found.name == "mine"
    np.testing.assert_array_equal(found.w, V)


def test_registered_class_keeps_its_auxiliary_data() -> None:
    found = grad(lambda box: np.sum(box.inside**2))(Box(W, "mine"))
    assert isinstance(found, Box)
    assert found.label == "mine"
    np.testing.assert_array_equal(found.inside, 2.0 * W)


def test_leaf_dtypes_are_kept_each() -> None:
    p = {"single": np.ones(2, np.float32), "double": np.ones(2), "complex": np.ones(2, np.complex64)}
    found = grad(lambda p: np.sum(np.abs(p["single"] * p["double"] * p["complex"])))(p)
    assert {k: v.dtype for k, v in found.items()} == {k: v.dtype for k, v in p.items()}


def test_python_numbers_inside_containers() -> None:
    found = grad(lambda p: p["lr"] ** 2 * p["steps"][0])({"lr": 3.0, "steps": [2.0]})
    assert found == {"lr": 12.0, "steps": [9.0]}
    assert type(found["lr"]) is np.float64


def test_integers_inside_containers_are_refused_by_path() -> None:
    with pytest.raises(NotDifferentiableError, match=r"argument 0\['n'\]"):
        grad(lambda p: p["x"] * p["n"])({"x": 1.0, "n": 3})


def test_integers_inside_containers_with_allow_int() -> None:
    found = grad(lambda p: p["x"] * p["n"], allow_int=True)({"x": 1.0, "n": 3})
    assert found["x"] == 3.0
    assert found["n"] == 0.0


def test_empty_containers() -> None:
    assert grad(lambda p, x: x, argnums=(0, 1))((), 1.0) == ((), 1.0)
    assert grad(lambda p: 1.0)({}) == {}
    assert value_and_grad(lambda p: 2.0)(None) == (2.0, None)


def test_shared_leaves_are_separate_arguments() -> None:
    found = grad(lambda p: np.sum(p[0] * p[1]))((W, W))
    np.testing.assert_array_equal(found[0], W)
    np.testing.assert_array_equal(found[1], W)
    found[0][:] = 7.0
    assert found[1][0] == 0.0


def test_aux_of_any_structure() -> None:
    def f(x: Any) -> Any:
        return np.sum(x), Box({"y": x * 2.0, "k": "text"}, "aux")

    _, aux = grad(f, has_aux=True)(W)
    assert isinstance(aux, Box)
    np.testing.assert_array_equal(aux.inside["y"], 2.0 * W)
    assert aux.inside["k"] == "text"


def test_jacobian_of_containers() -> None:
    found = jacrev(lambda p: Pair(p.w * 2.0, np.sum(p.b)))(Layer(W, V))
    assert type(found) is Pair
    assert type(found.x) is Layer
    np.testing.assert_array_equal(found.x.w, 2.0 * np.eye(3))
    np.testing.assert_array_equal(found.x.b, np.zeros((3, 3)))
    np.testing.assert_array_equal(found.y.b, np.ones(3))


def test_vmap_of_containers() -> None:
    batch = Layer(np.ones((4, 3)), np.arange(4.0))
    found = vmap(lambda layer: Typed(np.sum(layer.w), layer.b))(batch)
    assert type(found) is Typed
    np.testing.assert_array_equal(found.weight, np.full(4, 3.0))
    np.testing.assert_array_equal(found.bias, np.arange(4.0))


def test_update_of_parameters_by_tree_map() -> None:
    params = {"w": W, "b": [1.0]}
    for _ in range(3):
        slope = grad(loss)(params)
        params = tree.map(lambda p, g: p - 0.1 * g, params, slope)
    np.testing.assert_allclose(params["b"][0], 0.8**3)


def test_unregistered_classes_are_leaves_and_refused() -> None:
    class Opaque:
        pass

    with pytest.raises(NotDifferentiableError, match="Opaque"):
        grad(lambda p: 1.0)(Opaque())
