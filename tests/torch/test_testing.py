"""`torch.testing.assert_close`: accepts what PyTorch's accepts, and says what PyTorch's says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch

CASES = [
    "torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])",
    "torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.000001])",
    "torch.tensor(1.0), torch.tensor(1.1)",
    "torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]).double()",
    "torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]).double(), dict(check_dtype=False)",
    "torch.tensor([1, 2]), torch.tensor([1.0, 2.0]), dict(check_dtype=False)",
    "torch.ones(2), torch.ones(3)",
    "torch.ones(2, requires_grad=True), torch.ones(2)",
    "torch.ones(0), torch.ones(0)",
    "[torch.ones(2)], [torch.zeros(2)]",
    "{'a': [1.0, {'b': torch.ones(1)}]}, {'a': [1.0, {'b': torch.zeros(1)}]}",
    "{'a': 1}, {'b': 1}",
    "{'a': 1}, {'a': 1, 'b': 1}",
    "[1, 2], [1, 2, 3]",
    "(1, 2), (1, 2)",
    "1.0, 1.1",
    "1.0, 1.1, dict(rtol=0.2, atol=0.0)",
    "1, 1.0",
    "1, 1.0, dict(check_dtype=False)",
    "1, 2",
    "2.0, 0.0",
    "1.0, float('nan')",
    "1 + 1j, 1 + 2j",
    "True, False",
    "True, True",
    "None, None",
    "'a', 'a'",
    "torch.ones(2), 1.0",
    "torch.tensor([float('nan')]), torch.tensor([float('nan')])",
    "torch.tensor([float('nan')]), torch.tensor([float('nan')]), dict(equal_nan=True)",
    "torch.tensor([float('nan'), 1]), torch.tensor([float('nan'), 2]), dict(equal_nan=True, rtol=0, atol=0)",
    "torch.tensor([float('inf')]), torch.tensor([1.0])",
    "torch.tensor([float('inf')]), torch.tensor([float('inf')])",
    "torch.tensor([1, 2]), torch.tensor([1, 3])",
    "torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([1, 3], dtype=torch.uint8)",
    "torch.tensor([True, False]), torch.tensor([True, True])",
    "torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [3.0, 5.0]])",
    "torch.tensor([1 + 1j]), torch.tensor([1 + 2j])",
    "torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.float16) * 1.0005",
    "torch.ones(2).double(), torch.ones(2).double() + 1e-6",
    "torch.ones(2), torch.zeros(2), dict(rtol=0, atol=0)",
    "torch.ones(2), torch.zeros(2), dict(rtol=0, atol=0.1)",
    "torch.ones(2), torch.zeros(2), dict(rtol=0.1)",
    "torch.ones(2), torch.zeros(2), dict(msg='no')",
    "torch.ones(2), torch.zeros(2), dict(msg=lambda text: 'here: ' + text)",
    "torch.ones(2, 3).t(), torch.ones(3, 2)",
    "torch.ones(2, 3).t(), torch.ones(3, 2), dict(check_stride=True)",
    "np.ones(2), np.zeros(2)",
]


def outcome(module: Any, code: str) -> str:
    actual, expected, *options = eval(f"({code})", {"torch": module, "np": np})
    try:
        module.testing.assert_close(actual, expected, **(options[0] if options else {}))
    except (AssertionError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}".replace("funcgrad.torch", "torch")
    return "close"


@pytest.mark.peers("torch")
@pytest.mark.parametrize("code", CASES)
def test_says_what_pytorch_says(code: str) -> None:
    import torch as theirs

    assert outcome(torch, code) == outcome(theirs, code)


def test_close_and_not_close() -> None:
    close = [code for code in CASES if outcome(torch, code) == "close"]
    assert "True, True" in close
    assert "torch.ones(2, requires_grad=True), torch.ones(2)" in close
    assert outcome(torch, "{'a': [1, 2]}, {'a': [1, 3]}") == (
        "AssertionError: Scalars are not equal!\n\nExpected 3 but got 2.\nAbsolute difference: 1\n"
        "Relative difference: 0.3333333333333333\n\nThe failure occurred for item ['a'][1]"
    )
