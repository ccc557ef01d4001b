"""Every function that the docs list as supported: values when recorded and compiled, derivatives, batches.

One call each, the one that writes the page; the other modules go into the corners.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError
from funcgrad.testing import check_grads
from tests.scripts import module_at

PAGE = Path(__file__).parents[2] / "docs" / "coverage.py"
coverage = module_at(PAGE, "coverage_of_numpy")

VALUES_DECIDE_SHAPES = {
    *("arange", "intersect1d", "polydiv", "roots", "setdiff1d", "setxor1d", "trim_zeros", "union1d"),
    *("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
REAL_IF_VALUES_ARE = {"linalg.eig", "linalg.eigvals"}
"""NumPy returns real eigenvalues where all are; a dtype that depends on values no trace can have."""

X = coverage.X


def supported() -> dict[str, Any]:
    """The functions to call, by name."""
    found = dict(coverage.functions())
    names = [line for line in PAGE.with_suffix(".md").read_text(encoding="utf-8").split("## ") if line]
    [listed] = [text for text in names if text.startswith("Supported")]
    return {name: f for name, f in found.items() if f"`{name}`" in listed}


def working_call(name: str, f: Any) -> Callable[[Any], Any]:
    """The first way to call the function that has a derivative."""
    for call in coverage.calls_of(name, f):
        try:
            if coverage.differentiated(call):
                return call  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001, S112 - not the way to call it
            continue
    raise AssertionError(f"{name} has no derivative any more")


def inexact(results: Any) -> list[Any]:
    """The floating-point results."""
    parts = fg.tree.leaves(results)
    return [part for part in parts if getattr(part, "dtype", np.dtype(int)).kind in "fc"]


SUPPORTED = supported()


@pytest.mark.at_length
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SUPPORTED)
def test_function(name: str) -> None:
    call = working_call(name, SUPPORTED[name])
    check_grads(lambda x: inexact(call(x)), (X,))

    def total(x: Any) -> Any:
        return sum(np.sum(np.real(part)) for part in inexact(call(x)))

    rows = np.stack([X, X[::-1] * 0.9 + 0.01])
    if name in VALUES_DECIDE_SHAPES:
        np.testing.assert_allclose(fg.vmap(total)(rows), [total(row) for row in rows], rtol=1e-12)
        with pytest.raises(ConcretizationError):
            fg.make_program(call)(X)
        return
    found = fg.make_program(call)(X).evaluate(X)
    for ours, theirs in zip(found, map(np.asarray, fg.tree.leaves(call(X))), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
        assert np.asarray(ours).dtype == theirs.dtype or name in REAL_IF_VALUES_ARE
    compiled = fg.jit(fg.value_and_grad(total))(X)
    for ours, theirs in zip(compiled, fg.value_and_grad(total)(X), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-11)
    looped = [fg.grad(total)(row) for row in rows]
    np.testing.assert_allclose(fg.vmap(fg.grad(total))(rows), looped, rtol=1e-9, atol=1e-12)
