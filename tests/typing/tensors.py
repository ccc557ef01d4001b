"""The Tensor facade: the types that an editor shows."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import funcgrad.torch as torch
from funcgrad.torch import nn


class Net(nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(3, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.out(torch.relu(self.hidden(x)))
        return out


def backward() -> None:
    """Leaves, operations, gradients."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert_type(x, torch.Tensor)
    y = (x * x + 1.0).sum()
    y.backward()
    gradient = x.grad
    assert gradient is not None
    assert_type(gradient, torch.Tensor)
    assert_type(gradient.shape, torch.Size)
    assert_type((x @ x).exp().mean(dim=0, keepdim=True), torch.Tensor)
    assert_type(torch.softmax(x, dim=0).clamp_(min=0.5), torch.Tensor)
    assert_type(torch.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 2)), torch.Tensor)
    assert_type(torch.float32, torch.dtype)
    print(x.detach().numpy() * 2.0, x[0], torch.linalg.norm(x), torch.special.erf(x))
    with torch.no_grad():
        x -= 0.1 * gradient


def training() -> None:
    """A module, an optimiser, a step."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.from_numpy(np.ones((4, 3), np.float32))
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), torch.zeros(4, 1))
        loss.backward()
        optimizer.step()


def main() -> None:
    """Run all of it."""
    backward()
    training()
