"""Functions of NumPy and of `math` that are handed on: to `map`, `reduce`, `partial`, `sorted`, `vectorize`.

Each program runs un-jitted, under `jit` and `vmap`, against finite differences of itself.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.stats

import funcgrad as fg

X = np.array([1.1, 0.7, 0.4])


def converted(x: Any) -> Any:
    a, b = map(np.asanyarray, (x[:2], x[1:]))
    return np.angle(a + 1j * b).sum()


def written(x: Any) -> Any:
    first, second = map(np.zeros, (1, 2))
    first[0] = x[0] ** 2
    second[1] = x[1]
    return first.sum() * second.sum()


def of_floats(x: Any) -> Any:
    as_floats = functools.partial(np.asarray, dtype=float)
    return sum((y**2).sum() for y in map(as_floats, (x[:1], x[1:])))


def drawn_and_written(x: Any) -> Any:
    w = np.random.default_rng(3).normal(size=3)
    w += x**2
    w[0] *= x[1]
    return np.sum(w**2)


def broadcast(x: Any) -> Any:
    both = np.broadcast(x[:2], x[1:, None])
    assert (both.shape, both.ndim, both.size, both.numiter) == ((2, 2), 2, 4, 2)
    return np.ones(both.shape).sum() * sum(a * b**2 for a, b in both)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "map np.asanyarray": converted,
    "map np.zeros": written,
    "map partial": of_floats,
    "map and reduce": lambda x: functools.reduce(operator.mul, map(math.exp, x)),
    "map of two": lambda x: sum(map(math.pow, x, x)),
    "starmap": lambda x: sum(itertools.starmap(math.hypot, [(x[0], x[1]), (x[1], x[2])])),
    "accumulate": lambda x: sum(itertools.accumulate(x, math.atan2)),
    "sorted": lambda x: sorted(x, key=math.sin)[0] ** 2,
    "fromiter": lambda x: np.fromiter(map(math.sqrt, x), float).sum(),
    "vectorize": lambda x: np.vectorize(math.sin)(x).sum(),
    "broadcast": broadcast,
    "drawn": drawn_and_written,
    "from_dlpack": lambda x: (np.from_dlpack(x, device="cpu") ** 2).sum(),
    "remainder": lambda x: math.remainder(7.3 * x[0], x[1]) * x[2],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_handed_on_takes_traced_values(name: str) -> None:
    f = PROGRAMS[name]
    steps = 1e-6 * np.eye(3)
    wanted = np.array([(f(X + h) - f(X - h)) / 2e-6 for h in steps])
    for found in (fg.grad(f)(X), fg.jit(fg.grad(f))(X), fg.vmap(fg.grad(f))(X[None])[0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("x", "y"), [(5.0, 2.0), (-3.0, 2.0), (7.5, -2.0), (0.0, 3.0), (0.4, math.inf)])
def test_remainders_are_to_the_nearest_multiple(x: float, y: float) -> None:
    for transformed in (fg.jit, lambda f: f):
        value, (by_x, by_y) = transformed(fg.value_and_grad(math.remainder, argnums=(0, 1)))(x, y)
        assert value == math.remainder(x, y)
        assert (by_x, by_y) == (1.0, -round(x / y))
    with pytest.raises(ValueError, match="math domain error"):
        fg.grad(math.remainder)(1.0, 0.0)


class Unit:
    """As units of measure are: no array, and asked first."""

    __array_priority__ = 17

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __rmul__(self, other: Any) -> tuple[Any, Unit]:
        return (other * self.scale, self)


def test_flat_is_set_from_a_list_of_traced_numbers() -> None:
    def f(x: Any) -> Any:
        out = np.empty(3)
        out.flat = [a * b for a, b in np.broadcast(x, x[::-1])]
        return out @ np.arange(3.0)

    for transformed in (fg.grad(f), fg.jit(fg.grad(f))):
        np.testing.assert_allclose(transformed(X), [2 * X[2], 2 * X[1], 2 * X[0]])


def test_whole_numbers_pass_dlpack_under_jit() -> None:
    found = fg.jit(lambda n: np.from_dlpack(n, device="cpu", copy=True) + 1)(np.arange(3))
    np.testing.assert_array_equal(found, [1, 2, 3])


class Metre:
    """A unit that answers ufuncs too, as pint's do, and gives a quantity."""

    def __init__(self, magnitude: Any = 1.0) -> None:
        self.magnitude = magnitude

    def __mul__(self, other: Any) -> Metre:
        return Metre(self.magnitude * getattr(other, "magnitude", other))

    __rmul__ = __mul__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return Metre(getattr(ufunc, method)(*[getattr(x, "magnitude", x) for x in inputs], **kwargs))


def test_quantities_that_answer_ufuncs_hold_traced_arrays() -> None:
    def f(x: Any) -> Any:
        return np.sin((x * Metre() * x[0]).magnitude).sum()

    wanted = np.cos(X * X[0]) * X[0]
    wanted[0] += (np.cos(X * X[0]) * X).sum()
    for transformed in (fg.grad(f), fg.jit(fg.grad(f))):
        np.testing.assert_allclose(transformed(X), wanted)


def test_objects_with_a_priority_answer_operators_of_traced_arrays() -> None:
    def f(x: Any) -> Any:
        return ((np.sin(x) * Unit(1000.0))[0] ** 2).sum()

    for transformed in (fg.grad(f), fg.jit(fg.grad(f))):
        np.testing.assert_allclose(transformed(X), 1e6 * np.sin(2 * X))


def test_densities_that_may_be_singular_under_jit() -> None:
    def f(x: Any) -> Any:
        cov = np.outer(x, x) + np.diag(x)
        return scipy.stats.multivariate_normal.logpdf(X, None, cov, allow_singular=True)

    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), fg.grad(f)(X))
    barely = fg.jit(
        lambda d: scipy.stats.multivariate_normal.logpdf(X, None, np.diag(d), allow_singular=True)
    )
    assert np.isnan(barely(np.array([1.0, 1.0, 1e-12])))


def put(x: Any) -> Any:
    z = np.zeros(3)
    z[0] = x[0] ** 2
    return z


class Optimizer(NamedTuple):
    setdefault: Callable[[Any], Any]


def test_functions_in_fields_with_names_of_containers_methods() -> None:
    optimizer, model = Optimizer(put), SimpleNamespace(swapaxes=put)
    for f in (lambda x: optimizer.setdefault(x).sum(), lambda x: model.swapaxes(x).sum()):
        np.testing.assert_allclose(fg.grad(f)(X), [2.2, 0.0, 0.0])


def test_functions_of_modules_that_are_imported_late(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name != "rpartition":
                raise AttributeError(name)
            return put

    monkeypatch.setitem(sys.modules, "functions_of_late", Late("functions_of_late"))

    def f(x: Any) -> Any:
        import functions_of_late

        return functions_of_late.rpartition(x).sum()

    np.testing.assert_allclose(fg.grad(f)(X), [2.2, 0.0, 0.0])
