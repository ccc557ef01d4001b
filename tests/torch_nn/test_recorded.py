"""What PyTorch 2.13 computed, written down in ``recorded.json``: these tests run without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_functional as functional
import test_optim as optim
from torch_recorded import history_of, numbers_of, rates_of

import funcgrad.torch as ours

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded.json").read_text())


def assert_recorded(found: list[Any], recorded: list[Any], rtol: float) -> None:
    # A gradient of zeros is as good as none.
    mine, other = [[0.0 if x is None else x for x in numbers] for numbers in (found, recorded)]
    np.testing.assert_allclose(mine, other, rtol=rtol, atol=1e-7)


@pytest.mark.parametrize("name", RECORDED["functional"])
def test_functional(name: str) -> None:
    function, args = functional.CALLS[name]
    assert_recorded(numbers_of(ours, function, args), RECORDED["functional"][name], 2e-5)


@pytest.mark.parametrize("name", RECORDED["optim"])
def test_optimisers(name: str) -> None:
    kind, options = optim.OPTIMISERS[name]
    assert_recorded(
        history_of(ours, kind, options), RECORDED["optim"][name], 1e-4 if kind == "NAdam" else 1e-7
    )


@pytest.mark.parametrize("name", RECORDED["schedules"])
def test_schedules(name: str) -> None:
    assert_recorded(rates_of(ours, name), RECORDED["schedules"][name], 1e-8)
