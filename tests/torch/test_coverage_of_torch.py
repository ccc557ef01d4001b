"""The page that lists PyTorch's names says what the code offers; what is refused says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from funcgrad import torch
from tests.scripts import module_at

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def coverage() -> Any:
    return module_at(DOCS / "coverage_torch.py", "coverage_of_torch")


def test_the_page_is_current(coverage: Any) -> None:
    written = (DOCS / "coverage-torch.md").read_text(encoding="utf-8")
    assert coverage.page() == written, "run: python docs/coverage_torch.py"


def test_every_name_is_here_or_refused(coverage: Any) -> None:
    _, left = coverage.sections()
    assert not any(left.values())


@pytest.mark.parametrize(
    ("place", "name", "words"),
    [
        (torch, "cudnn_convolution", "devices and libraries that are not here"),
        (torch, "quantized_lstm", "quantized tensors are not supported"),
        (torch, "sparse_csc_tensor", "sparse layouts are not supported"),
        (torch, "ScriptModule", "PyTorch's compiler"),
        (torch.nn, "LinearCrossEntropyLoss", "devices and libraries"),
        (torch.autograd.graph, "region_activation_memory_budget", "PyTorch's compiler"),
        (torch.jit, "CompilationUnit", "PyTorch's compiler"),
        (torch.ones(1), "untyped_storage", "has no storages"),
    ],
)
def test_refusals_name_the_reason(place: Any, name: str, words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        getattr(place, name)


@pytest.mark.peers("torch")
def test_the_names_are_those_of_pytorch(coverage: Any) -> None:
    import torch as pytorch

    if not pytorch.__version__.startswith("2.13."):
        pytest.skip("recorded with torch 2.13")
    recorded = coverage.json.loads(coverage.NAMES.read_text(encoding="utf-8"))
    assert set(recorded["torch.nn"]) == set(coverage.callables(pytorch.nn))
