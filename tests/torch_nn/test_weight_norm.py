"""Weight normalisation beside PyTorch's: values, gradients, names, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ours

pytestmark = pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")


def layers(torch: Any) -> list[tuple[Any, Any]]:
    nn = torch.nn
    return [
        (nn.Linear(3, 2), (4, 3)),
        (nn.Conv1d(2, 3, 2), (1, 2, 5)),
        (nn.ConvTranspose2d(2, 3, 2), (1, 2, 3, 3)),
    ]


@pytest.mark.peers("torch")
@pytest.mark.parametrize("dim", [0, 1, None])
def test_values_and_gradients_are_those_of_pytorch(dim: int | None) -> None:
    import torch

    rng = np.random.default_rng(0)
    for (mine, shape), (theirs, _) in zip(layers(ours), layers(torch), strict=True):
        state = {k: rng.standard_normal(tuple(v.shape)) for k, v in theirs.state_dict().items()}
        x = rng.standard_normal(shape)
        found = []
        for module, layer in ((ours, mine), (torch, theirs)):
            layer.double().load_state_dict({k: module.tensor(v) for k, v in state.items()})
            module.nn.utils.weight_norm(layer, dim=dim)
            for _ in range(2):
                layer.zero_grad()
                y = (layer(module.tensor(x)) ** 2).sum()
                y.backward()
            grads = {k: p.grad.numpy() for k, p in layer.named_parameters()}
            found.append((y.item(), grads))
        np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
        assert list(found[0][1]) == list(found[1][1])
        for name in found[0][1]:
            np.testing.assert_allclose(found[0][1][name], found[1][1][name], rtol=1e-9, atol=1e-12)


def test_it_trains_and_is_removed() -> None:
    ours.manual_seed(0)
    layer = ours.nn.utils.weight_norm(ours.nn.Linear(3, 2))
    x, before = ours.randn(5, 3), layer.weight.detach().clone()
    steps = ours.optim.SGD(layer.parameters(), lr=0.1)
    (layer(x) ** 2).sum().backward()
    steps.step()
    y = layer(x).detach()
    assert not ours.equal(layer.weight, before)
    ours.nn.utils.remove_weight_norm(layer)
    assert sorted(dict(layer.named_parameters())) == ["bias", "weight"]
    ours.testing.assert_close(layer(x).detach(), y)


def test_what_is_refused() -> None:
    layer = ours.nn.utils.weight_norm(ours.nn.Linear(3, 2))
    with pytest.raises(RuntimeError, match="two weight_norm hooks on the same parameter weight"):
        ours.nn.utils.weight_norm(layer)
    with pytest.raises(ValueError, match="weight_norm of 'bias' not found"):
        ours.nn.utils.remove_weight_norm(layer, "bias")
    with pytest.warns(FutureWarning, match="deprecated"):
        ours.nn.utils.weight_norm(ours.nn.Linear(3, 2))
