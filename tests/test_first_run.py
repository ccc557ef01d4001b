"""The first run and the tour do what they say, and their gradient is every peer's."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import funcgrad as fg
from funcgrad.command.tour import RIDGE, Split, accuracy, by_tensors, loss, split
from funcgrad.datasets import load_breast_cancer


@pytest.fixture(scope="module")
def parts() -> Split:
    return split(load_breast_cancer())


@pytest.fixture
def w(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=11)


@pytest.fixture(scope="module")
def output() -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "funcgrad"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FUNCGRAD_NOTICES": "0"},
    )
    assert run.stderr == ""
    return run.stdout


def test_output_names_its_source(output: str) -> None:
    assert "doi:10.24432/C5DW2B" in output
    assert "CC BY 4.0" in output


def test_output_shows_the_program_and_the_fit(output: str) -> None:
    for words in ("logaddexp", "make_program(fg.grad(loss))", "converged       True", "Yes: forward and"):
        assert words in output


def test_output_begins_with_what_is_installed(output: str) -> None:
    first, second, *_ = output.splitlines()
    assert first == f"funcgrad    {fg.__version__}"
    assert second.startswith("Python      3.")


def test_output_says_what_a_call_takes(output: str) -> None:
    (line,) = [line for line in output.splitlines() if line.startswith("compiled, fg.jit(fg.grad(loss))")]
    assert line.endswith(" us")


def test_fit_is_worth_showing(output: str) -> None:
    (line,) = [line for line in output.splitlines() if line.startswith("test accuracy")]
    assert float(line.split()[2].rstrip("%")) > 90.0


def test_accuracy_counts_the_right_side() -> None:
    w, X, y = np.array([1.0]), np.array([[2.0], [-3.0]]), np.array([1.0, 1.0])
    assert accuracy(w, X, y) == "50.0% (1 of 2)"


def test_output_fits_an_ordinary_terminal(output: str) -> None:
    assert [line for line in output.splitlines() if len(line) > 100] == []


@pytest.fixture(scope="module")
def told() -> str:
    # Ascii, as it may be where the output goes to a file: then pictures lose their bars and nothing else.
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "funcgrad", "tour"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "FUNCGRAD_NOTICES": "0"},
    )
    assert run.stderr == ""
    return run.stdout


def test_tour_shows_every_stage(told: str) -> None:
    stages = ("The data", "The loss", "What funcgrad recorded", "Its backward Program", "The fit")
    later = (
        "Is the gradient right?",
        "Compiled",
        "The time of a call",
        "What became of it",
        "Where the time goes",
    )
    places = [
        told.index(f"-- {title}") for title in (*stages, *later, "In PyTorch's words", "What to try next")
    ]
    assert places == sorted(places)
    for words in ("for i in range(n", "passes", "reduce_sum", "value.backward()", "converged       True"):
        assert words in told


def test_gradient_by_tensors_is_the_same(w: np.ndarray, parts: Split) -> None:
    expected = fg.grad(loss)(w, parts.X, parts.y)
    np.testing.assert_allclose(by_tensors(w, parts.X, parts.y), expected, rtol=1e-12)


def test_errors_are_there_before_anything_is_used() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import funcgrad as fg; print(fg.errors.ShapeError.__name__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "ShapeError\n"


def test_version_option() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "funcgrad", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"funcgrad {fg.__version__}\n"


def test_split_keeps_every_row_once(parts: Split) -> None:
    assert len(parts.y) + len(parts.y_test) == 569
    np.testing.assert_allclose(parts.X[:, :-1].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(parts.X[:, :-1].std(axis=0), 1.0)


def test_gradient_is_that_of_finite_differences(w: np.ndarray, parts: Split) -> None:
    expected = approx_fprime(w, loss, 1e-7, parts.X, parts.y)
    np.testing.assert_allclose(fg.grad(loss)(w, parts.X, parts.y), expected, atol=1e-6)


@pytest.mark.peers("jax")
def test_gradient_is_that_of_jax(w: np.ndarray, parts: Split) -> None:
    import jax
    import jax.numpy as jnp

    def jax_loss(w, X, y):
        return jnp.mean(jnp.logaddexp(0.0, -y * (X @ w))) + RIDGE * jnp.sum(w**2)

    expected = np.asarray(jax.grad(jax_loss)(w, parts.X, parts.y))
    np.testing.assert_allclose(fg.grad(loss)(w, parts.X, parts.y), expected, rtol=1e-12)


@pytest.mark.peers("torch")
def test_gradient_is_that_of_torch(w: np.ndarray, parts: Split) -> None:
    import torch

    leaf = torch.tensor(w, requires_grad=True)
    X, y = torch.tensor(parts.X), torch.tensor(parts.y)
    value = torch.nn.functional.softplus(-y * (X @ leaf), threshold=700.0).mean() + RIDGE * (leaf**2).sum()
    value.backward()
    np.testing.assert_allclose(fg.grad(loss)(w, parts.X, parts.y), leaf.grad.numpy(), rtol=1e-12)


@pytest.mark.peers("autograd")
def test_gradient_is_that_of_autograd(w: np.ndarray, parts: Split) -> None:
    import autograd
    import autograd.numpy as anp

    def autograd_loss(w, X, y):
        return anp.mean(anp.logaddexp(0.0, -y * (X @ w))) + RIDGE * anp.sum(w**2)

    expected = autograd.grad(autograd_loss)(w, parts.X, parts.y)
    np.testing.assert_allclose(fg.grad(loss)(w, parts.X, parts.y), expected, rtol=1e-12)
