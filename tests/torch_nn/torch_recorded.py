"""Numbers of a call that can be written down: weighted sums of its results and of its gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import test_optim as optim
from torch_pairs import arrays_in, leaves_of, numpy_of


def numbers_of(module: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> list[float | None]:
    """Weighted sums of the results, then of the gradients of their sum."""
    given = arrays_in(module, args)
    outs = leaves_of(function(module.nn.functional, *given))
    rng = np.random.default_rng(0)
    numbers: list[float | None] = []
    total = None
    for t in outs:
        weights = np.asarray(rng.normal(size=tuple(t.shape)))
        numbers.append(float(np.sum(numpy_of(t) * weights)))
        if t.requires_grad:
            term = (t * module.tensor(weights.astype(numpy_of(t).dtype))).sum()
            total = term if total is None else total + term
    if total is not None:
        total.backward()
    for leaf in leaves_of(given):
        weights = rng.normal(size=tuple(leaf.shape))
        numbers.append(None if leaf.grad is None else float(np.sum(numpy_of(leaf.grad) * weights)))
    return numbers


def history_of(module: Any, kind: str, options: dict[str, Any]) -> list[float]:
    """The parameters after four steps."""
    _, history = optim.trained(module, kind, options, steps=4)
    return [float(x) for x in history[-1]]


def rates_of(module: Any, name: str) -> list[float]:
    """The rates of two groups of an optimiser along a schedule."""
    params = [module.ones(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [params[0]]}, {"params": [params[1]], "lr": 0.7}]
    optimizer = module.optim.SGD(groups, lr=0.2, momentum=0.9)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scheduler = optim.SCHEDULES[name](module.optim.lr_scheduler, optimizer)
        for measure in optim.MEASURES:
            optimizer.step()
            found += [float(group["lr"]) for group in optimizer.param_groups]
            scheduler.step(*([measure] if name.startswith("plateau") else []))
    return found
