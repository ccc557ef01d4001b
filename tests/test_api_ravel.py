"""Trees as vectors and back: the values, the types, the derivatives, and that nothing is shared."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import funcgrad as fg
from funcgrad.errors import DtypeError, ShapeError

PARAMS = {"w": np.arange(6.0).reshape(2, 3), "b": (1.5, np.array([7.0, 8.0]))}


def test_elements_in_the_order_of_the_leaves() -> None:
    vector, unravel = fg.ravel_pytree(PARAMS)
    np.testing.assert_array_equal(vector, [1.5, 7.0, 8.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    again = unravel(2.0 * vector)
    assert fg.tree.structure(again) == fg.tree.structure(PARAMS)
    for x, y in zip(fg.tree.leaves(again), fg.tree.leaves(PARAMS), strict=True):
        np.testing.assert_array_equal(x, 2.0 * np.asarray(y))
        assert np.shape(x) == np.shape(y)


def test_leaves_keep_their_types() -> None:
    mixed = {"half": np.ones(2, np.float32), "wave": np.array([1.0 + 2.0j]), "x": np.float64(3.0)}
    vector, unravel = fg.ravel_pytree(mixed)
    assert vector.dtype == np.complex128
    for given in (unravel, fg.jit(unravel)):
        found = given(vector)
        assert {name: x.dtype.name for name, x in found.items()} == {
            "half": "float32",
            "wave": "complex128",
            "x": "float64",
        }
        np.testing.assert_array_equal(found["wave"], mixed["wave"])


def test_a_vector_in_another_precision() -> None:
    """SciPy's optimisers compute in double precision."""
    vector, unravel = fg.ravel_pytree({"w": np.ones(2, np.float32)})
    assert vector.dtype == np.float32
    assert unravel(vector.astype(float))["w"].dtype == np.float32
    assert fg.grad(lambda v: np.sum(unravel(v)["w"] ** 2))(np.ones(2)).dtype == np.float64


@pytest.mark.parametrize("params", [PARAMS, np.ones(3)])
def test_no_memory_is_shared(params: Any) -> None:
    vector, unravel = fg.ravel_pytree(params)
    leaves = fg.tree.leaves(unravel(vector))
    vector[:] = np.nan
    assert all(np.all(np.isfinite(x)) for x in [*leaves, *fg.tree.leaves(params)])


def loss(params: Any) -> Any:
    return np.sum(np.sin(params["w"])) * params["b"][0] + np.sum(params["b"][1] ** 2)


def test_derivatives_in_both_directions() -> None:
    vector, unravel = fg.ravel_pytree(PARAMS)
    wanted, _ = fg.ravel_pytree(fg.grad(loss)(PARAMS))
    for transform in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        np.testing.assert_allclose(transform(lambda v: loss(unravel(v)))(vector), wanted, rtol=1e-13)
    size = fg.grad(lambda params: np.sum(fg.ravel_pytree(params)[0] ** 2))(PARAMS)
    np.testing.assert_allclose(size["w"], 2.0 * PARAMS["w"])
    assert size["b"][0] == 3.0
    many = fg.vmap(unravel)(np.stack([vector, -vector]))
    np.testing.assert_array_equal(many["w"], np.stack([PARAMS["w"], -PARAMS["w"]]))


def test_an_optimiser_of_vectors() -> None:
    def bowl(params: Any) -> Any:
        return np.sum((params["w"] - 1.0) ** 2) + (params["b"] + 2.0) ** 2

    vector, unravel = fg.ravel_pytree({"w": np.zeros((2, 2)), "b": 0.0})
    fit = minimize(fg.value_and_grad(lambda v: bowl(unravel(v))), vector, jac=True)
    found = unravel(fit.x)
    np.testing.assert_allclose(found["w"], np.ones((2, 2)))
    np.testing.assert_allclose(found["b"], -2.0)


def test_the_way_back_is_pickled() -> None:
    vector, unravel = fg.ravel_pytree(PARAMS)
    again = pickle.loads(pickle.dumps(unravel))
    np.testing.assert_array_equal(again(vector)["w"], PARAMS["w"])
    assert repr(again).startswith("<unravel a vector of 9 into")


def test_a_tree_without_leaves() -> None:
    vector, unravel = fg.ravel_pytree({"a": (), "b": None})
    assert vector.shape == (0,)
    assert unravel(vector) == {"a": (), "b": None}


def test_what_is_refused() -> None:
    with pytest.raises(DtypeError, match=r"floating-point leaves, and the leaf at \['n'\] is i64"):
        fg.ravel_pytree({"n": np.arange(3), "x": 1.0})
    with pytest.raises(DtypeError, match="is not numeric"):
        fg.ravel_pytree({"n": "name"})
    _, unravel = fg.ravel_pytree(PARAMS)
    with pytest.raises(ShapeError, match=r"a vector of 9 elements, as ravel_pytree made, got f64\[8\]"):
        unravel(np.ones(8))
