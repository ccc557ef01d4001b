"""What ``torch.func`` refuses: outputs that are no tensors, argnums that are none; PyTorch 2.13 says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from funcgrad import torch

F = torch.func
X = torch.ones(2)


def doubled(x: Any) -> Any:
    return x * 2


OUTPUTS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: 3.0, "expected f(*primals) to return only tensors, got unsupported type <class 'float'>"),
    (lambda x: (x, 2), "expected f(*primals) to return only tensors, got unsupported type <class 'int'>"),
    (lambda x: {"a": x, "b": None}, "to return only tensors, got unsupported type <class 'NoneType'>"),
    (lambda x: None, "Expected f to be a function that has non-empty output (got output = [None])"),
    (lambda x: (), "Expected f to be a function that has non-empty output (got output = [])"),
]


@pytest.mark.parametrize(("f", "words"), OUTPUTS)
def test_outputs_that_are_no_tensors(f: Callable[[Any], Any], words: str) -> None:
    for call, way in (
        ("vjp(f, *primals)", lambda: F.vjp(f, X)),
        ("vjp(f, *primals)", lambda: F.jacrev(f)(X)),
        ("jvp(f, primals, tangents)", lambda: F.jvp(f, (X,), (X,))),
        ("jvp(f, primals, tangents)", lambda: F.jacfwd(f)(X)),
    ):
        with pytest.raises(RuntimeError) as caught:
            way()
        assert str(caught.value).startswith(call)
        assert words in str(caught.value)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: F.vjp(lambda x: (x, x > 0), X), RuntimeError, "must be floating-point or complex"),
    (lambda: F.grad(torch.sum, argnums="a")(X), RuntimeError, "must be int or Tuple[int, ...], got: "),
    (lambda: F.jacrev(doubled, argnums=())(X), RuntimeError, "argnums must be non-empty"),
    (lambda: F.jacrev(doubled, argnums=(0, 0))(X), RuntimeError, "elements must be unique, got (0, 0)"),
    (lambda: F.grad(torch.sum, argnums=(0, "a"))(X), RuntimeError, "argnum must be int, got: <class 'str'>"),
    (lambda: F.jacrev(doubled, chunk_size=0), ValueError, "jacrev: `chunk_size` should be greater than 0."),
    (lambda: F.grad(torch.sum)(3.0), ValueError, "Thing passed to transform API must be Tensor"),
    (lambda: F.vjp(doubled, {"a": X, "b": 3}), ValueError, "must be Tensor, got <class 'int'>"),
    (lambda: F.jvp(doubled, (X,), (3.0,)), RuntimeError, "tangents to only contain Tensors"),
    (lambda: F.jvp(doubled, (3.0,), (X,)), RuntimeError, "primals to only contain Tensors"),
    (lambda: F.jvp(doubled, (), ()), RuntimeError, "Expected primals to contain at least one Tensor."),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
