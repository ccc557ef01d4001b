"""The page that lists NumPy's functions says what the code does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scripts import module_at

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def coverage() -> Any:
    return module_at(DOCS / "coverage.py", "coverage_page")


def test_the_page_is_current(coverage: Any) -> None:
    written = (DOCS / "coverage.md").read_text(encoding="utf-8")
    if f"NumPy {coverage.VERSION} " not in written:
        pytest.skip(f"the page is about another NumPy than {np.__version__}")
    assert coverage.page() == written, "run: python docs/coverage.py"


def test_functions_are_found_out(coverage: Any) -> None:
    wanted = {
        "sin": coverage.SUPPORTED,
        "einsum": coverage.SUPPORTED,
        "argsort": coverage.CONSTANT,
        "sign": coverage.CONSTANT,
        "packbits": coverage.MISSING,
        "loadtxt": coverage.MISSING,
    }
    for name, status in wanted.items():
        assert coverage.status_of(name, getattr(np, name)) == status
