"""The guided run: ``python -m funcgrad tour`` differentiates, fits, compiles and profiles a model.

Owns the demonstration and its words. Uses the public interface only, as a reader's own script would.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

import funcgrad as fg
import funcgrad.torch as torch
from funcgrad.command.page import heading, paragraph
from funcgrad.datasets import Dataset, load_breast_cancer
from funcgrad.testing import check_grads

Array = NDArray[np.float64]

TEST_FRACTION = 0.25
SEED = 0
RIDGE = 1e-3
TRY_NEXT = """\
In your own script, with your own NumPy function f:
  fg.grad(f)(x)                      the gradient; fg.value_and_grad(f) gives both
  fg.jacobian(f)(x), fg.hessian(f)(x), fg.hvp(f, (x,), (v,))
  fg.vmap(fg.grad(f))(xs)            a gradient for each row of xs
  fg.jit(fg.grad(f))(x)              the same as native code; fg.explain(f)(x) says what became of f
  print(fg.profile(f)(x))            where the time goes, by your lines
  print(fg.make_program(f)(x))       what was recorded
  fg.make_program(fg.grad(f))(x).to_numpy_source()
                                     the backward pass as a NumPy function you can read and run
The README has a longer example; CONTRIBUTING.md says how to add an operation."""


def loss(w: Array, X: Array, y: Array) -> np.floating:
    """Mean logistic loss of the labels y = +1 or -1, and a little ridge."""
    z = X @ w
    return np.mean(np.logaddexp(0.0, -y * z)) + RIDGE * np.sum(w**2)


@dataclass(frozen=True, slots=True)
class Split:
    """Standardised rows with a column of ones, cut into those to fit and those to test."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def split(data: Dataset) -> Split:
    """Return the rows of ``data`` in a fixed random order, scaled by the training rows alone."""
    order = np.random.default_rng(SEED).permutation(len(data.y))
    train, test = np.split(order, [round(len(order) * (1 - TEST_FRACTION))])
    mean, scale = data.X[train].mean(axis=0), data.X[train].std(axis=0)
    X = np.column_stack([(data.X - mean) / scale, np.ones(len(data.y))])
    return Split(X[train], data.y[train], X[test], data.y[test])


def accuracy(w: Array, X: Array, y: Array) -> str:
    """Return the share of rows on the right side of the plane, as text."""
    right = int(np.sum(np.sign(X @ w) == y))
    return f"{right / len(y):.1%} ({right} of {len(y)})"


def seconds(call: Callable[[], object]) -> float:
    """Return how long ``call`` takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def show_data(data: Dataset, parts: Split) -> None:
    """Print what the rows are, and whose."""
    heading("The data")
    paragraph(
        f"{data.name}: {len(data.y)} images of cell nuclei, {len(data.feature_names)} features each "
        f"({', '.join(data.feature_names)}); +1 malignant ({int((data.y > 0).sum())}), "
        f"-1 benign ({int((data.y < 0).sum())}). {len(parts.y)} rows to fit, {len(parts.y_test)} to test."
    )
    paragraph(f"Source: {data.source} ({data.licence}).")


def show_programs(w: Array, parts: Split) -> None:
    """Print the loss as written, as recorded, and its backward Program."""
    heading("The loss: ordinary NumPy")
    print(inspect.getsource(loss).rstrip())
    heading("What funcgrad recorded: print(fg.make_program(loss)(w, X, y))")
    print(fg.make_program(loss)(w, parts.X, parts.y))
    heading("Its backward Program: print(fg.make_program(fg.grad(loss))(w, X, y))")
    print(fg.make_program(fg.grad(loss))(w, parts.X, parts.y))


def show_fit(w: Array, parts: Split) -> OptimizeResult:
    """Fit the weights, print how it went, and return SciPy's result."""
    heading('The fit: minimize(fg.value_and_grad(loss), w, args=(X, y), jac=True, method="L-BFGS-B")')
    args = (parts.X, parts.y)
    value_and_grad = fg.value_and_grad(loss)
    first = seconds(lambda: value_and_grad(w, *args))
    later = min(seconds(lambda: value_and_grad(w, *args)) for _ in range(50))
    plain = min(seconds(lambda: loss(w, *args)) for _ in range(50))
    started = time.perf_counter()
    result = minimize(value_and_grad, w, args=args, jac=True, method="L-BFGS-B")
    took = time.perf_counter() - started
    print(f"loss            {loss(w, *args):.6f} -> {result.fun:.6f}")
    print(f"converged       {result.success}, {result.nfev} evaluations in {took * 1e3:.1f} ms")
    print(f"gradient norm   {np.linalg.norm(result.jac):.1e}")
    print(f"one evaluation  first {first * 1e3:.2f} ms, then {later * 1e6:.0f} us", end="")
    print(f" (the loss alone, in NumPy: {plain * 1e6:.0f} us)")
    print("compiled        once calls have cost about as much: one of these times has the wait for it")
    print(f"train accuracy  {accuracy(result.x, parts.X, parts.y)}")
    print(f"test accuracy   {accuracy(result.x, parts.X_test, parts.y_test)}")
    return result


def show_check(w: Array, parts: Split) -> None:
    """Compare the derivatives with finite differences at ``w``; an error says where they differ."""
    heading("Is the gradient right? check_grads(loss, (w, X, y), order=2)")
    check_grads(loss, (w, parts.X, parts.y), order=2)
    print("Yes: forward and reverse derivatives agree with finite differences, to second order.")


def times_of(w: Array, parts: Split) -> list[tuple[str, float]]:
    """What a call takes: the loss by NumPy, its gradient, its gradient compiled, and differences instead."""
    args = (w, parts.X, parts.y)
    gradient, compiled = fg.grad(loss), fg.jit(fg.grad(loss))
    calls = [
        ("the loss alone, by NumPy", lambda: loss(*args)),
        ("its gradient, fg.grad(loss)", lambda: gradient(*args)),
        ("compiled, fg.jit(fg.grad(loss))", lambda: compiled(*args)),
        (
            f"instead: {len(w) + 1} losses for finite differences",
            lambda: [loss(*args) for _ in range(len(w) + 1)],
        ),
    ]
    return [(name, best_of(call)) for name, call in calls]


def best_of(call: Callable[[], object]) -> float:
    """The best time of a call, after the first."""
    call()
    return min(seconds(call) for _ in range(200))


def show_times(w: Array, parts: Split) -> None:
    """Print what a call takes, in several ways."""
    for name, took in times_of(w, parts):
        print(f"{name:<48}{took * 1e6:>8.1f} us")


def show_compiled(w: Array, parts: Split) -> None:
    """Print the native code of the gradient, what a call of it takes, and where that goes."""
    heading("Compiled: print(fg.jit(fg.grad(loss)).kernel_source(w, X, y))")
    print(fg.jit(fg.grad(loss)).kernel_source(w, parts.X, parts.y).rstrip())
    heading("The time of a call")
    show_times(w, parts)
    heading("What became of it: print(fg.explain(fg.grad(loss))(w, X, y))")
    print(fg.explain(fg.grad(loss))(w, parts.X, parts.y))
    heading("Where the time goes: print(fg.profile(fg.grad(loss))(w, X, y))")
    print(fg.profile(fg.grad(loss), seconds=0.2)(w, parts.X, parts.y))


def by_tensors(w: Array, X: Array, y: Array) -> Array:
    """The same gradient, as PyTorch's users write it."""
    t = torch.tensor(w, requires_grad=True)
    z = torch.tensor(X) @ t
    value = torch.nn.functional.softplus(-torch.tensor(y) * z).mean() + RIDGE * (t**2).sum()
    value.backward()
    assert t.grad is not None
    slope: Array = t.grad.numpy()
    return slope


def show_tensors(w: Array, parts: Split) -> None:
    """Print the gradient by the Tensor facade, and how far it is from the other."""
    heading("In PyTorch's words: import funcgrad.torch as torch")
    print(inspect.getsource(by_tensors).rstrip())
    args = (w, parts.X, parts.y)
    apart = float(np.max(np.abs(by_tensors(*args) - fg.grad(loss)(*args))))
    print(f"\nIt differs from fg.grad(loss)(w, X, y) by {apart:.1e} at most.")


def example() -> tuple[Dataset, Split, Array]:
    """The data, the rows to fit and to test, and the weights to start from."""
    data = load_breast_cancer()
    parts = split(data)
    return data, parts, np.zeros(parts.X.shape[1])


def tour() -> None:
    """The guided run."""
    print(f"funcgrad {fg.__version__}: gradients of ordinary NumPy code")
    data, parts, start = example()
    show_data(data, parts)
    show_programs(start, parts)
    result = show_fit(start, parts)
    show_check(result.x, parts)
    show_compiled(result.x, parts)
    show_tensors(result.x, parts)
    heading("What to try next")
    print(TRY_NEXT)
