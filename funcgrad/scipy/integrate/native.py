"""Initial value problems by loops of our own, which `fg.jit` compiles whole.

For systems that are not stiff the pair of orders 5 and 4 by Dormand and Prince (1980), for stiff ones Rodas4,
a Rosenbrock method of order 4 with an estimate of order 3 (Hairer and Wanner, Solving Ordinary Differential
Equations II, 1996, section IV.7), which solves linear systems and iterates nothing. Steps end at the times
asked for. Derivatives are those of the steps that were taken; the sizes of the steps have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.api.control_flow.loops import scan, while_loop
from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.api.derivatives.jacobians import jacfwd
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.algebra.linear_systems import solve
from funcgrad.numpy.arrays.joining import concatenate, stack
from funcgrad.numpy.elementwise.selection import where
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.reals import as_doubles
from funcgrad.scipy.recorded import real_scalar, real_vector
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Number, Tree

Slope = Callable[[Any, Any], Any]

# Dormand and Prince (1980), a row for each stage; the last row is the result of order 5.
NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
DIFFERENCE = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
"""The result of order 4 less that of order 5."""

# Rodas4 (Hairer and Wanner 1996): stages, couplings, nodes, and coefficients of the derivative by time.
GAMMA = 0.25
A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
)
C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
STIFF_NODES = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
TIMES = (0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0)


class Step(NamedTuple):
    """A step tried: the state after it, an estimate of the error, and the slope at its end if it is known."""

    state: Any
    error: Any
    slope: Any


def weighted(ks: Sequence[Any], weights: Sequence[Any]) -> Array:
    """The sum of stages with weights, zeros left out."""
    terms = [w * k for w, k in zip(weights, ks, strict=False) if w]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def dormand_prince(f: Slope, t: Array, y: Array, h: Array, slope: Array) -> Step:
    """One step of Dormand and Prince's pair; `slope` is the last stage of the step before."""
    ks = [slope]
    now = y
    for node, row in zip(NODES[1:], STAGES[1:], strict=True):
        now = y + h * weighted(ks, row)
        ks.append(f(t + node * h, now))
    return Step(now, h * weighted(ks, DIFFERENCE), ks[-1])


def rodas(f: Slope, t: Array, y: Array, h: Array, slope: Array) -> Step:
    """One step of Rodas4."""
    jacobian = jacfwd(lambda y: f(t, y))(y)
    by_time = jacfwd(lambda s: f(s, y))(t)
    size = aval_of(y).size
    matrix = np.eye(size) / (h * GAMMA) - jacobian
    stages: list[Any] = []
    now = y
    for k, row in enumerate(C):
        if k and k < len(A):
            now = y + weighted(stages, A[k])
        elif k:
            now = now + stages[-1]
        right = (slope if k == 0 else f(t + STIFF_NODES[k] * h, now)) + (h * TIMES[k]) * by_time
        if k:
            right = right + weighted(stages, row) / h
        stages.append(solve(matrix, right))
    after = now + stages[-1]
    return Step(after, stages[-1], f(t + h, after))


def controlled(error: Array, y: Array, after: Array, rtol: Number, atol: ArrayLike) -> Array:
    """The error of a step in units of the tolerance, without a derivative."""
    scale = atol + rtol * np.maximum(abs(y), abs(after))
    ratio = stop_gradient(error / scale)
    return np.sqrt(np.mean(ratio * ratio))


def first_size(
    f: Slope, t: Array, y: Array, span: Array, order: int, rtol: Number, atol: ArrayLike, slope: Array
) -> Array:
    """A size for the first step (Hairer, Norsett and Wanner, section II.4)."""
    scale = atol + rtol * abs(y)
    d0 = np.sqrt(np.mean((y / scale) ** 2))
    d1 = np.sqrt(np.mean((slope / scale) ** 2))
    h0 = where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / where(d1 > 0.0, d1, 1.0))
    h0 = np.minimum(h0, abs(span))
    direction = where(span < 0.0, -1.0, 1.0)
    other = f(t + direction * h0, y + direction * h0 * slope)
    d2 = np.sqrt(np.mean(((other - slope) / scale) ** 2)) / where(h0 > 0.0, h0, 1.0)
    largest = np.maximum(d1, d2)
    h1 = where(
        largest <= 1e-15,
        np.maximum(1e-6, h0 * 1e-3),
        (0.01 / where(largest > 0.0, largest, 1.0)) ** (1.0 / (order + 1)),
    )
    return stop_gradient(np.minimum(100.0 * h0, h1))


def integrated(
    fun: Callable[..., Any],
    t_span: ArrayLike,
    y0: ArrayLike,
    method: str,
    t_eval: ArrayLike,
    args: tuple[Any, ...],
    refused: bool,
    options: dict[str, Any],
) -> tuple[Any, Any, Any, Any]:
    """`solve_ivp` by these loops: the times, the states, whether all are finite, and the steps tried."""
    if refused:
        raise UnsupportedFunctionError("solve_ivp with native=True has no dense_output and no events")
    rtol, atol = options.pop("rtol", 1e-3), options.pop("atol", 1e-6)
    largest, first = options.pop("max_step", np.inf), options.pop("first_step", None)
    most = options.pop("max_steps", Control().most)
    if options:
        raise TypeError(f"solve_ivp with native=True does not take {', '.join(sorted(options))}")
    t0, tf = (real_scalar(t, "solve_ivp") for t in t_span)
    state = real_vector(y0, "solve_ivp")
    ends = concatenate([reshape(t0, (1,)), reshape(tf, (1,))])
    times = ends if t_eval is None else real_vector(t_eval, "solve_ivp")
    control = Control(rtol, atol, largest, first, most)
    states, count = states_at(vector_slope(fun, args), (t0, tf), times, state, method == "Rodas4", control)
    return times, states, np.all(np.isfinite(states)), count


class Control(NamedTuple):
    """What decides on the sizes of steps."""

    rtol: Any = 1e-3
    atol: Any = 1e-6
    largest: Any = np.inf
    first: Any = None
    most: Any = 100_000


def growth(error: Array, order: int) -> Array:
    """By what the size of a step changes after this error, which is 1 where it is just small enough."""
    grow = 0.9 * where(error > 0.0, error, 1e-10) ** (-1.0 / (order + 1))
    within = where(
        error <= 1.0, np.minimum(10.0, np.maximum(0.2, grow)), np.maximum(0.2, np.minimum(1.0, grow))
    )
    return where(np.isfinite(error), within, 0.1)


def states_at(
    f: Slope, ends: tuple[Any, Any], times: Array, state: Array, stiff: bool, control: Control
) -> tuple[Any, Any]:
    """States at the times, which lie in order between the ends, and the number of steps tried.

    What is not reached is NaN.
    """
    rtol, atol, largest, first, most = control
    t0, tf = ends
    one_step, order = (rodas, 3) if stiff else (dormand_prince, 4)
    slope = f(t0, state)
    direction = where(tf < t0, -1.0, 1.0)
    size = first_size(f, t0, state, tf - t0, order, rtol, atol, slope) if first is None else first
    size = np.minimum(size, largest) * 1.0

    def until(carry: Tree, goal: Array) -> Tree:
        def goes_on(c: Tree) -> Tree:
            t, _, h, _, count = c
            return (stop_gradient(direction * (goal - t)) > 0.0) & (count < most) & (h > 0.0)

        def step(c: Tree) -> Tree:
            t, y, h, k, count = c
            left = stop_gradient(abs(goal - t))
            last = h >= left * (1.0 - 1e-12)
            # A trajectory that has arrived is computed on while others of its batch go on, and no step is
            # divided by.
            rest = where(left > 0.0, left, where(h > 0.0, h, 1.0))
            taken = direction * where(last & (left > 0.0), abs(goal - t), where(last, rest, h))
            tried = one_step(f, t, y, taken, k)
            error = controlled(tried.error, y, tried.state, rtol, atol)
            good = error <= 1.0
            factor = growth(error, order)
            used = stop_gradient(abs(taken))
            proposed = np.minimum(where(good & last, np.maximum(h, used * factor), used * factor), largest)
            proposed = where(proposed > 1e-14 * np.maximum(abs(stop_gradient(t)), 1e-3), proposed, 0.0)
            moved = where(last, goal, t + taken)
            return (
                where(good, moved, t),
                where(good, tried.state, y),
                proposed,
                where(good, tried.slope, k),
                count + 1,
            )

        carry = while_loop(goes_on, step, carry)
        arrived = stop_gradient(direction * (goal - carry[0])) <= 0.0
        return carry, where(arrived, carry[1], np.nan)

    (_, _, _, _, count), states = scan(until, (t0 * 1.0, state, size, slope, 0), times)
    return states, count


def vector_slope(fun: Callable[..., Any], args: tuple[Any, ...]) -> Slope:
    """The right-hand side as a function that returns a vector of doubles."""

    def slope(t: Array, y: Array) -> Array:
        value = asoperand(fun(t, y, *args))
        value = reshape(value, aval_of(y).shape) if hasattr(value, "shape") else stack([value])
        return as_doubles(value, "solve_ivp with native=True")

    return slope
