"""Optimisers and schedules: the steps of PyTorch, beside it and by recorded numbers."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from torch_pairs import error_of, numpy_of

import funcgrad.torch as ours

quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning")
peers = pytest.mark.peers("torch")

OPTIMISERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd_momentum": ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}),
    "sgd_nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "sgd_maximize": ("SGD", {"lr": 0.001, "maximize": True, "momentum": 0.5}),
    "adam": ("Adam", {"lr": 0.1}),
    "adam_options": (
        "Adam",
        {"lr": 0.1, "betas": (0.8, 0.99), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True},
    ),
    "adam_decoupled": ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "adamw": ("AdamW", {"lr": 0.1, "maximize": True}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.2}),
    "adamax": ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    "nadam": ("NAdam", {"lr": 0.1, "weight_decay": 0.1}),
    "nadam_decoupled": ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"lr": 0.1, "weight_decay": 0.1}),
    "radam_decoupled": ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "rmsprop": ("RMSprop", {"lr": 0.05}),
    "rmsprop_options": ("RMSprop", {"lr": 0.05, "momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    "adagrad": (
        "Adagrad",
        {"lr": 0.3, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.2},
    ),
    "adadelta": ("Adadelta", {"lr": 1.0, "weight_decay": 0.1}),
    "rprop": ("Rprop", {"lr": 0.05}),
    "lbfgs": ("LBFGS", {"lr": 0.5, "max_iter": 4, "history_size": 3}),
    "lbfgs_wolfe": ("LBFGS", {"max_iter": 5, "line_search_fn": "strong_wolfe"}),
}


def first_values(t: Any) -> list[Any]:
    """Three parameters of different shapes."""
    rng = np.random.default_rng(5)
    return [t.tensor(np.asarray(rng.normal(size=s)), requires_grad=True) for s in ((3, 2), (4,), ())]


def loss_of(params: list[Any]) -> Any:
    """Something like Rosenbrock's function of all elements, with coupling between parameters."""
    a, b, c = params
    return (
        ((a * a).sum(0) - b[:2]).pow(2).sum() * 2 + (b.cos() * (c + 1)).sum() + (c - 1) ** 4 + (a * 0.3).sum()
    )


def trained(t: Any, name: str, options: dict[str, Any], steps: int = 8) -> tuple[Any, list[Any]]:
    """An optimiser after some steps, and the values of the parameters after each."""
    params = first_values(t)
    optimizer = getattr(t.optim, name)(params, **options)
    history = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(params)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
        history.append(np.concatenate([numpy_of(p).reshape(-1).copy() for p in params]))
    return optimizer, history


@quiet
@peers
@pytest.mark.parametrize("case", OPTIMISERS)
def test_steps_are_torchs(case: str) -> None:
    import torch as theirs

    name, options = OPTIMISERS[case]
    (mine, history), (other, their_history) = (trained(t, name, options) for t in (ours, theirs))
    rtol = 1e-4 if name == "NAdam" else 1e-8  # PyTorch's keeps a product in single precision
    np.testing.assert_allclose(history, their_history, rtol=rtol, atol=1e-8)
    assert repr(mine) == repr(other)
    a, b = mine.state_dict(), other.state_dict()
    assert a["param_groups"] == b["param_groups"]
    assert a["state"].keys() == b["state"].keys()
    if name == "LBFGS":
        return
    for k, held in b["state"].items():
        assert set(a["state"][k]) >= {key for key in held if held[key] is not None} - {"mu_product"}
        for key, value in held.items():
            if key in a["state"][k] and value is not None:
                np.testing.assert_allclose(
                    numpy_of(a["state"][k][key]), numpy_of(value), rtol=rtol, atol=1e-8, err_msg=key
                )


@pytest.mark.parametrize("steps", [1, 3])
def test_adam_by_hand(steps: int) -> None:
    w = ours.tensor([2.0, -1.0], dtype=ours.float64, requires_grad=True)
    optimizer = ours.optim.Adam([w], lr=0.1, betas=(0.5, 0.75), eps=0.01)
    m, v, x = np.zeros(2), np.zeros(2), np.array([2.0, -1.0])
    for k in range(1, steps + 1):
        optimizer.zero_grad()
        (w**3).sum().backward()
        optimizer.step()
        g = 3 * x * x
        m, v = 0.5 * m + 0.5 * g, 0.75 * v + 0.25 * g * g
        x = x - 0.1 * (m / (1 - 0.5**k)) / (np.sqrt(v / (1 - 0.75**k)) + 0.01)
    np.testing.assert_allclose(numpy_of(w), x, rtol=1e-12)


def test_sgd_by_hand() -> None:
    w = ours.tensor([1.0], dtype=ours.float64, requires_grad=True)
    optimizer = ours.optim.SGD([w], lr=0.1, momentum=0.5, nesterov=True)
    x, b = 1.0, 0.0
    for _ in range(4):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
        g = 2 * x
        b = 0.5 * b + g
        x -= 0.1 * (g + 0.5 * b)
    assert w.item() == pytest.approx(x, rel=1e-12)


@quiet
@peers
@pytest.mark.parametrize("case", ["sgd_momentum", "adam_options", "rmsprop_options", "adagrad"])
def test_state_goes_over_and_comes_back(case: str) -> None:
    name, options = OPTIMISERS[case]
    optimizer, _ = trained(ours, name, options, steps=3)
    saved = copy.deepcopy(optimizer.state_dict())
    values = [numpy_of(p).copy() for p in optimizer.param_groups[0]["params"]]

    def go_on(loaded: bool) -> Any:
        params = [ours.tensor(v.copy(), requires_grad=True) for v in values]
        other = getattr(ours.optim, name)(params, **options)
        if loaded:
            other.load_state_dict(saved)
        for _ in range(3):
            other.zero_grad()
            loss_of(params).backward()
            other.step()
        return np.concatenate([numpy_of(p).reshape(-1) for p in params])

    _, whole = trained(ours, name, options, steps=6)
    np.testing.assert_allclose(go_on(True), whole[-1], rtol=1e-12)
    assert not np.allclose(go_on(False), whole[-1], rtol=1e-6)


@quiet
@peers
def test_parameters_that_join_late() -> None:
    import torch as theirs

    def run(t: Any) -> Any:
        a, b = (t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True) for _ in range(2))
        optimizer = t.optim.Adam([{"params": [a, b]}], lr=0.1)
        for k in range(5):
            optimizer.zero_grad()
            (a * a).sum().backward()
            if k % 2:
                (b**3).sum().backward()
            optimizer.step()
        c = t.tensor([3.0], dtype=t.float64, requires_grad=True)
        optimizer.add_param_group({"params": c, "lr": 0.5})
        for _ in range(2):
            optimizer.zero_grad()
            ((a * a).sum() + b.sum() + (c * c).sum()).backward()
            optimizer.step()
        return np.concatenate([numpy_of(p) for p in (a, b, c)]), [
            float(s["step"]) for s in optimizer.state.values()
        ]

    (mine, counts), (other, their_counts) = run(ours), run(theirs)
    np.testing.assert_allclose(mine, other, rtol=1e-10)
    assert counts == their_counts


def test_steps_are_changes_in_place_that_histories_notice() -> None:
    w = ours.tensor([2.0], requires_grad=True)
    memory = w.detach().numpy()
    loss = (w * w).sum()
    optimizer = ours.optim.SGD([w], lr=0.5)
    w.grad = ours.tensor([1.0])
    optimizer.step()
    assert memory.tolist() == [1.5]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_zero_grad() -> None:
    w = ours.tensor([2.0], requires_grad=True)
    optimizer = ours.optim.SGD([w], lr=0.5)
    (w * w).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert w.grad is None


def twice(t: Any, w: Any) -> Any:
    """An optimiser with the same parameter in two groups."""
    return t.optim.SGD([{"params": [w]}, {"params": [w]}], lr=0.1)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "empty": lambda t: t.optim.SGD([], lr=0.1),
    "tensor": lambda t: t.optim.SGD(t.ones(1), lr=0.1),
    "not_a_tensor": lambda t: t.optim.SGD([3], lr=0.1),
    "non_leaf": lambda t: t.optim.SGD([t.ones(1, requires_grad=True) * 2], lr=0.1),
    "lr": lambda t: t.optim.SGD([t.ones(1)], lr=-1.0),
    "momentum": lambda t: t.optim.SGD([t.ones(1)], lr=1.0, momentum=-1.0),
    "nesterov": lambda t: t.optim.SGD([t.ones(1)], lr=1.0, nesterov=True),
    "betas": lambda t: t.optim.Adam([t.ones(1)], betas=(1.0, 0.9)),
    "eps": lambda t: t.optim.Adam([t.ones(1)], eps=-1.0),
    "decay": lambda t: t.optim.AdamW([t.ones(1)], weight_decay=-1.0),
    "twice": lambda t: twice(t, t.ones(1)),
    "set": lambda t: t.optim.SGD([{"params": {t.ones(1)}}], lr=0.1),
    "groups": lambda t: t.optim.SGD([t.ones(1)], lr=0.1).load_state_dict(
        t.optim.SGD([{"params": [t.ones(1)]}, {"params": [t.ones(1)]}], lr=0.1).state_dict()
    ),
    "group_size": lambda t: t.optim.SGD([t.ones(1)], lr=0.1).load_state_dict(
        t.optim.SGD([t.ones(1), t.ones(1)], lr=0.1).state_dict()
    ),
    "lbfgs_groups": lambda t: t.optim.LBFGS([{"params": [t.ones(1)]}, {"params": [t.ones(1)]}]),
    "scheduler": lambda t: t.optim.lr_scheduler.StepLR(3, 1),
    "resuming": lambda t: t.optim.lr_scheduler.StepLR(t.optim.SGD([t.ones(1)], lr=0.1), 1, last_epoch=3),
    "plateau": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(t.optim.SGD([t.ones(1)], lr=0.1), factor=1.0),
}


@quiet
@peers
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    import torch as theirs

    (kind, words), (their_kind, their_words) = (error_of(ERRORS[name], t) for t in (ours, theirs))
    assert issubclass(kind, their_kind)
    assert words == their_words


@quiet
@peers
def test_hooks_and_closures() -> None:
    import torch as theirs

    def seen(t: Any) -> list[Any]:
        w = t.tensor([1.0], requires_grad=True)
        optimizer = t.optim.SGD([w], lr=0.1)
        log: list[Any] = []
        optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before"))
        handle = optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(w.tolist()))

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            return loss

        with t.no_grad():
            log.append(optimizer.step(closure).item())
        handle.remove()
        log.append(optimizer.step())
        return log

    assert seen(ours) == seen(theirs)


# -- schedules ------------------------------------------------------------------------------------------

SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (e + 1)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95),
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "multi_step": lambda s, o: s.MultiStepLR(o, [2, 5, 5], 0.3),
    "constant": lambda s, o: s.ConstantLR(o, 0.5, 4),
    "linear": lambda s, o: s.LinearLR(o, 0.3, 0.9, 6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "polynomial": lambda s, o: s.PolynomialLR(o, 7, 2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, 4, mode="triangular2"),
    "cyclic_exp": lambda s, o: s.CyclicLR(o, 0.01, [0.1, 0.2], 3, mode="exp_range", gamma=0.9),
    "one_cycle": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=12),
    "one_cycle_three": lambda s, o: s.OneCycleLR(
        o, 0.5, epochs=3, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"
    ),
    "sequential": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.8)], [4]),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.8)]),
    "plateau": lambda s, o: s.ReduceLROnPlateau(o, "max", 0.5, patience=1, cooldown=1, min_lr=0.03),
    "plateau_abs": lambda s, o: s.ReduceLROnPlateau(
        o, factor=0.3, patience=0, threshold=0.4, threshold_mode="abs"
    ),
}
MEASURES = [3.0, 2.0, 2.0, 1.9, 2.5, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0]


@quiet
@peers
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_torchs(name: str) -> None:
    import torch as theirs

    def rates(t: Any) -> list[Any]:
        params = [t.ones(1, requires_grad=True) for _ in range(2)]
        optimizer = t.optim.SGD(
            [{"params": [params[0]]}, {"params": [params[1]], "lr": 0.7}], lr=0.2, momentum=0.9
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scheduler = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
            found = []
            for measure in MEASURES:
                optimizer.step()
                found.append(
                    [*[(g["lr"], g["momentum"]) for g in optimizer.param_groups], scheduler.get_last_lr()]
                )
                if name.startswith("plateau"):
                    scheduler.step(measure)
                else:
                    scheduler.step()
        return found

    mine, other = rates(ours), rates(theirs)
    for (a, b, last), (c, d, their_last) in zip(mine, other, strict=True):
        np.testing.assert_allclose([*a, *b, *last], [*c, *d, *their_last], rtol=1e-12)


def test_schedule_in_the_wrong_order_warns() -> None:
    optimizer = ours.optim.SGD([ours.ones(1, requires_grad=True)], lr=0.1)
    scheduler = ours.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"before `optimizer\.step\(\)`"):
        scheduler.step()


@pytest.mark.parametrize("name", ["lambda", "step", "cosine", "restarts", "plateau"])
def test_schedules_can_be_resumed(name: str) -> None:
    def optimizer() -> Any:
        params = [ours.ones(1, requires_grad=True) for _ in range(2)]
        return ours.optim.SGD([{"params": [p]} for p in params], lr=0.2)

    def go(scheduler: Any, steps: int) -> None:
        for k in range(steps):
            scheduler.optimizer.step()
            scheduler.step(*([1.0 / (k % 3 + 1)] if name == "plateau" else []))

    whole = SCHEDULES[name](ours.optim.lr_scheduler, optimizer())
    go(whole, 4)
    saved, rates = copy.deepcopy(whole.state_dict()), whole.optimizer.state_dict()
    resumed = SCHEDULES[name](ours.optim.lr_scheduler, optimizer())
    resumed.optimizer.load_state_dict(rates)
    resumed.load_state_dict(saved)
    go(whole, 5)
    go(resumed, 5)
    assert resumed.get_last_lr() == whole.get_last_lr()


def test_a_model_learns() -> None:
    ours.manual_seed(0)
    model = ours.nn.Sequential(ours.nn.Linear(2, 16), ours.nn.Tanh(), ours.nn.Linear(16, 2))
    x = ours.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = ours.tensor([0, 1, 1, 0])
    optimizer = ours.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        loss = ours.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    assert model(x).argmax(1).tolist() == [0, 1, 1, 0]


def test_hooks_see_the_optimizer_and_state_dictionaries() -> None:
    w = ours.ones(2, requires_grad=True)
    optimizer = ours.optim.SGD([w], lr=0.5)
    seen: list[Any] = []
    first = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(args))
    (w * w).sum().backward()
    optimizer.step()
    assert seen == [(optimizer,)]
    first.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\)"):
        optimizer.step()
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("before"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_state_dict_post_hook(lambda o, state: seen.append("first"), prepend=True)
    state = optimizer.state_dict()
    assert state["more"] == 1
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(sorted(state)))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("after"))
    optimizer.load_state_dict(state)
    assert seen[1:] == ["before", "first", ["more", "param_groups", "state"], "after"]
