"""The objective functions of the benchmarks, and their inputs. Importable without any peer.

A function takes the array namespace first, ``f(np, x, *constants)``, and is differentiated by the argument
that follows, which may be a list or tuple of arrays. `problem` makes plain NumPy functions of them, as
funcgrad takes them::

    f, args = problem("rosenbrock", n=1000)
    fg.jit(fg.value_and_grad(f))(*args)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.problems import (
    batches,
    convolutional,
    elementwise,
    long_programs,
    loops,
    models,
    unrolled,
    vision,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A scalar function and the arrays to run it on."""

    function: Callable[..., Any]
    """``function(np, x, *constants)``."""
    inputs: Callable[..., tuple[Any, ...]]
    """``inputs(np, **sizes)``: the same arrays every time."""


PROBLEMS = {
    "scalar": Problem(elementwise.scalar, elementwise.one_number),
    "rosenbrock": Problem(elementwise.rosenbrock, elementwise.normal_numbers),
    "black_scholes": Problem(elementwise.black_scholes, elementwise.market),
    "chain30": Problem(elementwise.chain30, elementwise.chain30_inputs),
    "logistic": Problem(models.logistic_loss, models.logistic_inputs),
    "mlp": Problem(models.mlp_loss, models.mlp_inputs),
    "softmax_xent": Problem(models.softmax_cross_entropy, models.softmax_inputs),
    "logsumexp": Problem(models.one_logsumexp, models.long_vector),
    "lstm": Problem(loops.lstm_loss, loops.lstm_inputs),
    "recurrence": Problem(loops.recurrence_loss, loops.recurrence_inputs),
    "van_der_pol": Problem(loops.van_der_pol_loss, loops.van_der_pol_inputs),
    "van_der_pol_array": Problem(loops.van_der_pol_array_loss, loops.van_der_pol_inputs),
    "embedding": Problem(models.embedding_loss, models.embedding_inputs),
    "sort": Problem(models.weighted_sort, models.weighted_inputs),
    "cumsum": Problem(models.weighted_cumsum, models.weighted_inputs),
    "sort_cumsum": Problem(models.sort_cumsum, models.weighted_inputs),
    "gmm": Problem(models.mixture_loss, models.mixture_inputs),
    "bundle": Problem(vision.bundle_loss, vision.bundle_inputs),
    "gp": Problem(models.gaussian_process_loss, models.gaussian_process_inputs),
    "hessian_logistic": Problem(models.logistic_loss, models.hessian_inputs),
    "pytree": Problem(models.sum_of_squares, models.small_leaves),
    "vmap_newton": Problem(batches.cube_roots_loss, batches.cube_roots_inputs),
    "vmap_rk4": Problem(batches.oscillators_loss, batches.oscillators_inputs),
    "vmap_loop": Problem(batches.long_loop_loss, batches.long_loop_inputs),
    "vmap_solve": Problem(batches.solutions_loss, batches.solutions_inputs),
    "vmap_kalman": Problem(batches.kalman_steps_loss, batches.kalman_steps_inputs),
    "neural_field": Problem(batches.neural_field_loss, batches.neural_field_inputs),
    "neural_spirals": Problem(batches.neural_spirals_loss, batches.neural_spirals_inputs),
    "transformer12": Problem(long_programs.transformer_loss, long_programs.transformer_inputs),
    "conv_net": Problem(convolutional.conv_net, convolutional.conv_net_inputs),
    "hand": Problem(long_programs.hand_loss, long_programs.hand_inputs),
    **{
        f"unrolled_{name}{n}": Problem(function, partial(inputs, **{what: n}))
        for name, function, inputs, what, numbers in (
            ("rnn", unrolled.recurrent_loss, unrolled.recurrent_inputs, "steps", (10, 30, 100)),
            ("kalman", unrolled.kalman_loss, unrolled.kalman_inputs, "steps", (5, 10, 30)),
            ("rk4_", unrolled.runge_kutta_loss, unrolled.runge_kutta_inputs, "steps", (10, 50)),
            ("layers", unrolled.deep_loss, unrolled.deep_inputs, "layers", (20, 50)),
        )
        for n in numbers
    },
}


def problem(name: str, **sizes: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A scalar function of NumPy arrays and its arguments; the gradient is taken by the first.

    `sizes` are those of the problem's inputs, for example ``n=1000``. Of "hessian_logistic", the Hessian is
    wanted. Raises KeyError for a name that no problem has.
    """
    found, numpy = PROBLEMS[name], import_module("numpy")

    def objective(*args: Any) -> Any:
        return found.function(numpy, *args)

    objective.__name__ = name
    return objective, found.inputs(numpy, **sizes)
