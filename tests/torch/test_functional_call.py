"""``torch.func.functional_call`` as PyTorch 2.13 answers: tied weights, strictness, names that are none."""

from __future__ import annotations

from typing import Any

import pytest

from funcgrad import torch

W = torch.eye(2) * 2
STRICT = {"strict": True}


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = torch.nn.Linear(2, 2)
        self.b = torch.nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
        self.register_buffer("k", torch.ones(1))
        with torch.no_grad():
            self.a.weight.copy_(torch.eye(2))
            self.a.bias.zero_()

    def forward(self, x: Any) -> Any:
        return self.b(self.a(x)) * self.k


def called(given: Any, **options: Any) -> Any:
    return torch.func.functional_call(Tied(), given, (torch.ones(2),), **options).tolist()


@pytest.mark.parametrize(
    ("given", "options", "wanted"),
    [
        ({"a.weight": W}, {}, 4.0),
        ({"b.weight": W}, {}, 4.0),
        ({"a.weight": W}, {"tie_weights": False}, 2.0),
        ({"a.weight": W, "b.weight": W}, {}, 4.0),
        ({"a.weight": W, "b.weight": W * 2}, {"tie_weights": False}, 8.0),
        ({"a.weight": W, "a.bias": torch.zeros(2), "k": torch.ones(1)}, {"strict": True}, 4.0),
        (({"a.weight": W}, {"k": torch.ones(1) * 3}), {}, 12.0),
        ({"unknown": W}, {}, 1.0),
    ],
)
def test_weights_that_are_tied_are_replaced_together(given: Any, options: Any, wanted: float) -> None:
    assert called(given, **options) == [wanted, wanted]


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ({"a.weight": W, "b.weight": W * 2}, {}, ValueError, "keys ['a.weight', 'b.weight'], which are tied"),
        ({"a.weight": W, "zz": W}, STRICT, RuntimeError, "\n\tUnexpected key(s): 'zz'.\n\tMissing key(s): "),
        ({"a.weight": W}, STRICT, RuntimeError, "for Tied:\n\tMissing key(s): 'a.bias', 'k'."),
        ({"a": W}, {}, TypeError, "is not an instance of torch.Tensor"),
        ({"q.z": W}, {}, AttributeError, "Tied has no attribute `q`"),
        ({"": W}, {}, KeyError, "be empty string"),
        (3, {}, ValueError, "but got <class 'int'>"),
        ([{"a.weight": W}, 3], {}, ValueError, "Expected all elements of parameter"),
        ([{"a.weight": W}, {"a.weight": W}], {}, ValueError, "['a.weight'] appeared in multiple"),
    ],
)
def test_what_does_not_fit_is_refused(given: Any, options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        called(given, **options)
    assert words in str(caught.value)


def test_the_module_is_as_it_was() -> None:
    module = Tied()
    w = W.clone().requires_grad_()
    torch.func.functional_call(module, {"a.weight": w, "unknown": W}, (torch.ones(2),)).sum().backward()
    assert module.a.weight is module.b.weight
    assert not hasattr(module, "unknown")
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_vmap_has_one_face() -> None:
    assert torch.vmap is torch.func.vmap
