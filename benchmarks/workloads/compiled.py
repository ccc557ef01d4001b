"""Compiled value and gradient, second call on, beside every library that compiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.compiled import (
    LIMIT,
    OBJECTIVE,
    compiled_gradients,
    compiled_hessians,
    vector_limit,
    with_second_thread,
)
from benchmarks.contenders import jax_jitted_gradient
from benchmarks.model import Contender, Versus, Workload
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.problems.spelling import checkpointed_scan

PEERS = ("torch", "torch.compile", "autograd", "jax.jit")

COSTS_AT_MOST = Versus((OBJECTIVE,), 1 / 3.5)
"""Value and gradient take at most three and a half times as long as the objective alone."""

SINGLE = 2e-4
"""The relative tolerance of single precision, summed in different orders."""


def compiled(
    name: str,
    title: str,
    ratio: float,
    problem: str,
    *,
    rtol: float = 1e-6,
    left_out: Mapping[str, str] | None = None,
    **sizes: Any,
) -> Workload:
    """Value and gradient of a problem; `ratio` is to be reached against the fastest peer."""
    found: Problem = PROBLEMS[problem]
    absent = left_out or {}
    contenders = compiled_gradients(found.function)
    return Workload(
        name=f"jit-{name}",
        title=title,
        contenders=tuple(c for c in contenders if c.name not in absent),
        targets=(Versus(tuple(p for p in PEERS if p not in absent), ratio, "the best peer"), COSTS_AT_MOST),
        inputs=partial(found.inputs, **sizes),
        left_out=absent,
        rtol=rtol,
        in_quick=False,
    )


def beside_limit(workload: Workload) -> Workload:
    """The chain beside its vector functions alone; its gradient adds a cosine and a division a round."""
    limit = vector_limit(("sin", "cos", "tanh", "exp", "log", "reciprocal"), 5)
    return replace(
        workload,
        contenders=(*workload.contenders, limit),
        targets=(*workload.targets, Versus((LIMIT,), 1 / 1.3)),
    )


SMALL = (
    replace(compiled("scalar", "scalar function of nine operations", 5.0, "scalar"), in_quick=True),
    compiled("rosenbrock-10", "Rosenbrock, n = 10", 5.0, "rosenbrock"),
    compiled("pytree", "squares of 100 arrays of three numbers in a list", 3.0, "pytree"),
)

ELEMENTWISE = (
    compiled("rosenbrock-1e5", "Rosenbrock, n = 10⁵", 3.0, "rosenbrock", n=100_000),
    compiled(
        "black-scholes", "Black-Scholes, a book of 10⁶ calls and 5 greeks of each", 1.5, "black_scholes"
    ),
    beside_limit(compiled("chain30", "30 operations on each of 10⁶ elements", 1.5, "chain30")),
    beside_limit(
        compiled(
            "chain30-f32",
            "30 operations on each of 10⁶ elements, float32",
            1.5,
            "chain30",
            rtol=SINGLE,
            dtype="float32",
        )
    ),
    compiled("logsumexp", "logsumexp of 10⁶ elements", 1.0, "logsumexp"),
)


def mlp(batch: int, width: int, ratio: float) -> Workload:
    """A network of three layers."""
    name, title = f"mlp-{batch}x{width}", f"tanh MLP, 3 layers, batch {batch}, width {width}, float32"
    return compiled(name, title, ratio, "mlp", rtol=SINGLE, batch=batch, width=width)


MODELS = (
    compiled("logistic-1000x20", "logistic regression, 1000×20", 1.0, "logistic"),
    compiled(
        "logistic-1e5x100",
        "logistic regression, 10⁵×100",
        1.2,
        "logistic",
        points=100_000,
        dimensions=100,
    ),
    mlp(32, 64, 1.7),
    mlp(1024, 64, 1.3),
    mlp(32, 512, 1.1),
    mlp(1024, 512, 1.0),
    compiled("softmax", "softmax cross-entropy, 1024×1000, float32", 1.0, "softmax_xent", rtol=SINGLE),
    compiled("mixture", "ADBench's Gaussian mixture, d = 10, K = 25, n = 1000", 1.1, "gmm"),
    compiled("gaussian-process", "Gaussian process, log marginal likelihood, n = 500", 1.0, "gp"),
    with_second_thread(
        Workload(
            name="jit-hessian",
            title="Hessian of logistic regression, 2000×100",
            contenders=compiled_hessians(PROBLEMS["hessian_logistic"].function),
            targets=(Versus(("torch", "torch.compile", "jax.jit"), 2.0, "the best peer"),),
            inputs=PROBLEMS["hessian_logistic"].inputs,
            in_quick=False,
        )
    ),
)

EMBEDDING = compiled("embedding", "gather 10⁵ rows of 64, float32", 4.0, "embedding", rtol=SINGLE)

DATA = (
    # XLA's scatter is several times slower than torch's: both ratios are worth knowing.
    replace(EMBEDDING, targets=(*EMBEDDING.targets, Versus(("jax.jit",), 4.0))),
    compiled("sort", "a weighted sum of 10⁶ sorted elements", 2.0, "sort"),
    compiled("cumsum", "a weighted sum of squares of cumsum, 10⁶ elements", 2.5, "cumsum"),
)

UNROLLED = "unrolls every step; the step compiled alone is no faster than torch"

SLOW = {"torch": "seconds a call", "autograd": "seconds a call", "torch.compile": "unrolls every step"}


def lstm(batch: int, hidden: int, ratio: float) -> Workload:
    """500 steps of an LSTM."""
    name, title = f"lstm-{batch}x{hidden}", f"LSTM, 500 steps, batch {batch}, hidden {hidden}, float32"
    left_out = {"torch.compile": UNROLLED, "autograd": "seconds a call"}
    return compiled(name, title, ratio, "lstm", rtol=SINGLE, left_out=left_out, batch=batch, hidden=hidden)


def by_hand(workload: Workload, problem: str, ratio: float) -> Workload:
    """The workload with jax's checkpoint put on the step by hand as one more contender."""
    function = partial(PROBLEMS[problem].function, scan=checkpointed_scan)
    contender = Contender("jax.checkpoint", "jax", jax_jitted_gradient(function, True))
    return replace(
        workload,
        contenders=(*workload.contenders, contender),
        targets=(*workload.targets, Versus(("jax.checkpoint",), ratio)),
    )


def van_der_pol(name: str, title: str, problem: str) -> Workload:
    """10,000 steps of Runge and Kutta's method."""
    return by_hand(compiled(name, title, 2.0, problem, left_out=SLOW), problem, 1.2)


LOOPS = (
    lstm(1, 16, 2.0),
    lstm(1, 128, 2.0),
    with_second_thread(lstm(16, 128, 1.0)),
    compiled("recurrence", "scalar recurrence by scan, 10,000 steps", 2.0, "recurrence", left_out=SLOW),
    van_der_pol("van-der-pol", "Van der Pol by RK4, 10,000 steps, two scalars", "van_der_pol"),
    van_der_pol("van-der-pol-array", "the same with the state in one array", "van_der_pol_array"),
)

WORKLOADS = (*SMALL, *ELEMENTWISE, *MODELS, *DATA, *LOOPS)
