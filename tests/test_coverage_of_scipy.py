"""The page that lists SciPy's functions says what the code offers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import scipy

from tests.scripts import module_at

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def coverage() -> Any:
    return module_at(DOCS / "coverage_scipy.py", "coverage_of_scipy")


def test_the_page_is_current(coverage: Any) -> None:
    written = (DOCS / "coverage-scipy.md").read_text(encoding="utf-8")
    if f"SciPy {coverage.VERSION} " not in written:
        pytest.skip(f"the page is about another SciPy than {scipy.__version__}")
    assert coverage.page() == written, "run: python docs/coverage_scipy.py"
