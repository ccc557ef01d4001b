"""The page that lists SciPy's functions says what the code offers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import scipy

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def coverage() -> Any:
    spec = importlib.util.spec_from_file_location("coverage_of_scipy", DOCS / "coverage_scipy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(coverage: Any) -> None:
    written = (DOCS / "coverage-scipy.md").read_text(encoding="utf-8")
    if f"SciPy {coverage.VERSION} " not in written:
        pytest.skip(f"the page is about another SciPy than {scipy.__version__}")
    assert coverage.page() == written, "run: python docs/coverage_scipy.py"
