"""Every function of `fg.scipy` is asked for everything: values, derivatives, batches, compiled, single.

What has no row of its own is driven by another table, or is named here with the reason.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from every_function import ROWS
from solver_cases import check_batches, check_compiled, check_first, check_second, check_value, number
from test_stats_of_samples import CALLS as OF_SAMPLES
from test_stats_summaries import CALLS as SUMMARIES

import funcgrad as fg
from funcgrad.scipy.stats.law import LAWS
from tests.scripts import module_at

DOCS = Path(__file__).parents[2] / "docs"

WITHOUT_ROW: dict[str, str] = {
    **dict.fromkeys(
        ("Bounds", "LinearConstraint", "NonlinearConstraint", "OptimizeResult", "RootResults"),
        "SciPy's own class",
    ),
    **dict.fromkeys(
        ("dft", "hadamard", "helmert", "hilbert", "invhilbert", "invpascal", "pascal", "fftfreq", "rfftfreq"),
        "made of a size",
    ),
    "issparse": "a question",
    "isspmatrix": "a question",
    "rankdata": "refused by name",
    "ldl": "refused by name",
    **dict.fromkeys(
        ("null_space", "orth", "subspace_angles"),
        "values decide the shape, so no batch of them: tests/scipy/test_subspaces.py",
    ),
}
"""What has no row, and why."""


@pytest.fixture(scope="module")
def coverage() -> Any:
    return module_at(DOCS / "coverage_scipy.py", "coverage_of_scipy")


def functions_of(coverage: Any) -> list[tuple[str, str]]:
    """The names that `fg.scipy` shares with SciPy, by package."""
    found = []
    for package in coverage.PACKAGES:
        ours = importlib.import_module(f"funcgrad.scipy.{package}")
        names = coverage.public(importlib.import_module(f"scipy.{package}"))
        found += [(package, name) for name in names if hasattr(ours, name)]
    return found


def test_every_function_stands_in_a_table(coverage: Any) -> None:
    """`special` is driven by the samples of its operations, in tests/laws and tests/scipy/test_special*."""
    elsewhere = {name.partition(",")[0].split()[0] for name in (*OF_SAMPLES, *SUMMARIES)}
    known = WITHOUT_ROW.keys() | LAWS.keys() | elsewhere
    missing = [
        f"{package}.{name}"
        for package, name in functions_of(coverage)
        if package != "special" and name not in known and f"{package}.{name}" not in ROWS
    ]
    assert missing == []


def test_every_function_has_an_example_and_a_line(coverage: Any) -> None:
    page = (DOCS / "coverage-scipy.md").read_text(encoding="utf-8")
    for package, name in functions_of(coverage):
        ours = getattr(importlib.import_module(f"funcgrad.scipy.{package}"), name)
        own = ours is getattr(importlib.import_module(f"scipy.{package}"), name)
        assert own or ">>>" in (ours.__doc__ or ""), f"{package}.{name}"
        assert f"`{name}`" in page


@pytest.mark.at_length
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore")
def test_value_and_derivatives(name: str) -> None:
    case = ROWS[name]
    check_value(case, scipy, fg.scipy)
    check_first(case, scipy, fg.scipy)
    if case.second:
        check_second(case, fg.scipy)


@pytest.mark.at_length
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore")
def test_batches_and_compiled(name: str) -> None:
    case = ROWS[name]
    if case.jits:
        check_batches(case, fg.scipy)
        check_compiled(case, fg.scipy)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.at_length
def test_single_precision_is_kept_where_scipy_keeps_it(name: str) -> None:
    case = ROWS[name]
    point = case.point.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.asarray(case.function(scipy, point))
        found = fg.jvp(lambda p: case.function(fg.scipy, p), (point,), (point,))[0]
        assert np.asarray(fg.grad(number(case, fg.scipy))(point)).dtype == np.float32
    assert np.shape(found) == wanted.shape
    if name not in DOUBLE:
        assert np.asarray(found).dtype == wanted.dtype


DOUBLE = frozenset({"integrate.quad_vec"})
"""What is computed in double precision: the limits of an integral are."""
