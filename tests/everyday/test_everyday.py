"""Everyday programs: NumPy's value, the gradient of differences, and both compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from tests.everyday import hamiltonian_monte_carlo, map_fit, portfolio
from tests.everyday.cannot import CASES, Case
from tests.everyday.running import NAMES, by_differences, number, program

WARNS = {"pandas_objective": "the labels of a Series are dropped"}


def test_there_are_twenty() -> None:
    assert len(NAMES) == 20


@pytest.mark.filterwarnings("ignore::funcgrad.errors.LabelsDroppedWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.at_length
def test_value_and_gradient_as_they_stand(name: str) -> None:
    objective, start, reference, tolerance = program(name)
    value, slope = fg.value_and_grad(objective)(start)
    agrees(value, slope, reference, start, tolerance)


@pytest.mark.at_length
@pytest.mark.filterwarnings("ignore::funcgrad.errors.LabelsDroppedWarning")
@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradient_compiled(name: str) -> None:
    objective, start, reference, tolerance = program(name)
    compiled = fg.jit(fg.value_and_grad(objective))
    for _ in range(2):
        agrees(*compiled(start), reference, start, tolerance)


@pytest.mark.parametrize("module", [map_fit, portfolio])
def test_fits_with_gradients_end_where_fits_without_do(module: Any) -> None:
    plain = module.fit()
    for gradient in (fg.grad(module.objective), fg.jit(fg.grad(module.objective))):
        np.testing.assert_allclose(module.fit(gradient), plain, rtol=2e-3, atol=2e-3)


def test_samples_are_those_of_a_gradient_by_hand() -> None:
    expected, rate = hamiltonian_monte_carlo.sample(20, hamiltonian_monte_carlo.by_hand)
    for gradient in (
        fg.grad(hamiltonian_monte_carlo.potential),
        fg.jit(fg.grad(hamiltonian_monte_carlo.potential)),
    ):
        samples, accepted = hamiltonian_monte_carlo.sample(20, gradient)
        np.testing.assert_allclose(samples, expected, rtol=1e-9)
        assert accepted == rate


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_cannot_run_says_so_and_its_remedy_runs(case: Case) -> None:
    with pytest.raises(fg.errors.FuncgradError) as caught:
        case.way(fg.value_and_grad(case.as_written))(case.start)
    assert case.says in str(caught.value)
    assert "cannot.py:" in str(caught.value)
    value, slope = case.way(fg.value_and_grad(case.remedy))(case.start)
    agrees(value, slope, case.as_written, case.start, 1e-6)


def agrees(value: Any, slope: Any, f: Callable[[Any], Any], start: Any, tolerance: float) -> None:
    """The value is the function's, and the gradient that of differences."""
    np.testing.assert_allclose(number(value), number(f(start)), rtol=1e-6 if tolerance > 1e-6 else 1e-10)
    expected = by_differences(f, start)
    found = fg.ravel_pytree(slope)[0]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=3.0 * tolerance * np.abs(expected).max())
