"""Code of installed packages: run as it is, or traced as the user's own where it is said so."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError

PACKAGE = """
import math
import numpy as np
from scipy import signal

class Filter:
    def __init__(self, gain):
        self.state = np.zeros(2)
        self.gain = math.sqrt(gain)

    def step(self, x):
        x = np.asarray(x, dtype=float)
        self.state[1] = self.state[0]
        self.state[0] = self.gain * x + 0.5 * self.state[1]
        return self.state.sum()

class Scaled:
    def __init__(self, values):
        if not isinstance(values, (list, np.ndarray)):
            raise TypeError(f"an array or a list is expected, not {values!r}")
        self.values = np.array(values, dtype=float)

    def __mul__(self, other):
        out = np.zeros(2)
        out[:] = self.values * math.sqrt(other.values[0])
        return Scaled(out)

    @property
    def length(self):
        return math.hypot(*self.values)

def energy(x):
    f = Filter(x[0])
    return f.step(x[1]) * f.step(2.0)

def converted(x):
    z = float(x[0]) * np.float64(x[1]) + complex(x[0], x[1]).imag + x[0].item() + x.item(1)
    return z + np.double(x).sum() + abs(complex(x[1])) + float(2) * np.float64(3.0)

def kept(x):
    return np.sum(np.sin(x) ** 2)

def filtered(poly):
    poly = np.asarray(poly)
    return signal.lfilter([1.0], poly, np.arange(4.0)).sum()
"""
X = np.array([0.7, 1.3])


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package that is installed, under a name of its own."""
    name = f"theirs_{tmp_path.name}".replace("-", "_")
    folder = tmp_path / "lib" / "site-packages"
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("FUNCGRAD_PACKAGES", "")
    yield importlib.import_module(name)
    del sys.modules[name]
    fg.config.packages()


def differences(f: Any) -> Any:
    return np.array([(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(X.size)])


def test_functions_that_take_traced_values_need_nothing(package: ModuleType) -> None:
    np.testing.assert_allclose(fg.grad(lambda x: 1.0 * package.kept(x))(X), np.sin(2 * X))


WAYS = {
    "grad": lambda f: fg.grad(f)(X),
    "jacfwd": lambda f: fg.jacfwd(f)(X),
    "vjp": lambda f: fg.vjp(f, X)[1](1.0)[0],
    "jit of grad": lambda f: fg.jit(fg.grad(f))(X),
    "grad of jit": lambda f: fg.grad(fg.jit(f))(X),
    "vmap": lambda f: fg.vmap(fg.grad(f))(np.stack([X, X]))[1],
    "program": lambda f: fg.jit(fg.grad(f)).program(X).evaluate(X)[0],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_where_a_package_refuses_it_is_taken_in_and_the_call_made_again(
    package: ModuleType, way: Any
) -> None:
    def f(x: Any) -> Any:
        return package.energy(x) + np.sum(x)

    np.testing.assert_allclose(way(f), differences(f), rtol=1e-6)
    assert package.__name__ in fg.config.packages_taken_in()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_classes_of_packages_are_seen_when_these_are_taken_in(package: ModuleType, way: Any) -> None:
    def f(x: Any) -> Any:
        return package.Filter(x[0]).step(x[1])

    np.testing.assert_allclose(way(f), differences(f), rtol=1e-6)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_operators_properties_and_questions_of_type_too(package: ModuleType, way: Any) -> None:
    def f(x: Any) -> Any:
        return (package.Scaled(x) * package.Scaled([x[1], 1.0])).length

    np.testing.assert_allclose(way(f), differences(f), rtol=1e-6)


def test_errors_of_a_package_are_raised(package: ModuleType) -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return package.Scaled({"x": 1}).length * x[0]

    for _ in range(3):
        with pytest.raises(TypeError, match="an array or a list is expected"):
            fg.grad(f)(X)
    assert len(calls) == 4  # once more, since it might have been the traced value that was not expected
    assert not fg.config.packages_taken_in()


def test_a_package_that_calls_one_that_has_been_taken_in(package: ModuleType, tmp_path: Path) -> None:
    name = f"calls_{package.__name__}"
    folder = tmp_path / "lib" / "site-packages" / name
    folder.mkdir()
    (folder / "__init__.py").write_text(
        f"from {package.__name__} import energy\ndef twice(x): return 2.0 * energy(x)"
    )
    calling = importlib.import_module(name)
    fg.config.packages(package.__name__)
    np.testing.assert_allclose(
        fg.grad(lambda x: 0.5 * calling.twice(x))(X), differences(package.energy), rtol=1e-6
    )
    assert fg.config.packages_taken_in() == {package.__name__, name}


def test_a_function_is_called_again_only_where_a_package_has_refused(package: ModuleType) -> None:
    calls = []

    def f(x: Any, g: Any) -> Any:
        calls.append(g.__name__)
        return 1.0 * g(x)

    for g in (package.kept, package.energy, package.energy):
        fg.grad(f)(X, g)
    assert calls == ["kept", "energy", "energy", "energy"]


def test_what_the_user_does_and_what_cannot_be_taken_in_is_refused_at_once(package: ModuleType) -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return float(x[0]) * package.energy(x)

    for _ in range(2):
        with pytest.raises(ConcretizationError, match="Leave out float"):
            fg.grad(f)(X)
    assert len(calls) == 2
    assert not fg.config.packages_taken_in()


@pytest.mark.parametrize(
    "call", [lambda f: fg.grad(f)(X), lambda f: fg.vjp(f, X)[1](1.0)[0], lambda f: fg.jit(fg.grad(f))(X)]
)
def test_the_package_of_a_function_that_is_given_is_taken_in(package: ModuleType, call: Any) -> None:
    np.testing.assert_allclose(call(package.energy), differences(package.energy), rtol=1e-6)
    assert package.__name__ in fg.config.packages_taken_in()


def test_conversions_that_nobody_can_leave_out_keep_the_gradient(package: ModuleType) -> None:
    np.testing.assert_allclose(fg.grad(package.converted)(X), differences(package.converted), rtol=1e-6)
    np.testing.assert_allclose(
        fg.jit(fg.grad(package.converted))(X), differences(package.converted), rtol=1e-6
    )
    with pytest.raises(ConcretizationError, match="Leave out float"):
        fg.grad(lambda x: float(x[0]) * package.kept(x))(X)  # in the user's own code it is an error


def test_nothing_changes_in_the_package(package: ModuleType) -> None:
    before = dict(vars(package)), package.energy.__code__, package.Filter.step.__code__
    fg.grad(package.energy)(X)
    assert (dict(vars(package)), package.energy.__code__, package.Filter.step.__code__) == before


def test_what_has_rules_and_what_is_no_name_are_refused() -> None:
    with pytest.raises(ValueError, match="scipy cannot be traced"):
        fg.config.packages("scipy")
    with pytest.raises(ValueError, match="without dots"):
        fg.config.packages("thermo.eos")


def test_a_package_that_hands_a_list_of_traced_numbers_to_scipy_is_taken_in(package: ModuleType) -> None:
    def f(p: Any) -> Any:
        return package.filtered([1.0, -p])

    # 0, 1, 2 + p, 3 + 2 p + p^2
    assert fg.grad(f)(0.5) == pytest.approx(1.0 + 2.0 + 2.0 * 0.5)
    assert package.__name__ in fg.config.packages_taken_in()
