"""Packed sequences: as each sequence by itself, and as PyTorch's."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

from funcgrad import torch

LAYERS = [
    (cls, options)
    for cls in ("RNN", "LSTM", "GRU")
    for options in ({}, {"num_layers": 2, "bidirectional": True}, {"bias": False})
]
LAYERS.append(("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True}))


def net_of(module: Any, cls: str, options: dict[str, Any], rng: np.random.Generator) -> Any:
    net = getattr(module.nn, cls)(3, 4, **options)
    for p in net.parameters():
        p.data.copy_(module.tensor(rng.normal(size=tuple(p.shape)).astype(np.float32) * 0.5))
    return net


@pytest.mark.parametrize(("cls", "options"), LAYERS)
def test_a_packed_sequence_is_as_if_alone(
    cls: str, options: dict[str, Any], rng: np.random.Generator
) -> None:
    net = net_of(torch, cls, options, rng)
    sequences = [torch.tensor(rng.normal(size=(n, 3)).astype(np.float32)) for n in (2, 5, 3)]
    rnn = torch.nn.utils.rnn
    packed, last = net(rnn.pack_sequence(sequences, enforce_sorted=False))
    outs = rnn.unpack_sequence(packed)
    lasts = last if cls == "LSTM" else (last,)
    for k, sequence in enumerate(sequences):
        out, alone = net(sequence)
        np.testing.assert_allclose(outs[k].detach(), out.detach(), rtol=1e-5, atol=1e-6)
        for t, expected in zip(lasts, alone if cls == "LSTM" else (alone,), strict=True):
            np.testing.assert_allclose(t[:, k].detach(), expected.detach(), rtol=1e-5, atol=1e-6)


def numbers(
    module: Any,
    cls: str,
    options: dict[str, Any],
    lengths: list[int],
    is_sorted: bool,
    first: bool,
    given: bool,
) -> list[Any]:
    rng = np.random.default_rng(0)
    net = net_of(module, cls, {**options, "batch_first": first}, rng)
    rnn = module.nn.utils.rnn
    x = module.tensor(rng.normal(size=(len(lengths), 5, 3)).astype(np.float32), requires_grad=True)
    heads = (2 if options.get("bidirectional") else 1) * options.get("num_layers", 1)
    start: Any = None
    if given:
        sizes = (options.get("proj_size", 4), 4)[: 2 if cls == "LSTM" else 1]
        parts = [rng.normal(size=(heads, len(lengths), n)).astype(np.float32) for n in sizes]
        start = tuple([module.tensor(part) for part in parts])
        start = start if cls == "LSTM" else start[0]
    packed = rnn.pack_padded_sequence(
        x if first else x.transpose(0, 1), module.tensor(lengths), first, enforce_sorted=is_sorted
    )
    out, last = net(packed, start)
    padded, counts = rnn.pad_packed_sequence(out, first, -1.0, 7)
    parts = [padded, *(last if cls == "LSTM" else (last,))]
    sum((t * module.linspace(0.1, 1, t.numel()).reshape(t.shape)).sum() for t in parts).backward()
    found = [*parts, counts, out.data, out.batch_sizes, x.grad, *[p.grad for p in net.parameters()]]
    return [np.asarray(t.detach().numpy()) for t in found]


@pytest.mark.peers("torch")
@pytest.mark.parametrize(("cls", "options"), LAYERS)
def test_as_pytorch(cls: str, options: dict[str, Any]) -> None:
    import torch as pytorch

    for first, given, (lengths, is_sorted) in itertools.product(
        (False, True), (False, True), (([5, 3, 2], True), ([2, 5, 3], False))
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # projections without oneDNN
            expected = numbers(pytorch, cls, options, lengths, is_sorted, first, given)
        found = numbers(torch, cls, options, lengths, is_sorted, first, given)
        for a, b in zip(expected, found, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_padding() -> None:
    rnn = torch.nn.utils.rnn
    rows = [torch.ones(2), torch.ones(1)]
    np.testing.assert_array_equal(rnn.pad_sequence(rows, True, -1.0), [[1, 1], [1, -1]])
    np.testing.assert_array_equal(rnn.pad_sequence(rows, True, 0.0, "left"), [[1, 1], [0, 1]])
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        rnn.pack_sequence(rows[::-1])
    with pytest.raises(ValueError, match="smaller than hidden_size"):
        torch.nn.LSTM(2, 3, proj_size=3)
