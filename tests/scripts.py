"""Scripts beside the package, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def module_at(path: Path, name: str = "") -> Any:
    """What a file of Python defines; it is not entered among the imported modules."""
    spec = importlib.util.spec_from_file_location(name or path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
