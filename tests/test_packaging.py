"""What a user installs: version, types, data, licences, and an import that stays light."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.datasets import load_breast_cancer

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_version_is_one_number(project: dict[str, object]) -> None:
    assert fg.__version__ == project["version"]
    assert f"\nversion: {fg.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_ships_types_and_data() -> None:
    assert files("funcgrad").joinpath("py.typed").is_file()
    assert files("funcgrad.datasets").joinpath("breast_cancer.csv").is_file()


def test_torch_is_pinned_and_first(project: dict[str, object]) -> None:
    assert project["optional-dependencies"]["peers"][0] == "torch==2.13.0"


def test_import_loads_neither_numba_nor_scipy_nor_a_peer() -> None:
    heavy = ("numba", "scipy", "torch", "jax", "autograd", "matplotlib")
    heavy += ("funcgrad.scipy.special", "funcgrad.ops.specials", "numpy.polynomial")
    code = f"import sys, funcgrad; print(*[name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout.split() == []


def test_breast_cancer_is_the_published_table() -> None:
    data = load_breast_cancer()
    assert data.X.shape == (569, 10)
    assert data.X.dtype == data.y.dtype == np.float64
    assert len(data.feature_names) == 10
    assert np.isfinite(data.X).all()
    assert (int((data.y == 1.0).sum()), int((data.y == -1.0).sum())) == (212, 357)
    # The ranges printed in the table's own description.
    low = [6.981, 9.71, 43.79, 143.5, 0.053, 0.019, 0.0, 0.0, 0.106, 0.05]
    high = [28.11, 39.28, 188.5, 2501.0, 0.163, 0.345, 0.427, 0.201, 0.304, 0.097]
    np.testing.assert_allclose(data.X.min(axis=0), low, atol=5e-4)
    np.testing.assert_allclose(data.X.max(axis=0), high, atol=5e-4)


def test_datasets_are_fresh_arrays() -> None:
    load_breast_cancer().X[:] = 0.0
    assert load_breast_cancer().X.any()
