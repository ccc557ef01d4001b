"""Training steps under `fg.jit`: model and optimiser are arguments, and change as they do without it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch as torch

F = torch.nn.functional

X = np.random.default_rng(0).normal(size=(4, 6, 3)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(4, 6, 2)).astype(np.float32)


def made() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2)
    )


def step(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def trained(function: Any, name: str, options: dict[str, Any]) -> tuple[Any, Any, list[float]]:
    model = made()
    optimizer = getattr(torch.optim, name)(model.parameters(), **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    losses = []
    for x, y in zip(X, Y, strict=True):
        losses.append(function(model, optimizer, torch.from_numpy(x), torch.from_numpy(y)).item())
        schedule.step()
    return model, optimizer, losses


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01}),
        ("AdamW", {"lr": 0.1, "amsgrad": True, "maximize": True}),
        ("RAdam", {"lr": 0.1, "betas": (0.5, 0.8)}),
        ("RMSprop", {"momentum": 0.5, "centered": True}),
        ("Adagrad", {"lr_decay": 0.1}),
        ("Rprop", {}),
    ],
)
def test_compiled_steps_leave_what_steps_leave(name: str, options: dict[str, Any]) -> None:
    want, optimizer, losses = trained(step, name, options)
    jitted = fg.jit(step)
    found, compiled, ours = trained(jitted, name, options)
    np.testing.assert_allclose(ours, losses, rtol=1e-5)
    for key, value in want.state_dict().items():
        np.testing.assert_allclose(found.state_dict()[key], value, rtol=1e-4, atol=1e-5, err_msg=key)
    states = [o.state_dict() for o in (compiled, optimizer)]
    assert states[0]["param_groups"] == states[1]["param_groups"]
    assert states[0]["state"].keys() == states[1]["state"].keys()
    for k, held in states[1]["state"].items():
        for key, value in held.items():
            np.testing.assert_allclose(states[0]["state"][k][key], value, rtol=1e-3, atol=1e-5)
    # Both go on from there without a compiler.
    x, y = torch.from_numpy(X[0]), torch.from_numpy(Y[0])
    np.testing.assert_allclose(
        step(found, compiled, x, y).item(), step(want, optimizer, x, y).item(), rtol=1e-4
    )


def test_a_loaded_state_and_clipping_go_on_compiled() -> None:
    model = made()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    x, y = torch.from_numpy(X[0]), torch.from_numpy(Y[0])
    step(model, optimizer, x, y)
    other = copy.deepcopy(model)
    again = torch.optim.Adam([{"params": [p], "lr": 0.2} for p in other.parameters()])
    again.load_state_dict({**again.state_dict(), "state": copy.deepcopy(optimizer.state_dict()["state"])})
    third = copy.deepcopy(other)
    eager = torch.optim.Adam([{"params": [p], "lr": 0.2} for p in third.parameters()])
    eager.load_state_dict(copy.deepcopy(again.state_dict()))

    def clipped(optimizer: Any, model: Any, x: Any, y: Any) -> Any:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        return loss, norm

    jitted = fg.jit(clipped)
    for _ in range(2):
        ours, want = jitted(again, other, x, y), clipped(eager, third, x, y)
        eager.zero_grad()
        np.testing.assert_allclose(ours[1].item(), want[1].item(), rtol=1e-4)
    for p, q in zip(other.parameters(), third.parameters(), strict=True):
        np.testing.assert_allclose(p.detach(), q.detach(), rtol=1e-4, atol=1e-6)
    assert int(again.state_dict()["state"][0]["step"]) == 3


def by_data(p: Any) -> None:
    p.data -= 0.1 * p.grad.data


def by_detached(p: Any) -> None:
    p.detach().sub_(p.grad, alpha=0.1)


def without_history(p: Any) -> None:
    with torch.no_grad():
        p.sub_(0.1 * p.grad)


@pytest.mark.parametrize("change", [by_data, by_detached, without_history])
def test_steps_by_hand_reach_the_callers_parameters(change: Any) -> None:
    def by_hand(model: Any, x: Any) -> Any:
        loss = model(x).pow(2).sum()
        loss.backward()
        for p in model.parameters():
            change(p)
        return loss, model(x).pow(2).sum()

    models = [torch.nn.Linear(3, 2) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    jitted = fg.jit(by_hand)
    for x in map(torch.from_numpy, X[:2]):
        models[0].zero_grad()
        want, found = by_hand(models[0], x), jitted(models[1], x)
        np.testing.assert_allclose([t.item() for t in found], [t.item() for t in want], rtol=1e-5)
    for p, q in zip(*[m.parameters() for m in models], strict=True):
        np.testing.assert_allclose(p.detach(), q.detach(), rtol=1e-5)


def test_what_cannot_be_recorded_says_what_can() -> None:
    model = made()
    x, y = torch.from_numpy(X[0]), torch.from_numpy(Y[0])
    optimizer = torch.optim.Adam(model.parameters())
    with pytest.raises(NotImplementedError, match="the model that they belong to as an argument"):
        fg.jit(lambda o, x, y: step(model, o, x, y))(optimizer, x, y)
    with pytest.raises(NotImplementedError, match="leave it out of what the function returns"):
        fg.jit(lambda m, o, x, y: (step(m, o, x, y), o))(model, optimizer, x, y)
    with pytest.raises(NotImplementedError, match="does not support NAdam"):
        fg.jit(step)(model, torch.optim.NAdam(model.parameters()), x, y)
    unused = torch.nn.Parameter(torch.ones(2))
    model.register_parameter("unused", unused)
    optimizer.add_param_group({"params": [unused]})
    with pytest.raises(NotImplementedError, match=r"one of shape \(2,\) has no gradient"):
        fg.jit(step)(model, optimizer, x, y)
    unused.requires_grad_(False)
    assert fg.jit(step)(model, optimizer, x, y).item() == pytest.approx(
        F.mse_loss(made()(x), y).item(), rel=1e-5
    )


def test_data_that_is_replaced_reaches_the_callers_parameters() -> None:
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.fill_(0.0)

    def by_hand(model: Any, x: Any) -> Any:
        (model(x) ** 2).sum().backward()
        before = model.weight.data
        model.weight.data = model.weight.data - 0.1 * model.weight.grad
        return before - model.weight

    moved = fg.jit(by_hand)(model, torch.ones(1, 2))
    np.testing.assert_allclose(moved.detach(), [[0.4, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(model.weight.detach(), [[0.6, 0.6]], rtol=1e-6)
