"""What doctests may assume: ``np`` and ``fg``. Fixtures of the tests live in ``tests/conftest.py``."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as fg

# The plugin that runs pytest inside a test; only the outermost conftest may ask for it.
pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def names_in_doctests(doctest_namespace: dict[str, object]) -> None:
    """Put the two usual names in scope, as the documentation assumes."""
    doctest_namespace.update(np=np, fg=fg)
