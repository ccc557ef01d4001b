"""NumPy's own constructors in traced functions: arrays that traced values can be written into.

Each function runs un-jitted, under `jit`, `vmap` and in forward mode, against finite differences of itself.
"""

from __future__ import annotations

import cmath
import copy
import functools
import math
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from numpy import zeros as zeros_by_name

import funcgrad as fg
from funcgrad.errors import FuncgradError

X = np.array([1.1, 2.3, 0.7])
Function = Callable[[Any], Any]


def stored(x: Any) -> Any:
    z = np.zeros(3)
    z[0] = x[0] ** 2
    return np.sum(z)


def stored_plainly_as_well(x: Any) -> Any:
    z = np.ones(3)
    z[1] = 5.0
    used = z * x
    z[1] = 7.0
    z[2] = x[0]
    return used.sum() + (z * x).sum()


def views(x: Any) -> Any:
    z = np.zeros((3, 2))
    row, column, turned = z[1], z[:, 0], z.T
    z[0, 0] = x[0]
    row[1] = x[1] * 2.0
    turned[0, 2] = x[2]
    return np.sum(z * np.arange(6.0).reshape(3, 2)) + np.prod(column + 1.0) + row.sum() ** 2


def views_of_views(x: Any) -> Any:
    z = np.arange(12.0).reshape(3, 4)
    block = z[1:, ::2]
    block[0][1] = x[0]
    z[2] += x[1]
    return (z**2).sum() + block.sum() * x[2]


def filled_in_a_loop(x: Any) -> Any:
    out = np.empty(3)
    for k in range(3):
        out[k] = np.sin(x[k]) * k
    return out @ out


def by_slices_masks_and_lists(x: Any) -> Any:
    z = np.full(5, 2.0)
    z[1:4] = x
    z[[0, 4]] *= x[:2]
    z[np.arange(5) > 3] += x[2]
    return (z**3).sum()


def added_in_place(x: Any) -> Any:
    y = np.linspace(0.0, 1.0, 3)
    y += x
    y *= 2.0
    np.multiply(y, x, out=y)
    return np.exp(y).sum()


def results_into_arrays(x: Any) -> Any:
    y, z, w = np.empty(3), np.zeros(3), np.zeros((2, 3))
    np.add(x, 1.0, out=y)
    np.divide(x, y, out=z, where=y > 1.9)
    np.clip(x, -0.5, 0.9, out=w[0])
    np.round(x, 1, out=w[1])
    y.cumprod(axis=0, out=y)
    x.sum(out=z[:1].reshape(()))
    return np.sum(y * z) + np.sum(w[0] ** 2)


def of_complex_numbers(x: Any) -> Any:
    root = cmath.sqrt(-x[0]) * cmath.log(-x[1]) + cmath.acosh(x[2])
    z = cmath.rect(x[0], x[1])
    r, phi = cmath.polar(z * z)
    return (
        abs(root)
        + r * phi
        + cmath.phase(z**3)
        + (cmath.asin(z) * cmath.atan(x[2]) + cmath.exp(1j * x[0])).real
    )


def without_dimensions(x: Any) -> Any:
    y, z = np.empty(()), np.zeros(())
    y[()] = x[0]
    z += x[1]
    np.divide(x[2], y, out=y)
    return y * z + z[()]


class Point:
    """A class with what is run when it is looked at, and methods that lists and dictionaries have too."""

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def length(self) -> Any:
        return math.hypot(self.x[0], self.x[1])

    @property
    def doubled(self) -> Any:
        return 2.0 * self.length

    @functools.cached_property
    def table(self) -> Any:
        z = np.zeros(3)
        z[1] = math.exp(0.3 * self.x[2])
        return z

    def update(self, y: Any) -> Any:
        moved = np.zeros(3)
        moved[:] = self.x
        moved[0] = math.sin(y)
        self.x = moved

    @staticmethod
    def count(y: Any) -> Any:
        return np.asarray(y, dtype=float)[1] * 2.0

    def __getattr__(self, name: str) -> Any:
        if name != "missing":
            raise AttributeError(name)
        return 3.0

    @property
    def failing(self) -> Any:
        raise AttributeError("missing")


def attributes_of_objects(x: Any) -> Any:
    p = Point(x)
    before = p.doubled * p.length + p.table.sum() + p.table[1]
    p.update(x[1])
    return before + p.length + p.count(p.x) + p.missing


def of_a_class_inside(x: Any) -> Any:
    class Inside:
        @property
        def value(self) -> Any:
            return math.log(x[0]) * np.asarray(x, dtype=float)[2]

        def pop(self) -> Any:
            z = np.zeros(2)
            z[0] = x[1]
            return z.sum()

    return Inside().value * Inside().pop()


def converted(x: Any) -> Any:
    y = np.asarray(x, dtype=float)
    z = np.array(x).astype(float)
    z[0] = 0.0
    return np.sum(y**2) + np.ascontiguousarray(z).sum() + np.copy(x).prod() + np.asanyarray(x)[1]


def of_lists(x: Any) -> Any:
    a = np.array([[x[0], 1.0], [2.0, x[1]]])
    b = np.asarray([x[0], x[2]], dtype=float)
    return a.mean() + np.linalg.det(a) + a.std() + np.linalg.inv(a).sum() + b.astype(float).sum()


def lists_to_functions(x: Any) -> Any:
    found = (
        np.mean([x[0], x[1]]) + np.std([v**2 for v in x]) + np.max([x[0], 3.0]) + np.linalg.norm([x[0], x[2]])
    )
    return (
        found + np.interp(1.5, [1.0, 2.0], [x[0], x[1]]) + np.exp([x[0], 1.0]).sum() + np.median([x[1], x[2]])
    )


def joined(x: Any) -> Any:
    return np.r_[x[0], x[1:] ** 2, 1.0:3.0].sum() + np.c_[x, x**2].prod()


def ranges(x: Any) -> Any:
    y, t, v = np.arange(5.0), np.tri(3), np.vander(x)
    y[1:4] = x
    t[0, 2] = x[0]
    return y @ y + t.sum() * x[1] + v.sum()


def from_iterables(x: Any) -> Any:
    return np.fromiter((v**2 for v in x), float).sum() + np.fromiter([1.0, 2.0], float)[1]


def matrices(x: Any) -> Any:
    a = np.eye(3) * 3.0
    for k in range(2):
        a[k, k + 1] = x[k]
    np.fill_diagonal(a, x + 3.0)
    return np.linalg.solve(a, x).sum() + np.identity(3)[0] @ x


def like(x: Any) -> Any:
    base = np.ones((2, 3))
    z, w, e = np.zeros_like(base), np.ones_like(base), np.empty_like(base)
    z[0], e[...] = x, 1.0
    return (z * w * e).sum() + np.full_like(base, 2.0)[0] @ x


def by_functions(x: Any) -> Any:
    z = np.zeros(3)
    z.fill(x[0])
    np.copyto(z[1:], x[1:] * 2.0)
    np.put(z, [0], x[2])
    np.add.at(z, [1, 1], x[0])
    z.sort()
    return z @ np.arange(3.0)


def helper(n: int, x: Any) -> Any:
    out = np.zeros(n)
    for k in range(n):
        out[k] = x[k] ** 2
    return out


def in_a_helper(x: Any) -> Any:
    return helper(3, x).sum()


class Model:
    """Makes arrays in methods, static methods and generators."""

    size = 3

    def matrix(self, x: Any) -> Any:
        a = np.eye(self.size)
        a[0, 1], a[2] = self.scaled(x[0]), x
        return a

    @staticmethod
    def scaled(t: Any) -> Any:
        pair = np.zeros(2)
        pair[1] = 3.0 * t
        return pair.sum()

    def rows(self, x: Any) -> Iterator[Any]:
        for k in range(2):
            row = np.zeros(2)
            row[k] = x[k]
            yield row

    def __call__(self, x: Any) -> Any:
        return (self.matrix(x) @ x).sum() + sum([(row**2).sum() for row in self.rows(x)])


def with_closures(x: Any) -> Any:
    totals = []

    def add(k: int, scale: float = 2.0) -> None:
        z = np.zeros(2)
        z[k] = x[k] * scale
        totals.append(z)

    for k in range(2):
        add(k)
    return sum([(z**2).sum() for z in totals]) + np.asarray(x, float).sum()


def with_imports(x: Any) -> Any:
    import numpy  # noqa: ICN001 - as users do
    from numpy import empty

    a, b, c = zeros_by_name(2), numpy.zeros(2), empty(1)
    a[0], b[1], c[0] = x[0], x[1] ** 2, x[2]
    return a.sum() + b.sum() + c[0]


def scipys(x: Any) -> Any:
    a = np.zeros((2, 2))
    a[0, 1], a[1, 0] = x[0], -x[1]
    return scipy.linalg.expm(a).sum() + scipy.special.logsumexp(x) + scipy.special.softmax(x)[0]


def integers_and_masks(x: Any) -> Any:
    places = np.arange(3)[::-1]
    counts = np.zeros(3, int)
    counts[places] += 2
    inside = np.ones(3, bool)
    inside[0] = False
    return (x[places] * counts).sum() + x[inside].sum() + x[np.array([0, 2])].prod()


class Base:
    """A class whose methods are called by `super`, and through a property."""

    __scale = 2.0

    def made(self, x: Any) -> Any:
        z = np.zeros(2)
        z[0] = x[0] * self.__scale
        return z

    @property
    def offset(self) -> Any:
        return np.arange(2.0)


class Derived(Base):
    """Overrides a method."""

    def made(self, x: Any) -> Any:
        z = super().made(x) + self.offset
        z[1] = x[1]
        return z

    @classmethod
    def total(cls, x: Any, *others: Any, power: int = 2, **named: Any) -> Any:
        return (cls().made(x) ** power).sum() + sum(others) + sum(named.values())


def doubled(function: Function) -> Function:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        pair = np.zeros(1)
        pair[0] = function(x)
        return 2.0 * pair.sum()

    return wrapper


@doubled
def decorated(x: Any) -> Any:
    z = np.zeros(2)
    z[:] = x[:2]
    return Derived.total(z, x[2], power=3, more=x[0])


def recursive(x: Any, depth: int = 3) -> Any:
    if depth == 0:
        return np.asarray(x, dtype=float).sum()
    z = np.zeros(3)
    z[depth - 1] = x[depth - 1] ** 2
    return recursive(x + z, depth - 1)


def with_a_global(x: Any) -> Any:
    global TIMES  # noqa: PLW0603 - users write this
    TIMES += 1
    rows = [np.full(n := 2, t) for t in x[:2]]
    rows[0][1] = x[2]
    scale: Function = lambda t, z=PLAIN_ONES: (t * z).sum() * n  # noqa: E731 - users write this
    return np.stack(rows).prod() + scale(x[0]) + functools.partial(helper, 2)(x).sum()


def of_objects(x: Any) -> Any:
    a = np.array([x[0], 2.0, x[1] * x[2]], dtype=object)
    table = np.asarray([[x[0], 1.0], [0.0, x[1]]], dtype="O")
    rows = np.array([x, 2 * x], dtype=object)
    return (
        np.array(a, dtype=float).sum() * a[2] + np.trace(table @ table) + np.asarray(rows, float)[1, 2] ** 3
    )


def whole_numbers(x: Any) -> Any:
    """Positions and weights that are made of traced numbers have no derivative to lose."""
    cell = np.int64(x[1])
    cells = np.int32(np.floor(x))
    return x[cell] * x[cells].sum() * np.uint8(x[1]) + np.bool_(x[0]) * np.sin(x[2])


TIMES = 0
PLAIN_ONES = np.ones(1)


FUNCTIONS: list[Function] = [
    *(stored, stored_plainly_as_well, views, views_of_views, filled_in_a_loop, by_slices_masks_and_lists),
    *(
        added_in_place,
        results_into_arrays,
        without_dimensions,
        attributes_of_objects,
        of_a_class_inside,
        of_complex_numbers,
        converted,
        of_lists,
        lists_to_functions,
        joined,
        ranges,
        from_iterables,
        matrices,
        like,
    ),
    *(by_functions, of_objects, in_a_helper, Model(), Model().__call__, with_closures, with_imports, scipys),
    *(integers_and_masks, Derived.total, decorated, recursive, with_a_global),
    whole_numbers,
]
names = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: getattr(f, "__name__", "instance"))


def differences(f: Function) -> Any:
    steps = 1e-6 * np.eye(X.size)
    return np.array([(f(X + step) - f(X - step)) / 2e-6 for step in steps])


@names
def test_gradients_as_the_function_stands(f: Function) -> None:
    expected = differences(f)
    value, slope = fg.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(slope, expected, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(fg.jacfwd(f)(X), expected, rtol=2e-5, atol=1e-7)


@names
@pytest.mark.at_length
def test_compiled(f: Function) -> None:
    np.testing.assert_allclose(fg.jit(f)(X), f(X), rtol=1e-11)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), differences(f), rtol=2e-5, atol=1e-7)


@names
def test_second_derivatives(f: Function) -> None:
    slope = fg.grad(f)
    expected = np.array([(slope(X + h) - slope(X - h)) / 2e-5 for h in 1e-5 * np.eye(X.size)])
    np.testing.assert_allclose(fg.hessian(f)(X), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "f",
    [stored, views, filled_in_a_loop, converted, of_lists, joined, in_a_helper, matrices, like],
    ids=lambda f: f.__name__,
)
def test_batched(f: Function) -> None:
    batch = np.stack([X, 2.0 * X, X + 1.0])
    np.testing.assert_allclose(fg.vmap(f)(batch), [f(x) for x in batch], rtol=1e-11)
    np.testing.assert_allclose(fg.vmap(fg.grad(f))(batch), [fg.grad(f)(x) for x in batch], rtol=1e-9)


# -- what stays NumPy's -----------------------------------------------------------------------------------

SEEN: list[Any] = []


def leaves_plain_arrays(x: Any) -> Any:
    grid = np.linspace(0.0, 1.0, 5)
    weights = np.exp(-(grid**2))
    weights[1:] *= 0.5
    aux = {"grid": grid, "weights": weights, "counts": np.arange(3), "mask": np.zeros(2, bool)}
    return x[0] ** 2, aux


def test_what_meets_no_traced_value_leaves_as_numpys_own() -> None:
    _, expected = leaves_plain_arrays(X)
    for gradient in (
        fg.grad(leaves_plain_arrays, has_aux=True),
        fg.jacrev(leaves_plain_arrays, has_aux=True),
    ):
        _, aux = gradient(X)
        for name, array in expected.items():
            assert type(aux[name]) is np.ndarray
            assert aux[name].dtype == array.dtype
            assert aux[name].tobytes() == array.tobytes()


def test_inside_it_is_numpys_own_as_far_as_one_sees() -> None:
    def f(x: Any) -> Any:
        z = np.arange(6.0).reshape(2, 3)
        assert isinstance(z, np.ndarray)
        assert z.shape == (2, 3)
        assert z.dtype == float
        assert len(z) == 2
        assert [row.sum() for row in z] == [3.0, 12.0]
        assert repr(z) == repr(np.asarray([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
        assert float(z[1, 2]) == 5.0
        assert z.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        assert 4.0 in z
        assert bool((z == z.copy()).all())
        assert np.array_equal(pickle.loads(pickle.dumps(z)), z)
        assert np.array_equal(copy.deepcopy(z), z)
        assert z.flags.c_contiguous
        assert f"{z[0, 1]:.1f}" == "1.0"
        assert np.asarray(z) is z
        assert {int(k): 1 for k in np.arange(2)} == {0: 1, 1: 1}
        assert [10, 20, 30][np.arange(3)[1]] == 20
        assert sorted(np.array([2.0, 1.0])) == [1.0, 2.0]
        return x.sum()

    np.testing.assert_array_equal(fg.grad(f)(X), np.ones(3))


def test_arrays_of_the_callers_are_not_changed() -> None:
    data = np.ones(3)

    def f(x: Any) -> Any:
        same = np.asarray(data)
        same[0] = x[0]
        return same.sum()

    with pytest.raises(FuncgradError, match="which cannot hold it"):
        fg.grad(f)(X)
    np.testing.assert_array_equal(data, np.ones(3))


def keeps_an_array(x: Any) -> Any:
    z = np.zeros(3)
    z[0] = 1.0
    SEEN.append(z)
    return (z * x).sum()


def test_an_array_that_is_kept_goes_on_as_an_array() -> None:
    fg.grad(keeps_an_array)(X)
    kept = SEEN.pop()
    np.testing.assert_array_equal(kept + 1.0, [2.0, 1.0, 1.0])
    assert np.sum(kept) == 1.0
    np.testing.assert_array_equal(fg.grad(lambda x: (kept * x).sum())(X), [1.0, 0.0, 0.0])


def test_nothing_changes_in_numpy_or_in_the_function() -> None:
    before = np.zeros, np.asarray, stored.__code__, stored.__globals__["np"]
    during: list[Any] = []

    def f(x: Any) -> Any:
        worker = threading.Thread(target=lambda: during.append((np.zeros is before[0], type(PLAIN_ZEROS(2)))))
        worker.start()
        worker.join()
        z = np.zeros(3)
        z[0] = x[0]
        raise RuntimeError

    with suppress(RuntimeError):
        fg.grad(f)(X)
    assert during == [(True, np.ndarray)]
    assert before == (np.zeros, np.asarray, stored.__code__, stored.__globals__["np"])
    assert type(np.zeros(2)) is np.ndarray


PLAIN_ZEROS = np.zeros


def test_other_packages_get_numpys_arrays() -> None:
    pd = pytest.importorskip("pandas")

    def f(x: Any) -> Any:
        column = np.arange(3.0)
        frame = pd.DataFrame({"a": column})
        assert type(frame["a"].to_numpy()) is np.ndarray
        return (frame["a"].to_numpy() * x).sum()

    np.testing.assert_array_equal(fg.grad(f)(X), np.arange(3.0))


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "1")
    assert fg.grad(stored)(X)[0] == 2.0 * X[0]
    fg.config.constructors(False)
    with pytest.raises(FuncgradError, match=r"Make the array with fg\.numpy\.zeros"):
        fg.grad(stored)(X)
    fg.config.constructors(True)
    assert fg.grad(stored)(X)[0] == 2.0 * X[0]


def test_functions_without_constructors_are_run_as_they_are() -> None:
    from funcgrad.api.python.seen import seen

    def plain(x: Any) -> Any:
        return np.sum(np.square(np.sin(x)))

    assert seen(plain) is plain
    assert seen(stored) is not stored
    assert seen(stored) is seen(stored)
    assert seen(stored).__name__ == "stored"


def test_what_a_property_raises_is_its_own() -> None:
    with pytest.raises(AttributeError, match="failing"):
        fg.grad(lambda x: Point(x).failing * x[0])(X)


def test_without_a_source_the_errors_stay() -> None:
    names: dict[str, Any] = {"np": np}
    exec("def f(x):\n    z = np.zeros(3)\n    z[0] = x[0]\n    return z.sum()", names)
    with pytest.raises(FuncgradError, match=r"Make the array with fg\.numpy\.zeros"):
        fg.grad(names["f"])(X)


def test_ndarray_is_a_constructor_where_it_is_given_no_buffer():
    def f(x):
        a = np.ndarray(3)
        b = np.ndarray((2, 3), dtype=np.float64)
        c = np.ndarray(shape=(3,), dtype=x.dtype)
        for i in range(3):
            a[i] = x[i] ** 2
            b[:, i] = a[i]
            c[i] = np.sin(a[i])
        return np.sum(a) + np.sum(b**2) + np.sum(c)

    x = np.array([0.3, 0.7, 1.1])
    expected = 2 * x + 8 * x**3 + 2 * x * np.cos(x**2)
    np.testing.assert_allclose(fg.grad(f)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), expected, rtol=1e-12)


def test_ndarray_of_a_buffer_is_a_view_of_it():
    held = np.arange(3.0)

    def f(x):
        seen = np.ndarray(3, np.float64, held)
        return np.sum(x * seen)

    np.testing.assert_allclose(fg.grad(f)(np.ones(3)), held)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(np.ones(3)), held)

    def g(x):
        seen = np.ndarray(3, np.float64, buffer=held)
        seen[0] = x[0]
        return np.sum(seen)

    with pytest.raises(fg.errors.FuncgradError):
        fg.grad(g)(np.ones(3))
    np.testing.assert_array_equal(held, np.arange(3.0))


def test_what_an_array_held_before_gives_no_warning():
    signalling = np.array([0x7FF0000000000001] * 3, np.uint64).tobytes()  # as np.empty may find in memory

    def f(x):
        z = np.frombuffer(signalling).copy()
        for i in range(3):
            z[i] = x[i] ** 2
        return np.sum(z)

    x = np.array([0.3, 0.7, 1.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(fg.grad(f)(x), 2 * x)


def test_enumerated_elements_are_of_their_own_dtype():
    kinds = []

    def f(x):
        for _, count in np.ndenumerate(np.arange(3, dtype=np.int8)):
            kinds.append(count.dtype)
        return sum([v * (i + 1) for (i,), v in np.ndenumerate([x, 2.0 * x])])

    assert fg.grad(f)(3.0) == 5.0
    assert set(kinds) == {np.dtype(np.int8)}


@pytest.mark.parametrize("copied", [lambda b: b.copy(), lambda b: b.astype(float), lambda b: b.flatten()])
@pytest.mark.parametrize("way", [fg.grad, lambda f: fg.jit(fg.grad(f))])
def test_copies_of_the_callers_arrays_may_be_written_into(copied: Any, way: Any) -> None:
    def eliminated(a: Any, b0: Any) -> Any:
        b = copied(b0)
        b[1] -= a * b[0]
        return (b * b).sum()

    b0 = np.arange(1.0, 4.0)
    assert way(eliminated)(3.0, b0) == 2.0
    np.testing.assert_array_equal(b0, [1.0, 2.0, 3.0])


def test_records_are_numpys_own() -> None:
    """An array of records is no traced one, jitted or not; what is read of it is."""

    def f(x: Any) -> Any:
        table = np.zeros(2, dtype=[("a", float), ("b", int)])
        more = np.empty(2, {"names": ["a"], "formats": [float]})
        table["a"] = [1.0, 2.0]
        table[1] = (5.0, 3)
        more["a"] = 2.0
        return np.sum(table["a"] * x * more["a"]) + np.full(2, [1.0, 2.0]) @ x

    x = np.array([0.3, 0.7])
    for slope in (fg.grad(f), fg.jit(fg.grad(f))):
        np.testing.assert_allclose(slope(x), [3.0, 12.0])
