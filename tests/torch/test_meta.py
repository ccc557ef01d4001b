"""Tensors on `meta`: what an operation gives has the shape and dtype that it gives on numbers."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import torch

nn, F = torch.nn, torch.nn.functional

NUMBERS = {
    "x": torch.arange(12.0).reshape(3, 4) + 1,
    "y": torch.arange(12.0).reshape(3, 4) + 2,
    "q": torch.eye(4) * 4,
    "v": torch.arange(4.0) + 1,
    "i": torch.tensor([[0, 1, 2, 0], [1, 1, 2, 2]]),
    "b": torch.arange(12).reshape(3, 4) > 5,
    "h": torch.ones(3, 4, dtype=torch.float16),
    "z": torch.ones(3, 4, dtype=torch.complex64),
    "im": torch.ones(1, 2, 8, 8),
    "w": torch.ones(3, 2, 3, 3),
}
EXPRESSIONS = """
x + y | x * 2 | x / 2j | i / 2 | i * 1.5 | x @ q | q @ v | x.sum() | i.sum(0) | h.mean(1) | z.abs()
z.real | x > y | x.max(1) | x.median() | x.median(0) | i.median() | x.sort(1) | x.topk(2)
x.kthvalue(2, 1) | x.argmin(0) | x.var(1) | x.cumsum(0) | x.logsumexp(1) | x.softmax(1) | x.norm()
x.prod() | b.any(1) | b.sum() | x.gather(0, i) | x[i[0]] | x.index_select(1, i[0])
x.scatter_add(0, i, y[:2]) | torch.where(b, x, 0.0) | x.masked_fill(b, 1) | x.flip(0)
torch.cat([x, y], 1) | torch.stack([x, y.double()]) | x.repeat(2, 1) | x.tile(2) | x.roll(1, 0) | x.t()
x.mT | x[1:, ::2] | x[None, ..., 0] | x.unfold(1, 2, 1) | x.diagonal() | q.diag() | x.tril()
torch.einsum("ij,kj->ik", x, y) | torch.linalg.svd(x) | torch.linalg.eigh(q) | torch.linalg.solve(q, v)
q.det() | torch.linalg.qr(x) | q.inverse() | F.conv2d(im, w, padding=1)
F.max_pool2d(im, 2, return_indices=True) | F.avg_pool2d(im, 3) | F.interpolate(im, scale_factor=2)
F.pad(x, (1, 2)) | F.gelu(x) | F.layer_norm(x, (4,)) | F.cross_entropy(x, i[0, :3]) | F.embedding(i, x)
F.one_hot(i, 3) | F.dropout(x, 0.5) | F.dropout2d(im) | torch.fft.fft(x) | torch.fft.irfft(z)
x.clamp(0, 1) | x.double() | x.to(torch.int8) | F.scaled_dot_product_attention(im, im, im)
torch.rand_like(x) | z.real.bernoulli() | x.clone().normal_() | i.bool() | ~b
"""


def kind(found: Any) -> Any:
    """Shapes and dtypes of tensors, in tuples as they are."""
    if isinstance(found, torch.Tensor):
        return tuple(found.shape), found.dtype
    return tuple(kind(part) for part in found)


def where(found: Any) -> set[str]:
    return {found.device.type} if isinstance(found, torch.Tensor) else set.union(*map(where, found))


@pytest.mark.parametrize("line", EXPRESSIONS.strip().split("\n"))
def test_shapes_and_dtypes_are_those_of_numbers(line: str) -> None:
    meta = {name: x.to("meta") for name, x in NUMBERS.items()}
    for code in line.split(" | "):
        known, unknown = [eval(code, {"torch": torch, "F": F, **given}) for given in (NUMBERS, meta)]
        assert kind(unknown) == kind(known), code
        assert where(unknown) == {"meta"}, code


def test_no_memory_is_taken() -> None:
    tracemalloc.start()
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(10**5, 10**5), nn.LayerNorm(10**5), nn.ReLU(), nn.Linear(10**5, 10))
        x = torch.randn(64, 10**5)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        F.cross_entropy(model(x), torch.zeros(64, dtype=torch.int64, device="meta")).backward()
        optimizer.step()
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()
    assert model[0].weight.nbytes == 4 * 10**10
    assert model[0].weight.grad.is_meta


def test_operations_one_after_another_leave_nothing_behind() -> None:
    x = torch.zeros(3, 3, device="meta")
    for _ in range(3):
        x.add_(1.0)
        x = x @ x * 0.5
    assert len(x._value._recorder.avals) == 1


@pytest.mark.parametrize("code", ["m + c", "c * m", "torch.cat([m, c])", "c.add_(m)", "c.copy_(m)"])
def test_numbers_do_not_meet_what_has_none(code: str) -> None:
    c = torch.ones(3, 4)
    with pytest.raises((RuntimeError, NotImplementedError), match=r"expected device|no data"):
        eval(code, {"torch": torch, "m": torch.empty(3, 4, device="meta"), "c": c})
    assert c.tolist() == [[1.0] * 4] * 3


@pytest.mark.parametrize(
    "code", ["m.nonzero()", "m[m > 0]", "m.unique()", "m.masked_select(m > 0)", "m.equal(m)"]
)
def test_what_depends_on_numbers_is_refused_after_some_were_written_as_well(code: str) -> None:
    m = torch.empty(3, 4, device="meta")
    for fill in (lambda: None, lambda: m.copy_(torch.ones(3, 4)), lambda: m.fill_(2.0)):
        fill()
        with pytest.raises(NotImplementedError, match="no data"):
            eval(code)


def test_a_copy_to_meta_has_a_history_that_no_gradient_comes_through() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"to\('meta'\)"):
        x.to("meta").sum().backward()


def test_gradients_that_are_zero_everywhere_are_on_meta_too() -> None:
    x = torch.empty(3, device="meta", requires_grad=True)
    x.sign().sum().backward()
    assert x.grad.is_meta
    (a, _) = x.clone().split([1, 2])
    a.sum().backward()
    assert x.grad.is_meta


def test_meta_tensors_pickle_and_are_not_saved(tmp_path: Any) -> None:
    x = nn.Parameter(torch.empty(2, 3, device="meta"))
    copied = pickle.loads(pickle.dumps(x))
    assert (copied.is_meta, copied.shape, copied.requires_grad, type(copied)) == (
        True,
        (2, 3),
        True,
        nn.Parameter,
    )
    with pytest.raises(NotImplementedError, match="to_empty"):
        torch.save(x, tmp_path / "x.pt")


def test_a_median_keeps_its_dtype_in_a_trace() -> None:
    for dtype in (torch.float32, torch.int64):
        x = torch.tensor([3, 1, 2], dtype=dtype)
        found = fg.jit(lambda t: t.median())(x)
        assert (found.dtype, found.item()) == (dtype, 2)


def test_modules_with_attributes_of_their_own_are_made_where_they_are_told() -> None:
    class Own(nn.Module):
        def __init__(self, device: Any = None) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(2, device=device))
            self.inner = nn.Linear(2, 2, device=device)

    assert {p.device.type for p in Own("meta").parameters()} == {"meta"}
    assert {p.device.type for p in Own().parameters()} == {"cpu"}
    with torch.device("meta"):
        assert {p.device.type for p in Own().parameters()} == {"meta"}
    assert np.isfinite(Own().inner(torch.ones(1, 2)).detach().numpy()).all()
